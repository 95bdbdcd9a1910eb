#!/usr/bin/env bash
# Each public header compiles alone, as C11 with all our warnings and as C++17. Each description that has an as_default_...() has a cookie.
# usage: headers.sh INCLUDE_DIR CC CXX C_WARNING...      (CXX may be empty: then exit 77, "skipped")
set -euo pipefail

include=$1
cc=$2
cxx=$3
shift 3

failed=0
compile() { # header, compiler and flags
  local header=$1
  shift
  # Twice, so that a missing guard is seen; a declaration, for a header without any.
  if ! printf '#include "%s"\n#include "%s"\ntypedef int not_empty;\n' "$header" "$header" |
    "$@" -Werror -I"$include" -fsyntax-only -; then
    echo "$header does not compile alone with: $*" >&2
    failed=1
  fi
}

for path in "$include"/alphastep/*.h; do
  header=alphastep/${path##*/}
  compile "$header" "$cc" -x c -std=c11 "$@"
  if [ -n "$cxx" ]; then
    compile "$header" "$cxx" -x c++ -std=c++17 -Wall -Wextra
  fi
done

while read -r name; do
  if ! grep -q "^  unsigned cookie; *///< set by as_default_$name()" "$include"/alphastep/*.h; then
    echo "as_$name, which has an as_default_$name(), has no cookie (base/definition.h)" >&2
    failed=1
  fi
done < <(sed -n 's/^AS_API .* as_default_\([a-z_0-9]*_def\)(void);.*/\1/p' "$include"/alphastep/*.h)

if [ "$failed" = 0 ] && [ -z "$cxx" ]; then
  echo "no C++ compiler: the headers were checked as C only"
  exit 77
fi
exit "$failed"

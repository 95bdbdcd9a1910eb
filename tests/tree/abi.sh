#!/usr/bin/env bash
# The check of the binary interface: of these headers against the last release, and that it can fail.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$root/tools/abi" check

# From here on changed headers are compared with these.
export ABI_DESCRIPTION=$tmp/now.abi
"$root/tools/abi" write

# expect STATUS WHAT EXPRESSION: headers that sed has changed
expect() {
  local status=0
  rm -rf "$tmp/include"
  cp -r "$root/include" "$tmp/include"
  sed -i "$3" "$tmp"/include/alphastep/*.h
  ! diff -rq "$root/include" "$tmp/include" >/dev/null || { echo "FAILED: $2: the headers are as before" >&2; exit 1; }
  "$root/tools/abi" check "$tmp/include" >"$tmp/log" 2>&1 || status=$?
  if [ $status != "$1" ]; then
    cat "$tmp/log"
    echo "FAILED: $2: exit status $status, not $1" >&2
    exit 1
  fi
}
expect 0 "a function more" 's/^AS_API as_spring_def as_default_spring_def(void);/&\nAS_API void as_one_more(void);/'
expect 1 "a function less" '/^AS_API as_spring_def as_default_spring_def(void);/d'
expect 1 "a member more" 's/^typedef struct as_spring_def {/&\n  double more;/'
expect 1 "another parameter" 's/^AS_API as_status as_integrator_step(as_integrator \*integrator, double h,/AS_API as_status as_integrator_step(as_integrator *integrator, float h,/'

#!/usr/bin/env bash
# Installs a build, moves the installation elsewhere, and uses it as a stranger would: through CMake's
# find_package and through pkg-config, with the shared and with the static library.
# usage: run.sh BUILD_DIR CC VERSION SOVERSION
set -euo pipefail

build=$1
cc=$2
version=$3
soversion=$4
here=$(cd "$(dirname "$0")" && pwd)

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

die() {
  echo "FAILED: $*" >&2
  exit 1
}

quietly() { # shows a command's output only if it fails
  "$@" >"$tmp/log" 2>&1 || {
    cat "$tmp/log" >&2
    die "$*"
  }
}

runs() { # program, and perhaps arguments: exits 0 and prints the version
  local out
  out=$("$@") || die "$* exits with $?"
  [[ $out == *"$version"* ]] || die "$* prints '$out', not $version"
}

needs_shared() { readelf -d "$1" | grep -q 'NEEDED.*libalphastep'; }

env -u DESTDIR cmake --install "$build" --prefix "$tmp/first" >"$tmp/log"
mv "$tmp/first" "$tmp/prefix"
prefix=$tmp/prefix

pc=$(find "$prefix" -name alphastep.pc)
lib=$(dirname "$(dirname "$pc")")
for file in "$lib/libalphastep.so" "$lib/libalphastep.a" "$prefix/include/alphastep/alphastep.h"; do
  [ -f "$file" ] || die "${file#"$prefix"/} is not installed"
done
[ -n "$(find "$prefix/share/doc" -name LICENSE)" ] || die "LICENSE is not installed"

# No file may remember where it was installed first, or where it was built.
if grep -rIlF -e "$tmp/first" -e "$build" "$prefix"; then
  die "the files above hold the path of the first prefix or of the build"
fi

# ---- the shared library: its name, and exactly the public functions -------------------------------

readelf -d "$lib/libalphastep.so" | grep -qF "[libalphastep.so.$soversion]" ||
  die "the SONAME is not libalphastep.so.$soversion"

nm -D --defined-only "$lib/libalphastep.so" | awk '{print $NF}' | sort -u >"$tmp/exported"
if grep -v '^as_' "$tmp/exported"; then
  die "the symbols above are exported and do not begin with as_"
fi
cat "$prefix"/include/alphastep/*.h | tr '\n' ' ' |
  grep -oE '\bAS_API [^;(]*\bas_[a-z0-9_]+ *\(' | grep -oE 'as_[a-z0-9_]+ *\($' | tr -d ' (' |
  sort -u >"$tmp/declared"
[ -s "$tmp/declared" ] || die "found no AS_API function in the headers"
if comm -13 "$tmp/exported" "$tmp/declared" | grep .; then
  die "the functions above are declared in the headers and not exported"
fi
if comm -23 "$tmp/exported" "$tmp/declared" | grep .; then
  die "the symbols above are exported and not declared in the headers"
fi

# ---- find_package ---------------------------------------------------------------------------------

quietly cmake -S "$here" -B "$tmp/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
  -DVERSION="$version"
quietly cmake --build "$tmp/cmake"
runs "$tmp/cmake/consumer_alphastep"
runs "$tmp/cmake/consumer_shared"
runs "$tmp/cmake/consumer_static"
needs_shared "$tmp/cmake/consumer_shared" || die "alphastep::shared was not linked dynamically"
! needs_shared "$tmp/cmake/consumer_static" || die "alphastep::static was linked dynamically"

# ---- pkg-config -----------------------------------------------------------------------------------

export PKG_CONFIG_PATH=$lib/pkgconfig
[ "$(pkg-config --modversion alphastep)" = "$version" ] || die "pkg-config: not version $version"
read -ra flags < <(pkg-config --cflags --libs alphastep)
quietly "$cc" -std=c11 "$here/consumer.c" -o "$tmp/pc_shared" "${flags[@]}" -lm
needs_shared "$tmp/pc_shared" || die "pkg-config --libs did not link the shared library"
LD_LIBRARY_PATH=$lib runs "$tmp/pc_shared"

read -ra flags < <(pkg-config --static --cflags --libs alphastep)
flags=("${flags[@]/#-lalphastep/-l:libalphastep.a}")
quietly "$cc" -std=c11 "$here/consumer.c" -o "$tmp/pc_static" "${flags[@]}"
! needs_shared "$tmp/pc_static" || die "pkg-config --static linked the shared library"
runs "$tmp/pc_static"

# ---- the command ----------------------------------------------------------------------------------

if [ -x "$build/alphastep" ]; then
  runs "$prefix/bin/alphastep" --version
fi

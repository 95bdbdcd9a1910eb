#!/usr/bin/env bash
# Installs a build, moves the installation elsewhere, and uses it as a stranger would: through CMake's
# find_package and through pkg-config, with the shared and with the static library.
# usage: run.sh BUILD_DIR CC VERSION SOVERSION SOURCE_DIR
set -euo pipefail

build=$1
cc=$2
version=$3
soversion=$4
source=$5
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

# No file, programs included, may remember where it was installed first, or where it was built.
if grep -raoF -e "$tmp/first" -e "$build" -e "$source" "$prefix" | sort | uniq -c | grep .; then
  die "the files above hold the path of the first prefix, of the build or of the sources"
fi

# ---- hardening --------------------------------------------------------------------------------------

hardened() { # file: its tables of addresses are read-only before it runs, its stack holds no code, arrays on it are guarded
  local header dynamic used
  header=$(readelf -lW "$1")
  dynamic=$(readelf -dW "$1")
  used=$(nm -D --undefined-only "$1")
  grep -q GNU_RELRO <<<"$header" || die "$1 has no RELRO"
  grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || die "$1 is not linked with -z now"
  grep -qE 'GNU_STACK.* RW ' <<<"$header" || die "$1 has an executable stack"
  grep -qF __stack_chk_fail <<<"$used" || die "$1 is built without a stack protector"
}

hardened "$lib/libalphastep.so"
if [ -x "$prefix/bin/alphastep" ]; then
  hardened "$prefix/bin/alphastep"
  grep -q 'Type: *DYN' <<<"$(readelf -hW "$prefix/bin/alphastep")" || die "alphastep is not position independent"
fi
if grep -q '^CMAKE_BUILD_TYPE:STRING=Rel' "$build/CMakeCache.txt"; then
  grep -q '_chk@' <<<"$(nm -D --undefined-only "$lib/libalphastep.so")" || die "libalphastep.so is built without _FORTIFY_SOURCE"
fi

# ---- the shared library: its name, and exactly the public functions -------------------------------

readelf -d "$lib/libalphastep.so" | grep -qF "[libalphastep.so.$soversion]" ||
  die "the SONAME is not libalphastep.so.$soversion"

nm -D --defined-only "$lib/libalphastep.so" | awk '$2 != "A" {print $NF}' >"$tmp/versioned"
if grep -v "@@ALPHASTEP_$soversion\$" "$tmp/versioned"; then
  die "the symbols above are exported without the version ALPHASTEP_$soversion"
fi
sed 's/@.*//' "$tmp/versioned" | sort -u >"$tmp/exported"
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

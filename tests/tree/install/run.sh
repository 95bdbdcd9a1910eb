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
libraries=("$lib/libalphastep.so" "$lib/libalphastep-io.so")
for file in "${libraries[@]}" "${libraries[@]/%.so/.a}" "$prefix/include/alphastep/alphastep.h"; do
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

for library in "${libraries[@]}"; do hardened "$library"; done
if [ -x "$prefix/bin/alphastep" ]; then
  hardened "$prefix/bin/alphastep"
  grep -q 'Type: *DYN' <<<"$(readelf -hW "$prefix/bin/alphastep")" || die "alphastep is not position independent"
fi
if grep -q '^CMAKE_BUILD_TYPE:STRING=Rel' "$build/CMakeCache.txt"; then
  for library in "${libraries[@]}"; do
    grep -q '_chk@' <<<"$(nm -D --undefined-only "$library")" || die "$library is built without _FORTIFY_SOURCE"
  done
fi

# ---- the shared libraries: their names, exactly the public functions, and what they need ------------

for library in "${libraries[@]}"; do
  readelf -d "$library" | grep -qF "[$(basename "$library").$soversion]" || die "the SONAME of $library has not the version $soversion"
done
defined() { nm -D --defined-only "$@" | awk '$2 != "A" && NF == 3 {print $3}' | sort -u; }
defined "${libraries[@]}" >"$tmp/versioned"
if grep -vE "^(as_.*@@ALPHASTEP_$soversion|asi_.*@@ALPHASTEP_PRIVATE_$version)\$" "$tmp/versioned"; then
  die "the symbols above are exported without the version of the interface that they belong to"
fi
sed 's/@.*//' "$tmp/versioned" | grep '^as_' >"$tmp/exported"
# What libalphastep shows to libalphastep-io is what that needs.
nm -D --undefined-only "$lib/libalphastep-io.so" | grep -oE '\basi_\w+' | sort -u >"$tmp/needed"
if defined "$lib/libalphastep.so" | sed 's/@.*//' | grep '^asi_' | comm -3 - "$tmp/needed" | grep .; then
  die "the symbols above are marked ASI_IO and not needed, or needed and not marked"
fi
if readelf -d "$lib/libalphastep.so" | grep -E 'NEEDED.*(hdf5|yaml|libz|io)'; then
  die "libalphastep needs the libraries above, which belong to libalphastep-io"
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
for kind in alphastep io shared io_shared static io_static; do runs "$tmp/cmake/consumer_$kind"; done
for kind in shared io_shared; do
  needs_shared "$tmp/cmake/consumer_$kind" || die "alphastep::$kind was not linked dynamically"
done
for kind in static io_static; do
  ! needs_shared "$tmp/cmake/consumer_$kind" || die "alphastep::$kind was linked dynamically"
done

# ---- pkg-config -----------------------------------------------------------------------------------

export PKG_CONFIG_PATH=$lib/pkgconfig
[ "$(pkg-config --modversion alphastep-io)" = "$version" ] || die "pkg-config: not version $version"
with_pkg_config() { # NAME of its .pc file, and options of the compiler
  local flags name=$1
  shift
  read -ra flags < <(pkg-config --cflags --libs "$name")
  quietly "$cc" -std=c11 "$@" "$here/consumer.c" -o "$tmp/pc_shared" "${flags[@]}" -lm
  needs_shared "$tmp/pc_shared" || die "pkg-config --libs did not link the shared library"
  LD_LIBRARY_PATH=$lib runs "$tmp/pc_shared"

  read -ra flags < <(pkg-config --static --cflags --libs "$name")
  flags=("${flags[@]/#-lalphastep-io/-l:libalphastep-io.a}")
  flags=("${flags[@]/#-lalphastep/-l:libalphastep.a}")
  quietly "$cc" -std=c11 "$@" "$here/consumer.c" -o "$tmp/pc_static" "${flags[@]}"
  ! needs_shared "$tmp/pc_static" || die "pkg-config --static linked the shared library"
  runs "$tmp/pc_static"
}
with_pkg_config alphastep -DWITHOUT_IO
with_pkg_config alphastep-io

# ---- the command ----------------------------------------------------------------------------------

if [ -x "$build/alphastep" ]; then
  runs "$prefix/bin/alphastep" --version
fi

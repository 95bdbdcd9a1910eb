#!/usr/bin/env bash
# Builds libalphastep without LAPACK, KLU, threads and libalphastep-io: it needs libc and libm alone, has the same functions, and the examples in C
# print what their READMEs show (but for switch, which is about stability).
# usage: plain.sh SOURCE_DIR CC SHARED_LIBRARY      the last one is a build with everything
set -euo pipefail

source=$1
cc=$2
whole=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

quietly() { # shows a command's output only if it fails
  "$@" >"$tmp/log" 2>&1 || {
    cat "$tmp/log" >&2
    echo "FAILED: $*" >&2
    exit 1
  }
}

quietly cmake -S "$source" -B "$tmp/build" -DCMAKE_C_COMPILER="$cc" -DALPHASTEP_WERROR=ON -DALPHASTEP_LAPACK=OFF \
  -DALPHASTEP_KLU=OFF -DALPHASTEP_THREADS=OFF -DALPHASTEP_IO=OFF -DALPHASTEP_TESTS=OFF -DCMAKE_BUILD_TYPE=Release
quietly cmake --build "$tmp/build" --parallel "$(nproc)"

library=$(readlink -f "$tmp/build/libalphastep.so")
needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p' | grep -v -E '^(libc|libm|ld-linux[-a-z0-9_]*)\.so\.[0-9]+$' || true)
if [ -n "$needed" ]; then
  echo "FAILED: the plain library needs $needed" >&2
  exit 1
fi

public() { nm -D --defined-only "$1" | sed -n 's/.* T \(as_[a-z_0-9]*\)@.*/\1/p' | sort; }
if ! diff <(public "$whole") <(public "$library"); then
  echo "FAILED: the plain library has not the same functions (<: missing in it)" >&2
  exit 1
fi

for example in pendulum over_the_top spinning_top sleigh rolling_coin cart_pole motor_four_bar accelerometer stick_slip press \
  differential chain; do
  "$source/tests/docs/example.py" "$tmp/build/examples/$example" "$source/examples/${example//_/-}/README.md"
done

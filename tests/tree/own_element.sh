#!/usr/bin/env bash
# Installs a build, builds examples/own-element against it as a project of its own, and compares what it prints
# with its README.
# usage: own_element.sh BUILD_DIR CC
set -euo pipefail

build=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
example=$here/../../examples/own-element

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

quietly() { # shows a command's output only if it fails
  "$@" >"$tmp/log" 2>&1 || {
    cat "$tmp/log" >&2
    echo "FAILED: $*" >&2
    exit 1
  }
}

quietly env -u DESTDIR cmake --install "$build" --prefix "$tmp/prefix"
quietly cmake -S "$example" -B "$tmp/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$tmp/prefix" \
  -DCMAKE_C_FLAGS=-Werror
quietly cmake --build "$tmp/build"
"$here/../docs/example.py" "$tmp/build/own_element" "$example/README.md"

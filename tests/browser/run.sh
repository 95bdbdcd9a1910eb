#!/bin/sh
# Runs a browser test with Node; 77, which ctest takes for a test that was left out, where there is none.
# usage: run.sh SCRIPT ARGUMENT...
if ! command -v node >/dev/null; then
  echo "skipped: Node is not installed"
  exit 77
fi
script=$1
shift
exec node "$(dirname "$0")/$script" "$@"

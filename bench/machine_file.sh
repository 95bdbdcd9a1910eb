#!/usr/bin/env bash
# Times a machine of many bodies from a file: read, assembled and looked at; then ten steps.
# usage: machine_file.sh ALPHASTEP [BODIES]
set -euo pipefail

alphastep=$1
bodies=${2:-100000}
model=$(dirname "$0")/../examples/machines/chain/model.yaml
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

TIMEFORMAT="%R s, %U s of it CPU time"
printf '%s bodies by repeat: check (read, built, assembled, ordered, first step): ' "$bodies"
{ time "$alphastep" check "$model" --set "parameters.n=$bodies" >"$results/check" 2>&1; } 2>&1
printf 'goal: at most 10 s to assemble\nrun, with ten steps of 1 ms: '
{
  time "$alphastep" run "$model" --set "parameters.n=$bodies" --set simulate.t_end=0.01 \
    -o "$results/out" --quiet 2>"$results/run"
} 2>&1

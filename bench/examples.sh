#!/usr/bin/env bash
# Counts the instructions of `alphastep run` on each example, the whole command without its process for HDF5, with callgrind: with one
# program or with several, side by side. Exact where times are noisy.
# usage: examples.sh ALPHASTEP [ALPHASTEP...] [-- NAME...]
set -euo pipefail

programs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  programs+=("$1")
  shift
done
[ $# -eq 0 ] || shift
machines=$(dirname "$0")/../examples/machines
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for folder in "$machines"/*/; do names+=("$(basename "$folder")"); done
fi

if ! command -v valgrind >/dev/null; then
  echo "examples.sh: valgrind is not installed" >&2
  exit 1
fi
export OPENBLAS_NUM_THREADS=1
# callgrind counts rep stosb and rep movsb byte by byte.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=2000000000:glibc.cpu.x86_rep_movsb_threshold=2000000000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count PROGRAM NAME: millions of instructions, steps and Newton iterations
count() {
  rm -rf "${work:?}"/*
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$work/log.%p" \
    "$1" run "$machines/$2/model.yaml" --no-report --no-sync -q -o "$work/out" >"$work/said" 2>&1 &
  local pid=$!
  wait "$pid" || cat "$work/said" >&2
  awk -v c="$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log.$pid")" '
    /"steps":/ { gsub(",", ""); s = $2 }
    /"newton_iterations":/ { gsub(",", ""); n = $2 }
    END { printf "%12.1f %7d %8d", c / 1e6, s, n }' "$work/out/summary.json"
}

printf '%-16s' machine
for _ in "${programs[@]}"; do printf '%12s %7s %8s' 'millions' steps newton; done
printf '\n'
for name in "${names[@]}"; do
  printf '%-16s' "$name"
  for program in "${programs[@]}"; do count "$program" "$name"; done
  printf '\n'
done

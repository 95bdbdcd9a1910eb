#!/usr/bin/env bash
# How well `alphastep study` uses processors: the same runs of the semi-active damper with one thread and with N, by turns, the least of some
# rounds. Efficiency is the wall time of one thread over N times that of N; where other work keeps the machine busy it says nothing, and the
# processor time of N threads over that of one is what is left to look at.
# usage: study.sh COMMAND [THREADS [ROUNDS]]
set -euo pipefail

command=$(realpath "$1")
threads=${2:-2}
rounds=${3:-5}
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OPENBLAS_NUM_THREADS=1
TIMEFORMAT='%R %U %S'

# wall and processor time [s] of a study with so many threads
measure() {
  { time "$command" study examples/machines/semi-active/gains.yaml --sweep parameters.b=3000,6000,9000,12000 --sweep parameters.s2=0.5,1 \
    --threads "$1" --force --quiet --no-report --no-sync -o "$folder/s"; } 2>&1 | tail -1 | awk '{print $1, $2 + $3}'
}

for ((i = 0; i < rounds; i++)); do
  echo 1 "$(measure 1)"
  echo 2 "$(measure "$threads")"
done | awk -v n="$threads" '
  !($1 in wall) || $2 < wall[$1] {wall[$1] = $2}
  !($1 in work) || $3 < work[$1] {work[$1] = $3}
  END {
    printf "wall time [s]: 1 thread %.2f, %d threads %.2f: efficiency %.2f\n", wall[1], n, wall[2], wall[1]/(n*wall[2])
    printf "processor time [s]: %.2f, %.2f: ratio %.3f\n", work[1], work[2], work[2]/work[1]
  }'

#!/usr/bin/env bash
# What a tyre costs: instructions of an evaluation, with callgrind, by `bench/tyre` (many evaluations less half as many, so that the start
# cancels).
# usage: tyre.sh PROGRAM
set -euo pipefail

program=$1
tyre=$(dirname "$0")/../tests/files/tyres/car.tir
few=1000
many=2000

if ! command -v valgrind >/dev/null; then
  echo "tyre.sh: valgrind is not installed" >&2
  exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# count ROAD WHAT EVALUATIONS
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$log" "$program" "$tyre" "$1" "$2" "$3"
  sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$log"
}

printf '%-8s %12s %12s\n' road force tangents
for road in plane formula rough; do
  numbers=()
  for what in force tangents; do
    numbers+=($((($(count "$road" "$what" "$many") - $(count "$road" "$what" "$few")) / (many - few))))
  done
  printf '%-8s %12d %12d\n' "$road" "${numbers[@]}"
done

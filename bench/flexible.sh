#!/usr/bin/env bash
# What a flexible body costs: instructions of a step with callgrind (a run of 40 steps less a run of 20, so that the start cancels; one
# iteration with new factors in each step) by the number of elastic coordinates, beside the LU of such a matrix and the product of two; the same
# with a mesh of 20000 points, which no step may touch; then times.
# usage: flexible.sh PROGRAM [N...]
set -euo pipefail

program=$1
shift
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(10 20 40 80)
few=20
many=40

if ! command -v valgrind >/dev/null; then
  echo "flexible.sh: valgrind is not installed" >&2
  exit 1
fi
export OPENBLAS_NUM_THREADS=1
# callgrind counts rep stosb and rep movsb byte by byte.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=2000000000:glibc.cpu.x86_rep_movsb_threshold=2000000000
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# count ARGUMENT...: Newton iterations, if it says them, and instructions of a whole run
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$log" "$program" "$@"
  sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$log"
}

# step N POINTS METHOD: thousands of instructions, checked to be of one iteration
step() {
  mapfile -t first < <(count count "$3" renew "$1" "$2" "$few")
  mapfile -t second < <(count count "$3" renew "$1" "$2" "$many")
  if [ $((second[0] - first[0])) -ne $((many - few)) ]; then
    echo "flexible.sh: $3 with $1 coordinates: $((second[0] - first[0])) iterations in $((many - few)) steps" >&2
  fi
  echo $(((second[1] - first[1]) / (many - few) / 1000))
}

# algebra lu|product N: thousands of instructions
algebra() {
  echo $((($(count "$1" "$2" "$many") - $(count "$1" "$2" "$few")) / (many - few) / 1000))
}

format='%4s %10s %10s %10s %20s %8s %8s\n'
echo "instructions [10^3]"
# shellcheck disable=SC2059
printf "$format" n index-3 index-2 soi2 "index-3, a mesh" LU product
for n in "${sizes[@]}"; do
  # shellcheck disable=SC2059
  printf "$format" "$n" "$(step "$n" 0 index-3)" "$(step "$n" 0 index-2)" "$(step "$n" 0 soi2)" "$(step "$n" 20000 index-3)" \
    "$(algebra lu "$n")" "$(algebra product "$n")"
done
echo
"$program" table

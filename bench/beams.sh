#!/usr/bin/env bash
# What beams cost: instructions of a step per element with callgrind, beside a link of a chain and its ball joint (a run of 40 steps less a run
# of 20, so that the start cancels; one iteration with new factors in each step); then elements against rigid segments with bushings.
# usage: beams.sh PROGRAM [ELEMENTS]
set -euo pipefail

program=$1
n=${2:-100}
few=20
many=40

if ! command -v valgrind >/dev/null; then
  echo "beams.sh: valgrind is not installed" >&2
  exit 1
fi
export OPENBLAS_NUM_THREADS=1
# callgrind counts rep stosb and rep movsb byte by byte.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=2000000000:glibc.cpu.x86_rep_movsb_threshold=2000000000
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# count KIND METHOD STEPS: iterations and instructions of a whole run
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$log" "$program" count "$1" "$n" "$2" "$3"
  sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$log"
}

printf '%-8s %-8s %28s %12s %10s\n' what method 'instructions/element/step' 'newton/step' 'to chain'
for method in index-3 index-2; do
  chain=0
  for kind in chain lumped hermite; do
    mapfile -t first < <(count "$kind" "$method" "$few")
    mapfile -t second < <(count "$kind" "$method" "$many")
    instructions=$(((second[1] - first[1]) / (many - few) / n))
    [ "$kind" = chain ] && chain=$instructions
    awk -v k="$kind" -v m="$method" -v i="$instructions" -v c="$chain" -v a="${first[0]}" -v b="${second[0]}" -v s=$((many - few)) \
      'BEGIN { printf "%-8s %-8s %28d %12.2f %10.2f\n", k, m, i, (b - a) / s, i / c }'
  done
done
echo
"$program" compare

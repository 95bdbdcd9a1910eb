#!/usr/bin/env bash
# Counts the instructions of a step with callgrind: a run of many steps less a run of few, so that the
# start cancels. Exact where times are noisy; the same on any machine with the same compiler and libraries.
# usage: instructions.sh PROGRAM FILE.csv [NAME...]
set -euo pipefail

program=$1
csv=$2
shift 2
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(chain-10 chain-100 chain-1000 chain-10000 top fourbar-40 andrews)
few=20
many=40

if ! command -v valgrind >/dev/null; then
  echo "instructions.sh: valgrind is not installed" >&2
  exit 1
fi
export OPENBLAS_NUM_THREADS=1
# callgrind counts rep stosb and rep movsb byte by byte.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=2000000000:glibc.cpu.x86_rep_movsb_threshold=2000000000
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# count NAME METHOD POLICY STEPS: Newton iterations and instructions of a whole run
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$log" "$program" count "$@"
  sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$log"
}

declare -A per_step
echo "problem,method,policy,instructions_per_step,newton_iterations_per_step" >"$csv"
printf '%-12s %-8s %-6s %20s %18s\n' problem method policy instructions/step 'newton/step'
for name in "${names[@]}"; do
  for method in index-3 index-2; do
    for policy in renew reuse; do
      mapfile -t first < <(count "$name" "$method" "$policy" "$few")
      mapfile -t second < <(count "$name" "$method" "$policy" "$many")
      iterations=$(((second[0] - first[0]) * 100 / (many - few)))
      iterations=$(printf '%d.%02d' $((iterations / 100)) $((iterations % 100)))
      instructions=$(((second[1] - first[1]) / (many - few)))
      per_step[$name,$method,$policy]=$instructions
      printf '%-12s %-8s %-6s %20d %18s\n' "$name" "$method" "$policy" "$instructions" "$iterations"
      echo "$name,$method,$policy,$instructions,$iterations" >>"$csv"
    done
  done
done

for method in index-3 index-2; do
  for policy in renew reuse; do
    small=${per_step[chain-1000,$method,$policy]:-}
    large=${per_step[chain-10000,$method,$policy]:-}
    if [ -n "$small" ] && [ -n "$large" ]; then
      awk -v s="$small" -v l="$large" -v what="$method $policy" 'BEGIN {
        printf "chain, %s: ten times the links cost %.2f times the instructions (goal: at most 10.5)\n", what, l / s }'
    fi
  done
done

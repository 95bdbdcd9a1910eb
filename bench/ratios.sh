#!/usr/bin/env bash
# Puts side by side, in one run, what docs/performance.md says about the command, start-up, large machines, Newton's tolerance, automatic
# steps and small machines. CPU time, user and system; the least of several runs that take turns.
# usage: ratios.sh ALPHASTEP RATIOS SAMPLES [PART...]
#   parts: command start report large same small; default: all but large, which takes some minutes and 4 GB
set -euo pipefail

alphastep=$1
ratios=$2
samples=$3
shift 3
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(command start report same small)
examples=$(dirname "$0")/../examples/machines
chain=$examples/chain/model.yaml
export OPENBLAS_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# least TIMES COMMAND...: the least of user and system seconds
least() {
  local times=$1
  shift
  for _ in $(seq "$times"); do "$ratios" cpu "$@"; done | awk '{ t = $1 + $2; if (!b || t < b) b = t } END { print b }'
}

share() { awk -v a="$1" -v b="$2" -v what="$3" -v goal="$4" 'BEGIN { printf "%-58s %9.4f / %9.4f s = %6.2f   goal: %s\n", what, a, b, a / b, goal }'; }

command_part() {
  local n library run
  for n in 100 1000; do
    library=$(least 7 "$samples" "$chain" index-2 1e-3 1000 "parameters.n=$n")
    run=$(least 7 "$alphastep" run "$chain" --set "parameters.n=$n" --set output.interval=0.002 -o "$work/out" --force --quiet)
    share "$run" "$library" "run with 500 rows and report / library, $n links" 1.3
  done
}

start_part() {
  pendulum >"$work/pendulum.yaml"
  printf 'start-up: run of a pendulum for 10 ms %.1f ms, without report %.1f ms, --version %.1f ms   goal: 5\n' \
    "$(least 20 "$alphastep" run "$work/pendulum.yaml" --set simulate.t_end=0.01 -o "$work/out" --force --quiet | awk '{ print 1e3 * $1 }')" \
    "$(least 20 "$alphastep" run "$work/pendulum.yaml" --set simulate.t_end=0.01 -o "$work/out" --force --quiet --no-report | awk '{ print 1e3 * $1 }')" \
    "$(least 20 "$alphastep" --version | awk '{ print 1e3 * $1 }')"
}

# Two rows of a machine of N bodies, and a report of them.
report_part() {
  local n before='' now
  for n in 1000 10000; do
    "$alphastep" run "$chain" --set "parameters.n=$n" --set simulate.t_end=0.001 --set output.interval=0.001 --no-report \
      -o "$work/rows" --force --quiet
    now=$(least 3 "$alphastep" report "$work/rows" --quiet)
    [ -z "$before" ] || share "$now" "$before" "report of 10 times the bodies, two rows ($n)" 'about 10'
    before=$now
  done
  for n in 100 1000; do
    "$alphastep" run "$chain" --set parameters.n=100 --set "output.interval=$(awk -v n="$n" 'BEGIN { print 1 / n }')" --no-report \
      -o "$work/rows" --force --quiet
    now=$(least 3 "$alphastep" report "$work/rows" --quiet)
    [ "$n" = 100 ] || share "$now" "$before" "report of 10 times the rows, 100 links ($n)" 'about 10'
    before=$now
  done
}

large_part() {
  local small large
  printf 'check of 100000 links: %.1f s   goal: 4\n' "$(least 1 "$alphastep" check "$chain" --set parameters.n=100000)"
  small=$("$ratios" cpu "$samples" "$chain" index-2 1e-3 1 parameters.n=1000 | awk '{ print $3 }')
  large=$("$ratios" cpu "$samples" "$chain" index-2 1e-3 1 parameters.n=10000 | awk '{ print $3 }')
  awk -v a="$small" -v b="$large" 'BEGIN { printf "memory for a link of the chain, index-2: %.1f kB   goal: 12\n", (b - a) / 9000 }'
}

free_body() {
  echo 'alphastep: 1'
  echo 'bodies: {body: {mass: 1, inertia: [1, 2, 3], angular_velocity: [0.1, 2, 0.1]}}'
  echo 'simulate: {t_end: 1, step: 1e-3}'
}
pendulum() {
  echo 'alphastep: 1'
  echo 'gravity: [0, 0, -9.81]'
  echo 'bodies: {bob: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [1, 0, 0]}}'
  echo 'joints: {hook: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}}'
  echo 'simulate: {t_end: 1, step: 1e-3}'
}
top() {
  echo 'alphastep: 1'
  echo 'gravity: [0, 0, -9.81]'
  echo 'bodies: {top: {mass: 15, inertia: [0.234375, 0.46875, 0.234375], position: [0, 1, 0], angular_velocity: [0, 15, -0.46]}}'
  echo 'joints: {tip: {type: spherical, bodies: [ground, top], point: [0, 0, 0]}}'
  echo 'simulate: {t_end: 1, step: 1e-3}'
}

# Ten links held by stiff bushings.
rope() {
  local bushing='stiffness: [1e5, 1e5, 1e5, 0.1, 0.1, 0.1], damping: [10, 10, 10, 1e-3, 1e-3, 1e-3]'
  local link='mass: 0.1, inertia: [1e-5, 1e-4, 1e-4]'
  cat <<MODEL
alphastep: 1
gravity: [0, 0, -9.81]
bodies: {link 1: {$link, position: [0.05, 0, 0]}}
forces: {hold 1: {type: bushing, bodies: [ground, link 1], point: [0, 0, 0], $bushing}}
repeat:
  - from: 2
    to: 10
    bodies: {'link \${i}': {$link, position: [(i - 0.5)*0.1, 0, 0]}}
    forces: {'hold \${i}': {type: bushing, bodies: ['link \${i - 1}', 'link \${i}'], point: [(i - 1)*0.1, 0, 0], $bushing}}
simulate: {t_end: 1, step: 1e-3}
MODEL
}

# Point masses and rods, ten by ten, level and hung up at one edge.
net() {
  awk 'BEGIN {
    print "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:"
    for (i = 1; i < 10; ++i) for (j = 0; j < 10; ++j)
      printf "  p %d %d: {mass: 0.1, type: point, position: [%g, %g, 0]}\n", i, j, 0.1 * j, 0.1 * i
    print "joints:"
    for (i = 1; i < 10; ++i) for (j = 0; j < 10; ++j) {
      above = i == 1 ? "ground" : sprintf("p %d %d", i - 1, j)
      printf "  u %d %d: {type: distance, bodies: [%s, p %d %d], point: [%g, %g, 0], second_point: [%g, %g, 0]}\n", i, j, above, i, j, 0.1 * j, 0.1 * (i - 1), 0.1 * j, 0.1 * i
      if (j > 0) printf "  v %d %d: {type: distance, bodies: [p %d %d, p %d %d], point: [%g, %g, 0], second_point: [%g, %g, 0]}\n", i, j, i, j - 1, i, j, 0.1 * (j - 1), 0.1 * i, 0.1 * j, 0.1 * i
    }
    print "simulate: {t_end: 1, step: 1e-3}"
  }'
}

# 63 rods, each with two at its end.
tree() {
  awk 'function add(k, parent, x, y, a,   ex, ey) {
    ex[k] = x + cos(a); ey[k] = y + sin(a)
    bodies = bodies sprintf("  b %d: {mass: 1, inertia: [0.01, 0.08, 0.08], position: [%.12g, %.12g, 0], rotation: {axis: [0, 0, 1], angle: %.12g}}\n", k, (x + ex[k]) / 2, (y + ey[k]) / 2, a)
    joints = joints sprintf("  j %d: {type: spherical, bodies: [%s, b %d], point: [%.12g, %.12g, 0]}\n", k, parent, k, x, y)
    if (k >= 32) return
    add(2 * k, "b " k, ex[k], ey[k], a + 0.4)
    add(2 * k + 1, "b " k, ex[k], ey[k], a - 0.4)
  }
  BEGIN {
    add(1, "ground", 0, 0, 0)
    printf "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n%sjoints:\n%ssimulate: {t_end: 1, step: 1e-3}\n", bodies, joints
  }'
}

same_part() {
  local method
  rope >"$work/rope.yaml"
  net >"$work/net.yaml"
  tree >"$work/tree.yaml"
  for method in index-2 index-3; do
    echo "automatic steps and equal ones with the same error, $method (goals: 1.2 and 1)"
    echo " chain of 10" && "$ratios" same "$chain" "$method" 2e-5 parameters.n=10
    echo " chain of 100" && "$ratios" same "$chain" "$method" 2e-5 parameters.n=100
    echo " rope of 10 bushings" && "$ratios" same "$work/rope.yaml" "$method" 2e-5
    echo " net of 10 x 10" && "$ratios" same "$work/net.yaml" "$method" 2e-5
    echo " tree of 63" && "$ratios" same "$work/tree.yaml" "$method" 2e-5
    echo " Andrews' squeezer, from a file" && "$ratios" same "$examples/andrews/model.yaml" "$method" 2e-5
  done
}

small_part() {
  local name method
  free_body >"$work/free_body.yaml"
  pendulum >"$work/pendulum.yaml"
  top >"$work/top.yaml"
  for name in free_body pendulum top; do
    for method in index-2 index-3; do
      printf '%-10s %-8s a step: %s\n' "$name" "$method" "$("$ratios" steps "$work/$name.yaml" "$method" 1e-3 2000)"
    done
  done
  echo 'goals: 0.4, 0.7, 1.0 us'
}

for part in "${parts[@]}"; do "${part}_part"; done

#!/usr/bin/env bash
# What a 1 kHz sampled controller costs: instructions per step with it, without (callgrind), and with its law as a continuous formula, the
# same steps, by the library alone and, with the results of the command, by that; Newton iterations and solutions per step.
# usage: samples.sh PROGRAM ALPHASTEP [NAME...]
set -euo pipefail

program=$1
alphastep=$2
shift 2
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(pendulum cart-pole arm chain-10 chain-100 motor-arm brake accelerometer)
if ! command -v valgrind >/dev/null; then
  echo "samples.sh: valgrind is not installed" >&2
  exit 1
fi
export OPENBLAS_NUM_THREADS=1
# callgrind counts rep stosb and rep movsb byte by byte.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=2000000000:glibc.cpu.x86_rep_movsb_threshold=2000000000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

chain() { # LINKS
  cat <<MODEL
parameters: {n: $1, length: 0.1, radius: 0.05}
joints:
  hook: {type: revolute, bodies: [ground, link 1], point: [0, 0, 0], axis: [0, 1, 0]}
repeat:
  - to: n
    bodies:
      link \${i}:
        mass: 1
        inertia: [radius^2/2, radius^2/4 + length^2/12, radius^2/4 + length^2/12]
        position: [(i - 0.5)*length, 0, 0]
  - from: 2
    to: n
    joints:
      ball \${i}: {type: spherical, bodies: ["link \${i - 1}", "link \${i}"], point: [(i - 1)*length, 0, 0]}
MODEL
}

machine() { # NAME
  case $1 in
  pendulum | brake)
    echo 'bodies: {bob: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [1, 0, 0]}}'
    echo 'joints: {hook: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}}'
    ;;
  cart-pole)
    echo 'bodies: {cart: {mass: 1, inertia: [0.01, 0.01, 0.01]}, pole: {mass: 0.1, inertia: [0.01, 0.01, 1e-5], position: [0, 0, 0.5]}}'
    echo 'joints:'
    echo '  rail: {type: prismatic, bodies: [ground, cart], point: [0, 0, -0.1], axis: [1, 0, 0]}'
    echo '  hook: {type: revolute, bodies: [cart, pole], point: [0, 0, 0], axis: [0, 1, 0], start: {angle: 0.3}}'
    ;;
  arm | motor-arm | accelerometer)
    echo 'bodies: {upper: {mass: 4, inertia: [0.01, 0.1, 0.1], position: [0.25, 0, 0]}, fore: {mass: 3, inertia: [0.01, 0.04, 0.04], position: [0.7, 0, 0]}}'
    echo 'joints:'
    echo '  hook: {type: revolute, bodies: [ground, upper], point: [0, 0, 0], axis: [0, -1, 0]}'
    echo '  elbow: {type: revolute, bodies: [upper, fore], point: [0.5, 0, 0], axis: [0, -1, 0]}'
    ;;
  chain-*) chain "${1#chain-}" ;;
  esac
}

# Forces and blocks where U is the controller's value: what stands between them and the machine is there in both runs.
between() { # NAME U
  case $1 in
  motor-arm)
    echo 'forces: {drive: {type: actuator, joint: hook, force: 12*blocks.i}}'
    echo "blocks: {i: {type: state, rate: \"($2 - 2*blocks.i - 1.2*joints.hook.angle_rate)/0.02\"},"
    ;;
  brake)
    echo "forces: {drive: {type: actuator, joint: hook, force: \"$2\"}, rub: {type: joint_friction, joint: hook, coefficient: 0.3, radius: 0.05, transition_speed: 0.2}}"
    echo 'blocks: {'
    ;;
  accelerometer)
    echo 'forces: {drive: {type: actuator, joint: hook, force: blocks.y}}'
    echo "blocks: {y: {type: signal, formula: \"$2 - 0.3*bodies.fore.acceleration.z\"},"
    ;;
  *)
    echo "forces: {drive: {type: actuator, joint: hook, force: \"$2\"}}"
    echo 'blocks: {'
    ;;
  esac
}

law='20*(0.3*sin(2*t) - joints.hook.angle) - 2*joints.hook.angle_rate'
write() { # NAME: with the controller, without, and with its law at every time
  for kind in with without continuous; do
    {
      echo 'alphastep: 1'
      echo 'gravity: [0, 0, -9.81]'
      machine "$1"
      case $kind in with) value=blocks.u ;; without) value=0 ;; *) value="($law)" ;; esac
      between "$1" "$value"
      [ $kind != with ] || echo "  u: {type: sampled, formula: \"$law\", period: 1e-3}"
      echo '  }'
      echo 'simulate: {t_end: 0.4, step: 1e-3}'
      echo 'output: {interval: 0.01, channels: [joints.hook.angle]}'
    } >"$work/$kind.yaml"
  done
}

count() { # FUNCTION PROGRAM ARGUMENT...: instructions in it and what it calls
  local of=$1
  shift
  valgrind --tool=callgrind --toggle-collect="$of" --callgrind-out-file=/dev/null --log-file="$work/log" "$@" >"$work/out" 2>&1
  sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/log" | sort -n | tail -1
}

printf '%-10s %-8s %-8s %12s %12s %12s %6s %6s   %s\n' machine method step without continuous with ratio 'of c.' 'iterations, factorizations, solutions, forces per step: without | continuous | with'
for name in "${names[@]}"; do
  write "$name"
  for method in index-2 index-3; do
    for step in 1e-3 3.333333333333e-4 2.5e-4; do
      steps=$(awk -v h=$step 'BEGIN { printf "%.0f", 0.4 / h }')
      a=$(count many_steps "$program" "$work/without.yaml" $method $step "$steps")
      of_a=$(cat "$work/out")
      c=$(count many_steps "$program" "$work/continuous.yaml" $method $step "$steps")
      of_c=$(cat "$work/out")
      b=$(count many_steps "$program" "$work/with.yaml" $method $step "$steps")
      awk -v a="$a" -v b="$b" -v c="$c" -v n="$steps" -v what="$(printf '%-10s %-8s %-8.3g' "$name" $method $step)" -v x="$of_a" -v y="$(cat "$work/out")" -v z="$of_c" \
        'BEGIN { printf "%s %12.0f %12.0f %12.0f %6.2f %6.2f   %s | %s | %s\n", what, a / n, c / n, b / n, b / a, b / c, x, z, y }'
    done
  done
  c=$(count as_run_go "$alphastep" run "$work/continuous.yaml" -o "$work/results" --force --no-report --no-sync --quiet)
  a=$(count as_run_go "$alphastep" run "$work/without.yaml" -o "$work/results" --force --no-report --no-sync --quiet)
  b=$(count as_run_go "$alphastep" run "$work/with.yaml" -o "$work/results" --force --no-report --no-sync --quiet)
  awk -v a="$a" -v b="$b" -v c="$c" -v what="$(printf '%-10s %-17s' "$name" 'alphastep run')" \
    'BEGIN { printf "%s %12.0f %12.0f %12.0f %6.2f %6.2f\n", what, a / 400, c / 400, b / 400, b / a, b / c }'
done

#!/usr/bin/env python3
"""Memory that runs out anywhere, inside HDF5, too: one exit status, no crash, nothing half-done left behind, and what a run has
saved can be gone on with.

usage: short_memory.py COMMAND PRELOADED [TRIALS [SEED]]
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile

COMMAND, PRELOADED = sys.argv[1], sys.argv[2]
TRIALS = int(sys.argv[3]) if len(sys.argv) > 3 else 60
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
PATIENCE = 600  # s
ALLOCATIONS = 3000  # more than a run has
MODEL = "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies: {a: {type: point, mass: 1}}\nsimulate: {t_end: 1, step: 0.1}\n"

failures = []


def run(*arguments, **memory):
    env = dict(os.environ, **memory)
    return subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, env=env, check=False)


def attempt(number, forever, expected):
    memory = {"LD_PRELOAD": PRELOADED, "MEMORY_AFTER": "model.yaml", "MEMORY_FAILS": str(number)}
    if forever:
        memory["MEMORY_FOREVER"] = "1"
    shutil.rmtree("out", ignore_errors=True)
    result = run("run", "model.yaml", "-o", "out", "-q", "--no-sync", **memory)
    left = os.listdir("out") if os.path.isdir("out") else []
    about = f"allocation {number}{' and all after' if forever else ''}: exit status {result.returncode}, {result.stderr[-300:]}, {left}"
    if result.returncode not in (0, 3) or any(name.endswith((".new", ".copy")) for name in left):
        failures.append(about)
    elif os.path.isdir("out") and "results.csv" not in left:
        failures.append("left behind: " + about)
    elif "state.bin" in left:
        again = run("run", "--resume", "out", "-q", "--no-report", "--no-sync")
        with open("out/results.csv", "rb") as file:
            if again.returncode != 0 or file.read() != expected:
                failures.append(f"not resumed ({again.stderr}): {about}")
    return result.returncode


def main():
    with open("model.yaml", "w", encoding="utf-8") as file:
        file.write(MODEL)
    run("run", "model.yaml", "-o", "whole", "-q", "--no-sync")
    with open("whole/results.csv", "rb") as file:
        expected = file.read()
    dice = random.Random(SEED)
    ends = [attempt(dice.choice((dice.randint(1, 400), dice.randint(1, ALLOCATIONS))), trial % 2 == 0, expected) for trial in range(TRIALS)]
    print(f"{TRIALS} trials, {ends.count(3)} out of memory")
    if ends.count(3) < TRIALS // 3:
        failures.append("memory has hardly ever run out")
    for failure in failures:
        print("FAILED:", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        end = main()
        os.chdir("/")
    sys.exit(end)

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

COMMAND = sys.argv[1]
PRELOADED = " ".join(filter(None, (sys.argv[2], os.environ.get("LD_PRELOAD"))))  # beside what `tools/portable` preloads
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


LOOKING = (("export", "whole", "-o", "o/x.csv"), ("export", "whole", "--format", "mat", "-o", "o/x.mat"), ("report", "whole", "-o", "o/r.html"),
           ("linearize", "whole", "--at", "0.5", "--inputs", "bodies.a.force.x", "--outputs", "bodies.a.position", "--format", "npz", "-o", "o/x"),
           ("modes", "model.yaml", "--at", "0", "-o", "o"),
           ("response", "model.yaml", "--at", "0", "--inputs", "bodies.a.force.x", "--outputs", "bodies.a.position.x", "-o", "o"))


def look(command, **memory):
    shutil.rmtree("o", ignore_errors=True)
    os.mkdir("o")
    result = run(*command, **memory)
    files = {}
    for name in os.listdir("o"):
        with open(os.path.join("o", name), "rb") as file:
            files[name] = file.read()
    return result, files


def looks(dice):
    """Commands that read results or write pages: out of memory is said, and whatever file is there is whole. How many ran out."""
    ended = 0
    for command in LOOKING:
        after = "whole/results.h5" if command[1] == "whole" else "model.yaml"
        memory = {"LD_PRELOAD": PRELOADED, "MEMORY_AFTER": after, "MEMORY_FAILS": "0", "MEMORY_COUNT": "count"}
        result, whole = look(command, **memory)
        with open("count", encoding="ascii") as file:
            n = int(file.read())
        if result.returncode != 0 or not whole or n < 50:
            failures.append(f"{command}: {result}, {n} allocations")
            continue
        for number in [dice.randint(1, n) for _ in range(TRIALS // 8)] + list(range(n - 14, n + 1)):
            result, files = look(command, **dict(memory, MEMORY_FAILS=str(number)))
            ended += result.returncode == 3
            if result.returncode == 0 and len(files.get("r.html", b"")) > len(whole.get("r.html", b"")) and files["r.html"].endswith(b"</html>\n"):
                continue  # arrays that could not be deflated are longer
            good = files == whole if result.returncode == 0 else result.returncode == 3 and all(whole.get(name) == files[name] for name in files)
            if not good or (result.returncode == 3 and b"emory" not in result.stderr):
                failures.append(f"{command}, allocation {number} of {n}: {result}, {[name for name in files if files[name] != whole.get(name)]}")
    return ended


def main():
    with open("model.yaml", "w", encoding="utf-8") as file:
        file.write(MODEL)
    run("run", "model.yaml", "-o", "whole", "-q", "--no-sync")
    with open("whole/results.csv", "rb") as file:
        expected = file.read()
    dice = random.Random(SEED)
    ends = [attempt(dice.choice((dice.randint(1, 400), dice.randint(1, ALLOCATIONS))), trial % 2 == 0, expected) for trial in range(TRIALS)]
    ended = looks(dice)
    print(f"{TRIALS} runs, {ends.count(3)} out of memory; of those that looked {ended}")
    if ends.count(3) < TRIALS // 3 or ended < TRIALS // 3:
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

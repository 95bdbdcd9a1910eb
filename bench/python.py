#!/usr/bin/env python3
"""What the Python package costs above the same calls in C, on a chain of ten bodies with ten inputs and twenty outputs.

usage: PYTHONPATH=BUILD/python bench/python.py BUILD/bench/instance

Seconds are the least of many, C and Python by turns. Instructions of the processor are counted by valgrind where it is there, as the difference
of a long and a short series of calls.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import time

import alphastep

MODEL = pathlib.Path(__file__).with_name("ten_bodies.yaml")
CHANNELS = ["joints.*.angle", "joints.*.angle_rate"]


def advance(n):
    """n calls of 1 ms each, with new inputs; the seconds of one. An array of doubles is set and handed over, as NumPy's would be."""
    from array import array

    sim = alphastep.load(MODEL).start(CHANNELS)
    u = [array("d", [1e-3 * (i + k) for k in range(10)]) for i in range(7)]
    begin = time.perf_counter()
    for i in range(n):
        sim.advance(1e-3 * (i + 1), u[i % 7])
    return (time.perf_counter() - begin) / n


def run(t_end):
    machine = alphastep.load(MODEL)
    begin = time.perf_counter()
    machine.run(t_end=t_end)
    return time.perf_counter() - begin


def instructions(command):
    """Of a whole process."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, command)], capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main():
    if sys.argv[1] == "--once":
        {"advance": lambda: advance(int(sys.argv[3])), "run": lambda: run(float(sys.argv[3]))}[sys.argv[2]]()
        return
    program = sys.argv[1]

    def in_c(what, amount):
        return float(subprocess.run([program, MODEL, what, str(amount)], check=True, capture_output=True, text=True).stdout)

    for what, function, amount in (("advance", advance, 1000), ("run", run, 2.0)):
        pairs = [(in_c(what, amount), function(amount)) for _ in range(5)]
        c, python = min(p[0] for p in pairs), min(p[1] for p in pairs)
        unit = 1e6 if what == "advance" else 1e3
        print(f"{what}: {unit * c:.2f} {'us' if what == 'advance' else 'ms'} in C, {unit * python:.2f} in Python: {unit * (python - c):+.2f}, "
              f"{100 * (python / c - 1):+.1f} %")
    if shutil.which("valgrind"):
        me = [sys.executable, __file__, "--once"]
        for what, few, many in (("advance", 200, 1200), ("run", 0.5, 2.5)):
            c = instructions([program, MODEL, what, many, "once"]) - instructions([program, MODEL, what, few, "once"])
            python = instructions([*me, what, many]) - instructions([*me, what, few])
            n = many - few if what == "advance" else 1
            print(f"{what}: {c / n:.0f} instructions in C, {python / n:.0f} in Python: {(python - c) / n:+.0f}, {100 * (python / c - 1):+.2f} %")


if __name__ == "__main__":
    main()

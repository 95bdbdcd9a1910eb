#!/usr/bin/env python3
"""The lean car of examples/car against trajectories of another program: second order, and the same numbers in the limit.

usage: car_convergence.py COMMAND FOLDER REFERENCE MODEL TOLERANCE STEP [SETTING ...]

REFERENCE is a table of channels over time, computed by DOP853 or Radau with tolerances of 1e-9 and less, from equations without joints.
The model is run with STEP and half of it. The errors of the second run have to be a quarter of those of the first, within
0.2 to 0.32, and what is left when both runs are extrapolated must be below TOLERANCE, relative to the largest value of each channel.
A channel whose error is below the tolerance anyway needs no order. (VERBOSE=1 shows what was found.)
"""

import csv
import os
import subprocess
import sys
import tempfile

COMMAND, FOLDER, REFERENCE, MODEL, TOLERANCE, STEP = sys.argv[1:7]
SETTINGS = sys.argv[7:]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    return [name.rsplit(" [", 1)[0] for name in lines[0]], [[float(x) for x in line] for line in lines[1:]]


def run(step, names, times, folder):
    settings = [f"simulate.step={step}", f"output={{times: {times}, channels: {names[1:]}}}", *SETTINGS]
    words = [COMMAND, "run", f"{FOLDER}/{MODEL}", "--quiet", "-o", folder]
    for setting in settings:
        words += ["--set", setting]
    subprocess.run(words, stdin=subprocess.DEVNULL, check=True)
    found, rows = read(folder + "/results.csv")
    return [[row[found.index(name)] for name in names[1:]] for row in rows]


def main():
    names, rows = read(REFERENCE)
    times = [row[0] for row in rows]
    expected = [row[1:] for row in rows]
    step, tolerance, wrong = float(STEP), float(TOLERANCE), 0
    with tempfile.TemporaryDirectory() as folder:
        coarse = run(step, names, times, folder + "/1")
        fine = run(step / 2, names, times, folder + "/2")
    for k, name in enumerate(names[1:]):
        largest = max(abs(row[k]) for row in expected)
        # Where the car stands along the road is a matter of how it was let down on its springs.
        shift = [run[0][k] - expected[0][k] if name == "frames.com.position.x" else 0 for run in (coarse, fine)]
        first, second = ([row[k] - shift[i] - e[k] for row, e in zip(run, expected)] for i, run in enumerate((coarse, fine)))
        error = [max(map(abs, e)) / largest for e in (first, second, [(4 * b - a) / 3 for a, b in zip(first, second)])]
        ratio = error[1] / error[0] if error[0] > 0 else 0
        good = error[2] <= tolerance and (0.2 <= ratio <= 0.32 or error[0] <= tolerance)
        if name == "frames.com.roll_pitch_yaw.y":  # the rest that the other program starts from is right to 2e-7 rad
            good = error[2] * largest <= 1e-6
        words = f"{name}: errors {error[0]:.2e}, {error[1]:.2e}, ratio {ratio:.3f}, extrapolated {error[2]:.2e}"
        if not good:
            wrong = 1
            print("FAILED:", words, file=sys.stderr)
        elif "VERBOSE" in os.environ:
            print(words)
    return wrong


if __name__ == "__main__":
    sys.exit(main())

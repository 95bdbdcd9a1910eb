#!/usr/bin/env python3
"""Natural frequencies and damping of the lean car of examples/car as it rolls straight ahead, against those of another program, which has
minimal coordinates and no joints.

usage: car_modes.py COMMAND FOLDER
"""

import json
import subprocess
import sys
import tempfile

COMMAND, FOLDER = sys.argv[1:3]
# |eigenvalue|/(2 pi) [Hz] and damping ratio, as that program prints them, at 10 m/s; here the car has slowed down by 0.4 % already.
EXPECTED = [
    ("heave", 1.224, 0.24), ("pitch", 1.444, 0.27), ("roll", 1.58, 0.28),
    ("yaw and sideslip", 3.17, 0.53), ("sideslip and yaw", 3.95, 0.40),
    ("wheel hop", 13.56, 0.29), ("wheel hop", 13.92, 0.27), ("wheel hop", 14.25, 0.28), ("wheel hop", 14.33, 0.27),
    ("wheel spin", 16.7, 0.07), ("wheel spin", 16.7, 0.07), ("wheel spin", 16.85, 0.07), ("wheel spin", 17.0, 0.07),
]
FREQUENCY, DAMPING = 0.006, 0.011  # of the frequency; of the ratio, which has two digits

with tempfile.TemporaryDirectory() as folder:
    settings = ["parameters.bushed=0", "parameters.damper=0", "simulate.t_end=0.5"]
    words = [f"--set={setting}" for setting in settings]
    subprocess.run([COMMAND, "run", f"{FOLDER}/lane_change.yaml", "-o", folder + "/run", "--quiet", "--no-report", *words],
                   stdin=subprocess.DEVNULL, check=True)
    told = subprocess.run([COMMAND, "modes", folder + "/run", "--at", "0.45", "--json"], stdin=subprocess.DEVNULL, check=True,
                          capture_output=True, text=True).stdout
found = []
for mode in json.loads(told)["modes"]:
    size = (mode["real"] ** 2 + mode["imaginary"] ** 2) ** 0.5
    if mode["imaginary"] > 1:
        found.append((size / 6.283185307179586, -mode["real"] / size))
found.sort()
wrong = len(found) != len(EXPECTED)
if wrong:
    print(f"FAILED: {len(found)} modes swing, not {len(EXPECTED)}: {found}", file=sys.stderr)
for (name, frequency, damping), (f, d) in zip(EXPECTED, found):
    if not (abs(f / frequency - 1) <= FREQUENCY and abs(d - damping) <= DAMPING):
        wrong = True
        print(f"FAILED: {name}: {f:.4f} Hz with {d:.3f}, not {frequency} Hz with {damping}", file=sys.stderr)
sys.exit(wrong)

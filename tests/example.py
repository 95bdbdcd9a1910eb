#!/usr/bin/env python3
"""Compares what an example prints with the numbers in its README.

usage: example.py PROGRAM README

The first block between lines of ``` in the README is the expected output. Words must agree; numbers
must agree to 1e-4 (relative, or 1e-8 absolute), numbers in exponential notation (errors, residuals) to a
factor of two or 1e-7, whole numbers (counts of work) to 10 %.
"""

import re
import subprocess
import sys

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def agree(expected, found):
    x, y = float(expected), float(found)
    if "e" in expected:
        return abs(x - y) <= max(abs(x), abs(y)) / 2 or max(abs(x), abs(y)) < 1e-7
    if "." in expected:
        return abs(x - y) <= max(1e-4 * abs(x), 1e-8)
    return abs(x - y) <= 0.1 * abs(x)


def main():
    program, readme = sys.argv[1:]
    with open(readme, encoding="utf-8") as file:
        expected = re.search(r"^```\n(.*?)^```$", file.read(), re.M | re.S).group(1)
    found = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
    failures = 0
    if len(expected.splitlines()) != len(found.splitlines()):
        print(f"{readme} shows {len(expected.splitlines())} lines, the program printed:\n{found}")
        failures += 1
    for number, (line, printed) in enumerate(zip(expected.splitlines(), found.splitlines()), 1):
        words = [NUMBER.sub("#", text).split() for text in (line, printed)]
        values = [NUMBER.findall(text) for text in (line, printed)]
        if words[0] != words[1] or not all(map(agree, *values)):
            print(f"line {number} of the output: expected\n  {line}\nfound\n  {printed}")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

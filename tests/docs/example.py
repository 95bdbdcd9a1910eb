#!/usr/bin/env python3
"""Compares what an example prints with the numbers in its README.

usage: example.py PROGRAM README [--update]

The first block between lines of ``` in the README is the expected output. Words and whole numbers must agree; other
numbers to 1e-3 (relative, or 1e-8 absolute), numbers in exponential notation (errors, residuals) to a factor of two or
1e-7. Work, `steps`, `iterations` and so on before or above a number, agrees to 20 % or 2. With --update that block is
written anew.
"""

import re
import subprocess
import sys

from shown import AFTER_WORK, same_work

BLOCK = re.compile(r"^```\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
WORK_COLUMN = re.compile(r"(steps?|rejected|iterations|factorizations)\b")


def agree(expected, found, is_work):
    x, y = float(expected), float(found)
    if is_work:
        return same_work(x, y)
    if "e" in expected:
        return abs(x - y) <= max(abs(x), abs(y)) / 2 or max(abs(x), abs(y)) < 1e-7
    if "." in expected:
        return abs(x - y) <= max(1e-3 * abs(x), 1e-8)
    return x == y


def work(line, columns):
    """Of each number of the line: is it work?"""
    numbers = list(NUMBER.finditer(line))
    below = len(numbers) == len(columns)
    return [bool(AFTER_WORK.match(line[n.end():]) or below and WORK_COLUMN.match(columns[i])) for i, n in enumerate(numbers)]


def differences(expected, found):
    columns = []
    for number, (line, printed) in enumerate(zip(expected, found), 1):
        words = [NUMBER.sub("#", text).split() for text in (line, printed)]
        values = [NUMBER.findall(text) for text in (line, printed)]
        if words[0] != words[1] or not all(map(agree, *values, work(line, columns))):
            yield f"line {number} of the output: expected\n  {line}\nfound\n  {printed}"
        if not values[0]:
            columns = re.split(r" {2,}", line.strip())


def main():
    program, readme = sys.argv[1:3]
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    expected = BLOCK.search(text).group(1)
    found = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
    if "--update" in sys.argv[3:]:
        with open(readme, "w", encoding="utf-8") as file:
            file.write(BLOCK.sub(lambda _: f"```\n{found}```", text, count=1))
        print(readme + ": written anew")
        return 0
    failures = list(differences(expected.splitlines(), found.splitlines()))
    if len(expected.splitlines()) != len(found.splitlines()):
        failures.append(f"{readme} shows {len(expected.splitlines())} lines, the program printed:\n{found}")
    print("\n".join(failures) or readme + ": as it says")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

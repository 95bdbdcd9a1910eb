#!/usr/bin/env python3
"""Runs a machine of examples and compares its results with the numbers in its README.

usage: machine_example.py COMMAND FOLDER [SECTION]

A line of the README that is indented by four spaces and begins with `build/alphastep run`, `inverse`, `equilibrium` or
`modes` (without `--sweep`) is run; with SECTION those below the heading `## SECTION` alone. Tables with this head, below it, are about its results:

    | time [s] | channel | value | within |

The time is one of the rows; `all` holds for every row, `max` and `min` for the largest and smallest number of them, and
`check` is about what `alphastep check --json` says of the same machine. A channel may be a sum or a difference of
several, `a + b - c`. An equilibrium is at the time 0. Of modes the head is

    | frequency [Hz] | damping | within [Hz] | within |

and some mode must be as the row says. What `check` warns of must stand in the README, on a line of its own. `within` is the largest difference that is allowed; `or more` and `or less` make the value a
limit. (VERBOSE=1 shows what was found.)

If there is an expected.py beside the README, the lines that it prints are in the README: numbers that were computed
without alphastep stay what they are.
"""

import csv
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile

COMMAND, FOLDER = sys.argv[1:3]
SECTION = sys.argv[3] if len(sys.argv) > 3 else None
HEAD = ["time [s]", "channel", "value", "within"]
MODES = ["frequency [Hz]", "damping", "within [Hz]", "within"]
TERM = re.compile(r"(^|[-+] )(.+?)(?= [-+] |$)")
failures = []


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word) for word in words))


def alphastep(*arguments):
    result = subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    check(result.returncode == 0 and not result.stderr, arguments, "ends with", result.returncode, result.stderr)
    return result.stdout


class Results:
    """What a line of the README gives: rows by time, and the answers of `check`."""

    def __init__(self, verb, words, folder, readme):
        options = [os.path.join(FOLDER, os.path.basename(word)) if word.endswith(".yaml") else word for word in words]
        settings = [word for i, word in enumerate(options) if "--set" in (word, options[i - 1]) or word.endswith(".yaml")]
        self.facts = json.loads(alphastep("check", "--json", *settings))
        unknown = [warning for warning in self.facts["warnings"] if "    warning: " + warning not in readme]
        check(unknown == [], "check warns:", unknown)
        table = folder + ".csv"
        if verb == "run":
            alphastep("run", *options, "--quiet", "-o", folder)
            table = folder + "/results.csv"
        else:
            alphastep(verb, *options, *([] if verb == "inverse" else ["--csv"]), "-o", table)
            if verb == "modes":
                table += "/modes.csv"
        with open(table, encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
        if verb == "equilibrium":
            lines = [["time [s]"] + lines[0]] + [["0"] + line for line in lines[1:]]
        self.column = {name.rsplit(" [", 1)[0]: i for i, name in enumerate(lines[0])}
        self.rows = [[float(x) for x in line] for line in lines[1:]]

    def value(self, row, channel):
        total = 0.0
        for sign, name in TERM.findall(channel):
            total += (-1 if sign == "- " else 1) * row[self.column[name]]
        return total

    def values(self, when, channel):
        if when == "check":
            return [float(self.facts[channel])]
        if when in ("all", "max", "min"):
            values = [self.value(row, channel) for row in self.rows]
            if when != "all":  # times of events that have not happened yet are no numbers
                values = [x for x in values if not math.isnan(x)]
            return values if when == "all" else [max(values) if when == "max" else min(values)]
        return [self.value(row, channel) for row in self.rows if math.isclose(row[0], float(when), abs_tol=1e-12)][:1]


def compare_mode(results, frequency, damping, *within):
    f, d = results.column["frequency"], results.column["damping"]
    miss = [max(abs(row[f] - float(frequency)) / float(within[0]), abs(row[d] - float(damping)) / float(within[1]))
            for row in results.rows if not math.isnan(row[d])]
    best = min(range(len(miss)), key=miss.__getitem__)
    near = [row for row in results.rows if not math.isnan(row[d])][best]
    words = f"the mode of {frequency} Hz, damping {damping}, is {near[f]!r}, {near[d]!r}"
    check(miss[best] <= 1, words)
    if "VERBOSE" in os.environ:
        print(words)


def compare(results, when, channel, value, within):
    if channel not in results.facts and any(name not in results.column for _, name in TERM.findall(channel)):
        check(False, channel, "is not among", ", ".join(results.column))
        return
    found = results.values(when, channel)
    check(found, "no row at", when)
    if not found:
        return
    expected = float(value)
    if within == "or more":
        worst, good = min(found), min(found) >= expected
    elif within == "or less":
        worst, good = max(found), max(found) <= expected
    else:
        worst = max(found, key=lambda x: abs(x - expected))
        good = abs(worst - expected) <= float(within)
    words = f"{when}: {channel} is {worst!r}, expected {value} ({within})"
    check(good, words)
    if "VERBOSE" in os.environ:
        print(words)


def main():
    with open(FOLDER + "/README.md", encoding="utf-8") as file:
        whole = text = file.read()
    if SECTION:
        text = next(part for part in re.split(r"(?m)^(?=## )", whole) if part.startswith(f"## {SECTION}\n"))
    results, inside, compared, runs = None, None, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for line in text.splitlines():
            words = re.fullmatch(r"    build/alphastep (run|inverse|equilibrium|modes) (.*)", line)
            if words and "--sweep" not in line:
                runs += 1
                results = Results(words.group(1), shlex.split(words.group(2)), f"{folder}/{runs}", whole)
            cells = [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
            if cells in (HEAD, MODES):
                inside = compare if cells == HEAD else compare_mode
            elif not cells:
                inside = None
            elif inside and not set(cells[0]) <= set("-:"):
                inside(results, *cells)
                compared += 1
    check(compared > 0, "the README has no numbers")
    script = FOLDER + "/expected.py"
    if os.path.exists(script):
        printed = subprocess.run([sys.executable, script], check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in printed.splitlines():
            check(line in text.splitlines(), "the README lacks", line)
    for failure in failures:
        print("FAILED:", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

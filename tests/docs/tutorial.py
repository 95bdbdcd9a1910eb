#!/usr/bin/env python3
"""Does what the tutorial says, with the files that it shows, and compares what comes out with what it shows.

A block ```yaml is the file that is named last before it. In a block ```console a line that begins with `$ ` is a
command, what follows is its output (stdout and stderr). The table of tolerances is measured too. How numbers are
compared stands in shown.py. With --update the tutorial is written anew instead, with what the commands print.

usage: tutorial.py COMMAND TUTORIAL [--update]
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile

import shown as pages

COMMAND, TUTORIAL = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
UPDATE = "--update" in sys.argv[3:]
PATIENCE = 600  # s; for something that takes a second

# The exact angle after 1.45 s: -pi/2 - 5.42 rad/s (3/4 of the period - 1.45 s).
EXACT_ANGLE = -1.5708025  # [rad]
TABLE = re.compile(r"^\| `rtol` \| steps \| angle after 1\.45 s \| error \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", re.M)

failures = []


class Shell:
    """Commands in one folder; `echo $?` sees the status of the one before."""

    def __init__(self, folder):
        self.folder, self.status = folder, 0
        self.environment = dict(os.environ, PATH=os.path.dirname(COMMAND) + os.pathsep + os.environ["PATH"])

    def run(self, line):
        result = subprocess.run(["sh", "-c", f"(exit {self.status}); {line}"], cwd=self.folder, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        self.status = result.returncode
        return result.stdout.splitlines()


def play(console, shell):
    """Returns the block as it should be, and how many commands it has."""
    block, done = [], 0
    for command in re.split(r"^\$ ", console, flags=re.M)[1:]:
        line, *shown = command.splitlines()
        measured = shell.run(line)
        if not pages.same_output(shown, measured):
            failures.append(f"$ {line}\nis shown to print\n" + "\n".join(shown) + "\nbut prints\n" + "\n".join(measured))
        block += ["$ " + line] + pages.updated(shown, measured)
        done += 1
    return "\n".join(block) + "\n", done


def tolerance_rows(names, shell):
    """Cells of the table, as text; a name begins with its tolerance."""
    for name in names:
        rtol = name.split()[0]
        shell.run("alphastep run pendulum.yaml -o tolerance --force --quiet --set 'output.times=[1.45]' "
                  f"--set output.interval=null --set 'simulate.tol={{rtol: {rtol}}}'")
        with open(os.path.join(shell.folder, "tolerance", "results.csv"), encoding="utf-8") as file:
            angle = float(file.read().splitlines()[1].split(",")[1])
        with open(os.path.join(shell.folder, "tolerance", "summary.json"), encoding="utf-8") as file:
            steps = json.load(file)["statistics"]["steps"]
        error = abs(angle - EXACT_ANGLE)
        digits = 1 - math.floor(math.log10(error))  # two of them
        yield name, str(steps), f"{angle:.{max(digits - 1, 4)}f} rad", f"{error:.{digits}f}"


def same_cells(shown, measured):
    number = lambda text: float(text.removesuffix(" rad"))
    return (shown[0] == measured[0] and pages.same_work(float(shown[1]), float(measured[1]))
            and pages.same_value(number(shown[2]), number(measured[2])) and pages.same_error(number(shown[3]), number(measured[3])))


def tolerance_table(text, shell):
    """The rows as they should be."""
    rows = []
    shown = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines()]
    for row, measured in zip(shown, tolerance_rows([row[0] for row in shown], shell)):
        if not same_cells(row, measured):
            failures.append(f"the table of tolerances has\n{row}\nbut measured is {measured}")
        rows.append("| " + " | ".join(measured) + " |")
    return "\n".join(rows) + "\n"


def follow(text, folder):
    """The tutorial as it should be, and how many commands it has."""
    shell, out, end, done, tables = Shell(folder), [], 0, 0, 0
    for block in re.finditer(r"^```(yaml|console)\n(.*?)^```$", text, re.M | re.S):
        before = text[end:block.start()]
        table = TABLE.search(before)
        if table:
            tables += 1
            before = before[:table.start(1)] + tolerance_table(table[1], shell) + before[table.end(1):]
        content = block[2]
        if block[1] == "console":
            content, commands = play(content, shell)
            done += commands
        else:
            name = re.findall(r"`([\w-]+\.yaml)`", before)[-1]
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        out += [before, f"```{block[1]}\n{content}```"]
        end = block.end()
    if done < 15 or tables != 1:
        failures.append(f"only {done} commands and {tables} table of tolerances were found")
    return "".join(out) + text[end:], done


def write(text, done):
    with open(TUTORIAL, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{TUTORIAL}: written anew; {len(failures)} of {done} outputs were off")
    return 0


def main():
    if os.path.basename(COMMAND) != "alphastep":
        sys.exit("the command must be called alphastep")
    with open(TUTORIAL, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        new, done = follow(text, folder)
    if UPDATE:
        return write(new, done)
    print("\n\n".join(failures) or f"{done} commands")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

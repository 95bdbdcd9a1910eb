#!/usr/bin/env python3
"""Does what the tutorial says, with the files that it shows, and compares what comes out with what it shows.

A block ```yaml is the file that is named last before it. In a block ```console a line that begins with `$ ` is a
command, what follows is its output (stdout and stderr). Numbers agree to 1 percent (or 1e-9); how long a run took does
not matter; a line `...` stands for any number of lines, and `[...]` in a line for any text.

usage: tutorial.py COMMAND TUTORIAL
"""

import os
import re
import subprocess
import sys
import tempfile

COMMAND, TUTORIAL = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
RELATIVE, ABSOLUTE = 1e-2, 1e-9

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")

failures = []


def same_line(shown, measured):
    if "[...]" in shown:
        begin, end = shown.split("[...]")
        return measured.startswith(begin) and measured.endswith(end)
    shown, measured = (re.sub(r"simulated in \S+ s", "simulated", text).rstrip() for text in (shown, measured))
    if NUMBER.sub("#", shown) != NUMBER.sub("#", measured):
        return False
    pairs = zip(map(float, NUMBER.findall(shown)), map(float, NUMBER.findall(measured)))
    return all(abs(a - b) <= RELATIVE * abs(a) + ABSOLUTE for a, b in pairs)


def same_text(shown, measured):
    """Both are lists of lines."""
    if not shown:
        return not measured
    if shown[0] == "...":
        return any(same_text(shown[1:], measured[i:]) for i in range(len(measured) + 1))
    return bool(measured) and same_line(shown[0], measured[0]) and same_text(shown[1:], measured[1:])


class Shell:
    """Commands in one folder; `echo $?` sees the status of the one before."""

    def __init__(self, folder):
        self.folder, self.status = folder, 0
        self.environment = dict(os.environ, PATH=os.path.dirname(COMMAND) + os.pathsep + os.environ["PATH"])

    def run(self, line):
        result = subprocess.run(["sh", "-c", f"(exit {self.status}); {line}"], cwd=self.folder, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        self.status = result.returncode
        return result.stdout.splitlines()


def play(console, shell):
    commands = re.split(r"^\$ ", console, flags=re.M)[1:]
    for command in commands:
        line, *shown = command.splitlines()
        measured = shell.run(line)
        if not same_text(shown, measured):
            failures.append(f"$ {line}\nis shown to print\n" + "\n".join(shown) + "\nbut prints\n" + "\n".join(measured))
    return len(commands)


def main():
    if os.path.basename(COMMAND) != "alphastep":
        sys.exit("the command must be called alphastep")
    with open(TUTORIAL, encoding="utf-8") as file:
        text = file.read()
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(folder)
        end = 0
        for block in re.finditer(r"^```(yaml|console)\n(.*?)^```$", text, re.M | re.S):
            if block[1] == "console":
                done += play(block[2], shell)
            else:
                name = re.findall(r"`([\w-]+\.yaml)`", text[end:block.start()])[-1]
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(block[2])
            end = block.end()
    if done < 15:
        failures.append(f"only {done} commands were found")
    print("\n\n".join(failures) or f"{done} commands")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

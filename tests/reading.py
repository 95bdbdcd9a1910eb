#!/usr/bin/env python3
"""Runs the snippets of a page with Python, Octave and the shell and compares what they print with what the page shows.

A block ```text is what the block ```python or ```octave before it prints; the rest is as in tutorial.py. What is not
installed is skipped.

usage: reading.py COMMAND PAGE
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import tutorial

TOOLS = {"python": ["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"],
         "octave": ["octave", "--quiet", "--norc", "--no-history", "--no-gui", "--no-window-system"]}
MODULES = ["numpy", "h5py"]


def missing(tool):
    if shutil.which(TOOLS[tool][0]) is None:
        return tool + " is not installed"
    if tool == "python" and subprocess.run([*TOOLS[tool], "-c", "import " + ", ".join(MODULES)], capture_output=True).returncode:
        return "Python lacks one of " + ", ".join(MODULES)
    return None


def play(tool, code, shown, folder):
    path = os.path.join(folder, "snippet." + {"python": "py", "octave": "m"}[tool])
    with open(path, "w", encoding="utf-8") as file:
        file.write(code)
    result = subprocess.run([*TOOLS[tool], path], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    printed = result.stdout.splitlines()
    if result.returncode or not tutorial.same_text(shown.splitlines(), printed):
        tutorial.failures.append(f"{code}is shown to print\n{shown}but prints\n{result.stdout}{result.stderr}")


def main():
    with open(tutorial.TUTORIAL, encoding="utf-8") as file:
        text = file.read()
    absent = {tool: missing(tool) for tool in TOOLS}
    done = {"python": 0, "octave": 0, "console": 0}
    with tempfile.TemporaryDirectory() as folder:
        shell, end = tutorial.Shell(folder), 0
        blocks = list(re.finditer(r"^```(yaml|console|python|octave|text)\n(.*?)^```$", text, re.M | re.S))
        for i, block in enumerate(blocks):
            if block[1] == "console":
                done["console"] += tutorial.play(block[2], shell)
            elif block[1] == "yaml":
                name = re.findall(r"`([\w-]+\.yaml)`", text[end:block.start()])[-1]
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(block[2])
            elif block[1] in TOOLS and absent[block[1]] is None:
                play(block[1], block[2], blocks[i + 1][2], folder)
                done[block[1]] += 1
            end = block.end()
    for tool, why in absent.items():
        if why:
            print("skipped:", why)
        elif done[tool] < 2:
            tutorial.failures.append(f"only {done[tool]} snippets for {tool} were found")
    print("\n\n".join(tutorial.failures) or done)
    return 1 if tutorial.failures else 0


if __name__ == "__main__":
    sys.exit(main())

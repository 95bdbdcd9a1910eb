#!/usr/bin/env python3
"""Runs the snippets of a page with Python, Octave and the shell and compares what they print with what the page shows.

A block ```text is what the block ```python or ```octave before it prints; the rest is as in tutorial.py, --update too. What
is not installed is skipped.

usage: reading.py COMMAND PAGE [--update]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import shown as pages
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
    """What the page should show."""
    path = os.path.join(folder, "snippet." + {"python": "py", "octave": "m"}[tool])
    with open(path, "w", encoding="utf-8") as file:
        file.write(code)
    result = subprocess.run([*TOOLS[tool], path], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            timeout=tutorial.PATIENCE)
    printed = result.stdout.splitlines()
    if result.returncode or not pages.same_output(shown.splitlines(), printed):
        tutorial.failures.append(f"{code}is shown to print\n{shown}but prints\n{result.stdout}{result.stderr}")
    return "\n".join(pages.updated(shown.splitlines(), printed)) + "\n"


def main():
    with open(tutorial.TUTORIAL, encoding="utf-8") as file:
        text = file.read()
    absent = {tool: missing(tool) for tool in TOOLS}
    done = {"python": 0, "octave": 0, "console": 0}
    out = []
    with tempfile.TemporaryDirectory() as folder:
        shell, end, printed = tutorial.Shell(folder), 0, None
        blocks = list(re.finditer(r"^```(yaml|console|python|octave|text)\n(.*?)^```$", text, re.M | re.S))
        for i, block in enumerate(blocks):
            content = block[2]
            if block[1] == "console":
                content, commands = tutorial.play(content, shell)
                done["console"] += commands
            elif block[1] == "yaml":
                name = re.findall(r"`([\w-]+\.yaml)`", text[end:block.start()])[-1]
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
            elif block[1] in TOOLS and absent[block[1]] is None:
                printed = play(block[1], content, blocks[i + 1][2], folder)
                done[block[1]] += 1
            elif block[1] == "text" and printed:
                content, printed = printed, None
            out += [text[end:block.start()], f"```{block[1]}\n{content}```"]
            end = block.end()
    if tutorial.UPDATE:
        return tutorial.write("".join(out) + text[end:], sum(done.values()))
    for tool, why in absent.items():
        if why:
            print("skipped:", why)
        elif done[tool] < 2:
            tutorial.failures.append(f"only {done[tool]} snippets for {tool} were found")
    print("\n\n".join(tutorial.failures) or done)
    return 1 if tutorial.failures else 0


if __name__ == "__main__":
    sys.exit(main())

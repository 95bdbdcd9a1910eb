#!/usr/bin/env python3
"""The pages of the documentation: links lead somewhere, each element has a page with a figure that names all its
keys, examples are models that the command accepts, and numbers by hand are what it computes. With --update only the
errors of the rod in docs/choosing.md are measured, and written anew.

usage: pages.py COMMAND SOURCE_DIR [--update]
"""

import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

COMMAND, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ELEMENTS = os.path.join(SOURCE, "docs", "elements")
LARGEST_FIGURE = 4096  # bytes
PATIENCE = 600  # s; for something that takes a second

failures = []


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word) for word in words))


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=PATIENCE)


# ---- links ----------------------------------------------------------------------------------------


def anchors(text):
    """What a page's headings are called in links."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def check_links(page):
    text = read(page)
    links = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.S))
    links += re.findall(r'src="([^"]+)"', text)
    for link in links:
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        check(os.path.exists(target), page, "links to", link, "which is not there")
        if anchor and os.path.exists(target):
            check(anchor in anchors(read(target)), page, "links to", link, "which has no such heading")


# ---- pages of elements ----------------------------------------------------------------------------

# Types whose page has another name.
PAGES = {
    "rigid": "body", "point": "body", "load": "follower-force", "rack": "rack-and-pinion",
    "node": "superelement", "plugin": "plugin-force", "beam": "beams",
}


def keys_of_types():
    """(type, key) of bodies, joints and forces, and (None, key) of frames, from the command's own table."""
    out = []
    sections = re.split(r"^### ", run("schema", "--keys").stdout, flags=re.M)
    for section in sections:
        name = section.split("\n", 1)[0]
        types = re.findall(r"^\| `(?!type`)(\w+)`[^|]*\|[^|]*\|$", section, re.M)
        for row in re.findall(r"^\| `\w+` \|.*\|.*\|.*\|.*\|.*$", section, re.M):
            cells = [cell.strip() for cell in row.strip("|").split(" | ")]
            key = cells[0].strip("`")
            if name in ("bodies", "joints", "forces"):
                of = cells[-1].rstrip(" |")
                out += [(t, key) for t in (types if of == "all" else of.split(", "))]
            elif name in ("frames", "superelements", "beams"):
                out.append((name[:-1], key))
            elif name == "flexible":
                out.append((name, key))
            elif name in ("lines", "sections"):
                out.append(("beam", key))
    return out


def check_keys():
    pairs = keys_of_types()
    check(len({t for t, _ in pairs}) > 20, "the table of keys has changed:", len(pairs), "keys were found")
    for kind, key in pairs:
        page = os.path.join(ELEMENTS, PAGES.get(kind, kind.replace("_", "-")) + ".md")
        if not os.path.exists(page):
            check(False, "there is no page", page, "for", kind)
            continue
        check(re.search(rf"`{key}`", read(page)), page, "does not name the key", key, "of", kind)


def check_figure(name, text, index):
    figure = os.path.join(ELEMENTS, name + ".svg")
    check(f"]({name}.svg)" in text, name, "does not show its figure")
    check(f'src="{name}.svg"' in index and f"]({name}.md)" in index, name, "is not in the list of pages")
    if os.path.exists(figure):
        check(os.path.getsize(figure) <= LARGEST_FIGURE, figure, "is larger than", LARGEST_FIGURE, "bytes")
        xml.etree.ElementTree.parse(figure)
    else:
        check(False, "there is no", figure)


def check_start(name, result):
    """A start keeps what the example gives, unless the example asks for assembly."""
    for change in json.loads(result.stdout)["start_changes"]:
        check(change["assembled"], name, "has an example whose start changes what is given:", change)


def check_example(name, text, model):
    result = run("check", model, "--json")
    check(result.returncode == 0, name, "has an example that is refused:", result.stderr)
    if result.returncode == 0:
        check_start(name, result)
    leaves = re.search(r"leaves\s+(\d)", text)
    if result.returncode == 0 and leaves:
        freedom = json.loads(result.stdout)["degrees_of_freedom"]
        of = [int(n) for n in re.findall(r"\d", leaves.group(0) + text[leaves.end():leaves.end() + 60])]
        check(freedom in of, name, "says", leaves.group(0), "but its example has", freedom)


def check_whole_models(page, folder):
    for i, example in enumerate(re.findall(r"^```yaml\n(alphastep: 1\n.*?)^```", read(SOURCE, page), re.M | re.S)):
        model = os.path.join(folder, f"{os.path.basename(page)[:-3]}-{i}.yaml")
        with open(model, "w", encoding="utf-8") as file:
            file.write(example)
        check_example(page, "", model)


def check_elements(folder):
    index = read(ELEMENTS, "README.md")
    examples = 0
    shutil.copy(os.path.join(SOURCE, "examples", "machines", "con-rod-engine", "rod.h5"), folder)
    shutil.copy(os.path.join(SOURCE, "tests", "files", "tyres", "car.tir"), folder)
    for page in sorted(glob.glob(os.path.join(ELEMENTS, "*.md"))):
        name = os.path.basename(page)[:-3]
        if name == "README":
            continue
        text = read(page)
        check_figure(name, text, index)
        for example in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S):
            model = os.path.join(folder, name + ".yaml")
            with open(model, "w", encoding="utf-8") as file:
                file.write(example)
            check_example(name, text, model)
            examples += 1
    check(examples >= 28, "only", examples, "examples were found")


def check_machines():
    models = glob.glob(os.path.join(SOURCE, "examples", "**", "*.yaml"), recursive=True)
    starts = 0
    for model in models:
        result = run("check", model, "--json")
        if result.returncode == 0:  # others are included by models
            check_start(os.path.relpath(model, SOURCE), result)
            starts += 1
    check(starts >= 17, "only", starts, "machines were found")


# ---- numbers by hand ------------------------------------------------------------------------------

DOWN = "gravity=[0, 0, -9.81]"

# page, settings, t_end [s], channel, the number to look at of its column, expected
BY_HAND = [
    ("gravity", [], 1, "bodies.stone.position.z", lambda x: x[-1], 95.095),
    ("fixed", [DOWN], 0.1, "joints.clamp.force.z", lambda x: x[-1], 49.05),
    ("fixed", [DOWN], 0.1, "joints.clamp.torque.y", lambda x: x[-1], -49.05),
    ("motion", [], 2, "joints.pin.force_in_joint.x", min, -4.5),
    ("motion", [], 2, "joints.motor.drive", lambda x: 1 + max(map(abs, x)), 1),
    ("distance", ["gravity=[0, -9.81, 0]"], 1, "joints.rod.force.y", max, 29.43),
    ("torsion", [], 0.1, "bodies.flap.angular_acceleration.z", lambda x: x[0], 7.48),
    ("torsion", [], 0.1, "forces.coil.moment", lambda x: x[0], -2.618),
    ("spring", [DOWN], 12, "forces.coil.length", lambda x: x[-1], 0.8981),
]


def check_by_hand(folder):
    for name, settings, t_end, channel, look, expected in BY_HAND:
        out = os.path.join(folder, "results")
        sets = [f"simulate={{t_end: {t_end}, step: 1e-3}}",
                f"output={{interval: 1e-3, channels: [{channel}]}}", *settings]
        result = run("run", os.path.join(folder, name + ".yaml"), "-o", out, "--force", "--quiet",
                     *[word for text in sets for word in ("--set", text)])
        if result.returncode:
            check(False, name, "does not run:", result.stderr)
            continue
        with open(os.path.join(out, "results.csv"), encoding="utf-8") as file:
            column = [float(row[1]) for row in list(csv.reader(file))[1:]]
        measured = look(column)
        check(abs(measured - expected) <= 1e-3 * abs(expected), name, channel, "is", measured, "not", expected)


# ---- errors of the rod, docs/choosing.md ----------------------------------------------------------


def rod_error(model, out, *settings):
    """Of the tutorial's pendulum after 1.45 s, where exactly it has -pi/2 - 5.42 rad/s (3/4 of its period - 1.45 s)."""
    sets = ["output={times: [1.45], channels: [joints.pin.angle]}", *settings]
    result = run("run", model, "-o", out, "--force", "--quiet", *[w for text in sets for w in ("--set", text)])
    check(result.returncode == 0, "the rod does not run:", result.stderr)
    return abs(float(read(out, "results.csv").splitlines()[-1].split(",")[1]) + 1.5708025)


# How far the errors that the tables show may be off: equal steps are the same on all machines, automatic ones depend on
# round-off a little.
WITHIN_FIXED, WITHIN_AUTOMATIC = 0.05, 0.2

STEPS = ("0.04", "0.02", "0.01", "0.005", "0.0025")
TOLERANCES = ("1e-3", "1e-4", "1e-5", "1e-6")
# Begin of a row of docs/choosing.md, the settings of its cells, and how far they may be off.
ROD = [(row, [(f"simulate.step={step}", f"simulate.method={method}") for step in STEPS], WITHIN_FIXED)
       for row, method in (("error [rad], index-2", "index2"), ("index-3", "index3"), ("SOI2", "soi2"))]
ROD.append(("the rod, angle [rad]", [(f"simulate.tol={{rtol: {rtol}}}",) for rtol in TOLERANCES], WITHIN_AUTOMATIC))


def check_rod(folder, update=False):
    model, out = os.path.join(folder, "rod.yaml"), os.path.join(folder, "rod")
    with open(model, "w", encoding="utf-8") as file:
        file.write(re.search(r"^```yaml\n(.*?)^```", read(SOURCE, "docs", "tutorial.md"), re.M | re.S)[1])
    text = read(SOURCE, "docs", "choosing.md")
    check(f"| `step` [s] | {' | '.join(STEPS)} |" in text, "choosing.md has not the steps", *STEPS)
    for name, cases, within in ROD:
        row = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", text, re.M)
        if not row:
            check(False, "choosing.md has no row", name)
            continue
        cells = [cell.strip() for cell in row[1].split("|")]
        for i, settings in enumerate(cases):
            measured = rod_error(model, out, *settings)
            check(abs(measured - float(cells[i])) <= within * measured, "the rod's error with", *settings, "is", measured, "not", cells[i])
            cells[i] = f"{measured:#.2g}"
        text = text.replace(row[0], f"| {name} | {' | '.join(cells)} |")
    if update:
        with open(os.path.join(SOURCE, "docs", "choosing.md"), "w", encoding="utf-8") as file:
            file.write(text)
        print(f"docs/choosing.md: written anew; {len(failures)} of its numbers were off")


# ---- docs/performance.md --------------------------------------------------------------------------


def check_performance():
    """The table of time has the rows that `make bench` measures, and the files that the page names are there."""
    text = read(SOURCE, "docs", "performance.md")
    names = re.findall(r'"([\w-]+)"', re.search(r"all\[\] = \{(.*?)\};", read(SOURCE, "bench", "steps.c"), re.S)[1])
    table = re.search(r"^\| problem \| method \| policy \| solver \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    rows = [tuple(cell.strip() for cell in line.split("|")[1:4]) for line in table[1].splitlines()]
    expected = [(name, method, policy) for name in names for method in ("index-3", "index-2") for policy in ("renew", "reuse")]
    check(rows == expected, "performance.md has not the rows of bench/steps:", set(rows) ^ set(expected))
    for path in re.findall(r"(?<![\w/])(?:bench|tests|tools|examples)/[\w/-]+(?:\.\w+)?", text):
        check(os.path.exists(os.path.join(SOURCE, path)), "performance.md names", path, "which is not there")


def main():
    if "--update" in sys.argv[3:]:
        with tempfile.TemporaryDirectory() as folder:
            check_rod(folder, update=True)
        return 0
    pages = glob.glob(os.path.join(SOURCE, "*.md")) + glob.glob(os.path.join(SOURCE, "docs", "**", "*.md"), recursive=True)
    pages += glob.glob(os.path.join(SOURCE, "examples", "**", "*.md"), recursive=True)
    for page in pages:
        check_links(page)
    check_keys()
    check_performance()
    with tempfile.TemporaryDirectory() as folder:
        check_elements(folder)
        check_whole_models("README.md", folder)
        for page in glob.glob(os.path.join(SOURCE, "docs", "*.md")):
            if os.path.basename(page) != "tutorial.md":  # which has a test of its own
                check_whole_models(os.path.relpath(page, SOURCE), folder)
        check_machines()
        check_by_hand(folder)
        check_rod(folder)
    print("\n".join(failures) or f"{len(pages)} pages")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

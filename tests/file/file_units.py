#!/usr/bin/env python3
"""Model files in other units: example machines rewritten with lengths, masses and times multiplied, run by the command.

A file has SI units, so a file whose numbers are in mm, g or ms describes another machine that is similar to the first: it takes the same
steps, and its results are those of the first in its units. The units of keys are those in the schema's descriptions, those of results
in the heads of their columns. Numbers and formulas of parameters and t are converted; a machine that has anything else (laws of a
spring's deflection, tables, mixed units) is said to be left out.

usage: file_units.py COMMAND SOURCE_DIR      exit status 77: a Python package is missing
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy
    import yaml
except ImportError as missing:
    print(missing)
    sys.exit(77)

COMMAND, SOURCE = sys.argv[1:3]
# Lengths, masses and times of a machine, over those of the example: mm and g, km and t, ms, and the ends of what is promised.
# Times by powers of two: rows that lie at the ends of steps stay there, to the last digit.
SCALES = [(1e3, 1e3, 1.0), (1e-3, 1e-3, 1.0), (1.0, 1.0, 1024.0), (1e-6, 1e-9, 2.0 ** -10), (1e8, 1e9, 8.0)]
FEWEST = 15  # machines that can be converted
POWERS = {"m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "N": (1, 1, -2), "J": (2, 1, -2), "W": (2, 1, -3), "rad": (0, 0, 0), "Pa": (-1, 1, -2),
          "1": (0, 0, 0), "": (0, 0, 0), "-": (0, 0, 0)}
SCHEMA = json.loads(subprocess.run([COMMAND, "schema"], capture_output=True, check=True).stdout)


# Regularizations of friction and of teeth that a file need not give.
DEFAULTS = {"small_force": (1e-3, "N"), "transition_speed": (1e-3, "m/s")}
JOINTS = {}  # types of the machine's joints


class LeftOut(Exception):
    """A machine that is not converted, and why."""


class Loader(yaml.SafeLoader):
    """Numbers as the reader takes them: 1e-3 is one."""


Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), None)


def factor(unit, scale):
    """What a quantity of this unit is multiplied with: `N s/m`, `m/s^2`."""
    total = numpy.zeros(3)
    for place, part in enumerate(unit.split("/")):
        for word in part.split():
            name, _, power = word.partition("^")
            if name not in POWERS:
                raise LeftOut(f"unit [{unit}]")
            total += (1 if place == 0 else -1) * float(power or 1) * numpy.array(POWERS[name])
    return float(numpy.prod(numpy.array(scale) ** total))


def in_units(value, by, scale):
    """A number, a formula of parameters and t, or a list of them."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return value * by
    if isinstance(value, list):
        return [in_units(each, by, scale) for each in value]
    if isinstance(value, dict):
        raise LeftOut(f"{sorted(value)}")
    if re.search(r"[A-Za-z_]\w*\.|\bs\b|deflection|length_rate|speed\b.*\(", value):
        raise LeftOut(f"`{value}`")
    text = re.sub(r"\bt\b", f"(t/{scale[2]!r})", value)
    return f"({text})*{by!r}" if by != 1.0 or text != value else value


def definition(schema, value):
    """The schema of a value, by its `type` where there are several."""
    while True:
        if "$ref" in schema:
            schema = SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]]
        elif len(schema.get("allOf", ())) == 1 and "$ref" in schema["allOf"][0]:
            schema = schema["allOf"][0]
        elif isinstance(value, dict) and any("if" in rule for rule in schema.get("allOf", ())):
            for rule in schema["allOf"]:
                kind = rule["if"].get("properties", {}).get("type")
                if (kind is None and "type" not in value) or (kind and "type" in value and
                                                              value["type"] in kind.get("enum", [kind.get("const")])):
                    schema = rule["then"]
                    break
            else:
                raise LeftOut(f"type {value.get('type')}")
        else:
            return schema


def convert(value, schema, scale, key=""):
    """A part of a file in other units."""
    schema = definition(schema, value)
    properties = schema.get("properties")
    if key in ("parameters", "title", "description", "output"):
        pass
    elif isinstance(value, dict) and properties:
        if value.get("type") == "motion":
            by = 1.0 if JOINTS.get(value["joint"]) == "revolute" else scale[0] if JOINTS.get(value["joint"]) == "prismatic" else None
            if by is None:
                raise LeftOut(f"motion of {value['joint']}")
            return dict(value, law=in_units_of_a_motion(value["law"], by, scale))
        other = {name: convert_key(name, each, properties.get(name, {}), scale) for name, each in value.items()}
        for name in set(properties) & set(DEFAULTS) - set(value):  # what is not given has SI units
            other[name] = DEFAULTS[name][0] * factor(DEFAULTS[name][1], scale)
        return other
    elif isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        return {name: convert(each, schema["additionalProperties"], scale) for name, each in value.items()}
    elif isinstance(value, list) and "$ref" in schema.get("items", {}):
        return [convert(each, schema["items"], scale) for each in value]
    return value


def in_units_of_a_motion(value, by, scale):
    """A function of time: a number, a formula, a straight line."""
    if not isinstance(value, dict):
        return in_units(value, by, scale)
    if set(value) - {"constant", "slope"}:
        raise LeftOut(f"law {sorted(value)}")
    return {key: in_units(each, by if key == "constant" else by / scale[2], scale) for key, each in value.items()}


def convert_key(name, value, schema, scale):
    """One key: with its unit, or what is below it."""
    units = [u for u in re.findall(r"\[([^\]]*)\]", schema.get("description", "")) if re.match(r"[A-Za-z]", u) and u != "event"]
    if name == "twist" and isinstance(value, str):  # by the arc length
        raise LeftOut(f"{name}: {value}")
    if name == "points":  # `points [x, y, z] ... [m]`
        units = ["m"] if schema.get("description", "").endswith("[m]") else []
    if name == "output":
        return {key: in_units(each, scale[2], scale) if key == "interval" else each for key, each in value.items()}
    if not units or name == "type":
        if isinstance(value, str) and re.search(r"\bt\b", value) and name in ("when", "law", "factor"):
            raise LeftOut(f"{name}: {value}")
        return convert(value, schema, scale, name)
    if len(set(units)) > 1 or "," in units[0] or " or " in units[0]:
        raise LeftOut(f"{name} [{units[0]}]")
    if units[0] in ("degrees", "rad", "rad/s") and scale[2] == 1.0 and not isinstance(value, dict):
        return value
    return in_units(value, 1.0 if units[0] == "degrees" else factor(units[0], scale), scale)


def load(path):
    """A file as the reader takes it."""
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader)


def rewrite(path, folder, scale):
    """Writes a file and those that it includes, in other units, into a folder."""
    model = load(path)
    JOINTS.update({name: each.get("type") for name, each in model.get("joints", {}).items()})
    included = model.get("include", [])
    for each in [included] if isinstance(included, str) else included:
        rewrite(os.path.join(os.path.dirname(path), each), folder, scale)
    to = os.path.join(folder, os.path.basename(path))
    with open(to, "w", encoding="utf-8") as file:
        json.dump(convert(model, SCHEMA, scale), file)
    return to


def run(path, folder, settings):
    """Results by channel, the units of these, and the number of steps."""
    out = os.path.join(folder, "out")
    said = subprocess.run([COMMAND, "run", path, "-o", out, "--no-report", "--no-sync", "-q", "--force", *settings], capture_output=True, text=True,
                          check=False)
    if said.returncode != 0:
        sys.exit(said.stderr)
    with open(os.path.join(out, "results.csv"), encoding="utf-8") as file:
        head, *rows = list(csv.reader(line for line in file if not line.startswith("#")))
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        steps = json.load(file)["statistics"]["steps"]
    return head, numpy.array(rows, dtype=float), steps


def compare(name, scale, first, second, rtol):
    """The largest difference, in sizes of each kind of unit."""
    (head, a, steps), (other, b, other_steps) = first, second
    if head != other or a.shape != b.shape:
        sys.exit(f"{name} {scale}: other channels or rows")
    if abs(steps - other_steps) > 2 + 0.05 * steps:
        sys.exit(f"{name} {scale}: {steps} and {other_steps} steps")
    units = [re.search(r"\[([^\]]*)\]", column).group(1) if "[" in column else "" for column in head]
    worst, where = 0.0, ""
    for unit in sorted(set(units)):
        mine = [i for i, each in enumerate(units) if each == unit]
        size = numpy.abs(a[:, mine]).max()
        # What stays at zero is round-off of other quantities.
        if size > 0.0:
            off = numpy.abs(b[:, mine] / factor(unit, scale) - a[:, mine]).max() / size
            worst, where = max((worst, where), (off, f"[{unit}]"))
    print(f"{name:16s} lengths {scale[0]:g}, masses {scale[1]:g}, times {scale[2]:g}: {steps} and {other_steps} steps, off by {worst:.1e} {where}")
    if not worst <= rtol:
        sys.exit(f"{name} {scale}: results differ by {worst:g}")


def main():
    """All examples in all scales."""
    converted = 0
    for name in sorted(os.listdir(os.path.join(SOURCE, "examples", "machines"))):
        path = os.path.join(SOURCE, "examples", "machines", name, "model.yaml")
        if not os.path.exists(path):
            continue
        model, first = load(path), None
        settings = ["--set", "parameters.n=10"] if "n" in model.get("parameters", {}) else []
        automatic = "step" not in model["simulate"]
        for scale in SCALES:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    JOINTS.clear()
                    other = rewrite(path, folder, scale)
                except LeftOut as why:
                    print(f"{name:16s} is left out: {why}")
                    break
                first = first or run(path, folder, settings)
                compare(name, scale, first, run(other, folder, settings), 5e-3 if automatic else 1e-6)
        else:
            converted += 1
    print(f"{converted} machines")
    if converted < FEWEST:
        sys.exit("too few machines are converted")


main()

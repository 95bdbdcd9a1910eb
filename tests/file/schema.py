#!/usr/bin/env python3
"""The JSON Schema of model files against the reader.

It is a schema (draft-07). It accepts every good file and every example, and refuses the wrong ones that say so
(`#! schema`). And both agree about good files that have been spoiled in one place, in every place: whatever the
schema refuses the reader refuses, and what the reader says about keys, types and counts the schema sees too.

usage: schema.py COMMAND LOADER SOURCE_DIR      exit status 77: a Python package is missing
"""
import copy
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(missing)
    sys.exit(77)


class Loader(yaml.SafeLoader):
    """Scalars as the reader takes them; keys are texts."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node, deep=False):
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}


NUMBER = r"^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(null)?$"), None)
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), None)
Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(NUMBER), None)
Loader.add_constructor("tag:yaml.org,2002:map", Loader.construct_mapping)
Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))


def load(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        return json.loads(re.sub("^#!.*$", "", text, flags=re.MULTILINE))
    return yaml.load(text, Loader)


def check_files(validator, source):
    good = glob.glob(source + "/tests/files/good/**/*.*", recursive=True)
    good = [path for path in good if not path.endswith((".mtx", ".csv", ".stl", ".obj"))]
    good += glob.glob(source + "/examples/machines/*/*.yaml")
    good = [path for path in good if "\nalphastep-study:" not in open(path, encoding="utf-8", errors="replace").read()]
    wrong = glob.glob(source + "/tests/files/wrong/*.*")
    wrong = [path for path in wrong if "#! schema\n" in open(path, encoding="utf-8").read()]
    failed = len(good) < 8 or len(wrong) < 8
    for path in sorted(good + wrong):
        errors = list(validator.iter_errors(load(path)))
        if (path in wrong) != bool(errors):
            failed = True
            print(path + ": " + (errors[0].message if errors else "accepted"))
    print(f"{len(good)} good files, {len(wrong)} wrong ones")
    return failed


def places(value, path=()):
    """Paths to all values but the whole; of lists of numbers the first item only."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield path + (key,)
        if isinstance(item, (dict, list)):
            numbers = isinstance(item, list) and not any(isinstance(x, (dict, list)) for x in item)
            yield from places(item[:1] if numbers else item, path + (key,))


def row(model, path):
    """The path with the types of things instead of their names, numbers left out: which rows of the table it meets."""
    out = []
    for key in path:
        model = model[key]
        named = out and out[-1] in ("bodies", "superelements", "beams", "frames", "joints", "forces", "shapes")
        kind = model.get("type", "") if isinstance(model, dict) else ""
        out.append(kind if named else "" if isinstance(key, int) else key)
    return tuple(out)


def spoil(model):
    """Copies of a model with one thing changed, once for each row of the table, and what it is."""
    seen = set()
    for path in places(model):
        names = " ".join(map(str, path))
        old = model
        for key in path:
            old = old[key]
        if row(model, path) in seen:
            continue
        seen.add(row(model, path))
        changes = [True, -1, "no"]
        if isinstance(old, list):
            changes += [old + old[:1], old[:-1]]
        for change in changes:
            new = copy.deepcopy(model)
            at = new
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = change
            yield f"{names} = {change}", path, new
        for action in ("take", "add"):
            new = copy.deepcopy(model)
            at = new
            for key in path[:-1]:
                at = at[key]
            if action == "take":
                del at[path[-1]]
            elif isinstance(at[path[-1]], dict):
                at[path[-1]]["nonsense"] = 1
            yield f"{action} {names}", path, new


def part(model, path):
    """The model with one thing only where one thing was spoiled: the others are as good as before, and take time."""
    if len(path) < 3 or not isinstance(model[path[0]], dict):
        return model
    section = path[0] in ("bodies", "superelements", "beams", "frames", "joints", "forces")
    return {"alphastep": 1, path[0]: {path[1]: model[path[0]][path[1]]} if section else model[path[0]]}


# What the schema must see too; ranges only of numbers, not of expressions.
STRUCTURE = re.compile(r": must be (a|true|the|[0-9]|at least)(?! whole| finite)|missing: |"
                       r"there is no key|only one of|can only be given|is none of|of type")
RANGE = re.compile(r": must not be negative|: must be greater|: must be from 0")


def check_spoiled(validator, loader, path, tmp):
    """Both verdicts on every spoiled copy."""
    reader = subprocess.Popen([loader], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    place = os.path.join(tmp, "spoiled.json")
    count = refused = 0
    failed = False
    for what, where, model in spoil(load(path)):
        with open(place, "w", encoding="utf-8") as file:
            json.dump(model, file)
        reader.stdin.write(place + "\n")
        reader.stdin.flush()
        messages = [reader.stdout.readline() for _ in range(int(reader.stdout.readline()))]
        plain = not what.startswith(("parameters", "take parameters")) and " from" not in what
        schema_refuses = not validator.is_valid(part(model, where))
        must_refuse = any(STRUCTURE.search(m) or (RANGE.search(m) and plain) for m in messages)
        if (schema_refuses and not messages) or (must_refuse and not schema_refuses):
            failed = True
            print(f"{path}: {what}: the schema {'refuses' if schema_refuses else 'accepts'}, the reader says", messages)
        count += 1
        refused += schema_refuses
    reader.stdin.close()
    reader.wait()
    print(f"{os.path.basename(path)}: {count} spoiled copies, of which the schema refuses {refused}")
    return failed or refused < count / 3


def main(command, loader, source):
    schema = json.loads(subprocess.run([command, "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failed = check_files(validator, source)
    with tempfile.TemporaryDirectory() as tmp:
        shutil.copytree(source + "/tests/files/good/part", tmp + "/part")
        for name in ("everything.yaml", "elements.yaml", "superelement.yaml", "beams.yaml", "formulas.yaml", "part/common.yaml", "json.json", "repeat.yaml"):
            failed |= check_spoiled(validator, loader, source + "/tests/files/good/" + name, tmp)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

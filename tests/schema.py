#!/usr/bin/env python3
"""The JSON Schema of model files against files: it is a schema, it accepts every good file and every example, and it
refuses the wrong ones that say so (`#! schema`).

usage: schema.py COMMAND SOURCE_DIR      exit status 77: a Python package is missing
"""
import glob
import json
import re
import subprocess
import sys

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


def main(command, source):
    schema = json.loads(subprocess.run([command, "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    good = glob.glob(source + "/tests/files/good/**/*.*", recursive=True)
    good += glob.glob(source + "/examples/machines/*/model.yaml")
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

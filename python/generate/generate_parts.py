"""Writes the module alphastep._parts from the JSON Schema of model files: a method for each kind of thing, a keyword for each key.

usage: generate_parts.py SCHEMA OUTPUT

The schema is made of the table of keys that the reader of model files uses (src/file/table.h), so there is no list of names in the package.
"""

import json
import keyword
import sys
import textwrap

HEAD = '''"""What a Model is made of. Generated from the table of keys of model files: see python/generate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

from ._sections import Groups, Keys, Shapes, Things

Number = Union[float, str]  # a text is an expression
'''


def word(name):
    """A key or type as a name of Python's: `from_`, `and_`."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def title(name):
    return "".join(part[:1].upper() + part[1:] for part in name.replace(" ", "_").replace("-", "_").split("_"))


def reference(schema):
    """The definition that a value is of, or None."""
    for place in (schema, *schema.get("allOf", [])):
        if "$ref" in place:
            return place["$ref"].rsplit("/", 1)[1]
    return None


class Writer:
    def __init__(self, schema):
        self.root, self.definitions = schema, schema["definitions"]
        self.nested = []  # definitions that dicts inside of things are of
        self.out = [HEAD]

    # ---- types ----

    def type_of(self, schema):
        """The annotation of a value."""
        if "enum" in schema:
            return "Literal[" + ", ".join(repr(x) for x in schema["enum"]) + "]"
        if "anyOf" in schema:
            return "Union[" + ", ".join(self.type_of(s) for s in schema["anyOf"]) + "]"
        name = reference(schema)
        if name:
            return self.nest(name)
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        parts = [self.simple(t, schema) for t in types if not (t == "string" and ("number" in types or "integer" in types))]
        return parts[0] if len(parts) == 1 else "Union[" + ", ".join(parts) + "]"

    def simple(self, kind, schema):
        if kind == "array":
            return f"Sequence[{self.type_of(schema['items'])}]"
        if kind == "object":
            inner = schema.get("additionalProperties", {})
            return f"Mapping[str, {self.type_of(inner) if inner else 'Any'}]"
        return {"number": "Number", "integer": "Union[int, str]", "string": "str", "boolean": "bool", "null": "None"}[kind]

    def nest(self, name):
        """The name of the type of a definition, which is written later."""
        kinds = self.kinds(name) if name.startswith("any_") else None
        if kinds and len(kinds) > 1:
            return "Mapping[str, Any]"  # a thing of one of several kinds
        name = kinds[0][1] if kinds else name
        if name not in self.nested:
            self.nested.append(name)
        return title(name)

    def typed_dict(self, name):
        body = self.definitions[name]
        rows = ", ".join(f"{k!r}: {self.type_of(v)!r}" for k, v in body["properties"].items())
        self.out.append(f"{title(name)} = TypedDict({title(name)!r}, {{{rows}}}, total=False)")

    # ---- things ----

    def kinds(self, name):
        """(type or None, definition, what it is) of each kind of a section."""
        body = self.definitions[name]
        if "properties" not in body:
            return [(None, reference(body), "")]
        out = []
        for case in body["allOf"]:
            wanted = case["if"].get("properties", {}).get("type", {}).get("const")
            if wanted:
                out.append((wanted, reference(case["then"]), case.get("description", "")))
        return out

    def method(self, name, definition, text, kind, first, call):
        """A method that takes the keys of a definition as keywords."""
        body = self.definitions[definition]
        keys = {k: v for k, v in body["properties"].items() if k != "type"}
        need = [k for k in keys if k in body.get("required", []) and name != "__call__"]  # it may be called again for the rest
        order = need + [k for k in keys if k not in need]
        if kind == "plugin" and "file" in keys:  # a plugin of Python's needs no file
            need = [k for k in need if k != "file"]
            order = need + [k for k in keys if k not in need]
        spots = [f"{word(k)}: {self.plugin_type(kind, k, keys[k])}" + ("" if k in need else " | None = None") for k in order]
        lines = [f"    def {word(name)}(self, {first}*, {', '.join(spots)}) -> {'str' if first.startswith('name') else 'None'}:"]
        about = [(text[:1].upper() + text[1:] if text else f"Adds {name}") + ".", ""]
        about += [f"{word(k)}: {keys[k]['description']}" + (" (required)" if k in need else "") for k in order]
        lines += ['        """' + about[0], *("        " + row if row else "" for row in self.wrap(about[1:])), '        """']
        taken = "{" + ", ".join(f"{k!r}: {word(k)}" for k in order) + "}"
        lines.append(f"        {call(taken)}")
        self.out[-1] += "\n\n" + "\n".join(lines)

    @staticmethod
    def wrap(rows):
        out = []
        for row in rows:
            out += textwrap.wrap(row.replace("\\", "\\\\"), 130, subsequent_indent="    ") or [""]
        return out

    def plugin_type(self, kind, key, schema):
        return "Any" if kind == "plugin" and key == "plugin" else self.type_of(schema)  # or an object of Python's

    def section(self, key, name, named):
        """A class with a method for each kind of thing; returns the class's name."""
        label = title(key) + "Section"
        what = self.root["properties"][key]["description"]
        self.out.append(f'class {label}({"Things" if named else "Shapes"}):\n    """`{key}:` of a model: {what}."""')
        for kind, definition, text in self.kinds(name):
            if named:
                self.method(kind or "add", definition, text or what, kind, "name: str, /, ", lambda t, k=kind: f"return self._add(name, {k!r}, {t})")
            else:
                self.method(kind or "add", definition, text or what, kind, "", lambda t, k=kind: f"self._add({k!r}, {t})")
        return label

    def write(self):
        parts, plain = [], []
        for key, schema in self.root["properties"].items():
            if key == "alphastep":
                continue
            inner = schema.get("additionalProperties", {})
            listed = schema.get("items", {})
            if isinstance(inner, dict) and (reference(inner) or "").startswith("any_"):
                parts.append((key, self.section(key, reference(inner), True)))
            elif (reference(listed) or "").startswith("any_"):
                parts.append((key, self.section(key, reference(listed), False)))
            elif reference(listed):
                label = title(key) + "Section"
                self.out.append(f'class {label}(Groups):\n    """`{key}:` of a model: {schema["description"]}."""')
                self.method("add", reference(listed), schema["description"], None, "", lambda t: f"self._add({t})")
                parts.append((key, label))
            elif reference(schema):
                label = title(key) + "Section"
                self.out.append(f'class {label}(Keys):\n    """`{key}:` of a model: {schema["description"]}."""')
                self.method("__call__", reference(schema), schema["description"], None, "", lambda t: f"self._set({t})")
                parts.append((key, label))
            else:
                plain.append((key, schema))
        self.model(parts, plain)
        for name in self.nested:  # each may add more
            self.typed_dict(name)
        return "\n\n\n".join(self.out) + "\n"

    def model(self, parts, plain):
        rows = ["class Parts:", '    """The sections of a model."""', ""]
        spots = ", ".join(f"{word(k)}: {self.type_of(v)} | None = None" for k, v in plain)
        rows.append(f"    def __init__(self, *, {spots}) -> None:")
        for key, schema in plain:
            mapping = schema["type"] == "object"
            rows.append(f"        self.{word(key)}{': dict[str, Any]' if mapping else ''} = " + (f"dict({word(key)} or {{}})" if mapping else word(key)))
        for key, label in parts:
            rows.append(f"        self.{word(key)} = {label}({key!r})")
        rows += ["", f"    _order = {[k for k in self.root['properties'] if k != 'alphastep']!r}"]
        self.out.append("\n".join(rows))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    text = Writer(schema).write()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()

"""Models as JSON text, with what stands in each line."""

import json
import os

from ._functions import Block, Force


class Text:
    """The text of a model, and of each line the path of what stands in it: ("bodies", "bob", "mass"). Blocks and forces by functions of Python are
    collected in `functions`, under names of ours."""

    def __init__(self, model):
        self.rows, self.paths, self.functions = [], [], []
        self._put(model, (), "", "")
        self.text = "\n".join(self.rows) + "\n"

    def _row(self, text, path):
        self.rows.append(text)
        self.paths.append(path)

    def _put(self, value, path, before, after):
        if hasattr(value, "tolist"):  # of NumPy
            value = value.tolist()
        if isinstance(value, dict) and value:
            self._many("{", "}", [(json.dumps(_key(k)) + ": ", v, _key(k)) for k, v in self._plugin(value).items()], path, before, after)
        elif isinstance(value, (list, tuple)) and any(isinstance(v, (dict, list, tuple)) for v in value):
            self._many("[", "]", [("", v, i) for i, v in enumerate(value)], path, before, after)
        else:
            self._row(before + json.dumps(value, default=self._plain) + after, path)

    def _many(self, opening, closing, items, path, before, after):
        self._row(before + opening, path)
        for i, (head, value, key) in enumerate(items):
            self._put(value, (*path, key), head, "," if i + 1 < len(items) else "")
        self._row(closing + after, path)

    @staticmethod
    def _plugin(value):
        """A thing whose plugin is one of Python's needs no file."""
        if isinstance(value.get("plugin"), (Block, Force)) and "file" not in value:
            return {**value, "file": "python"}
        return value

    def _plain(self, value):
        if isinstance(value, (Block, Force)):
            name = f"function_{len(self.functions) + 1}"
            self.functions.append(value._entry(name))
            return name
        if hasattr(value, "tolist"):
            return value.tolist()
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        raise TypeError(f"{value!r} cannot stand in a model")

    def path(self, line):
        """What stands in a line, from 1."""
        return self.paths[line - 1] if 1 <= line <= len(self.paths) else ()


def _key(key):
    return key if isinstance(key, str) else str(key)

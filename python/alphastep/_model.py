"""Machines built piece by piece."""

import json

from ._machine import Machine, load
from ._parts import Parts
from ._text import Text


class Model(Parts):
    """A model that is built piece by piece: names and keywords are those of model files, all of them (docs/model-file.md).

        model = alphastep.Model(gravity=[0, 0, -9.81])
        model.bodies.rigid("bob", mass=1, inertia=[0.01, 0.01, 0.01], position=[1, 0, 0])
        model.joints.revolute("pin", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, 1, 0])
        model.simulate(t_end=2)
        machine = model.build()

    Each section has a method for each of its types, and is a dict of what was added; model.repeat.add(...) and model.shapes.box(...) add to lists;
    parameters, tables and templates are dicts. A keyword that is a word of Python's ends in an underscore: from_.
    """

    def as_dict(self) -> dict:
        """The model as load() takes it, and as it would stand in a file."""
        out = {"alphastep": 1}
        for key in self._order:
            value = getattr(self, key)
            if value is not None and not (isinstance(value, (dict, list)) and not value):
                out[key] = value
        return out

    def build(self, *, set=None, plugins=None, fmus=None, **parameters) -> Machine:
        """The machine; other arguments are those of load(). Mistakes name the line of your program that has added the thing."""
        return load(self, set=set, plugins=plugins, fmus=fmus, **parameters)

    def save(self, path) -> None:
        """Writes the model as a file (JSON), which the command and load() read. Functions of Python cannot stand in one."""
        text = Text(self.as_dict())
        if text.functions:
            raise ValueError("blocks and forces by functions of Python cannot stand in a file")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(json.loads(text.text), file, indent=1)
            file.write("\n")

    def _place(self, path):
        """Where in the caller's program a thing was added: (file, line), or None."""
        lines = getattr(getattr(self, path[0], None), "_lines", None) if path else None
        if not lines or len(path) < 2:
            return None
        try:
            return lines[path[1]]
        except (KeyError, IndexError):
            return None

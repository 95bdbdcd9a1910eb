"""What the sections of a Model have in common. The methods that add things are generated: see python/generate."""

import sys

from ._functions import Block, Force


def _keys(keys):
    """The keys that are given, by their names in the file."""
    out = {name: value for name, value in keys.items() if value is not None}
    if isinstance(out.get("plugin"), (Block, Force)):
        out.setdefault("file", "python")
    return out


def _caller():
    """The place of the caller's line in his program."""
    frame = sys._getframe(1)
    while frame and frame.f_globals.get("__name__", "").startswith("alphastep."):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


class Things(dict):
    """A section with named things: a dict of what was added."""

    def __init__(self, section):
        super().__init__()
        self._section, self._lines = section, {}

    def _add(self, name, kind, keys):
        if name in self:
            raise ValueError(f"{self._section}: there is a {name!r} already")
        self._lines[name] = _caller()
        self[name] = ({} if kind is None else {"type": kind}) | _keys(keys)
        return name


class Shapes(list):
    """A section that is a list of shapes."""

    def __init__(self, section):
        super().__init__()
        self._lines = []

    def _add(self, kind, keys):
        self._lines.append(_caller())
        self.append({"type": kind} | _keys(keys))


class Groups(list):
    """A section that is a list of groups of things."""

    def __init__(self, section):
        super().__init__()
        self._lines = []

    def _add(self, keys):
        self._lines.append(_caller())
        self.append(_keys(keys))


class Keys(dict):
    """A section with keys of its own: model.simulate(t_end=2). Called again it changes what is given then."""

    def __init__(self, section):
        super().__init__()
        self._lines = {}

    def _set(self, keys):
        given = _keys(keys)
        place = _caller()
        self._lines.update({key: place for key in given})
        self.update(given)

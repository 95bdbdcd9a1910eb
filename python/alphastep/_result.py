"""The rows of a run."""

import fnmatch
import os
import tempfile
from collections import namedtuple

from . import _numbers

Event = namedtuple("Event", "name t direction message")
Event.__doc__ = "An event of a run: its name, when [s], +1 rising or -1 falling, the message of the file or None."


def place(name, index, what):
    """The column of a channel."""
    try:
        return index[name]
    except KeyError:
        import difflib

        near = difflib.get_close_matches(name, index, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "; .channels lists them"
        raise KeyError(f"no channel {name!r} in this {what}{hint}") from None


class Errors:
    """Estimated errors of channels, value minus true value, at the times of a result: errors["joints.pin.angle"]."""

    def __init__(self, result, numbers):
        self._result, self._numbers = result, numbers

    def __getitem__(self, name):
        return _numbers.columns(self._numbers, len(self._result.channels), self._result._place(name))

    def largest(self, name):
        """The largest absolute error of a channel, in its unit."""
        return self._result._run.channel_errors()[self._result._place(name)][0]


class Table:
    """Columns of numbers by the names of channels, over .time [s]. channels: names of the columns; units[name]: their units."""

    def __init__(self, time, rows, listed):
        self.time, self._rows = time, rows
        self.channels = [name for name, _ in listed]
        self.units = dict(listed)
        self._index = {name: i for i, name in enumerate(self.channels)}

    def _place(self, name):
        return place(name, self._index, type(self).__name__.lower())

    def __getitem__(self, name):
        """The numbers of a channel, one for each of .time, without a copy."""
        return _numbers.columns(self._rows, len(self.channels), self._place(name))

    def __contains__(self, name):
        return name in self._index

    def __len__(self):
        return len(self.time)

    def select(self, pattern) -> list[str]:
        """Names of the channels that a pattern such as "bodies.*.position.x" fits; without the last parts ("joints.pin") all of that."""
        return [n for n in self.channels if fnmatch.fnmatchcase(n, pattern) or fnmatch.fnmatchcase(n, pattern + ".*")]

    def to_pandas(self):
        """A DataFrame with the time as its index and a column for each channel. Needs pandas."""
        import pandas

        return pandas.DataFrame({n: self[n] for n in self.channels}, index=pandas.Index(self.time, name="time [s]"))


class Motion(Table):
    """What Machine.inverse() gives: kinematics and inverse dynamics of a prescribed motion, as columns by channels."""

    def __repr__(self):
        return f"<alphastep.Motion: {len(self)} rows of {len(self.channels)} channels>"


class Result(Table):
    """What Machine.run() gives: columns of numbers, by the names of channels.

    time      the times of the rows [s]
    channels  names of the columns, units[name] their units
    status    "done", "stopped" (by an event), "interrupted" or "failed"; message says why
    events    what has happened, first 1000
    error     estimated errors by channel, if accuracy was asked for, else None
    statistics  steps, rejected_steps, failed_steps, newton_iterations, factorizations
    """

    def __init__(self, machine, run, status, message, t):
        self._machine, self._run = machine, run
        self.status, self.message, self.t = status, message, t
        time, rows, self._poses, errors = run.numbers()
        super().__init__(_numbers.array(time), rows, run.channels())
        self.error = None if errors is None else Errors(self, errors)
        self.events = [Event(*e) for e in run.events()]
        self.statistics = run.statistics()

    def position(self, body):
        """x, y and z of a body's centre of mass [m]; bodies have poses whatever the channels are."""
        return [self._pose(body, k) for k in range(3)]

    def quaternion(self, body):
        """w, x, y and z of a body's rotation, body to world."""
        return [self._pose(body, 3 + k) for k in range(4)]

    def _pose(self, body, k):
        names = self._machine.bodies
        if body not in names:
            raise KeyError(f"no body {body!r} in this machine")
        return _numbers.columns(self._poses, 7 * len(names), 7 * names.index(body) + k)

    def save(self, path) -> None:
        """Writes results.h5, as `alphastep run` does (docs/results.md), to `path`."""
        self._run.write(os.fspath(path))

    def report(self, path) -> None:
        """Writes the report, one HTML file, to `path`."""
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(folder, "results.h5")
            self._run.write(kept)
            self._run.report(kept, os.fspath(path))

    def _page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            self.report(path)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def show(self, height=700):
        """The report, in a notebook; elsewhere it is opened in a browser."""
        try:
            from IPython import get_ipython
            from IPython.display import HTML

            inline = get_ipython() is not None
        except ImportError:
            inline = False
        if inline:
            import html

            return HTML(f'<iframe srcdoc="{html.escape(self._page())}" width="100%" height="{height}" frameborder="0"></iframe>')
        import pathlib
        import webbrowser

        path = pathlib.Path(tempfile.mkdtemp(), "report.html")
        self.report(path)
        webbrowser.open(path.as_uri())
        return None

    def __repr__(self):
        return f"<alphastep.Result: {self.status}, {len(self)} rows of {len(self.channels)} channels to t = {self.t:.6g} s>"

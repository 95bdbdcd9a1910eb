"""One machine many times."""

import json
import os
import tempfile

from . import _core, _numbers
from ._errors import Interrupted, ModelError
from ._machine import _function, _setting, _trusted, _whereabouts
from ._text import Text


class Study:
    """What study() gives: a table with a row for each run.

    study["comfort"]        a result of all runs, nan where a run failed; study["parameters.k"] the values of a parameter
    study.status            "done", "stopped" (by an event), "failed" or "waiting" (not made) of each run; .messages says why
    study.parameters, study.results   names; study.units[name] of results
    """

    def __init__(self, table):
        parameters, results, runs = table
        self.parameters, self.results = parameters, [name for name, _ in results]
        self.units = dict(results)
        self.status = [run[0] for run in runs]
        self.t = [run[1] for run in runs]  #: how far each came [s]
        self.messages = [run[2] for run in runs]
        self._columns = {}
        for i, name in enumerate(parameters):
            self._columns[name] = _column([run[3][i] for run in runs])
        for i, name in enumerate(self.results):
            self._columns[name] = _column([_numbers.array(run[4])[i] if run[4] else float("nan") for run in runs])

    def __getitem__(self, name):
        return self._columns[name]

    def __len__(self):
        return len(self.status)

    def to_pandas(self):
        """A DataFrame with a row for each run. Needs pandas."""
        import pandas

        return pandas.DataFrame({**{n: self[n] for n in self.parameters + self.results}, "status": self.status})

    def __repr__(self):
        return f"<alphastep.Study: {len(self)} runs, {self.status.count('done')} done, of {len(self.parameters)} parameters>"


def _column(values):
    return _numbers.numpy.array(values) if _numbers.numpy is not None else values


def _plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


def study(model, /, *, parameters=None, results=None, runs=None, seed=None, set=None, interval=None, threads=0, plugins=None, fmus=None, functions=None,
          progress=None, **settings) -> Study:
    """Runs one machine many times, each time with other values, in threads of the library's: a Study.

        s = alphastep.study("fourbar.yaml", parameters={"a": {"normal": [0.3, 1e-4]}}, results={"swing": {"max": "joints.rocker.angle"}}, runs=1000)
        plt.hist(s["swing"])

    model       as load() takes it; or the path of a study file, which has all the rest (docs/studies.md)
    parameters  what differs: a list of values, {"from": 1, "to": 5, "count": 9}, {"uniform": [1, 5]} or {"normal": [3, 0.1]} of each; lists and
                ranges make a grid. A name without a point is a parameter of the model, anything else a path in its file
    results     names of what is kept: {"max": CHANNEL}, or min, max_abs, rms, mean, last; with {"from": t, "to": t} of a part of the run
    runs, seed  how often random parameters are drawn, and which draws
    set, settings   values that all runs have, as of load()
    interval    between the rows that results are made of [s]
    threads     how many; 0: one for each processor
    progress    called with (over, runs)

    A run that fails takes no other with it. Ctrl-C raises Interrupted, whose .result is the Study so far.
    """
    trusted = _trusted(plugins, fmus)
    given = [_function(name, f) for name, f in (functions or {}).items()]
    changes = [_setting(k, v) for k, v in {**settings, **(set or {})}.items()]
    if parameters is None and results is None:
        return _go(os.fspath(model), None, None, trusted, given, changes, threads, progress)
    name, text, find = _source(model, given)
    asked = {"alphastep-study": 1, "model": name,
             "parameters": {k if "." in k else f"parameters.{k}": _plain(v) for k, v in (parameters or {}).items()}, "results": results or {}}
    if runs is not None:
        asked["random"] = {"runs": runs} | ({} if seed is None else {"seed": seed})
    if interval is not None:
        asked["interval"] = interval
    definition = Text(asked)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "study.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(definition.text)
        try:
            return _go(path, name, text, trusted, given, changes, threads, progress)
        except ModelError as error:
            raise ModelError([m._elsewhere(lambda line, m=m: ("", 0, ".".join(map(str, definition.path(line)))) if m.file == path else find(line))
                              if m.file in (path, "model") else m for m in error.messages]) from None


def _source(model, given):
    """The name and the text (None: a file) of a model, and where in it a line is."""
    built = hasattr(model, "as_dict")
    if isinstance(model, dict) or built:
        text = Text(model.as_dict() if built else model)
        given += text.functions
        return "model", text.text.encode(), lambda line: _whereabouts(text.path(line), model if built else None)
    if isinstance(model, str) and "\n" in model:
        return "text", model.encode(), None
    return os.path.abspath(os.fspath(model)), None, None


def _go(definition, name, text, trusted, functions, settings, threads, progress):
    table, ended, raised = _core.study(definition, name, text, trusted, functions, settings, threads, progress)
    result = Study(table)
    if isinstance(raised, KeyboardInterrupt):
        raise Interrupted("The study was interrupted.", result) from None
    if raised is not None:
        raised.result = result
        raise raised
    return result

"""Machines from model files, texts or dicts."""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections import namedtuple

from . import _core, _numbers
from ._errors import Error, Interrupted, ModelError
from ._functions import Block, Force
from ._result import Motion, Result
from ._simulation import Simulation
from ._text import Text

_STATUS = {"AS_OK": "done", "AS_STOPPED": "stopped", "AS_INTERRUPTED": "interrupted"}

Mode = namedtuple("Mode", "eigenvalue frequency damping free shape")
Mode.__doc__ = "A mode: eigenvalue [1/s], frequency [Hz], damping ratio, whether it is a free motion, shape over v (complex)."


class Equilibrium:
    """Where a machine comes to rest: equilibrium["joints.pin.angle"], .stability ("stable", "neutral", "unstable", "unknown"), .q, .x, .u."""

    def __init__(self, found):
        self._values = dict(zip((name for name, _ in found["channels"]), _numbers.array(found["values"])))
        self.units = dict(found["channels"])
        self.stability, self.degrees_of_freedom = found["stability"], found["degrees_of_freedom"]
        self.unbalanced, self.iterations = found["unbalanced"], found["iterations"]
        self.q, self.x, self.y, self.u = (_numbers.array(found[k]) for k in ("q", "x", "y", "u"))
        self.multipliers = _numbers.array(found["lambda"])

    def __getitem__(self, name):
        return self._values[name]

    def __repr__(self):
        return f"<alphastep.Equilibrium: {self.stability}, {self.degrees_of_freedom} degrees of freedom>"


class Linear:
    """x' = A x + B u, y = C x + D u about a state. A, B, C, D; states, inputs and outputs are names; modes, the slowest first."""

    def __init__(self, found, inputs):
        n, m, rows = len(found["states"]), len(inputs), len(found["channels"])
        self.A = _numbers.matrix(found["a"], n, n)
        self.B = _numbers.matrix(found["b"], n, m)
        self.C = _numbers.matrix(found["c"], rows, n)
        self.D = _numbers.matrix(found["d"], rows, m)
        self.states = [name for name, _ in found["states"]]
        self.inputs = list(inputs)
        self.outputs = [name for name, _ in found["channels"]]
        self.units = dict(found["states"]) | dict(found["channels"])
        self.degrees_of_freedom, self.acceleration = found["degrees_of_freedom"], found["acceleration"]
        self.held_samplers = found["samplers"]
        self.modes = [Mode(complex(re, im), frequency, damping, free, _shape(shape)) for re, im, frequency, damping, free, shape in found["modes"]]

    def __repr__(self):
        return f"<alphastep.Linear: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs>"


def _shape(data):
    parts = _numbers.array(data)
    half = len(parts) // 2
    return [complex(parts[i], parts[half + i]) for i in range(half)]


def _selected(channels):
    """One selection may stand alone."""
    return [channels] if isinstance(channels, str) else list(channels)


def _path(key):
    """parameters by their bare names, anything else by its path in the file."""
    return key if "." in key else f"parameters.{key}"


def _setting(key, value):
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        value = repr(value)
    elif not isinstance(value, str):
        value = json.dumps(value, default=os.fspath)
    return f"{_path(key)}={value}"


def load(model, /, *, set=None, plugins=None, fmus=None, functions=None, **parameters) -> Machine:
    """Reads a machine.

    model       the path of a model file (YAML or JSON); or its text, with line feeds; or a dict, as the file would be read; or a Model
    parameters  values instead of those in the file: load("chain.yaml", n=100)
    set         the same for anything in the file, by its path: set={"simulate.step": 1e-3}
    plugins     True: the file may use plugins, code in shared libraries; or a list of folders that they may come from
    fmus        the same for FMUs, models of other tools (docs/fmu-import.md)
    functions   Blocks and Forces by the names that the model calls them, {"damper": Block(...)} for {type: plugin, file: python, plugin: damper}

    Raises ModelError with all mistakes of the file, each with its line and column.
    """
    settings = [_setting(k, v) for k, v in {**parameters, **(set or {})}.items()]
    trusted = _trusted(plugins, fmus)
    given = [_function(name, f) for name, f in (functions or {}).items()]
    built = hasattr(model, "as_dict")
    if isinstance(model, dict) or built:
        text = Text(model.as_dict() if built else model)
        try:
            return Machine(_core.Machine("model", text.text.encode(), settings, trusted, given + text.functions))
        except ModelError as error:
            raise error._elsewhere(lambda line: _whereabouts(text.path(line), model if built else None)) from None
    if isinstance(model, str) and "\n" in model:
        return Machine(_core.Machine("text", model.encode(), settings, trusted, given))
    return Machine(_core.Machine(os.fspath(model), None, settings, trusted, given))


def _trusted(*those):
    """What a file may run: True, or a list of folders, of each kind."""
    return tuple([os.fspath(f) for f in which] if isinstance(which, (list, tuple)) else bool(which) for which in those)


def _function(name, function):
    if not isinstance(function, (Block, Force)):
        raise TypeError(f"functions: {function!r} is not a Block or Force")
    if not name.isidentifier():
        raise ValueError(f"functions: {name!r} is not made of letters, digits and _")
    return function._entry(name)


def _whereabouts(path, model):
    """Where a thing of a dict or Model is: (file, line, its path as a text)."""
    place = model._place(path) if model is not None else None
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
    return (*(place or ("", 0)), text)


class _Bar:
    """How far a run is, in one line of standard error."""

    def __init__(self, t_end):
        self._end, self._shown = t_end, False

    def __call__(self, t):
        self._shown = True
        print(f"\r{100 * t / self._end:3.0f} %, t = {t:.6g} s", end=" ", file=sys.stderr, flush=True)

    def close(self, t):
        """The last line, where there was one."""
        if self._shown:
            self(t)
            print(file=sys.stderr)


class Machine:
    """A machine that was read by load(). It does not change: many runs and simulations may share it, in threads, too."""

    def __init__(self, core):
        self._core = core
        info = core.info()
        self.title, self.description = info["title"], info["description"]
        self.t_end = info["t_end"]  #: of the file [s]; nan if it has none
        self.parameters = info["parameters"]
        self.bodies, self.joints, self.forces, self.frames = (info[k] for k in ("bodies", "joints", "forces", "frames"))
        self.sizes = info["sizes"]
        self._channels = info["channels"]
        self._rows = info["rows"]
        self._inputs = dict(info["held"])
        for name, kind, _, place in info["signals"]:
            if kind == "held":
                self._inputs[name.removeprefix("blocks.")] = place

    @property
    def inputs(self) -> list[str]:
        """What a Simulation may set and linearize() takes as inputs: blocks of type input and held ones, parameters that events set."""
        return list(self._inputs)

    def check(self) -> dict:
        """What the machine is made of, as a dict; "warnings": what looks strange."""
        return self._core.check()

    def run(self, *, t_end=None, step=None, rtol=None, method=None, order=None, rho_inf=None, interval=None, times=None, channels=None, accuracy=None,
            max_step=None, max_steps=None, progress=None) -> Result:
        """Simulates to t_end [s] and returns a Result. What is not given is as the file has it.

        step       given steps [s]; or rtol: automatic steps with this tolerance
        method     as in the file: "index2", "index3" or "soi2"
        order      2, or 6: automatic steps for tight tolerances, where that costs less
        interval   between rows [s]; or times: the times of rows
        channels   names or selections of what to keep: ["joints.pin", "energy"]
        accuracy   True: a finer run alongside estimates the error of every channel
        progress   called now and then with the time, an exception of its ends the run; or True: shown on standard error

        A run that fails raises Error, one that is ended by Ctrl-C Interrupted; both have the rows up to there in .result.
        """
        options = dict(t_end=t_end, step=step, rtol=rtol, method=method, order=order, rho_inf=rho_inf, interval=interval, times=times, accuracy=accuracy,
                       max_step=max_step, max_steps=max_steps, channels=None if channels is None else _selected(channels))
        bar = _Bar(self.t_end if t_end is None else t_end) if progress is True else None
        run = _core.Run(self._core, options, bar or progress or None)
        status, message, t, component, raised = run.go()
        if bar:
            bar.close(t)
        result = Result(self, run, _STATUS.get(status, "failed"), message, t)
        if isinstance(raised, KeyboardInterrupt):
            raise Interrupted(message, result) from None
        if raised is not None:
            raised.result = result
            raise raised
        if result.status == "failed":
            error = Error(message, status, t, component)
            error.result = result
            raise error
        return result

    def start(self, channels=(), *, step=None, rtol=None, method=None, order=None, rho_inf=None, max_step=None, t=None, q=None, v=None, x=None, u=None) -> Simulation:
        """A Simulation at the start of the machine, or at another state, brought onto its constraints."""
        options = dict(step=step, rtol=rtol, method=method, order=order, rho_inf=rho_inf, max_step=max_step, t=t, q=q, v=v, x=x, u=u)
        return Simulation(self._core, options, _selected(channels), self._inputs)

    def equilibrium(self, channels=None) -> Equilibrium:
        """Where the machine comes to rest: an Equilibrium, with the values of channels there."""
        return Equilibrium(_core.equilibrium(self._core, _selected(self._channels if channels is None else channels)))

    def linearize(self, *, at="start", inputs=None, outputs=()) -> Linear:
        """The linear system about the start of the machine, or at="equilibrium" where it comes to rest; a Linear.

        inputs: some of Machine.inputs, all if None; outputs: names or selections of channels.
        """
        if at not in ("start", "equilibrium"):
            raise ValueError(f"at: {at!r} is not 'start' or 'equilibrium'")
        names = self.inputs if inputs is None else list(inputs)
        for name in names:
            if name not in self._inputs:
                raise KeyError(f"no input {name!r}; there are: {', '.join(self._inputs) or 'none'}")
        return Linear(_core.linearize(self._core, at == "equilibrium", [self._inputs[n] for n in names], _selected(outputs)), names)

    def inverse(self, times=None, channels=None) -> Motion:
        """Kinematics and inverse dynamics of a machine whose freedom is all prescribed by motions: a Motion with positions, velocities,
        accelerations, driving forces (joints.NAME.drive) and reactions, without integration.

        times: increasing [s]; otherwise as many as output: of the file says, or 501, to its t_end. channels: names or selections.
        """
        if times is None:
            if not self.t_end == self.t_end:
                raise ValueError("times: the model file has no `simulate:` with a `t_end`, so they have to be given")
            n = self._rows if self._rows else 501
            times = [self.t_end * i / (n - 1) for i in range(n)]
        times = [float(t) for t in times]
        listed, rows = _core.inverse(self._core, times, _selected(self._channels if channels is None else channels))
        return Motion(_numbers.array(array("d", times)), rows, listed)

    def modes(self, *, at="equilibrium") -> list[Mode]:
        """Modes about the equilibrium, or the start: a list of Mode, the slowest first."""
        return self.linearize(at=at, inputs=()).modes

    def __repr__(self):
        return f"<alphastep.Machine {self.title or ''}: {len(self.bodies)} bodies, {len(self.joints)} joints, {len(self.forces)} forces>"

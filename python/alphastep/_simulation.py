"""Simulations that go step by step: for controllers, learning and games of what-if."""

from __future__ import annotations

from . import _core, _numbers
from ._result import Event, place


class Simulation:
    """A machine or a problem at a moment, to be advanced. From Machine.start() or Problem.start().

    sim.advance(0.01)             to t = 0.01 s
    sim["joints.pin.angle"]       a channel that was asked for at the start
    sim.row                       all of them, in the order of sim.channels; the same array, renewed by each advance
    sim.set(force=3.0)            inputs: blocks of type input and held ones, parameters that events set
    sim.q, sim.v, sim.vdot, ...   the state, copies
    state = sim.save(); sim.load(state)   bit for bit
    """

    def __init__(self, of, options, channels, inputs):
        self._core = _core.Simulation(of, options, channels, list(inputs.values()))
        listed = self._core.channels()
        self.channels = [name for name, _ in listed]
        self.units = dict(listed)
        self._index = {name: i for i, name in enumerate(self.channels)}
        self._inputs = {name: i for i, name in enumerate(inputs)}
        self._advance = self._core.advance
        self.row = _numbers.array(self._core.row())
        self._core.read()

    @property
    def t(self) -> float:
        """The time [s]."""
        return self._core.time()

    @property
    def inputs(self) -> list[str]:
        """Names that set() takes."""
        return list(self._inputs)

    def advance(self, t, inputs=None) -> bool:
        """Goes to the time t [s]; True if an event has stopped it before.

        inputs: values of all inputs from now on, in the order of .inputs: an array of doubles is quickest. What stays as it is costs nothing.
        """
        return self._advance(t, inputs)

    def next(self) -> bool:
        """Takes one step of the simulation's own, to its end; True if an event has stopped it."""
        return self._core.next()

    def set(self, *values, **named) -> bool:
        """Sets inputs from now on: by name, or all of them in the order of .inputs. Accelerations and reactions are new at once."""
        if values and named or len(values) > 1:
            raise TypeError("set() takes either one list of all inputs or inputs by name")
        if values:
            given = list(values[0])
            if len(given) != len(self._inputs):
                raise ValueError(f"{len(self._inputs)} inputs are wanted, not {len(given)}: {', '.join(self._inputs)}")
        else:
            given = list(_numbers.array(self._core.inputs()))
            for name, value in named.items():
                if name not in self._inputs:
                    raise KeyError(f"no input {name!r}; there are: {', '.join(self._inputs) or 'none'}")
                given[self._inputs[name]] = value
        return self._core.set(given)

    @property
    def events(self) -> list[Event]:
        """What has happened since the start, first 1000: a list of Event."""
        return [Event(*e) for e in self._core.events()]

    def __getitem__(self, name):
        return self.row[place(name, self._index, "simulation")]

    def save(self) -> bytes:
        """The whole state, as bytes."""
        return self._core.save()

    def load(self, state) -> None:
        """Goes on from a saved state, of a simulation of the same machine with the same options."""
        self._core.load(state)

    @property
    def statistics(self) -> dict:
        """steps, rejected_steps, failed_steps, newton_iterations, factorizations, last_step [s]."""
        return self._core.statistics()

    def __repr__(self):
        return f"<alphastep.Simulation at t = {self.t:.6g} s>"


def _state(name, text):
    def read(self):
        return _numbers.array(self._core.state(name))

    return property(read, doc=text)


for _attribute, _name, _text in (
    ("q", "q", "configuration"), ("v", "v", "velocity, on the constraints"), ("vdot", "vdot", "acceleration"),
    ("multipliers", "lambda", "of holonomic constraints"), ("psi", "psi", "multipliers of nonholonomic constraints"), ("x", "x", "first-order states"),
    ("y", "y", "outputs"), ("u", "u", "held signals")):
    setattr(Simulation, _attribute, _state(_name, _text))

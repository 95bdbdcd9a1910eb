"""Constrained motion posed by functions of Python."""

from . import _core, _numbers
from ._simulation import Simulation


def _flat(values):
    """What a function returns, as a flat list or array of doubles."""
    if _numbers.numpy is not None:
        return _numbers.numpy.ascontiguousarray(values, dtype=float).reshape(-1)
    if values and isinstance(values[0], (list, tuple)):
        return [x for row in values for x in row]
    return values


def _call(function, *wanted):
    """Takes what the library hands over to what the function wants: of t, q, v, x."""
    if function is None:
        return None

    def call(*given):
        return _flat(function(given[0], *(_numbers.array(given[k]) for k in wanted)))

    return call


class Problem:
    """M(t,q) v' = f(t,q,v,x) with constraints 0 = g(t,q), 0 = k(t,q,v) and states x' = phi(t,q,v,x): index-3 and index-2 equations of motion.

        def force(t, q, v): return [0.0, -9.81 * m]
        pendulum = alphastep.Problem(2, mass=[[m, 0], [0, m]], force=force, constraint=lambda t, q: [(q @ q - 1) / 2], n_constraints=1)
        sim = pendulum.start(q=[1, 0], rtol=1e-6)

    space      the dimension of R^n; or a list of parts such as [("R3xSO3", 2), ("R", 1)], rotations by unit quaternions w x y z in q
    mass       a matrix, or a function of t, q
    force      of t, q, v (and x, with states), constraint forces left out: the library adds them
    constraint, nonholonomic, rate   of t, q; of t, q, v; of t, q, v, x

    Derivatives are found by differences. Functions of Python are slow: a step takes some hundred calls. Each exception in them ends the call
    that has led there.
    """

    def __init__(self, space, *, mass, force, constraint=None, n_constraints=0, nonholonomic=None, n_nonholonomic=0, rate=None, n_states=0):
        parts = [("R", space)] if isinstance(space, int) else [tuple(p) for p in space]
        for name, function, n in (("constraint", constraint, n_constraints), ("nonholonomic", nonholonomic, n_nonholonomic), ("rate", rate, n_states)):
            if (function is None) != (n == 0):
                raise ValueError(f"{name}: a function and the number of its components go together")
        constant = not callable(mass)
        matrix = _flat(mass) if constant else None
        masses = (lambda *_: matrix) if constant else _call(mass, 1)
        self._core = _core.Problem(parts, n_constraints, n_nonholonomic, n_states, masses, constant, _call(force, *((1, 2, 3) if n_states else (1, 2))),
                                   _call(constraint, 1), _call(nonholonomic, 1, 2), _call(rate, 1, 2, 3))
        self.n_q, self.n_v = self._core.sizes()

    def start(self, q, v=None, x=None, *, t=None, step=None, rtol=None, method=None, order=None, rho_inf=None, max_step=None) -> Simulation:
        """A Simulation that starts at q and v, brought onto the constraints."""
        options = dict(step=step, rtol=rtol, method=method, order=order, rho_inf=rho_inf, max_step=max_step, t=t, q=q, v=v, x=x)
        return Simulation(self._core, options, [], {})

    def solve(self, times, q, v=None, x=None, **options) -> dict:
        """States at increasing times: a dict of lists q, v, vdot, multipliers, x, one entry for each time."""
        sim = self.start(q, v, x, t=times[0], **options)
        out = {name: [] for name in ("q", "v", "vdot", "multipliers", "x")}
        for t in times:
            sim.advance(t)
            for name, values in out.items():
                values.append(getattr(sim, name))
        return {name: _numbers.numpy.array(v) for name, v in out.items()} if _numbers.numpy is not None else out

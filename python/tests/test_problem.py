"""Problems posed by functions of Python."""

import math

import alphastep
import pytest


def pendulum(**more):
    """A point mass of 2 kg on a rod of 1 m."""
    return alphastep.Problem(2, mass=[[2, 0], [0, 2]], force=lambda t, q, v: [0, -2 * 9.81],
                             constraint=lambda t, q: [(q[0] * q[0] + q[1] * q[1] - 1) / 2], n_constraints=1, **more)


def quarter_period(angle):
    """Of a pendulum of 1 m from rest at an angle, by the arithmetic-geometric mean."""
    a, b = 1.0, math.cos(angle / 2)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return math.pi / 2 / a / math.sqrt(9.81)


@pytest.mark.parametrize("method", ["index2", "index3", "soi2"])
def test_pendulum(method):
    """From level to the lowest point: there the tension is three weights, lambda = 3 m g / l."""
    end = quarter_period(math.pi / 2)
    sim = pendulum().start([1, 0], rtol=1e-7, method=method)
    sim.advance(end)
    assert sim.q[0] == pytest.approx(0, abs=1e-6) and sim.q[1] == pytest.approx(-1, abs=1e-7)
    assert sim.v[0] == pytest.approx(-math.sqrt(2 * 9.81), abs=1e-5)
    assert sim.multipliers[0] == pytest.approx(3 * 2 * 9.81, abs=1e-3)


def test_order():
    end = quarter_period(math.pi / 2)
    errors = []
    for n in (100, 200):
        sim = pendulum().start([1, 0], step=end / n)
        sim.advance(end)
        errors.append([sim.q[0], sim.v[0] + math.sqrt(2 * 9.81), sim.multipliers[0] - 6 * 9.81])
    for coarse, fine in zip(*errors):
        assert 3.6 < coarse / fine < 4.4


def test_solve():
    times = [0.1 * i for i in range(11)]
    out = pendulum().solve(times, [1, 0], rtol=1e-6)
    for q, v in zip(out["q"], out["v"]):
        assert q[0] ** 2 + q[1] ** 2 == pytest.approx(1, abs=1e-9)
        assert 0.5 * (v[0] ** 2 + v[1] ** 2) + 9.81 * q[1] == pytest.approx(0, abs=1e-4)


def test_rotation():
    """Euler's top on SO(3): energy and angular momentum in space."""
    inertia = [1.0, 2.0, 3.0]

    def torque(t, q, v):
        h = [j * w for j, w in zip(inertia, v)]
        return [h[1] * v[2] - h[2] * v[1], h[2] * v[0] - h[0] * v[2], h[0] * v[1] - h[1] * v[0]]

    top = alphastep.Problem([("SO3", 1)], mass=[[1, 0, 0], [0, 2, 0], [0, 0, 3]], force=torque)
    sim = top.start([1, 0, 0, 0], [0.1, 2.0, 0.1], rtol=1e-7)
    sim.advance(3.0)
    assert sum(j * w * w for j, w in zip(inertia, sim.v)) == pytest.approx(0.01 + 8 + 0.03, abs=1e-5)
    assert sum(x * x for x in sim.q) == pytest.approx(1, abs=1e-14)
    assert math.sqrt(sum((j * w) ** 2 for j, w in zip(inertia, sim.v))) == pytest.approx(math.sqrt(0.01 + 16 + 0.09), abs=1e-5)


def test_states_and_wheels():
    """A filter x' = v - x of a falling mass, and a skate that cannot go sideways."""
    falling = alphastep.Problem(1, mass=[[1]], force=lambda t, q, v, x: [-9.81], rate=lambda t, q, v, x: [v[0] - x[0]], n_states=1)
    sim = falling.start([0], rtol=1e-8)
    sim.advance(1.0)
    assert sim.x[0] == pytest.approx(-9.81 * math.exp(-1), abs=1e-6)  # x = -g (t - 1 + exp(-t))
    skate = alphastep.Problem(3, mass=lambda t, q: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], force=lambda t, q, v: [0, 0, 0],
                              nonholonomic=lambda t, q, v: [math.sin(q[2]) * v[0] - math.cos(q[2]) * v[1]], n_nonholonomic=1)
    sim = skate.start([0, 0, 0], [1, 0, 2], rtol=1e-7)
    sim.advance(1.0)  # a circle of radius 1/2
    assert list(sim.q) == pytest.approx([math.sin(2) / 2, (1 - math.cos(2)) / 2, 2], abs=1e-6)


def test_exceptions():
    def force(t, q, v):
        if t > 0.5:
            raise LookupError("no data behind 0.5 s")
        return [0.0]

    sim = alphastep.Problem(1, mass=[[1]], force=force).start([0], [1], step=0.1)
    with pytest.raises(LookupError, match="0.5 s"):
        sim.advance(1.0)
    assert sim.t <= 0.5 + 1e-9
    with pytest.raises(ValueError, match="force returned 2 numbers, not 1"):
        alphastep.Problem(1, mass=[[1]], force=lambda t, q, v: [0.0, 0.0]).start([0])
    with pytest.raises(ValueError, match="constraint"):
        alphastep.Problem(1, mass=[[1]], force=lambda t, q, v: [0.0], n_constraints=1)
    with pytest.raises(alphastep.Error, match="nan"):
        alphastep.Problem(1, mass=[[1]], force=lambda t, q, v: [math.nan]).start([0])
    with pytest.raises(ValueError, match="SO4"):
        alphastep.Problem([("SO4", 1)], mass=[[1]], force=lambda t, q, v: [0.0])
    with pytest.raises(ValueError, match="q"):
        alphastep.Problem(1, mass=[[1]], force=lambda t, q, v: [0.0]).start(None)

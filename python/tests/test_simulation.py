"""Step by step: inputs, channels, saved states; equilibria and linear systems."""

import math

import alphastep
import pytest


def test_inputs(cart):
    """A mass of 2 kg on a spring of 3 N/m whose input is switched: by hand and by a formula, the same motion."""
    sim = alphastep.load(cart).start(["joints.rail.displacement", "blocks.in"], rtol=1e-8)
    assert sim.inputs == ["in"] and sim["blocks.in"] == 1.0
    sim.advance(0.5)
    sim.set(**{"in": -2.0})
    assert sim["blocks.in"] == -2.0 and sim.vdot[0] == pytest.approx((-2.0 - 3.0 * sim["joints.rail.displacement"]) / 2.0, abs=1e-12)
    sim.advance(1.0)
    twin = alphastep.load(cart.replace("force: blocks.in - k*joints.rail.displacement", 'force: "if(t < 0.5, 1, -2) - k*joints.rail.displacement"')).run(rtol=1e-8)
    assert sim["joints.rail.displacement"] == pytest.approx(twin["joints.rail.displacement"][-1], abs=1e-8)
    sim.set([0.25])
    assert sim["blocks.in"] == 0.25


def test_refused(cart):
    sim = alphastep.load(cart).start()
    with pytest.raises(KeyError, match="force"):
        sim.set(force=1)
    with pytest.raises(ValueError, match="1 inputs"):
        sim.set([1, 2])
    with pytest.raises(alphastep.Error, match="cannot be nan"):
        sim.set(**{"in": math.nan})
    with pytest.raises(alphastep.Error, match="time runs forward"):
        sim.advance(-1.0)
    with pytest.raises(TypeError):
        sim.advance("later")
    with pytest.raises(alphastep.Error, match="no saved state"):
        sim.load(b"no state at all")
    state = bytearray(sim.save())
    state[20] ^= 1
    with pytest.raises(alphastep.Error, match="damaged"):
        sim.load(bytes(state))
    with pytest.raises(KeyError, match="did you mean"):
        alphastep.load(cart).start("joints.rail.displacement")["joints.rail.displacment"]
    sim.advance(0.1)


def test_saved_states(cart):
    sim = alphastep.load(cart).start(["joints.rail.displacement"], rtol=1e-5)
    sim.advance(0.4)
    kept = sim.save()
    sim.advance(1.0)
    there = memoryview(sim.q).tobytes(), float(sim["joints.rail.displacement"])
    sim.load(kept)
    assert sim.t == 0.4
    sim.advance(1.0)
    assert (memoryview(sim.q).tobytes(), float(sim["joints.rail.displacement"])) == there
    other = alphastep.load(cart).start(["joints.rail.displacement"], rtol=1e-5)
    other.load(kept)
    other.advance(1.0)
    assert memoryview(other.q).tobytes() == there[0]


SPIN = """alphastep: 1
bodies: {wheel: {mass: 1, inertia: [1, 1, 1]}}
joints: {hub: {type: revolute, bodies: [ground, wheel], point: [0, 0, 0], axis: [0, 0, 1]}}
forces: {motor: {type: actuator, joint: hub, force: 60*t}}
"""


def test_turns():
    """A wheel that is spun up, angle 10 t^3: turns are counted over long calls and by saved states."""
    machine = alphastep.load(SPIN)
    sim = machine.start("joints.hub.angle", rtol=1e-6)
    sim.advance(1.0)
    kept = sim.save()
    assert sim["joints.hub.angle"] == pytest.approx(10, abs=1e-4)
    sim.advance(2.0)
    assert sim["joints.hub.angle"] == pytest.approx(80, abs=1e-3)
    sim.load(kept)
    assert sim["joints.hub.angle"] == pytest.approx(10, abs=1e-4)
    other = machine.start("joints.hub.angle", rtol=1e-6)
    other.load(kept)
    assert other["joints.hub.angle"] == sim["joints.hub.angle"]
    other.advance(2.0)
    assert other["joints.hub.angle"] == pytest.approx(80, abs=1e-3)
    with pytest.raises(alphastep.Error, match="other channels"):
        machine.start(["joints.hub.angle", "bodies.wheel.position"], rtol=1e-6).load(machine.start(rtol=1e-6).save())


def test_as_a_run(cart):
    """The same steps as run(), in every method."""
    machine = alphastep.load(cart)
    for method in ("index2", "index3", "soi2"):
        result = machine.run(step=1e-2, method=method, times=[0, 0.5, 1])
        sim = machine.start(["joints.rail.displacement", "joints.rail.displacement_rate"], step=1e-2, method=method)
        for t, x, v in zip(result.time, result["joints.rail.displacement"], result["joints.rail.displacement_rate"]):
            sim.advance(t)
            assert sim.row[0] == pytest.approx(x, abs=1e-15) and sim.row[1] == pytest.approx(v, abs=1e-14)


def test_other_start(cart):
    sim = alphastep.load(cart).start(["joints.rail.displacement"], q=[0.3, 0, 0, 1, 0, 0, 0], u=[0.0], rtol=1e-8)
    sim.advance(0.7)
    assert sim["joints.rail.displacement"] == pytest.approx(0.3 * math.cos(math.sqrt(1.5) * 0.7), abs=1e-8)
    with pytest.raises(ValueError, match="7 numbers"):
        alphastep.load(cart).start(q=[1.0])


def test_next_and_statistics(cart):
    sim = alphastep.load(cart).start(step=0.01)
    for _ in range(10):
        sim.next()
    assert sim.t == pytest.approx(0.1) and sim.statistics["steps"] == 10


def test_sampled_blocks(cart):
    """A counter at 10 Hz goes on between calls that end anywhere."""
    text = cart.replace("blocks: {in:", "blocks: {n: {type: sampled, formula: blocks.n + 1, period: 0.1}, in:")
    sim = alphastep.load(text).start(["blocks.n"])
    for i in range(1, 30):
        sim.advance(0.037 * i)
        assert sim["blocks.n"] == math.floor(0.037 * i / 0.1 + 1e-9) + 1


def test_equilibrium(cart):
    found = alphastep.load(cart).equilibrium(["joints.rail.displacement"])
    assert found["joints.rail.displacement"] == pytest.approx(1 / 3, abs=1e-12)
    with pytest.raises(alphastep.Error):
        alphastep.load(cart, k=0).equilibrium()


def test_linearize(cart):
    linear = alphastep.load(cart).linearize(outputs=["joints.rail.displacement"], at="equilibrium")
    assert linear.states == ["bodies.cart.position.x", "bodies.cart.velocity.x"] and linear.inputs == ["in"]
    assert [linear.A[1][0], linear.A[0][1], linear.B[1][0], linear.C[0][0], linear.D[0][0]] == pytest.approx([-1.5, 1, 0.5, 1, 0], abs=1e-7)
    modes = alphastep.load(cart).modes()
    assert len(modes) == 1 and modes[0].frequency == pytest.approx(math.sqrt(1.5) / (2 * math.pi), rel=1e-9)
    with pytest.raises(KeyError, match="force"):
        alphastep.load(cart).linearize(inputs=["force"])


def test_bicycle(example):
    """The benchmark bicycle weaves and capsizes within 1e-3 m/s of the published speeds 4.292 and 6.024 m/s."""

    def unstable(v):
        return sum(m.eigenvalue.real > 1e-6 and not m.free for m in alphastep.load(example("bicycle"), set={"parameters.v": v}).modes(at="start"))

    assert unstable(4.29) > 0 and unstable(4.30) == 0 and unstable(6.02) == 0 and unstable(6.03) > 0


BALL = """alphastep: 1
gravity: [0, 0, -10]
parameters: {lost: 0}
bodies: {ball: {type: point, mass: 1, position: [0, 0, 5]}}
frames: {table: {body: ground}, middle: {body: ball}}
joints: {floor: {type: point_on_plane, frames: [table, middle], active: false}}
events:
  hit: {when: bodies.ball.position.z, direction: falling, strike: floor, restitution: 0.5, set: {lost: lost + 1}}
  low: {when: bodies.ball.position.z - 1, direction: falling, times: 1, log: low}
simulate: {t_end: 2.6}
"""


def test_events():
    """A ball of 10 m/s^2 from 5 m: on the floor at 1 s, and with half its speed again at 2 s. Events are those of run(), however the time is cut."""
    machine = alphastep.load(BALL)
    run = machine.run(rtol=1e-8, times=[0, 1.5, 2.6], channels=["bodies.ball.position.z", "events.hit.count"])
    for cuts in (3, 7, 300):
        sim = machine.start(["bodies.ball.position.z", "events.hit.count"], rtol=1e-8)
        for i in range(cuts):
            assert sim.advance(2.6 * (i + 1) / cuts) is False
        assert [(e.name, e.direction, e.message) for e in sim.events] == [(e.name, e.direction, e.message) for e in run.events]
        assert [e.t for e in sim.events] == pytest.approx([e.t for e in run.events], abs=1e-7)
        assert sim["bodies.ball.position.z"] == pytest.approx(run["bodies.ball.position.z"][-1], abs=1e-6)
        assert sim["events.hit.count"] == run["events.hit.count"][-1] == 3
    assert [e.t for e in sim.events if e.name == "hit"] == pytest.approx([1, 2, 2.5], abs=1e-7)
    assert sum(e.name == "low" for e in sim.events) == 1  # `times: 1`


def test_events_saved():
    """Counts travel with saved states, and come back with them."""
    machine = alphastep.load(BALL)
    sim = machine.start(["events.hit.count", "bodies.ball.position.z"], rtol=1e-8)
    sim.advance(1.2)
    kept = sim.save()
    sim.advance(2.4)
    there = list(sim.row), sim.events
    other = machine.start(["events.hit.count", "bodies.ball.position.z"], rtol=1e-8)
    for s in (sim, other):
        s.load(kept)
        assert s["events.hit.count"] == 1 and len(s.events) == 2
        s.advance(2.4)
        assert (list(s.row), s.events) == there
    with pytest.raises(alphastep.Error, match="other channels or events"):
        machine.start("events.hit.count").load(kept)


def test_event_stops():
    """An event that stops ends the call; the next one goes on."""
    machine = alphastep.load(BALL.replace("strike: floor, restitution: 0.5, set: {lost: lost + 1}", "stop: true"))
    sim = machine.start("bodies.ball.position.z", rtol=1e-8)
    assert sim.advance(2.0) is True and sim.t == pytest.approx(1, abs=1e-8)
    assert sim.advance(1.5) is False and sim["bodies.ball.position.z"] == pytest.approx(5 - 5 * 1.5**2, abs=1e-6)


def test_vector_of_inputs(cart):
    """advance(t, inputs) is set() and advance(), to the last bit; inputs that stay as they are leave no trace."""
    text = cart.replace("blocks: {in:", "blocks: {n: {type: sampled, formula: blocks.n + 1, period: 0.1}, other: {type: input}, in:").replace("force: blocks.in", "force: blocks.in + 2*blocks.other")
    machine = alphastep.load(text)
    one, two, three = (machine.start("joints.rail.displacement", step=0.01) for _ in range(3))
    assert one.inputs == ["other", "in"]
    from array import array

    for i in range(50):
        u = [math.sin(0.1 * (i // 5)), math.cos(0.1 * i)]
        one.advance(0.01 * (i + 1), u if i % 2 else array("d", u))
        two.set(other=u[0])
        two.set(**{"in": u[1]})
        two.advance(0.01 * (i + 1))
        assert one.row[0] == pytest.approx(two.row[0], abs=1e-14)
        three.set(list(three._core.inputs() and [0.0, 1.0]))  # as they are
        three.advance(0.01 * (i + 1), [0.0, 1.0])
    free = machine.start("joints.rail.displacement", step=0.01)
    free.advance(0.5)
    assert three.row[0] == free.row[0] and list(three.u) == [6, 0, 1] and list(one.u)[1:] == u
    with pytest.raises(ValueError, match="2 inputs are wanted, not 1"):
        one.advance(1.0, [1.0])
    with pytest.raises(TypeError):
        one.advance(1.0, ["a", "b"])
    assert one.t == pytest.approx(0.5)
    one.advance(0.6)  # it goes on after what was refused

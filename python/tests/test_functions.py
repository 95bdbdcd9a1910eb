"""Blocks and forces of machines by functions of Python."""

import gc
import math
import threading
import weakref

import alphastep
import pytest


def cart(add, **run):
    """A mass of 2 kg on a rail along x."""
    model = alphastep.Model()
    model.bodies.rigid("cart", mass=2, inertia=[1, 1, 1])
    model.joints.prismatic("rail", bodies=["ground", "cart"], point=[0, 0, 0], axis=[1, 0, 0])
    add(model)
    model.simulate(t_end=1, tol={"rtol": 1e-8})
    return model.build()


def push(model, block, **keys):
    """A block by a function, and an actuator that follows it."""
    model.blocks.plugin("push", plugin=block, **keys)
    model.forces.actuator("drive", joint="rail", force="blocks.push")


X, V = "joints.rail.displacement", "joints.rail.displacement_rate"


def test_block_of_outputs():
    """1 N - 3 N/m x: the closed form, and the twin by a formula."""
    spring = alphastep.Block(lambda t, w: 1 - 3 * w[0], inputs=["x"])
    result = cart(lambda m: push(m, spring, inputs={"x": X})).run(channels=[X])
    twin = cart(lambda m: m.forces.actuator("drive", joint="rail", force=f"1 - 3*{X}")).run(channels=[X])
    assert result[X][-1] == pytest.approx((1 - math.cos(math.sqrt(1.5))) / 3, abs=3e-9)
    assert result[X][-1] == pytest.approx(twin[X][-1], abs=1e-9)


def test_states_samples_names():
    """A first-order lag of the time and a counter at 10 Hz, by their names as channels."""
    def output(t, w, x, s):
        return [2 * x[0], s[0] + w[0]]

    block = alphastep.Block(output, inputs=["one"], outputs=["twice", "count"], rate=lambda t, w, x, s: t - x[0], states={"lag": 0.5},
                            sample=lambda t, w, x, s: s[0] + 1, sampled=["n"])
    machine = cart(lambda m: m.blocks.plugin("b", plugin=block, inputs={"one": "1"}, period=0.1))
    result = machine.run(channels=["blocks.b"], times=[0, 0.55, 1])
    assert set(result.channels) == {"blocks.b.one", "blocks.b.twice", "blocks.b.count", "blocks.b.lag", "blocks.b.n"}
    lag = [t - 1 + 1.5 * math.exp(-t) for t in result.time]
    assert list(result["blocks.b.lag"]) == pytest.approx(lag, abs=1e-7) and list(result["blocks.b.twice"]) == pytest.approx([2 * x for x in lag], abs=1e-7)
    assert list(result["blocks.b.n"]) == [1, 6, 11] and list(result["blocks.b.count"]) == [2, 7, 12]


def test_acceleration_feedback():
    """A block that reads an acceleration, in one algebraic loop with it: 2 a = 6 - 1 a."""
    block = alphastep.Block(lambda t, w: 6 - w[0], inputs=["a"])
    sim = cart(lambda m: push(m, block, inputs={"a": "bodies.cart.acceleration.x"})).start(V)
    sim.advance(0.5)
    assert sim[V] == pytest.approx(1.0, abs=1e-9)


def test_force():
    """A cubic spring with a damper between frames: the twin by formulas, momentum and all."""
    force = alphastep.Force(lambda t, z, rate: [50 * z[0] ** 3 - 1 + 0.3 * rate[0], 0, 0, 0, 0, 0])
    result = cart(lambda m: m.forces.plugin("mount", plugin=force, bodies=["ground", "cart"], point=[0, 0, 0])).run(channels=[X])
    twin = cart(lambda m: m.forces.actuator("drive", joint="rail", force=f"1 - 50*{X}^3 - 0.3*{V}")).run(channels=[X])
    assert result[X][-1] == pytest.approx(twin[X][-1], abs=1e-8)


def test_of_a_file(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text("alphastep: 1\nbodies: {ball: {type: point, mass: 2}}\nblocks: {b: {type: plugin, file: python, plugin: grow, inputs: {}}}\n"
                    "forces: {f: {type: load, body: ball, force: [blocks.b, 0, 0]}}\nsimulate: {t_end: 1, step: 0.01}\n")
    (tmp_path / "python").mkdir()  # a folder of that name is not in the way
    machine = alphastep.load(path, functions={"grow": alphastep.Block(lambda t: 6 * t)})
    assert machine.run(channels="bodies.ball.position.x")["bodies.ball.position.x"][-1] == pytest.approx(0.5, abs=1e-4)
    with pytest.raises(alphastep.ModelError, match='no block "grow"; did you mean "grows"'):
        alphastep.load(path, functions={"grows": alphastep.Block(lambda t: 6 * t)})
    with pytest.raises(alphastep.ModelError):
        alphastep.load(path)
    with pytest.raises(TypeError, match="not a Block"):
        alphastep.load(path, functions={"grow": abs})


def test_exceptions_come_back():
    """The object itself, with its traceback, from run, start, advance and equilibrium; the simulation stays where it was."""
    error = LookupError("no data behind 0.5 s")

    def output(t, w):
        if t > 0.5:
            raise error
        return 1.0 - w[0]

    machine = cart(lambda m: push(m, alphastep.Block(output, inputs=["x"]), inputs={"x": X}))
    with pytest.raises(LookupError) as caught:
        machine.run()
    assert caught.value is error and error.result.status == "failed" and 0.4 < error.result.time[-1] <= 0.51
    assert "output" in [entry.name for entry in caught.traceback]
    assert "LookupError: no data behind 0.5 s" in error.result.message and "push" in error.result.message
    sim = machine.start(X, step=0.1)
    with pytest.raises(LookupError):
        sim.advance(1.0)
    assert sim.t <= 0.5 + 1e-9
    for wrong, kind, text in ((lambda t, w: [1, 2], ValueError, "returned 2 numbers, not 1"), (lambda t, w: "x", TypeError, "not a number"),
                              (lambda t: 1.0, TypeError, "argument")):
        with pytest.raises(kind, match=text):
            cart(lambda m: push(m, alphastep.Block(wrong, inputs=["x"]), inputs={"x": X})).run()
    with pytest.raises(alphastep.Error, match="no number"):
        cart(lambda m: push(m, alphastep.Block(lambda t, w: math.nan, inputs=["x"]), inputs={"x": X})).run()
    with pytest.raises(ZeroDivisionError):
        cart(lambda m: push(m, alphastep.Block(lambda t, w: 1 / 0, inputs=["x"]), inputs={"x": X})).equilibrium([X])
    with pytest.raises(KeyboardInterrupt) as stopped:
        cart(lambda m: push(m, alphastep.Block(lambda t, w: interrupt(t), inputs=["x"]), inputs={"x": X})).run()
    assert stopped.value.result.time[-1] > 0.1


def interrupt(t):
    if t > 0.2:
        raise KeyboardInterrupt
    return 0.0


def test_described_wrongly():
    with pytest.raises(ValueError, match="rate"):
        alphastep.Block(states={"x": 0})
    with pytest.raises(ValueError, match="sample"):
        alphastep.Block(sample=lambda t: 0)
    with pytest.raises(TypeError, match="not a function"):
        alphastep.Block(3)
    with pytest.raises(TypeError, match="not a function"):
        alphastep.Force(None)
    with pytest.raises(ValueError, match="functions of Python cannot stand"):
        model = alphastep.Model()
        model.blocks.plugin("b", plugin=alphastep.Block(lambda t: 0))
        model.save("never.json")


def test_threads_raise_their_own():
    """Threads on one machine, and on one problem, that change at every chance: each gets the exception that its own call has led to."""
    import sys

    def output(t, w):
        raise LookupError(threading.get_ident())

    def force(t, q, v):
        raise LookupError(threading.get_ident())

    machine = cart(lambda m: push(m, alphastep.Block(output, inputs=["x"]), inputs={"x": X}))
    problem = alphastep.Problem(1, mass=[[1]], force=force)
    wrong = []

    def work(i):
        for _ in range(40 if i % 4 == 1 else 400):
            try:
                if i % 4 == 1:
                    machine.start(step=0.02)
                else:
                    problem.start([0], [1], step=0.02)
                wrong.append("nothing raised")
            except LookupError as e:
                if e.args[0] != threading.get_ident():
                    wrong.append(e)
            except alphastep.Error as e:  # its own was lost
                wrong.append(e)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


def test_lifetimes():
    """Functions live as long as what calls them; cycles through them are collected."""
    class Gain:
        def __call__(self, t, w):
            return -3 * w[0]

    gain = Gain()
    seen = weakref.ref(gain)
    machine = cart(lambda m: push(m, alphastep.Block(gain, inputs=["x"]), inputs={"x": X}))
    sim = machine.start(X, q=[0.3, 0, 0, 1, 0, 0, 0], rtol=1e-8)
    del gain, machine
    gc.collect()
    sim.advance(0.7)
    assert seen() is not None and sim[X] == pytest.approx(0.3 * math.cos(math.sqrt(1.5) * 0.7), abs=1e-7)
    seen().sim = sim  # function -> simulation -> machine -> function
    del sim
    gc.collect()
    assert seen() is None
    problem = alphastep.Problem(1, mass=[[1]], force=(lambda holder: lambda t, q, v: [0.0 * len(holder)])(holder := []))
    holder.append(problem)
    seen = weakref.ref(problem)
    del problem, holder
    gc.collect()
    assert seen() is None


def test_nothing_is_kept():
    """Runs with functions, and with ones that fail, leave no memory behind: blocks of the interpreter are counted."""
    import sys

    def good(t, w):
        return -w[0]

    def bad(t, w):
        raise LookupError("no")

    def once():
        cart(lambda m: push(m, alphastep.Block(good, inputs=["x"]), inputs={"x": X})).run(step=0.1)
        with pytest.raises(LookupError):
            cart(lambda m: push(m, alphastep.Block(bad, inputs=["x"]), inputs={"x": X})).run(step=0.1)

    for _ in range(3):
        once()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(10):
        once()
    gc.collect()
    assert sys.getallocatedblocks() - before < 60  # a leaked object of each run would be ten and more

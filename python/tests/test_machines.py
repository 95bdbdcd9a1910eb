"""Machines from files, texts and dicts; runs and their results."""

import gc
import math
import os
import signal
import subprocess
import sys
import threading
import time

import alphastep
import pytest


def test_five_lines(example):
    result = alphastep.load(example("chain"), n=3).run(t_end=0.5, rtol=1e-6)
    assert result.status == "done" and result.time[0] == 0.0 and result.time[-1] == 0.5
    assert len(result["frames.tip.position.z"]) == len(result.time)
    assert result.units["frames.tip.position.z"] == "m"


def test_against_closed_form(cart):
    """A mass on a spring, pushed by one newton from rest: x = (1 - cos w t)/k."""
    result = alphastep.load(cart).run(rtol=1e-8, channels=["joints.rail.displacement"])
    w = math.sqrt(3.0 / 2.0)
    for t, x in zip(result.time, result["joints.rail.displacement"]):
        assert abs(x - (1 - math.cos(w * t)) / 3) < 3e-9


def test_order(cart):
    """Half the step: a quarter of the error."""
    exact = (1 - math.cos(math.sqrt(1.5))) / 3
    machine = alphastep.load(cart)
    errors = [machine.run(step=h)["joints.rail.displacement"][-1] - exact for h in (0.02, 0.01)]
    assert 3.8 < errors[0] / errors[1] < 4.2


def test_same_as_command(cart, tmp_path):
    """The numbers that `alphastep run` writes, to the last bit."""
    command = os.environ.get("ALPHASTEP_COMMAND")
    if not command:
        pytest.skip("there is no command")
    (tmp_path / "cart.yaml").write_text(cart)
    subprocess.run([command, "run", tmp_path / "cart.yaml", "-o", tmp_path / "out", "--quiet", "--no-report"], check=True)
    lines = (tmp_path / "out" / "results.csv").read_text().splitlines()
    result = alphastep.load(tmp_path / "cart.yaml").run()
    assert len(lines) == len(result) + 1
    for i, line in enumerate(lines[1:]):
        row = [float(x) for x in line.split(",")]
        assert row == [result.time[i]] + [result[c][i] for c in result.channels]


def test_settings(cart):
    machine = alphastep.load(cart, k=12.0, set={"bodies.cart.mass": 4, "simulate.t_end": 0.25})
    assert machine.parameters == {"k": 12.0} and machine.t_end == 0.25
    x = machine.run(rtol=1e-8)["joints.rail.displacement"][-1]
    assert abs(x - (1 - math.cos(math.sqrt(3.0) * 0.25)) / 12) < 1e-8


def test_dict_is_text(cart):
    as_dict = {
        "alphastep": 1, "gravity": [0, 0, -9.81], "parameters": {"k": 3},
        "bodies": {"cart": {"mass": 2, "inertia": [1, 1, 1]}},
        "joints": {"rail": {"type": "prismatic", "bodies": ["ground", "cart"], "point": [0, 0, 0], "axis": [1, 0, 0]}},
        "forces": {"push": {"type": "actuator", "joint": "rail", "force": "blocks.in - k*joints.rail.displacement"}},
        "blocks": {"in": {"type": "input", "start": 1, "unit": "N"}}, "simulate": {"t_end": 1, "step": 1e-3},
        "output": {"interval": 0.1, "channels": ["joints.rail.displacement"]}}
    one, other = alphastep.load(as_dict).run(), alphastep.load(cart).run()
    assert bytes(memoryview(one["joints.rail.displacement"]).tobytes()) == memoryview(other["joints.rail.displacement"]).tobytes()


def test_mistakes_all_at_once():
    with pytest.raises(alphastep.ModelError) as caught:
        alphastep.load("alphastep: 1\nbodys: {}\njoints:\n  pin: {type: revolut, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}\n")
    messages = caught.value.messages
    assert [m.line for m in messages] == [2, 4] and 'did you mean "bodies"?' in messages[0].text and messages[1].column > 1
    with pytest.raises(alphastep.ModelError, match="nowhere.yaml"):
        alphastep.load("nowhere.yaml")
    with pytest.raises(alphastep.ModelError, match="parameters.m"):
        alphastep.load("alphastep: 1\nparameters: {k: 1}\nbodies: {}\n", m=2)


def test_wrong_names(cart):
    machine = alphastep.load(cart)
    with pytest.raises(alphastep.Error, match="rial"):
        machine.run(channels=["joints.rial"])
    result = machine.run()
    with pytest.raises(KeyError, match="did you mean"):
        result["joints.rail.displacment"]
    with pytest.raises(KeyError, match="no body"):
        result.position("wagon")
    with pytest.raises(ValueError, match="index7"):
        machine.run(method="index7")
    with pytest.raises(ValueError, match="not both"):
        machine.run(step=1e-3, rtol=1e-3)
    with pytest.raises(TypeError, match="t_end"):
        machine.run(t_end="soon")
    with pytest.raises(ValueError, match="rtol: nan"):
        machine.run(rtol=math.nan)
    with pytest.raises(ValueError, match="times: one"):
        machine.run(times=[])
    with pytest.raises(TypeError, match="3 is not a text"):
        machine.run(channels=[3])
    with pytest.raises(alphastep.Error, match="step"):
        machine.run(step=-1)


def test_times_and_poses(cart):
    result = alphastep.load(cart).run(times=[0, 0.125, 0.3, 1.0])
    assert list(result.time) == [0, 0.125, 0.3, 1.0]
    assert list(result.position("cart")[0]) == pytest.approx(list(result["joints.rail.displacement"]), abs=1e-15)
    assert list(result.quaternion("cart")[0]) == [1.0] * 4


def test_events_and_stop(example):
    machine = alphastep.load(
        "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies: {ball: {type: point, mass: 1, position: [0, 0, 1]}}\n"
        "events: {floor: {when: bodies.ball.position.z, direction: falling, stop: true, log: landed}}\nsimulate: {t_end: 2}\n")
    result = machine.run()
    assert result.status == "stopped" and result.events[0].name == "floor" and result.events[0].message == "landed"
    assert abs(result.t - math.sqrt(2 / 9.81)) < 1e-8 and abs(result.time[-1] - result.t) < 1e-12


def test_estimated_errors(cart):
    result = alphastep.load(cart).run(step=0.01, accuracy=True)
    w, name = math.sqrt(1.5), "joints.rail.displacement"
    true = [x - (1 - math.cos(w * t)) / 3 for t, x in zip(result.time, result[name])]
    for found, wanted in zip(list(result.error[name])[2:], true[2:]):
        assert abs(found - wanted) < 0.2 * abs(wanted)
    assert result.error.largest(name) == pytest.approx(max(map(abs, true)), rel=0.2)
    assert alphastep.load(cart).run().error is None


def test_failure_keeps_rows(cart):
    """A square root that becomes imaginary at t = 0.5 s."""
    machine = alphastep.load(cart.replace("force: blocks.in", "force: sqrt(0.5 - t)"))
    with pytest.raises(alphastep.Error) as caught:
        machine.run()
    e = caught.value
    assert e.status.startswith("AS_ERR_") and isinstance(e.component, str) and 0.4 < e.t < 0.51 and "push" in str(e)
    assert e.result.status == "failed" and 0.4 <= e.result.time[-1] <= 0.51 and len(e.result["joints.rail.displacement"]) == len(e.result.time)


def test_interrupt_keeps_rows(cart):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(alphastep.Interrupted) as caught:
        alphastep.load(cart).run(t_end=1e5, interval=0.5)
    assert isinstance(caught.value, KeyboardInterrupt)
    result = caught.value.result
    assert result.status == "interrupted" and 0 < result.time[-1] < 1e5


def test_progress(cart):
    seen = []
    alphastep.load(cart).run(t_end=200, progress=seen.append)
    assert seen == sorted(seen) and len(seen) >= 1

    def enough(t):
        raise LookupError("enough")

    with pytest.raises(LookupError) as caught:
        alphastep.load(cart).run(t_end=1e5, progress=enough)
    assert caught.value.result.status == "interrupted"
    import weakref

    dead = weakref.ref(caught.value.result)
    del caught
    gc.collect()
    assert dead() is None


def test_threads(cart):
    """Runs in threads share a machine, give the same bits, and let others work."""
    machine = alphastep.load(cart)
    results = [None] * 4

    def run(i):
        results[i] = machine.run(t_end=20)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for r in results[1:]:
        for name in r.channels:
            assert memoryview(r[name]).tobytes() == memoryview(results[0][name]).tobytes()
    ticks = 0
    worker = threading.Thread(target=machine.run, kwargs={"t_end": 200})
    worker.start()
    while worker.is_alive():
        ticks += 1
        time.sleep(0.001)
    assert ticks > 5


def test_outliving(cart):
    """Columns outlive their result, results their machine."""
    machine = alphastep.load(cart)
    column = machine.run()["joints.rail.displacement"]
    result = machine.run()
    del machine
    gc.collect()
    assert len(column) == 11 and column[0] == 0.0 and column[-1] > 0.1
    assert result["joints.rail.displacement"][-1] == column[-1]
    with pytest.raises((TypeError, ValueError)):
        column[0] = 1.0  # numbers of a result are not to be written


def test_no_leak(cart):
    """What a hundred runs leave behind is less than one result."""
    import resource

    if os.environ.get("LD_PRELOAD"):
        pytest.skip("sanitizers keep what is freed")

    def size():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    machine = alphastep.load(cart)
    for _ in range(10):
        machine.run(step=0.05, interval=1e-3)
    before = size()
    for _ in range(100):
        machine.run(step=0.05, interval=1e-3)
        with pytest.raises(alphastep.Error):
            machine.run(step=-1)
    assert size() - before < 4e6


def test_fork(cart):
    machine = alphastep.load(cart)
    machine.run()
    child = os.fork()
    if child == 0:
        os._exit(0 if machine.run().status == "done" else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_report(cart, tmp_path):
    result = alphastep.load(cart).run(accuracy=True)
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<html" in page and "joints.rail.displacement" in page
    result.save(tmp_path / "results.h5")
    assert (tmp_path / "results.h5").read_bytes()[:4] == b"\x89HDF"
    with pytest.raises(alphastep.Error, match="nowhere"):
        result.save("/nowhere/results.h5")


def test_check(example):
    found = alphastep.load(example("chain"), n=3).check()
    assert found["degrees_of_freedom"] == 9 and found["bodies"] == 3 and found["rows"] == 9 and found["warnings"] == []


def test_warnings():
    """A stiff spring that steps do not follow."""
    machine = alphastep.load("alphastep: 1\nbodies: {a: {type: point, mass: 10, position: [0, 0, 0], velocity: [1, 0, 0]}}\n"
                             "forces: {tow: {type: spring, bodies: [ground, a], point: [-1, 0, 0], second_point: [0, 0, 0], stiffness: 1e9}}\n"
                             "simulate: {t_end: 1, step: 0.01}\n")
    with pytest.warns(alphastep.Warning, match="vibration"):
        machine.run()


def test_without_numpy(cart, tmp_path):
    """Memoryviews serve as well."""
    (tmp_path / "cart.yaml").write_text(cart)
    program = ("import sys; sys.modules['numpy'] = None; import alphastep\n"
               f"m = alphastep.load({str(tmp_path / 'cart.yaml')!r}); r = m.run(); c = r['joints.rail.displacement']\n"
               "assert isinstance(c, memoryview) and c.format == 'd' and len(c) == 11\n"
               "s = m.start('joints.rail.displacement'); s.advance(0.5); assert s['joints.rail.displacement'] > 0\n"
               "l = m.linearize(outputs=['joints.rail.displacement']); assert abs(l.A[1][0] + 1.5) < 1e-6 and l.C[0][0] == 1\n"
               "p = alphastep.Problem(1, mass=[[1]], force=lambda t, q, v: [-q[0]]).solve([0, 1], [1.0]); assert abs(p['q'][1][0] - 0.5403) < 1e-3\n")
    subprocess.run([sys.executable, "-c", program], check=True)


def test_schema_covers(cart):
    """The file's own table names what a dict may have."""
    import json

    from alphastep import _core

    assert {"bodies", "joints", "forces", "blocks", "simulate"} <= set(json.loads(_core.schema())["properties"])

"""Machines built piece by piece; the methods are those of the table of keys."""

import inspect
import json
import math
import os
import subprocess

import alphastep
import pytest


def pendulum(**keys):
    model = alphastep.Model(gravity=[0, 0, -9.81], **keys)
    bob = model.bodies.rigid("bob", mass=1, inertia=[0.01, 0.01, 0.01], position=[1, 0, 0])
    model.joints.revolute("pin", bodies=["ground", bob], point=[0, 0, 0], axis=[0, 1, 0])
    model.simulate(t_end=0.5, step=1e-3)
    return model


def test_as_the_file(tmp_path):
    """The same bits as the file with the same words, and the file that save() writes is that machine."""
    text = ("alphastep: 1\ngravity: [0, 0, -9.81]\nbodies: {bob: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [1, 0, 0]}}\n"
            "joints: {pin: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}}\nsimulate: {t_end: 0.5, step: 1e-3}\n")
    model = pendulum(title="a pendulum")
    model.save(tmp_path / "model.json")
    wanted = alphastep.load(text).run()
    for machine in (model.build(), alphastep.load(model), alphastep.load(tmp_path / "model.json"), alphastep.load(model.as_dict())):
        result = machine.run()
        for name in wanted.channels:
            assert memoryview(result[name]).tobytes() == memoryview(wanted[name]).tobytes()
    assert alphastep.load(model).title == "a pendulum"


def test_every_kind():
    """Each type of each section of the schema has a method, whose keywords are the keys; nothing else is a method."""
    from alphastep import _core

    schema = json.loads(_core.schema())
    count = 0
    model = alphastep.Model()
    for section, value in schema["properties"].items():
        inner = value.get("additionalProperties") or {}
        name = (inner.get("$ref", "") if isinstance(inner, dict) else "") or value.get("items", {}).get("$ref", "")
        if "any_" not in name:
            continue
        body = schema["definitions"][name.rsplit("/", 1)[1]]
        kinds = [(c["if"]["properties"]["type"]["const"], c["then"]["$ref"]) for c in body["allOf"] if "if" in c and "properties" in c["if"]]
        kinds = kinds or [("add", body["allOf"][0]["$ref"])]
        part = getattr(model, section)
        methods = [m for m in vars(type(part)) if not m.startswith("__")]
        assert sorted(methods) == sorted(k + "_" * (k in ("and", "or", "not")) for k, _ in kinds), section
        for kind, reference in kinds:
            method = getattr(part, kind + "_" * (kind in ("and", "or", "not")))
            keys = [k for k in schema["definitions"][reference.rsplit("/", 1)[1]]["properties"] if k != "type"]
            given = [p.rstrip("_") for p in inspect.signature(method).parameters if p != "name"]
            assert sorted(given) == sorted(keys), (section, kind)
            assert all(f"{k}" in method.__doc__ for k in keys)
            count += 1
    assert count > 100
    assert model.as_dict() == {"alphastep": 1}


def numbers(value):
    """What PyYAML takes for texts, as 1e-3."""
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [numbers(v) for v in value]
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def test_examples_by_methods(example, tmp_path):
    """Examples, rebuilt by the methods from what their files say: the machine is the same, its numbers to the last bit."""
    yaml = pytest.importorskip("yaml")
    for name in ("pendulum", "four-bar", "cart-pole", "gearbox", "trebuchet", "rotor"):
        path = example(name)
        with open(path) as file:
            read = numbers(yaml.safe_load(file))
        sections = {k: v for k, v in read.items() if hasattr(getattr(alphastep.Model(), k, None), "_lines")}
        model = alphastep.Model(**{k: v for k, v in read.items() if k not in sections and k != "alphastep"})
        for section, value in sections.items():
            part = getattr(model, section)
            if isinstance(part, dict) and hasattr(part, "_add"):
                for thing, keys in value.items():
                    keys = {k + "_" * (k == "from"): v for k, v in keys.items()}
                    default = {"bodies": "rigid", "shapes": "box"}.get(section, "add")
                    getattr(part, keys.pop("type", default).replace("-", "_"))(thing, **keys)
            elif isinstance(part, dict):
                part(**{k + "_" * (k == "from"): v for k, v in value.items()})
            else:
                for keys in value:
                    keys = dict(keys)
                    getattr(part, keys.pop("type", "add"))(**keys)
        one, other = model.build().run(t_end=0.05), alphastep.load(path).run(t_end=0.05)
        assert one.channels == other.channels
        for channel in one.channels:
            assert memoryview(one[channel]).tobytes() == memoryview(other[channel]).tobytes(), (name, channel)


def test_mistakes_name_the_line():
    model = pendulum()
    model.bodies.rigid("stone", mass=-1, inertia=[1, 1, 1])
    line = inspect.currentframe().f_lineno - 1
    model.joints.spherical("tip", bodies=["ground", "bub"], point=[0, 0, 0])
    with pytest.raises(alphastep.ModelError) as caught:
        model.build()
    first, second = caught.value.messages
    assert (first.file, first.line, first.path) == (__file__, line, "bodies.stone.mass") and f"{__file__}:{line}: error: " in str(caught.value)
    assert (second.line, second.path) == (line + 2, "joints.tip.bodies") and 'did you mean "bob"?' in second.sentence
    with pytest.raises(alphastep.ModelError) as caught:
        alphastep.load({"alphastep": 1, "bodies": {"a": {"mass": 1, "inertia": [1, 1, "x"]}}})
    assert caught.value.messages[0].path == "bodies.a.inertia"
    with pytest.raises(ValueError, match="'bob' already"):
        model.bodies.point("bob", mass=1)
    with pytest.raises(TypeError, match="mas"):
        model.bodies.point("b", mas=1)
    with pytest.raises(TypeError, match="mass"):
        model.bodies.point("b")


def test_file_line_column(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text("alphastep: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, x]}\n")
    with pytest.raises(alphastep.ModelError) as caught:
        alphastep.load(path)
    m = caught.value.messages[0]
    assert (m.file, m.line, m.column) == (str(path), 3, 32) and m.sentence.startswith("bodies.a.inertia.2")


def test_beam_blocks_and_groups():
    """A cantilever with a weight at its end, w = P L^3/(3 E I); a filter of a parameter; balls in a group."""
    model = alphastep.Model(parameters={"P": 1.0})
    rod = model.beams.add("rod", line={"points": [[0, 0, 0], [1, 0, 0]]}, elements=8, section={"type": "rectangle", "width": 0.02, "height": 0.01},
                          E=2e11, nu=0.3, density=7800, first="ground")
    model.forces.load("weight", body=f"{rod}.8", force=[0, 0, "-P"])
    model.blocks.lowpass("slow", input="P", time_constant=0.1, start=0)
    model.repeat.add(index="i", from_=1, to=3, bodies={"ball ${i}": {"type": "point", "mass": "i", "position": ["i", 0, 1]}}, forces={
        "wire ${i}": {"type": "spring", "bodies": ["ground", "ball ${i}"], "point": ["i", 0, 5], "second_point": ["i", 0, 1], "stiffness": 100}})
    model.simulate(t_end=0.2, step=0.01)
    machine = model.build(P=2.0)
    assert machine.parameters == {"P": 2.0} and [b for b in machine.bodies if b.startswith("ball")] == ["ball 1", "ball 2", "ball 3"]
    inertia = max(0.02 * 0.01**3, 0.01 * 0.02**3) / 12, min(0.02 * 0.01**3, 0.01 * 0.02**3) / 12
    z = machine.equilibrium(["bodies.rod.8.position.z"])["bodies.rod.8.position.z"]
    assert min(abs(-z * 3 * 2e11 * i / 2.0 - 1) for i in inertia) < 2e-3
    assert machine.run(channels="blocks.slow")["blocks.slow"][-1] == pytest.approx(2 * (1 - math.exp(-2)), rel=2e-3)


def test_same_as_command(tmp_path):
    command = os.environ.get("ALPHASTEP_COMMAND")
    if not command:
        pytest.skip("there is no command")
    pendulum().save(tmp_path / "model.json")
    subprocess.run([command, "run", tmp_path / "model.json", "-o", tmp_path / "out", "--quiet", "--no-report"], check=True)
    last = (tmp_path / "out" / "results.csv").read_text().splitlines()[-1]
    result = pendulum().build().run()
    assert float(last.split(",")[0]) == result.time[-1] and float(last.split(",")[1]) == result[result.channels[0]][-1]


def test_numpy_values():
    numpy = pytest.importorskip("numpy")
    model = alphastep.Model(gravity=numpy.array([0, 0, -9.81]))
    model.bodies.rigid("a", mass=numpy.float64(2), inertia=numpy.ones(3), position=(0, 0, numpy.int64(1)))
    model.simulate(t_end=0.1)
    result = model.build().run(rtol=1e-9)
    assert result["bodies.a.position.z"][-1] == pytest.approx(1 - 9.81 * 0.005, abs=1e-9)
    with pytest.raises(TypeError, match="cannot stand in a model"):
        alphastep.load({"alphastep": 1, "title": object()})
    with pytest.raises(alphastep.ModelError):
        alphastep.load({"alphastep": 1, "bodies": {"a": {"mass": math.nan, "inertia": [1, 1, 1]}}})

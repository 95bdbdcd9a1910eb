"""Prescribed motions, reductions of meshes, studies."""

import math
import os
import signal
import statistics
import threading

import alphastep
import pytest

CRANK = """alphastep: 1
gravity: [0, 0, -10]
parameters: {m: 2}
bodies: {arm: {mass: m, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}}
joints:
  pin: {type: revolute, bodies: [ground, arm], point: [0, 0, 0], axis: [0, -1, 0]}
  drive: {type: motion, joint: pin, law: t^2}
simulate: {t_end: 1, step: 1e-3}
"""


def test_inverse():
    """An arm whose angle is t^2: the torque is (J + m c^2) 2 + m g c cos t^2."""
    motion = alphastep.load(CRANK).inverse([0, 0.3, 0.8, 1.1], ["joints.drive.drive", "joints.pin.angle", "joints.pin.angle_rate"])
    assert list(motion.time) == [0, 0.3, 0.8, 1.1] and len(motion) == 4 and motion.units["joints.drive.drive"] == "N m"
    for i, t in enumerate(motion.time):
        assert motion["joints.drive.drive"][i] == pytest.approx((0.1 + 2 * 0.25) * 2 + 2 * 10 * 0.5 * math.cos(t * t), abs=1e-9)
        assert motion["joints.pin.angle"][i] == pytest.approx(t * t, abs=1e-12) and motion["joints.pin.angle_rate"][i] == pytest.approx(2 * t, abs=1e-12)
    assert len(alphastep.load(CRANK).inverse()) == 501
    with pytest.raises(alphastep.Error, match="freedom"):
        alphastep.load(CRANK.replace("  drive: {type: motion, joint: pin, law: t^2}\n", "")).inverse([0, 1])
    with pytest.raises(ValueError, match="times"):
        alphastep.load(CRANK.replace("simulate: {t_end: 1, step: 1e-3}\n", "")).inverse()
    with pytest.raises(KeyError, match="did you mean"):
        motion["joints.pin.angel"]


# ---- reductions


def cube(n=2):
    """A block of n^3 hexahedra of springs between all neighbours (a lattice that is stiff in every direction), lumped masses."""
    side = n + 1
    place = {}
    nodes = []
    for i in range(side):
        for j in range(side):
            for k in range(side):
                place[i, j, k] = len(nodes)
                m = 3 * len(nodes)
                nodes.append([len(nodes) + 1, 0.1 * i, 0.1 * j, 0.1 * k, m + 1, m + 2, m + 3])
    size = 3 * len(nodes)
    stiffness = [[0.0] * size for _ in range(size)]
    for a, (i, j, k) in enumerate(place):
        for b, (p, q, r) in enumerate(place):
            d = (p - i, q - j, r - k)
            if b <= a or max(map(abs, d)) > 1:
                continue
            length = math.sqrt(sum(x * x for x in d))
            for r1 in range(3):
                for c1 in range(3):
                    x = 1e6 * d[r1] * d[c1] / length**3
                    for row, col, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
                        stiffness[3 * row + r1][3 * col + c1] += sign * x
    mass = [[(8.0 / len(nodes) if r == c else 0.0) for c in range(size)] for r in range(size)]
    return nodes, stiffness, mass


def test_reduce(tmp_path, monkeypatch):
    """A block of springs and masses: its mass, centre and inertia, and the frequencies of the whole matrices where all modes are kept."""
    nodes, stiffness, mass = cube()
    path = tmp_path / "block.h5"
    left = [n[0] for n in nodes if n[1] == 0.0]
    body = alphastep.reduce(path, stiffness=stiffness, mass=mass, nodes=nodes, interfaces={"left": {"rigid": left}, "tip": {"node": nodes[-1][0]}}, modes=51)
    assert body.mass == pytest.approx(8.0) and body.centre == pytest.approx([0.1, 0.1, 0.1]) and body.residual < 1e-12
    assert list(body.interfaces) == ["left", "tip"] and body.interfaces["tip"] == pytest.approx([0.2, 0.2, 0.2])
    inertia = sum(8.0 / 27 * ((0.1 * j - 0.1) ** 2 + (0.1 * k - 0.1) ** 2) for _ in range(3) for j in range(3) for k in range(3))
    assert body.inertia[0][0] == pytest.approx(inertia)
    numpy = pytest.importorskip("numpy")
    free = [i for i in range(81) if i // 3 not in [n - 1 for n in left]]  # held at the left
    k, m = numpy.array(stiffness), numpy.array(mass)
    exact = numpy.sqrt(numpy.linalg.eigvalsh(k[numpy.ix_(free, free)] / m[0, 0])) / (2 * math.pi)
    assert len(body.frame_held) == 54 and body.frame_held == pytest.approx(list(exact), rel=1e-6)
    small = alphastep.reduce(path, stiffness=k, mass=m, nodes=numpy.array(nodes), interfaces={"left": {"rigid": left}}, modes=6, damping=0.01, force=True)
    assert small.modes == 6 and small.frame_held == pytest.approx(list(exact)[:6], rel=1e-6)
    model = alphastep.Model()
    model.flexible.add("block", file=str(path.name))
    model.joints.fixed("wall", bodies=["ground", "block.left"], point=[0, 0.1, 0.1])
    monkeypatch.chdir(tmp_path)
    modes = model.build().modes()
    assert [x.frequency for x in modes][:3] == pytest.approx(list(exact)[:3], rel=1e-4) and modes[0].damping == pytest.approx(0.01, rel=1e-3)


def test_reduce_sparse_and_wrong(tmp_path):
    nodes, stiffness, mass = cube(1)
    where = {"left": {"rigid": [1, 2, 3, 4]}}
    path = tmp_path / "block.h5"
    alphastep.reduce(path, stiffness=stiffness, mass=mass, nodes=nodes, interfaces=where, modes=3)
    with pytest.raises(FileExistsError, match="force"):
        alphastep.reduce(path, stiffness=stiffness, mass=mass, nodes=nodes, interfaces=where)
    with pytest.raises(ValueError, match="mass: a matrix with rows"):
        alphastep.reduce(tmp_path / "x.h5", stiffness=stiffness, mass=[], nodes=nodes, interfaces=where)
    with pytest.raises(TypeError, match="job"):
        alphastep.reduce(tmp_path / "x.h5", stiffness=stiffness, interfaces=where)
    with pytest.raises(ValueError, match="interfaces: 'left'"):
        alphastep.reduce(tmp_path / "x.h5", stiffness=stiffness, mass=mass, nodes=nodes, interfaces={"left": {"rigd": [1]}})
    with pytest.raises(alphastep.Error, match="99"):
        alphastep.reduce(tmp_path / "x.h5", stiffness=stiffness, mass=mass, nodes=nodes, interfaces={"left": {"rigid": [1, 99]}})
    with pytest.raises(alphastep.Error, match="nowhere.mtx"):
        alphastep.reduce(tmp_path / "x.h5", stiffness=tmp_path / "nowhere.mtx", mass=mass, nodes=nodes, interfaces=where)
    held = [row[:] for row in stiffness]
    held[0][0] += 1e6  # it is not free
    with pytest.raises(alphastep.Error):
        alphastep.reduce(tmp_path / "x.h5", stiffness=held, mass=mass, nodes=nodes, interfaces=where)
    sparse = pytest.importorskip("scipy.sparse")
    one = alphastep.reduce(path, stiffness=sparse.csr_matrix(stiffness), mass=sparse.coo_matrix(mass), nodes=nodes, interfaces=where, modes=3, force=True)
    two = alphastep.reduce(path, stiffness=stiffness, mass=mass, nodes=nodes, interfaces=where, modes=3, force=True)
    assert one.frame_held == two.frame_held and one.free == two.free


# ---- studies


def test_study_grid(cart):
    """x(1) = (1 - cos sqrt(k/m))/k over a grid, from a text, in any number of threads."""
    asked = dict(parameters={"k": [1, 2, 4], "bodies.cart.mass": {"from": 1, "to": 2, "count": 2}},
                 results={"end": {"last": "joints.rail.displacement"}, "fast": {"max_abs": "joints.rail.displacement_rate", "from": 0.5}})
    one, two = alphastep.study(cart, threads=1, **asked), alphastep.study(cart, threads=3, **asked)
    assert len(one) == 6 and one.status == ["done"] * 6 and one.units["end"] == "m" and one.parameters == ["parameters.k", "bodies.cart.mass"]
    for k, m, end in zip(one["parameters.k"], one["bodies.cart.mass"], one["end"]):
        assert end == pytest.approx((1 - math.cos(math.sqrt(k / m))) / k, abs=1e-6)
    assert list(one["end"]) == list(two["end"]) and list(one["fast"]) == list(two["fast"])


def test_study_random(cart, tmp_path):
    """Draws: as the seed says; a dict, a text, a file and a Model are the same machine."""
    (tmp_path / "cart.yaml").write_text(cart)
    asked = dict(parameters={"k": {"normal": [3, 0.1]}}, results={"end": {"last": "joints.rail.displacement"}}, runs=40, seed=7)
    one = alphastep.study(cart, **asked)
    assert list(alphastep.study(tmp_path / "cart.yaml", **asked)["end"]) == list(one["end"])
    drawn = [float(k) for k in one["parameters.k"]]
    assert abs(statistics.mean(drawn) - 3) < 0.06 and 0.06 < statistics.stdev(drawn) < 0.14
    assert list(alphastep.study(cart, **{**asked, "seed": 8})["end"]) != list(one["end"])
    single = alphastep.load(cart, k=drawn[3]).run()["joints.rail.displacement"][-1]
    assert one["end"][3] == pytest.approx(single, abs=1e-12)


def test_study_of_functions():
    """Functions of Python in the library's threads; one that fails has its reason."""
    def output(t, w):
        if w[1] > 2.5:
            raise LookupError("too stiff")
        return 1 - w[1] * w[0]

    model = alphastep.Model(parameters={"k": 1})
    model.bodies.rigid("cart", mass=2, inertia=[1, 1, 1])
    model.joints.prismatic("rail", bodies=["ground", "cart"], point=[0, 0, 0], axis=[1, 0, 0])
    model.blocks.plugin("push", plugin=alphastep.Block(output, inputs=["x", "k"]), inputs={"x": "joints.rail.displacement", "k": "k"})
    model.forces.actuator("drive", joint="rail", force="blocks.push")
    model.simulate(t_end=1, step=0.01)
    s = alphastep.study(model, parameters={"k": [1, 2, 3]}, results={"end": {"last": "joints.rail.displacement"}}, threads=2)
    assert s.status == ["done", "done", "failed"] and "LookupError: too stiff" in s.messages[2] and math.isnan(s["end"][2])
    assert s["end"][1] == pytest.approx((1 - math.cos(1)) / 2, abs=1e-5)


def test_study_ends(cart):
    with pytest.raises(alphastep.ModelError, match="displacment"):
        alphastep.study(cart, parameters={"k": [1]}, results={"end": {"last": "joints.rail.displacment"}})
    with pytest.raises(alphastep.ModelError, match="did you mean"):
        alphastep.study(cart, parameters={"k": [1]}, results={"end": {"lst": "joints.rail.displacement"}})
    with pytest.raises(alphastep.ModelError, match="parameters.q"):
        alphastep.study(cart, parameters={"q": [1]}, results={"end": {"last": "joints.rail.displacement"}})
    seen = []
    asked = dict(parameters={"k": {"from": 1, "to": 2, "count": 1000}}, results={"end": {"last": "joints.rail.displacement"}})

    def progress(over, runs):
        seen.append(over)
        if over == 20:
            raise LookupError("enough")

    with pytest.raises(LookupError) as caught:
        alphastep.study(cart, threads=2, progress=progress, **asked)
    assert seen == list(range(1, 21)) and 20 <= caught.value.result.status.count("done") < 1000
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(alphastep.Interrupted) as stopped:
        alphastep.study(cart, set={"simulate.t_end": 1e3}, **asked)
    assert isinstance(stopped.value.result, alphastep.Study) and "waiting" in stopped.value.result.status

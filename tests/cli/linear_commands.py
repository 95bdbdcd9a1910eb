#!/usr/bin/env python3
"""`alphastep modes`, `linearize`, `response`, `equilibrium` and `inverse`: numbers, files, exit status, sentences.

usage: linear_commands.py COMMAND SOURCE_DIR
"""

import csv
import io
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

COMMAND, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MACHINES = os.path.join(SOURCE, "examples", "machines")
PATIENCE = 600  # s; for something that takes a second

ROD = """alphastep: 1
title: Rod <1>
gravity: [0, 0, -9.81]
parameters: {torque: 0, k: 0, d: 0}
bodies:
  rod: {mass: 2, inertia: [0.24, 0.24, 0.001], position: [0.6, 0, 0], rotation: {axis: [0, 1, 0], angle_deg: -90}}
joints:
  pin: {type: revolute, bodies: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0]}
forces:
  motor: {type: actuator, joint: pin, force: "torque - k*joints.pin.angle - d*joints.pin.angle_rate"}
simulate: {t_end: 1, step: 1.0e-3}
output: {interval: 0.1, channels: [joints.pin.angle, joints.pin.force]}
"""

failures = []


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word) for word in words))


def expect(status, sentence, *arguments):
    """Runs the command; a sentence that is to be on stderr, as one line, or None."""
    result = subprocess.run([COMMAND, *arguments], capture_output=True, timeout=PATIENCE)
    errors = result.stderr.decode()
    check(result.returncode == status, arguments, "ends with", result.returncode, errors)
    if sentence is None:
        check(errors == "", arguments, "complains:", errors)
    else:
        check(sentence in errors and errors.count("\n") == 1, arguments, "does not say", sentence, "but", errors)
    return result.stdout


def read_json(text):
    def refuse(word):
        raise ValueError(word + " is not JSON")

    return json.loads(text, parse_constant=refuse)


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def close(a, b, within=1e-9):
    return abs(a - b) <= within * max(1.0, abs(b))


def test_modes(rod):
    w = math.sqrt(1.5 * 9.81 / 1.2)
    s = read_json(expect(0, None, "modes", rod, "--equilibrium", "--json"))
    check(s["eigenvalues"] == 2 and s["unstable"] == 0 and close(s["modes"][0]["imaginary"], w), s)
    check(s["modes"][0]["bodies"] == "rod 100 %" and s["modes"][0]["joints"] == "pin 100 %", s)
    check(len(s["modes"][0]["shape"]["rod"][0]) == 6, s)
    text = expect(0, None, "modes", rod, "--equilibrium").decode()
    check("neither grows nor decays" in text and "0.557" in text, text)
    text = expect(0, None, "modes", rod, "--equilibrium", "--set", "parameters.d=1", "--sweep", "parameters.k=0:20:10", "--csv").decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    check(len(rows) == 3, text)
    expect(3, "This is no equilibrium and no steady motion", "modes", rod)
    expect(3, 'body "rod", velocity z accelerates by 7.3575', "modes", rod)
    out = read_json(expect(3, "no equilibrium", "modes", rod, "--json"))
    check(out["status"] == "refused", out)
    s = read_json(expect(0, None, "modes", rod, "--at", "0.2", "--json"))
    check("at t = 0.2 s" in s["about"] and "of this moment only" in s["about"], s["about"])
    expect(2, "two different states", "modes", rod, "--at", "1", "--equilibrium")
    expect(2, "is not like", "modes", rod, "--sweep", "parameters.k=1:2")
    expect(2, "is not like", "modes", rod, "--axes", "mine")
    expect(2, "is not like", "modes", rod, "--at", "soon")
    expect(2, "Unknown option", "modes", rod, "--inputs", "parameters.k")
    expect(2, "Which model file, or which run's folder?", "modes")
    expect(2, "`linearize` writes", "modes", rod, "--format", "npz")


def test_flexible_bodies(_):
    """Elastic coordinates belong to their own body: both panels swing alike, also the first of the file."""
    s = read_json(expect(0, None, "modes", os.path.join(SOURCE, "examples/machines/flexible-satellite/model.yaml"), "--json"))
    twists = [mode["bodies"] for mode in s["modes"] if close(mode["imaginary"], 17.62, 1e-3)]
    check(len(twists) == 1 and "east.root 50 %" in twists[0] and "west.root 50 %" in twists[0], twists)


def test_modes_page(rod):
    expect(0, None, "modes", rod, "--equilibrium", "--sweep", "parameters.k=0:20:10", "-o", "page")
    with open("page/modes.html", encoding="utf-8") as file:
        page = file.read()
    check("Rod &#60;1&#62;: modes" in page and "Rod <1>" not in page, "the title is not escaped")
    check("http" not in page and page.count("<circle") == 6, "page", page.count("<circle"))
    check("const base=[" in page and page.rstrip().endswith("</html>"), "page")
    check(len(read_json(open("page/modes.json", encoding="utf-8").read())["values"]) == 3, "modes.json")
    write("file", "x")
    expect(4, "file", "modes", rod, "--equilibrium", "-o", "file")


def test_bicycle(_):
    model = os.path.join(MACHINES, "bicycle", "model.yaml")
    with open(os.path.join(MACHINES, "bicycle", "README.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| (\d+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$", file.read(), re.M)
    check(len(rows) == 5, "README")
    for v, caster, capsize, re_weave, im_weave in rows:
        s = read_json(expect(0, None, "modes", model, "--set", f"parameters.v={v}", "--json"))
        check(s["free"] == 6 and s["eigenvalues"] == 10, v, s["free"])
        found = [complex(m["real"], m["imaginary"]) for m in s["modes"]]
        for wanted in (float(caster), float(capsize), complex(float(re_weave), float(im_weave))):
            check(min(abs(x - wanted) for x in found) < 1e-10, v, wanted, found)


def read_mat(name):
    """Matrices of numbers by columns, and of text by lines."""
    out = {}
    with open(name, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        kind, rows, columns, imaginary, length = struct.unpack_from("<5i", data, at)
        at += 20
        name = data[at : at + length - 1].decode()
        at += length
        check(imaginary == 0, "complex")
        if kind == 51:
            text = data[at : at + rows * columns].decode()
            out[name] = [text[i::rows].rstrip() for i in range(rows)]
            at += rows * columns
        else:
            x = struct.unpack_from(f"<{rows * columns}d", data, at)
            out[name] = [list(x[i::rows]) for i in range(rows)]
            at += 8 * rows * columns
    return out


def read_npz(name):
    out = {}
    with zipfile.ZipFile(name) as archive:
        check(archive.testzip() is None, "damaged")
        for entry in archive.namelist():
            data = archive.read(entry)
            check(data[:8] == b"\x93NUMPY\x01\x00", entry)
            length = struct.unpack_from("<H", data, 8)[0]
            check((10 + length) % 64 == 0, entry, "is not aligned")
            head = eval(data[10 : 10 + length].decode(), {})  # a description in Python's words
            body = data[10 + length :]
            if head["descr"] == "<f8":
                rows, columns = head["shape"]
                x = struct.unpack(f"<{rows * columns}d", body)
                out[entry[:-4]] = [list(x[i::rows]) for i in range(rows)]
            else:
                width = 4 * int(head["descr"][2:])
                out[entry[:-4]] = [body[i : i + width].decode("utf-32-le").rstrip("\0") for i in range(0, len(body), width)]
    return out


def test_linearize(rod):
    what = ("--equilibrium", "--inputs", "parameters.torque,bodies.rod.force.x", "--inputs", "joints.pin.drive",
            "--outputs", "joints.pin.angle,joints.pin.force.x", "--outputs", "bodies.rod.acceleration.x")
    s = read_json(expect(0, None, "linearize", rod, *what, "--format", "json"))
    check(len(s["A"]) == 2 and len(s["B"][0]) == 3 and len(s["C"]) == 3 and len(s["D"][2]) == 3, s)
    check(s["states"] == ["bodies.rod.rotation.y [rad]", "bodies.rod.angular_velocity.y [rad/s]"], s["states"])
    check("E" not in s and s["zeros"] == [], s)
    check(close(s["A"][1][0], -1.5 * 9.81 / 1.2) and close(s["B"][1][0], 1 / 0.96), s)
    check(close(s["B"][1][2], 1 / 0.96), s)
    check(close(s["D"][1][1], -0.25) and close(s["D"][2][1], 3 / 8), s["D"])
    expect(0, None, "linearize", rod, *what, "--format", "mat", "-o", "rod.mat")
    expect(0, None, "linearize", rod, *what, "--format", "npz", "-o", "rod.npz")
    mat, npz = read_mat("rod.mat"), read_npz("rod.npz")
    for name in "ABCD":
        check(mat[name] == npz[name] == s[name], name, mat[name], npz[name], s[name])
    for name in ("states", "inputs", "outputs"):
        check(mat[name] == npz[name] == s[name], name, mat[name], npz[name])
    rows = list(csv.reader(io.StringIO(expect(0, None, "linearize", rod, *what, "--format", "csv").decode())))
    check(len(rows) == 6 and len(rows[0]) == 6 and float(rows[2][1]) == s["A"][1][0], rows)
    check("states" in expect(0, None, "linearize", rod, *what).decode(), "text")
    blown = write("blown.yaml", ROD.replace("forces:\n", "forces:\n  wind: {type: load, body: rod, point: [0.6, 0, 0], force: [0, 0, 5]}\n"))
    s = read_json(expect(0, None, "linearize", blown, "--at", "0", "--inputs", "forces.wind", "--json"))
    check(any(close(abs(row[0]), 5 * 0.6 / 0.96) for row in s["B"]) or any(close(abs(row[0]), 5 * 0.36 / 0.96) for row in s["B"]), s)
    expect(2, "There is no input `forces.motor`", "linearize", rod, "--at", "0", "--inputs", "forces.motor")
    expect(2, "There is no input `parameters.no`", "linearize", rod, "--equilibrium", "--inputs", "parameters.no")
    expect(2, "There is no input `bodies.rod.push.x`", "linearize", rod, "--equilibrium", "--inputs", "bodies.rod.push.x")
    expect(2, "`push`, which is not there", "linearize", rod, "--equilibrium", "--outputs", "bodies.rod.push.x")
    long_pole = os.path.join(MACHINES, "pole-placement", "model.yaml")
    expect(2, "moves joints", "linearize", long_pole, "--set", "parameters.lean=0", "--inputs", "parameters.l")


def test_descriptor(rod):
    """E, A and B with all components: the same response and the same finite eigenvalues as the reduced system."""
    import numpy

    what = ("--equilibrium", "--set", "parameters.d=0.5", "--inputs", "parameters.torque,bodies.rod.force.x", "--outputs",
            "joints.pin.angle,joints.pin.force.x")
    reduced = read_json(expect(0, None, "linearize", rod, *what, "--json"))
    full = read_json(expect(0, None, "linearize", rod, *what, "--json", "--descriptor"))
    expect(0, None, "linearize", rod, *what, "--descriptor", "--format", "mat", "-o", "full.mat")
    expect(0, None, "linearize", rod, *what, "--descriptor", "--format", "npz", "-o", "full.npz")
    mat, npz = read_mat("full.mat"), read_npz("full.npz")
    for name in ("E", "A", "B", "C", "D", "states"):
        check(mat[name] == npz[name] == full[name], name)
    rows = list(csv.reader(io.StringIO(expect(0, None, "linearize", rod, *what, "--descriptor", "--csv").decode())))
    check(rows[0][1] == "d/dt bodies.rod.position.x [m]" and float(rows[7][7]) == full["E"][6][6] == 2 and len(rows) == 20, rows[0])
    check(full["states"][12] == 'joint "pin", row 1, multiplier [N, N m]' and len(full["states"]) == 17, full["states"])
    E, A, B, C, D = (numpy.array(full[name]) for name in "EABCD")
    a, b, c, d = (numpy.array(reduced[name]) for name in "ABCD")
    for s in (0.3 + 2j, -1.0 + 0.5j, 7j):
        H = C @ numpy.linalg.solve(s * E - A, B) + D
        h = c @ numpy.linalg.solve(s * numpy.eye(2) - a, b) + d
        check(numpy.abs(H - h).max() < 1e-9 * numpy.abs(h).max(), s, H, h)
    infinite = numpy.linalg.eigvals(numpy.linalg.solve(A - 0.7 * E, E))
    finite = sorted((0.7 + 1 / x for x in infinite if abs(x) > 1e-3), key=lambda x: x.imag)
    wanted = sorted(numpy.linalg.eigvals(a), key=lambda x: x.imag)
    check(len(finite) == 2 and all(abs(x - y) < 1e-8 for x, y in zip(finite, wanted)), finite, wanted)
    expect(2, "Unknown option `--descriptor`", "response", rod, *what, "--descriptor")


def test_zeros(_):
    """The cart from the force on it, where the pencil is singular; the chassis from the force on the wheel: -k/d, and twice 0."""
    model = os.path.join(MACHINES, "pole-placement", "model.yaml")
    what = ("--set", "parameters.lean=0", "--set", "parameters.on=0", "--inputs", "parameters.push", "--outputs", "joints.rail.displacement")
    s = read_json(expect(0, None, "linearize", model, *what, "--json"))
    found = sorted(x for x, _ in s["zeros"])
    check(len(found) == 2 and close(found[0], -found[1]) and all(y == 0 for _, y in s["zeros"]), s["zeros"])
    expect(0, None, "linearize", model, *what, "--format", "npz", "-o", "zeros.npz")
    check(read_npz("zeros.npz")["zeros_re"] == [[x] for x, _ in s["zeros"]], "npz")
    for x, _ in s["zeros"]:
        check(abs(determinant(s, x)) < 1e-9, x)
    s = read_json(expect(0, None, "linearize", os.path.join(MACHINES, "quarter-car", "model.yaml"), "--equilibrium", "--inputs",
                         "bodies.wheel.force.z", "--outputs", "bodies.chassis.acceleration.z", "--json"))
    check(sorted(s["zeros"])[1:] == [[0, 0], [0, 0]] and close(sorted(s["zeros"])[0][0], s["A"][3][0] / -s["A"][3][2]), s["zeros"], s["A"])


def determinant(s, x):
    """Of [A - x, B; C, D], relative to the product of the lengths of its rows."""
    import numpy

    a = numpy.block([[numpy.array(s["A"]) - x * numpy.eye(len(s["A"])), numpy.array(s["B"])], [numpy.array(s["C"]), numpy.array(s["D"])]])
    return numpy.linalg.det(a) / numpy.prod(numpy.linalg.norm(a, axis=1))


def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def solve(a, b):
    """x with a x = b, by Gauss and Jordan."""
    n = len(a)
    m = [row[:] + [y] for row, y in zip(a, b)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(m[i][k]))
        m[k], m[pivot] = m[pivot], m[k]
        for i in range(n):
            if i != k:
                f = m[i][k] / m[k][k]
                m[i] = [x - f * y for x, y in zip(m[i], m[k])]
    return [m[i][n] / m[i][i] for i in range(n)]


def test_blocks(_):
    """A motor with a lag: states and inputs of blocks have the names of their channels."""
    model = write("lag.yaml", ROD.replace("forces:\n", """blocks:
  demand: {type: signal, formula: 0}
  lag: {type: state, rate: 5*(blocks.demand - blocks.lag)}
forces:
""").replace('force: "torque - ', 'force: "blocks.lag - '))
    s = read_json(expect(0, None, "linearize", model, "--equilibrium", "--inputs", "blocks.demand,blocks.lag",
                         "--outputs", "blocks.demand,blocks.lag", "--json"))
    check(s["states"][2] == "blocks.lag [-]" and s["inputs"] == ["blocks.demand [-]", "blocks.lag [-]"], s)
    check(close(s["A"][1][2], 1 / 0.96) and close(s["A"][2][2], -5), s["A"])
    check(close(s["B"][2][0], 5) and close(s["B"][2][1], 1) and abs(s["B"][1][0]) < 1e-12, s["B"])
    check(close(s["D"][0][0], 1) and abs(s["D"][1][0]) < 1e-12 and close(s["C"][1][2], 1), s["C"], s["D"])
    expect(2, "There is no input `blocks.no`", "linearize", model, "--equilibrium", "--inputs", "blocks.no")


def test_sampled(_):
    """A sampled damper does nothing, and that is said; a continuous one damps."""
    text = ROD.replace("forces:\n", "blocks:\n  hold: {type: KIND, formula: -0.5*joints.pin.angle_rate}\nforces:\n").replace('force: "torque - ', 'force: "blocks.hold - ')
    held = read_json(expect(0, None, "modes", write("held.yaml", text.replace("KIND", "sampled, period: 0.01")), "--equilibrium", "--json"))
    check("signals of sampled controllers are held as they are" in held["about"] and held["modes"][0]["real"] == 0, held)
    free = read_json(expect(0, None, "modes", write("free.yaml", text.replace("KIND", "signal")), "--equilibrium", "--json"))
    check("held" not in free["about"] and close(free["modes"][0]["real"], -0.25 / 0.96), free)
    check("are held" in expect(0, None, "linearize", "held.yaml", "--equilibrium").decode(), "linearize")


def test_controller(_):
    """The gains in the file of the pole on a cart are those that its linear system asks for, and do what they should."""
    model = os.path.join(MACHINES, "pole-placement", "model.yaml")
    names = ["joints.rail.displacement", "joints.hinge.angle", "joints.rail.displacement_rate", "joints.hinge.angle_rate"]
    s = read_json(expect(0, None, "linearize", model, "--set", "parameters.lean=0", "--set", "parameters.on=0", "--inputs",
                         "parameters.push", "--outputs", ",".join(names), "--json"))
    columns = [[solve(s["C"], [float(i == j) for i in range(4)])[k] for k in range(4)] for j in range(4)]
    inverse = [list(row) for row in zip(*columns)]
    a = multiply(multiply(s["C"], s["A"]), inverse)
    b = multiply(s["C"], s["B"])
    reach = [b]
    for _ in range(3):
        reach.append(multiply(a, reach[-1]))
    controllable = [[reach[j][i][0] for j in range(4)] for i in range(4)]
    row = solve([list(x) for x in zip(*controllable)], [0.0, 0.0, 0.0, 1.0])  # the last row of the inverse
    one = [[float(i == j) for j in range(4)] for i in range(4)]
    p = multiply([[x + 4 * y for x, y in zip(u, v)] for u, v in zip(a, one)], [[x + 5 * y for x, y in zip(u, v)] for u, v in zip(a, one)])
    square = [[x + 4 * y + 8 * z for x, y, z in zip(*rows)] for rows in zip(multiply(a, a), a, one)]
    gains = multiply([row], multiply(p, square))[0]
    with open(model, encoding="utf-8") as file:
        given = [float(x) for x in re.findall(r"^  k\d: (\S+)", file.read(), re.M)]
    check(len(given) == 4 and all(close(x, y, 1e-8) for x, y in zip(gains, given)), gains, given)
    s = read_json(expect(0, None, "modes", model, "--set", "parameters.lean=0", "--json"))
    found = [complex(m["real"], m["imaginary"]) for m in s["modes"]]
    for wanted in (-2 + 2j, -4, -5):
        check(min(abs(x - wanted) for x in found) < 1e-6, wanted, found)


def test_response(rod):
    what = ("--equilibrium", "--set", "parameters.d=0.5", "--inputs", "parameters.torque", "--outputs", "joints.pin.angle")
    j, d, k = 0.96, 0.5, 2 * 9.81 * 0.6
    s = read_json(expect(0, None, "response", rod, *what, "--range", "0.1:10", "--points", "7", "--json"))
    for i, f in enumerate(s["frequency"][0]):
        w = 2 * math.pi * f
        h = 1 / (k - j * w * w + 1j * d * w)
        got = complex(s["responses"][0]["real"][i], s["responses"][0]["imaginary"][i])
        check(abs(got - h) < 1e-9 * abs(h), f, got, h)
    rows = list(csv.reader(io.StringIO(expect(0, None, "response", rod, *what, "--range", "0.1:10", "--points", "7").decode())))
    check(len(rows) == 8 and close(float(rows[1][3]), abs(complex(float(rows[1][1]), float(rows[1][2])))), rows[0])
    s = read_json(expect(0, None, "response", rod, *what, "--kind", "step", "--range", "0:40", "--points", "100", "--json"))
    check(close(s["responses"][0]["value"][-1], 1 / k, 1e-3) and abs(s["responses"][0]["value"][0]) < 1e-12, s["responses"][0]["value"][-1])
    a, w = d / (2 * j), math.sqrt(k / j - (d / (2 * j)) ** 2)
    s = read_json(expect(0, None, "response", rod, *what, "--kind", "impulse", "--range", "0:5", "--points", "6", "--json"))
    for i in range(6):
        check(close(s["responses"][0]["value"][i], math.exp(-a * i) * math.sin(w * i) / (j * w)), i)
    for kind in ("bode", "nyquist", "step"):
        expect(0, None, "response", rod, *what, "--kind", kind, "-o", "shake")
        with open("shake/response.html", encoding="utf-8") as file:
            page = file.read()
        check("<svg" in page and page.rstrip().endswith("</html>") and "Rod &#60;1&#62;" in page, kind)
    expect(2, "give both", "response", rod, "--inputs", "parameters.torque")
    expect(2, "is not like", "response", rod, *what, "--kind", "root")
    expect(2, "is not like", "response", rod, *what, "--range", "2:1")


def test_equilibrium(rod):
    text = expect(0, None, "equilibrium", rod).decode()
    check("stable" in text and "joints.pin.force.z" in text, text)
    s = read_json(expect(0, None, "equilibrium", rod, "--json"))["rows"][0]
    check(s["stability"] == "stable" and close(s["channels"]["joints.pin.force.z"], 2 * 9.81), s)
    check(close(s["softest"], 1.5 * 9.81 / 1.2), s)
    text = expect(0, None, "equilibrium", rod, "--sweep", "parameters.torque=0:8:2", "--outputs", "bodies.rod.position.x").decode()
    rows = list(csv.reader(io.StringIO(text)))
    check(rows[0] == ["parameters.torque [-]", "bodies.rod.position.x [m]"], rows[0])
    for torque, x in rows[1:]:  # the torque about y against gravity
        check(close(2 * 9.81 * float(x), -float(torque), 1e-9), torque, x)
    expect(3, "No equilibrium was found", "equilibrium", write("ball.yaml", "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n  ball: {type: point, mass: 1, position: [0, 0, 0]}\n"))
    expect(2, "takes no `--at`", "equilibrium", rod, "--at", "1")


SNAP = """alphastep: 1
parameters: {p: 0, k: 1000, b: 0.8, h: 0.6}
bodies:
  m: {type: point, mass: 1, position: [0, 0, h]}
joints:
  guide: {type: point_on_line, bodies: [ground, m], point: [0, 0, h], axis: [0, 0, 1]}
forces:
  s: {type: spring, bodies: [ground, m], point: [-b, 0, 0], second_point: [0, 0, h], stiffness: k, length: 1, damping: 5}
  t: {type: spring, bodies: [ground, m], point: [b, 0, 0], second_point: [0, 0, h], stiffness: k, length: 1}
  load: {type: load, body: m, point: [0, 0, h], force: [0, 0, -p]}
output: {channels: [bodies.m.position.z]}
"""


def test_follow(_):
    """A shallow truss through its snap, and a column that buckles to either side: limit and buckling loads in closed form."""
    write("truss.yaml", """alphastep: 1
parameters: {k: 1000, unused: 1}
bodies:
  apex: {type: point, mass: 0.5, position: [0, 0.2, 0]}
joints:
  guide: {type: point_on_line, bodies: [ground, apex], point: [0, 0, 0], axis: [0, 1, 0]}
forces:
  left: {type: spring, bodies: [ground, apex], point: [-1, 0, 0], second_point: [0, 0.2, 0], stiffness: k}
  right: {type: spring, bodies: [ground, apex], point: [1, 0, 0], second_point: [0, 0.2, 0], stiffness: k}
  load: {type: load, body: apex, point: [0, 0.2, 0], force: [0, -t, 0]}
""")
    rest = math.hypot(1, 0.2)
    limit = math.sqrt(rest ** (2 / 3) - 1)
    load = 2000 * limit * (rest / math.hypot(1, limit) - 1)
    data = read_json(expect(0, None, "equilibrium", "truss.yaml", "--follow", "t=0:6", "--outputs", "bodies.apex.position.y", "--json"))
    found = [row["t"] for row in data["rows"] if row["point"] == "limit"]
    check(len(found) == 2 and abs(found[0] - load) < 1e-9 and abs(found[1] + load) < 1e-9, "limits", found, load)
    for row in data["rows"]:
        y = row["channels"]["bodies.apex.position.y"]
        check(abs(row["t"] - 2000 * y * (rest / math.hypot(1, y) - 1)) < 1e-8, "truss", row["t"], y)
    text = expect(0, None, "equilibrium", "truss.yaml", "--follow", "t=0:6", "--outputs", "bodies.apex.position.y").decode()
    check(text.count("limit ") == 2 and "at the end          stable" in text, text)
    table = list(csv.reader(expect(0, None, "equilibrium", "truss.yaml", "--follow", "t=0:6", "--csv").decode().splitlines()))
    check(table[0][:3] == ["t [-]", "point", "unstable directions"] and table[-1][0] == "6", table[0], table[-1])
    write("column.yaml", """alphastep: 1
bodies:
  lower: {mass: 1, inertia: [0.02, 0.02, 0.02], position: [0, 0.25, 0]}
  upper: {mass: 1, inertia: [0.02, 0.02, 0.02], position: [0, 0.75, 0]}
joints:
  foot: {type: revolute, bodies: [ground, lower], point: [0, 0, 0], axis: [0, 0, 1]}
  knee: {type: revolute, bodies: [lower, upper], point: [0, 0.5, 0], axis: [0, 0, 1]}
  guide: {type: point_on_line, bodies: [ground, upper], point: [0, 1, 0], axis: [0, 1, 0]}
forces:
  spring: {type: torsion, bodies: [lower, upper], axis: [0, 0, 1], stiffness: 4}
  load: {type: load, body: upper, point: [0, 1, 0], force: [0, -t, 0]}
""")
    ends = []
    for side in "1", "2":
        data = read_json(expect(0, None, "equilibrium", "column.yaml", "--follow", "t=1:24", "--branch", side, "--outputs", "joints.foot.angle",
                                 "--json"))
        found = [row["t"] for row in data["rows"] if row["point"] == "branching"]
        check(len(found) == 1 and abs(found[0] - 16) < 1e-5, "buckling load", found)
        tilt = data["rows"][-1]["channels"]["joints.foot.angle"]
        check(abs(8 * tilt - 12 * math.sin(tilt)) < 1e-8 and data["rows"][-1]["stability"] == "stable", "buckled", tilt)
        ends.append(tilt)
    check(ends[0] * ends[1] < 0, "two sides", ends)
    expect(2, "is made into numbers when the file is read", "equilibrium", "truss.yaml", "--follow", "parameters.k=1:2")
    expect(2, "`q` cannot be followed", "equilibrium", "truss.yaml", "--follow", "q=1:2")
    expect(2, "is not like `parameters.load=0:10`", "equilibrium", "truss.yaml", "--follow", "t=1")
    expect(2, "`--branch 3` is not like", "equilibrium", "truss.yaml", "--follow", "t=0:1", "--branch", "3")
    expect(2, "two ways through a parameter", "equilibrium", "truss.yaml", "--follow", "t=0:1", "--sweep", "parameters.k=1:2:1")


def test_follow_beam(_):
    """The strip of docs/elements/beams.md: 178.2292635 N by shooting, 178.22748 with the torsion of the profile; it stands to both sides."""
    with open(os.path.join(SOURCE, "docs", "elements", "beams.md"), encoding="utf-8") as file:
        page = file.read()
    section = page[page.index("## Buckling"):]
    write("strip.yaml", re.search("```yaml\n(.*?)```", section, re.S).group(1))
    ends = []
    for side in "1", "2":
        data = read_json(expect(0, None, "equilibrium", "strip.yaml", "--follow", "t=0:250", "--branch", side, "--outputs",
                                "bodies.strip.16.position", "--json"))
        found = [row["t"] for row in data["rows"] if row["point"] == "branching"]
        check(len(found) == 1 and abs(found[0] / 178.22748 - 1) < 1e-5, "buckling load", found)
        ends.append(data["rows"][-1]["channels"])
    y = [end["bodies.strip.16.position.y"] for end in ends]
    check(abs(y[0]) > 0.4 and close(y[0], -y[1], 1e-6), "buckled strip", y)
    shown = float(re.search(r"position.y +-?([0-9.]+) m", section).group(1))
    check(close(abs(y[0]), shown, 1e-4), "the page has another buckled strip", y, shown)


def test_branch(_):
    """Two springs in line: the load is 2 k z (1/l - 1), largest at l = b^(2/3); equilibria are followed up to there and beyond it are others."""
    model = write("snap.yaml", SNAP)

    def load(z):
        return 2000 * z * (1 / math.hypot(0.8, z) - 1)

    highest = load(math.sqrt(0.8 ** (4 / 3) - 0.64))
    s = read_json(expect(0, "cannot be followed beyond parameters.p = 102.", "equilibrium", model, "--sweep", "parameters.p=0:150:10", "--json"))
    places = {row["parameters.p"]: row["channels"]["bodies.m.position.z"] for row in s["rows"]}
    for row in s["rows"]:
        z, p = row["channels"]["bodies.m.position.z"], row["parameters.p"]
        check(abs(load(z) - p) < 1e-6 and (z > 0.32) == (p < highest), p, z)
        check(row["jumped"] == (p == 110) and row["stability"] == "stable", row)
    s = read_json(expect(0, "cannot be followed", "modes", model, "--equilibrium", "--sweep", "parameters.p=0:150:50", "--json"))
    for row in s["values"]:  # m = 1: 2 k (1 - b^2/l^3) = |lambda|^2
        mode = row["modes"][0]
        stiffness = mode["real"] ** 2 + mode["imaginary"] ** 2
        check(close(stiffness, 2000 * (1 - 0.64 / math.hypot(0.8, places[row["value"]]) ** 3), 1e-6), row["value"], stiffness)
    # An upright rod on a torsion spring that weakens: it stays upright, stable to k = m g l, then not.
    upright = write("upright.yaml", ROD.replace("angle_deg: -90", "angle_deg: 0").replace("[0.6, 0, 0]", "[0, 0, 0.6]"))
    s = read_json(expect(0, None, "equilibrium", upright, "--sweep", "parameters.k=20:4:-2", "--json"))
    for row in s["rows"]:
        check(abs(row["channels"]["joints.pin.angle"]) < 1e-12, row["channels"])
        check(row["stability"] == ("stable" if row["parameters.k"] > 2 * 9.81 * 0.6 else "unstable"), row["parameters.k"], row["stability"])
    s = read_json(expect(0, None, "modes", upright, "--equilibrium", "--sweep", "parameters.k=20:4:-2", "--json"))
    check([m["stability"] for m in s["values"]] == ["neither grows nor decays"] * 5 + ["unstable"] * 4, [m["stability"] for m in s["values"]])
    # The number of bodies is swept: each is found from its own start.
    chain = write("beads.yaml", "alphastep: 1\ngravity: [0, 0, -9.81]\nparameters: {n: 1}\nrepeat:\n  - to: n\n    bodies:\n      'b ${i}': {type: point, mass: 1, position: [i, 0, 0]}\n"
                  "    forces:\n      's ${i}': {type: spring, bodies: [ground, 'b ${i}'], point: [i, 0, 1], second_point: [i, 0, 0], stiffness: 100, length: 1}\n")
    s = read_json(expect(0, None, "modes", chain, "--equilibrium", "--sweep", "parameters.n=1:3:1", "--json"))
    check([v["eigenvalues"] for v in s["values"]] == [6, 12, 18], [v["eigenvalues"] for v in s["values"]])


def test_folder(rod):
    """A run's folder: its last moment, others, before and after; its files have to be what they were."""
    model = write("swing.yaml", ROD)
    expect(0, None, "run", model, "-o", "swing", "--quiet", "--set", "parameters.torque=3")

    def found(*arguments):
        s = read_json(expect(0, None, "modes", *arguments, "--json"))
        return [s["about"].split(" s,")[0]] + [(m["real"], m["imaginary"]) for m in s["modes"]]

    def same(a, b):
        return a[0] == b[0] and len(a) == len(b) and all(close(x, y, 1e-7) for p, q in zip(a[1:], b[1:]) for x, y in zip(p, q))

    for t in (0, 0.4, 1, 1.5):  # 1 is its end
        a, b = found("swing", "--at", str(t)), found(model, "--set", "parameters.torque=3", "--at", str(t))
        check(same(a, b), t, a, b)
    check(same(found("swing"), found("swing", "--at", "1")), "last")
    check(found("swing", "--at", "1") != found(model, "--at", "1"), "torque")
    s = read_json(expect(0, None, "linearize", "swing", "--inputs", "parameters.torque", "--outputs", "joints.pin.force.x", "--json"))
    check(s["t"] == 1 and "A changes along the motion" in s["about"], s)
    with open("swing/results.csv", encoding="utf-8") as file:
        last = list(csv.reader(file))[-1]
    check(close(s["y0"][0], float(last[2]), 1e-4), s["y0"], last)
    check("stable" in expect(0, None, "equilibrium", "swing").decode(), "equilibrium")
    expect(2, "is looked at with its own settings", "modes", "swing", "--set", "parameters.torque=2")
    expect(2, "a run's folder is one run", "modes", "swing", "--sweep", "parameters.torque=0:1:1")
    os.mkdir("empty")
    expect(4, "`empty` cannot be looked at", "modes", "empty")
    with open(model, "a", encoding="utf-8") as file:
        file.write("# changed\n")
    expect(2, "`swing` cannot be looked at: `swing.yaml` is not what it was", "modes", "swing")
    os.remove(model)
    expect(4, "its model file `swing.yaml` is not there.", "modes", "swing")


def test_inverse(rod):
    driven = ROD.replace("forces:\n", "motions_here:\n").split("motions_here:")[0]
    driven = driven.replace("point: [0, 0, 0], axis: [0, 1, 0]}\n", "point: [0, 0, 0], axis: [0, 1, 0]}\n  turn: {type: motion, joint: pin, law: {constant: 0, slope: 2}}\n")
    model = write("driven.yaml", driven)
    text = expect(0, None, "inverse", model, "--range", "0:1", "--points", "5", "--outputs", "joints.turn.drive,joints.pin.angle").decode()
    rows = list(csv.reader(io.StringIO(text)))
    check(len(rows) == 6, text)
    for t, drive, angle in rows[1:]:
        check(close(float(angle), 2 * float(t)), rows)
        check(close(float(drive), -2 * 9.81 * 0.6 * math.cos(2 * float(t)), 1e-9), t, drive)
    s = read_json(expect(0, None, "linearize", model, "--at", "0", "--inputs", "joints.turn.law", "--outputs", "joints.turn.drive,joints.pin.angle", "--json"))
    check(s["states"] == ["joints.turn.law [m, rad]", "joints.turn.law, rate [m/s, rad/s]"] and s["B"] == [[0], [1]], s)
    check(close(s["D"][0][0], 0.96) and abs(s["D"][1][0]) < 1e-12 and close(s["C"][1][0], 1), s)
    expect(3, "The motion is not prescribed", "inverse", rod)
    expect(2, "say which times", "inverse", write("times.yaml", driven))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rod = write("rod.yaml", ROD)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test(rod)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""`alphastep fmu`: what it writes, and that others can run it.

fmu_command.py ALPHASTEP SOURCE_DIR FMU_MEMORY

Descriptions are valid by the official schemas; the binary needs libc and libm only; machines of every sort give the channels of `alphastep
run` at the same times; the command refuses what is wrong with one sentence; a state goes from one process to another.
"""
import csv
import ctypes
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile

command, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
here = os.path.dirname(os.path.abspath(__file__))
folder = tempfile.mkdtemp()


def alphastep(*arguments, status=0):
    done = subprocess.run([command, *arguments], capture_output=True, text=True, cwd=folder)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def export(model, name, *options):
    path = os.path.join(folder, name + ".fmu")
    alphastep("fmu", model, "-o", path, *options)
    into = os.path.join(folder, name)
    shutil.rmtree(into, ignore_errors=True)
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        z.extractall(into)
    return into


def check_schema(into, version):
    schema = os.path.join(here, "schema", f"fmi{version}ModelDescription.xsd")
    done = subprocess.run(["xmllint", "--noout", "--schema", schema, os.path.join(into, "modelDescription.xml")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Slave:
    """An instance of FMI 2.0."""

    def __init__(self, into):
        root = xml.parse(os.path.join(into, "modelDescription.xml")).getroot()
        self.references = {v.get("name"): int(v.get("valueReference")) for v in root.iter("ScalarVariable")}
        self.outputs = [v.get("name") for v in root.iter("ScalarVariable") if v.get("causality") == "output"]
        name = root.find("CoSimulation").get("modelIdentifier")
        self.dll = ctypes.CDLL(os.path.join(into, "binaries", "linux64", name + ".so"))
        self.dll.fmi2Instantiate.restype = ctypes.c_void_p
        self.callbacks = (ctypes.c_void_p * 5)()
        self.c = ctypes.c_void_p(self.dll.fmi2Instantiate(b"x", 1, root.get("guid").encode(), ("file://" + into.replace("%", "%25") + "/resources").encode(),
                                                          ctypes.byref(self.callbacks), 0, 0))
        assert self.c.value, into

    def call(self, function, *arguments):
        status = getattr(self.dll, "fmi2" + function)(self.c, *arguments)
        assert status == 0, (function, status)

    def start(self):
        self.call("SetupExperiment", 0, ctypes.c_double(0), ctypes.c_double(0), 0, ctypes.c_double(0))
        self.call("EnterInitializationMode")
        self.call("ExitInitializationMode")

    def set(self, name, value):
        self.call("SetReal", (ctypes.c_uint * 1)(self.references[name]), ctypes.c_size_t(1), (ctypes.c_double * 1)(value))

    def get(self, names):
        n = len(names)
        out = (ctypes.c_double * n)()
        self.call("GetReal", (ctypes.c_uint * n)(*[self.references[x] for x in names]), ctypes.c_size_t(n), out)
        return list(out)

    def derivatives(self, unknown, known, seed):
        """Of outputs along a direction."""
        out = (ctypes.c_double * len(unknown))()
        references = [(ctypes.c_uint * len(x))(*[self.references[name] for name in x]) for x in (unknown, known)]
        self.call("GetDirectionalDerivative", references[0], ctypes.c_size_t(len(unknown)), references[1], ctypes.c_size_t(len(known)),
                  (ctypes.c_double * len(seed))(*seed), out)
        return list(out)

    def step(self, t, to):
        self.call("DoStep", ctypes.c_double(t), ctypes.c_double(to - t), 1)

    def save(self):
        state, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.call("GetFMUstate", ctypes.byref(state))
        self.call("SerializedFMUstateSize", state, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.call("SerializeFMUstate", state, data, size)
        self.call("FreeFMUstate", ctypes.byref(state))
        return data.raw

    def load(self, data):
        state = ctypes.c_void_p()
        self.call("DeSerializeFMUstate", data, ctypes.c_size_t(len(data)), ctypes.byref(state))
        self.call("SetFMUstate", state)
        self.call("FreeFMUstate", ctypes.byref(state))

    def free(self):
        self.dll.fmi2FreeInstance.restype = None
        self.dll.fmi2FreeInstance(self.c)


def plain(name):
    """A name of FMI without its quotes."""
    return re.sub(r"\\(.)", r"\1", name.replace("'", ""))


def compare(machine, tolerance, *settings):
    """Each output at each of the run's times, against the largest number of its unit."""
    model = os.path.join(source, machine)
    options = [x for s in settings for x in ("--set", s)]
    into = export(model, "machine", *options)
    check_schema(into, 2)
    check_schema(export(model, "three", "--fmi", "3", *options), 3)
    alphastep("run", model, "-o", "native", "--force", "--quiet", "--no-report", "--no-sync", *options)
    with open(os.path.join(folder, "native", "results.csv")) as f:
        rows = list(csv.reader(f))
    column = {re.sub(r" \[.*", "", name): i for i, name in enumerate(rows[0])}
    unit = {re.sub(r" \[.*", "", name): re.sub(r".*\[", "", name) for name in rows[0]}
    rows = [[float(x) for x in row] for row in rows[1:]]
    s = Slave(into)
    s.start()
    outputs = [x for x in s.outputs if plain(x) in column and not plain(x).startswith("solver.")]
    assert outputs, s.outputs
    size, off = {}, {}
    for before, row in zip([None] + rows, rows):
        if before:
            s.step(before[0], row[0])
        for name, x in zip(outputs, s.get(outputs)):
            native, u = row[column[plain(name)]], unit[plain(name)]
            size[u] = max(size.get(u, 0), abs(native))
            off[u] = max(off.get(u, 0), abs(x - native))
    s.free()
    least = 1e-6 * max(size.values())  # a torque of 1e-12 N m beside forces of 1e4 N is none
    worst = max(off[u] / max(size[u], least) for u in off)
    print(f"{machine}: {len(outputs)} outputs at {len(rows)} times, off by {worst:.1e}")
    assert worst <= tolerance, (machine, worst)


def check_binary(into):
    library = os.path.join(into, "binaries", "linux64", os.path.basename(into) + ".so")
    text = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", text))
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}, needed
    names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.split("\n")
    exported = {line.split()[-1] for line in names if line}
    assert exported and all(re.match("fmi[23][A-Z]", x) for x in exported), exported
    for version in (2, 3):  # every function of the header is there
        with open(os.path.join(source, "src", "fmi", f"fmi{version}.h")) as f:
            text = f.read()
        wanted = set(re.findall(rf"\b(fmi{version}\w+)TYPE\b", text))
        wanted |= {f"fmi{version}{way}{x}" for x in re.findall(rf"ASI_FMI{version}_VALUES\((\w+)\)\n", text) if x != "Type" for way in ("Get", "Set")}
        wanted = {x for x in wanted if re.match(rf"fmi{version}[A-Z]", x) and x[4:] not in ("Get", "Set")}
        assert len(wanted) > 20 and wanted <= exported, wanted - exported


def save_for_another(into):
    """What the other process does: half a second, a state, and where it comes to from there."""
    s = Slave(into)
    s.start()
    s.step(0, 0.5)
    data = s.save()
    s.step(0.5, 1)
    sys.stdout.buffer.write(repr(s.get(s.outputs)).encode() + b"\n" + data)
    s.free()


def check_processes(into):
    """A state that another process has saved is gone on with, to the same bits."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__), command, source, sys.argv[3], "save", into], capture_output=True, check=True)
    row, data = done.stdout.split(b"\n", 1)
    s = Slave(into)
    s.load(data)
    s.step(0.5, 1.0)
    assert repr(s.get(s.outputs)) == row.decode()
    s.free()


def check_example():
    """The controller of examples/fmu/README.md keeps the pole upright."""
    s = Slave(export(os.path.join(source, "examples/fmu/plant.yaml"), "plant"))
    s.start()
    gain = {"joints.rail.displacement": 3.162, "joints.pivot.angle": 40.128, "joints.rail.displacement_rate": 4.462, "joints.pivot.angle_rate": 10.283}
    for k in range(500):
        s.set("blocks.force", sum(g * x for g, x in zip(gain.values(), s.get(list(gain)))))
        s.step(k * 0.01, (k + 1) * 0.01)
    assert abs(s.get(["joints.pivot.angle"])[0]) < 1e-3, s.get(list(gain))
    s.free()


def check_derivatives():
    """Directional derivatives are D of `alphastep linearize`, which solves with the matrices of the equations."""
    closed = os.path.join(folder, "closed.yaml")  # a loop with redundant rows, friction, a stiff damper, an input that enters squared, and one in a state
    with open(closed, "w") as f:
        f.write("""alphastep: 1
gravity: [0, 0, -9.81]
parameters: {push: 3, stiff: 1.0e6}
bodies:
  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.5], velocity: [1, 0, 0], angular_velocity: [0, 2, 0]}
  b: {mass: 2, inertia: [0.2, 0.2, 0.2], position: [1, 0, 1], velocity: [2, 0, 0]}
  c: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [2, 0, 0.5], velocity: [1, 0, 0], angular_velocity: [0, 2, 0]}
joints:
  p: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}
  q: {type: revolute, bodies: [a, b], point: [0, 0, 1], axis: [0, 1, 0]}
  r: {type: revolute, bodies: [b, c], point: [2, 0, 1], axis: [0, 1, 0]}
  s: {type: revolute, bodies: [ground, c], point: [2, 0, 0], axis: [0, 1, 0]}
forces:
  f: {type: load, body: b, force: ["blocks.u^2*blocks.u + parameters.push", 0, "-stiff*0.01*bodies.b.velocity.x"]}
blocks:
  u: {type: input, start: 2}
  lag: {type: state, rate: "blocks.u*bodies.a.acceleration.x - blocks.lag", start: 0.3}
  sum: {type: signal, formula: "blocks.lag*blocks.u + joints.p.force.x"}
simulate: {t_end: 1, step: 0.01}
""".replace("parameters.push", "push"))
    plant = os.path.join(source, "examples/fmu/plant.yaml")
    for model, known, near in ((plant, ["blocks.force"], 1e-9), (closed, ["blocks.u", "parameters.push", "parameters.stiff"], 1e-8)):
        outputs = ["joints.rail.force", "bodies.pole.acceleration", "joints.pivot.angle_rate"] if model == plant else [
            "joints.r.force", "bodies.b.acceleration", "bodies.b.velocity", "blocks.sum", "blocks.lag"]
        told = json.loads(alphastep("linearize", model, "--at", "0", "--inputs", ",".join(known), "--outputs", ",".join(outputs), "--format", "json").stdout)
        names = [x.split(" ")[0] for x in told["outputs"]]
        for version in (2,):
            s = Slave(export(model, "derivatives", "--fmi", str(version), "--inputs", ",".join(known), "--outputs", ",".join(outputs)))
            s.start()
            for k, name in enumerate(known):
                row = s.derivatives([x for x in s.outputs if plain(x) in names], [name], [1.0])
                exact = [told["D"][names.index(plain(x))][k] for x in s.outputs if plain(x) in names]
                assert len(row) == len(names) > 4
                size = max(abs(x) for x in exact)
                worst = max(abs(a - b) for a, b in zip(row, exact)) / size
                print(f"derivatives by {name}: off by {worst:.1e} of {size:.3g}")
                assert size > 0 and worst < near, (model, name, row, exact)
            s.free()


def check_names():
    """Names that are no identifiers, places that are no plain paths."""
    model = os.path.join(folder, "größe.yaml")
    with open(model, "w", encoding="utf-8") as f:
        f.write("""alphastep: 1
title: "Größe <&> \\"x\\""
bodies: {"Räd 1": {mass: 1, inertia: [1, 1, 1]}, "it's \\\\ odd": {mass: 1, inertia: [1, 1, 1], position: [0, 1, 0]}}
blocks: {u: {type: input, start: 0.1, unit: N}}
forces: {f: {type: load, body: "Räd 1", force: [blocks.u, 0, 0]}}
simulate: {t_end: 1, step: 0.01}
""")
    for version in (2, 3):
        into = export(model, "a b % é", "--fmi", str(version))
        check_schema(into, version)
    into = export(model, "a b % é")
    s = Slave(into)
    assert "bodies.'Räd 1'.position.x" in s.references and "bodies.'it\\'s \\\\ odd'.position.y" in s.references, s.references
    s.free()
    coded = into.replace("%", "%25").replace(" ", "%20").replace("é", "%c3%A9")
    for place, good in (("file://" + coded + "/resources", True), ("file://" + coded + "/resources/", True), ("file:" + coded + "/resources", True),
                        ("file://localhost" + coded + "/resources", True), (into + "/resources", True), ("file://other/x", False), ("http://a/b", False),
                        ("", False), ("file:///nowhere", False)):
        c = ctypes.c_void_p(s.dll.fmi2Instantiate(b"x", 1, xml.parse(os.path.join(into, "modelDescription.xml")).getroot().get("guid").encode(),
                                                  place.encode(), ctypes.byref(s.callbacks), 0, 0))
        assert bool(c) == good, place
        s.dll.fmi2FreeInstance(c)


def check_memory():
    """Inside an FMU memory fails in turn: statuses, no leaks, and where all went well the same numbers."""
    for model, versions in (("examples/fmu/plant.yaml", (2, 3)), ("examples/machines/four-bar/model.yaml", (2,))):
        model = os.path.join(source, model)
        for version in versions:
            into = export(model, "memory", "--fmi", str(version))
            root = xml.parse(os.path.join(into, "modelDescription.xml")).getroot()
            variables = list(root.iter("ScalarVariable") if version == 2 else root.find("ModelVariables"))
            references = [[v.get("valueReference") for v in variables if v.get("causality") == kind] for kind in ("input", "output")]
            token = root.get("guid" if version == 2 else "instantiationToken")
            place = ("file://" + into + "/resources") if version == 2 else into + "/resources/"
            done = subprocess.run([sys.argv[3], str(version), place, token, *references[0], "/", *references[1][:30]], capture_output=True, text=True)
            assert done.returncode == 0, (model, version, done.returncode, done.stdout, done.stderr[-2000:])
            print(f"{os.path.relpath(model, source)}, FMI {version}.0: {done.stdout.strip()}")


def check_refusals():
    model = os.path.join(source, "examples/machines/pendulum/model.yaml")
    for arguments, words in [([model], "-o FILE.fmu"), ([model, "-o", "x.zip"], "-o FILE.fmu"), (["-o", "x.fmu"], "Which model file"),
                             ([model, "-o", "x.fmu", "--fmi", "1"], "neither `2` nor `3`"), ([model, "-o", "x.fmu", "--inputs", "a,,b"], "empty name"),
                             ([model, "-o", "x.fmu", "--inputs", "blocks.push"], "There is no input `blocks.push`"),
                             ([model, "-o", "x.fmu", "--tunable", "parameters.g"], "There is no parameter"),
                             ([model, "-o", "x.fmu", "--wheels", "4"], "Unknown option"),
                             ([model, "-o", "x.fmu", "--set", "simulate.step=-1"], "error:")]:
        done = alphastep("fmu", *arguments, status=2)
        assert words in done.stderr, (arguments, done.stderr)
        assert not os.path.exists(os.path.join(folder, "x.fmu"))
    alphastep("fmu", model, "-o", "no/such/folder/x.fmu", status=4)
    # A disk that is full after 200 kB: the reason is that of the write that failed.
    done = subprocess.run([command, "fmu", model, "-o", "x.fmu"], capture_output=True, text=True, cwd=folder, restore_signals=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000)))
    assert done.returncode == 4 and "x.fmu cannot be written: File too large" in done.stderr, (done.returncode, done.stderr)
    assert [name for name in os.listdir(folder) if name.startswith("x.fmu")] == []
    told = json.loads(alphastep("fmu", model, "-o", "x.fmu", "--json").stdout)
    assert told["fmi"] == 2 and told["outputs"] > 0, told


def main():
    # An FMU ends steps on communication points, a run adds steps up: they differ by round-off, as its LU does from LAPACK's, and differences
    # grow over hundreds of steps, most in reactions and stresses. test_fmu_export has the same steps, and the same bits.
    compare("examples/machines/pendulum/model.yaml", 1e-12)
    compare("examples/machines/four-bar/model.yaml", 1e-10)
    compare("examples/machines/chain/model.yaml", 1e-9, "parameters.n=10", "simulate.t_end=0.2")
    compare("examples/machines/flexible-slider-crank/model.yaml", 1e-7, "simulate.t_end=0.01")
    compare("examples/machines/flexible-satellite/model.yaml", 1e-7, "simulate.t_end=0.1")
    compare("examples/machines/landing-gear/model.yaml", 1e-7, "simulate.t_end=0.1")
    compare("examples/car/lane_change.yaml", 1e-3, "simulate.t_end=0.05")  # from rest, which is found up to a tolerance
    into = export(os.path.join(source, "examples/machines/pendulum/model.yaml"), "pendulum")
    check_binary(into)
    first = open(into + ".fmu", "rb").read()
    export(os.path.join(source, "examples/machines/pendulum/model.yaml"), "pendulum")
    assert open(into + ".fmu", "rb").read() == first  # the same bytes
    check_processes(into)
    check_example()
    check_derivatives()
    check_memory()
    check_names()
    check_refusals()


if __name__ == "__main__":
    try:
        save_for_another(sys.argv[5]) if sys.argv[4:5] == ["save"] else main()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

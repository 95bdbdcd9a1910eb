#!/usr/bin/env python3
"""results.h5 as others see it (h5py, h5dump), runs that are killed and resumed, and `alphastep export`.

usage: results_file.py COMMAND [KILLS]
"""

import csv
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

COMMAND = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
PATIENCE = 600  # s; for something that takes a second, on a machine that has other things to do

MODEL = """alphastep: 1
title: Two bodies
gravity: [0, 0, -9.81]
parameters: {m: 1}
bodies:
  'bob, "heavy" é': {mass: m, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}
  bead: {type: point, mass: 0.5, position: [0, 0, 1], velocity: [0.3, 0.1, 0]}
joints:
  pivot: {type: revolute, bodies: [ground, 'bob, "heavy" é'], point: [0, 0, 0], axis: [0, 1, 0]}
forces:
  string: {type: spring, bodies: [ground, bead], point: [0, 0, 2], second_point: [0, 0, 1], stiffness: 20, damping: 0.1}
include: more.yaml
"""
MORE = """alphastep: 1
simulate: {t_end: 1, step: 1.0e-3}
output: {interval: 0.01}
"""
# Long enough to be killed: some seconds.
LONG = ["--set", "simulate.t_end=30", "--set", "simulate.step=5.0e-4", "--set", "output.interval=0.005"]

failures = []


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word) for word in words))


def run(*arguments, **options):
    return subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE, check=False, **options)


def expect(status, words, *arguments, **options):
    """Runs the command; it must end with this status and say these words on stderr (None: nothing)."""
    result = run(*arguments, **options)
    check(result.returncode == status, arguments, "exit status", result.returncode, "not", status, result.stderr)
    if words is None:
        check(result.stderr == "", arguments, "stderr:", result.stderr)
    else:
        check(words in result.stderr and len(result.stderr.splitlines()) == 1, arguments, "stderr:", result.stderr)
    return result


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def table(text):
    """Names with units, and columns."""
    lines = list(csv.reader(text.splitlines()))
    return lines[0], numpy.array([[float(x) for x in line] for line in lines[1:]]).T


def datasets(path):
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, thing: found.__setitem__(name, thing[()]) if isinstance(thing, h5py.Dataset) else None)
    return found


def same(one, two):
    return one.keys() == two.keys() and all(numpy.array_equal(one[name], two[name]) for name in one)


def text_of(value):
    return value.decode() if isinstance(value, bytes) else value


def channel(file, name):
    """Column of a channel, and its unit: the last part of its name is a column."""
    parts = name.split(".")
    data = file["/".join(parts)] if "/".join(parts) in file else file["/".join(parts[:-1])]
    unit = text_of(data.attrs["unit"])
    if data.ndim == 1:
        return data[:], unit
    columns = [text_of(column) for column in numpy.atleast_1d(data.attrs["columns"])]
    return data[:, columns.index(parts[-1])], unit


def test_layout():
    expect(0, None, "run", "model.yaml", "-o", "out", "--set", "parameters.m=1.5", "-q")
    names, columns = table(read("out/results.csv"))
    with h5py.File("out/results.h5", "r") as file:
        check(numpy.array_equal(file["time"][:], columns[0]), "times differ")
        check(text_of(file["time"].attrs["unit"]) == "s", "time has no unit")
        for name, column in zip(names[1:], columns[1:]):
            name, unit = name[:-1].split(" [")
            values, stored = channel(file, name)
            check(numpy.array_equal(values, column), name, "differs from the table")
            check(stored == unit, name, stored, unit)
        position = file['bodies/bob, "heavy" é/position']
        check(position.compression == "gzip" and position.shuffle and position.chunks[1] == 3, position.compression)
        check(position.shape == (101, 3) and position.maxshape == (None, 3), position.shape)
        check(text_of(position.attrs["frame"]) == "world", position.attrs["frame"])
        check(text_of(file["joints/pivot/angle"].attrs["frame"]) == "first frame of the joint", "frame of an angle")
        check("quaternion" not in file["bodies/bead"], "a point mass has a quaternion")
        check(text_of(file.attrs["title"]) == "Two bodies", file.attrs["title"])
        check(text_of(file.attrs["version"]) in run("--version").stdout, file.attrs["version"])
        check(text_of(file["texts/model"][()]) == MODEL and text_of(file["texts/include 1"][()]) == MORE, "model text")
        check(text_of(file["texts/setting 1"][()]) == "parameters.m=1.5", "settings")
        check(json.loads(text_of(file["texts/options"][()]))["step"] == 1e-3, "options")
    # Poses are there whatever is chosen.
    expect(0, None, "run", "model.yaml", "-o", "few", "--set", "output.channels=[joints.pivot.force.z]", "-q")
    found, few = datasets("out/results.h5"), datasets("few/results.h5")
    for name in ('bodies/bob, "heavy" é/position', 'bodies/bob, "heavy" é/quaternion', "bodies/bead/position"):
        check(few[name].shape[0] == 101 and name in found, name)
    check(few["joints/pivot/force"].shape == (101, 1) and "energy/kinetic" not in few, few.keys())
    check(few["joints/pivot/force"].shape == (101, 1), few["joints/pivot/force"].shape)


def test_by_name():
    """Components with other letters, and quantities that have none."""
    chosen = "[bodies.bob*.euler_angles, bodies.bob*.roll_pitch_yaw, bodies.*.velocity_magnitude, bodies.bob*.angular_velocity_in_world]"
    expect(0, None, "run", "model.yaml", "-o", "named", "--set", f"output.channels={chosen}", "-q")
    names, columns = table(read("named/results.csv"))
    check(len(names) == 1 + 3 + 3 + 2 + 3, names)
    with h5py.File("named/results.h5", "r") as file:
        for name, column in zip(names[1:], columns[1:]):
            values, stored = channel(file, name[:-1].split(" [")[0])
            check(numpy.array_equal(values, column), name, "differs from the table")
            check(f"[{stored}]" in name, name, stored)
        bob = file['bodies/bob, "heavy" é']
        check([text_of(c) for c in bob["euler_angles"].attrs["columns"]] == ["1", "2", "3"], "columns of Euler angles")
        check(text_of(bob["roll_pitch_yaw"].attrs["frame"]) == "body to world", "frame of angles")
        check(text_of(bob["angular_velocity_in_world"].attrs["frame"]) == "world", "frame of a velocity in world axes")
    # Where angles jump by a turn their errors do not: in one run before the row, in the other behind it.
    write("spin.yaml", """alphastep: 1
bodies: {top: {mass: 1, inertia: [1, 2, 2.5], angular_velocity: [1, 2, 12], rotation: {axis: [1, 0, 0], angle_deg: 60}}}
simulate: {t_end: 4, step: 0.05}
output: {interval: 0.002, channels: [bodies.top.euler_angles]}
""")
    expect(0, None, "run", "spin.yaml", "-o", "spin", "--accuracy", "-q")
    _, columns = table(read("spin/results.csv"))
    check(max(map(abs, columns[3])) > 3, "the spin does not come to half a turn")
    for one in json.loads(read("spin/summary.json"))["accuracy"]["channels"]:
        check(one["error"] < 1, one)


def dump(path):
    return subprocess.run(["h5dump", path], capture_output=True, text=True, check=False)


def test_many():
    bodies = "".join(f"  p{i}: {{type: point, mass: 1, position: [{i}, 0, 0], velocity: [0, {i}, 0]}}\n" for i in range(1001))
    text = "alphastep: 1\nbodies:\n" + bodies + "simulate: {t_end: 1, step: 0.1}\noutput: {interval: 0.1}\n"
    expect(0, None, "run", write("many.yaml", text), "-o", "many", "-q")
    with h5py.File("many/results.h5", "r") as file:
        check(file["bodies/position"].shape == (11, 1001, 3), file["bodies/position"].shape)
        check([text_of(name) for name in file["bodies/names"][:]] == [f"p{i}" for i in range(1001)], "names")
        check(abs(file["bodies/position"][10, 7, 1] - 7) < 1e-12, file["bodies/position"][10, 7])
        check("energy/kinetic" in file, list(file))
    result = expect(0, None, "export", "many", "--channels", "bodies.p7.position.y", "--times", "1:")
    check(result.stdout == "time [s],bodies.p7.position.y [m]\n" + f"1,{7:.17g}\n"
          or abs(float(result.stdout.splitlines()[1].split(",")[1]) - 7) < 1e-12, result.stdout)


def start(folder, *arguments):
    return subprocess.Popen([COMMAND, "run", *arguments, "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            stdin=subprocess.DEVNULL)


def look_at_rest(folder, whole, columns):
    """After a kill: results.h5 is whole, the table has whole rows and the right ones."""
    if not os.path.exists(folder + "/results.h5"):
        return 0
    result = dump(folder + "/results.h5")
    check(result.returncode == 0 and result.stderr == "", "h5dump:", result.returncode, result.stderr)
    found = datasets(folder + "/results.h5")
    rows = found["time"].shape[0]
    for name, values in found.items():
        if not name.startswith("texts/"):
            check(numpy.array_equal(values, whole[name][:rows]), name, "is wrong after a kill")
    text = read(folder + "/results.csv")
    lines = text[: text.rfind("\n") + 1]
    check(columns.startswith(lines), "the table is wrong after a kill")
    return rows


def test_kill():
    random.seed(2)
    began = time.monotonic()
    expect(0, None, "run", "model.yaml", "-o", "whole", "-q", *LONG)
    seconds = time.monotonic() - began
    whole, columns = datasets("whole/results.h5"), read("whole/results.csv")
    process = start("killed", "model.yaml", "-o", "killed", *LONG)
    resumed = with_rows = 0
    for _ in range(KILLS):
        time.sleep(random.uniform(0.0, 0.8 * seconds))
        process.send_signal(signal.SIGKILL if random.random() < 0.8 else signal.SIGINT)
        process.wait(timeout=PATIENCE)
        with_rows += look_at_rest("killed", whole, columns) > 0
        if process.returncode == 0 or not os.path.exists("killed/state.bin"):
            shutil.rmtree("killed", ignore_errors=True)
            process = start("killed", "model.yaml", "-o", "killed", *LONG)
        else:
            resumed += 1
            process = start("killed", "--resume", "killed")
    check(process.wait(timeout=PATIENCE) == 0, "resume: exit status", process.returncode)
    check(same(datasets("killed/results.h5"), whole), "resumed results.h5 differs")
    check(read("killed/results.csv") == columns, "the resumed table differs")
    check(sorted(os.listdir("killed")) == sorted(os.listdir("whole")), os.listdir("killed"))
    summary = json.loads(read("killed/summary.json"))
    expected = json.loads(read("whole/summary.json"))
    summary.pop("digest"), expected.pop("digest"), summary.pop("seconds"), expected.pop("seconds"), summary.pop("resumed_at", None)
    check(summary == expected, "the resumed summary differs", summary, expected)
    print(f"  {KILLS} kills, {with_rows} with rows, {resumed} resumed", flush=True)
    return resumed


def test_interrupt():
    """Ctrl-C, then the rest: also with automatic steps."""
    settings = ["--set", "simulate={t_end: 100, tol: {rtol: 6.5e-5, atol: 4.0e-6}}", "--set", "output.interval=0.1"]
    expect(0, None, "run", "model.yaml", "-o", "calm", "-q", *settings)
    process = start("calm", "model.yaml", "-o", "broken", *settings)
    end = time.monotonic() + PATIENCE
    while not (os.path.exists("broken/results.csv") and "\n" in read("broken/results.csv")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=PATIENCE)
    check(process.returncode in (0, 130), "interrupted: exit status", process.returncode)
    if process.returncode == 130 and os.path.exists("broken/state.bin"):
        expect(0, None, "run", "--resume", "broken", "-q")
    check(read("broken/results.csv") == read("calm/results.csv"), "the table differs")
    check(same(datasets("broken/results.h5"), datasets("calm/results.h5")), "results.h5 differs")


def test_extend():
    automatic = "simulate={t_end: %s, tol: {rtol: 1.4e-3, atol: 1.0e-6}}"
    for name, short, long in (("auto", automatic % 0.7, automatic % 2), ("step", "simulate.t_end=1", "simulate.t_end=2")):
        expect(0, None, "run", "model.yaml", "-o", name + "-long", "-q", "--set", long)
        expect(0, None, "run", "model.yaml", "-o", name, "-q", "--set", short)
        expect(0, None, "run", "--resume", name, "--set", "simulate.t_end=2", "-q")
        check(read(name + "/results.csv") == read(name + "-long/results.csv"), name, "the extended table differs")
        one, two = datasets(name + "/results.h5"), datasets(name + "-long/results.h5")
        for part in set(one) - {"texts/options", "texts/setting 1"}:
            check(numpy.array_equal(one[part], two[part]), name, part, "differs")
        rows = read(name + "/results.csv")
        expect(0, None, "run", "--resume", name, "--set", "simulate.t_end=2", "-q")  # there is nothing left to do
        check(read(name + "/results.csv") == rows, name, "the table has changed")


def test_refused():
    expect(0, None, "run", "model.yaml", "-o", "base", "-q")
    table_then, results_then = read("base/results.csv"), datasets("base/results.h5")

    def refused(status, words, *arguments):
        expect(status, words, "run", "--resume", *arguments)
        check(read("base/results.csv") == table_then and same(datasets("base/results.h5"), results_then),
              arguments, "was refused and has changed something")

    refused(4, "nowhere/results.h5 cannot be read: No such file", "nowhere")
    refused(2, "leave `-o` and `--force` away", "base", "-o", "other")
    refused(2, "leave `-o` and `--force` away", "base", "--force")
    refused(2, "only `simulate.t_end` and", "base", "--set", "parameters.m=2")
    refused(2, "is at t = 1 s already, behind t_end = 0.5 s", "base", "--set", "simulate.t_end=0.5")
    write("other.yaml", MODEL.replace("mass: 0.5", "mass: 0.6"))
    refused(2, "`other.yaml` is not what it was", "base", "other.yaml")
    write("more.yaml", MORE.replace("0.01", "0.02"))
    refused(2, "`more.yaml` is not what it was", "base")
    write("more.yaml", MORE)
    os.rename("model.yaml", "moved.yaml")
    refused(4, "its model file `model.yaml` is not there; say where it is with `alphastep run --resume base MODEL`", "base")
    os.rename("moved.yaml", "model.yaml")
    shutil.copytree("base", "bad")
    os.remove("bad/state.bin")
    refused(4, "bad/state.bin cannot be used: No such file", "bad")
    with open("base/state.bin", "rb") as file:
        state = bytearray(file.read())
    for at in (3, 20, 30, 50, len(state) - 1):
        changed = bytearray(state)
        changed[at] ^= 4
        with open("bad/state.bin", "wb") as file:
            file.write(changed)
        refused(4, "bad/state.bin cannot be used: ", "bad")
    expect(0, None, "run", "model.yaml", "-o", "heavy", "-q", "--set", "parameters.m=7")
    shutil.copy("heavy/state.bin", "bad/state.bin")
    refused(4, "the model or its settings differed", "bad")
    shutil.copy("base/state.bin", "bad/state.bin")
    write("bad/results.csv", "\n".join(table_then.splitlines()[:50]) + "\n")
    refused(4, "bad/results.csv is damaged or of another run", "bad")
    write("bad/results.csv", table_then.replace("1", "7", 1))
    refused(4, "bad/results.csv is damaged or of another run", "bad")
    write("bad/results.csv", table_then)
    write("bad/results.h5", "nonsense")
    refused(4, "bad/results.h5 cannot be read: it is damaged, or no HDF5 file", "bad")
    with h5py.File("bad/results.h5", "w") as file:
        file["time"] = [1.0, 2.0]
    refused(4, "it is an HDF5 file, but not of alphastep", "bad")
    with h5py.File("base/results.h5", "r") as good, h5py.File("bad/results.h5", "w") as file:
        for name in good:
            good.copy(name, file)
        for name, value in good.attrs.items():
            file.attrs.create(name, value, dtype=good.attrs.get_id(name).dtype)
        file["joints/pivot/angle"].resize((7,))
    refused(4, "it is damaged: datasets differ in length", "bad")
    for row, time_then in ((0, numpy.nan), (5, numpy.inf), (9, 0.0)):
        shutil.copy("base/results.h5", "bad/results.h5")
        with h5py.File("bad/results.h5", "r+") as file:
            file["time"][row] = time_then
        words = f"bad/results.h5 cannot be read: it is damaged: the time of row {row}, "
        refused(4, words, "bad")
        expect(4, words, "export", "bad")
        expect(4, words, "report", "bad")
    with open("base/results.h5", "rb") as file:
        good = file.read()
    chunk = h5py.File("base/results.h5", "r")["bodies/bead/position"].id.get_chunk_info(0)
    for cut in (0, 32):  # with and without a digest of the whole
        bad = bytearray(good[:len(good) - cut])
        bad[chunk.byte_offset + chunk.size // 2] ^= 16
        with open("bad/results.h5", "wb") as file:
            file.write(bad)
        for command in (("run", "--resume", "bad"), ("export", "bad"), ("report", "bad")):
            expect(4, "bad/results.h5 cannot be read: it is damaged: ", *command)


def test_strange():
    """Recordings that say more than they have, or lead to other files, are refused."""
    expect(0, None, "run", "model.yaml", "-o", "plain", "-q", "--no-report")

    def replace(file, name, **how):
        kept = {key: file[name].attrs.get_id(key) for key in file[name].attrs}
        kept = {key: (file[name].attrs[key], item.dtype) for key, item in kept.items()}
        del file[name]
        made = file.create_dataset(name, dtype="f8", **how)
        for key, (value, kind) in kept.items():
            made.attrs.create(key, value, dtype=kind)

    def many_versions(file):
        file.attrs["format_version"] = numpy.ones(5000, "i4")

    def linked(file, link=h5py.ExternalLink("other.h5", "/large")):
        file["large"] = numpy.ones(100000)  # what `other` has here is small
        del file["energy/kinetic"]
        file["energy/kinetic"] = link
        with h5py.File("strange/other.h5", "w") as other:
            other["large"] = numpy.zeros(101)
            other["large"].attrs.create("unit", b"J", dtype="S2")

    def linked_time(file):
        file.move("time", "other time")
        file["time"] = h5py.SoftLink("/other time")

    def linked_group(file):
        file.move("energy", "other energy")
        file["energy"] = h5py.SoftLink("/other energy")

    def elsewhere(file):
        replace(file, "energy/kinetic", shape=(101,), external=[(os.path.abspath("plain/results.csv"), 0, 808)])

    def virtual(file):
        layout = h5py.VirtualLayout(shape=(101,), dtype="f8")
        layout[:] = h5py.VirtualSource("plain/results.h5", "time", shape=(101,))
        del file["energy/kinetic"]
        file.create_virtual_dataset("energy/kinetic", layout)

    def long(file):
        names = []
        file.visititems(lambda name, thing: names.append(name) if isinstance(thing, h5py.Dataset) else None)
        for name in names:
            if not name.startswith("texts"):
                rest = file[name].shape[1:]
                replace(file, name, shape=(1 << 31, *rest), chunks=(256, *rest))

    for change, words in ((many_versions, "its format is 0"), (linked, "it is damaged"), (linked_time, "there is no time"),
                          (linked_group, "it is damaged"), (elsewhere, "not one of alphastep's"),
                          (virtual, "not one of alphastep's"), (long, "a size that cannot be")):
        shutil.rmtree("strange", ignore_errors=True)
        shutil.copytree("plain", "strange")
        with h5py.File("strange/results.h5", "r+") as file:
            change(file)
        result = expect(4, words, "export", "strange")
        check(result.stdout == "", change, "was exported")


def test_damaged():
    """Bytes that are changed are noticed, or harmless; HDF5 does not crash on them."""
    write("small.yaml", "alphastep: 1\nbodies: {p: {type: point, mass: 1, position: [1, 0, 0]}}\nsimulate: {t_end: 1}\n"
          "output: {times: [0, 0.5], channels: [energy.kinetic]}\n")
    expect(0, None, "run", "small.yaml", "-o", "damaged", "-q", "--no-report")
    with open("damaged/results.h5", "rb") as file:
        good = file.read()
    before = run("export", "damaged").stdout
    dice = random.Random(1)
    forgetful = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")  # HDF5 is, then
    for turn in range(100):
        bad = bytearray(good)
        for _ in range(dice.choice((1, 2, 8))):
            bad[dice.randrange(len(bad))] = dice.choice((0, 1, 128, 255, dice.randrange(256)))
        with open("damaged/results.h5", "wb") as file:
            file.write(bad)
        result = run("export", "damaged", env=forgetful)
        check(result.returncode in (0, 4), "turn", turn, "exit status", result.returncode, result.stderr)
        check(result.returncode == 4 or result.stdout == before, "turn", turn, "damage was not noticed")


def test_damaged_summary():
    """Any byte of a summary that is changed is noticed by the report; one that is no run's, without a digest, is not refused for that."""
    expect(0, None, "run", "small.yaml", "-o", "damaged", "-q", "--no-report", "--force")
    whole = read("damaged/summary.json").encode()
    dice = random.Random(1)
    for place in [0, len(whole) - 1] + [dice.randrange(len(whole)) for _ in range(30)]:
        bad = bytearray(whole)
        bad[place] ^= 1 << dice.randrange(7)
        with open("damaged/summary.json", "wb") as file:
            file.write(bad)
        expect(4, "summary.json cannot be read: it is", "report", "damaged", "--plain")
    text = json.loads(whole)
    del text["digest"]
    write("damaged/summary.json", json.dumps(text))
    expect(0, None, "report", "damaged", "--plain")


def test_tables():
    """A table in a file of its own has to be what it was."""
    write("road.csv", "0,0\n10,1\n")
    write("road.yaml", "alphastep: 1\ntables: {road: {file: road.csv}}\n"
          "bodies: {p: {type: point, mass: 1, position: [1, 0, 0]}}\n"
          "forces: {f: {type: load, body: p, force: [road(t), 0, 0]}}\nsimulate: {t_end: 1, step: 0.01}\n")
    expect(0, None, "run", "road.yaml", "-o", "road", "-q", "--no-report")
    write("road.csv", "0,0\n10,2\n")
    expect(2, "`road.csv` is not what it was", "run", "--resume", "road", "--set", "simulate.t_end=2")
    write("road.csv", "# the same numbers\n0,0\n10,1\n")
    expect(2, "`road.csv` is not what it was", "run", "--resume", "road", "--set", "simulate.t_end=2")
    write("road.csv", "0,0\n10,1\n")
    expect(2, "With t_end = 1e+12 s the saved run would give more than 1e9 rows", "run", "--resume", "road", "--set", "simulate.t_end=1e12")
    expect(0, None, "run", "--resume", "road", "--set", "simulate.t_end=2", "-q")


def test_encodings():
    """Files are compared byte for byte, whatever their encoding; meshes, too."""
    write("part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    text = ("alphastep: 1\nbodies: {p: {type: point, mass: 1, position: [1, 0, 0]}}\n"
            "shapes: [{type: mesh, file: part.obj}]\nsimulate: {t_end: 1, step: 0.01}\n# Maße 𝛼\n")
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        mark = "" if encoding == "utf-8" else "\ufeff"
        for words in (text, text.replace("mass: 1", "mass: 2")):
            with open("wide.yaml", "wb") as file:
                file.write((mark + words).encode(encoding))
            if words == text:
                expect(0, None, "run", "wide.yaml", "-o", "wide", "-q", "--no-report", "--force")
                kept = h5py.File("wide/results.h5", "r")["texts/model"][()].decode()
                check(kept == text, encoding, "the model file is kept as", kept[:80])
        expect(2, "`wide.yaml` is not what it was", "run", "--resume", "wide", "--set", "simulate.t_end=2")
    with open("wide.yaml", "wb") as file:
        file.write(("\ufeff" + text).encode("utf-16-be"))
    write("part.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n")
    expect(2, "`part.obj` is not what it was", "run", "--resume", "wide", "--set", "simulate.t_end=2")
    write("part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    expect(0, None, "run", "--resume", "wide", "--set", "simulate.t_end=2", "-q")


def test_full():
    """A results.h5 that cannot grow stays what it was at the last flush."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600000, 600000))  # noqa: E731
    result = run("run", "model.yaml", "-o", "small", "-q", "--set", "simulate.t_end=8",
                 "--set", "output={interval: 5.0e-4, channels: [energy.kinetic]}", preexec_fn=limit)
    told = result.stderr.splitlines()
    check(result.returncode == 4 and told[0].endswith("small/results.h5 cannot be written: File too large."), result)
    # A slow machine has flushed before the file is full, and then the command says where that is.
    check(told[1:] in ([], ["alphastep: What was computed up to there is in `small`."]), told)
    check(dump("small/results.h5").returncode == 0, "h5dump cannot read a file that could not grow")
    check(sorted(os.listdir("small")) == ["results.csv", "results.h5", "summary.json"]
          or sorted(os.listdir("small")) == ["results.csv", "results.h5", "state.bin", "summary.json"], os.listdir("small"))


def test_no_room():
    """A run whose results.h5 cannot be made does not look as if it were running."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))  # noqa: E731
    result = expect(4, "none/results.h5 cannot be written: File too large", "run", "model.yaml", "-o", "none", "-q", "--json",
                    preexec_fn=limit)
    told, kept = json.loads(result.stdout), json.loads(read("none/summary.json"))
    check("File too large" in told["errors"][0]["message"] and kept["status"] == "failed", told, kept)
    check("File too large" in kept["message"], kept)


def test_refused_json():
    """What is refused is told as JSON, too."""
    for arguments in (["--resume", "nowhere"], ["model.yaml", "-o", "out"], ["--resume", "out", "--set", "parameters.m=2"],
                      ["--resume", "out", "--set", "simulate.t_end=0.5"]):
        result = run("run", *arguments, "--json")
        told = json.loads(result.stdout)
        check(told["status"] == "refused" and "alphastep: " + told["errors"][0]["message"] + "\n" == result.stderr,
              arguments, told, result.stderr)


def read_mat(path):
    """Matrices of a MAT file of version 4."""
    found = {}
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        kind, rows, columns, imaginary, length = struct.unpack_from("<5i", data, at)
        at += 20
        name = data[at : at + length - 1].decode("ascii")
        at += length
        check(kind in (0, 51) and imaginary == 0 and data[at - 1] == 0, name, kind, imaginary)
        item = 8 if kind == 0 else 1
        values = numpy.frombuffer(data, "<f8" if kind == 0 else "u1", rows * columns, at).reshape((rows, columns), order="F")
        at += item * rows * columns
        check(name not in found, name, "is there twice")
        found[name] = values if kind == 0 else [bytes(line).decode().rstrip() for line in values]
    return found


def test_export():
    names, columns = table(read("out/results.csv"))
    angle = columns[names.index("joints.pivot.angle [rad]")]
    result = expect(0, None, "export", "out", "--channels", "joints.pivot.angle", "--times", "0.2:0.5")
    head, rows = table(result.stdout)
    check(head == ["time [s]", "joints.pivot.angle [rad]"] and len(rows[0]) == 31, head, len(rows[0]))
    check(numpy.array_equal(rows[1], angle[20:51]), "exported angles differ")
    result = expect(0, None, "export", "out", "--channels", "energy", "--times=:1:0.25", "-o", "energy.csv")
    head, rows = table(read("energy.csv"))
    check(result.stdout == "" and list(rows[0]) == [0, 0.25, 0.5, 0.75, 1] and len(head) == 6, head, rows[0])
    for span, expected in (("::0.5", columns[0][::50]), (":", columns[0]), ("0.25::0.5", columns[0][25::50]), ("::1e9", [0]),
                           (":0.02", [0, 0.01, 0.02])):
        head, rows = table(expect(0, None, "export", "out", "--channels", "energy.kinetic", "--times", span).stdout)
        check(numpy.array_equal(rows[0], expected), span, rows[0])
    for span in ("", "1", "::", "::0", "::-1", "::nan", "::inf", "2:1", "2:1:0.1", "nan:1", "0:1:0.1:", "0:1 ", "a:b", "0:1:x"):
        expect(2, "`--times", "export", "out", "--times", span)
    head, rows = table(expect(0, None, "export", "out").stdout)
    check(sorted(head) == sorted(names) and numpy.array_equal(rows[head.index(names[5])], columns[5]), head)
    expect(0, None, "export", "out", "--format", "mat", "-o", "out.mat")
    mat = read_mat("out.mat")
    check(numpy.array_equal(mat["time"][:, 0], columns[0]), "time in the MAT file differs")
    check(numpy.array_equal(mat["joints_pivot_angle"][:, 0], angle), "angles in the MAT file differ")
    check("joints_pivot_angle = joints.pivot.angle [rad]" in mat["channels"], mat["channels"])
    check(len(mat) == len(names) + 1 and all(name.isidentifier() and len(name) < 64 for name in mat), mat.keys())
    for line in mat["channels"]:
        name, title = line.split(" = ")
        check(numpy.array_equal(mat[name][:, 0], columns[names.index(title)]), name, "differs from", title)


def test_export_names():
    """Names that MATLAB would not take, or could not tell apart."""
    text = "alphastep: 1\nbodies:\n"
    names = ["a b", "a-b", "a_b", "é", "ü", "x" * 80 + "1", "x" * 80 + "2"]
    text += "".join(f"  '{name}': {{type: point, mass: {i + 1}, position: [{i}, 0, 0]}}\n" for i, name in enumerate(names))
    write("names.yaml", text + "simulate: {t_end: 1, step: 0.1}\noutput: {times: [0, 1]}\n")
    expect(0, None, "run", "names.yaml", "-o", "names", "-q")
    expect(0, None, "export", "names", "--channels", "bodies.*.position.x", "--format=mat", "-o", "names.mat")
    mat = read_mat("names.mat")
    check(len(mat) == len(names) + 2 and all(name.isidentifier() and len(name) < 64 for name in mat), mat.keys())
    for line in mat["channels"]:
        name, title = line.split(" = ", 1)
        i = names.index(title[len("bodies."):-len(".position.x [m]")])
        check(numpy.array_equal(mat[name], [[i], [i]]), name, title, mat[name])


def test_export_numbers():
    """A number that tells names apart may make another name."""
    frames = ["b c", "b-c", "b_c_2", "b_c_3"]
    write("numbers.yaml", "alphastep: 1\nbodies: {p: {type: point, mass: 1, position: [1, 0, 0]}}\n"
          "frames: {a: {body: ground}, " + ", ".join(f"'{name}': {{body: p}}" for name in frames) + "}\n"
          "simulate: {t_end: 1, step: 0.1}\noutput: {times: [0, 1], channels: [frames.a.distance.*]}\n")
    expect(0, None, "run", "numbers.yaml", "-o", "numbers", "-q", "--no-report")
    expect(0, None, "export", "numbers", "--channels", "frames", "--format=mat", "-o", "numbers.mat")
    mat = read_mat("numbers.mat")
    check(len(mat) == len(frames) + 2, mat.keys())


def test_export_refused():
    expect(2, "Which folder", "export")
    expect(2, "One folder", "export", "out", "out")
    expect(2, "Unknown option `--nonsense`", "export", "out", "--nonsense")
    expect(2, "did you mean `joints.pivot.angle`?", "export", "out", "--channels", "joints.pivot.angel")
    for times in ("1", "2:1", "a:b", "0:1:0", "0:1:x", "0:1:0.1:2"):
        expect(2, f"`--times {times}` is not like", "export", "out", "--times", times)
    expect(2, "`--format xls` is not like", "export", "out", "--format", "xls")
    expect(2, "`-o` needs", "export", "out", "-o")
    expect(4, "nowhere/results.h5 cannot be read: No such file", "export", "nowhere")
    before = read("out/results.csv")
    expect(2, "belongs to the run in `out`", "export", "out", "-o", "out/../out/results.csv")
    check(read("out/results.csv") == before, "export has written over results.csv")
    expect(4, "nowhere/out.csv", "export", "out", "-o", "nowhere/out.csv")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write("model.yaml", MODEL)
        write("more.yaml", MORE)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                before = len(failures)
                try:
                    test()
                except (OSError, ValueError, KeyError, IndexError, TypeError, subprocess.SubprocessError) as error:
                    check(False, name, repr(error))
                print(name, "ok" if len(failures) == before else "FAILED", flush=True)
        os.chdir("/")
    for failure in failures:
        print("FAILED:", failure[:2000], file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())

#!/usr/bin/env python3
"""FMUs on Windows, by wine: the same results as on Linux to round-off, states that are saved there or here.

windows_fmu.py ALPHASTEP SOURCE_DIR NATIVE_CC MINGW_CC

Skipped (exit status 77) without wine.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile

command, source, native_cc, mingw_cc = sys.argv[1:5]
wine = shutil.which("wine64") or shutil.which("wine")
if wine is None:
    print("there is no wine")
    sys.exit(77)
folder = tempfile.mkdtemp()
STEPS = 40
environment = dict(os.environ, WINEPREFIX=os.path.join(folder, "prefix"), WINEDEBUG="-all", WINEDLLOVERRIDES="mscoree,mshtml=", HOME=folder, LC_ALL="C.UTF-8")
environment.pop("DISPLAY", None)


def build():
    include = ["-I" + os.path.join(source, "src"), "-I" + os.path.join(source, "tests", "fmi")]
    at = os.path.join(source, "tests", "fmi", "windows_importer.c")
    here, there = os.path.join(folder, "importer"), os.path.join(folder, "importer.exe")
    subprocess.run([native_cc, "-O1", "-o", here, at, *include, "-ldl", "-lm"], check=True)
    subprocess.run([mingw_cc, "-O1", "-D__USE_MINGW_ANSI_STDIO=1", "-municode", "-static", "-o", there, at, *include], check=True)
    return [here], [wine, there]


def of_windows(path):
    return "Z:" + path.replace("/", "\\")


def export(model, name, version, options):
    path = os.path.join(folder, "fmu.fmu")
    done = subprocess.run([command, "fmu", model, "-o", path, "--fmi", str(version), *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    into = os.path.join(folder, name)  # names with spaces and beyond ASCII
    with zipfile.ZipFile(path) as z:
        z.extractall(into)
    return into


def describe(into, version):
    root = xml.parse(os.path.join(into, "modelDescription.xml")).getroot()
    token = root.get("guid" if version == 2 else "instantiationToken")
    variables = root.iter("ScalarVariable") if version == 2 else root.find("ModelVariables")
    variables = [(v.get("causality"), v.get("valueReference"), v.get("name")) for v in variables]
    inputs = [r for causality, r, _ in variables if causality == "input"]
    outputs = [(r, name) for causality, r, name in variables if causality == "output"]
    return token, inputs, outputs[:60]


def arguments(into, version, windows, what, state, h):
    token, inputs, outputs = describe(into, version)
    binary = os.path.join(into, "binaries", *(("win64", "fmu.dll") if version == 2 else ("x86_64-windows", "fmu.dll")) if windows else
                          (("linux64", "fmu.so") if version == 2 else ("x86_64-linux", "fmu.so")))
    resources = os.path.join(into, "resources")
    uri = "file://" + ("/Z:" if windows else "") + resources.replace(" ", "%20").replace("é", "%C3%A9")
    native = (of_windows(resources) + "\\") if windows else resources + "/"
    place = of_windows if windows else str
    return [str(version), place(binary), uri if version == 2 else native, token, repr(h), str(STEPS), what, place(state),
            *inputs, "/", *(r for r, _ in outputs)]


def run(program, rest):
    done = subprocess.run([*program, *rest], capture_output=True, text=True, errors="replace", env=environment, timeout=300)
    assert done.returncode == 0, (rest, done.returncode, done.stderr)
    return [[float(x) for x in line.split()] for line in done.stdout.splitlines()]


def compare(a, b, names, near, what):
    """Each output against its largest number."""
    assert len(a) == len(b) and all(len(x) == len(y) for x, y in zip(a, b)), what
    worst = 0.0
    for k, (_, name) in enumerate(names):
        size = max(max(abs(row[k]) for row in a), 1e-6)
        far = max(abs(x[k] - y[k]) for x, y in zip(a, b)) / size
        assert far < near, (what, name, far)
        worst = max(worst, far)
    return worst


def check(programs, model, name, version, h, near, *options):
    into = export(model, name, version, options)
    names = describe(into, version)[2]
    states = [os.path.join(folder, "state." + where) for where in ("linux", "windows")]
    here = run(programs[0], arguments(into, version, False, "write", states[0], h))
    there = run(programs[1], arguments(into, version, True, "write", states[1], h))
    assert len(here) == STEPS and names
    worst = compare(here, there, names, near, name)
    # Half on one system, half on the other.
    on = run(programs[1], arguments(into, version, True, "read", states[0], h))
    worst = max(worst, compare(here[STEPS // 2:], on, names, near, name + ", begun on Linux"))
    print(f"{name}, FMI {version}.0: {len(names)} outputs, {worst:.1e}")


try:
    programs = build()
    machines = os.path.join(source, "examples", "machines")
    check(programs, os.path.join(source, "examples", "fmu", "plant.yaml"), "plant é", 2, 0.01, 1e-12)
    check(programs, os.path.join(source, "examples", "fmu", "plant.yaml"), "plant three é", 3, 0.01, 1e-12)
    for machine, version, h, near in [("pendulum", 2, 0.01, 1e-11), ("chain", 3, 0.005, 1e-9), ("landing-gear", 2, 0.002, 1e-6), ("flexible-satellite", 3, 0.002, 1e-6),
                                      ("gearbox", 2, 0.002, 1e-8), ("fishing-rod", 3, 0.002, 1e-6)]:
        check(programs, os.path.join(machines, machine, "model.yaml"), machine, version, h, near)
    check(programs, os.path.join(source, "examples", "car", "lane_change.yaml"), "car", 2, 0.002, 1e-3)
finally:
    subprocess.run([shutil.which("wineserver") or "true", "-k"], env=environment, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)

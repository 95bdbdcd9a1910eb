#!/usr/bin/env python3
"""FMUs in model files: those of tests/fmi/fmu.c, of both versions of FMI and both kinds, against the same equations as blocks and against
exact values; who may run code; archives, descriptions and libraries that are wrong; runs that are taken up again.

usage: fmus.py COMMAND SOURCE_DIR C_COMPILER
"""

import csv
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

COMMAND, SOURCE, CC = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
PATIENCE = 600  # s; for something that takes a second
HEAD = "alphastep: 1\nbodies: {m: {mass: 1, inertia: [1, 1, 1], position: [0.3, 0, 0]}}\njoints: {rail: {type: prismatic, bodies: [ground, m], point: [0, 0, 0], axis: [1, 0, 0]}}\n"
STATES = {"ball": ["h", "v"], "vdp": ["x0", "x1"]}
failures = []


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word) for word in words))


def run(status, *arguments, env=None):
    """Runs the command; what it says."""
    result = subprocess.run([COMMAND, *arguments], capture_output=True, timeout=PATIENCE, text=True,
                            env={**os.environ, **(env or {})})
    check(result.returncode == status, arguments, "ends with", result.returncode, result.stderr)
    return result.stdout + result.stderr


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# ---- FMUs

def attributes(version, can):
    """Of the element of a kind."""
    state = "canGetAndSetFMUstate" if version == 2 else "canGetAndSetFMUState"
    serial = "canSerializeFMUstate" if version == 2 else "canSerializeFMUState"
    names = {"state": state, "serial": serial, "slopes": "canInterpolateInputs", "once": "canBeInstantiatedOnlyOncePerProcess",
             "tool": "needsExecutionTool", "any": "canHandleVariableCommunicationStepSize",
             "derivatives": "providesDirectionalDerivative" + ("" if version == 2 else "s")}
    return " ".join(f'{names[word]}="true"' for word in can.split())


def variables(version, model):
    """Name, type, reference, causality, more attributes."""
    real = "Real" if version == 2 else "Float64"
    whole = "Integer" if version == 2 else "Int32"
    inputs = {"vdp": ["u"], "relay": ["u"], "control": ["u"], "mass": ["u0", "u1"]}.get(model, [])
    out = [(f"p{i}", real, i, "parameter", {"start": "0"}) for i in range(10)]
    if version == 3 and model == "mass":
        out.append(("u", real, 10, "input", {"start": "0", "size": "2"}))
    else:
        out += [(name, real, 10 + i, "input", {"start": "0", "unit": "N"}) for i, name in enumerate(inputs)]
    for i, name in enumerate(STATES.get(model, [])):
        out.append((name, real, 20 + i, "local", {"unit": "m"}))
    for i, name in enumerate(STATES.get(model, [])):
        out.append((f"der({name})", real, 30 + i, "local", {"of": i}))
    if model != "ball":
        out.append(("y", real, 40, "output", {"unit": "m"}))
    out.append(("whole.number", whole, 50, "parameter", {"start": "0"}))
    out.append(("switch", "Boolean", 51, "parameter", {"start": "false"}))
    out.append(("text", "String", 60, "parameter", {"start": ""}))
    out.append(("length", whole, 61, "output", {}))
    return out


def describe(version, model, kinds="both", can="state serial derivatives slopes", token=None, indicators=None, extra=""):
    """A modelDescription.xml."""
    rows, first = [], None
    for i, (name, kind, reference, causality, more) in enumerate(variables(version, model)):
        if name == STATES.get(model, [None])[0]:
            first = i + 1
        variability = ' variability="fixed"' if causality == "parameter" else "" if kind in ("Real", "Float64") else ' variability="discrete"'
        start = f' start="{more["start"]}"' if "start" in more else ""
        unit = f' unit="{more["unit"]}"' if "unit" in more else ""
        if version == 2:
            of = f' derivative="{first + more["of"]}"' if "of" in more else ""
            rows.append(f'<ScalarVariable name="{name}" valueReference="{reference}" causality="{causality}"{variability}>'
                        f"<{kind}{start}{unit}{of}/></ScalarVariable>")
        elif kind == "String":
            rows.append(f'<String name="{name}" valueReference="{reference}" causality="{causality}"{variability}><Start value=""/></String>')
        else:
            of = f' derivative="{20 + more["of"]}"' if "of" in more else ""
            size = f'<Dimension start="{more["size"]}"/>' if "size" in more else ""
            rows.append(f'<{kind} name="{name}" valueReference="{reference}" causality="{causality}"{variability}{start}{unit}{of}>{size}</{kind}>')
    n = len(STATES.get(model, []))
    if indicators is None:
        indicators = 1 if model in ("ball", "relay") else 0
    exchange = f'<ModelExchange modelIdentifier="test_fmu" {attributes(version, can.replace("slopes", "").replace("any", ""))}/>' if kinds != "cs" else ""
    simulation = f'<CoSimulation modelIdentifier="test_fmu" {attributes(version, can.replace("derivatives", ""))}/>' if kinds != "me" else ""
    if version == 2:
        structure = "<Derivatives>" + "".join(f'<Unknown index="{first + n + i}"/>' for i in range(n)) + "</Derivatives>"
        head = f'fmiVersion="2.0" guid="{token or model}" numberOfEventIndicators="{indicators}"'
    else:
        structure = "".join(f'<ContinuousStateDerivative valueReference="{30 + i}"/>' for i in range(n))
        structure += '<EventIndicator valueReference="20"/>' * indicators
        head = f'fmiVersion="3.0" instantiationToken="{token or model}"'
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription {head} modelName="{model}">{exchange}{simulation}{extra}'
            f'<DefaultExperiment stepSize="0.05"/><ModelVariables>{"".join(rows)}</ModelVariables>'
            f"<ModelStructure>{structure}</ModelStructure></fmiModelDescription>")


def folder_of(version):
    return "binaries/linux64" if version == 2 else "binaries/x86_64-linux"


def make(path, version, xml, library=None, more=()):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if xml is not None:
            archive.writestr("modelDescription.xml", xml)
        with open(library or f"test{version}.so", "rb") as file:
            archive.writestr(f"{folder_of(version)}/test_fmu.so", file.read())
        for name, data in more:
            archive.writestr(name, data)


def fmu(name, version, model, **keys):
    make(name, version, describe(version, model, **keys))
    return name


# ---- runs

def results(text, *options, status=0, env=None):
    """The columns of a run."""
    write("run.yaml", text)
    shutil.rmtree("out", ignore_errors=True)
    said = run(status, "run", "run.yaml", "--allow-fmus", "-o", "out", "--no-report", "--quiet", *options, env=env)
    if status:
        return said
    if not os.path.exists("out/results.csv"):
        sys.exit("\n".join(failures) + text)
    with open("out/results.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return {name.split(" ")[0]: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def off(a, b):
    return max(abs(x - y) for x, y in zip(a, b)) if len(a) == len(b) else math.inf


def check_ball():
    """Exact times and heights; comes to rest."""
    g, e, t = 9.81, 0.8, 0.0
    pieces, v, start = [], 0.0, 1.0  # (from, height, speed)
    pieces.append((0.0, 1.0, 0.0))
    t = math.sqrt(2 / g)
    v = e * g * t
    while v >= 0.01:
        pieces.append((t, 0.0, v))
        t, v = t + 2 * v / g, e * v
    for version in (2, 3):
        fmu("ball.fmu", version, "ball", kinds="me")
        for simulate in ("step: 0.01", "tol: {rtol: 1.0e-6, atol: 1.0e-8}"):
            text = HEAD + f"fmus: {{b: {{file: ball.fmu}}}}\nsimulate: {{t_end: 5, {simulate}}}\noutput: {{interval: 0.05, channels: [blocks.b.h, blocks.b.v]}}\n"
            got = results(text)
            for now, h in zip(got["time"], got["blocks.b.h"]):
                begin, h0, v0 = [p for p in pieces if p[0] <= now][-1]
                exact = 0.0 if now >= t else h0 + v0 * (now - begin) - g / 2 * (now - begin) ** 2
                check(abs(h - exact) < 1e-7, "the ball of FMI", version, simulate, "is at", h, "not", exact, "at", now)
            check(got["blocks.b.v"][-1] == 0.0, "the ball has not come to rest")


VDP = """blocks:
  x0: {type: state, rate: blocks.x1, start: 2}
  x1: {type: state, rate: "1.5*(1 - blocks.x0^2)*blocks.x1 - blocks.x0 + bodies.m.position.x", start: 0}
  y: {type: signal, formula: blocks.x0*blocks.x1 + bodies.m.position.x}
forces: {f: {type: load, body: m, force: ["blocks.y - bodies.m.position.x", 0, 0]}}
"""


def check_vdp():
    """In one system with the machine: as the same blocks, with derivatives given and differenced; second order."""
    tail = "simulate: {t_end: 2, step: %g, newton: {rtol: 1.0e-12}}\noutput: {interval: 0.1, channels: [bodies.m.position.x, blocks]}\n"
    twin = results(HEAD + VDP + tail % 0.01)
    for version in (2, 3):
        for can in ("state derivatives", "state", "derivatives", ""):
            fmu("vdp.fmu", version, "vdp", can=can)
            text = HEAD + ("fmus: {o: {file: vdp.fmu, inputs: {u: bodies.m.position.x}, parameters: {p0: 1.5}}}\n"
                           'forces: {f: {type: load, body: m, force: ["blocks.o.y - bodies.m.position.x", 0, 0]}}\n')
            got = results(text + tail % 0.01)
            said = run(0, "check", "run.yaml", "--allow-fmus")
            check("for the derivative of" not in said, "derivatives of FMI", version, can, said)
            for ours, theirs in (("bodies.m.position.x", "bodies.m.position.x"), ("blocks.x0", "blocks.o.x0"),
                                 ("blocks.x1", "blocks.o.x1"), ("blocks.y", "blocks.o.y")):
                check(off(twin[ours], got[theirs]) < 1e-9, "vdp of FMI", version, can, ours, "differs by", off(twin[ours], got[theirs]))
        values = [results(text + tail % h) for h in (0.02, 0.01, 0.005, 0.0025)]
        for name in ("bodies.m.position.x", "blocks.o.x0", "blocks.o.x1", "blocks.o.y"):
            steps = [off(a[name], b[name]) for a, b in zip(values, values[1:])]
            check(all(3.4 < a / b < 4.8 for a, b in zip(steps, steps[1:])), "orders of", name, "by", steps)


def check_control():
    """A sampled controller in a loop: as our own samples, exactly."""
    tail = "simulate: {t_end: 1, step: 0.01}\noutput: {interval: 0.05, channels: [bodies.m.position.x, bodies.m.velocity.x]}\n"
    twin = results(HEAD + """blocks:
  s: {type: sampled, formula: "blocks.s - 3*0.05*bodies.m.position.x", period: 0.05, state: true}
  y: {type: sampled, formula: "blocks.s - 2*bodies.m.position.x", period: 0.05}
forces: {f: {type: load, body: m, force: [blocks.y, 0, 0]}}
""" + tail)
    for version in (2, 3):
        for can in ("state serial", "state", ""):
            fmu("control.fmu", version, "control", kinds="cs", can=can)
            got = results(HEAD + "fmus: {c: {file: control.fmu, every: 0.05, inputs: {u: -bodies.m.position.x}}}\n"
                          "forces: {f: {type: load, body: m, force: [blocks.c.y, 0, 0]}}\n" + tail)
            for name in twin:
                check(off(twin[name], got[name]) < 1e-13, "control of FMI", version, can, name, "differs by", off(twin[name], got[name]))


def check_coupling():
    """Half of a machine as an FMU: the error against the whole falls with `every`, at the order that the coupling has."""
    tail = "simulate: {t_end: 1, step: 0.000625}\noutput: {interval: 0.1, channels: [bodies.m.position.x]}\n"
    whole = results("alphastep: 1\nbodies:\n  m: {mass: 1, inertia: [1, 1, 1], position: [0.3, 0, 0]}\n  z: {mass: 1, inertia: [1, 1, 1]}\n"
                    "joints:\n  rail: {type: prismatic, bodies: [ground, m], point: [0, 0, 0], axis: [1, 0, 0]}\n"
                    "  other: {type: prismatic, bodies: [ground, z], point: [0, 0, 0], axis: [1, 0, 0]}\nforces:\n"
                    '  a: {type: load, body: m, force: ["40*(bodies.z.position.x - bodies.m.position.x) + 0.5*(bodies.z.velocity.x - bodies.m.velocity.x) - 20*bodies.m.position.x", 0, 0]}\n'
                    '  b: {type: load, body: z, force: ["-40*(bodies.z.position.x - bodies.m.position.x) - 0.5*(bodies.z.velocity.x - bodies.m.velocity.x)", 0, 0]}\n'
                    + tail.replace("0.000625", "0.0001"))
    for version in (2, 3):
        names = ("u0", "u1") if version == 2 else ('"u[1]"', '"u[2]"')
        for coupling, order, can in (("hold", 1, "state"), ("linear", 2, "state slopes"), ("linear", 2, ""), ("iterate", 2, "state any slopes"), ("iterate", 2, "state any")):
            fmu("mass.fmu", version, "mass", kinds="cs", can=can)
            errors = []
            for every in (0.02, 0.01, 0.005):
                got = results(HEAD + f"fmus: {{z: {{file: mass.fmu, every: {every}, coupling: {coupling}, "
                              f"inputs: {{{names[0]}: bodies.m.position.x, {names[1]}: bodies.m.velocity.x}}, parameters: {{p1: 40, p2: 0.5}}}}}}\n"
                              'forces: {f: {type: load, body: m, force: ["blocks.z.y - 20*bodies.m.position.x", 0, 0]}}\n' + tail)
                errors.append(off(whole["bodies.m.position.x"], got["bodies.m.position.x"]))
            found = [math.log2(a / b) for a, b in zip(errors, errors[1:])]
            check(all(abs(x - order) < 0.25 for x in found), "coupling", coupling, "of FMI", version, can, "has orders", found, "errors", errors)


def check_loop():
    """Half of a machine, exported and imported, with acceleration feedback: first order with held, second with linear coupling."""
    if "\n  fmu " not in run(0, "help"):
        return  # this command exports nothing
    law = "40*(bodies.z.position.x - %s) + 0.5*(bodies.z.velocity.x - %s) - 0.2*%s"
    write("half.yaml", "alphastep: 1\nbodies: {z: {mass: 1, inertia: [1, 1, 1]}}\n"
          "joints: {other: {type: prismatic, bodies: [ground, z], point: [0, 0, 0], axis: [1, 0, 0]}}\n"
          "blocks:\n  x: {type: input, start: 0.3}\n  v: {type: input}\n  a: {type: input}\n"
          f'  y: {{type: signal, formula: "{law % ("blocks.x", "blocks.v", "blocks.a")}"}}\n'
          'forces: {b: {type: load, body: z, force: ["-blocks.y", 0, 0]}}\nsimulate: {t_end: 1, step: 0.0005}\n')
    m = ("bodies.m.position.x", "bodies.m.velocity.x", "bodies.m.acceleration.x")
    tail = "simulate: {t_end: 1, step: 0.0005}\noutput: {interval: 0.1, channels: [bodies.m.position.x]}\n"
    whole = results("alphastep: 1\nbodies:\n  m: {mass: 1, inertia: [1, 1, 1], position: [0.3, 0, 0]}\n  z: {mass: 1, inertia: [1, 1, 1]}\n"
                    "joints:\n  rail: {type: prismatic, bodies: [ground, m], point: [0, 0, 0], axis: [1, 0, 0]}\n"
                    "  other: {type: prismatic, bodies: [ground, z], point: [0, 0, 0], axis: [1, 0, 0]}\n"
                    f'blocks: {{y: {{type: signal, formula: "{law % m}"}}}}\n'
                    'forces:\n  a: {type: load, body: m, force: ["blocks.y - 20*bodies.m.position.x", 0, 0]}\n'
                    '  b: {type: load, body: z, force: ["-blocks.y", 0, 0]}\n' + tail)
    for version in (2, 3):
        run(0, "fmu", "half.yaml", "-o", "half.fmu", "--fmi", str(version), "--outputs", "blocks.y", "--input-derivatives", "--quiet")
        for coupling, order in (("hold", 1), ("linear", 2), ("iterate", 2)):
            errors = []
            for every in (0.02, 0.01, 0.005):
                got = results(HEAD + f"fmus: {{h: {{file: half.fmu, every: {every}, coupling: {coupling}, outputs: {{y: blocks.y}}, "
                              f'parameters: {{"blocks.a": -15}}, inputs: {{"blocks.x": {m[0]}, "blocks.v": {m[1]}, "blocks.a": {m[2]}}}}}}}\n'
                              'forces: {f: {type: load, body: m, force: ["blocks.h.y - 20*bodies.m.position.x", 0, 0]}}\n' + tail)
                errors.append(off(whole[m[0]], got[m[0]]))
            found = [math.log2(a / b) for a, b in zip(errors, errors[1:])]
            check(all(abs(x - order) < 0.25 for x in found), "a loop of FMI", version, coupling, "has orders", found, "errors", errors)


def check_iterate():
    """Communication steps that are taken back until they agree: where connections are stiff, and inertia is on the other side."""
    rail = "joints: {rail: {type: prismatic, bodies: [ground, m], point: [0, 0, 0], axis: [1, 0, 0]}}\n"
    small = "alphastep: 1\nbodies: {m: {mass: 1, inertia: [1, 1, 1]}}\n" + rail
    both = ("alphastep: 1\nbodies: {m: {mass: 1, inertia: [1, 1, 1]}, z: {mass: 1000, inertia: [1, 1, 1]}}\n"
            + rail.replace("}}", "}, other: {type: prismatic, bodies: [ground, z], point: [0, 0, 0], axis: [1, 0, 0]}}"))
    # A mass of 1 kg on a spring of 1e6 N/m, the other end of which is an FMU's mass of 1000 kg: of 160 Hz that it has by itself there are none
    # together. Rows are inside of steps, too.
    law = '"%s1e6*(bodies.z.position.x - bodies.m.position.x) %s 100*(bodies.z.velocity.x - bodies.m.velocity.x)%s"'
    for simulate in ("step: 0.002", "step: 0.01", "tol: {rtol: 1.0e-6}"):
        tail = "simulate: {t_end: 1, %s}\noutput: {interval: 0.0033, channels: [bodies.m.position.x, bodies.m.velocity.x]}\n"
        whole = results(both + "forces:\n  a: {type: load, body: m, force: [" + law % ("", "+", " - 20*bodies.m.position.x + 20*sin(5*t)") + ", 0, 0]}\n"
                        "  b: {type: load, body: z, force: [" + law % ("-", "-", "") + ", 0, 0]}\n" + tail % "step: 0.00025")
        for version in (2, 3):
            names = ("u0", "u1") if version == 2 else ('"u[1]"', '"u[2]"')
            fmu("mass.fmu", version, "mass", kinds="cs", can="state any slopes")
            for coupling in ("linear", "iterate"):
                text = (small + f"fmus: {{z: {{file: mass.fmu, every: 0.01, coupling: {coupling}, inputs: {{{names[0]}: bodies.m.position.x, "
                        f"{names[1]}: bodies.m.velocity.x}}, parameters: {{p0: 1000, p1: 1.0e6, p2: 100}}}}}}\n"
                        'forces: {f: {type: load, body: m, force: ["blocks.z.y - 20*bodies.m.position.x + 20*sin(5*t)", 0, 0]}}\n' + tail % simulate)
                if coupling == "linear" and simulate != "step: 0.002":
                    continue
                got = results(text)
                for name, near in (("bodies.m.position.x", 2e-4), ("bodies.m.velocity.x", 1e-3)):
                    far = off(whole[name], got[name])
                    check(far < near if coupling == "iterate" else far > 1e6, "a stiff spring with", coupling, simulate, "of FMI", version, name, far)
    # Inertia that an FMU feeds back from accelerations, five times that of the machine.
    write("inertia.yaml", "alphastep: 1\nbodies: {z: {mass: 1, inertia: [1, 1, 1]}}\n"
          "joints: {other: {type: prismatic, bodies: [ground, z], point: [0, 0, 0], axis: [1, 0, 0]}}\nblocks:\n  x: {type: input, start: 0.3}\n  a: {type: input}\n"
          '  y: {type: signal, formula: "40*(bodies.z.position.x - blocks.x) - 5*blocks.a"}\n'
          'forces: {b: {type: load, body: z, force: ["-40*(bodies.z.position.x - blocks.x)", 0, 0]}}\nsimulate: {t_end: 1, step: 0.0005}\n')
    tail = "simulate: {t_end: 1, step: 0.0005}\noutput: {interval: 0.1, channels: [bodies.m.position.x, bodies.m.acceleration.x]}\n"
    whole = results(both.replace("1000", "1").replace("{m: {mass: 1,", "{m: {mass: 6, position: [0.3, 0, 0],") + "forces:\n"
                    '  a: {type: load, body: m, force: ["40*(bodies.z.position.x - bodies.m.position.x) - 20*bodies.m.position.x", 0, 0]}\n'
                    '  b: {type: load, body: z, force: ["-40*(bodies.z.position.x - bodies.m.position.x)", 0, 0]}\n' + tail)
    run(0, "fmu", "inertia.yaml", "-o", "inertia.fmu", "--outputs", "blocks.y", "--input-derivatives", "--quiet")
    errors = []
    for every in (0.04, 0.02, 0.01):
        got = results(HEAD + f"fmus: {{h: {{file: inertia.fmu, every: {every}, coupling: iterate, outputs: {{y: blocks.y}}, "
                      'inputs: {"blocks.x": bodies.m.position.x, "blocks.a": bodies.m.acceleration.x}}}\n'
                      'forces: {f: {type: load, body: m, force: ["blocks.h.y - 20*bodies.m.position.x", 0, 0]}}\n' + tail)
        errors.append([off(whole[name], got[name]) for name in ("bodies.m.position.x", "bodies.m.acceleration.x")])
    found = [math.log2(x / y) for a, b in zip(errors, errors[1:]) for x, y in zip(a, b)]
    check(all(abs(x - 2) < 0.25 for x in found), "inertia by feedback has orders", found, "errors", errors)
    # What cannot be taken back is refused; what fails in a step that is tried has a sentence.
    for version in (2, 3):
        for can, words in (("slopes", "canGetAndSetFMUState"), ("state slopes", "canHandleVariableCommunicationStepSize")):
            fmu("bad.fmu", version, "control", kinds="cs", can=can)
            refuse(words, ", every: 0.1, coupling: iterate")
        fmu("vdp.fmu", version, "vdp", kinds="cs", can="state any")
        for fault in (1, 2, 3, 4):
            said = results(HEAD + f"fmus: {{v: {{file: vdp.fmu, every: 0.05, coupling: iterate, inputs: {{u: bodies.m.position.x}}, parameters: {{p9: {fault}}}}}}}\n"
                           'forces: {f: {type: load, body: m, force: [blocks.v.y, 0, 0]}}\nsimulate: {t_end: 1, step: 0.01}\n', status=3,
                           env={"ASAN_OPTIONS": "detect_leaks=0"} if fault == 4 else None)  # what it holds stays after a fatal error
            check('the FMU "v"' in said or 'block "v"' in said, "fault", fault, "says", said)


def check_events():
    """Times that an FMU tells, relations of its inputs, the end that it asks for."""
    for version in (2, 3):
        fmu("stairs.fmu", version, "stairs", kinds="me")
        fmu("relay.fmu", version, "relay", kinds="me")
        fmu("control.fmu", version, "control", kinds="cs")
        for simulate in ("step: 0.03", "tol: {rtol: 1.0e-4}"):
            got = results(HEAD + 'fmus: {s: {file: stairs.fmu}, r: {file: relay.fmu, inputs: {u: "cos(10*t)"}}, q: {file: relay.fmu, inputs: {u: t}}}\n'
                          f"simulate: {{t_end: 1, {simulate}}}\noutput: {{interval: 0.025, channels: [blocks]}}\n")
            check(all(q == (t > 0.5) for t, q in zip(got["time"], got["blocks.q.y"]) if t != 0.5), "a relay that is met at 0:", got["blocks.q.y"])
            for t, s, r in zip(got["time"], got["blocks.s.y"], got["blocks.r.y"]):
                if abs(t * 10 - round(t * 10)) > 1e-6:
                    check(s == math.floor(t * 10), "the stairs are at", s, "at", t, simulate)
                check(r == (math.cos(10 * t) > 0.5), "the relay is", r, "at", t, simulate)
            got = results(HEAD + "fmus: {s: {file: stairs.fmu, parameters: {p0: 4}}}\n"
                          f"simulate: {{t_end: 1, {simulate}}}\noutput: {{interval: 0.1, channels: [blocks]}}\n")
            check(abs(got["time"][-1] - 0.4) < 1e-9 and len(got["time"]) == 5, "an end by event mode:", got["time"])
        got = results(HEAD + "fmus: {c: {file: control.fmu, every: 0.1, parameters: {p8: 0.5}}}\nsimulate: {t_end: 1, step: 0.01}\noutput: {interval: 0.1}\n")
        check(abs(got["time"][-1] - 0.5) < 1e-9, "an end by doStep:", got["time"])


def check_values():
    """Whole numbers, booleans, texts, names for outputs, units; warnings; what check says."""
    for version in (2, 3):
        fmu("vdp.fmu", version, "vdp")
        write("v.yaml", HEAD + "fmus: {o: {file: vdp.fmu, parameters: {whole.number: 7, switch: true, text: abcde, x0: 3, p9: 6},\n"
              "  outputs: {n: whole.number, b: switch, l: length, rate: der(x0), y: y}}}\nsimulate: {t_end: 0.1, step: 0.01}\n")
        said = run(0, "check", "v.yaml", "--allow-fmus")
        check("a warning of the test" in said and f"FMI {version}.0, model exchange" in said and "can be resumed" in said, "check says", said)
        check("completedIntegratorStep" in said, "nothing of steps that it is not told of:", said)
        without = 'completedIntegratorStepNotNeeded="true"' if version == 2 else 'needsCompletedIntegratorStep="false"'
        make("vdp.fmu", version, describe(version, "vdp").replace("<ModelExchange ", f"<ModelExchange {without} "))
        check("completedIntegratorStep" not in run(0, "check", "v.yaml", "--allow-fmus"), "it does without, and", without, "is not heard")
        found = json.loads(run(0, "check", "v.yaml", "--allow-fmus", "--json"))
        check(found["fmus"][0]["kind"] == "model_exchange" and found["fmus"][0]["version"] == version, "check --json says", found["fmus"])
        got = results(open("v.yaml", encoding="utf-8").read() + "output: {interval: 0.1, channels: [blocks]}\n")
        first = [got["blocks.o." + name][0] for name in ("n", "b", "l", "rate", "x0", "y")]
        check(first == [7, 1, 5, 0, 3, 0], "values of FMI", version, first)
        with open("out/results.csv", encoding="utf-8") as file:
            check("blocks.o.x0 [m]" in file.readline(), "the state has no unit")


def interrupt(model, folder):
    """A run that is interrupted on its way; whether it was."""
    for wait in (0.02, 0.0, 0.1, 0.01):
        shutil.rmtree(folder, ignore_errors=True)
        process = subprocess.Popen([COMMAND, "run", model, "--allow-fmus", "-o", folder, "--no-report", "--quiet"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(folder + "/summary.json") and process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        if process.wait(PATIENCE) == 130 and os.path.exists(folder + "/state.bin"):
            return True
    return False


def check_resume():
    """A run that goes on gives the same bytes; where an FMU cannot save its state it is refused."""
    for version in (2, 3):
        for can, good in (("state serial", True), ("state", False), ("", False)):
            fmu("ball.fmu", version, "ball", can=can, kinds="me")
            fmu("control.fmu", version, "control", can=can, kinds="cs")
            fmu("mass.fmu", version, "mass", can="state any" + (" serial" if good else ""), kinds="cs")
            names = ("u0", "u1") if version == 2 else ('"u[1]"', '"u[2]"')
            write("r.yaml", HEAD + "fmus: {b: {file: ball.fmu}, c: {file: control.fmu, every: 0.002, coupling: linear, inputs: {u: blocks.b.h}}, "
                  f"i: {{file: mass.fmu, every: 0.002, coupling: iterate, inputs: {{{names[0]}: bodies.m.position.x, {names[1]}: bodies.m.velocity.x}}}}}}\n"
                  'forces: {f: {type: load, body: m, force: ["blocks.c.y + blocks.i.y", 0, 0]}}\nsimulate: {t_end: 2, step: 1.0e-4}\noutput: {interval: 0.05}\n')
            if good:
                shutil.rmtree("whole", ignore_errors=True)
                run(0, "run", "r.yaml", "--allow-fmus", "-o", "whole", "--no-report", "--quiet")
            check(interrupt("r.yaml", "parts"), "a run of FMI", version, can, "was not interrupted")
            said = run(0 if good else 4, "run", "--resume", "parts", "--allow-fmus", "--quiet", "--no-report")
            if not good:
                check("could not save its state" in said, "resumed without a state:", said)
                continue
            with open("whole/results.csv", "rb") as one, open("parts/results.csv", "rb") as other:
                check(one.read() == other.read(), "a resumed run of FMI", version, "differs")
    text = HEAD + "fmus: {c: {file: control.fmu, every: 0.05, inputs: {u: bodies.m.position.x}}}\nforces: {f: {type: load, body: m, force: [-blocks.c.y, 0, 0]}}\nsimulate: {t_end: 0.5, step: 0.01}\n"
    for can in ("state", ""):  # two runs of one instance
        fmu("control.fmu", 3, "control", can=can, kinds="cs")
        results(text, "--accuracy")
        with open("out/summary.json", encoding="utf-8") as file:
            said = json.load(file)["accuracy"]["message"]
        check(("cannot be brought back" in said) == (can == ""), "two runs of an FMU with", can, "say", said)


# ---- what is wrong

def check_permission():
    fmu("vdp.fmu", 2, "vdp")
    os.makedirs("lib", exist_ok=True)
    shutil.copy("vdp.fmu", "lib/other.fmu")
    write("p.yaml", HEAD + "fmus: {o: {file: vdp.fmu}}\nsimulate: {t_end: 0.1, step: 0.01}\n")
    write("q.yaml", HEAD + "fmus: {o: {file: other.fmu}}\nsimulate: {t_end: 0.1, step: 0.01}\n")
    for command in ("run", "check"):
        said = run(2, command, "p.yaml")
        check("add `--allow-fmus` or `--fmus-from" in said and said.count("\n") == 1, "without permission:", said)
    check("--allow-fmus" in run(2, "check", "p.yaml", "--allow-plugins"), "plugins let FMUs in")
    run(2, "check", "p.yaml", "--fmus-from", "lib")
    run(0, "check", "p.yaml", "--fmus-from", ".")
    run(0, "check", "q.yaml", "--fmus-from", "lib")
    run(0, "check", "q.yaml", env={"ALPHASTEP_FMUS": os.path.abspath("lib")})


def refuse(words, keys="", status=2, name="bad.fmu", env=None):
    """One sentence that has these words."""
    write("bad.yaml", HEAD + f"fmus: {{o: {{file: {name}{keys}}}}}\nsimulate: {{t_end: 0.3, step: 0.01}}\n")
    shutil.rmtree("out", ignore_errors=True)
    said = run(status, "run", "bad.yaml", "--allow-fmus", "-o", "out", "--no-report", "--quiet", env=env)
    check(words in said, "of", keys, "it says:", said, "not:", words)
    check(said.count("\n") == 1 or status == 3, "more than one sentence:", said)


def check_archives():
    xml = describe(2, "vdp")
    good = fmu("good.fmu", 2, "vdp")
    data = open(good, "rb").read()

    def damage(words, change):
        with open("bad.fmu", "wb") as file:
            file.write(change(bytearray(data)))
        refuse(words)

    def poke(offset, value, mark=b"PK\x01\x02"):
        def change(bytes_):
            at = bytes_.index(mark) + offset
            bytes_[at:at + len(value)] = value
            return bytes_
        return change
    damage("no zip archive", lambda b: b"This is no archive at all, but longer than the record at the end.")
    damage("no zip archive", lambda b: b[:len(b) // 2])
    damage("no zip archive", lambda b: b"")
    damage("is encrypted", poke(8, b"\x01\x00"))
    damage("of zip64", poke(20, b"\xff\xff\xff\xff"))
    damage("compressed by method 14", poke(10, b"\x0e\x00"))
    damage("is not where its directory says", poke(42, struct.pack("<I", 7)))
    damage("runs into its directory", poke(20, struct.pack("<I", len(data) - 40)))
    damage("does not unpack", poke(16, b"abcd"))
    damage("does not unpack", poke(24, struct.pack("<I", 999)))
    damage("more than 300 times", poke(24, struct.pack("<I", 900 << 20)))
    damage("its directory has", lambda b: poke(10, b"\x09\x00", b"PK\x05\x06")(poke(8, b"\x09\x00", b"PK\x05\x06")(b)))
    for name, words in (("../evil", "leads out"), ("/etc/evil", "is no path below"), ("resources/../../evil", "leads out"),
                        ("resources\\evil", "is no path below"), ("C:evil", "is no path below"), ("a//b", "leads out"),
                        ("resources/a\x1bb", "cannot be printed")):
        info = zipfile.ZipInfo("x")
        info.filename = name
        make("bad.fmu", 2, xml, more=[(info, "x")])
        refuse(words)
        check(not os.path.exists("../evil") and not os.path.exists("/etc/evil"), "it has escaped")
    link = zipfile.ZipInfo("resources/link")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    make("bad.fmu", 2, xml, more=[(link, "/etc/passwd")])
    refuse("is a link")
    make("bad.fmu", 2, xml, more=[("resources/bomb", bytes(64 << 20))])
    refuse("zip bomb")
    make("bad.fmu", 2, xml, more=[("resources/one", "a")] + [("resources/two", "b")])
    with open("bad.fmu", "r+b") as file:
        file.write(open("bad.fmu", "rb").read().replace(b"resources/two", b"resources/one"))
    refuse("is there twice")
    with zipfile.ZipFile("bad.fmu", "w") as archive:
        for i in range(20001):
            archive.writestr(f"resources/{i}", "")
    refuse("20001 entries")
    make("bad.fmu", 2, None)
    refuse("has no modelDescription.xml")


def check_descriptions():
    def of(words, version, change, keys="", model="vdp", status=2, **how):
        make("bad.fmu", version, change(describe(version, model, **how)))
        # Nothing of an FMU may be called after a fatal error: what it holds stays.
        refuse(words, keys, status, env={"ASAN_OPTIONS": "detect_leaks=0"} if "fatal" in words else None)
    same = lambda xml: xml
    for version in (2, 3):
        bombs = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
        of("DOCTYPE", version, lambda x: x.replace("<fmiModelDescription", bombs + "<fmiModelDescription", 1))
        of("elements more than 64 deep", version, lambda x: x, extra="<a>" * 70 + "</a>" * 70)
        of("mismatched tag", version, lambda x: x.replace("</ModelStructure>", ""))
        of("it is of FMI 1.0", version, lambda x: x.replace(f'fmiVersion="{version}.0"', 'fmiVersion="1.0"'))


        of("is missing", version, lambda x: x.replace("guid=", "id=").replace("instantiationToken=", "id="))
        of("gives no instance", version, same, token="another")
        of("it has no binaries/", version, lambda x: x.replace('"test_fmu"', '"other"'))
        of("is no name of a file", version, lambda x: x.replace('"test_fmu"', '"../../other"'))
        of("needs the tool that wrote it", version, same, can="tool")
        of("two variables have the name", version, lambda x: x.replace('name="p1"', 'name="p2"'))
        of("is no whole number", version, lambda x: x.replace('valueReference="40"', 'valueReference="-40"'))
        of('for "y"', version, lambda x: x.replace('valueReference="40"', 'valueReference="77"'))
        of("neither for model exchange nor", version, lambda x: x.replace("<ModelExchange", "<A").replace("<CoSimulation", "<B"))
        of("derivative", version, lambda x: x.replace('Unknown index="', 'Unknown index="9').replace(
            '<ContinuousStateDerivative valueReference="', '<ContinuousStateDerivative valueReference="9'))
        of("it is not for co-simulation", version, same, ", every: 0.1", kinds="me")
        of("needs `every`, the communication step; it suggests 0.05 s", version, same, model="control", kinds="cs")
        of("`every` is of co-simulation", version, same, ", every: 0.1, kind: model_exchange")
        of('it has no input "w"', version, same, ", inputs: {w: 1}")
        of('"p1" is no input', version, same, ", inputs: {p1: 1}")
        of('it has no parameter "q"', version, same, ", parameters: {q: 1}")
        of("whole number or boolean, not 1.5", version, same, ", parameters: {whole.number: 1.5}")
        of('it has no variable "z"', version, same, ", outputs: {a: z}")
        of("is no number", version, same, ", outputs: {a: text}")
        of("there is no", version, same, ", inputs: {u: blocks.nothing}")
        of("fmi%dEnterInitializationMode returned an error: it does not start" % version, version, same, ", parameters: {p9: 5}")
        for kind, words in ((1, "no number (NaN)"), (2, "returned an error: as the test wants it"), (4, "returned a fatal error")):
            of(words, version, same, f", parameters: {{p9: {kind}}}", status=3)
            of(words, version, same, f", every: 0.05, parameters: {{p9: {kind}}}", status=3)
        of("returned `discard`", version, same, ", every: 0.05, parameters: {p9: 3}", status=3)
    of("its library has 2 continuous states and 0 event indicators", 3, same, indicators=1)
    of('input clock "tick" would never tick', 3, lambda x: x.replace("<ModelVariables>", '<ModelVariables><Clock name="tick" valueReference="99" '
                                                                    'causality="input" intervalVariability="triggered"/>'))
    of("all are given, or none", 3, same, ', every: 0.1, inputs: {"u[1]": 1}', model="mass")
    make("bad.fmu", 2, describe(2, "vdp"), library="empty.so")
    refuse("has no function `fmi2GetVersion`")
    write("text.so", "no library")
    make("bad.fmu", 2, describe(2, "vdp"), library="text.so")
    refuse("cannot be loaded")
    with zipfile.ZipFile("bad.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", describe(2, "vdp"))
        archive.writestr("binaries/win64/test_fmu.dll", "x")
    refuse("its binaries are for win64")
    fmu("bad.fmu", 2, "vdp", can="once")
    write("bad.yaml", HEAD + "fmus: {a: {file: bad.fmu}, b: {file: bad.fmu}}\nsimulate: {t_end: 0.1, step: 0.01}\n")
    check("only once in a process" in run(2, "check", "bad.yaml", "--allow-fmus"), "two of one")


def main():
    for name in ("ALPHASTEP_FMUS", "ALPHASTEP_PLUGINS"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("tmp")
        os.environ["TMPDIR"] = os.path.join(folder, "tmp")
        build = [CC, "-std=c11", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden", "-I" + SOURCE + "/src"]
        for version in (2, 3):
            subprocess.run([*build, f"-DFMI={version}", "-o", f"test{version}.so", SOURCE + "/tests/fmi/fmu.c", "-lm"], check=True)
        write("empty.c", "int nothing_in_it;\n")
        subprocess.run([*build, "-o", "empty.so", "empty.c"], check=True)
        for part in (check_ball, check_vdp, check_control, check_coupling, check_loop, check_iterate, check_events, check_values, check_resume, check_permission,
                     check_archives, check_descriptions):
            before = len(failures)
            part()
            check(os.listdir("tmp") == [], part.__name__, "leaves behind", os.listdir("tmp"))
            if len(failures) > before and len(sys.argv) > 4:
                break
        os.chdir("/")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


sys.exit(main())

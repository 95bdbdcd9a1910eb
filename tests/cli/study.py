#!/usr/bin/env python3
"""`alphastep study`: grids, lists, random draws, results against numbers of their own, runs that fail, studies that are interrupted.

usage: study.py ALPHASTEP SOURCE
"""

import csv
import fcntl
import json
import math
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ALPHASTEP, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MODEL = """alphastep: 1
gravity: [0, 0, -9.81]
parameters: {length: 1, mass: 1, start: 0.5, offset: 0}
bodies:
  bob: {mass: mass, inertia: [0.1, 0.1, 0.1], position: [0, 0, -length]}
joints:
  pivot: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0], start: {angle: start}}
blocks:
  wave: {type: signal, unit: m, formula: offset + sin(2*pi*t)}
  never: {type: signal, formula: log(t + 1)}
events:
  low: {when: joints.pivot.angle - 0.45, direction: falling, stop: true, log: low enough}
simulate: {t_end: 0.5, step: 0.01}
output: {interval: 0.1}
"""
ANGLE = "last:joints.pivot.angle"
failures = 0


def check(holds, *words):
    global failures
    if not holds:
        print("FAILED:", *words)
        failures += 1


def study(*arguments, status=0, says=""):
    done = subprocess.run([ALPHASTEP, "study", *map(str, arguments)], capture_output=True, text=True)
    words = " ".join(map(str, arguments))
    check(done.returncode == status, f"{words}: exit status {done.returncode}, not {status}: {done.stderr}")
    check(says in done.stderr + done.stdout, f"{words}: does not say {says!r}: {done.stderr}{done.stdout}")
    check(status == 0 or done.stderr, f"{words}: says nothing")
    return done.stdout


def rows(folder):
    with open(pathlib.Path(folder) / "table.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(folder):
    return (pathlib.Path(folder) / "table.csv").read_bytes()


def close(a, b, within):
    return abs(float(a) - b) <= within


# ---- values

def try_grid():
    study("free.yaml", "--sweep", "parameters.length=1:2:0.5", "--sweep", "parameters.mass=1,4", "--result", ANGLE, "-o", "grid", "-q")
    found = rows("grid")
    check([(r["parameters.length"], r["parameters.mass"]) for r in found]
          == [("1", "1"), ("1", "4"), ("1.5", "1"), ("1.5", "4"), ("2", "1"), ("2", "4")], "order of a grid", found)
    check([r["run"] for r in found] == list("123456"), "numbers of runs")
    for i, r in enumerate(found):  # each is what a run of its own gives, to the last bit
        if i not in (1, 4):
            continue
        subprocess.run([ALPHASTEP, "run", "free.yaml", "--set", "parameters.length=" + r["parameters.length"], "--set",
                        "parameters.mass=" + r["parameters.mass"], "-q", "--no-report", "-o", f"single{i}"], check=True)
        with open(f"single{i}/results.csv", encoding="utf-8", newline="") as file:
            last = list(csv.DictReader(file))[-1]
        check(last["joints.pivot.angle [rad]"] == r[ANGLE + " [rad]"], "a run of its own gives", last, "not", r)
        check(r["t [s]"] == "0.5" and r["status"] == "done" and r["message"] == "", "a run that is done", r)


def try_ranges():
    """Counts, scales, steps, texts; `set`; a file in another folder."""
    pathlib.Path("deep").mkdir()
    pathlib.Path("deep/study.yaml").write_text("""alphastep-study: 1
model: ../free.yaml
set: {simulate.t_end: 0.1}
parameters:
  parameters.length: {from: 1, to: 100, count: 3, scale: log}
  parameters.mass: {from: 1, to: 1.3, step: 0.1}
  simulate.method: [index2, index3]
results: {angle: {last: joints.pivot.angle}}
""")
    study("deep/study.yaml", "-q")
    found = rows("deep-study")
    check(len(found) == 24, "runs of three parameters:", len(found))
    check([float(r["parameters.length"]) for r in found[::8]] == [1, 10, 100], "a logarithmic range")
    steps = [float(r["parameters.mass"]) for r in found[:8:2]]
    check(all(close(x, 1 + 0.1 * i, 1e-15) for i, x in enumerate(steps)) and len(steps) == 4, "steps", steps)
    check({r["simulate.method"] for r in found} == {"index2", "index3"} and found[0]["simulate.method"] == "index2", "texts")
    check(all(r["t [s]"] == "0.1" for r in found), "a value of all runs")
    # study.json is the same study; options are added to a file, and hold over it
    study("deep-study/study.json", "-q", "-o", "again")
    check(table("again") == table("deep-study"), "study.json is another study")
    study("deep/study.yaml", "--sweep", "parameters.length=2,3", "--result", "max:blocks.wave", "-o", "more", "-q")
    check(len(rows("more")) == 16 and "max:blocks.wave [m]" in rows("more")[0], "options behind a file")


MASK = 2**64 - 1


def scramble(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def draw(seed, path, k):
    """[SD.3]"""
    name = 14695981039346656037
    for byte in path.encode():
        name = ((name ^ byte) * 1099511628211) & MASK
    key = scramble(scramble(seed) ^ name)
    return [((scramble(key ^ (2 * k + j)) >> 11) + 0.5) * 2.0**-53 for j in (0, 1)]


def try_random():
    common = ["free.yaml", "--set", "simulate.t_end=0.02", "--result", ANGLE, "-q"]
    random = ["--draw", "parameters.length=normal:10:2", "--draw", "parameters.mass=uniform:1:3", "--seed", "7"]
    study(*common, *random, "--runs", "1000", "-o", "random")
    found = rows("random")
    lengths, masses = ([float(r["parameters." + name]) for r in found] for name in ("length", "mass"))
    for k in range(1000):  # [SD.4]
        u, w = draw(7, "parameters.length", k), draw(7, "parameters.mass", k)
        check(close(lengths[k], 10 + 2 * math.sqrt(-2 * math.log(u[0])) * math.cos(2 * math.pi * u[1]), 1e-12), "a normal draw", k)
        check(close(masses[k], 1 + 2 * w[0], 1e-14), "a uniform draw", k)
    # Within four standard deviations of what the distributions have.
    mean = sum(lengths) / 1000
    deviation = math.sqrt(sum((x - mean) ** 2 for x in lengths) / 999)
    check(abs(mean - 10) < 4 * 2 / math.sqrt(1000) and abs(deviation - 2) < 4 * 2 / math.sqrt(2000), "normal:", mean, deviation)
    check(abs(sum(masses) / 1000 - 2) < 4 * 2 / math.sqrt(12000) and 1 < min(masses) and max(masses) < 3, "uniform", masses[:5])
    # Fewer draws are the first ones, each point of a grid has the same, and neither depends on other parameters.
    study(*common, *random, "--runs", "5", "--sweep", "parameters.start=0.2,0.4", "-o", "few")
    few = [float(r["parameters.length"]) for r in rows("few")]
    check(few == lengths[:5] * 2, "draws at points of a grid", few)
    study(*common, "--draw", "parameters.length=normal:10:2", "--seed", "8", "--runs", "5", "-o", "other")
    check(not set(lengths) & {float(r["parameters.length"]) for r in rows("other")}, "another seed gives the same draws")


# ---- results

def try_measures():
    """offset + sin(2 pi t) over half a period and parts of it."""
    pathlib.Path("wave.yaml").write_text("""alphastep-study: 1
model: free.yaml
set: {parameters.offset: 0.5, simulate.step: 0.001}
results:
  largest: {max: blocks.wave}
  of a part: {max: blocks.wave, from: 0.3, to: 0.4}
  smallest: {min: blocks.wave, from: 0.1}
  size: {max_abs: blocks.wave, from: 0.75, to: 1.5}
  square: {rms: blocks.wave}
  late: {rms: blocks.wave, from: 0.10005, to: 0.35}
  average: {mean: blocks.wave, to: 0.25}
  end: {last: blocks.wave}
  before the end: {last: blocks.wave, to: 0.25}
""")
    study("wave.yaml", "--set", "simulate.t_end=1.5", "-q", "-o", "wave")
    found = {name.rsplit(" [", 1)[0]: value for name, value in rows("wave")[0].items()}
    s = lambda t: 0.5 + math.sin(2 * math.pi * t)

    def square(a, b):  # the integral of s^2
        p = 2 * math.pi
        f = lambda t: 0.25 * t - math.cos(p * t) / p + 0.5 * t - math.sin(2 * p * t) / (4 * p)
        return math.sqrt((f(b) - f(a)) / (b - a))

    expected = {"largest": 1.5, "of a part": s(0.3), "smallest": -0.5, "size": 1.5, "square": square(0, 1.5),
                "late": square(0.10005, 0.35), "average": 0.5 + 1 / (2 * math.pi) * 4, "end": s(1.5), "before the end": 1.5}
    for name, value in expected.items():
        check(close(found[name], value, 5e-6), f"{name}: {found[name]}, not {value}")
    # Rows come at every step, not at output times alone: the largest value is at 0.25 s, rows of a run every 0.1 s.
    study("free.yaml", "--result", "max:blocks.wave", "-o", "steps", "-q")
    check(close(rows("steps")[0]["max:blocks.wave [m]"], 1.0, 1e-9), "the largest value at steps", rows("steps"))
    # The last one is part of the name.
    study("free.yaml", "--result", "x=max:blocks.wave@0.1:0.2", "--result", "mean:blocks.wave@:0.2", "--result", "min:blocks.wave@0.4:",
          "-o", "names", "-q")
    check(list(rows("names")[0])[1:4] == ["x [m]", "mean:blocks.wave@:0.2 [m]", "min:blocks.wave@0.4: [m]"], "names of results")
    check(close(rows("names")[0]["x [m]"], math.sin(0.4 * math.pi), 1e-9), "a window of an option")


def try_stop():
    study("model.yaml", "--sweep", "parameters.start=0.3,0.5", "--result", ANGLE, "-o", "stop", "-q")
    found = rows("stop")
    check([r["status"] for r in found] == ["done", "stopped"], "an event stops a run", found)
    check("low" in found[1]["message"] and close(found[1][ANGLE + " [rad]"], 0.45, 1e-5), "where it stopped", found[1])


# ---- runs that fail

def try_failure():
    says = "1 of 3 runs failed; the first of them, run 2: free.yaml:5:"
    study("free.yaml", "--sweep", "parameters.mass=1,-1,2", "--result", ANGLE, "-o", "fail", status=3, says=says)
    study("free.yaml", "--sweep", "parameters.mass=1,2", "--result", ANGLE, "-o", "good", "-q")
    found, good = rows("fail"), rows("good")
    check([r["status"] for r in found] == ["done", "failed", "done"], "statuses", found)
    check("must be greater than 0 kg, not -1" in found[1]["message"] and found[1][ANGLE + " [rad]"] == "nan", "a run that failed", found)
    check([found[0][ANGLE + " [rad]"], found[2][ANGLE + " [rad]"]] == [r[ANGLE + " [rad]"] for r in good], "others are as without it")
    summary = json.loads(pathlib.Path("fail/summary.json").read_text())
    check(summary["failed"] == 1 and summary["done"] == 2 and summary["status"] == "done", "summary", summary)
    # One that fails on its way: step control cannot go on.
    study("free.yaml", "--sweep", "simulate.max_steps=1000,3", "--result", ANGLE, "-o", "way", "-q", status=3)
    last = rows("way")[1]
    check(last["status"] == "failed" and "3 steps were taken" in last["message"] and 0 < float(last["t [s]"]) < 0.1, "on its way", last)
    # All of them: it is the study that is wrong.
    study("free.yaml", "--sweep", "parameters.mass=-1,-2,-3", "--result", ANGLE, "-o", "none", status=2, says="must be greater than 0 kg, not -1")
    check(not os.path.exists("none"), "a study that is refused leaves a folder")


def try_sentences():
    sweep, result = ["--sweep", "parameters.mass=1,2"], ["--result", ANGLE]
    study("--help", says="--sweep PATH=FROM:TO:STEP")
    study(status=2, says="Which model file?")
    study("none.yaml", *result, status=4, says="none.yaml: error: the file cannot be read")
    study("free.yaml", *sweep, status=2, says="a model file makes a study with `--result`")
    study("free.yaml", "--sweep", "parameters.mas=1,2", *result, status=2, says='there is no "mas" in parameters; did you mean "mass"?')
    study("free.yaml", *sweep, "--result", "max:joints.pivt.angle", status=2, says="did you mean `pivot`?")
    study("free.yaml", *sweep, "--result", "max:joints.pivot", status=2, says="but a result is made of one")
    study("free.yaml", *sweep, "--result", "most:joints.pivot.angle", status=2, says="is not like `--result rms:")
    study("free.yaml", *sweep, *result, *result, status=2, says="two results have this name")
    study("free.yaml", *sweep, *sweep, *result, status=2, says="parameters.mass: error: the parameter is there twice")
    study("free.yaml", *sweep, "--result", "max:blocks.wave@0.3:0.2", status=2, says="the window from 0.3 s to 0.2 s is empty")
    study("free.yaml", *sweep, "--result", "max:blocks.wave@3:", status=2, says="begins at 3 s, but the run ends at 0.5 s")
    study("free.yaml", "--sweep", "parameters.mass=1:2:-1", *result, status=2, says="do not lead from one end to the other")
    study("free.yaml", "--sweep", "parameters.mass", *result, status=2, says="is not like `--sweep parameters.k=1:5:0.5`")
    study("free.yaml", "--draw", "parameters.mass=gauss:1:2", *result, status=2, says="is not like `--draw")
    study("free.yaml", "--draw", "parameters.mass=normal:1:0", "--runs", 3, *result, status=2, says="deviation must be positive")
    study("free.yaml", "--draw", "parameters.mass=normal:1:1", *result, status=2, says="how often they are to be drawn")
    study("free.yaml", *sweep, *result, "--runs", 3, status=2, says="no parameter is random")
    study("free.yaml", "--sweep", "parameters.mass=1:2:1e-9", *result, status=2, says="more than 10000000")
    study("free.yaml", *sweep, *result, "--threads", "x", status=2, says="--threads 4")
    study("free.yaml", *sweep, *result, "--acuracy", status=2, says="Unknown option")
    study("free.yaml", "--resume", "x", *sweep, status=2, says="has its own parameters")
    study("--resume", "x", status=4, says="`x` cannot be opened")
    for text, says in [("model: free.yaml\nresults: {a: {max: x}}", 'missing: "alphastep-study"'),
                       ("alphastep-study: 2\nmodel: free.yaml\nresults: {a: {max: blocks.wave}}", "reads version 1"),
                       ("alphastep-study: 1\nmodel: free.yaml\nresult: {}", 'wrong.yaml:3:1: error: there is no key "result" here; did you mean "results"?'),
                       ("alphastep-study: 1\nmodel: free.yaml\nresults: {a: {maxx: x}}", 'there is no key "maxx" here; did you mean "max"?'),
                       ("alphastep-study: 1\nmodel: free.yaml\nparameters: {parameters.mass: 3}\nresults: {a: {max: blocks.wave}}", "wrong.yaml:3:31: error: parameters.parameters.mass: must be a list of values"),
                       ("alphastep-study: 1\nmodel: free.yaml\nparameters: {parameters.mass: {from: 1, to: 2}}\nresults: {a: {max: blocks.wave}}", 'missing: "count"'),
                       ("alphastep-study: 1\nmodel: free.yaml\nparameters: {parameters.mass: {from: 1, uniform: [1, 2]}}\nresults: {a: {max: blocks.wave}}", 'only one of "from" and "uniform"'),
                       ("alphastep-study: 1\nmodel: free.yaml\nparameters: {parameters.mass: []}\nresults: {a: {max: blocks.wave}}", "must have a value"),
                       ("alphastep-study: 1\nmodel: none.yaml\nresults: {a: {max: blocks.wave}}", "none.yaml: error: the file cannot be read"),
                       ("alphastep-study: 1\nmodel: [", "error:")]:
        pathlib.Path("wrong.yaml").write_text(text + "\n")
        study("wrong.yaml", "-o", "wrong", status=4 if "none.yaml" in text else 2, says=says)
    check(not os.path.exists("wrong"), "a study that is refused leaves a folder")
    out = subprocess.run([ALPHASTEP, "study", "free.yaml", "--result", "max:joints.pivt.angle", "--json"], capture_output=True, text=True)
    told = json.loads(out.stdout)
    check(told["status"] == "refused" and "pivot" in told["errors"][0]["message"], "--json of what is refused", told)


# ---- the folder

LONG = ["long.yaml", "--sweep", "parameters.length=1:2.75:0.25", "--sweep", "parameters.mass=1,-1", "--result", ANGLE, "--result", "rms:blocks.wave"]


def start(folder, *more):
    """A study that is under way: two runs at least are over."""
    process = subprocess.Popen([ALPHASTEP, "study", *LONG, "-o", folder, *more], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    state = pathlib.Path(folder) / "state.bin"
    deadline = time.monotonic() + 60
    while (not state.exists() or state.stat().st_size < 64 + 2 * 64) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return process


def try_interrupt():
    study(*LONG, "-o", "whole", "--threads", 1, "-q", status=3)
    study(*LONG, "-o", "two", "--threads", 2, "-q", status=3)
    study(*LONG, "-o", "many", "--threads", 7, "-q", status=3)
    check(table("whole") == table("two") == table("many"), "tables depend on the number of threads")
    check(len(rows("whole")) == 16 and sum(r["status"] == "failed" for r in rows("whole")) == 8, "the long study")
    process = start("cut", "--threads", "2")
    process.send_signal(signal.SIGINT)
    errors = process.communicate()[1]
    check(process.returncode == 130 and "interrupted; " in errors and "--resume cut" in errors, "interrupted:", process.returncode, errors)
    check(0 < len(rows("cut")) < 16, "rows of a study that was interrupted:", len(rows("cut")))
    check(json.loads(pathlib.Path("cut/summary.json").read_text())["status"] == "interrupted", "its summary")
    study("--resume", "cut", "-q", status=3)
    check(table("cut") == table("whole"), "a study that was interrupted and resumed has another table")
    process = start("killed")
    process.kill()
    process.communicate()
    os.chdir("deep")  # from another folder
    study("--resume", "../killed", "--threads", 1, "-q", status=3)
    os.chdir("..")
    check(table("killed") == table("whole"), "a study that was killed and resumed has another table")
    study("--resume", "killed", "-q", status=3)  # nothing to do
    check(table("killed") == table("whole"), "once more")


def try_state():
    """state.bin cut off or spoilt: what is lost is made again. The model or study changed: refused."""
    state = pathlib.Path("whole/state.bin")
    good = state.read_bytes()
    for kept in (good[:-5], good[: len(good) // 2], good[:64], good[:500] + bytes([good[500] ^ 1]) + good[501:], good + b"more"):
        state.write_bytes(kept)
        study("--resume", "whole", "-q", status=3)
        check(table("whole") == table("two"), "table after damage to state.bin")
        check(len(state.read_bytes()) == len(good), "state.bin after damage")
    for kept, says in ((b"", "no file of a study"), (good[:20] + b"x" + good[21:], "it is damaged")):
        state.write_bytes(kept)
        study("--resume", "whole", status=2, says=says)
        check(state.read_bytes() == kept, "a state that is refused was written to")
    state.write_bytes(good)
    model = pathlib.Path("long.yaml")
    text = model.read_text()
    model.write_text(text + "# later\n")
    study("--resume", "whole", status=2, says="has changed since the study began")
    study("--run", "1", "whole", status=2, says="has changed since the study began")
    check(state.read_bytes() == good and table("whole") == table("two"), "a refused study was changed")
    pathlib.Path("moved.yaml").write_text(text)
    study("--resume", "whole", "moved.yaml", "-q", status=3)
    model.write_text(text)
    definition = pathlib.Path("whole/study.json")
    definition.write_text(definition.read_text().replace("2.75", "2.5"))
    study("--resume", "whole", status=2, says="its parameters, settings or results are others")


def try_folder():
    common = ["free.yaml", "--sweep", "parameters.mass=1,2", "--result", ANGLE]
    study(*common, "-o", "used", "-q")
    before = table("used")
    study(*common, "-o", "used", status=2, says="`used` is not empty")
    folder = os.open("used", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    study(*common, "-o", "used", "--force", status=2, says="`used` is in use")
    study("--resume", "used", status=2, says="`used` is in use")
    os.close(folder)
    check(table("used") == before, "a folder in use was written to")
    study(*common, "--sweep", "parameters.start=0.1,0.2", "-o", "used", "--force", "-q")
    check(len(rows("used")) == 4, "--force")
    # The model's own files are spared.
    pathlib.Path("own").mkdir()
    pathlib.Path("own/study.json").write_text(pathlib.Path("used/study.json").read_text())
    study("own/study.json", "-o", "own", "--force", status=2, says="is a file that the study is read from")
    # A run by itself, with the values of the study.
    study("--run", "3", "used", "--no-report", "-q")
    with open("used/run-3/results.csv", encoding="utf-8", newline="") as file:
        last = list(csv.DictReader(file))[-1]
    check(last["joints.pivot.angle [rad]"] == rows("used")[2][ANGLE + " [rad]"], "a run of the study by itself", last)
    study("--run", "5", "used", status=2, says="the study has runs 1 to 4")
    study("--run", "1", "used", "-o", "elsewhere", "--no-report", "-q")
    check(os.path.exists("elsewhere/results.csv"), "--run with -o")


def try_full_disk():
    """Files may have 2000 bytes, so that state.bin fills up."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    words = ["free.yaml", "--set", "simulate.t_end=0.02", "--sweep", "parameters.mass=1:100:1", "--result", ANGLE, "--no-report"]
    done = subprocess.run([ALPHASTEP, "study", *words, "-o", "full"], capture_output=True, text=True, restore_signals=False, preexec_fn=limit)
    check(done.returncode == 4 and "full/state.bin cannot be written: File too large." in done.stderr, "a full disk:", done)
    size = os.path.getsize("full/state.bin")  # a head and records, whole ones only
    check(1900 < size <= 2000 and (size - 64) % 56 == 0, "a full disk: state.bin has", size)
    study("--resume", "full", "-q")
    study(*words, "-o", "empty", "-q")
    check(table("full") == table("empty"), "a study whose disk was full has another table")


# ---- examples

def try_examples():
    """Numbers that do not come from alphastep: triangles, and the README of the semi-active damper."""
    machines = SOURCE / "examples/machines"
    study(machines / "four-bar/tolerances.yaml", "--runs", 8, "-o", "bars", "-q", "--no-report")
    for r in rows("bars"):
        crank, coupler, rocker, base = (float(r["parameters." + name]) for name in ("crank", "coupler", "rocker", "base"))
        for name, reach in (("most", coupler - crank), ("least", coupler + crank)):
            angle = math.pi - math.acos((base**2 + rocker**2 - reach**2) / (2 * base * rocker))
            check(close(r[name + " [rad]"], angle, 1e-4), f"{name} of the rocker: {r}, not {angle}")
    study(machines / "semi-active/gains.yaml", "--sweep", "parameters.b=6000", "--sweep", "parameters.s2=1", "-o", "gains", "-q", "--no-report")
    found = rows("gains")[0]
    check(close(found["comfort [m/s^2]"], 0.93129, 0.002) and close(found["grip [N]"], 760.92, 0.5), "gains:", found)


# ---- warnings

def try_warnings():
    """What is passed over in a tyre's file is told, once, and stands in the summary."""
    tyre = (SOURCE / "tests/files/tyres/car.tir").read_text().replace("PCX1", "ODD_KEY = 3\nPCX1", 1)
    pathlib.Path("odd.tir").write_text(tyre)
    pathlib.Path("wheel.yaml").write_text("""alphastep: 1
gravity: [0, 0, -9.81]
parameters: {mass: 20}
bodies: {w: {mass: mass, inertia: [1, 1, 1], position: [0, 0, 0.34]}}
forces: {t: {type: tyre, wheel: w, file: odd.tir}}
simulate: {t_end: 0.01, step: 0.005}
""")
    options = ("--sweep", "parameters.mass=20,21", "--result", "max:bodies.w.position.z", "--no-report")
    done = subprocess.run([ALPHASTEP, "study", "wheel.yaml", *options, "-o", "told"], capture_output=True, text=True)
    check(done.returncode == 0 and done.stderr.count("ODD_KEY") == 1 and "warning" in done.stderr, "a key that nobody knows:", done.stderr)
    summary = json.loads(study("wheel.yaml", *options, "-o", "quiet", "-q", "--json"))
    check(len(summary["warnings"]) == 1 and "ODD_KEY" in summary["warnings"][0], "summary:", summary)


# ---- study.h5

def try_hdf5():
    """The same numbers and texts as in the table; parameters that are no numbers; runs that fail and that are missing."""
    try:
        import h5py
    except ImportError:
        print("no h5py: study.h5 is not looked at")
        return
    study("free.yaml", "--set", "simulate.t_end=0.05", "--sweep", "parameters.mass=1,-1,2", "--sweep", "simulate.method=index2,index3",
          "--result", ANGLE, "--result", "h\u00f6he/\u00e4=max:blocks.wave@0.01:", "-o", "numbers", "-q", status=3)
    found = rows("numbers")
    with h5py.File("numbers/study.h5") as f:
        text = lambda a: [x.decode() for x in a]
        results, parameters = f["results"], f["parameters"]
        names = [f"{n} [{u}]" for n, u in zip(text(results.attrs["names"]), text(results.attrs["units"]))]
        check(names == [ANGLE + " [rad]", "h\u00f6he/\u00e4 [m]"], "names of results", names)
        check(text(results.attrs["measures"]) == ["last", "max"] and text(results.attrs["channels"])[1] == "blocks.wave", "measures")
        check(math.isnan(results.attrs["from"][0]) and results.attrs["from"][1] == 0.01 and math.isnan(results.attrs["to"][1]), "windows")
        paths = text(parameters.attrs["names"])
        check(paths == ["parameters.mass", "simulate.method"], "names of parameters", paths)
        check(f["run"].shape == (6,) and results.shape == (6, 2) and f.attrs["runs"] == 6, "shapes")
        for i, r in enumerate(found):
            check(str(f["run"][i]) == r["run"] and f["status"][i].decode() == r["status"] and f["message"][i].decode() == r["message"], "run", i, r)
            check([x.decode() for x in f["settings"][i]] == [r[p] for p in paths], "settings", i)
            check(parameters[i, 0] == float(r["parameters.mass"]) and math.isnan(parameters[i, 1]), "parameters", i)
            for k, name in enumerate(names):
                check(repr(float(results[i, k])) == repr(float(r[name])), "results", i, k, results[i, k], r[name])
        check(json.loads(f["study"][0]) == json.loads(pathlib.Path("numbers/study.json").read_text()), "the study")
        check(results.fletcher32 and f["t"].attrs["unit"] == b"s", "checksums, units")
    study("free.yaml", "--result", ANGLE, "-o", "single", "-q")
    with h5py.File("single/study.h5") as f:
        check("parameters" not in f and f["results"].shape == (1, 1), "a study of one run", list(f))


# ---- what is shown

def try_shown():
    out = study("free.yaml", "--sweep", "parameters.mass=1,2", "--sweep", "parameters.length=1:2:0.5", "--result", ANGLE, "-o", "shown")
    check("run  mass  length  last:joints.pivot.angle [rad]" in out and "6 runs in " in out and "mean" in out, "the table:", out)
    summary = json.loads(study("free.yaml", "--sweep", "parameters.mass=1,2", "--result", ANGLE, "-o", "json", "--json"))
    found = [float(r[ANGLE + " [rad]"]) for r in rows("json")]
    result = summary["results"][0]
    check(result["least"] == min(found) and result["largest"] == max(found) and close(result["mean"], sum(found) / 2, 1e-15)
          and close(result["deviation"], abs(found[0] - found[1]) / math.sqrt(2), 1e-15)
          and result["least_run"] == 1 + found.index(min(found)), "summary", summary)
    pages = {"curves": ["--sweep", "parameters.mass=1,2", "--sweep", "parameters.length=1:2:0.25"],
             "map": ["--sweep", "parameters.mass=1:7:1", "--sweep", "parameters.length=1:2.5:0.25"],
             "one": ["--sweep", "parameters.mass=-1,1,2,3"],
             "points": ["--draw", "parameters.mass=uniform:1:2", "--runs", "20", "--sweep", "simulate.method=index2,index3"]}
    for name, options in pages.items():
        study("free.yaml", *options, "--result", "a<b=" + ANGLE, "-o", name, "-q", status=3 if name == "one" else 0)
        text = pathlib.Path(name, "report.html").read_text()
        page = xml.etree.ElementTree.fromstring(text.split("\n", 1)[1])
        check(len(list(page.iter("{http://www.w3.org/2000/svg}svg")) + list(page.iter("svg"))) >= 1, name, "has no plot")
        check(len(list(page.iter("tr"))) == len(rows(name)) + 3, name, "has", len(list(page.iter("tr"))), "rows")
    check(pathlib.Path("curves/report.html").read_text().count("<circle") == 10, "points of curves")
    check(pathlib.Path("map/report.html").read_text().count("<title>run ") == 49, "cells of a map")
    check(pathlib.Path("one/report.html").read_text().count("<circle") == 3, "points of a curve with a run that failed")
    check(pathlib.Path("points/report.html").read_text().count("<circle") == 40, "points")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("model.yaml").write_text(MODEL)
        free = MODEL.replace("events:\n", "").replace("  low:", "# low:")
        pathlib.Path("free.yaml").write_text(free)
        pathlib.Path("long.yaml").write_text(free.replace("t_end: 0.5, step: 0.01", "t_end: 10, step: 0.002"))
        for test in (try_grid, try_ranges, try_random, try_measures, try_stop, try_failure, try_sentences, try_interrupt, try_state,
                     try_folder, try_full_disk, try_examples, try_warnings, try_hdf5, try_shown):
            test()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

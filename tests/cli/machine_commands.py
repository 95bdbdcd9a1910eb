#!/usr/bin/env python3
"""`alphastep run` and `alphastep check`: files, exit status, what goes to stdout and what to stderr.

usage: machine_commands.py COMMAND MAN_PAGE
"""

import csv
import json
import math
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMMAND, MAN_PAGE = sys.argv[1:]
PATIENCE = 600  # s; for something that takes a second, on a machine that has other things to do

PENDULUM = """alphastep: 1
title: Pendulum
gravity: [0, 0, -9.81]
parameters: {unused: 3, m: 1}
bodies:
  'bob, "heavy" é': {mass: m, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}
frames:
  spare: {body: ground}
joints:
  pivot: {type: revolute, bodies: [ground, 'bob, "heavy" é'], point: [0, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 1, step: 1.0e-3}
output: {interval: 0.01}
"""

# The bob is pulled away from a point 3 m off, but a rod of 1 m holds it: at a distance of 4 m that ends.
STUCK = """alphastep: 1
bodies:
  bob: {type: point, mass: 1, position: [0.6, 0.8, 0]}
joints:
  rod: {type: distance, bodies: [ground, bob], point: [0, 0, 0], second_point: [0.6, 0.8, 0]}
  pull: {type: distance, bodies: [ground, bob], point: [3, 0, 0], second_point: [0.6, 0.8, 0],
         length: {table: [[0, 2.53], [0.5, 2.53], [1, 3], [2, 5]]}}
assemble: true
simulate: {t_end: 2, step: 0.01}
output: {interval: 0.05}
"""

failures = []


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word) for word in words))


def run(*arguments, **options):
    return subprocess.run(
        [COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **options,
    )


def expect(status, words, *arguments, **options):
    """Runs the command; it must end with this status and say these words on stderr (None: nothing)."""
    result = run(*arguments, **options)
    check(result.returncode == status, arguments, "exit status", result.returncode, "not", status, result.stderr)
    if words is None:
        check(result.stderr == "", arguments, "stderr:", result.stderr)
    else:
        check(words in result.stderr, arguments, "stderr lacks", words, ":", result.stderr)
    return result


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def refuse(word):
    raise ValueError(word + " is not JSON")


def read_json(text):
    return json.loads(text, parse_constant=refuse)


def summary(folder):
    return read_json(read(folder + "/summary.json"))


def table(folder):
    """Names and rows of results.csv, which must have whole lines only."""
    text = read(folder + "/results.csv")
    check(text.endswith("\n"), folder, "results.csv: the last line is not whole")
    lines = list(csv.reader(text.splitlines()))
    rows = [[float(x) for x in line] for line in lines[1:]]
    check(all(len(row) == len(lines[0]) for row in rows), folder, "results.csv: lines differ in length")
    check(all(math.isfinite(x) for row in rows for x in row), folder, "results.csv: not finite")
    return lines[0], rows


def test_run(model):
    result = expect(0, None, "run", model, "-o", "out")
    check(len(result.stdout.splitlines()) == 3 and "1000 steps" in result.stdout, "stdout:", result.stdout)
    check("out/results.csv" in result.stdout, "stdout does not say where results are:", result.stdout)
    check(sorted(os.listdir("out")) == ["report.html", "results.csv", "results.h5", "state.bin", "summary.json"], os.listdir("out"))
    names, rows = table("out")
    check(names[0] == "time [s]", names[0])
    for name in (
        'bodies.bob, "heavy" é.position.x [m]',
        'bodies.bob, "heavy" é.quaternion.w [-]',
        "joints.pivot.angle [rad]",
        "joints.pivot.force.z [N]",
        "energy.balance [J]",
        "drift.position [m]",
        "solver.h [s]",
    ):
        check(name in names, name, "is not among", names)
    check(len(rows) == 101 and rows[0][0] == 0 and rows[-1][0] == 1, "rows:", len(rows), rows[-1][0])
    # phi'' = m g l / (J + m l^2) cos(phi) against the z axis: energy at each row
    angle = names.index("joints.pivot.angle [rad]")
    height = names.index('bodies.bob, "heavy" é.position.z [m]')
    kinetic = names.index("energy.kinetic [J]")
    for row in rows:
        check(abs(row[height] + math.sin(row[angle])) < 1e-9, "angle and position differ at", row[0])
        check(abs(row[kinetic] + 9.81 * row[height]) < 1e-4, "energy at", row[0], row[kinetic])
    s = summary("out")
    check(s["status"] == "done" and s["message"] == "" and s["t"] == 1 and s["rows"] == 101, s)
    check(s["statistics"]["steps"] == 1000 and s["statistics"]["newton_iterations"] >= 1000, s)
    check(s["options"]["method"] == "index2" and s["options"]["step"] == 1e-3, s)
    check(s["machine"]["degrees_of_freedom"] == 1 and s["settings"] == [], s)
    check(s["largest"]["energy.balance"] < 1e-4, s)


def test_again(model):
    expect(0, None, "run", model, "-o", "out2")
    check(read("out/results.csv") == read("out2/results.csv"), "the same file gives another table")
    one, two = summary("out"), summary("out2")
    check(one.pop("digest") != two.pop("digest") and list(one)[-1] == "seconds" and one.pop("seconds") is not None and two.pop("seconds") is not None, one)
    check(one == two, "the same file gives another summary")
    expect(2, "not empty", "run", model, "-o", "out2")
    result = expect(0, None, "run", model, "-o", "out2", "--force", "--quiet", "--set", "simulate.t_end=0.5")
    check(result.stdout == "", "--quiet:", result.stdout)
    check(summary("out2")["t"] == 0.5 and summary("out2")["settings"] == ["simulate.t_end=0.5"], summary("out2"))
    result = expect(0, None, "run", model, "-o", "deep/in/it", "--json")
    check(read_json(result.stdout) == summary("deep/in/it"), "--json is not the summary")
    expect(0, None, "run", model, "-q")
    check(os.path.exists("pendulum-results/results.csv"), "no default folder", os.listdir("."))
    os.mkdir("swing")
    shutil.copy(model, "swing/model.yaml")
    for path in ("swing/model.yaml", "./swing/../swing/model.yaml"):
        expect(0, None, "run", path, "-q", "--force")
        check(os.path.exists("swing-results/results.csv"), "no default folder", os.listdir("."))
        shutil.rmtree("swing-results")
    expect(0, None, "run", "model.yaml", "-q", cwd="swing")
    check(os.path.exists("swing/model-results/results.csv"), "no default folder", os.listdir("swing"))
    for locale in ("de_DE.UTF-8", "C"):
        expect(0, None, "run", model, "-q", "--force", "-o", "out2", env={**os.environ, "LC_ALL": locale})
        check(read("out/results.csv") == read("out2/results.csv"), "the table depends on the locale", locale)


def test_refused(model):
    expect(2, "Which model", "run")
    expect(2, "One model", "run", model, model)
    expect(2, "--nonsense", "run", model, "--nonsense")
    expect(2, "`-o` needs", "run", model, "-o")
    expect(2, "`--set` needs", "run", model, "--set")
    expect(2, "--set nothing", "run", model, "--set", "nothing")
    expect(2, "--force", "check", model, "--force")
    expect(2, "error", "run", model, "--set", "simulate.t_nd=1")
    expect(4, "missing.yaml", "run", "missing.yaml")
    expect(4, "missing.yaml", "check", "missing.yaml")
    expect(2, "bad.yaml:1:", "run", write("bad.yaml", "alphastep: 1\nbodys: {}\n".replace("1\nb", "1, b")))
    text = PENDULUM.replace("0.01}", "0.01, channels: [bodies.bob, joints.pivto.angle]}")
    result = expect(2, "channels.yaml:12:", "run", write("channels.yaml", text))
    check(len(result.stderr.splitlines()) == 2 and "did you mean `pivot`?" in result.stderr, result.stderr)
    text = PENDULUM.replace("simulate: {t_end: 1, step: 1.0e-3}\n", "")
    expect(2, "simulate", "run", write("endless.yaml", text))
    expect(0, None, "check", "endless.yaml")
    text = PENDULUM.replace("interval: 0.01", "times: [0.5, 2]")
    for command in ("run", "check"):
        expect(2, "late.yaml:12:23: error: output.times: 2 s is after t_end = 1 s", command, write("late.yaml", text))
        expect(2, "error: output.interval: 1e-12 s would give", command, model, "--set", "output.interval=1e-12")
    expect(2, "cannot be set", "check", model, "--set", "include=missing.yaml")
    text = PENDULUM.replace("spare", '"a\\nb\\e[31m"')
    result = expect(2, "bad.yaml:8:3: error: frames.a?b?[31m: ", "check", write("bad.yaml", text))
    check(len(result.stderr.splitlines()) == 1 and "\x1b" not in result.stderr, repr(result.stderr))
    with open("bad.yaml", "wb") as file:
        file.write(b"alphastep: 1\n# \xc3\xa9\ntitle: \xff\n")
    expect(2, "bad.yaml:3:8: error: invalid leading UTF-8 octet", "check", "bad.yaml")
    for name in ("bad", "channels", "endless", "late", "missing"):
        check(not os.path.exists(name + "-results"), name, "was refused and has a folder")


def test_times(_):
    text = PENDULUM.replace("interval: 0.01", "times: [0, 0.1234, 1], channels: [solver, bodies.bob*.position.z]")
    expect(0, None, "run", write("times.yaml", text), "-o", "times", "-q")
    names, rows = table("times")
    check([row[0] for row in rows] == [0, 0.1234, 1], rows)
    check(len(names) == 5 and names[1] == "solver.h [s]", names)
    text = text.replace("[solver, ", "[bodies.*.position, bodies.bob*.position.x, ")
    expect(0, None, "run", write("twice.yaml", text), "-o", "twice", "-q")
    names, _ = table("twice")
    check(len(names) == 4, "what is chosen twice is not written once:", names)


def test_failed_files(model):
    write("file", "")
    expect(4, "file/below", "run", model, "-o", "file/below")
    expect(4, "file", "run", model, "-o", "file")
    if os.geteuid() != 0:
        os.mkdir("locked", 0o500)
        expect(4, "locked", "run", model, "-o", "locked")
    os.makedirs("full/results.csv")
    expect(4, "full/results.csv cannot be written: it is no file, but a folder", "run", model, "-o", "full", "--force")
    check(summary("full")["status"] == "failed", summary("full"))
    os.makedirs("taken/summary.json")
    expect(4, "taken/summary.json", "run", model, "-o", "taken", "--force")
    check(os.listdir("taken") == ["summary.json"], os.listdir("taken"))
    size = 250000
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
    result = expect(4, "cannot be written: File too large", "run", model, "-o", "small", "--set", "output.interval=1.0e-3",
                    preexec_fn=limit)
    check(result.stdout == "", result.stdout)
    _, rows = table("small")
    check(len(rows) > 10 and summary("small")["status"] == "failed", len(rows), summary("small"))
    check("File too large" in summary("small")["message"], summary("small"))
    check(summary("small")["rows"] == len(rows), summary("small")["rows"], len(rows))
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = subprocess.run([COMMAND, "check", model], stdout=full, stderr=subprocess.PIPE, check=False)
    check(result.returncode == 4, "check >/dev/full: exit status", result.returncode)


def test_names_of_files(model):
    os.mkdir(b"strange")
    shutil.copy(model, b"strange/\xff\xc3\xa9.yaml")
    for command in ("run", "check"):
        result = subprocess.run([COMMAND, command, b"strange/\xff\xc3\xa9.yaml", "--json"], capture_output=True, check=False)
        check(read_json(result.stdout.decode())["model"] == "strange/\ufffdé.yaml", result)


def test_stuck(_):
    model = write("stuck.yaml", STUCK)
    expect(3, "t = 1.", "run", model, "-o", "stuck")
    s = summary("stuck")
    check(s["status"] == "failed" and "t = 1." in s["message"] and 1.3 < s["t"] < 1.6, s)
    _, rows = table("stuck")
    # The last row is where it failed, behind those of every 0.05 s.
    check(len(rows) == s["rows"] > 5 and s["t"] == rows[-1][0] > rows[-2][0], rows[-2][0], rows[-1][0], s)
    check(abs(rows[-2][0] / 0.05 - round(rows[-2][0] / 0.05)) < 1e-9, rows[-2][0])
    expect(3, "t = 1.", "run", model, "-o", "late", "--set", "output={times: [2]}")  # no row before that
    check(summary("late")["t"] == s["t"] and len(table("late")[1]) == 1, summary("late"))
    expect(3, "t = 1.", "run", "--resume", "stuck")
    check(table("stuck")[1] == rows, "a failed run that is resumed has other rows")
    check(os.path.exists("stuck/state.bin"), "no state after a failure")
    expect(3, "7 steps", "run", model, "-o", "short", "--set", "simulate.max_steps=7")
    check(summary("short")["statistics"]["steps"] == 7, summary("short"))
    text = STUCK.replace("[[0, 2.53], [0.5, 2.53], [1, 3], [2, 5]]", "[[0, 6], [2, 6]]").replace("assemble: true\n", "")
    result = run("run", write("apart.yaml", text), "-o", "apart")
    check(result.returncode == 3 and summary("apart")["status"] == "failed", result)
    names, rows = table("apart")
    check(names[0] == "time [s]" and rows == [], names, rows)
    check(run("check", "apart.yaml").returncode == 3, "check of what cannot start")


TOP = """alphastep: 1
gravity: [0, 0, -9.81]
bodies:
  top: {mass: 15, inertia: [0.234375, 0.46875, 0.234375], position: [0, 1, 0], angular_velocity: [0, 150, -4.61538]}
joints:
  tip: {type: spherical, bodies: [ground, top], point: [0, 0, 0]}
simulate: {t_end: 0.01, step: 1.0e-3}
"""


def test_given(_):
    """What a start changes of what is given is said by both commands, on stderr or in the list, and in both kinds of JSON."""
    model = write("top.yaml", TOP)
    for name, setting, words in (
        ("kept", "title=kept", []),
        ("changed", "bodies.top.velocity=[0, 0, 0]",
         ['Body "top" starts with the velocity (0.0710058, 0, 0) m/s instead of (0, 0, 0) m/s as given: joint "tip" demands it.',
          'instead of (0, 150, -4.61538) rad/s as given: joint "tip" demands it.']),
    ):
        result = run("run", model, "-o", name, "--no-report", "--set", setting)
        check(result.returncode == 0 and result.stderr.count("warning:") == len(words), result)
        text = run("check", model, "--set", setting).stdout
        check(text.count("warning:") == len(words), text)
        for word in words:
            check(word in result.stderr and word in text, word, "is not in", result.stderr, text)
        listed = json.loads(run("check", model, "--json", "--set", setting).stdout)["start_changes"]
        check(listed == summary(name)["start_changes"] and len(listed) == len(words), listed)
    check(listed[0]["body"] == "top" and listed[0]["quantity"] == "velocity" and listed[0]["given"] == [0, 0, 0]
          and listed[0]["joints"] == ["tip"] and not listed[0]["assembled"], listed)
    _, rows = table("kept")
    check(abs(rows[0][8] - 4.61538) < 1e-12, "the top starts with", rows[0][8], "m/s")
    for command in ("run", "check"):
        more = ["-o", "refused"] if command == "run" else []
        expect(3, 'joint "tip", row 1', command, model, *more, "--set", "bodies.top.fixed=true")
    text = TOP.replace("simulate:", "  swing: {type: revolute, bodies: [ground, arm], point: [0, 0, 0], axis: [0, 0, 1], "
                       "start: {angle: 1}}\nsimulate:").replace("joints:", "  arm: {mass: 1, inertia: [1, 1, 1], position: [2, 0, 0]}\njoints:")
    result = run("run", write("arm.yaml", text), "-o", "arm", "--no-report")
    check("1 given position was moved" in result.stdout and "warning" not in result.stderr, result)
    check('Body "arm" starts with the position (1.0806' in run("check", "arm.yaml").stdout, run("check", "arm.yaml"))


def test_overflow(_):
    text = PENDULUM.replace("simulate", "forces: {wind: {type: load, body: 'bob, \"heavy\" é', "
                            "force: [1, 0, 0], factor: {table: [[0, 0], [0.5, 0], [0.6, 1.0e+300]], interpolation: monotone}}}\nsimulate")
    expect(3, "t = 0.5", "run", write("storm.yaml", text), "-o", "storm")
    _, rows = table("storm")
    check(summary("storm")["status"] == "failed" and 0.4 < rows[-1][0] < 0.6, rows[-1][0], summary("storm"))


def wait_for(what, process):
    """Waits until something is true; a row is there after a second or two."""
    end = time.monotonic() + PATIENCE
    while not what():
        if process.poll() is not None or time.monotonic() > end:
            check(False, "nothing was written in time, or the run ended by itself", process.returncode)
            return
        time.sleep(0.02)


def started(folder):
    return lambda: os.path.exists(folder + "/results.csv") and read(folder + "/results.csv").count("\n") > 1


def test_signals(model):
    for number in (signal.SIGINT, signal.SIGTERM):
        folder = f"signal-{number}"
        process = subprocess.Popen(
            [COMMAND, "run", model, "-o", folder, "--set", "simulate.t_end=100000", "--set", "output.interval=100"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(started(folder), process)
        check(summary(folder)["status"] == "running", summary(folder))
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
        check(process.returncode == 128 + number, "signal", number, "exit status", process.returncode, errors)
        check("interrupted" in errors and len(errors.splitlines()) == 1, errors)
        s = summary(folder)
        _, rows = table(folder)
        check(s["status"] == "interrupted" and s["rows"] == len(rows), s, len(rows))
        check(0 <= s["t"] - rows[-1][0] < 100, s, rows[-1][0])
        check(os.path.getsize(folder + "/state.bin") > 100, "no state")


def test_signal_at_once(model):
    """From when there is a summary on, a signal is told there."""
    for i in range(8):
        folder = f"early-{i}"
        process = subprocess.Popen(
            [COMMAND, "run", model, "-o", folder, "--set", "simulate.t_end=100000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(folder + "/summary.json") and process.poll() is None:
            pass
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
        check(process.returncode == 128 + signal.SIGTERM, "exit status", process.returncode)
        check(summary(folder)["status"] == "interrupted", summary(folder)["status"])


def test_signal_in_report(_):
    """A signal ends the process that makes the report, too. (If the report is made before, there is nothing to see.)"""
    bodies = "".join(f"  b{i}: {{mass: 1, inertia: [1, 1, 1], position: [{i}, 0, 0]}}\n" for i in range(300))
    write("many.yaml", "alphastep: 1\nbodies:\n" + bodies + "simulate: {t_end: 1, step: 0.5}\n")
    process = subprocess.Popen([COMMAND, "run", "many.yaml", "-o", "many", "--no-sync"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not os.path.exists("many/report.html.new") and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    check(process.returncode in (0, 128 + signal.SIGTERM), "exit status", process.returncode, errors)
    if process.returncode != 0:
        check("interrupted while its report was made; `alphastep report many` makes it" in errors, errors)
        check(summary("many")["status"] == "done", summary("many")["status"])
    expect(0, None, "report", "many")  # nobody holds the folder


def test_accuracy(model):
    """Errors are told everywhere, and are those of a run against a much finer one; nothing else changes."""
    coarse = ["--set", "simulate.step=0.02"]
    expect(0, None, "run", model, "-o", "bare", *coarse)
    result = expect(0, None, "run", model, "-o", "known", "--accuracy", *coarse)
    expect(0, None, "run", model, "-o", "fine", "--set", "simulate.step=0.001")
    check(read("bare/results.csv") == read("known/results.csv"), "results have changed")
    check("accuracy" not in summary("bare"), "a run without estimates has some")
    names, rows = table("known")
    _, finer = table("fine")
    a = summary("known")["accuracy"]
    check(a["message"] == "" and a["rows"] == 101 and a["steps"] == 100 and a["step"] == 0.01 and a["until"] == 1, a)
    listed = {channel["name"]: channel for channel in a["channels"]}
    seen = 0
    for i, name in enumerate(names[1:], 1):
        plain, unit = re.fullmatch(r"(.*) \[(.*)\]", name).groups()
        none = plain.startswith(("solver.", "drift.")) or plain == "energy.balance"
        check((plain not in listed) == none, "errors of", plain)
        if none:
            continue
        e = listed[plain]
        true = max(abs(row[i] - other[i]) for row, other in zip(rows, finer))
        check(e["unit"] == unit and 0 <= e["t"] <= 1 and e["rms"] <= e["error"], e)
        if true > 1e-6:
            seen += 1
            check(true / 3 < e["error"] < 3 * true, plain, "is off by", true, "estimated:", e)
    check(seen >= 8, "only", seen, "channels have errors")
    worst = listed["joints.pivot.angle"]
    check("Estimated errors, by a second run with steps of 0.01 s (100 steps)" in result.stdout, result.stdout)
    check(re.search(r"%.2g rad +\S+  joints\.pivot\.angle at t = %g s" % (worst["error"], worst["t"]), result.stdout),
          "the angle's error of", worst, "is not in", result.stdout)
    # the same rows by export, and in a plain report
    expect(0, None, "export", "known", "--channels", "errors.joints.pivot.angle", "-o", "errors.csv")
    with open("errors.csv", newline="") as file:
        lines = list(csv.reader(file))
    check(lines[0][1] == "errors.joints.pivot.angle [rad]" and len(lines) == 102, lines[:2])
    largest = max(abs(float(line[1])) for line in lines[1:])
    check(abs(largest - worst["error"]) < 1e-3 * largest, largest, worst)
    expect(0, None, "report", "known", "--plain", "-o", "plain.html")
    page = read("plain.html")
    check("estimated error" in page and 'class="band"' in page, "the plain report has no errors")
    check("%.2g</td>" % worst["error"] in page, "the plain report lacks", worst)
    expect(0, None, "report", "bare", "--plain", "-o", "bare.html")
    check("estimated error" not in read("bare.html") and 'class="band"' not in read("bare.html"), "errors without --accuracy")
    # as a key of the file, and on stdout
    write("known.yaml", read(model).replace("step: 1.0e-3", "step: 0.02, accuracy: true"))
    result = expect(0, None, "run", "known.yaml", "-o", "key", "--json")
    check(read_json(result.stdout)["accuracy"] == a, "accuracy: true is not --accuracy")
    # automatic steps
    write("automatic.yaml", read(model).replace("step: 1.0e-3", "tol: {rtol: 1e-4}"))
    result = expect(0, None, "run", "automatic.yaml", "-o", "automatic", "--accuracy")
    check("with a tolerance of 2.5e-05" in result.stdout, result.stdout)
    expect(2, "leave `--accuracy` away", "run", "--resume", "known", "--accuracy")
    write("wrong.yaml", read(model).replace("step: 1.0e-3", "step: 0.02, accuracy: 3"))
    expect(2, "accuracy", "run", "wrong.yaml", "-o", "wrong")


def test_threads(model):
    """Threads change nothing; numbers of them that are none are refused."""
    chain = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/machines/chain/model.yaml")
    for threads in ("1", "3"):
        expect(0, None, "run", chain, "-o", "threads" + threads, "--set", "simulate.t_end=0.01", "--set", "parameters.n=2500", "--threads", threads,
               "--no-report")
    check(read("threads1/results.csv") == read("threads3/results.csv"), "results depend on the number of threads")
    for threads in ("0", "65", "two"):
        expect(2, "is not like `--threads 4`, and at most 64", "run", model, "--threads", threads)


def test_accuracy_resumed(model):
    """A run that is killed goes on with its errors."""
    long = ["--accuracy", "--no-report", "--set", "simulate.t_end=60", "--set", "output.interval=0.5"]
    expect(0, None, "run", model, "-o", "whole", *long)
    process = subprocess.Popen([COMMAND, "run", model, "-o", "part", *long], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE
    while not os.path.exists("part/state.bin") and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.kill()
    process.wait(timeout=PATIENCE)
    expect(0, None, "run", "--resume", "part", "--no-report")
    for folder in ("whole", "part"):
        expect(0, None, "export", folder, "-o", folder + ".csv")
    check(read("whole.csv") == read("part.csv"), "a resumed run has other errors")
    check(summary("whole")["accuracy"] == summary("part")["accuracy"], "a resumed run has another summary of errors")


def test_vanished(model):
    process = subprocess.Popen(
        [COMMAND, "run", model, "-o", "gone", "--set", "simulate.t_end=100000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(started("gone"), process)
    shutil.rmtree("gone")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    check(process.returncode == 4 and "gone/summary.json" in errors, process.returncode, errors)


def on_terminal(*arguments, **environment):
    """Runs the command with stderr on a terminal; returns what it shows there."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=follower,
                               env={**os.environ, **environment})
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    check(process.wait(timeout=PATIENCE) == 0, arguments, "exit status", process.returncode)
    return shown.decode()


def test_progress(model):
    shown = on_terminal("run", model, "-o", "shown", NO_COLOR="1")
    line = r" *\d+ %  t = \S+ s of 1 s  \S+ x real time  (\d+ s|\?) left *"
    lines = [part for part in shown.split("\r") if part.strip()]
    check(lines and all(re.fullmatch(line, part) for part in lines), repr(shown))
    check(shown.endswith("\r") and shown.rsplit("\r", 2)[1].strip() == "", repr(shown[-100:]))
    check("\x1b" not in shown, "an escape sequence", repr(shown))
    check(on_terminal("run", model, "-o", "shown", "--force", "--quiet") == "", "--quiet shows progress")


def test_check(model):
    result = expect(0, None, "check", model)
    for words in ("bodies              1, 1 kg, centre of mass (1, 0, 0) m", "degrees of freedom  1 of 6",
                  "0 closed loops", "1 s in 1000 steps of 0.001 s"):
        check(words in result.stdout, words, "is not in", result.stdout)
    warnings = [line for line in result.stdout.splitlines() if line.startswith("warning: ")]
    check(len(warnings) == 2 and "pendulum.yaml:4:" in warnings[0] and "`unused`" in warnings[0], warnings)
    check('frame "spare"' in warnings[1], warnings)
    s = read_json(expect(0, None, "check", model, "--json").stdout)
    check(s["degrees_of_freedom"] == 1 and s["mass"] == 1 and s["loops"] == 0 and len(s["warnings"]) == 2, s)
    check(s["redundant_joints"] == [] and s["center_of_mass"] == [1, 0, 0], s)
    text = PENDULUM.replace("0.01}", "0.01, channels: [frames.spare.position]}").replace("unused: 3, ", "")
    s = read_json(expect(0, None, "check", write("used.yaml", text), "--json").stdout)
    check(s["warnings"] == [] and s["channels"] == 3, s)
    write("part.yaml", "alphastep: 1\nparameters: {of_part: 1}\n")  # not every machine needs all of a part
    s = read_json(expect(0, None, "check", write("whole.yaml", text + "include: part.yaml\n"), "--json").stdout)
    check(s["warnings"] == [], s)
    check(not os.path.exists("used-results"), "check writes")


def test_help(_):
    man = read(MAN_PAGE).replace("\\-", "-")
    whole = expect(0, None, "help").stdout
    check(whole == run("--help").stdout, "help and --help differ")
    for command in re.findall(r"^  (\w+)  ", whole, re.M):
        text = expect(0, None, "help", command).stdout
        check(text == run(command, "--help").stdout, command, "help and --help differ")
        check(re.search(rf"^\.B alphastep {command}$", man, re.M), "the man page has no", command)
        for option in re.findall(r"^ *(-[-\w]+)(?: [A-Z=]+)*  ", text, re.M):
            check(option in man, "the man page lacks", option)
    expect(2, "did you mean `run`?", "help", "rum")
    expect(2, "One command", "help", "run", "check")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        model = write("pendulum.yaml", PENDULUM)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                before = len(failures)
                try:
                    test(model)
                except (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as error:
                    check(False, name, repr(error))
                print(name, "ok" if len(failures) == before else "FAILED", flush=True)
        os.chdir("/")
    for failure in failures:
        print("FAILED:", failure, file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())

#!/usr/bin/env python3
"""Files that are made to do harm: each is refused by a sentence, or harmless, in bounded time and memory.

usage: hard_to_hurt.py COMMAND SANITIZED [TEST...]

SANITIZED is 1 if the command is built with sanitizers, which need memory of their own.
"""

import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

COMMAND, SANITIZED = sys.argv[1], sys.argv[2] == "1"
PATIENCE = 600  # s; what takes a few seconds, on a machine that has other things to do
MEMORY = 1500  # MiB

HEAD = "alphastep: 1\n"
BODY = HEAD + "bodies: {a: {type: point, mass: 1}}\nsimulate: {t_end: 1, step: 0.1}\n"

failures = []


def limit_memory():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY << 20, MEMORY << 20))


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
                          check=False, preexec_fn=limit_memory)


def check(condition, *words):
    if not condition:
        failures.append(" ".join(str(word)[:400] for word in words))


def expect(status, words, path, *arguments):
    """Checks a model file: the exit status, the first line on stderr, and that nothing commands the terminal."""
    try:
        result = run("check", path, *arguments)
    except subprocess.TimeoutExpired:
        check(False, path, "takes too long")
        return
    shown = (result.stdout + result.stderr).decode(errors="replace")
    check(result.returncode == status, path, "exit status", result.returncode, "not", status, shown)
    check(words in shown, path, "does not say", repr(words), "but", shown)
    check(all(c.isprintable() or c == "\n" for c in shown), path, "shows", repr(shown))
    check(len(shown) < 30000, path, "says too much:", len(shown))


def write(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def test_deep():
    deep = "lists and mappings stand more than 64 deep inside each other"
    expect(2, deep, write("flow.yaml", HEAD + "bodies: " + "[" * 100000 + "]" * 100000))
    expect(2, deep, write("map.json", '{"alphastep": 1, "bodies": ' + '{"a": ' * 100000 + "1" + "}" * 100001))
    expect(2, deep, write("block.yaml", HEAD + "bodies:\n" + "".join(" " * i + "a:\n" for i in range(1, 3000))))
    for term in ("(", "-", "2^", "sin(", "1+"):
        text = term * (9000 // len(term)) + "1" + ")" * (term.count("(") * (9000 // len(term)))
        result = run("check", write("term.yaml", HEAD + f"parameters: {{a: '{text}'}}\n"))
        check(result.returncode == 2 and b"term.yaml:" in result.stderr, term, result.stderr)
    expect(2, "an expression of more than", write("long.yaml", HEAD + "parameters:\n  a: " + "1+" * 2000000 + "1\n"))
    text = "".join(f"  p{i}: p{i - 1}\n" for i in range(100000, 0, -1))
    expect(2, "more than 100 parameters depend on one another", write("chain.yaml", HEAD + "parameters:\n" + text + "  p0: 1\n"))


def test_giant():
    expect(2, "gravity.0: the number 1e999 is too large", write("big.yaml", BODY + "gravity: [1e999, 0, 0]\n"))
    expect(2, "gravity.0: the number 9999", write("digits.yaml", BODY + "gravity: [" + "9" * 100000 + ", 0, 0]\n"))
    text = BODY.replace("mass: 1", "mass: 1.0e+308, position: [1e308, 1e308, 1e308]") + "gravity: [0, 0, -1e308]\n"
    expect(3, "t = 0 s", write("overflow.yaml", text))
    expect(2, "would give more than 1e9 rows", write("rows.yaml", BODY + "output: {interval: 1e-300}\n"))
    expect(2, "more than 2000000 things", write("things.yaml", HEAD + "repeat:\n  - to: 1000\n    repeat:\n      - to: 1000\n"
           "        index: j\n        repeat:\n          - to: 1000\n            index: k\n            bodies: {}\n"))


def test_many():
    laughs = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    laughs += "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30))
    expect(2, "more than 4000000 values, counting what aliases repeat", write("laughs.yaml", HEAD + laughs))
    points = "shapes: [{type: polyline, points: [" + ",".join(["[0,0,0]"] * 1000000) + "]}]\n"
    expect(2, "more than 4000000 values", write("points.yaml", BODY + points))
    expect(0, "7 channels", write("channels.yaml", BODY + "output: {channels: [" + "bodies.a.position,bodies.a.velocity,energy.balance," * 300000 + "]}\n"))
    expect(2, "which is not there", write("wrong.yaml", BODY + "output: {channels: [" + "bodies.b," * 100000 + "]}\n"))
    times = ",".join(f"{i / 1e6:.9f}" for i in range(1000001))
    expect(0, "bodies", write("times.yaml", BODY + "output: {times: [" + times + "]}\n"))
    pairs = ",".join(f"[{i},1]" for i in range(1000000))
    load = "forces: {l: {type: load, body: a, force: [1, 0, 0], factor: {table: [" + pairs + "]}}}\n"
    expect(0, "forces              1", write("table.yaml", BODY + load))
    keys = "".join(f"  b{i}: {{type: point, mass: 1}}\n" for i in range(100000))
    expect(2, 'the key "b1" is there already', write("keys.yaml", HEAD + "bodies:\n" + keys + "  b1: {type: point, mass: 1}\n"))
    expect(2, "The model has no bodies", write("text.yaml", HEAD + "title: " + "x" * 30000000 + "\n"))


def test_bytes():
    expect(2, "control characters are not allowed", write("nul.yaml", b"alphastep: 1\ntitle: a\0b\n"))
    expect(2, "may not hold the character \\0", write("escaped.yaml", BODY + 'title: "a\\0b"\n'))
    expect(2, "bytes.yaml:2:", write("bytes.yaml", b"alphastep: 1\ntitle: \xc3\x28\n"))
    expect(2, "surrogate.yaml:", write("surrogate.yaml", b"alphastep: 1\ntitle: \xed\xa0\x80\n"))
    for escape in ("\\e[31m", "\\x9b31m", "\\u202e", "\\u2066", "\\u2028", "\\x7f", "\\r", "\\b"):
        name = "a" + escape + "b"
        expect(2, "a?", write("name.yaml", HEAD + f'bodies: {{"{name}": {{type: point, mass: 1}}}}\n'))
        expect(2, "name.yaml:2:", write("name.yaml", HEAD + f'bodies: {{"{name}": {{type: point, mass: -1}}}}\n'))
        expect(2, "a?", write("name.yaml", HEAD + f'"{name}": 1\n'))
        expect(2, "a?", write("name.yaml", BODY + f'output: {{channels: ["bodies.{name}"]}}\n'))
        expect(4, "a?", write("name.yaml", BODY + f'include: "{name}"\n'))
        expect(2, "error: the title has what cannot be printed", write("name.yaml", BODY + f'title: "{name}"\n'))
    expect(0, "Ünïcödé ✓ 汉字", write("good.yaml", BODY + "title: Ünïcödé ✓ 汉字\n"))


def test_paths():
    os.makedirs("p/sub")
    os.chdir("p")
    os.mkfifo("pipe")
    os.symlink("/dev/zero", "zero")
    os.symlink("loop", "loop")
    with open("huge", "wb") as file:
        file.truncate(100 << 30)
    write("itself.yaml", BODY + "include: itself.yaml\n")
    write("one.yaml", BODY + "include: two.yaml\n")
    write("two.yaml", HEAD + "include: sub/../sub/three.yaml\n")
    no_file, outside = "is no file to read: a folder, a device or a pipe", "is no file below the folder of this one"
    for path, status, words in (
        ("pipe", 2, no_file), ("zero", 2, no_file), ("sub", 2, no_file), (".", 2, no_file), ("loop", 4, "cannot be read"),
        ("huge", 2, "huge: error: include: the file has more than 64 MiB"), ("../x", 2, outside), ("/etc/passwd", 2, outside),
        ("sub/../../x", 2, outside), ("", 2, outside), ("..", 2, outside), ("a" * 5000, 4, "cannot be read"),
    ):
        expect(status, words, write("include.yaml", BODY + f'include: "{path}"\n'))
        if status == 2 and path != "huge":
            expect(2, words, write("matrix.yaml", HEAD + f'superelements: {{s: {{mass: "{path}"}}}}\n'))
            expect(2, words, write("mesh.yaml", BODY + f'shapes: [{{type: mesh, file: "{path}"}}]\n'))
    expect(2, "huge:1: A Matrix Market file begins with", write("matrix.yaml", HEAD + "superelements: {s: {mass: huge}}\n"))
    expect(2, "includes itself", "itself.yaml")
    expect(2, outside, "one.yaml")
    for sizes, words in (("2000000000 2000000000 1", "it must be from 1 to"), ("0 1 1", "it must be from 1 to"),
                         ("10 10 2000000000", "matrix.mtx:")):
        write("matrix.mtx", f"%%MatrixMarket matrix coordinate real general\n{sizes}\n1 1 1\n")
        expect(2, words, write("matrix.yaml", HEAD + "superelements: {s: {mass: matrix.mtx}}\n"))
    write("matrix.mtx", "%%MatrixMarket matrix array real general\n100000 100000\n1\n")
    expect(2, "too many entries", "matrix.yaml")
    expect(2, "huge: error: the file has more than 64 MiB", "huge")
    for path in ("pipe", "zero", "/dev/zero", "sub"):
        expect(4, "error: the file cannot be read: it is no file, but a folder, a device or a pipe", path)
    expect(4, "loop: error: the file cannot be read", "loop")
    os.chdir("..")


def test_output():
    model = write("model.yaml", BODY)
    write("file", "")
    os.symlink("nowhere/x", "dangling")
    os.symlink("self", "self")
    for folder in ("", "dangling", "self", "file", "file/x", "/dev/null", "x" * 300, "/proc/x"):
        result = run("run", model, "-q", "--force", "-o", folder)
        check(result.returncode == 4 and b"could not be written: " in result.stderr, repr(folder[:20]), result)
    check(os.readlink("dangling") == "nowhere/x" and not os.path.exists("nowhere"), "a link was followed")
    with open("file", encoding="utf-8") as file:
        check(file.read() == "", "a file was written over")
    os.mkdir("used")
    own = ("results.csv", "results.h5", "summary.json", "state.bin", "report.html")
    for name in ("results.csv", "results.h5.copy", *(name + ".new" for name in own)):
        os.symlink("../file", os.path.join("used", name))
    result = run("run", model, "-q", "--force", "-o", "used")
    check(result.returncode == 0 and os.path.getsize("file") == 0, "a link in a folder was followed", result)
    for tail in ("", ".new"):
        for name in own:
            path = os.path.join("used", name + tail)
            if os.path.exists(path):
                os.remove(path)
            os.mkfifo(path)
        result = run("run", model, "-q", "--force", "-o", "used")
        check(result.returncode == 0 and sorted(os.listdir("used")) == sorted(own), "a pipe in a folder", result, os.listdir("used"))
        check(all(os.path.isfile(os.path.join("used", name)) for name in own), "a pipe is left")
    before = read("used/report.html")
    for plant in (lambda path: os.symlink("../file", path), os.mkfifo):
        plant("used/report.html.new")
        result = run("report", "used", "-q")
        check(result.returncode == 0 and read("used/report.html") == before, "report with a planted file", result)
        check(os.path.getsize("file") == 0 and not os.path.lexists("used/report.html.new"), "report has followed a link")
    os.mkdir("used/report.html.new")
    result = run("report", "used", "-q")
    check(result.returncode == 4 and b"used/report.html cannot be written: " in result.stderr, "a folder is in the way", result)
    check(read("used/report.html") == before, "the old report is lost")
    os.rmdir("used/report.html.new")


def test_pipes():
    """Where a file is wanted, a pipe is refused at once, not waited for; so is a device."""
    model, no_file = write("model.yaml", BODY), b"it is no file, but a folder, a device or a pipe"
    run("run", model, "-q", "-o", "out")
    os.mkfifo("pipe")
    for command in (("run", "pipe"), ("check", "pipe"), ("run", "/dev/null"), ("export", "out", "-o", "pipe"),
                    ("export", "out", "-o", "/dev/null"), ("report", "out", "-o", "pipe"), ("report", "out", "-o", "/dev/full")):
        result = run(*command)
        check(result.returncode == 4 and no_file in result.stderr, command, result)
    for name, commands in (("results.h5", (("export", "out"), ("report", "out"), ("run", "--resume", "out"))),
                           ("summary.json", (("report", "out"),)), ("state.bin", (("run", "--resume", "out"),)),
                           ("results.csv", (("run", "--resume", "out"),))):
        path = os.path.join("out", name)
        os.rename(path, "kept")
        os.mkfifo(path)
        for command in commands:
            result = run(*command)
            check(result.returncode in (2, 4) and no_file in result.stderr and name.encode() in result.stderr, command, name, result)
        os.remove(path)
        os.rename("kept", path)


def test_writers():
    """One writer per folder, whatever is asked for; who is killed leaves no lock."""
    model = write("long.yaml", BODY.replace("t_end: 1, step: 0.1", "t_end: 1e9, step: 0.1"))
    run("run", write("model.yaml", BODY), "-q", "-o", "out")
    first = subprocess.Popen([COMMAND, "run", model, "-q", "-o", "out", "--force"], stdin=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE
    while not os.path.exists("out/state.bin") or b"running" not in read("out/summary.json"):
        check(first.poll() is None and time.monotonic() < end, "the run does not go on")
        time.sleep(0.05)
    for command in (("run", model, "--force", "-o", "out"), ("run", "--resume", "out"), ("report", "out")):
        result = run(*command)
        check(result.returncode == 2 and b"`out` is in use: another process is writing to it." in result.stderr, command, result)
    check(run("export", "out", "-o", "out.csv").returncode == 0, "a folder that is written to cannot be read")
    check(run("report", "out", "-o", "out.html").returncode == 0, "a folder that is written to has no report elsewhere")
    check(first.poll() is None, "the run has ended")
    first.kill()
    first.wait()
    check(run("report", "out", "-q").returncode == 0, "a killed process has left its lock")
    both = [subprocess.Popen([COMMAND, "run", "model.yaml", "-q", "-o", "out", "--force"], stderr=subprocess.PIPE) for _ in range(6)]
    ends = sorted((process.wait(), process.stderr.read()) for process in both)
    check(ends[0][0] == 0 and all(status in (0, 2) for status, _ in ends), "runs at the same time", ends)
    check(run("export", "out", "-o", "out.csv").returncode == 0, "runs at the same time leave results that cannot be read")


def test_inputs_spared():
    """What a machine is read from, or what belongs to a run that is looked at, is not written over."""
    reads = "is a file that the machine is read from: choose another place with `-o`."
    text = BODY + "include: part.yaml\n"
    os.makedirs("in")
    write("in/part.yaml", HEAD)
    channels = ("--inputs", "bodies.a.force.x", "--outputs", "bodies.a.position.x")
    for name, command in (("model.yaml", ("equilibrium", "-o", "in/model.yaml")), ("model.yaml", ("linearize", "--at", "0", "-o", "link.yaml")),
                          ("model.yaml", ("equilibrium", "--follow", "t=0:1", "-o", "in/part.yaml")), ("model.yaml", ("inverse", "-o", "in/../in/part.yaml")),
                          ("modes.json", ("modes", "--at", "0", "-o", "in")), ("response.csv", ("response", "--at", "0", "-o", "in", *channels)),
                          ("results.csv", ("run", "--force", "-o", "in")), ("report.html", ("run", "--force", "-o", "in"))):
        model = write(os.path.join("in", name), text)
        if not os.path.lexists("link.yaml"):
            os.symlink("in/model.yaml", "link.yaml")
        result = run(command[0], model, *command[1:])
        check(result.returncode == 2 and reads.encode() in result.stderr, command, result)
        check(read(model) == text.encode() and read("in/part.yaml") == HEAD.encode(), command, "an input was written over")
    run("run", write("model.yaml", BODY), "-q", "-o", "out")
    before = read("out/results.h5")
    for command in ("export", "report"):
        result = run(command, "out", "-o", "model.yaml")
        check(result.returncode == 2 and b"was read from" in result.stderr and read("model.yaml") == BODY.encode(), command, result)
    for command in (("linearize", "out", "--at", "0"), ("modes", "out", "--at", "0", "-o", "out/results.h5")):
        result = run(*command, "-o", "out/results.h5")
        check(result.returncode in (2, 4) and read("out/results.h5") == before, command, result)


def test_full_disk():
    """What does not fit is refused with the reason, whoever writes it, and leaves what was there."""
    run("run", write("model.yaml", BODY), "-q", "-o", "out")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))  # noqa: E731
    for command in (("report", "out", "-o", "page.html"), ("report", "out"), ("modes", "model.yaml", "--at", "0", "-o", "."),
                    ("study", "model.yaml", "--sweep", "bodies.a.mass=1:99:1", "--result", "x=max:bodies.a.position.x", "-q", "-o", "study")):
        before = os.listdir("out")
        result = subprocess.run([COMMAND, *command], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False,
                                preexec_fn=limit, restore_signals=False)
        check(result.returncode == 4 and b"cannot be written: File too large." in result.stderr, command, result)
        left = [name for name in os.listdir(".") if name.endswith((".new", ".html"))]
        check(not left and os.listdir("out") == before, command, "leaves", left, os.listdir("out"))


def test_drafts():
    """A file that one process writes is not written by a second one; a draft that a killed one has left is in nobody's way."""
    run("run", write("model.yaml", BODY), "-q", "-o", "out")
    write("out.csv", "before")
    with open(write("out.csv.new", "half of it"), "rb") as draft:
        fcntl.flock(draft, fcntl.LOCK_EX)
        for command in (("export", "out"), ("linearize", "out", "--at", "0"), ("report", "out")):
            result = run(*command, "-o", "out.csv")
            check(result.returncode == 4 and b"out.csv cannot be written: another process is writing it." in result.stderr, command, result)
            check(read("out.csv") == b"before" and read("out.csv.new") == b"half of it", command, "touches another one's file")
    check(run("export", "out", "-o", "out.csv").returncode == 0 and read("out.csv") != b"before", "a draft is in the way")
    check(not os.path.exists("out.csv.new"), "a draft is left")
    ends = [subprocess.Popen([COMMAND, "export", "out", "-o", "all.csv"], stderr=subprocess.DEVNULL) for _ in range(8)]
    check(any([process.wait() == 0 for process in ends]) and read("all.csv") == read("out.csv"), "eight writers at the same time")


def test_odd_names():
    """A run of a file with any name can be gone on with."""
    for name in ("two\nlines.yaml", " .yaml", "-q.yaml", "a\tb\\.yaml"):
        model = os.path.join(".", write(name, BODY + "include: part.yaml\n"))
        write("part.yaml", HEAD)
        result = run("run", model, "-q", "-o", "out", "--force")
        again = run("run", "--resume", "out", "-q", "--set", "simulate.t_end=2")
        check(result.returncode == again.returncode == 0, repr(name), result, again)


def test_signals():
    """A run that is resumed is a process that waits for another one: signals reach that, and none is left."""
    run("run", write("model.yaml", BODY + "output: {interval: 0.1}\n"), "-q", "-o", "out", "--no-report")
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        process = subprocess.Popen([COMMAND, "run", "--resume", "out", "--set", "simulate.t_end=1e7"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end, before = time.monotonic() + PATIENCE, os.stat("out/state.bin").st_ino
        while os.stat("out/state.bin").st_ino == before and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(number)
        check(process.wait(PATIENCE) == status, number, "ends with", process.returncode)
        told = json.loads(read("out/summary.json"))["status"]
        check(told == ("running" if number == signal.SIGKILL else "interrupted"), number, told)
        result = run("run", "--resume", "out", "--set", "simulate.t_end=2", "-q", "--no-report")
        check(result.returncode == 2 and b"in use" not in result.stderr, number, "leaves a lock", result)


def wait_for(process, path):
    """Until a process has made a file, or another one of that name."""
    def number():
        return os.stat(path).st_ino if os.path.exists(path) else 0
    end, before = time.monotonic() + PATIENCE, number()
    while number() in (0, before) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)


def test_group_signals():
    """A signal for all processes of a group, as `kill -INT -PGID` or a shell sends it, ends a command once, with nothing half done."""
    def begin(*arguments, stdout=subprocess.DEVNULL):
        return subprocess.Popen([COMMAND, *arguments], stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True)

    model = write("model.yaml", BODY.replace("t_end: 1", "t_end: 1e7") + "output: {interval: 10}\n")
    settings = ("-q", "--no-report")
    process = begin("run", model, "-o", "out", *settings)
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        wait_for(process, "out/state.bin")
        os.killpg(process.pid, number)
        told = process.communicate(timeout=PATIENCE)[1]
        check(process.returncode == status and told.count(b"interrupted; what was computed") == 1, number, "ends with", process.returncode, told)
        check(sorted(os.listdir("out")) == ["results.csv", "results.h5", "state.bin", "summary.json"], number, "leaves", os.listdir("out"))
        check(json.loads(read("out/summary.json"))["status"] == "interrupted", read("out/summary.json"))
        process = begin("run", "--resume", "out", *settings)
    wait_for(process, "out/state.bin")
    os.killpg(process.pid, signal.SIGINT)
    check(process.wait(PATIENCE) == 130, "ends with", process.returncode)

    for command, draft in ((("export", "out", "-o", "table.csv"), "table.csv.new"), (("report", "out"), "out/report.html.new"),
                           (("report", "out", "-o", "page.html"), "page.html.new"), (("export", "out", "-o", "table.mat"), "table.mat.new")):
        seen = 0
        for _ in range(20):
            process = begin(*command)
            wait_for(process, draft)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            check(process.wait(PATIENCE) in (0, -signal.SIGINT), command, "ends with", process.returncode)
            check(not os.path.exists(draft), command, "leaves a draft")
            seen += process.returncode != 0
            if seen == 3:
                break
        check(seen > 0, command, "was not interrupted")


def test_hdf5_lost():
    """The process that writes results.h5 may die: the table, the state and what was flushed of results.h5 are there."""
    text = BODY.replace("t_end: 1, step: 0.1", "t_end: 20000, step: 0.01") + "gravity: [0, 0, -9.81]\noutput: {interval: 10}\n"
    run("run", write("long.yaml", text), "-q", "-o", "whole", "--no-report")
    process = subprocess.Popen([COMMAND, "run", "long.yaml", "-o", "out"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    end = time.monotonic() + PATIENCE
    while not os.path.exists("out/state.bin") and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        helpers = file.read().split()
    if process.poll() is None and len(helpers) == 1:
        os.kill(int(helpers[0]), signal.SIGKILL)
    told = process.communicate(timeout=PATIENCE)[1]
    check(process.returncode == 3 and b"the HDF5 library was ended by signal 9" in told, process.returncode, helpers, told)
    left = ["results.csv", "results.h5", "state.bin", "summary.json"]
    check(sorted(os.listdir("out")) == left and json.loads(read("out/summary.json"))["status"] == "failed", os.listdir("out"))
    result = run("run", "--resume", "out", "-q", "--no-report")
    check(result.returncode == 0 and read("out/results.csv") == read("whole/results.csv"), "resumed without results.h5", result)
    check(run("export", "out").stdout == run("export", "whole").stdout, "results.h5 differs")


def test_not_a_number():
    """A balance of energies that is not a number is not called small."""
    text = (HEAD + "gravity: [0, 0, -1.0e+150]\nbodies: {a: {type: point, mass: 1.0e+150, position: [0, 0, 1.0e+8]}}\n"
            "simulate: {t_end: 1, step: 0.1}\n")
    result = run("run", write("huge.yaml", text), "-o", "huge", "--no-report")
    check(b"energy off by at most nan J" in result.stdout and b"the balance of energies is off by nan J" in result.stderr, result)
    check(json.loads(read("huge/summary.json"))["largest"]["energy.balance"] is None, read("huge/summary.json"))
    result = run("run", "--resume", "huge", "--set", "simulate.t_end=1.5", "--no-report")
    check(b"energy off by at most nan J" in result.stdout, result)


def test_ends():
    """Numbers at the ends of their range."""
    for t_end in ("5e-324", "1e-320", "1e-306"):
        text = BODY.replace("t_end: 1, step: 0.1", f"t_end: {t_end}")
        result = run("run", write("small.yaml", text), "-q", "-o", "small")
        check(result.returncode == 2 and b"is too small to compute with" in result.stderr, t_end, result)
    result = run("run", write("interval.yaml", BODY.replace("1, step: 0.1", "1e-300") + "output: {interval: 1e-309}\n"), "-q", "-o", "small")
    check(result.returncode == 2 and b"is too small to compute with" in result.stderr, result)
    check(not os.path.exists("small"), "a refused run has left something")
    rod = (HEAD + "bodies: {a: {type: point, mass: 1, position: [1, 0, 0]}, b: {type: point, mass: 1, position: [2, 0, 0]}}\n"
           "joints:\n  one: {type: distance, bodies: [ground, a], point: [0, 0, 0], second_point: [1, 0, 0]}\n"
           "  two: {type: distance, bodies: [a, b], point: [1, 0, 0], second_point: [2, 0, 0]}\n")
    result = run("modes", write("heavy.yaml", rod), "--at", "0", "--set", "gravity=[0, 0, -1e308]")
    check(result.returncode == 3 and b"that are not finite" in result.stderr, result)
    for name in ("response", "linearize", "modes"):
        options = ("--inputs", "bodies.b.force.z", "--outputs", "bodies.b.position.z", "--kind", "step", "--range", "0:1e308") if name == "response" else ()
        result = run(name, "heavy.yaml", "--at", "0", *options)
        check(result.returncode == (3 if options else 0), name, result)
    title = "x" * 20000000
    result = run("run", write("title.yaml", BODY + f"title: {title}\n"), "-q", "--no-sync", "-o", "title")
    check(result.returncode == 0, "a long title", result)
    page = read("title/report.html")
    check(title.encode() in page and page.rstrip().endswith(b"</html>"), "the report of a long title is not whole")


def test_json():
    for command in ("run", "check"):
        result = run(command, write("json.yaml", HEAD + 'bodies: {"a\\e": {type: point, mass: -1}, b: {mas: 1}}\n'), "--json")
        told = json.loads(result.stdout)
        check(result.returncode == 2 and told["status"] == "refused" and told["model"] == "json.yaml", told)
        check(len(told["errors"]) > 1 and told["errors"][0]["line"] == 2 and told["errors"][0]["column"] == 37, told)
        lines = [error["message"] for error in told["errors"]]
        check(lines == result.stderr.decode().splitlines(), "stdout and stderr differ", told, result.stderr)
    result = run("check", "missing.yaml", "--json")
    check(result.returncode == 4 and "missing.yaml" in json.loads(result.stdout)["errors"][0]["message"], result)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, test in list(globals().items()):
            if name.startswith("test_") and (len(sys.argv) < 4 or name in sys.argv[3:]):
                os.makedirs(os.path.join(folder, name))
                os.chdir(os.path.join(folder, name))
                before = len(failures)
                test()
                print(name, "ok" if len(failures) == before else "FAILED", flush=True)
        os.chdir("/")
    for failure in failures:
        print("FAILED:", failure, file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())

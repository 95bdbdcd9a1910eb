#!/usr/bin/env python3
"""`mpirun -n 4 alphastep study`: the same bytes as by threads, with processes that are killed, interrupted and resumed with other numbers of them.

usage: study_mpi.py ALPHASTEP SOURCE
Exit status: 0 all well, 1 something fell short, 77 there is no mpirun, or no module for MPI.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ALPHASTEP, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MODEL = """alphastep: 1
gravity: [0, 0, -9.81]
parameters: {length: 1, mass: 1}
bodies:
  bob: {mass: mass, inertia: [0.1, 0.1, 0.1], position: [0, 0, -length]}
joints:
  pivot: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0], start: {angle: 0.5}}
simulate: {t_end: 10, step: 0.0004}
"""
STUDY = ["long.yaml", "--sweep", "parameters.length=1:2.9:0.1", "--sweep", "parameters.mass=1,-1", "--result", "last:joints.pivot.angle"]
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               # MPI keeps what it has taken.
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
failures = 0


def check(holds, *words):
    global failures
    if not holds:
        print("FAILED:", *words)
        failures += 1


def mpirun(n, *arguments, flags=()):
    return ["mpirun", "--oversubscribe", *flags, "-n", str(n), str(ALPHASTEP), "study", *arguments]


def run(command, status=0, says="", environment=None):
    done = subprocess.run(command, capture_output=True, text=True, env=environment or ENVIRONMENT, timeout=300)
    check(done.returncode == status, command, "exit status", done.returncode, "not", status, done.stderr)
    check(says in done.stderr, command, "does not say", says, ":", done.stderr)
    return done


def read(folder, name="table.csv"):
    return (pathlib.Path(folder) / name).read_bytes()


def check_same(folder):
    for name in ("table.csv", "study.h5"):
        check(read(folder, name) == read("whole", name), folder, "has another", name)


def summary(folder):
    return json.loads(read(folder, "summary.json"))


def processes(rank, folder):
    """Those of one of the processes that mpirun has started, that which it has started itself first."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            own = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == str(ALPHASTEP).encode() and folder.encode() in words and b"OMPI_COMM_WORLD_RANK=%d" % rank in own:
            found.append(int(entry.name))
    return sorted(found)


def start(folder, n=4, flags=()):
    """A study that is under way: some runs are over, and each process makes one."""
    process = subprocess.Popen(mpirun(n, *STUDY, "-o", folder, "--no-report", flags=flags), env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    state = pathlib.Path(folder) / "state.bin"
    deadline = time.monotonic() + 120
    while (not state.exists() or state.stat().st_size < 64 + 3 * 64) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return process


def try_plain():
    run([ALPHASTEP, "study", *STUDY, "-o", "whole", "--threads", "2", "-q", "--no-report"], status=3)
    for n, threads in ((2, 1), (4, 1), (3, 2)):
        done = run(mpirun(n, *STUDY, "-o", f"by{n}", "--threads", str(threads), "-q", "--no-report"), status=3)
        check_same(f"by{n}")
        check(done.stderr.count("runs failed; the first of them") == 1, "failed runs are told by", done.stderr)
        check(summary(f"by{n}")["processes"] == n and summary(f"by{n}")["lost"] == 0, "summary", summary(f"by{n}"))


def try_killed():
    """With and without --enable-recovery: what mpirun has started itself, with all below it; the process that makes the runs."""
    for name, flags, chosen in (("all", ["--enable-recovery"], slice(0, None)), ("first", ["--enable-recovery"], slice(0, 1)),
                                ("maker", [], slice(1, 2))):
        process = start(name, flags=flags)
        there = processes(2, name)
        check(len(there) == 2, "processes of rank 2:", there)
        for number in there[chosen]:
            os.kill(number, signal.SIGKILL)
        errors = process.communicate(timeout=300)[1]
        check("1 of 4 processes were lost" in errors, name, ": does not say that one was lost", errors)
        # mpirun that goes on when processes are lost says 0 of all that they say.
        check(process.returncode == (0 if flags else 3), name, ": exit status", process.returncode)
        check(summary(name)["status"] == "done" and summary(name)["lost"] == 1, name, summary(name))
        check_same(name)


def try_ended():
    """mpirun ends all, because one was killed, or by Ctrl-C; the first process is killed: what was made is kept, and others go on."""
    for name, flags, rank, n in (("one", [], 2, 3), ("head", ["--enable-recovery"], 0, 2), ("interrupted", [], None, 3)):
        process = start(name, flags=flags)
        kept = pathlib.Path(name, "state.bin").stat().st_size
        if rank is None:
            process.send_signal(signal.SIGINT)
        else:
            os.kill(processes(rank, name)[0], signal.SIGKILL)
        errors = process.communicate(timeout=300)[1]
        check(rank is None or flags or "with `mpirun --enable-recovery` the others go on" in errors, name, "does not say how to go on", errors)
        check(rank != 0 or "is gone" in errors, name, "does not say that the first is gone", errors)
        deadline = time.monotonic() + 60
        while any(processes(k, name) for k in range(4)) and time.monotonic() < deadline:
            time.sleep(0.05)
        check(not any(processes(k, name) for k in range(4)), name, ": processes are left")
        size = pathlib.Path(name, "state.bin").stat().st_size
        check(kept <= size <= pathlib.Path("whole/state.bin").stat().st_size, name, ": state.bin has", size)
        run(mpirun(n, "--resume", name, "-q", "--no-report"), status=3)
        check_same(name)


def try_refused():
    done = run(mpirun(3, "nothing.yaml", "--result", "last:x"), status=4, says="nothing.yaml: error: the file cannot be read")
    check(done.stderr.count("nothing.yaml: error") == 1, "what is wrong is told once:", done.stderr)
    run(mpirun(3, "--resume", "whole", "-q", "--no-report"), status=3)  # nothing to do
    check_same("whole")
    # Another MPI's mpirun, as it were; and a process that is by itself.
    foreign = {**ENVIRONMENT, "PMI_SIZE": "3"}
    run([ALPHASTEP, "study", *STUDY, "-o", "foreign"], status=2, says="MPI knows of 1", environment=foreign)
    check(not os.path.exists("foreign"), "a study that is refused leaves a folder")
    run([ALPHASTEP, "study", *STUDY, "-o", "by itself", "--no-mpi", "-q", "--no-report"], status=3, environment=foreign)
    check_same("by itself")
    # A command that was built without MPI.
    pathlib.Path("bare").mkdir()
    shutil.copy(ALPHASTEP, "bare/alphastep")
    run(["bare/alphastep", "study", *STUDY, "-o", "foreign"], status=2, says="alphastep-mpi.so is not beside the command", environment=foreign)


def main():
    if not shutil.which("mpirun") or not (ALPHASTEP.parent / "alphastep-mpi.so").exists():
        print("there is no mpirun, or no alphastep-mpi.so")
        return 77
    if "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout:
        print("mpirun is not Open MPI's")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("long.yaml").write_text(MODEL)
        for test in (try_plain, try_killed, try_ended, try_refused):
            test()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

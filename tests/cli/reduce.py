#!/usr/bin/env python3
"""`alphastep reduce` on a connecting rod of CalculiX: its modes against those that CalculiX finds, its sentences, its files.

usage: reduce.py ALPHASTEP SOURCE

Matrices of a coarse mesh stand in tests/files/con-rod. Where `ccx` is there, those of a fine one are made and compared, too.
"""

import gzip
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ALPHASTEP, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
FILES = SOURCE / "tests/files/con-rod"
RIGID = ["--rigid", "big=BIG", "--rigid", "small=SMALL", "--units", "mm"]
failures = 0


def check(holds, what):
    global failures
    if not holds:
        print("FAILED:", what)
        failures += 1


def reduce(*arguments, status=0, says=""):
    """Runs the command; its JSON, or None."""
    done = subprocess.run([ALPHASTEP, "reduce", *map(str, arguments)], capture_output=True, text=True)
    words = " ".join(map(str, arguments))
    check(done.returncode == status, f"{words}: exit status {done.returncode}, not {status}: {done.stderr}")
    check(says in done.stderr + done.stdout, f"{words}: does not say {says!r}: {done.stderr}{done.stdout}")
    return json.loads(done.stdout) if "--json" in arguments and done.returncode == 0 else None


def compare(name, found, eigenvalues, tolerance):
    """Frequencies of modes with the interfaces held, against eigenvalues [rad^2/s^2]."""
    worst = 0.0
    for f, value in zip(found["interfaces_held"], eigenvalues):
        worst = max(worst, abs(f / (math.sqrt(value) / (2 * math.pi)) - 1))
    print(f"{name}: {found['modes']} modes of {found['unknowns']} unknowns, off by {worst:.1e}")
    check(found["modes"] == len(eigenvalues), f"{name}: {found['modes']} modes, not {len(eigenvalues)}")
    check(worst < tolerance, f"{name}: modes are off by {worst:.2e}")


def unpack(folder):
    for path in FILES.glob("*.gz"):
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    shutil.copy(FILES / "coarse.inp", folder)


def try_coarse(folder):
    job, body = folder / "coarse", folder / "rod.h5"
    eigenvalues = [float(x) for x in (FILES / "coarse.eigenvalues").read_text().split()]
    found = reduce(job, *RIGID, "--modes", 12, "-o", body, "--json")
    compare("coarse", found, eigenvalues, 1e-6)
    check(body.exists(), "there is no body")
    # the rod without its eyes' roundness: 0.37 kg, centre nearer to the big eye
    check(abs(found["mass"] - 0.373) < 0.002, f"mass {found['mass']}")
    check(0.04 < found["centre"][0] < 0.055, f"centre {found['centre']}")
    check(found["residual"] < 1e-10, f"residual {found['residual']}")
    check([i["name"] for i in found["interfaces"]] == ["big", "small"], "interfaces")
    # up to a frequency: those eigenvalues below
    limit = math.sqrt(0.5 * (eigenvalues[6] + eigenvalues[7])) / (2 * math.pi)
    found = reduce(job, *RIGID, "--frequency", limit, "-o", body, "--json", "--force")
    check(found["modes"] == 7, f"{found['modes']} modes below {limit} Hz")
    # averages are softer than rigid eyes
    soft = reduce(job, "--averaging", "big=BIG", "--averaging", "small=SMALL", "--units", "mm", "--modes", 7, "-o", body,
                  "--json", "--force")
    check(soft["free"][0] < found["free"][0] * 0.999, "averaging interfaces do not soften the rod")
    text = reduce(job, *RIGID, "-o", body, "--force", says="frame held")
    check(text is None, "text")
    return body


def try_sentences(folder, body):
    job = folder / "coarse"
    reduce("--help", says="--rigid NAME=NODES")
    reduce(status=2, says="Which matrices?")
    reduce(job, status=2, says="needs an interface")
    reduce(job, *RIGID, "-o", body, status=2, says="`--force` replaces it")
    reduce(job, *RIGID, "--modes", "x", status=2, says="is not like `10`")
    reduce(job, *RIGID, "--modes", 3, "--frequency", 5, status=2, says="not by both")
    reduce(job, *RIGID, "--units", "inch", status=2, says="is not like `m`")
    reduce(job, *RIGID, "--what", status=2, says="Unknown option `--what`")
    reduce(job, "--rigid", "big=NO", status=2, says='There is no set "NO"')
    reduce(job, "--rigid", "big=1,2", status=2, says="on one line")
    reduce(job, "--interface", "big=7", status=2, says="needs rotations")
    reduce(job, "--rigid", "big", status=2, says="is not like `pin=PIN_NODES`")
    reduce(job, "--at", "big=1,2,3", status=2, says="names no interface")
    reduce(folder / "none", *RIGID, status=4, says="none.inp cannot be opened")
    reduce("--stiffness", job.with_suffix(".sti"), "--mass", job.with_suffix(".mas"), *RIGID, "-o", folder / "x.h5", status=2,
           says="K and M alone do not make a body that travels")
    # positions in other units are those of another mesh only for rotations: m instead of mm do not show, a node that has moved does
    moved = (folder / "coarse.inp").read_text().splitlines(True)
    first = moved.index(next(line for line in moved if line.upper().startswith("*NODE"))) + 1
    number, _, *rest = moved[first].split(",")
    moved[first] = ",".join([number, " 500", *rest])
    (folder / "moved.inp").write_text("".join(moved))
    reduce(job, "--nodes", folder / "moved.inp", *RIGID, "-o", folder / "x.h5", status=2, says="positions are not those of K")
    cut = (folder / "coarse.sti").read_text()[:-3]
    (folder / "cut.sti").write_text(cut[: cut.rindex("\n") + 4])
    reduce(job, "--stiffness", folder / "cut.sti", "--dofs", job.with_suffix(".dof"), *RIGID, "-o", folder / "x.h5", status=4,
           says="cut.sti:")
    check(not (folder / "x.h5").exists(), "a body was written in spite of a mistake")


def run_ccx(folder, name, text):
    (folder / f"{name}.inp").write_text(text)
    subprocess.run(["ccx", name], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def try_fine(folder):
    if shutil.which("ccx") is None:
        print("ccx is not there: the fine mesh is left out")
        return
    mesh = (folder / "fine.inp").read_text()
    run_ccx(folder, "store", mesh + "*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n1\n*END STEP\n")
    held = "*BOUNDARY\nBIG, 1, 3\nSMALL, 1, 3\n*STEP\n*FREQUENCY\n20\n*END STEP\n"
    run_ccx(folder, "held", mesh + held)
    rows = re.findall(r"^ +\d+ +(\S+) +\S+ +\S+ +\S+ *$", (folder / "held.dat").read_text(), re.M)
    found = reduce(folder / "store", *RIGID, "--modes", 20, "--json")
    compare("fine", found, [float(x) for x in rows[:20]], 1e-6)
    check(found["nodes"] == 3034, f"{found['nodes']} nodes")
    check((folder / "store.h5").exists(), "there is no store.h5")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    unpack(folder)
    try_sentences(folder, try_coarse(folder))
    try_fine(folder)
sys.exit(failures > 0)

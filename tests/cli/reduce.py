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
import resource
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


def try_full_disk(folder):
    """Files may have 60 kB: one sentence, the status of files, and nothing is left."""
    body = folder / "full.h5"
    done = subprocess.run([ALPHASTEP, "reduce", folder / "coarse", *RIGID, "-o", body], capture_output=True, text=True, restore_signals=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000)))
    check(done.returncode == 4, f"a full disk: exit status {done.returncode}, not 4")
    check(done.stderr.count("\n") == 1 and "full.h5 cannot be written: File too large." in done.stderr, f"a full disk: {done.stderr}")
    check(not list(folder.glob("full.h5*")), "a full disk: something is left")


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
    reduce(job, *RIGID, "-o", folder / "none/rod.h5", status=4, says="could not be written: No such file or directory")
    reduce(job, *RIGID, "--modes", "x", status=2, says="is not like `10`")
    reduce(job, *RIGID, "--modes", 3, "--frequency", 5, status=2, says="not by both")
    reduce(job, *RIGID, "--units", "inch", status=2, says="is not like `m`")
    reduce(job, *RIGID, "--what", status=2, says="Unknown option `--what`")
    reduce(job, "--rigid", "big=NO", status=2, says='There is no set "NO"')
    reduce(job, "--rigid", "big=1,2", status=2, says="on one line")
    reduce(job, "--interface", "big=7", status=2, says="needs rotations")
    reduce(job, "--interface", "big=7", "--at", "big=0,0,0", status=2, says="is a node of the mesh")
    reduce(job, *RIGID, "--stiffness-name", "KGG", status=2, says="choose from the files of `--stiffness`")
    reduce(job, "--rigid", "big.end=BIG", status=2, says="has a '.' or a '/' in its name")
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


def read_nodes(path):
    """Positions by number, from an input file."""
    nodes, inside = {}, False
    for line in path.read_text().splitlines():
        if line.startswith("*"):
            inside = inside and line.startswith("**") or line.upper().split(",")[0] == "*NODE"
        elif inside:
            number, *position = line.split(",")
            nodes[int(number)] = [float(x) for x in position]
    return nodes


def try_formats(folder):
    """The same matrices as Matrix Market with a table of nodes, as Abaqus' by nodes, and as Nastran's in one punch file."""
    job = folder / "coarse"
    labels = [tuple(map(int, line.split("."))) for line in job.with_suffix(".dof").read_text().split()]
    nodes = read_nodes(job.with_suffix(".inp"))
    rows = {}
    for row, (node, direction) in enumerate(labels, 1):
        rows.setdefault(node, [0, 0, 0])[direction - 1] = row
    table = "".join(f"{n}, {x[0]!r}, {x[1]!r}, {x[2]!r}, {', '.join(map(str, rows[n]))}\n" for n, x in nodes.items())
    (folder / "nodes.csv").write_text("id, x, y, z, ux, uy, uz\n" + table)
    (folder / "plain.csv").write_text("".join(f"{n} {x[0]!r} {x[1]!r} {x[2]!r}\n" for n, x in nodes.items()))
    punch = "$TITLE = A ROD\n"
    for name, ending in (("K", ".sti"), ("M", ".mas")):
        entries = [line.split() for line in job.with_suffix(ending).read_text().splitlines()]
        market = "".join(f"{j} {i} {x}\n" for i, j, x in entries)
        (folder / f"{name}.mtx").write_text(
            f"%%MatrixMarket matrix coordinate real symmetric\n{len(labels)} {len(labels)} {len(entries)}\n{market}")
        of = [(*labels[int(i) - 1], *labels[int(j) - 1], x) for i, j, x in entries]
        (folder / f"{name}_labels.mtx").write_text("".join("%d,%d, %d,%d, %s\n" % e for e in of))
        punch += f"DMIG    {name}AAX           0       6       1       0{'':24}{len(labels):8}\n"
        for i, d, j, e, x in of:
            number = f"{float(x):16.9E}".replace("E", "D")
            punch += f"DMIG*   {name + 'AAX':16}{i:16}{d:16}\n*       {j:16}{e:16}{number}\n"
    (folder / "rod.pch").write_text(punch)
    sets = (FILES / "coarse.inp").read_text().upper()
    numbers = [re.sub(r"[\s,]+", ",", re.search(rf"\*NSET, NSET={name}\n([^*]*)", sets)[1]).strip(",") for name in ("BIG", "SMALL")]
    places = ["--rigid", "big=" + numbers[0], "--rigid", "small=" + numbers[1], "--units", "mm", "--modes", 12, "--json", "--force"]
    eigenvalues = [float(x) for x in (FILES / "coarse.eigenvalues").read_text().split()]
    for name, arguments in (
        ("Matrix Market", ["--stiffness", folder / "K.mtx", "--mass", folder / "M.mtx", "--nodes", folder / "nodes.csv"]),
        ("by nodes", ["--stiffness", folder / "K_labels.mtx", "--mass", folder / "M_labels.mtx", "--nodes", folder / "plain.csv"]),
        ("DMIG", ["--stiffness", folder / "rod.pch", "--mass", folder / "rod.pch", "--nodes", folder / "plain.csv"]),
    ):
        compare(name, reduce(*arguments, *places, "-o", folder / "other.h5"), eigenvalues, 1e-6)


def try_contents(folder):
    """Points, damping, stresses: what options put into the file."""
    try:
        import h5py
        import numpy
    except ImportError:
        print("h5py is not there: contents of the file are left out")
        return
    size = len((folder / "coarse.dof").read_text().split())
    # "stresses" at nodes 1 and 2 that are displacements in mm, times 1 N/mm^3
    rows = [(6 * k + c + 1, 3 * k + c + 1) for k in range(2) for c in range(3)]
    (folder / "S.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n12 {size} 6\n" +
                                  "".join(f"{i} {j} 1\n" for i, j in rows))
    reduce(folder / "coarse", *RIGID, "--modes", 4, "--damping", "0.02", "--points", "1,2", "--draw", 60, "--lower-order",
           "--stress", folder / "S.mtx", "--stress-points", "1,2", "-o", folder / "c.h5")
    with h5py.File(folder / "c.h5") as f:
        check(f.attrs["format"] in ("alphastep flexible body", b"alphastep flexible body"), "format")
        n = 6 + f.attrs["mode_count"]
        check(n == 10 and f["inertia/M"].shape == (n, n), "coordinates")
        check("J2" not in f["inertia"], "J2 of a body of lower order")
        ids = list(f["mesh/ids"])
        check(len(ids) <= 62 and ids[:2] == [1, 2], f"points {ids}")
        shapes = f["mesh/shapes"][:2]
        check(numpy.abs(f["stress/matrices"][:, :3] - 1e9 * shapes).max() < 1e-6 * numpy.abs(1e9 * shapes).max(), "stresses")
        M, K, C = f["inertia/M"][:], f["elasticity/K"][:], f["elasticity/C"][:]
        low = numpy.linalg.inv(numpy.linalg.cholesky(M))
        omega2, modes = numpy.linalg.eigh(low @ K @ low.T)
        damping = numpy.diag(modes.T @ low @ C @ low.T @ modes)
        check(numpy.abs(damping / (2 * 0.02 * numpy.sqrt(omega2)) - 1).max() < 1e-6, "damping")


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
    try_full_disk(folder)
    try_formats(folder)
    try_contents(folder)
    try_fine(folder)
sys.exit(failures > 0)

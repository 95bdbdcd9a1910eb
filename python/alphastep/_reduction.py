"""From meshes of finite elements to flexible bodies."""

import os

from . import _core

_ATTACHMENTS = {"node": 0, "rigid": 1, "averaging": 2}
_UNITS = {"m": 1.0, "mm": 1e-3}


class FlexibleBody:
    """What reduce() has written to .path, for `flexible:` of a model.

    mass [kg], centre of mass [m], inertia about it (3 rows) [kg m^2]; interfaces: positions [m] by name; coordinates, modes: how many;
    residual: how well rigid motions are free of forces; frequencies [Hz]: interfaces_held, frame_held, free
    """

    def __init__(self, path, found):
        self.path = path
        self.mass, self.centre, self.residual = found["mass"], found["centre"], found["residual"]
        self.inertia = [found["inertia"][3 * i:3 * i + 3] for i in range(3)]
        self.nodes, self.unknowns = found["nodes"], found["unknowns"]
        self.interfaces = dict(found["interfaces"])
        self.coordinates, self.modes = found["coordinates"], found["modes"]
        self.interfaces_held, self.frame_held, self.free = found["interfaces_held"], found["frame_held"], found["free"]

    def __repr__(self):
        return f"<alphastep.FlexibleBody {self.path}: {self.coordinates} coordinates, {self.modes} of them modes>"


def _matrix(value, name):
    """A path; or a matrix of SciPy, of NumPy or of lists, as the text of a Matrix Market file."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if hasattr(value, "tocoo"):
        value = value.tocoo()
        (rows, cols), entries = value.shape, zip(value.row.tolist(), value.col.tolist(), value.data.tolist())
    else:
        value = value.tolist() if hasattr(value, "tolist") else value
        if not value or not isinstance(value[0], (list, tuple)):
            raise ValueError(f"{name}: a matrix with rows is wanted")
        rows, cols = len(value), len(value[0])
        entries = ((i, j, x) for i, row in enumerate(value) for j, x in enumerate(row) if x != 0.0)
    lines = [f"{i + 1} {j + 1} {float(x)!r}" for i, j, x in entries]
    head = f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} {len(lines)}\n"
    return (f"{name}.mtx", (head + "\n".join(lines) + "\n").encode())


def _nodes(value):
    """Paths; or rows of number, x, y, z and three or six unknowns."""
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    value = value.tolist() if hasattr(value, "tolist") else list(value)
    if all(isinstance(v, (str, os.PathLike)) for v in value):
        return [os.fspath(v) for v in value]
    lines = (", ".join([str(int(row[0])), *(repr(float(x)) for x in row[1:4]), *(str(int(u)) for u in row[4:])]) for row in value)
    return [("nodes.csv", ("\n".join(lines) + "\n").encode())]


def _interface(name, how):
    kinds = [k for k in how if k in _ATTACHMENTS]
    if len(kinds) != 1 or set(how) - {"at", *_ATTACHMENTS}:
        raise ValueError(f"interfaces: {name!r} is given like {{'rigid': NODES}}, {{'averaging': NODES}} or {{'node': NUMBER}}, and perhaps 'at'")
    nodes = how[kinds[0]]
    if not isinstance(nodes, str):
        nodes = [int(nodes)] if kinds[0] == "node" else [int(n) for n in nodes]
    return (name, _ATTACHMENTS[kinds[0]], nodes, how.get("at"))


def reduce(output, *, interfaces, job=None, stiffness=None, mass=None, nodes=None, dofs=None, stiffness_name=None, mass_name=None, modes=None,
           frequency=None, damping=None, rayleigh=None, units="m", points=None, stress=None, stress_points=None, lower_order=False, draw=5000,
           force=False) -> FlexibleBody:
    """Makes a flexible body of the mass and stiffness matrices of a mesh, and writes it to `output` (HDF5): a FlexibleBody.

        alphastep.reduce("rod.h5", stiffness=K, mass=M, nodes=nodes, interfaces={"big": {"rigid": [1, 2, 3]}, "small": {"node": 17}}, modes=10)
        model.flexible.add("rod", file="rod.h5")

    interfaces  by name, the first is the frame of the body: {"rigid": NODES}, {"averaging": NODES} or {"node": NUMBER}; NODES are numbers, or the
                name of a set of the file; "at": [x, y, z] where it is, otherwise in the middle of its nodes
    job         of CalculiX, run with *FREQUENCY, SOLVER=MATRIXSTORAGE; or
    stiffness, mass   files, or matrices of SciPy, of NumPy or as lists
    nodes       files, or rows of number, x, y, z and the three or six rows of the matrices that are its unknowns, from 1 (0: none)
    dofs, stiffness_name, mass_name   as of the command
    modes, frequency   how many modes are kept with all interfaces held (10), or those below so many Hz
    damping     ratios of the modes with the frame held, the last one for all others; rayleigh: (A, B) of C = A M + B K
    units       "m" (m, N, kg) or "mm" (mm, N, t)
    points      numbers of nodes that are kept for loads and results; draw: how many points of the surface at most
    stress, stress_points   a matrix with six rows for each of these nodes, by unknowns
    lower_order without the inertia of second order in the deformation
    force       replaces a file that is there
    """
    output = os.fspath(output)
    if job is not None:
        root = os.fspath(job).removesuffix(".inp")
        stiffness, mass = stiffness or root + ".sti", mass or root + ".mas"
        nodes, dofs = nodes or root + ".inp", dofs or root + ".dof"
    if stiffness is None or mass is None or nodes is None:
        raise TypeError("reduce() needs a job, or stiffness, mass and nodes")
    if units not in _UNITS:
        raise ValueError(f"units: {units!r} is not 'm' (m, N, kg) or 'mm' (mm, N, t)")
    if modes is not None and frequency is not None:
        raise ValueError("modes and frequency: modes are kept by their number or by their frequency, not by both")
    if (stress is None) != (stress_points is None):
        raise ValueError("stress and stress_points belong together")
    if not force and os.path.exists(output):
        raise FileExistsError(f"{output} is there; force=True replaces it")
    spec = {"stiffness": _matrix(stiffness, "stiffness"), "mass": _matrix(mass, "mass"), "nodes": _nodes(nodes),
            "dofs": None if dofs is None else os.fspath(dofs), "stiffness_name": stiffness_name, "mass_name": mass_name,
            "interfaces": [_interface(*item) for item in interfaces.items()], "modes": modes, "frequency": frequency, "damping": damping,
            "rayleigh": rayleigh, "length": _UNITS[units], "points": None if points is None else [int(p) for p in points],
            "stress": None if stress is None else _matrix(stress, "stress"),
            "stress_points": None if stress_points is None else [int(p) for p in stress_points], "lower_order": lower_order, "draw": draw}
    if isinstance(damping, (int, float)):
        spec["damping"] = [damping]
    return FlexibleBody(output, _core.reduce(spec, output))

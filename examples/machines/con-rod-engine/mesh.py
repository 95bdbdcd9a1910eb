#!/usr/bin/env python3
"""A connecting rod of steel as cubes of 4 mm: writes rod.inp, rod.sti, rod.mas and rod.dof as CalculiX does (K and M of the free rod), and
rod.mtx with the stresses at two nodes by the displacements.

usage: mesh.py FOLDER

The cubes have eight nodes, the sides of bending are helped by three displacements more each, which are eliminated (incompatible modes).
Its centre line is from the middle of the big end, (0, 0, 0), to that of the small end, (0.14, 0, 0).
"""

import itertools
import os
import sys

E, NU, DENSITY = 210e9, 0.3, 7850.0
EDGE, LENGTH = 0.004, 0.14
CORNERS = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
GAUSS = 3 ** -0.5


def is_inside(x, y, z):
    """The rod: two rings, 24 mm wide, and a shank with flanges."""
    big, small = (x * x + y * y) ** 0.5, ((x - LENGTH) ** 2 + y * y) ** 0.5
    if big < 0.022 or small < 0.010:
        return False
    if big < 0.032 or small < 0.018:
        return abs(z) < 0.012
    half = 0.0125 - 0.03 * (x - 0.03)  # of the shank's height
    if not 0.02 < x < LENGTH - 0.01 or abs(y) > half:
        return False
    return abs(z) < (0.008 if abs(y) > half - 0.005 else 0.004)


def solve(a, b):
    """x of a x = b, for several columns of b."""
    n, a, b = len(a), [row[:] for row in a], [row[:] for row in b]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot], b[k], b[pivot] = a[pivot], a[k], b[pivot], b[k]
        for i in range(n):
            if i != k and a[i][k]:
                f = a[i][k] / a[k][k]
                a[i] = [x - f * y for x, y in zip(a[i], a[k])]
                b[i] = [x - f * y for x, y in zip(b[i], b[k])]
    return [[x / a[i][i] for x in b[i]] for i in range(n)]


def elasticity():
    """Stresses xx, yy, zz, xy, yz, zx by strains."""
    lame, shear = E * NU / ((1 + NU) * (1 - 2 * NU)), E / (2 * (1 + NU))
    return [[(lame if i < 3 and j < 3 else 0.0) + (0.0 if i != j else 2 * shear if i < 3 else shear) for j in range(6)] for i in range(6)]


def strains(gradient):
    """Rows of strains by displacements, for gradients of shapes."""
    b = [[0.0] * (3 * len(gradient)) for _ in range(6)]
    for a, (x, y, z) in enumerate(gradient):
        for row, values in enumerate([(x, 0, 0), (0, y, 0), (0, 0, z), (y, x, 0), (0, z, y), (z, 0, x)]):
            b[row][3 * a:3 * a + 3] = values
    return b


def element():
    """Stiffness and mass of a cube, 24 x 24."""
    h = EDGE / 2
    law = elasticity()
    k = [[0.0] * 33 for _ in range(33)]
    m = [[0.0] * 24 for _ in range(24)]
    for p in itertools.product((-GAUSS, GAUSS), repeat=3):
        gradient = [[c[d] * (1 + c[(d + 1) % 3] * p[(d + 1) % 3]) * (1 + c[(d + 2) % 3] * p[(d + 2) % 3]) / 8 / h for d in range(3)] for c in CORNERS]
        gradient += [[-2 * p[d] / h if d == own else 0.0 for d in range(3)] for own in range(3)]  # 1 - x^2, 1 - y^2, 1 - z^2
        shape = [(1 + c[0] * p[0]) * (1 + c[1] * p[1]) * (1 + c[2] * p[2]) / 8 for c in CORNERS]
        b = strains(gradient)
        stress = [[sum(law[i][l] * b[l][j] for l in range(6)) for j in range(33)] for i in range(6)]
        for i in range(33):
            for j in range(33):
                k[i][j] += h ** 3 * sum(b[l][i] * stress[l][j] for l in range(6))
        for i in range(24):
            for j in range(i % 3, 24, 3):
                m[i][j] += h ** 3 * DENSITY * shape[i // 3] * shape[j // 3]
    inner = solve([row[24:] for row in k[24:]], [row[:24] for row in k[24:]])
    return [[k[i][j] - sum(k[i][24 + l] * inner[l][j] for l in range(9)) for j in range(24)] for i in range(24)], m


def mesh():
    """Cubes as lists of node numbers, and places of the nodes."""
    number, places, cubes = {}, [], []
    for i, j, l in itertools.product(range(-10, 45), range(-10, 10), range(-4, 4)):
        if not is_inside(*((n + 0.5) * EDGE for n in (i, j, l))):
            continue
        cube = []
        for dx, dy, dz in CORNERS:
            key = (i + (dx + 1) // 2, j + (dy + 1) // 2, l + (dz + 1) // 2)
            if key not in number:
                number[key] = len(places) + 1
                places.append(tuple(EDGE * n for n in key))
            cube.append(number[key])
        cubes.append(cube)
    return cubes, places


def write_stresses(path, points, cubes, columns):
    """At nodes: those in the middle of the cubes around, in the mean."""
    b = strains([[x / 4 / EDGE for x in corner] for corner in CORNERS])
    law, entries = elasticity(), {}
    for k, node in enumerate(points):
        around = [cube for cube in cubes if node in cube]
        for cube in around:
            for i, j in itertools.product(range(6), range(24)):
                at = 6 * k + i + 1, 3 * (cube[j // 3] - 1) + j % 3 + 1
                entries[at] = entries.get(at, 0.0) + sum(law[i][l] * b[l][j] for l in range(6)) / len(around)
    with open(path, "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{6 * len(points)} {columns} {len(entries)}\n")
        out.write("".join(f"{i} {j} {x:.17g}\n" for (i, j), x in sorted(entries.items(), key=lambda e: (e[0][1], e[0][0]))))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    cubes, places = mesh()
    k, m = element()
    sums = {}, {}
    for cube in cubes:
        rows = [3 * (node - 1) + d for node in cube for d in range(3)]
        for matrix, total in ((k, sums[0]), (m, sums[1])):
            for i, row in enumerate(rows):
                for j, column in enumerate(rows):
                    if column <= row and matrix[i][j]:
                        total[column, row] = total.get((column, row), 0.0) + matrix[i][j]
    bore = {"BIG": (0.0, 0.022), "SMALL": (LENGTH, 0.010)}
    path = os.path.join(folder, "rod")
    with open(path + ".inp", "w", encoding="ascii") as out:
        out.write("*NODE\n" + "".join(f"{i + 1}, {x:.9g}, {y:.9g}, {z:.9g}\n" for i, (x, y, z) in enumerate(places)))
        out.write("*ELEMENT, TYPE=C3D8\n" + "".join(f"{i + 1}, {', '.join(map(str, cube))}\n" for i, cube in enumerate(cubes)))
        for name, (middle, radius) in bore.items():
            nodes = [i + 1 for i, (x, y, _) in enumerate(places) if ((x - middle) ** 2 + y * y) ** 0.5 < radius + 0.6 * EDGE]
            out.write(f"*NSET, NSET={name}\n" + "".join(f"{node},\n" for node in nodes))
        # Above and below, half way along the shank.
        column = [(y, i + 1) for i, (x, y, z) in enumerate(places) if abs(x - 0.076) < 1e-9 and abs(z) < 1e-9]
        points = sorted([max(column)[1], min(column)[1]])
        out.write("*NSET, NSET=SHANK\n" + "".join(f"{node},\n" for node in points))
    with open(path + ".dof", "w", encoding="ascii") as out:
        out.write("".join(f"{i + 1}.{d}\n" for i in range(len(places)) for d in (1, 2, 3)))
    for total, ending in zip(sums, (".sti", ".mas")):
        with open(path + ending, "w", encoding="ascii") as out:
            out.write("".join(f"{i + 1} {j + 1} {x:.17g}\n" for (i, j), x in sorted(total.items())))
    write_stresses(path + ".mtx", points, cubes, 3 * len(places))
    print(f"{len(cubes)} cubes, {len(places)} nodes, {DENSITY * EDGE ** 3 * len(cubes):.4f} kg")


if __name__ == "__main__":
    main()

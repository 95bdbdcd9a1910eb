#!/usr/bin/env python3
"""A solar panel, 5 m long and 1.5 m wide, as a grid of beams with masses at its nodes: writes panel.csv, panel_K.mtx, panel_M.mtx.

usage: mesh.py FOLDER

Nodes have six unknowns. The panel lies in the plane z = 0, along x from 0 to 5 m; its root are the nodes at x = 0.
"""

import os
import sys

LENGTH, WIDTH, ALONG, ACROSS = 5.0, 1.5, 10, 3
# Stretching, bending across the panel and in its plane, and twisting of a strip; mass of all [N, N m^2, kg].
EA, EI_FLAP, EI_PLANE, GJ, MASS = 2e6, 450.0, 9e4, 300.0, 18.0
RADIUS = 0.02  # of gyration of the mass that a node stands for [m]


def bending(matrix, rows, signs, stiffness, l):
    e = stiffness / l ** 3
    k = [[12, 6 * l, -12, 6 * l], [6 * l, 4 * l * l, -6 * l, 2 * l * l], [-12, -6 * l, 12, -6 * l], [6 * l, 2 * l * l, -6 * l, 4 * l * l]]
    for i in range(4):
        for j in range(4):
            at = rows[i], rows[j]
            matrix[at] = matrix.get(at, 0.0) + e * signs[i] * signs[j] * k[i][j]


def spring(matrix, a, b, k):
    for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
        matrix[i, j] = matrix.get((i, j), 0.0) + sign * k


def beam(matrix, a, b, l, axis):
    """Between nodes a and b, along x (axis 0) or y (axis 1); unknowns are displacements and rotations about x, y, z."""
    u, v = axis, 1 - axis
    spring(matrix, 6 * a + u, 6 * b + u, EA / l)
    spring(matrix, 6 * a + 3 + u, 6 * b + 3 + u, GJ / l)
    sign = 1 if axis == 0 else -1  # of the rotation about z that is the slope of v; of that about v for z it is the other
    bending(matrix, [6 * a + v, 6 * a + 5, 6 * b + v, 6 * b + 5], [1, sign, 1, sign], EI_PLANE, l)
    bending(matrix, [6 * a + 2, 6 * a + 3 + v, 6 * b + 2, 6 * b + 3 + v], [1, -sign, 1, -sign], EI_FLAP, l)


def write(path, matrix, n):
    lower = {at: x for at, x in matrix.items() if at[0] >= at[1] and x != 0.0}
    with open(path, "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {len(lower)}\n")
        out.write("".join(f"{i + 1} {j + 1} {x:.17g}\n" for (i, j), x in sorted(lower.items(), key=lambda e: (e[0][1], e[0][0]))))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    node = lambda i, j: i * (ACROSS + 1) + j
    n, K, M = (ALONG + 1) * (ACROSS + 1), {}, {}
    for i in range(ALONG + 1):
        for j in range(ACROSS + 1):
            if i < ALONG:
                beam(K, node(i, j), node(i + 1, j), LENGTH / ALONG, 0)
            if j < ACROSS:
                beam(K, node(i, j), node(i, j + 1), WIDTH / ACROSS, 1)
            share = (0.5 if i in (0, ALONG) else 1.0) * (0.5 if j in (0, ACROSS) else 1.0) / (ALONG * ACROSS)
            for d in range(6):
                M[6 * node(i, j) + d, 6 * node(i, j) + d] = MASS * share * (1.0 if d < 3 else RADIUS ** 2)
    write(os.path.join(folder, "panel_K.mtx"), K, 6 * n)
    write(os.path.join(folder, "panel_M.mtx"), M, 6 * n)
    with open(os.path.join(folder, "panel.inp"), "w", encoding="ascii") as out:
        out.write("*NODE\n")
        for i in range(ALONG + 1):
            for j in range(ACROSS + 1):
                out.write(f"{node(i, j) + 1}, {LENGTH * i / ALONG:.9g}, {WIDTH * (j / ACROSS - 0.5):.9g}, 0\n")
        out.write("*ELEMENT, TYPE=S4\n")
        for k in range(ALONG * ACROSS):
            a = node(k // ACROSS, k % ACROSS) + 1
            out.write(f"{k + 1}, {a}, {a + ACROSS + 1}, {a + ACROSS + 2}, {a + 1}\n")
        out.write("*NSET, NSET=ROOT\n" + "".join(f"{node(0, j) + 1},\n" for j in range(ACROSS + 1)))
    with open(os.path.join(folder, "panel.dof"), "w", encoding="ascii") as out:
        out.write("".join(f"{i + 1}.{d}\n" for i in range(n) for d in range(1, 7)))


if __name__ == "__main__":
    main()

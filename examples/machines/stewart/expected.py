#!/usr/bin/env python3
"""The forces of the legs of the Stewart platform, computed without equations of motion and without alphastep.

The lengths of the legs give the pose of the plate (Newton's method) and with it the pose of every body. Differences in
time give accelerations. If leg j grows by a little while the others keep their length, the force in it does the work
that all masses take (d'Alembert's principle): F_j = sum of m (a - g) . dx/dl_j + (J e + w x J w) . dphi/dl_j.
"""

import math

BASE, TOP, HEIGHT, LIFT, NOD, G = 1.2, 0.8, 1.5, 0.25, 0.08, 9.81
CLOSE, APART = math.pi / 15, math.pi * 4 / 15
PLATE = (200.0, (20.0, 20.0, 35.0))
CYLINDER = (12.0, (0.6, 0.6, 0.03), 0.45)  # its centre of mass above the foot [m]
ROD = (6.0, (0.3, 0.3, 4.0e-3), 0.4)  # below the ball joint
BACK = math.sqrt((TOP * math.cos(APART) - BASE * math.cos(CLOSE)) ** 2 + (TOP * math.sin(APART) - BASE * math.sin(CLOSE)) ** 2)
HEADING = math.atan2(TOP * math.sin(APART) - BASE * math.sin(CLOSE), TOP * math.cos(APART) - BASE * math.cos(CLOSE))
LEGS = [(2 * math.pi / 3 * k, s) for k in range(3) for s in (1, -1)]


# ---- vectors, rotations ----


def add(a, b, factor=1.0):
    return [x + factor * y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a):
    return [x / math.sqrt(dot(a, a)) for x in a]


def rotate(matrix, a):
    return [dot(row, a) for row in matrix]


def transpose(matrix):
    return [list(column) for column in zip(*matrix)]


def times(first, second):
    return [[dot(row, column) for column in zip(*second)] for row in first]


def turn(phi):
    """The rotation by the vector phi (Rodrigues)."""
    angle = math.sqrt(dot(phi, phi))
    if angle == 0.0:
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    u = [x / angle for x in phi]
    rows = [[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]]
    square = times(rows, rows)
    return [[(i == j) + math.sin(angle) * rows[i][j] + (1 - math.cos(angle)) * square[i][j] for j in range(3)] for i in range(3)]


def between(first, second):
    """The small rotation vector, in the world, that takes the first rotation to the second."""
    m = times(second, transpose(first))
    a = [(m[2][1] - m[1][2]) / 2, (m[0][2] - m[2][0]) / 2, (m[1][0] - m[0][1]) / 2]
    sine = math.sqrt(dot(a, a))
    return a if sine == 0.0 else [x * math.asin(sine) / sine for x in a]


def solve(matrix, right):
    rows = [list(row) + [x] for row, x in zip(matrix, right)]
    n = len(rows)
    for i in range(n):
        best = max(range(i, n), key=lambda j: abs(rows[j][i]))
        rows[i], rows[best] = rows[best], rows[i]
        for j in range(n):
            if j != i:
                rows[j] = add(rows[j], rows[i], -rows[j][i] / rows[i][i])
    return [row[n] / row[i] for i, row in enumerate(rows)]


# ---- lengths of the legs: a spline through the table, its curvature zero at both ends ----


def table(i):
    phase = LEGS[i][0] + LEGS[i][1] * (APART + HEADING) / 2
    size = [0.3, 0.8, 1, 1, 1, 1, 1, 1]
    points = [0, 0, 0.2 * LIFT, 0.8 * LIFT, LIFT, LIFT]
    return points + [LIFT + size[j] * NOD * math.cos(phase - (j + 1) * math.pi / 4) for j in range(8)]


def curvatures(y, h):
    n = len(y)
    matrix = [[float(i == j) for j in range(n)] for i in range(n)]
    right = [0.0] * n
    for i in range(1, n - 1):
        matrix[i][i - 1 : i + 2] = [1.0, 4.0, 1.0]
        right[i] = 6.0 * (y[i - 1] - 2.0 * y[i] + y[i + 1]) / h**2
    return solve(matrix, right)


KNOT = 0.25
TABLES = [table(i) for i in range(6)]
CURVATURES = [curvatures(y, KNOT) for y in TABLES]


def lengths(t):
    j = int(t / KNOT)
    u, w = t / KNOT - j, 1.0 - t / KNOT + j
    out = []
    for y, c in zip(TABLES, CURVATURES):
        grown = w * y[j] + u * y[j + 1] + KNOT**2 / 6 * ((w**3 - w) * c[j] + (u**3 - u) * c[j + 1])
        out.append(math.hypot(HEIGHT, BACK) + grown)
    return out


# ---- poses from lengths ----


def circle(radius, angle):
    return [radius * math.cos(angle), radius * math.sin(angle), 0.0]


FEET = [circle(BASE, middle + side * CLOSE) for middle, side in LEGS]
BALLS = [circle(TOP, middle + side * APART) for middle, side in LEGS]


def plate(wanted):
    """Position and rotation of the plate."""
    place, rotation = [0.0, 0.0, HEIGHT], turn([0.0] * 3)
    for _ in range(30):
        rows, right = [], []
        for foot, ball, length in zip(FEET, BALLS, wanted):
            arm = rotate(rotation, ball)
            leg = add(add(place, arm), foot, -1.0)
            rows.append(unit(leg) + cross(arm, unit(leg)))
            right.append(length - math.sqrt(dot(leg, leg)))
        step = solve(rows, right)
        place, rotation = add(place, step[:3]), times(turn(step[3:]), rotation)
    return place, rotation


def leg_rotation(i, along):
    """Of a leg along this direction: its y axis turns about the foot's first axis, which is level."""
    heading = LEGS[i][0] + LEGS[i][1] * HEADING
    level = [-math.sin(heading), math.cos(heading), 0.0]
    second = unit(cross(level, along))
    return transpose([second, cross(along, second), along])  # columns


def bodies(wanted):
    """Mass, moments of inertia about its axes, centre of mass and axes of each body."""
    place, rotation = plate(wanted)
    out = [(PLATE[0], PLATE[1], place, rotation)]
    for i, (foot, ball) in enumerate(zip(FEET, BALLS)):
        end = add(place, rotate(rotation, ball))
        along = unit(add(end, foot, -1.0))
        axes = leg_rotation(i, along)
        out.append((CYLINDER[0], CYLINDER[1], add(foot, along, CYLINDER[2]), axes))
        out.append((ROD[0], ROD[1], add(end, along, -ROD[2]), axes))
    return out


def forces(t):
    h, grow = 1e-3, 1e-4
    before, now, after = (bodies(lengths(t + dt)) for dt in (-h, 0.0, h))
    loads = []
    for (m, J, x0, r0), (_, _, x1, r1), (_, _, x2, r2) in zip(before, now, after):
        acceleration = [(a - 2 * b + c) / h**2 for a, b, c in zip(x0, x1, x2)]
        w0, w1 = ([x / h for x in between(*pair)] for pair in ((r0, r1), (r1, r2)))
        omega = [(a + b) / 2 for a, b in zip(w0, w1)]
        angular = [(b - a) / h for a, b in zip(w0, w1)]
        momentum = times(times(r1, [[J[0], 0, 0], [0, J[1], 0], [0, 0, J[2]]]), transpose(r1))
        force = [m * a for a in add(acceleration, [0.0, 0.0, G])]
        loads.append((force, add(rotate(momentum, angular), cross(omega, rotate(momentum, omega)))))
    out = []
    for j in range(6):
        less, more = (bodies([x + sign * grow * (i == j) for i, x in enumerate(lengths(t))]) for sign in (-1, 1))
        work = 0.0
        for (force, torque), (_, _, x0, r0), (_, _, x1, r1) in zip(loads, less, more):
            work += dot(force, add(x1, x0, -1.0)) + dot(torque, between(r0, r1))
        out.append(work / (2 * grow))
    return out


def main():
    for t in (0.6, 1.6, 2.4, 2.9):
        for j, force in enumerate(forces(t)):
            print(f"| {t} | `joints.leg {j + 1}.drive` | {force:.2f} | 0.05 |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The robot by Newton's and Euler's equations, link by link, integrated without alphastep: prints lines of the README.

With computed torque the errors are known, e = -off (1 + w t) exp(-w t), and the torques follow; without it the accelerations are
solved for, from the equations for one acceleration after the other.
"""

import math

AXIS = [2, 1, 1, 0, 1, 0]
POINT = [[0, 0, 0], [0, 0, 0.4], [0, 0, 0.9], [0.3, 0, 0.9], [0.5, 0, 0.9], [0.56, 0, 0.9]]
CENTRE = [[0, 0, 0.2], [0, 0, 0.65], [0.15, 0, 0.9], [0.4, 0, 0.9], [0.53, 0, 0.9], [0.62, 0.03, 0.9]]
MASS = [8, 6, 4, 2, 1, 1.5]
INERTIA = [[0.12, 0.12, 0.06], [0.14, 0.14, 0.02], [0.01, 0.04, 0.04], [0.004, 0.01, 0.01], [0.002, 0.003, 0.003], [0.004, 0.006, 0.006]]
AMPLITUDE = [0.8, -0.5, 0.6, 0.9, -0.7, 1.2]
RATE = [2, 2.5, 3, 3.5, 3, 4]
CONSTANT = [1.6, 1.6, 0.6, 0.02, 0.1, 0.01]
W, OFF, G = 10.0, 0.05, 9.81


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def times(M, x):
    return [sum(m * y for m, y in zip(row, x)) for row in M]


def back(M, x):
    return [sum(M[i][j] * x[i] for i in range(3)) for j in range(3)]


def plus(*vectors):
    return [sum(x) for x in zip(*vectors)]


def turned(M, axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    T = [row[:] for row in M]
    for row, old in zip(T, M):
        row[j], row[k] = c * old[j] + s * old[k], c * old[k] - s * old[j]
    return T


def torques(q, v, a, gravity=G):
    """Torques that give these accelerations."""
    M, w, dw, acc, origin = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]], [0.0] * 3, [0.0] * 3, [0.0, 0.0, gravity], [0.0] * 3
    links, before = [], [0.0] * 3
    for i in range(6):
        d = times(M, [x - y for x, y in zip(POINT[i], before)])
        acc = plus(acc, cross(dw, d), cross(w, cross(w, d)))
        origin, before = plus(origin, d), POINT[i]
        e = [row[AXIS[i]] for row in M]
        M = turned(M, AXIS[i], q[i])
        dw = plus(dw, [a[i] * x for x in e], cross(w, [v[i] * x for x in e]))
        w = plus(w, [v[i] * x for x in e])
        r = times(M, [x - y for x, y in zip(CENTRE[i], POINT[i])])
        force = [MASS[i] * x for x in plus(acc, cross(dw, r), cross(w, cross(w, r)))]
        own = back(M, w)
        spin = plus([j * x for j, x in zip(INERTIA[i], back(M, dw))], cross(own, [j * x for j, x in zip(INERTIA[i], own)]))
        links.append((e, origin, plus(origin, r), force, times(M, spin)))
    F, moment, result = [0.0] * 3, [0.0] * 3, [0.0] * 6  # moment about the world's origin
    for i in reversed(range(6)):
        e, origin, centre, force, spin = links[i]
        F, moment = plus(F, force), plus(moment, spin, cross(centre, force))
        result[i] = sum(x * y for x, y in zip(e, plus(moment, [-x for x in cross(origin, F)])))
    return result


def solved(A, b):
    n = len(b)
    A = [row[:] + [x] for row, x in zip(A, b)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(A[i][k]))
        A[k], A[p] = A[p], A[k]
        for i in range(k + 1, n):
            f = A[i][k] / A[k][k]
            A[i] = [x - f * y for x, y in zip(A[i], A[k])]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (A[k][n] - sum(A[k][j] * x[j] for j in range(k + 1, n))) / A[k][k]
    return x


def path(t):
    both = list(zip(AMPLITUDE, RATE))
    return [A * (1 - math.cos(r * t)) - OFF for A, r in both], [A * r * math.sin(r * t) for A, r in both], [A * r * r * math.cos(r * t) for A, r in both]


def wanted(t, q, v):
    p, dp, ddp = path(t)
    return [c + 2 * W * (b - y) + W * W * (a - x) for a, b, c, x, y in zip(p, dp, ddp, q, v)]


def slope(t, s):
    q, v = s[:6], s[6:]
    bias = torques(q, v, [0.0] * 6)
    columns = [torques(q, [0.0] * 6, [float(i == j) for i in range(6)], 0.0) for j in range(6)]
    given = [c * a for c, a in zip(CONSTANT, wanted(t, q, v))]
    return v + solved([list(row) for row in zip(*columns)], [g - b for g, b in zip(given, bias)])


def alone(t_end, h):
    """Errors of controllers of each joint alone, at 0.1 s, 0.2 s ..."""
    s, rows = [0.0] * 12, []
    for i in range(round(t_end / h)):
        t = i * h
        k1 = slope(t, s)
        k2 = slope(t + h / 2, [a + h / 2 * b for a, b in zip(s, k1)])
        k3 = slope(t + h / 2, [a + h / 2 * b for a, b in zip(s, k2)])
        k4 = slope(t + h, [a + h * b for a, b in zip(s, k3)])
        s = [a + h / 6 * (p + 2 * q + 2 * r + u) for a, p, q, r, u in zip(s, k1, k2, k3, k4)]
        rows.append((t + h, [a - b for a, b in zip(path(t + h)[0], s[:6])]))
    return rows


for t in (0.1, 0.5, 1):
    e, de = -OFF * (1 + W * t) * math.exp(-W * t), OFF * W * W * t * math.exp(-W * t)
    p, dp, ddp = path(t)
    q, v = [x - e for x in p], [x - de for x in dp]
    tau = torques(q, v, wanted(t, q, v))
    print(f"| {t:g} | `blocks.error 1` | {e:.8f} | 5e-6 |")
    print(f"| {t:g} | `blocks.error 6` | {e:.8f} | 5e-6 |")
    for i in (0, 1, 2, 4):
        print(f"| {t:g} | `blocks.torque {i + 1}` | {tau[i]:.6f} | 0.01 |")
for t, e in alone(2, 4e-3):
    if round(t / 4e-3) in (125, 250, 500):
        for i in range(6):
            print(f"| {t:g} | `blocks.error {i + 1}` | {e[i]:.6f} | 2e-5 |")

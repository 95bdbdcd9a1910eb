#!/usr/bin/env python3
"""The cart and pole with regulator and observer, integrated without alphastep: prints lines of the README.

    (M + m) x'' + m l (theta'' cos theta - theta'^2 sin theta) = F
    (J + m l^2) theta'' + m l x'' cos theta = m g l sin theta
"""

import math

M, m, l, g = 1.0, 0.1, 0.5, 9.81
J = m * (2 * l) ** 2 / 12


def product(X, Y):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*Y)] for row in X]


def transposed(X):
    return [list(column) for column in zip(*X)]


def added(X, Y, factor):
    return [[a + factor * b for a, b in zip(r, s)] for r, s in zip(X, Y)]


def linear():
    """A, B of small angles; states x, theta, x', theta'."""
    d = (M + m) * (J + m * l * l) - (m * l) ** 2
    A = [[0, 0, 1, 0], [0, 0, 0, 1], [0, -(m * l) ** 2 * g / d, 0, 0], [0, (M + m) * m * g * l / d, 0, 0]]
    return A, [[0], [0], [(J + m * l * l) / d], [-m * l / d]]


def riccati(A, B, Q):
    """P of A^T P + P A - P B B^T P + Q = 0, as the end of its flow."""
    P = [[0.0] * 4 for _ in range(4)]
    BB = product(B, transposed(B))

    def slope(P):
        PA = product(P, A)
        return added(added(added(PA, transposed(PA), 1), product(product(P, BB), P), -1), Q, 1)

    h = 2e-3
    for _ in range(6000):
        k1 = slope(P)
        k2 = slope(added(P, k1, h / 2))
        k3 = slope(added(P, k2, h / 2))
        k4 = slope(added(P, k3, h))
        for k, weight in ((k1, 1), (k2, 2), (k3, 2), (k4, 1)):
            P = added(P, k, weight * h / 6)
    return P


def diagonal(*x):
    return [[x[i] if i == j else 0.0 for j in range(4)] for i in range(4)]


A, B = linear()
C = [[1, 0, 0, 0], [0, 1, 0, 0]]
K = [round(k, 3) for k in product(transposed(B), riccati(A, B, diagonal(10, 10, 1, 1)))[0]]
L = [[round(x, 2) for x in row] for row in product(riccati(transposed(A), transposed(C), diagonal(1, 1, 900, 900)), transposed(C))]


def slope(t, s):
    x, theta, v, w, *e = s
    F = -sum(k * a for k, a in zip(K, e))
    a, b, c = M + m, m * l * math.cos(theta), J + m * l * l
    p, q = F + m * l * w * w * math.sin(theta), m * g * l * math.sin(theta)
    d = a * c - b * b
    rates = [v, w, (c * p - b * q) / d, (a * q - b * p) / d]
    estimates = [sum(A[i][j] * e[j] for j in range(4)) + B[i][0] * F + L[i][0] * (x - e[0]) + L[i][1] * (theta - e[1]) for i in range(4)]
    return rates + estimates


def integrate(t_end, h=1e-3):
    s = [0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    for i in range(round(t_end / h)):
        k1 = slope(0, s)
        k2 = slope(0, [a + h / 2 * b for a, b in zip(s, k1)])
        k3 = slope(0, [a + h / 2 * b for a, b in zip(s, k2)])
        k4 = slope(0, [a + h * b for a, b in zip(s, k3)])
        s = [a + h / 6 * (p + 2 * q + 2 * r + u) for a, p, q, r, u in zip(s, k1, k2, k3, k4)]
    return s


if __name__ == "__main__":
    print("    K = " + ", ".join(f"{k:.3f}" for k in K))
    for i, row in enumerate(L):
        print(f"    L{i + 1} = " + ", ".join(f"{x:.2f}" for x in row))
    for t in (0.5, 1, 2):
        s = integrate(t)
        for name, value, within in (("joints.rail.displacement", s[0], "5e-6"), ("joints.pivot.angle", s[1], "1e-5"), ("blocks.observer.theta", s[5], "1e-5")):
            print(f"| {t:g} | `{name}` | {value:.7f} | {within} |")

#!/usr/bin/env python3
"""The pole on a cart in two coordinates, by Runge and Kutta's method with steps of 0.1 ms."""

import math

CART, POLE, LENGTH, GRAVITY = 1.0, 0.25, 0.8, 9.81
GAINS = (-9.242269793, -53.45837722, -8.780156303, -12.04941669)


def rate(z):
    x, a, v, w = z
    force = -sum(k * c for k, c in zip(GAINS, z))
    h = POLE * LENGTH / 2
    # (M + m) x'' + h cos(a) a'' = F + h w^2 sin(a),   h cos(a) x'' + m l^2/3 a'' = h g sin(a)
    m11, m12, m22 = CART + POLE, h * math.cos(a), POLE * LENGTH**2 / 3
    f1, f2 = force + h * w * w * math.sin(a), h * GRAVITY * math.sin(a)
    d = m11 * m22 - m12 * m12
    return (v, w, (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d)


def step(z, h):
    k1 = rate(z)
    k2 = rate([a + h / 2 * b for a, b in zip(z, k1)])
    k3 = rate([a + h / 2 * b for a, b in zip(z, k2)])
    k4 = rate([a + h * b for a, b in zip(z, k3)])
    return [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(z, k1, k2, k3, k4)]


z, n = [0.0, 0.1, 0.0, 0.0], 0
for t in (0.2, 0.5, 1.0, 2.0):
    while n < round(t * 10000):
        z = step(z, 1e-4)
        n += 1
    print(f"| {t:g} | `joints.rail.displacement` | {z[0]:.8f} | 5e-6 |")
    print(f"| {t:g} | `joints.hinge.angle` | {z[1]:.8f} | 1e-5 |")

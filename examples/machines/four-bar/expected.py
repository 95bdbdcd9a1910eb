#!/usr/bin/env python3
"""The four-bar linkage by hand: its angles from the loop, the motor's torque from the power that all of it takes."""

import cmath
import math

A, B, C, BASE = 1.0, 3.0, 2.5, 3.0  # crank, coupler, rocker, base [m]; each weighs 1 kg/m
SPEED, START, G = 2.0, math.pi / 3, 9.81


def solve(first, second, right):
    """x first + y second = right, complex numbers being vectors in the plane."""
    det = (first.conjugate() * second).imag
    return (right.conjugate() * second).imag / det, (first.conjugate() * right).imag / det


def machine(t):
    """The rocker's angle and the motor's torque."""
    crank = START + SPEED * t
    a = cmath.rect(A, crank)
    to_base = BASE - a
    d = abs(to_base)
    rocker = (cmath.phase(-to_base) - math.acos((C * C + d * d - B * B) / (2 * C * d))) % (2 * math.pi)
    c = cmath.rect(C, rocker)
    b = BASE + c - a
    # a + b = base + c: once differentiated, and twice
    wb, wc = solve(1j * b, -1j * c, -1j * SPEED * a)
    eb, ec = solve(1j * b, -1j * c, SPEED**2 * a + wb**2 * b - wc**2 * c)
    # m (a - g) . v + J e w for each of the rods, velocities and accelerations of their middles
    power = 0.0
    for m, v, acc, w, e in (
        (A, 1j * SPEED * a / 2, -(SPEED**2) * a / 2, SPEED, 0),
        (B, 1j * (SPEED * a + wb * b / 2), -(SPEED**2) * a + (1j * eb - wb**2) * b / 2, wb, eb),
        (C, 1j * wc * c / 2, (1j * ec - wc**2) * c / 2, wc, ec),
    ):
        power += m * ((acc + 1j * G) * v.conjugate()).real + m**3 / 12 * e * w
    return rocker, power / SPEED


for time in (0, 0.5, 1, 2, 3):
    angle, torque = machine(time)
    print(f"| {time} | `joints.base.angle` | {angle:.8f} | 1e-6 |")
    print(f"| {time} | `joints.motor.drive` | {torque:.5f} | 0.05 |")

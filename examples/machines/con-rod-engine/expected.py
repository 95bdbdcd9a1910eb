#!/usr/bin/env python3
"""The numbers in README.md from a rigid rod: positions, the force at the gudgeon pin, the mean stress of the shank's section.

The rod's mass is that of its cubes; its force at the gudgeon pin follows from the piston along the cylinder and from the rod's angular
momentum about the crank pin across it. Prints lines of the table.
"""

import math

import mesh

R, L, OMEGA, BORE, PEAK, WIDTH, PISTON, RAMP = 0.045, 0.14, 4000 * math.pi / 30, 0.086, 1.2e6, 0.35, 0.35, 0.015


def angle(t):
    """Of the crank, once it has gained its speed."""
    return OMEGA * (t - RAMP / 2)


def place(t):
    """Crank pin and gudgeon pin."""
    theta = angle(t)
    pin = R * math.cos(theta), R * math.sin(theta)
    return pin, (pin[0] + math.sqrt(L * L - pin[1] ** 2), 0.0)


def rate2(f, t, h=1e-6):
    return [(a - 2 * b + c) / h ** 2 for a, b, c in zip(f(t - h), f(t), f(t + h))]


def point(x, y):
    """A point of the rod as a function of time."""
    def at(t):
        a, b = place(t)
        c, s = (b[0] - a[0]) / L, (b[1] - a[1]) / L
        return a[0] + c * x - s * y, a[1] + s * x + c * y
    return at


def gas(t):
    theta = math.fmod(angle(t), 4 * math.pi)
    return -math.pi / 4 * BORE ** 2 * PEAK * math.exp(-((theta - 2 * math.pi - 0.2) / WIDTH) ** 2)


def pin_force(t, masses):
    """On the rod at the gudgeon pin."""
    a, b = place(t)
    fx = gas(t) - PISTON * rate2(lambda s: place(s)[1], t)[0]
    turned = 0.0
    for (x, y), m in masses.items():
        p, acc = point(x, y)(t), rate2(point(x, y), t)
        turned += m * ((p[0] - a[0]) * acc[1] - (p[1] - a[1]) * (acc[0])) + m * 9.81 * (p[0] - a[0])
    return fx, (turned + (b[1] - a[1]) * fx) / (b[0] - a[0])


def stress(t, masses, section, area):
    """Mean of the section at `section` from the big end."""
    a, b = place(t)
    along = (b[0] - a[0]) / L, (b[1] - a[1]) / L
    total = list(pin_force(t, masses))
    for (x, y), m in masses.items():
        if x > section:
            acc = rate2(point(x, y), t)
            total[0] -= m * acc[0]
            total[1] -= m * (acc[1] + 9.81)
    return (total[0] * along[0] + total[1] * along[1]) / area


def main():
    cubes, places = mesh.mesh()
    masses, area = {}, 0.0
    for cube in cubes:
        x, y = (sum(places[n - 1][k] for n in cube) / 8 for k in range(2))
        masses[x, y] = masses.get((x, y), 0.0) + mesh.DENSITY * mesh.EDGE ** 3
        area += mesh.EDGE ** 2 if 0.076 < x < 0.08 else 0.0
    for t in (0.018, 0.0235, 0.03):
        print(f"| {t:g} | `bodies.piston.position.x` | {place(t)[1][0]:.6f} | 1e-5 |")
        print(f"| {t:g} | `joints.gudgeon.force.x` | {-pin_force(t, masses)[0]:.1f} | 3 |")
        print(f"| {t:g} | `flexible.rod.1499.stress_xx + flexible.rod.1520.stress_xx` | {2 * stress(t, masses, 0.076, area):.4g} | 1.3e6 |")


if __name__ == "__main__":
    main()

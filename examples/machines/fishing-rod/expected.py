#!/usr/bin/env python3
"""The bent rod at rest, by shooting: a Cosserat rod in a plane, with weight, by Runge and Kutta's method.

The forces in a section are known, since they are what hangs behind it; the moment at the handle is found so that none is left at
the end. theta is the direction of the rod, m its moment about the normal of the plane, n the force of what is behind on what is before.
"""

from math import cos, pi, sin

E, NU, RHO, G = 80e9, 0.3, 1600.0, 9.81
LENGTH, SLOPE, THICK, THIN, PULL = 2.7, 50 * pi / 180, 0.014, 0.003, 8.0
STEPS = 4000  # twice as many change the place of the end by less than 1e-9 m


def diameter(s):
    return THICK + (THIN - THICK) * s / LENGTH


def weight_behind(s):
    """Of the rod from s on [N]: the integral of d^2 is one of d^3/3."""
    slope = (THIN - THICK) / LENGTH
    return G * RHO * pi / 4 * (THIN**3 - diameter(s) ** 3) / (3 * slope)


def rates(s, y):
    """Of x, z, theta, m."""
    theta, m = y[2], y[3]
    area, inertia = pi * diameter(s) ** 2 / 4, pi * diameter(s) ** 4 / 64
    down = PULL + weight_behind(s)
    stretch = -down * sin(theta) / (E * area)
    shear = -down * cos(theta) / (6 / 7 * E / (2 * (1 + NU)) * area)
    x = (1 + stretch) * cos(theta) - shear * sin(theta)
    z = (1 + stretch) * sin(theta) + shear * cos(theta)
    return [x, z, m / (E * inertia), x * down]


def end(m):
    y = [0.0, 1.0, SLOPE, m]
    h = LENGTH / STEPS
    for i in range(STEPS):
        s = i * h
        k1 = rates(s, y)
        k2 = rates(s + h / 2, [a + h / 2 * b for a, b in zip(y, k1)])
        k3 = rates(s + h / 2, [a + h / 2 * b for a, b in zip(y, k2)])
        k4 = rates(s + h, [a + h * b for a, b in zip(y, k3)])
        y = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
    return y


def main():
    a, b = -10.0, -9.0
    fa, fb = end(a)[3], end(b)[3]
    while abs(b - a) > 1e-13 * abs(b):
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = end(b)[3]
        if fb == fa:
            break
    x, z, theta, _ = end(b)
    stress = abs(b) * THICK / 2 / (pi * THICK**4 / 64)
    along = (PULL + weight_behind(0)) * sin(SLOPE) / (pi * THICK**2 / 4)
    print(f"| 3 | `beams.rod.16.position.x` | {x:.6f} | 1e-4 |")
    print(f"| 3 | `beams.rod.16.position.z` | {z:.6f} | 1e-4 |")
    print(f"| 3 | `beams.rod.0.moment.y` | {-b:.6f} | 1e-3 |")
    print(f"| 3 | `beams.rod.0.force.x` | {-(PULL + weight_behind(0)) * sin(SLOPE):.6f} | 1e-3 |")
    print(f"| 3 | `beams.rod.0.stress` | {-(stress + along):.0f} | 2e3 |")
    print(f"Its end points {-theta * 180 / pi:.1f} degrees below the horizon.")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The blade in steady rotation, without weight, by shooting: Cosserat's equations along the blade in axes that turn with the rotor, by Runge and Kutta's
method. With r the place, R the section's axes, n and m the force and moment of what is behind on what is before,

    r' = R (e1 + Kn^-1 R^T n)      R' = R (k0 + Km^-1 R^T m)~      n' = rhoA w x (w x r) - p      m' = w x (R rhoJ R^T w) - r' x n

The six numbers of n and m at the root are found so that none are left at the tip. And the torque that rigid blades need half-way.
"""

from math import cos, pi, sin, tanh

HUB, SPAN, OMEGA, T, THRUST, TWIST = 0.15, 1.5, 30.0, 4.0, 60.0, 0.25
E, G, RHO = 12e9, 0.8e9, 500.0
W = [OMEGA, 0.0, 0.0]
STEPS = 200  # twice as many change the last digits below by one at most


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def rotate(R, a):
    return [sum(R[i][k] * a[k] for k in range(3)) for i in range(3)]


def back(R, a):
    return [sum(R[k][i] * a[k] for k in range(3)) for i in range(3)]


def section(s):
    """Stiffness and mass of the rectangle, width along y, height along z."""
    w, h = 0.16 - 0.08 * s / SPAN, 0.03 - 0.02 * s / SPAN
    area, iy, iz = w * h, w * h**3 / 12, h * w**3 / 12
    series = sum(tanh(k * pi * w / (2 * h)) / k**5 for k in range(1, 40, 2))
    torsion = w * h**3 / 3 * (1 - 192 / pi**5 * h / w * series)
    shear = 5 / 6 * G * area
    return [E * area, shear, shear], [G * torsion, E * iy, E * iz], RHO * area, [RHO * (iy + iz), RHO * iy, RHO * iz]


def rates(s, y):
    r, R, n, m = y[0:3], [y[3:6], y[6:9], y[9:12]], y[12:15], y[15:18]
    kn, km, mass, inertia = section(s)
    stretch = [a / k for a, k in zip(back(R, n), kn)]
    bend = [a / k for a, k in zip(back(R, m), km)]
    slope = rotate(R, [1 + stretch[0], stretch[1], stretch[2]])
    bend[0] -= TWIST / SPAN
    turn = [x for row in R for x in cross(row, bend)]
    accelerate = cross(W, cross(W, r))
    spin = back(R, W)
    gyro = cross(W, rotate(R, [j * x for j, x in zip(inertia, spin)]))
    moment = cross(slope, n)
    return slope + turn + [mass * a - p for a, p in zip(accelerate, [THRUST, 0, 0])] + [a - b for a, b in zip(gyro, moment)]


def root():
    """Of the blade along z: x of the section is z, y lies across, in the plane of the rotor; then the twist."""
    ex, ey, ez = [0, 0, 1], [0, 1, 0], [-1, 0, 0]
    c, s = cos(TWIST), sin(TWIST)
    y = [c * a + s * b for a, b in zip(ey, ez)]
    z = [c * b - s * a for a, b in zip(ey, ez)]
    return [[ex[i], y[i], z[i]] for i in range(3)]


def shoot(load):
    y = [0, 0, HUB] + [x for row in root() for x in row] + load
    h = SPAN / STEPS
    for i in range(STEPS):
        s = i * h
        k1 = rates(s, y)
        k2 = rates(s + h / 2, [a + h / 2 * b for a, b in zip(y, k1)])
        k3 = rates(s + h / 2, [a + h / 2 * b for a, b in zip(y, k2)])
        k4 = rates(s + h, [a + h * b for a, b in zip(y, k3)])
        y = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
    return y


def solve(a, b):
    n = len(b)
    rows = [row[:] + [x] for row, x in zip(a, b)]
    for i in range(n):
        best = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[best] = rows[best], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [x - factor * p for x, p in zip(rows[k], rows[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][k] * x[k] for k in range(i + 1, n))) / rows[i][i]
    return x


def main():
    load = [90.0, 0.0, 1000.0, 0.0, 0.0, 0.0]
    for _ in range(8):
        left = shoot(load)[12:18]
        columns = []
        for k in range(6):
            moved = load[:]
            moved[k] += 1e-3
            columns.append([(a - b) / 1e-3 for a, b in zip(shoot(moved)[12:18], left)])
        step = solve([[columns[k][i] for k in range(6)] for i in range(6)], left)
        load = [a - b for a, b in zip(load, step)]
    y, R = shoot(load), root()
    off = back(R, [a - b for a, b in zip(y[0:3], [0, 0, HUB + SPAN])])
    force, moment = back(R, load[0:3]), back(R, load[3:6])
    row = "| 6 | `beams.blade 3.{}` | {} | {} |"
    for k, (axis, within) in enumerate(zip("xyz", ["5e-7", "1e-5", "5e-6"])):
        print(row.format(f"8.deflection.{axis}", f"{off[k]:.7f}", within))
    for k, (axis, within) in enumerate(zip("xyz", ["0.3", "0.01", "3e-3"])):
        print(row.format(f"0.force.{axis}", f"{force[k]:.4f}", within))
    for k, (axis, within) in enumerate(zip("xyz", ["5e-4", "3e-3", "1e-3"])):
        print(row.format(f"0.moment.{axis}", f"{moment[k]:.4f}", within))
    points = 2000
    J = 0.15
    for i in range(points):
        s = (i + 0.5) * SPAN / points
        _, _, mass, inertia = section(s)
        a = TWIST * (1 - s / SPAN)
        across = inertia[1] * cos(pi / 2 + a) ** 2 + inertia[2] * sin(pi / 2 + a) ** 2
        J += 3 * (mass * (HUB + s) ** 2 + across) * SPAN / points
    print(f"| 2 | `joints.spin up.drive` | {J * 2 * OMEGA / T:.4f} | 0.02 |")


if __name__ == "__main__":
    main()

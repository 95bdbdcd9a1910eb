#!/usr/bin/env python3
"""The trebuchet in three angles instead of fifteen coordinates: of beam, box and sling, by Runge and Kutta's method.

Each of the three masses m at x(q) adds m x_q^T x_q to the mass matrix and m x_q^T (g - c) to the forces, where c is the
part of its acceleration that squares of angular velocities make. While the stone is on the ground its height is kept
by a force N, which is found beside the angular accelerations; the stone lifts off where N is zero.
"""

from math import asin, cos, hypot, sin, sqrt

G, HEIGHT, LONG, SHORT, SLING, DEPTH = 9.81, 4.0, 5.0, 1.25, 4.5, 1.0
BEAM, BOX, STONE, BOX_J = 120.0, 1500.0, 15.0, 300.0
BEAM_J = BEAM * (LONG + SHORT) ** 2 / 12
MIDDLE = (LONG - SHORT) / 2
H = 1e-3  # step [s]; half of it changes the range by 5e-9 m


def solve(matrix, right):
    """Gauss' elimination."""
    n = len(right)
    rows = [list(row) + [x] for row, x in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


def points(q, w):
    """(mass, x_q by components, c) of the middle of the beam, the box and the stone."""
    a, b, s = q
    wa, wb, ws = (x * x for x in w)
    arm, turn = (cos(a), sin(a)), (-sin(a), cos(a))
    hang, swing = (sin(b), -cos(b)), (cos(b), sin(b))
    rope, pull = (cos(s), sin(s)), (-sin(s), cos(s))
    axes = (0, 1)
    return [
        (BEAM, [[-MIDDLE * turn[k], 0, 0] for k in axes], [MIDDLE * arm[k] * wa for k in axes]),
        (
            BOX,
            [[SHORT * turn[k], DEPTH * swing[k], 0] for k in axes],
            [-SHORT * arm[k] * wa - DEPTH * hang[k] * wb for k in axes],
        ),
        (
            STONE,
            [[-LONG * turn[k], 0, SLING * pull[k]] for k in axes],
            [LONG * arm[k] * wa - SLING * rope[k] * ws for k in axes],
        ),
    ]


def accelerations(q, w, grounded):
    """Of the angles, and N."""
    three = points(q, w)
    weight = (0.0, -G)
    mass = [[sum(m * sum(j[k][r] * j[k][c] for k in (0, 1)) for m, j, _ in three) for c in range(3)] for r in range(3)]
    mass[0][0] += BEAM_J
    mass[1][1] += BOX_J
    force = [sum(m * sum(j[k][r] * (weight[k] - c[k]) for k in (0, 1)) for m, j, c in three) for r in range(3)]
    if not grounded:
        return solve(mass, force), 0.0
    _, jacobian, c = three[2]
    up = jacobian[1]
    x = solve([mass[r] + [-up[r]] for r in range(3)] + [up + [0.0]], force + [-c[1]])
    return x[:3], x[3]


def step(q, w, h, grounded):
    def rate(y):
        return y[3:] + accelerations(y[:3], y[3:], grounded)[0]

    def moved(y, factor, k):
        return [a + factor * b for a, b in zip(y, k)]

    y = q + w
    k1 = rate(y)
    k2 = rate(moved(y, h / 2, k1))
    k3 = rate(moved(y, h / 2, k2))
    k4 = rate(moved(y, h, k3))
    y = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
    return y[:3], y[3:]


def until(q, w, t, grounded, function):
    """Goes on until the function falls to zero."""
    while True:
        after = step(q, w, H, grounded)
        if function(*after) <= 0:
            break
        q, w, t = *after, t + H
    low, high = 0.0, H
    for _ in range(50):
        middle = (low + high) / 2
        if function(*step(q, w, middle, grounded)) > 0:
            low = middle
        else:
            high = middle
    return *step(q, w, high, grounded), t + high


def stone(q, w):
    """Its position and velocity."""
    a, _, s = q
    place = (-LONG * cos(a) + SLING * cos(s), HEIGHT - LONG * sin(a) + SLING * sin(s))
    _, jacobian, _ = points(q, w)[2]
    return place, [sum(j * x for j, x in zip(row, w)) for row in jacobian]


def climb_less_advance(q, w):
    """Falls to zero where the stone flies at 45 degrees."""
    _, (vx, vz) = stone(q, w)
    return vz - vx


def main():
    start = [asin((HEIGHT - 0.25) / LONG), 0.0, -asin(0.25 / SLING)]
    q, w, lift_off = until(start, [0.0] * 3, 0.0, True, lambda q, w: accelerations(q, w, True)[1])
    q, w, let_go = until(q, w, lift_off, False, climb_less_advance)
    (x, z), (vx, vz) = stone(q, w)
    flight = (vz + sqrt(vz * vz + 2 * G * z)) / G
    print(f"| max | `events.lift off.time` | {lift_off:.7f} | 3e-5 |")
    print(f"| max | `events.let go.time` | {let_go:.7f} | 3e-5 |")
    print(f"| max | `events.landing.time` | {let_go + flight:.6f} | 1e-3 |")
    print(f"| max | `bodies.stone.position.x` | {x + vx * flight:.5f} | 0.1 |")
    print(f"| max | `bodies.stone.position.z` | {z + vz * vz / (2 * G):.5f} | 0.03 |")
    print(f"It is let go with {hypot(vx, vz):.2f} m/s, {z:.2f} m above the ground.")


if __name__ == "__main__":
    main()

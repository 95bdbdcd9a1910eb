#!/usr/bin/env python3
"""The arm as a line that bends and does not stretch (Euler's elastica): its direction is phi(s, t) = angle + sum q_k p_k(s), with polynomials p_k that
vanish at the root. Kinetic energy and bending energy are those of the field, exact for any rotation; Lagrange's equations are integrated by
Runge and Kutta's method of order 4, together with the controller.

With J_k(s) = int_0^s (-sin phi, cos phi) p_k and c(s) = -int_0^s (cos phi, sin phi) phi'^2 the acceleration of a point is sum J_k q_k'' + c.
"""

from math import cos, pi, sin

LENGTH, T, TURN, KP, KD, GAIN = 1.0, 1.2, pi / 2, 200.0, 12.0, 500.0
WIDTH, HEIGHT, E, RHO = 0.003, 0.04, 70e9, 2700.0
EI, MASS, LOAD, HUB = E * HEIGHT * WIDTH**3 / 12, RHO * WIDTH * HEIGHT, 0.2, 0.02
N = 5  # polynomials; 6 of them, and a fifth of the step, change angles by 1e-6 and torques by 6e-5
POINTS = 10
STEP = 5e-4


def legendre(n, x):
    p, q = 1.0, x
    if n == 0:
        return 1.0, 0.0
    for k in range(2, n + 1):
        p, q = q, ((2 * k - 1) * x * q - (k - 1) * p) / k
    return q, n * (x * q - p) / (x * x - 1)


def gauss(n):
    points, weights = [], []
    for i in range(n):
        x = cos(pi * (i + 0.75) / (n + 0.5))
        for _ in range(50):
            value, slope = legendre(n, x)
            x -= value / slope
        slope = legendre(n, x)[1]
        points.append((1 - x) / 2)
        weights.append(1 / ((1 - x * x) * slope * slope))
    return points, weights


SIGMA, WEIGHT = gauss(POINTS)


def running(to):
    """Weights of the integral from 0 to `to` of the polynomial through the values at SIGMA."""
    out = []
    for j in range(POINTS):
        total = 0.0
        for x, w in zip(SIGMA, WEIGHT):
            value = 1.0
            for k in range(POINTS):
                if k != j:
                    value *= (to * x - SIGMA[k]) / (SIGMA[j] - SIGMA[k])
            total += w * to * value
        out.append(total)
    return out


INNER = [running(s) for s in SIGMA]
EIGHTH = running(0.125)
P = [[1.0] * POINTS] + [[s ** (k + 1) for s in SIGMA] for k in range(N)]
K = [[EI * (a + 1) * (b + 1) / (a + b + 1) for b in range(N)] for a in range(N)]


def solve(a, b):
    """Of a symmetric positive definite matrix."""
    n = len(b)
    for i in range(n):
        for k in range(i + 1, n):
            factor = a[k][i] / a[i][i]
            for j in range(i, n):
                a[k][j] -= factor * a[i][j]
            b[k] -= factor * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(a[i][j] * b[j] for j in range(i + 1, n))) / a[i][i]
    return b


def path(t):
    u = min(t / T, 1.0)
    return TURN * u**3 * (10 - 15 * u + 6 * u * u), TURN * 30 * u * u * (1 - u) ** 2 / T


def gauge(q):
    """How far the place at an eighth is off the root's direction."""
    return LENGTH * sum(w * sin(sum(q[k] * P[k][j] for k in range(1, N + 1))) for j, w in enumerate(EIGHTH))


def torque(t, q, v, give):
    angle, rate = path(t)
    return KP * (angle + give - q[0]) + KD * (rate + GAIN * gauge(q) - v[0])


def rates(t, y):
    q, v, give = y[: N + 1], y[N + 1 : 2 * N + 2], y[-1]
    phi = [sum(q[k] * P[k][j] for k in range(N + 1)) for j in range(POINTS)]
    speed = [sum(v[k] * P[k][j] for k in range(N + 1)) for j in range(POINTS)]
    c, s = [cos(x) for x in phi], [sin(x) for x in phi]
    fields = [[LENGTH * -a * p for a, p in zip(s, P[k])] for k in range(N + 1)]
    fields += [[LENGTH * a * p for a, p in zip(c, P[k])] for k in range(N + 1)]
    fields += [[-LENGTH * a * w * w for a, w in zip(c, speed)], [-LENGTH * a * w * w for a, w in zip(s, speed)]]
    at = [[sum(a * b for a, b in zip(row, f)) for row in INNER + [WEIGHT]] for f in fields]
    m = [MASS * LENGTH * w for w in WEIGHT] + [LOAD]
    x, z = at[: N + 1], at[N + 1 : 2 * N + 2]
    M = [[sum(w * (a * b + d * e) for w, a, b, d, e in zip(m, x[i], x[k], z[i], z[k])) for k in range(N + 1)] for i in range(N + 1)]
    f = [-sum(w * (a * b + d * e) for w, a, b, d, e in zip(m, x[i], at[-2], z[i], at[-1])) for i in range(N + 1)]
    M[0][0] += HUB
    f[0] += torque(t, q, v, give)
    for i in range(N):
        f[i + 1] -= sum(K[i][k] * q[k + 1] for k in range(N)) / LENGTH
    return v + solve(M, f) + [GAIN * gauge(q)]


def main():
    y = [0.0] * (2 * N + 3)
    wanted = {0.6, 1.0, 1.4, 2.0}
    for i in range(round(2.0 / STEP)):
        t = i * STEP
        k1 = rates(t, y)
        k2 = rates(t + STEP / 2, [a + STEP / 2 * b for a, b in zip(y, k1)])
        k3 = rates(t + STEP / 2, [a + STEP / 2 * b for a, b in zip(y, k2)])
        k4 = rates(t + STEP, [a + STEP * b for a, b in zip(y, k3)])
        y = [a + STEP / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
        now = round(t + STEP, 9)
        if now not in wanted:
            continue
        q, v = y[: N + 1], y[N + 1 : 2 * N + 2]
        phi = [sum(q[k] * P[k][j] for k in range(N + 1)) for j in range(POINTS)]
        place = [LENGTH * sum(w * f(a) for w, a in zip(WEIGHT, phi)) for f in (cos, sin)]
        print(f"| {now:g} | `joints.shoulder.angle` | {q[0]:.6f} | 4e-5 |")
        print(f"| {now:g} | `bodies.load.position.x` | {place[0]:.6f} | 4e-5 |")
        print(f"| {now:g} | `bodies.load.position.y` | {place[1]:.6f} | 4e-5 |")
        print(f"| {now:g} | `blocks.torque` | {torque(now, q, v, y[-1]):.5f} | 2e-4 |")


if __name__ == "__main__":
    main()

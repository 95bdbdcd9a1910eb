"""The quarter car by Runge and Kutta's method, without alphastep: two masses, one above the other."""

import csv
import os

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "road.csv"), encoding="utf-8") as file:
    ROWS = [row for row in csv.reader(file) if row and not row[0].startswith("#")][1:]
X, Y = [float(r[0]) for r in ROWS], [float(r[1]) for r in ROWS]


def natural_spline(x, y):
    """Slopes at the points such that second derivatives agree there and vanish at the ends."""
    n = len(x)
    a, b, c, d = [0.0] * n, [2.0] * n, [1.0] * n, [0.0] * n
    q = [(y[i + 1] - y[i]) / (x[i + 1] - x[i]) for i in range(n - 1)]
    for i in range(1, n - 1):
        h0, h1 = x[i] - x[i - 1], x[i + 1] - x[i]
        a[i], b[i], c[i], d[i] = h1, 2 * (h0 + h1), h0, 3 * (h1 * q[i - 1] + h0 * q[i])
    a[-1], d[0], d[-1] = 1.0, 3 * q[0], 3 * q[-1]
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    s = [0.0] * n
    s[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        s[i] = (d[i] - c[i] * s[i + 1]) / b[i]
    return s


SLOPE = natural_spline(X, Y)


def road(x):
    i = 0
    while i < len(X) - 2 and x >= X[i + 1]:
        i += 1
    h = X[i + 1] - X[i]
    u, d = (x - X[i]) / h, (Y[i + 1] - Y[i]) / h
    s0, s1 = SLOPE[i], SLOPE[i + 1]
    return Y[i] + h * u * (s0 + u * (3 * d - 2 * s0 - s1 + u * (s0 + s1 - 2 * d)))


def tension(z):
    e, rate = z[1] - z[0] - 0.57, z[3] - z[2]
    return 2e4 * e * (1 + 25 * e * e) + (900 if rate < 0 else 2200) * rate


def rate(t, z):
    tyre = 2e5 * min(z[0] - road(4 * t) - 0.317, 0.0)
    s = tension(z)
    return [z[2], z[3], (s - tyre) / 40 - 9.81, -s / 300 - 9.81]


def run(times, h):
    t, z, out = 0.0, [0.3, 0.75, 0.0, 0.0], []
    for end in times:
        n = round((end - t) / h)
        for _ in range(n):
            k1 = rate(t, z)
            k2 = rate(t + h / 2, [a + h / 2 * b for a, b in zip(z, k1)])
            k3 = rate(t + h / 2, [a + h / 2 * b for a, b in zip(z, k2)])
            k4 = rate(t + h, [a + h * b for a, b in zip(z, k3)])
            z = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(z, k1, k2, k3, k4)]
            t += h
        t = end
        out.append(list(z))
    return out


TIMES = [0.5, 1.1, 1.2, 1.5, 3.0]
for t, z in zip(TIMES, run(TIMES, 2e-5)):
    print(f"| {t:g} | `bodies.wheel.position.z` | {z[0]:.8f} | 2e-6 |")
    print(f"| {t:g} | `bodies.chassis.position.z` | {z[1]:.8f} | 2e-6 |")
    if t == 1.2:
        print(f"| {t:g} | `bodies.chassis.velocity.z` | {z[3]:.7f} | 2e-5 |")
        print(f"| {t:g} | `forces.strut.tension` | {tension(z):.3f} | 0.1 |")

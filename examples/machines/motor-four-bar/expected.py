#!/usr/bin/env python3
"""The four-bar as a machine of one degree of freedom, the crank's angle a, with motor and controllers, integrated by Runge and
Kutta's method without alphastep: prints lines of the README.

    I(a) a'' + I'(a) a'^2/2 + V'(a) = n k i     I the inertia and V the potential energy at the crank
"""

import math

CRANK, COUPLER, ROCKER, BASE, RHO, J, SPEED, G = 0.1, 0.3, 0.25, 0.3, 4.0, 4e-3, 4 * math.pi, 9.81
R, L, K, N, W = 1.0, 2e-3, 0.05, 5.0, 1000.0


def at(a):
    """Inertia at the crank and potential energy."""
    kx, ky = CRANK * math.cos(a), CRANK * math.sin(a)
    dx, dy = BASE - kx, -ky
    d = math.hypot(dx, dy)
    along = (d * d + COUPLER**2 - ROCKER**2) / (2 * d)
    across = math.sqrt(COUPLER**2 - along**2)
    ex, ey = kx + (along * dx - across * dy) / d, ky + (along * dy + across * dx) / d
    # Rates for a' = 1: knee (-ky, kx); coupler b, rocker c: knee + b x (elbow - knee) = c x (elbow - base).
    px, py, qx, qy = ex - kx, ey - ky, ex - BASE, ey
    det = py * qx - px * qy
    b = (-ky * -qx - kx * qy) / -det
    c = (-ky * -px - kx * py) / -det
    mx, my = -ky - b * py / 2, kx + b * px / 2
    inertia = J + RHO * CRANK**3 / 3 + RHO * COUPLER * (mx * mx + my * my) + RHO * COUPLER**3 / 12 * b * b + RHO * ROCKER**3 / 3 * c * c
    return inertia, RHO * G * (CRANK * ky / 2 + COUPLER * (ky + ey) / 2 + ROCKER * ey / 2)


def table(n=20000):
    """Inertia, its derivative and that of the potential energy over a turn."""
    h, rows = 1e-4, []
    for i in range(n + 1):
        a = 2 * math.pi * i / n
        (i1, v1), (i2, v2) = at(a - h), at(a + h)
        rows.append((at(a)[0], (i2 - i1) / (2 * h), (v2 - v1) / (2 * h)))
    return rows


TABLE = table()


def limited(x, most):
    return max(-most, min(most, x))


def slope(t, s):
    a, w, i, speed_integral, current_integral = s[:5]
    place = (a / (2 * math.pi) % 1.0) * (len(TABLE) - 1)
    k = int(place)
    inertia, d_inertia, d_potential = (p + (place - k) * (q - p) for p, q in zip(TABLE[k], TABLE[k + 1]))
    error = 2 * SPEED * min(t, 0.5) - w
    raw = 1.5 * error + speed_integral
    wanted = limited(raw, 12)
    raw_voltage = W * L * (wanted - i) + current_integral
    voltage = limited(raw_voltage, 24)
    return [w, (N * K * i - d_inertia * w * w / 2 - d_potential) / inertia, (voltage - R * i - N * K * w) / L,
            15 * error + (wanted - raw) / 0.1, W * R * (wanted - i) + (voltage - raw_voltage) * R / L,
            2 * (w - SPEED), 2 * (w - SPEED) ** 2, 2 * i * i]


def move(s, h, k):
    return [a + h * b for a, b in zip(s, k)]


def run(t_end, h=2e-4):
    s, rows = [0.0] * 8, []
    for step in range(round(t_end / h) + 1):
        t = step * h
        if step == round(3.5 / h):
            s = s[:5] + [0.0] * 3
        if step % round(0.01 / h) == 0:
            rows.append(s)
        k1 = slope(t, s)
        k2 = slope(t + h / 2, move(s, h / 2, k1))
        k3 = slope(t + h / 2, move(s, h / 2, k2))
        k4 = slope(t + h, move(s, h, k3))
        s = [a + h / 6 * (p + 2 * q + 2 * r + u) for a, p, q, r, u in zip(s, k1, k2, k3, k4)]
    return rows


rows = run(4)
for t in (0.3, 1, 2):
    s = rows[round(100 * t)]
    print(f"| {t:g} | `joints.pin.angle` | {s[0]:.6f} | 2e-5 |")
    print(f"| {t:g} | `joints.pin.angle_rate` | {s[1]:.6f} | 2e-4 |")
    print(f"| {t:g} | `blocks.motor.current` | {s[2]:.5f} | 1e-3 |")
print(f"| 4 | `blocks.error_sum` | {round(rows[400][5], 6) + 0.0:.6f} | 2e-5 |")
print(f"| 4 | `blocks.ripple` | {math.sqrt(rows[400][6]):.6f} | 2e-5 |")
print(f"| 4 | `blocks.current` | {math.sqrt(rows[400][7]):.6f} | 2e-4 |")
print(f"| max | `blocks.motor.current` | {max(s[2] for s in rows):.4f} | 2e-3 |")

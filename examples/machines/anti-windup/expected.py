#!/usr/bin/env python3
"""The turntable and its PID, integrated by Runge and Kutta's method without alphastep: prints lines of the README.

    J w' = u - c w - load     I' = ki e + (u - raw)/tracking     filter D' = -angle - D
    raw = kp e + I + kd (-angle - D)/filter     u = raw within +-most
"""

J, C, MOST, LOAD, GOAL, KP, KI, KD, FILTER = 0.05, 0.02, 0.5, 0.1, 1.5, 2.0, 2.0, 0.5, 0.02


def torque(s):
    angle, _, integral, filtered = s
    raw = KP * (GOAL - angle) + integral + KD * (-angle - filtered) / FILTER
    return raw, max(-MOST, min(MOST, raw))


def slope(s, tracking):
    raw, u = torque(s)
    return [s[1], (u - C * s[1] - LOAD) / J, KI * (GOAL - s[0]) + (u - raw) / tracking, (-s[0] - s[3]) / FILTER]


def move(s, h, k):
    return [a + h * b for a, b in zip(s, k)]


def run(tracking, h=5e-4):
    """Angles and torques at every 0.01 s, and when the angle was last 2 % off."""
    s, rows, settled = [0.0] * 4, [], 0.0
    for i in range(round(10 / h) + 1):
        if i % round(0.01 / h) == 0:
            rows.append((s[0], torque(s)[1]))
            if abs(s[0] - GOAL) > 0.03:
                settled = i * h
        k1 = slope(s, tracking)
        k2 = slope(move(s, h / 2, k1), tracking)
        k3 = slope(move(s, h / 2, k2), tracking)
        k4 = slope(move(s, h, k3), tracking)
        s = [a + h / 6 * (p + 2 * q + 2 * r + u) for a, p, q, r, u in zip(s, k1, k2, k3, k4)]
    return rows, settled


for tracking in (0.25, 1e9):
    rows, settled = run(tracking)
    for t in (0.5, 1, 2, 4):
        print(f"| {t:g} | `joints.axle.angle` | {rows[round(t * 100)][0]:.7f} | 2e-5 |")
    print(f"| 2 | `blocks.pid` | {rows[200][1]:.6f} | 2e-4 |")
    print(f"| max | `joints.axle.angle` | {max(r[0] for r in rows):.6f} | 2e-5 |")
    print(f"| 10 | `blocks.settled` | {settled:.2f} | 0.011 |")

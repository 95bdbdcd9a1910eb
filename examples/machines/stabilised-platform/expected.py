#!/usr/bin/env python3
"""Transfer function from the ship's roll to the platform's angle, for small angles: prints lines of the README.

    J s^2 a = c s (r - a) - k_rate w - k_tilt z     w = s a/(1 + T s)     (s + L) z = w + L (a - H s^2 r/g)
"""

import math

g, H, J, c, k_rate, k_tilt, L, T = 9.81, 2.0, 0.4, 0.3, 12.0, 40.0, 0.05, 1 / (2 * math.pi * 50)


def decibels(f, on):
    s = 2j * math.pi * f
    brought = c * s + on * k_tilt * L * H * s * s / g / (s + L)
    held = J * s * s + c * s + on * (k_rate * s / (1 + T * s) + k_tilt * (s / (1 + T * s) + L) / (s + L))
    return 20 * math.log10(abs(brought / held))


for f, on in ((0.125, 1), (1, 1), (1, 0)):
    print(f"| 200 | `blocks.rejection` | {decibels(f, on):.3f} | 0.02 |")

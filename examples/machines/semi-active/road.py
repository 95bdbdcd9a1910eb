#!/usr/bin/env python3
"""Prints road.csv: a road of ISO 8608, class C, along 160 m, and its slope.

G_d(n) = 256e-6 m^3 (n/0.1)^-2 in 100 bands from 0.011 to 1.5 1/m, one sine in the middle of each with a phase by chance: from a
linear congruential generator, so that the road is the same everywhere. The first 20 m lead from an even road to it.
"""

import math

BANDS, LENGTH, STEP, RAMP = 100, 160.0, 0.1, 20.0


def sines():
    """(wave number, amplitude, phase); of the phases, which come in pairs, the first ones."""
    s = 12345
    for j in range(BANDS):
        edge = [0.011 * (1.5 / 0.011) ** (k / BANDS) for k in (j, j + 1)]
        n = math.sqrt(edge[0] * edge[1])
        amplitude = math.sqrt(2 * 256e-6 * (n / 0.1) ** -2 * (edge[1] - edge[0]))
        s = (1664525 * s + 1013904223) % 2**32
        phase = 2 * math.pi * s / 2**32
        s = (1664525 * s + 1013904223) % 2**32
        yield n, amplitude * math.sqrt((1 + math.exp(-3 * n)) / 2), phase


ALL = list(sines())


def road(x):
    """Height and slope."""
    z = slope = 0.0
    for n, amplitude, phase in ALL:
        z += amplitude * math.sin(2 * math.pi * n * x + phase)
        slope += amplitude * 2 * math.pi * n * math.cos(2 * math.pi * n * x + phase)
    u = min(max(x / RAMP, 0.0), 1.0)
    ramp, rise = u**3 * (10 - 15 * u + 6 * u * u), 30 * u * u * (1 - u) ** 2 / RAMP
    return ramp * z, ramp * slope + rise * z


def main():
    print("x [m],z [m],slope [-]")
    for i in range(round(LENGTH / STEP) + 1):
        z, slope = road(STEP * i)
        print(f"{STEP * i:.1f},{z:.7f},{slope:.7f}")


if __name__ == "__main__":
    main()

"""A pendulum as a differential-algebraic problem: a mass in the plane, and the rod as a constraint. What SciPy's solvers cannot take.

M v' = f - B^T lambda, 0 = (x^2 + y^2 - l^2)/2, from level. At the lowest point the rod bears three weights, and the time to get there is that of
the arithmetic-geometric mean.
"""

import math

import alphastep

m, l, g = 2.0, 1.0, 9.81

pendulum = alphastep.Problem(2, mass=[[m, 0], [0, m]], force=lambda t, q, v: [0, -m * g],
                             constraint=lambda t, q: [(q[0]**2 + q[1]**2 - l**2) / 2], n_constraints=1)


def quarter_period(angle):
    a, b = 1.0, math.cos(angle / 2)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return math.pi / 2 / a * math.sqrt(l / g)


end = quarter_period(math.pi / 2)
sim = pendulum.start(q=[l, 0], rtol=1e-6)
sim.advance(end)
print(f"after {end:.6f} s: x = {sim.q[0]:.1e} m, y = {sim.q[1]:.6f} m")
print(f"speed {abs(sim.v[0]):.6f} m/s, exactly {math.sqrt(2 * g * l):.6f}")
print(f"force of the rod {sim.multipliers[0] * l:.4f} N, exactly {3 * m * g:.4f}")

states = pendulum.solve([0, 1, 2, 3, 4], q=[l, 0], rtol=1e-6)
energy = [m * (v[0]**2 + v[1]**2) / 2 + m * g * q[1] for q, v in zip(states["q"], states["v"])]
print(f"energy in 4 s to {max(map(abs, energy)):.0e} J, length to {max(abs(math.hypot(*q) - l) for q in states['q']):.0e} m")

"""A regulator for a pole on a cart: built in Python, linearized, designed with SciPy, tried on the machine itself, step by step.

Needs NumPy and SciPy.
"""

import alphastep
import numpy as np
from scipy.linalg import solve_continuous_are

model = alphastep.Model(gravity=[0, 0, -9.81])
model.bodies.rigid("cart", mass=1, inertia=[0.01, 0.01, 0.01])
model.bodies.rigid("pole", mass=0.1, inertia=[0.0083, 0.0083, 1e-5], position=[0, 0, 0.5])
model.joints.prismatic("rail", bodies=["ground", "cart"], point=[0, 0, 0], axis=[1, 0, 0])
model.joints.revolute("pivot", bodies=["cart", "pole"], point=[0, 0, 0], axis=[0, 1, 0])
model.blocks.input("force", unit="N")
model.forces.actuator("drive", joint="rail", force="blocks.force")
machine = model.build()

measured = ["joints.rail.displacement", "joints.pivot.angle", "joints.rail.displacement_rate", "joints.pivot.angle_rate"]
linear = machine.linearize(inputs=["force"], outputs=measured)  # about the start: the pole is upright
print("poles without a regulator:", np.array2string(np.sort(np.linalg.eigvals(linear.A).real), precision=3, suppress_small=True))

# Outputs are what the regulator weighs: x = C^-1 y.
A = linear.C @ linear.A @ np.linalg.inv(linear.C)
B = linear.C @ linear.B
Q, R = np.diag([10.0, 10.0, 1.0, 1.0]), np.array([[0.1]])
K = np.linalg.solve(R, B.T @ solve_continuous_are(A, B, Q, R))
print("gains:", np.array2string(K[0], precision=3))
print("slowest pole with it:", f"{np.max(np.linalg.eigvals(A - B @ K).real):.3f} 1/s")

# On the machine, with samples at 100 Hz, from 0.3 rad.
leaning = machine.start(measured, step=1e-3, q=[0, 0, 0, 1, 0, 0, 0, 0.5 * np.sin(0.3), 0, 0.5 * np.cos(0.3), np.cos(0.15), 0, np.sin(0.15), 0])
furthest, u = 0.0, np.zeros(1)
for i in range(500):
    u[0] = -(K @ leaning.row)[0]
    leaning.advance(0.01 * (i + 1), u)
    furthest = max(furthest, abs(leaning["joints.rail.displacement"]))
print(f"the cart goes as far as {furthest:.3f} m; after 5 s the pole is off by {abs(leaning['joints.pivot.angle']):.1e} rad")

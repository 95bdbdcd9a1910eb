"""Parameters of a pendulum with friction from a measurement: runs of the machine inside scipy.optimize.

The measurement is made up: a run with known values, and noise of 2 mrad. Needs NumPy and SciPy.
"""

import alphastep
import numpy as np
from scipy.optimize import least_squares

model = alphastep.Model(gravity=[0, 0, -9.81], parameters={"length": 0.5, "damping": 0.1})
model.bodies.rigid("bob", mass=1, inertia=[1e-3, 1e-3, 1e-3], position=["length", 0, 0])
model.joints.revolute("pin", bodies=["ground", "bob"], point=[0, 0, 0], axis=[0, -1, 0])
model.forces.actuator("friction", joint="pin", force="-damping*joints.pin.angle_rate")
model.simulate(t_end=4, tol={"rtol": 1e-5})

times = np.linspace(0, 4, 81)


def angle(length, damping):
    return model.build(length=length, damping=damping).run(times=times, channels="joints.pin.angle")["joints.pin.angle"]


true = (0.62, 0.045)
measured = angle(*true) + 2e-3 * np.random.default_rng(1).standard_normal(len(times))
found = least_squares(lambda p: angle(*p) - measured, x0=[0.6, 0.1], x_scale=[1, 0.1], diff_step=1e-4)
spread = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)) * 2 * found.cost / (len(times) - 2))
for name, value, s, t in zip(("length", "damping"), found.x, spread, true):
    print(f"{name}: {value:.5f} +- {s:.5f}, truly {t}")
print(f"what is left: {np.sqrt(2 * found.cost / len(times)) * 1e3:.2f} mrad")

#!/usr/bin/env python3
"""The car of examples/car on its way over a cleat and over a rough road, against a ride model: heave, roll and pitch of the body, four wheels, and
for the bushed car its engine on mounts and the driver in his seat, all vertical; springs and dampers as the suspension has them at the wheel.
It has no rods, no rubber in links, and tyres that push along the road's normal only. Skipped (77) without NumPy.

usage: car_ride.py COMMAND FOLDER
"""

import csv
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

COMMAND, FOLDER = sys.argv[1:3]
WHEELS = [(1.38, 0.798), (1.38, -0.798), (-1.5415, 0.8), (-1.5415, -0.8)]
WHEEL_RATE = (23284.06, 23284.06, 23988.51, 23988.51)  # of the springs with the rods' inclination, at the wheels [N/m]
RATIO = (0.9306, 0.9306, 0.9073, 0.9073)  # way of the strut by that of the wheel
DAMPING, BAR = (1800, 1800, 1700, 1700), (18000, 8000)
TYRE, TYRE_DAMPING, RADIUS = 280835.0, 500.0, 0.344
STATIC = (4242.83, 4242.83, 3820.99, 3820.99)
Z, ROLL, PITCH, WHEEL, ENGINE, DRIVER, SIZE = 0, 1, 2, 3, 7, 11, 12


def at(x, y):
    """The body's height at a point, from its coordinates."""
    row = np.zeros(SIZE)
    row[[Z, ROLL, PITCH]] = 1, y, -x
    return row


def unit(**parts):
    row = np.zeros(SIZE)
    for name, value in parts.items():
        row[int(name[1:])] = value
    return row


class Model:
    def __init__(self, bushed):
        self.M, self.C, self.K = (np.zeros((SIZE, SIZE)) for _ in range(3))
        wheels = (42, 42, 40, 40)
        if not bushed:
            self.mass(at(0, 0), 1480)
            self.M[ROLL, ROLL] += 560
            self.M[PITCH, PITCH] += 2350
        else:
            # Half of the mass of links and tubes, and drop links, is the wheels': 6.5 kg in front, 6 kg behind.
            wheels = (48.5, 48.5, 46, 46)
            self.mass(at(-0.154, 0), 1136.5)
            self.mass(at(1.34, 0), 28 + 21.75)  # subframes, and what is left of the parts on them
            self.mass(at(-1.50, 0), 32 + 21.75)
            self.M[ROLL, ROLL] += 470 + 3.8
            self.M[PITCH, PITCH] += 1950 + 2.1
            self.engine()
            self.mass(unit(_11=1), 75)
            self.spring(at(0.05, 0.36) - unit(_11=1), 8.5e4, 1200)
        for i, (x, y) in enumerate(WHEELS):
            self.M[WHEEL + i, WHEEL + i] += wheels[i]
            self.spring(at(x, y) - np.eye(SIZE)[WHEEL + i], WHEEL_RATE[i], DAMPING[i] * RATIO[i] ** 2)
        for axle in (0, 1):
            left, right = 2 * axle, 2 * axle + 1
            row = at(*WHEELS[left]) - at(*WHEELS[right]) - np.eye(SIZE)[WHEEL + left] + np.eye(SIZE)[WHEEL + right]
            self.spring(row, BAR[axle] * RATIO[left] ** 2, 0)
        for row in (ENGINE, ENGINE + 1, ENGINE + 2, ENGINE + 3, DRIVER):
            if self.M[row, row] == 0:  # it has none
                self.M[row, row] = 1

    def mass(self, row, m):
        self.M += m * np.outer(row, row)

    def spring(self, row, k, c):
        self.K += k * np.outer(row, row)
        self.C += c * np.outer(row, row)

    def engine(self):
        """Heave, roll, pitch and way ahead, on three mounts that damp by 5e-4 s."""
        for i, m in enumerate((140, 6, 9, 140)):
            self.M[ENGINE + i, ENGINE + i] += m
        for x, y, z in ((1.35, 0.45, 0.55), (1.35, -0.45, 0.55), (0.95, 0, 0.30)):
            up = at(x, y) - unit(_7=1, _8=y, _9=-(x - 1.30))
            ahead = unit(_10=1, _9=z - 0.48, _2=-(z - 0.5825))
            aside = unit(_8=z - 0.48, _1=-(z - 0.48))
            for row, k in ((up, 4e5), (ahead, 3e5), (aside, 3e5)):
                self.spring(row, k, 5e-4 * k)
        self.spring(unit(_9=1, _2=-1), 600, 0.3)


# ---- the rough road

def road():
    """Amplitudes and phases of ISO 8608, class C: z(x, y) of many x."""
    edges = 0.011 * (1.5 / 0.011) ** (np.arange(101) / 100)
    n = np.sqrt(edges[1:] * edges[:-1])
    amplitude = np.sqrt(2 * 256e-6 * (n / 0.1) ** -2 * np.diff(edges))
    state, phases = 12345, []
    for _ in range(200):
        state = (1664525 * state + 1013904223) % 2**32
        phases.append(2 * np.pi * state / 2**32)
    share = np.exp(-3 * n)

    def height(x, y):
        far = np.clip((x - 3) / 20, 0, 1)
        waves = 2 * np.pi * np.outer(x - 3, n)
        middle = np.sin(waves + phases[0::2]) @ (amplitude * np.sqrt((1 + share) / 2))
        across = np.sin(waves + phases[1::2]) @ (amplitude * np.sqrt((1 - share) / 2))
        return far**3 * (10 - 15 * far + 6 * far**2) * (middle + across * y / 0.8)

    return height


def weighting():
    """Wk of ISO 2631-1 as dx/dt = A x + b u, y = c x."""
    w1, w2, w3, w5, w6 = (2 * np.pi * f for f in (0.4, 100, 12.5, 2.37, 3.35))
    product = np.polymul
    top = product(product([w2**2, 0, 0], [1 / w3, 1]), np.array([1 / w5**2, 1 / (0.91 * w5), 1]) * (w5 / w6) ** 2)
    bottom = product(product([1, 2**0.5 * w1, w1**2], [1, 2**0.5 * w2, w2**2]),
                     product([1 / w3**2, 1 / (0.63 * w3), 1], [1 / w6**2, 1 / (0.91 * w6), 1]))
    n = len(bottom) - 1
    A = np.vstack([-bottom[1:] / bottom[0], np.eye(n)[:-1]])
    return A, np.eye(n)[:, :1], np.concatenate([np.zeros(n - len(top)), top]) / bottom[0]


def exponential(A):
    halvings = max(0, int(np.ceil(np.log2(np.abs(A).sum(1).max())))) + 4
    term = result = np.eye(len(A))
    for k in range(1, 15):
        term = term @ A / (2**halvings * k)
        result = result + term
    return np.linalg.matrix_power(result, 2**halvings)


def follow(A, B, u, step):
    """x at all times, for inputs that are straight between."""
    n, m = B.shape
    E = np.zeros((n + 2 * m, n + 2 * m))
    E[:n, :n], E[:n, n : n + m], E[n : n + m, n + m :] = A * step, B * step, np.eye(m)
    E = exponential(E)
    forced = u[:-1] @ E[:n, n : n + m].T + np.diff(u, axis=0) @ E[:n, n + m :].T
    x = np.zeros((len(u), n))
    for k in range(len(u) - 1):
        x[k + 1] = E[:n, :n] @ x[k] + forced[k]
    return x


def comfort(bushed):
    """Weighted root mean square of the body's vertical acceleration at 20 m/s, from 2 s to 12 s, with linear dampers and tyres."""
    model, step, height = Model(bushed), 5e-4, road()
    t = np.arange(0, 12 + step / 2, step)
    input_ = np.zeros((SIZE, 8))
    u = np.zeros((len(t), 8))
    for i, (x, y) in enumerate(WHEELS):
        model.spring(np.eye(SIZE)[WHEEL + i], TYRE, 0.94 * TYRE_DAMPING)
        input_[WHEEL + i, [i, 4 + i]] = TYRE, 0.94 * TYRE_DAMPING
        u[:, i] = height(x + 20 * t, y)
        u[:, 4 + i] = (height(x + 20 * t + 1e-4, y) - height(x + 20 * t - 1e-4, y)) / 1e-5
    inverse = np.linalg.inv(model.M)
    A = np.block([[np.zeros((SIZE, SIZE)), np.eye(SIZE)], [-inverse @ model.K, -inverse @ model.C]])
    B = np.vstack([np.zeros((SIZE, 8)), inverse @ input_])
    acceleration = follow(A, B, u, step) @ A[SIZE + Z] + u @ B[SIZE + Z]
    A, B, c = weighting()
    weighted = follow(A, B, acceleration[:, None], step) @ c
    return np.sqrt(np.mean(weighted[t > 2] ** 2))


# ---- the cleat

def positive(x, d):
    return (x + np.sqrt(x * x + d * d)) / 2


def push(deflection, rate):
    rho = positive(deflection, 1e-4)
    return positive(TYRE * rho + TYRE_DAMPING * rho / (rho + 1e-3) * rate, 10.0)


def cleat():
    """Largest wheel loads in front and behind and the range of the body's vertical acceleration: the lean car at 10 m/s."""
    model, step = Model(False), 2e-4
    inverse = np.linalg.inv(model.M)
    x0 = np.array([x for x, _ in WHEELS])
    static = np.array(STATIC)
    rest = static / TYRE
    for _ in range(20):
        rest -= (push(rest, 0.0) - static) / TYRE

    def ground(x):
        inside = (x > 3) & (x < 3.5)
        phase = 4 * np.pi * (x - 3)
        return inside * 0.01 * (1 - np.cos(phase)), inside * 0.04 * np.pi * np.sin(phase)

    def rates(t, state):
        q, v = state[:SIZE], state[SIZE:]
        x = x0 + 10 * t
        centre = RADIUS - rest + q[WHEEL : WHEEL + 4]
        z, slope = ground(x)
        x = x + (centre - z) * slope / (1 + slope**2)  # where the wheel's plane meets the road, in two passes
        z, slope = ground(x)
        cosine = 1 / np.sqrt(1 + slope**2)
        distance = (centre - z - (x0 + 10 * t - x) * slope) * cosine
        load = push(RADIUS - distance, (10 * slope - v[WHEEL : WHEEL + 4]) * cosine)
        force = -model.K @ q - model.C @ v
        force[WHEEL : WHEEL + 4] += load * cosine - static
        return np.concatenate([v, inverse @ force]), load

    state, loads, accelerations = np.zeros(2 * SIZE), [], []
    for k in range(int(1.0 / step)):
        t = k * step
        k1, load = rates(t, state)
        loads.append(load)
        accelerations.append(k1[SIZE + Z])
        k2 = rates(t + step / 2, state + step / 2 * k1)[0]
        k3 = rates(t + step / 2, state + step / 2 * k2)[0]
        k4 = rates(t + step, state + step * k3)[0]
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    loads = np.array(loads)
    return [loads[:, 0].max(), loads[:, 2].max(), min(accelerations), max(accelerations)]


# ---- the car

def run(model, folder, *settings):
    words = [COMMAND, "run", f"{FOLDER}/{model}", "-o", f"{folder}/{model}", "--quiet", "--no-report", "--force"]
    subprocess.run(words + [f"--set={setting}" for setting in settings], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(f"{folder}/{model}/results.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    values = np.array(lines[1:], dtype=float)
    return {name.rsplit(" [", 1)[0]: values[:, i] for i, name in enumerate(lines[0])}


def main():
    failed = False

    def compare(name, found, expected, within):
        nonlocal failed
        off = found / expected - 1
        print(f"{name}: {found:.4f}, ride model {expected:.4f}, {100 * off:+.1f} %")
        if not abs(off) <= within:
            failed = True
            print(f"FAILED: {name}: {found}, not {expected} within {within}", file=sys.stderr)

    with tempfile.TemporaryDirectory() as folder:
        for name, bushed in (("lean", 0), ("bushed", 1)):
            found = run("rough_road.yaml", folder, f"parameters.bushed={bushed}", "parameters.damper=0", "output.interval=12")
            compare(f"comfort of the {name} car", found["blocks.weighted_rms"][-1], comfort(bushed == 1), 0.045 if bushed else 0.01)
        found = run("cleat.yaml", folder, "parameters.bushed=0", "parameters.damper=0", "output.interval=0.002", "simulate.t_end=1")
        ours = [found["forces.tyre_fl.contact_force.z"].max(), found["forces.tyre_rl.contact_force.z"].max(),
                found["bodies.chassis.acceleration.z"].min(), found["bodies.chassis.acceleration.z"].max()]
        names = ("load of a front wheel on the cleat", "of a rear wheel", "least acceleration of the body", "largest")
        for name, value, expected in zip(names, ours, cleat()):
            compare(name, value, expected, 0.025)
    return failed


if __name__ == "__main__":
    sys.exit(main())

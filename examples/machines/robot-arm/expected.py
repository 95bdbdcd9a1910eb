#!/usr/bin/env python3
"""The robot arm by hand. Computed torque leaves e'' + 20 e' + 100 e = 0 of each angle's distance e from its path; the
torques are those of the two links' equations of motion, here from the power that links and weight take."""

import cmath
import math

M = (4.0, 3.0)
L = (0.5, 0.4)
G = 9.81


def path(t, amplitude, frequency, phase, start):
    """Angle, rate, acceleration: amplitude sin(frequency t + phase) + start (1 + 10 t) exp(-10 t)."""
    s, c, e = math.sin(frequency * t + phase), math.cos(frequency * t + phase), start * math.exp(-10 * t)
    return (amplitude * s + e * (1 + 10 * t), amplitude * frequency * c - 100 * t * e,
            -amplitude * frequency**2 * s + e * (1000 * t - 100))


def machine(t):
    shoulder = path(t, 0.6, 2.0, 0.0, 0.2)
    elbow = path(t, 0.5, 3.0, math.pi / 2, -0.1)
    # Angle, rate and acceleration of both links against the ground; places are complex numbers x + i z.
    links = (shoulder, tuple(a + b for a, b in zip(shoulder, elbow)))
    joint, joint_acceleration = 0j, 0j
    middles = []
    for length, (angle, rate, acceleration) in zip(L, links):
        r = cmath.rect(length, angle)
        bend = (1j * acceleration - rate**2) * r
        middles.append((joint + r / 2, joint_acceleration + bend / 2))
        joint, joint_acceleration = joint + r, joint_acceleration + bend
    # Moments about a joint of what its motor carries: m r x (a - g) + J phi''
    def moment(about, first):
        total = 0.0
        for m, length, (place, a), link in list(zip(M, L, middles, links))[first:]:
            total += m * ((place - about).conjugate() * (a + 1j * G)).imag + m * length**2 / 12 * link[2]
        return total

    elbow_place = cmath.rect(L[0], shoulder[0])
    return {"joints.shoulder.angle": shoulder[0], "joints.elbow.angle": elbow[0],
            "forces.shoulder motor.drive": moment(0j, 0), "forces.elbow motor.drive": moment(elbow_place, 1),
            "frames.hand.position.z": joint.imag, "frames.hand.distance.base": abs(joint)}


WITHIN = {"angle": 3e-6, "drive": 2e-3, "z": 2e-6, "base": 2e-6}

for time in (0.05, 0.2, 0.5, 1.0):
    for name, value in machine(time).items():
        print(f"| {time:g} | `{name}` | {value:.8f} | {WITHIN[name.split('.')[-1]]:g} |")

"""What the tests share: machines as texts and as files of the examples."""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

CART = """alphastep: 1
gravity: [0, 0, -9.81]
parameters: {k: 3}
bodies: {cart: {mass: 2, inertia: [1, 1, 1]}}
joints: {rail: {type: prismatic, bodies: [ground, cart], point: [0, 0, 0], axis: [1, 0, 0]}}
forces:
  push: {type: actuator, joint: rail, force: blocks.in - k*joints.rail.displacement}
blocks: {in: {type: input, start: 1, unit: N}}
simulate: {t_end: 1, step: 1e-3}
output: {interval: 0.1, channels: [joints.rail.displacement, joints.rail.displacement_rate, blocks.in]}
"""


@pytest.fixture
def example():
    return lambda name: ROOT / "examples" / "machines" / name / "model.yaml"


@pytest.fixture
def cart():
    return CART

"""FMUs in machines: one that the command has exported, only where it is allowed."""

import os
import pathlib
import subprocess

import pytest

import alphastep

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = """alphastep: 1
bodies: {none: {mass: 1, inertia: [1, 1, 1]}}
fmus: {plant: {file: plant.fmu, every: 1e-2, inputs: {blocks.force: 2}}}
simulate: {t_end: 0.1, step: 1e-3}
output: {interval: 0.1, channels: [blocks.*]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    command = os.environ.get("ALPHASTEP_COMMAND")
    if not command:
        pytest.skip("ALPHASTEP_COMMAND is not set")
    folder = tmp_path_factory.mktemp("fmus")
    subprocess.run([command, "fmu", ROOT / "examples/fmu/plant.yaml", "-o", folder / "plant.fmu", "--quiet"], check=True)
    (folder / "model.yaml").write_text(MODEL)
    return folder


def test_allowed(folder):
    """Whatever way says so, the FMU does what the machine that it was made of does."""
    plant = alphastep.load(ROOT / "examples/fmu/plant.yaml", set={"blocks.force.start": 2}).run(t_end=0.1)
    wanted = plant["joints.pivot.angle"][-1]
    for fmus in (True, [folder]):
        result = alphastep.load(folder / "model.yaml", fmus=fmus).run()
        assert abs(result["blocks.plant.joints_pivot_angle"][-1] - wanted) < 1e-9


def test_not_allowed(folder, tmp_path):
    for fmus in (None, False, [tmp_path]):
        with pytest.raises(alphastep.ModelError, match="FMU"):
            alphastep.load(folder / "model.yaml", plugins=True, fmus=fmus)


def test_study(folder):
    asked = {"parameters": {"simulate.t_end": [0.05, 0.1]}, "results": {"x": {"last": "blocks.plant.joints_rail_displacement"}}}
    table = alphastep.study(folder / "model.yaml", fmus=True, threads=1, **asked)
    plant = alphastep.load(ROOT / "examples/fmu/plant.yaml", set={"blocks.force.start": 2}).run(t_end=0.1)
    for k, t in enumerate((5, 10)):  # of rows each 10 ms
        assert abs(table["x"][k] - plant["joints.rail.displacement"][t]) < 1e-9
    with pytest.raises(alphastep.ModelError, match="FMU"):
        alphastep.study(folder / "model.yaml", **asked)

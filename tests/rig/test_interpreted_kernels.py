"""Kernels as plain Python and compiled: the same machine."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from rig.virtual.plant_kernel import SPEEDS

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, sys
from actuators import Mode
from kinematics import interpreted
from rig.config import load_config
from rig.virtual import VirtualRig

def moved():
    rig = VirtualRig(load_config("virtual"))
    plant = rig.plant
    plant.command(0, Mode.HOMING, 0.0, 0.0, 0.0, True, False, False)
    rig.advance(0.05)
    plant.command(0, Mode.FORCE, 60.0, 0.0, 0.0, True, False, False)
    rig.advance(0.07)
    return plant.outputs.tolist(), plant.state.tolist()

with interpreted():
    first = moved()
assert "numba" not in sys.modules and "llvmlite" not in sys.modules
print(json.dumps([first, moved()]))
assert "numba" in sys.modules
"""


def test_a_motion_is_the_same_up_to_rounding() -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300.0)
    assert not done.returncode, done.stderr
    (outputs, state), (compiled_outputs, compiled_state) = json.loads(done.stdout)
    for row, compiled in zip(outputs, compiled_outputs, strict=True):  # m, m/s, N, N, acceleration, m
        np.testing.assert_allclose(row, compiled, rtol=0.0, atol=1e-12 * np.abs(compiled).max())
    np.testing.assert_allclose(state, compiled_state, rtol=0.0, atol=1e-12)
    assert abs(compiled_outputs[SPEEDS][0]) > 1e-3  # it moved


def test_devices_are_checked_without_the_compiler() -> None:
    """As by the set-up wizard, in the app."""
    program = (
        "import sys; from rig.commissioning import check_devices; from rig.config import load_config;"
        "check_devices(load_config('virtual')); print({'numba', 'scipy'} & set(sys.modules))"
    )
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300.0)
    assert not done.returncode and done.stdout == "set()\n", done.stdout + done.stderr

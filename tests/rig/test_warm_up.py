"""Nothing is compiled inside the loop: a kernel that is, costs the cycle a quarter of a second."""

import sys
from pathlib import Path

import pytest
from configured import VIRTUAL
from numba.core.registry import CPUDispatcher

from rig.client.interruption import Interruption
from rig.client.lockstep import LockstepRig
from rig.client.motions import prepare_motion
from rig.client.operation import run_motion
from rig.client.runs import demo_trajectory

OURS = ("rig", "kinematics", "dynamics")


def compiled_signatures() -> set[tuple[str, str]]:
    return {
        (f"{value.__module__}.{value.__name__}", str(signature))
        for module in list(sys.modules.values())
        if module.__name__.split(".")[0] in OURS
        for value in vars(module).values()
        if isinstance(value, CPUDispatcher)
        for signature in value.signatures
    }


@pytest.mark.parametrize("mode", ["force", "computed-torque", "observer", "position"])
def test_warm_up_compiles_every_kernel_of_the_cycle(tmp_path: Path, mode: str) -> None:
    config = VIRTUAL.changed({"mode": mode, "virtual": {"drive": {"start_spread": 1e-3}}})
    table = prepare_motion(config, demo_trajectory(config.machine.geometry.home_pose, 1.0))
    with LockstepRig(config, tmp_path / "run.mcap", Interruption()) as rig:
        rig.virtual.advance(config.period)
        before = compiled_signatures()
        run_motion(rig, table, "demo", lambda _progress: None)
    assert len(before) > 20
    assert compiled_signatures() - before == set()

"""Nothing is compiled inside the loop: a kernel that is, costs the cycle a quarter of a second."""

import importlib
import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
from configured import SHIPPED, VIRTUAL

from kinematics import Kernel, with_callees
from rig.client.interruption import Interruption
from rig.client.lifecycle import run_motion
from rig.client.lockstep import LockstepRig
from rig.client.motions import prepare_motion
from rig.client.runs import demo_trajectory
from rig.engine import kernels_of, rehearsed
from rig.virtual import VirtualRig
from rig.virtual import kernels_of as virtual_kernels_of

MODES = ("force", "computed-torque", "observer", "position")
OURS = ("rig", "actuators", "kinematics", "dynamics")


def all_kernels() -> list[Kernel]:
    return [
        value
        for module in list(sys.modules.values())
        if module.__name__.split(".")[0] in OURS
        for value in vars(module).values()
        if isinstance(value, Kernel)
    ]


def compiled_signatures() -> set[tuple[str, str]]:
    return {
        (f"{value.__module__}.{value.__name__}", str(signature))
        for value in all_kernels()
        for signature in value.compiled.signatures
    }


@pytest.mark.parametrize("mode", MODES)
def test_warm_up_compiles_every_kernel_of_the_cycle(tmp_path: Path, mode: str) -> None:
    config = VIRTUAL.changed({"mode": mode, "virtual": {"drive": {"start_spread": 1e-3}}})
    table = prepare_motion(config, demo_trajectory(config.machine.geometry.home_pose, 1.0))
    with LockstepRig(config, tmp_path / "run.mcap", Interruption()) as rig:
        rig.virtual.advance(config.period)
        before = compiled_signatures()
        run_motion(rig, table, "demo", lambda _progress: None)
    assert len(before) > 20
    assert compiled_signatures() - before == set()


def names(kernels: list[Kernel]) -> set[str]:
    return {f"{each.py_func.__module__}.{each.__name__}" for each in with_callees(kernels)}


def compare_told_and_used(folder: Path) -> None:
    """In a process of its own, which no other test has had compile anything."""
    told: set[str] = set()
    for mode in MODES:
        config = VIRTUAL.changed({"mode": mode})
        with LockstepRig(config, folder / f"{mode}.mcap", Interruption()) as rig:
            rig.virtual.advance(config.period)
        roots = (each.rpartition(".") for each in (*kernels_of(config), *virtual_kernels_of(config)))
        told |= names([getattr(importlib.import_module(module), name) for module, _dot, name in roots])
        used = names([kernel for kernel in all_kernels() if kernel.compiled.signatures])
        assert told == used, f"{mode}: told, but not used: {told - used}; used, but not told: {used - told}"


def test_what_is_told_while_the_model_is_compiled_is_all_that_is_used(tmp_path: Path) -> None:
    child = multiprocessing.get_context("spawn").Process(target=compare_told_and_used, args=(tmp_path,))
    child.start()
    child.join(600.0)
    assert child.exitcode == 0


def need_kernels() -> None:
    """What an engine, its check of motions and a virtual rig do before they say that they are ready."""
    rehearsed(SHIPPED)
    rig = VirtualRig(SHIPPED)
    rig.advance(10 * rig.plant.step)


def loaded_by_the_server() -> None:
    """Print how many kernels of `rig` the server of processes has, and how many more its children need."""
    importlib.import_module("rig.virtual.forkserver_preload")
    before = compiled_signatures()
    if sys.argv[1:]:
        need_kernels()
    ours = sum(name.startswith("rig.") for name, _signature in before)
    print(json.dumps([ours, len(compiled_signatures() - before)]))


def ask_the_server(*arguments: str, **environment: str) -> list[int]:
    program = "import test_warm_up; test_warm_up.loaded_by_the_server()"
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    command = [sys.executable, "-c", program, *arguments]
    ended = subprocess.run(command, env=paths, capture_output=True, text=True, check=True)
    counts: list[int] = json.loads(ended.stdout)
    return counts


def test_the_server_of_processes_loads_what_is_compiled_and_compiles_nothing(tmp_path: Path) -> None:
    need_kernels()  # so that they are in the cache
    loaded, missing = ask_the_server("need")
    assert loaded > 10 and missing == 0
    assert ask_the_server(NUMBA_CACHE_DIR=str(tmp_path / "nothing")) == [0, 0]
    assert not list(tmp_path.rglob("plant_kernel*.nbc"))

"""Sweeps on a Dask cluster, by its functions and by the commands: in a process of its own, for Dask leaves threads.

All that needs workers is asked of the same two.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dynamics import load_mechanism
from kinematics import load_trajectory
from rig.cli import main
from rig.csvio import MOTION, write_table
from rig.errors import ExitCode, InputError
from rig.workspace.cluster import open_cluster

PATIENCE = 120  # s
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
MAP = ("workspace", "lab-hexapod", "--grid", "42", "--condition", "10", "--leg-radius", "0.02")
FORCES = ("inverse", "lab-hexapod", "motion.csv")

SWEEPS = f"""
import os

import dask
import distributed
import numpy as np
from dynamics import BatchError, inverse_batch, load_mechanism
from kinematics import coordinates_to_motion, pose_to_coordinates
from rig.cli import main
from rig.workspace.cluster import inverse_on_cluster, open_cluster, run_on_cluster
from rig.errors import HardwareError
import rig.workspace.cluster

if __name__ == "__main__":
    machine = load_mechanism("lab-hexapod")
    random = np.random.default_rng(2)
    q = pose_to_coordinates(machine.geometry.home_pose) + random.uniform(-0.05, 0.05, (100_000, 6))
    motions = coordinates_to_motion(q, random.normal(size=q.shape), random.normal(size=q.shape))
    wrenches = random.normal(size=(len(motions), 6))
    forces = inverse_batch(machine, motions, wrenches)
    dask.config.set({{"distributed.scheduler.allowed-failures": 0}})
    with open_cluster("local:2") as client:
        assert len(client.nthreads()) == 2
        np.testing.assert_array_equal(inverse_on_cluster(client, machine, motions, wrenches), forces)
        motions[[70_000, 12], 3] = np.nan
        try:
            inverse_on_cluster(client, machine, motions, wrenches)
        except BatchError as error:
            print(error.indices.tolist())
            good = np.delete(np.arange(len(motions)), error.indices)
            np.testing.assert_array_equal(error.forces[good], forces[good])
        address = ("--cluster", client.scheduler.address.removeprefix("tcp://"))
        for options in (({MAP!r}, "-o", "there"), ({FORCES!r}, "-o", "there.csv")):
            assert main([*options[0], *address, *options[1:]]) == 0
        try:
            list(run_on_cluster(client, lambda first, end: (os._exit, (1,)), 1, 1))
        except HardwareError as error:
            print("fault:", error)
    rig.workspace.cluster._TIMEOUT = 0.2
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as empty:
        for address in (empty.scheduler_address.removeprefix("tcp://"), "127.0.0.1:1"):
            try:
                with open_cluster(address):
                    pass
            except HardwareError as error:
                print("fault:", error)
"""


def test_two_workers_give_what_this_process_does(here: Path) -> None:
    machine = load_mechanism("lab-hexapod")
    times = np.linspace(6.0, 7.0, 101)
    motion = load_trajectory("demo", machine.geometry.home).motion(times)
    write_table(here / "motion.csv", ("t", *MOTION), np.column_stack([times, motion]))
    # here first: where no kernel is in the cache, the workers find them instead of compiling each one at the same time
    assert main([*MAP, "-o", "here"]) == ExitCode.OK
    assert main([*FORCES, "-o", "here.csv"]) == ExitCode.OK

    (here / "sweeps.py").write_text(SWEEPS)
    command = [sys.executable, "sweeps.py"]
    ended = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0] == "[12, 70000]"

    for name in ("workspace.json", "layers.csv", "samples.npz"):
        assert (here / "there" / name).read_bytes() == (here / "here" / name).read_bytes(), name
    assert (here / "there.csv").read_bytes() == (here / "here.csv").read_bytes()

    killed, idle, unreachable = (line for line in ended.stdout.splitlines() if line.startswith("fault: "))
    assert killed.startswith("fault: the cluster failed: ") and "died while running it" in killed
    assert idle.startswith("fault: the Dask scheduler at 127.0.0.1:") and idle.endswith(" has no worker")
    assert unreachable.startswith("fault: no Dask scheduler answers at 127.0.0.1:1")


def test_a_cluster_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="HOST:PORT"), open_cluster("nowhere"):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"stewart-rig\[cluster\]"), open_cluster("local:2"):
        pass

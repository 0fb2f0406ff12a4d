"""A lockstep rig brought to a state quickly, with faults injected into it and its recording read back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from checkpoints import go
from configured import SHIPPED, VIRTUAL

from kinematics import MotionTable, TrajectorySpec, build_trajectory
from rig.client.interruption import Interruption
from rig.client.lifecycle import run_motion
from rig.client.lockstep import LockstepRig
from rig.client.motions import prepare_motion
from rig.config import RigConfig, load_config
from rig.engine.messages import Connect, Engage, Follow, Home
from rig.recording import Recording, open_recording
from rig.states import FaultCode, State, StopSeverity

PATIENCE = 5.0  # s of rig time for anything to happen
TARE = 0.25  # s at rest before engaging

# One second of it fades in; after that every leg moves at some 0.1 m/s most of the time.
MOTION: dict[str, Any] = {
    "frame": "home",
    "parts": [
        {
            "type": "harmonic",
            "duration": 4.0,
            "fade": 0.5,
            "terms": [
                {"dof": "z", "amplitude": 0.02, "frequency": 0.9},
                {"dof": "x", "amplitude": 0.015, "frequency": 0.7, "phase": 1.0},
                {"dof": "ry", "amplitude": 0.05, "frequency": 0.8, "phase": 0.4},
            ],
        }
    ],
}

_NEAR = {"drive": {"start_spread": 1e-3}}


def bench_config(**changes: Any) -> RigConfig:
    """The virtual rig at a rate that costs little, standing near home at power-up so that homing is short."""
    return VIRTUAL.changed(changes | {"virtual": _NEAR | changes.get("virtual", {})})


def shipped_config(**changes: Any) -> RigConfig:
    """The same at the rate and with the gains that it is shipped with: for what is about them."""
    return SHIPPED.changed(changes | {"virtual": _NEAR | changes.get("virtual", {})})


def near_home(name: str, spread: float = 1e-3, **changes: Any) -> RigConfig:
    """A shipped rig whose legs begin within `spread`, m, of home, and whose cells say what they measure."""
    near = {"drive": {"start_spread": spread}, "cells": {"noise": 0.01}}
    return load_config(name).changed({"load_cells": {"noise": 0.01}, "virtual": near} | changes)


def motion_table(config: RigConfig, duration: float = 4.0) -> MotionTable:
    """`MOTION` as the engine takes it, of another duration, s."""
    motion = MOTION | {"parts": [{**part, "duration": duration} for part in MOTION["parts"]]}
    trajectory = build_trajectory(TrajectorySpec.model_validate(motion), config.machine.geometry.home_pose)
    return prepare_motion(config, trajectory)


class Bench:
    """A lockstep rig; a context manager. `recording()` closes it and reads back what it recorded."""

    def __init__(self, folder: Path, config: RigConfig | None = None) -> None:
        self.config = config or bench_config()
        self.path = folder / "run.mcap"
        self.rig = LockstepRig(self.config, self.path, Interruption())
        self.engine = self.rig.engine
        self.machine = self.engine.machine
        self.virtual = self.rig.virtual
        self.injected = 0
        """Number of the first cycle that could see the fault."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.rig.__exit__(*exception)

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.rig.step()

    def until(self, condition: Callable[[], bool], patience: float = PATIENCE) -> None:
        end = self.engine.tick.t + patience
        while not condition():
            assert self.engine.tick.t < end, f"in vain; {self.machine.state.name}, {self.machine.cause}"
            self.rig.step()

    def until_state(self, state: State, patience: float = PATIENCE) -> None:
        self.until(lambda: self.machine.state is state, patience)

    def park(self) -> Self:
        """OFF → PARKED, the cells' zero judged."""
        go(self, self.rig, ("park",), self._park)
        return self

    def engage(self) -> Self:
        """OFF → ENGAGED."""
        go(self, self.rig, ("engage",), self._engage)
        return self

    def run(self, path_time: float = 1.0) -> Self:
        """OFF → RUNNING, `path_time` s into `MOTION`."""
        go(self, self.rig, ("run", path_time), lambda: self._run(path_time))
        return self

    def _park(self) -> None:
        self.rig.request(Connect())
        self.rig.request(Home())
        self.until_state(State.PARKED)
        self.until(lambda: self.engine.settled_for() > TARE)

    def _engage(self) -> None:
        self.park()
        self.rig.request(Engage())
        self.until_state(State.ENGAGED)

    def _run(self, path_time: float) -> None:
        self.engage()
        table = motion_table(self.config)
        self.rig.request(Follow("bench", table.step), table.samples)
        self.until(lambda: self.engine.reference.path_time >= path_time)
        assert self.machine.state is State.RUNNING

    def inject(
        self, name: str, leg: int | None = None, value: float | None = None, duration: float | None = None
    ) -> None:
        """Begin a fault between two cycles."""
        self.virtual.faults.inject(name, leg, value, duration)
        self.injected = self.engine.cycles

    def in_state(self, state: State) -> bool:
        return self.machine.state is state

    @property
    def torque(self) -> bool:
        """Whether some brake of the plant is open: the truth, not what the drives say."""
        return not all(self.virtual.plant.braked(leg) for leg in range(6))

    def recording(self) -> Recording:
        """Close the rig and read what it recorded."""
        self.rig.close()
        return open_recording(self.path)


def whole_run(folder: Path, config: RigConfig) -> Recording:
    """The recording of a run of `MOTION` with all that `rig run` does around it; without a fault, parked at its end."""
    with Bench(folder, config) as bench:
        run_motion(bench.rig, motion_table(config), "motion", lambda _progress: None)
        recording = bench.recording()
    assert recording.complete and causes(recording) == []
    assert recording.rows["state"][-1] == State.PARKED
    return recording


def reaction(recording: Recording, bad: npt.NDArray[np.bool_], category: StopSeverity) -> int:
    """In which cycle from the first one marked `bad` (counted from 1) a stop of `category` or worse was begun."""
    rows = recording.rows
    first = int(np.flatnonzero(bad)[0])
    stopped = np.flatnonzero(rows["stop"] >= category)
    assert len(stopped), "no such stop"
    return int(stopped[0]) - first + 1


def causes(recording: Recording) -> list[FaultCode]:
    """Codes of the warnings and errors, in the order in which they were recorded."""
    return [FaultCode(event.code) for event in recording.events if event.code]

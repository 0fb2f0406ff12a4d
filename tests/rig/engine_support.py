"""An engine on the lockstep rig, with its telemetry and events at hand, brought to the state a test begins in."""

import math
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from checkpoints import go
from configured import VIRTUAL

from kinematics import MotionTable, pose_to_coordinates
from rig.client.interruption import Interruption
from rig.client.lockstep import LockstepRig
from rig.config.rig_config import RigConfig
from rig.engine.link import Submission
from rig.engine.messages import Connect, Engage, Follow, Home, Reply, RigCommand
from rig.engine.snapshot import Event
from rig.errors import RefusedError
from rig.recording import MotionRecord
from rig.recording.schema import COMMAND, INJECTED
from rig.states import MotionKind, State

CONFIG = VIRTUAL
HOME = CONFIG.machine.geometry.home_pose


class Tap:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.fault = ""
        self.recorded = self.dropped = 0
        self.room = math.inf
        self.rows: list[npt.NDArray[np.void]] = []
        self.events: list[Event] = []
        self.motions: list[MotionRecord] = []

    def push(self, row: npt.NDArray[np.void]) -> None:
        self.rows.append(row.copy())

    def event(self, event: Event) -> None:
        if not event.text.startswith((COMMAND, INJECTED)):  # what the engine itself says
            self.events.append(event)

    def motion(self, motion: MotionRecord) -> None:
        self.motions.append(motion)

    def texts(self) -> list[str]:
        return [event.text for event in self.events]

    def take(self) -> npt.NDArray[np.void]:
        """Rows since the last look."""
        rows = np.concatenate(self.rows)
        self.rows.clear()
        return rows


class Bench(LockstepRig):
    """A lockstep rig whose engine reports to a `Tap`."""

    def __init__(self, config: RigConfig, recording: Path) -> None:
        super().__init__(config, recording, Interruption())
        self.tap = Tap()
        self.engine.sink = self.tap

    @property
    def state(self) -> State:
        return self.engine.machine.state

    def run(self, duration: float) -> None:
        for _ in range(round(duration / self.config.period)):
            self.step()

    def until(self, *states: State, timeout: float = 5.0) -> State:
        return self.wait(lambda status: status.state in states, timeout, f"{states}").state

    def submit(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> Future[Reply]:
        reply: Future[Reply] = Future()
        self.operator.submit(Submission(command, samples, reply))
        return reply

    def park(self) -> None:
        """OFF → PARKED, the cells' zero judged."""
        go(self, self, ("park",), self._park)

    def engage(self) -> None:
        """OFF → ENGAGED."""
        go(self, self, ("engage",), self._engage)

    def _park(self) -> None:
        self.request(Connect())
        self.request(Home())
        self.until(State.PARKED)
        self.run(0.4)

    def _engage(self) -> None:
        self.park()
        self.request(Engage())
        self.until(State.ENGAGED)

    def follow(self, table: MotionTable, name: str = "test", purpose: MotionKind = MotionKind.RUN) -> None:
        self.request(Follow(name, table.step, purpose), table.samples)


@contextmanager
def bench(folder: Path, config: RigConfig = CONFIG) -> Iterator[Bench]:
    with Bench(config, folder / "engine.mcap") as rig:
        yield rig


def smooth_table(duration: float = 1.0, amplitude: float = 5e-3, step: float = 2e-3) -> MotionTable:
    """From home up and back, at rest at both ends: A sin⁴ in z, A/2 in x, and turned a little."""
    t = np.arange(round(duration / step) + 1) * step
    w = np.pi / duration
    s, c = np.sin(w * t), np.cos(w * t)
    shape = np.stack([s**4, 4 * w * s**3 * c, w**2 * (12 * s**2 * c**2 - 4 * s**4)], axis=1)
    samples = (shape[:, :, np.newaxis] * amplitude * np.array([0.5, 0, 1, 0, 2.0, 1.0])).reshape(len(t), 18)
    samples[:, :6] += pose_to_coordinates(HOME)
    return MotionTable(step, samples)


def _still(rig: Bench) -> object:
    """What time alone does not change."""
    moving: dict[str, Any] = {"t": 0.0, "cycles": 0, "path_time": 0.0, "reference": (), "from_home": 0.0}
    feedback: dict[str, Any] = {
        "drives": (),
        "settled": 0.0,
        "torque": (),
        "powered": (),
        "silent": (),
        "tare_residual": (),
        "force_model": (),
        "pose_known": True,
    }
    return replace(rig.status(), **moving, **feedback)


def refused(rig: Bench, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> str:
    """The reason; nothing may have changed but the time."""
    before = _still(rig)
    with pytest.raises(RefusedError) as caught:
        rig.request(command, samples)
    assert _still(rig) == before
    assert str(caught.value).startswith(f"{command.kind}: ")
    return str(caught.value)

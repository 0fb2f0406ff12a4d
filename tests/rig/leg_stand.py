"""A stand for the test of one leg: a virtual rig in this process, on which things happen meanwhile."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from checkpoints import go
from configured import SHIPPED, VIRTUAL

from rig.client import Interruption, LockstepRig
from rig.commissioning import check_move
from rig.commissioning.leg_test import move_leg
from rig.config import RigConfig
from rig.engine import LegMove, LegResult, LegTest, Reply, RigCommand, Submission
from rig.recording import Recording, open_recording
from rig.states import State

NEAR = {"drive": {"start_spread": 1e-3}}
CONFIG = VIRTUAL.changed({"virtual": NEAR})
FAST = SHIPPED.changed({"virtual": NEAR})
"""at the rate that the rig is shipped with"""
HOME = LegMove(3, home=True)


class Stand:
    """A lockstep rig, and a test run on it cycle by cycle; things happen to it meanwhile."""

    folder = Path()
    made: ClassVar[list["Stand"]] = []

    def __init__(self, config: RigConfig = CONFIG) -> None:
        self.config = config
        self.path = self.folder / f"{len(list(self.folder.iterdir()))}.mcap"
        self.rig = Watched(config, self.path, Interruption())
        self.virtual, self.drives, self.machine = self.rig.virtual, self.rig.engine.drives, self.rig.engine.machine
        self.rig.before_step = self.look
        self.reports: list[LegTest] = []
        self.events: list[tuple[Callable[[Stand], bool], Callable[[Stand], object]]] = []
        self.start = list(self.virtual.plant.lengths)
        self.made.append(self)

    def when(self, condition: Callable[["Stand"], bool], act: Callable[["Stand"], object]) -> "Stand":
        """Do something in the first cycle in which a condition holds."""
        self.events.append((condition, act))
        return self

    def look(self) -> None:
        due = [event for event in self.events if event[0](self)]
        for event in due:
            self.events.remove(event)
            event[1](self)

    @property
    def phase(self) -> str:
        """Where the test is."""
        test = self.rig.engine.leg_test
        return "" if test is None or self.machine.state is not State.SINGLE_LEG else test.status.phase

    def run(self, move: LegMove = HOME) -> LegResult:
        check_move(self.config, move)
        try:
            return move_leg(self.rig, move, self.reports.append)
        finally:
            self.end(move.leg)

    def home(self) -> None:
        """Let leg 3 find its reference."""
        assert move_leg(self.rig, HOME, self.reports.append).passed
        self.reports.clear()
        self.start = list(self.virtual.plant.lengths)

    def end(self, leg: int) -> None:
        """Whatever happened: every brake closed, no leg moving, and but for this one none has moved."""
        plant = self.virtual.plant
        for _ in range(round(0.2 * self.config.rate)):
            self.rig.step()
        assert self.machine.state in (State.IDLE, State.FAULT)
        assert [plant.braked(index) for index in range(6)] == [True] * 6
        assert np.abs(plant.speeds).max() < 1e-3
        others = [index for index in range(6) if index != leg - 1]
        assert np.abs(np.subtract(plant.lengths, self.start))[others].max() < 2e-4

    def moved(self, leg: int = 3) -> float:
        return self.virtual.plant.lengths[leg - 1] - self.start[leg - 1]

    def recording(self) -> Recording:
        """What was recorded, the file being closed."""
        self.rig.close()
        return open_recording(self.path)


class Watched(LockstepRig):
    """Has something looked at before each cycle."""

    before_step: Callable[[], None] = staticmethod(lambda: None)

    def step(self, overslept: int = 0) -> None:
        self.before_step()
        super().step(overslept)

    def submit(self, command: RigCommand) -> "Future[Reply]":
        reply: Future[Reply] = Future()
        self.operator.submit(Submission(command, None, reply))
        return reply


@pytest.fixture
def stand_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, in which the stands of one test record; they are closed with it."""
    (tmp_path / "recordings").mkdir()
    monkeypatch.setattr(Stand, "folder", tmp_path / "recordings")
    monkeypatch.chdir(tmp_path)
    yield
    while Stand.made:
        Stand.made.pop().rig.__exit__()


def moving(stand: Stand) -> bool:
    return stand.phase == "moving there"


def homed(config: RigConfig = CONFIG) -> Stand:
    """A stand whose leg 3 has its reference."""
    stand = Stand(config)
    go(stand, stand.rig, ("homed",), stand.home)
    return stand

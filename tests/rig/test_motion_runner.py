"""Sequences of motions in the foreground, against a rig that plays back what it says."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from engine_support import CONFIG, HOME, smooth_table

from rig.client import MotionSequence, Stage, stages_of_run
from rig.client.interruption import Interruption
from rig.client.lockstep import LockstepRig
from rig.client.motion_runner import carry_out
from rig.engine import Follow, Pause, RigCommand, Snapshot
from rig.errors import RefusedError, RunFaultError
from rig.findings import Code
from rig.states import State

TABLE = smooth_table(1.0)


@pytest.fixture(scope="module")
def engaged(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    with LockstepRig(CONFIG, tmp_path_factory.mktemp("rig") / "run.mcap", Interruption()) as rig:
        return replace(rig.status(), state=State.ENGAGED, motion="test")


class Played:
    """A rig whose statuses are given; `at` says what else happens when the status of that number is looked at."""

    config = CONFIG

    def __init__(self, statuses: list[Snapshot], at: dict[int, Callable[[], object]]) -> None:
        self.sent: list[RigCommand] = []
        self.refused = ""
        self._statuses: Iterator[tuple[int, Snapshot]] = iter(enumerate(statuses))
        self._at = at

    def request(self, command: RigCommand, _samples: Any = None) -> None:
        self.sent.append(command)
        if self.refused:
            raise RefusedError(self.refused)

    def status(self) -> Snapshot:
        number, status = next(self._statuses)
        self._at.get(number, lambda: None)()
        return status

    def wait(self, until: Callable[[Snapshot], bool], _timeout: float, _what: str) -> Snapshot:
        while not until(status := self.status()):
            pass
        return status


def played(statuses: list[Snapshot], stages: list[Stage], **at: Callable[[MotionSequence], object]) -> Played:
    sequence = MotionSequence("test")
    rig = Played(statuses, {int(key[1:]): partial(act, sequence) for key, act in at.items()})
    carry_out(rig, sequence, stages)  # type: ignore[arg-type]
    return rig


def two(here: Any = HOME) -> list[Stage]:
    return stages_of_run(CONFIG, here, "test", TABLE, 2)


def test_a_pause_lasts_as_long_as_it_lasts_and_the_repeats_follow(engaged: Snapshot) -> None:
    running, paused = replace(engaged, state=State.RUNNING), replace(engaged, paused=True)
    statuses = [running, paused, paused, paused, running, engaged, running, engaged]
    rig = played(statuses, two(), _0=MotionSequence.pause, _3=MotionSequence.resume)
    assert [type(command) for command in rig.sent] == [Follow, Follow]


def test_a_look_from_before_it_goes_on_still_shows_the_pause(engaged: Snapshot) -> None:
    running, paused = replace(engaged, state=State.RUNNING), replace(engaged, paused=True)
    statuses = [running, paused, running, engaged, running, engaged]
    rig = played(statuses, two(), _0=MotionSequence.pause, _1=lambda sequence: sequence.resume(paused.t + 0.002))
    assert [type(command) for command in rig.sent] == [Follow, Follow]


def test_one_that_nobody_here_asked_for_is_a_stop(engaged: Snapshot) -> None:
    running = replace(engaged, state=State.RUNNING)
    held = replace(engaged, paused=True, path_time=0.5)
    with pytest.raises(RunFaultError) as ended:
        played([running, held], two())
    assert ended.value.finding.code is Code.MOTION_STOPPED and ended.value.finding.details["time"] == 0.5


def test_a_pause_at_a_seam_holds_the_motion_that_is_on_its_way(
    engaged: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, paused = replace(engaged, state=State.RUNNING), replace(engaged, paused=True)
    sequence = MotionSequence("test")
    rig = Played([running, paused, running, engaged, running, engaged], {2: sequence.resume})
    sent = rig.request

    def request(command: RigCommand, samples: Any = None) -> None:
        sent(command, samples)
        if len(rig.sent) == 1:
            assert sequence.pause() is None  # asked for while the motion is on its way

    monkeypatch.setattr(rig, "request", request)
    carry_out(rig, sequence, two())  # type: ignore[arg-type]
    assert [type(command) for command in rig.sent] == [Follow, Pause, Follow]


def test_one_that_comes_to_its_end_before_it_could_pause_is_not_followed_by_another(engaged: Snapshot) -> None:
    running = replace(engaged, state=State.RUNNING)
    with pytest.raises(RunFaultError) as ended:
        played([running, engaged], two(), _0=MotionSequence.pause)
    assert ended.value.finding.root.code is Code.ENDED_BEFORE_PAUSE


def test_it_rests_at_the_start(engaged: Snapshot) -> None:
    away = HOME.copy()
    away[2] += 0.01
    running = replace(engaged, state=State.RUNNING)
    rests = [replace(engaged, t=engaged.t + seconds) for seconds in (0.0, 0.4, 0.5)]
    counts: list[int] = []
    sequence = MotionSequence("test")
    stages = stages_of_run(CONFIG, away, "test", TABLE)
    assert [stage.name for stage in stages] == ["move to the start", "", "test"]
    rig = Played(
        [running, *rests, running, engaged], {number: lambda: counts.append(len(rig.sent)) for number in (2, 3, 4)}
    )
    carry_out(rig, sequence, stages)  # type: ignore[arg-type]
    assert counts == [1, 1, 2]

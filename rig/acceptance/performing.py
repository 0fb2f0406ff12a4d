"""An acceptance test carried out on a rig, and evaluated: while it runs, or again from its recording."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rig.acceptance.measures import Curves, Measurer
from rig.acceptance.numbers import AcceptanceTest, Number, Verdict, not_measured, overall
from rig.acceptance.plan import Trial
from rig.acceptance.signals import FIELDS, Rows, Sensors, signals_of
from rig.client import Progress as RunProgress
from rig.client import RigClient
from rig.config import RigConfig
from rig.errors import HardwareError, InputError, RefusedError, RunFaultError
from rig.findings import Code, Finding, stop_cause
from rig.recording import Recorded
from rig.states import FaultCode, MotionKind, State
from rig.telemetry import ROW

Report = Callable[[Trial, float], None]
"""Receives the motion that is run, or evaluated, and the fraction of the test that is done."""


class TestStoppedError(Exception):
    """Raised by a `Report` to stop the test; it is stopped at once, and what it has is its result."""

    __test__ = False  # no test of pytest's


@dataclass(slots=True)
class Acceptance:
    """The result: numbers in the order of the tests, curves, the motions, and rig time, s.

    ended: why the test ended before its end, None if it did not.
    """

    config: RigConfig
    trials: list[Trial]
    numbers: list[Number] = field(default_factory=list)
    curves: Curves = field(default_factory=Curves)
    rig_time: float = 0.0
    ended: Finding | None = None
    skipped: int = 0
    """cycles that were skipped in the motions' evaluated parts, and interpolated"""

    @property
    def confidence(self) -> float:
        """Confidence of each verdict."""
        return self.config.acceptance.confidence

    @property
    def verdict(self) -> Verdict:
        """Verdict on all numbers."""
        return overall(self.numbers, self.confidence)

    def of(self, test: AcceptanceTest) -> list[Number]:
        """The numbers of a test."""
        return [number for number in self.numbers if number.test is test]

    def count(self, verdict: Verdict) -> int:
        """How many numbers have a verdict."""
        return sum(number.verdict(self.confidence) is verdict for number in self.numbers)


class Evaluation:
    """Evaluates motion by motion.

    Args:
        config: the rig.
        trials: the motions.
        tests: those wanted.
        sensors: the external ones.
    """

    def __init__(
        self, config: RigConfig, trials: Sequence[Trial], tests: Sequence[AcceptanceTest], sensors: Sensors
    ) -> None:
        self._config, self._tests, self._sensors = config, tests, sensors
        self._measurer = Measurer(config)
        self.result = Acceptance(config, list(trials), curves=self._measurer.curves)

    def add(self, trial: Trial, rows: Rows) -> None:
        """Evaluate the rows of a motion; what cannot be measured has its reason."""
        try:
            signals = signals_of(rows, self._config, self._sensors)
            self.result.skipped += signals.skipped
            numbers = self._measurer.measure(trial, signals)
        except InputError as error:
            self.lost(trial, error.finding)
            return
        self.result.numbers += [number for number in numbers if number.test in self._tests]

    def lost(self, trial: Trial, finding: Finding, *, ended: bool = False) -> None:
        """Note that a motion gives no numbers; `ended`: the rig ended it."""
        for test in trial.tests:
            number = not_measured(test, trial.axis, finding, ended=ended)
            if test in self._tests and number not in self.result.numbers:
                self.result.numbers.append(number)

    def finished(self) -> Acceptance:
        """The result, its numbers in the order of the tests."""
        order = list(AcceptanceTest)
        self.result.numbers.sort(key=lambda number: order.index(number.test))  # stable: the axes keep their order
        for test in self._tests:
            if not self.result.of(test):
                self.result.numbers.append(not_measured(test, "", Finding(Code.ACCEPT_NO_MOTION)))
        return self.result


def perform(
    robot: RigClient,
    trials: Sequence[Trial],
    tests: Sequence[AcceptanceTest],
    report: Report = lambda _trial, _part: None,
) -> Acceptance:
    """Run the motions one after the other on a rig that holds its platform, and evaluate each.

    A motion that ends in a fault has failed. The fault of a virtual rig is reset, and the test goes on; of a machine it
    is the operator's to reset, and the rest is not measured. Neither is it once somebody stops the rig, or the rig does
    not answer: the numbers of the motions before that are the result, which says why in `ended`.
    """
    config = robot.config
    evaluation = Evaluation(config, trials, tests, Sensors())
    result = evaluation.result
    begun = robot.status.t
    whole = sum(trial.duration for trial in trials) or 1.0
    done = 0.0
    for trial in trials:
        before, done = done, done + trial.duration
        if not trial.size or result.ended is not None:
            evaluation.lost(trial, result.ended or Finding(Code.ACCEPT_NO_SIZE))
            continue

        def show(now: RunProgress, trial: Trial = trial, before: float = before) -> None:
            report(trial, (before + (now.fraction * trial.duration if now.phase == "running" else 0.0)) / whole)

        try:
            report(trial, before / whole)
            started = robot.status.t
            robot.run(trial.trajectory(config), name=trial.name, report=show)
            evaluation.add(trial, _rows(robot, robot.status.t - started))
        except RefusedError as error:
            evaluation.lost(trial, error.finding)
        except (RunFaultError, HardwareError, KeyboardInterrupt, TestStoppedError) as error:
            result.ended = _stopped(robot, error, trial.title)
            if result.ended is not None:
                evaluation.lost(trial, result.ended, ended=isinstance(error, HardwareError))
            elif isinstance(error, RunFaultError):
                evaluation.lost(trial, error.finding, ended=True)
                result.ended = _recovered(robot, error.finding, trial.title)
        with suppress(HardwareError):
            result.rig_time = robot.status.t - begun
    return evaluation.finished()


def _stopped(robot: RigClient, error: BaseException, what: str) -> Finding | None:
    """Why the test is over where somebody stopped it, or the rig does not answer; None for a fault of the rig."""
    motion: dict[str, Any] = {"motion": what}
    if isinstance(error, TestStoppedError):
        with suppress(RunFaultError, HardwareError):
            robot.stop(1)
    if isinstance(error, KeyboardInterrupt | TestStoppedError):
        return Finding(Code.ACCEPT_STOPPED, details=motion)
    assert isinstance(error, RunFaultError | HardwareError)
    if isinstance(error, HardwareError):
        return Finding(Code.ACCEPT_AFTER_FAULT, details=motion, within=(error.finding,))
    if error.finding.fault in (FaultCode.OPERATOR_STOP, FaultCode.CLIENT_LOST):
        return Finding(Code.ACCEPT_STOPPED, details=motion, within=(error.finding,))
    return None


def _recovered(robot: RigClient, cause: Finding, what: str) -> Finding | None:
    """Bring a virtual rig back under power after a fault; why that was not possible, None where it was."""
    if robot.config.virtual is None:
        return Finding(Code.ACCEPT_AFTER_FAULT, details={"motion": what}, within=(cause,))
    try:
        with suppress(RunFaultError):
            robot.stop(1)
        if robot.state is State.FAULT:
            robot.reset()
        if robot.state in (State.IDLE, State.OFF):
            robot.home()
        if robot.state is State.PARKED:
            robot.engage()
    except (RefusedError, RunFaultError, HardwareError) as error:
        return Finding(Code.ACCEPT_NOT_RECOVERED, within=(error.finding,))
    if robot.state is State.ENGAGED:
        return None
    return Finding(Code.ACCEPT_NOT_RECOVERED, within=(Finding(Code.IN_STATE, details={"state": robot.state.name}),))


def _rows(robot: RigClient, duration: float) -> Rows:
    """Rows of the last motion that was run."""
    rows = robot.telemetry(duration + 1.0).rows
    running = rows[(rows["state"] == State.RUNNING) & (rows["motion"] > 0)]
    last: Rows = running[running["motion"] == running["motion"].max()] if len(running) else running
    return last


def evaluate(
    recording: Recorded,
    config: RigConfig,
    trials: Sequence[Trial],
    tests: Sequence[AcceptanceTest],
    sensors: Callable[[Rows], Sensors] = lambda _rows: Sensors(),
    report: Report = lambda _trial, _part: None,
) -> Acceptance:
    """Evaluate a recording of the motions again, with sensors that are aligned with it.

    Args:
        recording: of the test.
        config, trials, tests: as they were.
        sensors: makes the sensors from all rows of the motions, in time.
        report: receives the progress.
    """
    last = {motion.name: motion for motion in recording.motions if motion.kind == MotionKind.RUN}
    wanted = {last[trial.name].id for trial in trials if trial.name in last}
    names = [*FIELDS, "motion", "state"]
    parts: list[Any] = [
        block[names][np.isin(block["motion"], list(wanted)) & (block["state"] == State.RUNNING)].copy()
        for block in recording.blocks()
    ]
    rows = np.concatenate([np.zeros(0, ROW)[names], *parts])
    evaluation = Evaluation(config, trials, tests, sensors(rows))
    for place, trial in enumerate(trials):
        report(trial, place / len(trials))
        motion = last.get(trial.name)
        if motion is None:
            missing = Finding(Code.ACCEPT_NOT_RECORDED, details={"motion": trial.title})
            evaluation.lost(trial, missing if trial.size else Finding(Code.ACCEPT_NO_SIZE))
        elif motion.cause_code:
            stopped = motion.cause_code in (FaultCode.OPERATOR_STOP, FaultCode.CLIENT_LOST)
            why = Finding.of_text(motion.cause_text) if motion.finding is None else stop_cause(motion.finding)
            evaluation.lost(trial, why, ended=not stopped)
        else:
            evaluation.add(trial, rows[rows["motion"] == motion.id])
    if len(rows):
        evaluation.result.rig_time = float(rows["t"][-1] - rows["t"][0])
    return evaluation.finished()


def completed(evaluated: Acceptance, performed: Acceptance) -> Acceptance:
    """The evaluation of a test's recording, with what only the test itself knows: motions that failed, time, end."""
    failed = [number for number in performed.numbers if number.ended]
    places = {(number.test, number.axis) for number in failed}
    order = list(AcceptanceTest)
    evaluated.numbers = [
        number for number in evaluated.numbers if number.value is not None or (number.test, number.axis) not in places
    ] + failed
    evaluated.numbers.sort(key=lambda number: order.index(number.test))
    evaluated.rig_time, evaluated.ended = performed.rig_time, performed.ended
    return evaluated

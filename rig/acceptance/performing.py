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
from rig.client import RigClient
from rig.config import RigConfig
from rig.errors import HardwareError, InputError, RefusedError, RunFaultError
from rig.recording import Recorded
from rig.states import MotionKind, State
from rig.telemetry import ROW

Report = Callable[[str, float], None]
"""Receives what is done now, and the fraction that is done."""


@dataclass(slots=True)
class Acceptance:
    """The result: numbers in the order of the tests, curves, the motions, and rig time, s."""

    config: RigConfig
    trials: list[Trial]
    numbers: list[Number] = field(default_factory=list)
    curves: Curves = field(default_factory=Curves)
    rig_time: float = 0.0
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
        sensors: beside the rig.
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
            self.lost(trial, str(error))
            return
        self.result.numbers += [number for number in numbers if number.test in self._tests]

    def lost(self, trial: Trial, reason: str, *, ended: bool = False) -> None:
        """Note that a motion gives no numbers; `ended`: the rig ended it."""
        for test in trial.tests:
            number = not_measured(test, trial.axis, reason, ended=ended)
            if test in self._tests and number not in self.result.numbers:
                self.result.numbers.append(number)

    def finished(self) -> Acceptance:
        """The result, its numbers in the order of the tests."""
        order = list(AcceptanceTest)
        self.result.numbers.sort(key=lambda number: order.index(number.test))  # stable: the axes keep their order
        for test in self._tests:
            if not self.result.of(test):
                self.result.numbers.append(not_measured(test, "", "no motion for it was among those wanted"))
        return self.result


def perform(
    robot: RigClient,
    trials: Sequence[Trial],
    tests: Sequence[AcceptanceTest],
    report: Report = lambda _what, _part: None,
) -> Acceptance:
    """Run the motions one after the other on a rig that holds its platform, and evaluate each.

    A motion that ends in a fault has failed. The fault of a virtual rig is reset, and the test goes on; of a machine it
    is the operator's to reset, and the rest is not measured.

    Raises HardwareError where the rig does not answer, InterruptedRunError where somebody stops it.
    """
    config = robot.config
    evaluation = Evaluation(config, trials, tests, Sensors())
    begun = robot.status.t
    whole = sum(trial.duration for trial in trials) or 1.0
    done = 0.0
    given_up = ""
    for trial in trials:
        report(trial.name.removeprefix("accept "), done / whole)
        done += trial.duration
        if given_up or not trial.size:
            evaluation.lost(trial, given_up or "no size of the motion passes the check")
            continue
        started = robot.status.t
        try:
            robot.run(trial.trajectory(config), name=trial.name)
        except RefusedError as error:
            evaluation.lost(trial, str(error))
            continue
        except RunFaultError as error:
            evaluation.lost(trial, str(error), ended=True)
            given_up = _recovered(robot, str(error))
            continue
        evaluation.add(trial, _rows(robot, robot.status.t - started))
    evaluation.result.rig_time = robot.status.t - begun
    return evaluation.finished()


def _recovered(robot: RigClient, cause: str) -> str:
    """Bring a virtual rig back under power after a fault; why that was not possible, empty where it was."""
    if robot.config.virtual is None:
        return f"the test ended with a fault: {cause}"
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
        return f"the rig could not be engaged again after a fault ({cause}): {error}"
    return "" if robot.state is State.ENGAGED else f"the rig is in state {robot.state.name} after a fault ({cause})"


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
    report: Report = lambda _what, _part: None,
) -> Acceptance:
    """Evaluate a recording of the motions again, with sensors that are aligned with it.

    Args:
        recording: of the test.
        config, trials, tests: as they were.
        sensors: makes the sensors from all rows of the motions, in time.
        report: receives the progress.
    """
    numbers = {motion.name: motion.id for motion in recording.motions if motion.kind == MotionKind.RUN}
    ended = {motion.name: motion.cause_text for motion in recording.motions if motion.cause_code}
    wanted = {numbers[trial.name] for trial in trials if trial.name in numbers}
    names = [*FIELDS, "motion", "state"]
    parts: list[Any] = [
        block[names][np.isin(block["motion"], list(wanted)) & (block["state"] == State.RUNNING)].copy()
        for block in recording.blocks()
    ]
    rows = np.concatenate([np.zeros(0, ROW)[names], *parts])
    evaluation = Evaluation(config, trials, tests, sensors(rows))
    for place, trial in enumerate(trials):
        report(trial.name.removeprefix("accept "), place / len(trials))
        if trial.name in ended:
            evaluation.lost(trial, ended[trial.name], ended=True)
        elif trial.name not in numbers:
            reason = "no size of the motion passes the check" if not trial.size else "the recording does not have it"
            evaluation.lost(trial, reason)
        else:
            evaluation.add(trial, rows[rows["motion"] == numbers[trial.name]])
    if len(rows):
        evaluation.result.rig_time = float(rows["t"][-1] - rows["t"][0])
    return evaluation.finished()

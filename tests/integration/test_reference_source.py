"""A source of references that is no table: an endless sine that stops by its own law, through the engine."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from fault_bench import invariants
from lockstep_bench import Bench, bench_config, causes, shipped_config

from kinematics import Array
from rig.engine.messages import Pause, Resume, Stop
from rig.errors import RefusedError
from rig.states import FaultCode, State


class Sine:
    """Up and down about a pose for ever, by a phase whose rate grows and falls smoothly; stops where it then is."""

    name = "sine"
    paused = False
    path_duration = math.inf

    def __init__(self, pose: Array, amplitude: float, frequency: float = 0.5) -> None:
        self._pose, self._amplitude = pose.copy(), amplitude
        self._full = 2.0 * math.pi * frequency
        self._phase = self.path_time = 0.0
        self._from, self._to, self._elapsed, self._length = 0.0, self._full, 0.0, 0.5
        self.stops: list[float] = []

    @property
    def moving(self) -> bool:
        return self._to > 0.0 or self._elapsed < self._length

    @property
    def slowing(self) -> bool:
        return self.moving and self._to == 0.0

    @property
    def path_rate(self) -> float:
        return self._law(0.0)[1] / self._full

    def advance(self, duration: float) -> None:
        self._phase = self._law(duration)[0]
        self._elapsed += duration
        self.path_time += duration

    def evaluate(self, ahead: float, motion: Array) -> bool:
        phase, rate, change = self._law(ahead)
        sine, cosine = math.sin(phase), math.cos(phase)
        motion[:] = 0.0
        motion[:7] = self._pose
        motion[2] += self._amplitude * sine
        motion[9] = self._amplitude * cosine * rate
        motion[15] = self._amplitude * (cosine * change - sine * rate * rate)
        return True

    def decelerate(self, durations: Sequence[float]) -> None:
        if self._to > 0.0:
            self._from, self._to, self._elapsed, self._length = self._law(0.0)[1], 0.0, 0.0, durations[0]
            self.stops.append(durations[0])

    def resume(self, durations: Sequence[float]) -> None:
        raise AssertionError("a source that never pauses is not resumed")

    def _law(self, ahead: float) -> tuple[float, float, float]:
        """Phase, rate and its change `ahead` s from now: a smooth step between two rates, then constant."""

        def reached(elapsed: float) -> float:
            x, over = min(elapsed / self._length, 1.0), max(elapsed - self._length, 0.0)
            ramp = self._length * (x * self._from + (self._to - self._from) * x**3 * (1.0 - 0.5 * x))
            return ramp + over * self._to

        then = self._elapsed + ahead
        x, change = min(then / self._length, 1.0), self._to - self._from
        phase = self._phase + reached(then) - reached(self._elapsed)
        return phase, self._from + change * x * x * (3.0 - 2.0 * x), change * 6.0 * x * (1.0 - x) / self._length


@pytest.fixture(params=["force", "position"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path, bench_config(mode=request.param)) as made:
        yield made.engage()


@pytest.fixture(params=["force", "position"])
def shipped(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path, shipped_config(mode=request.param)) as made:
        yield made.engage()


def begun(bench: Bench, amplitude: float, duration: float = 1.3) -> Sine:
    """RUNNING after a sine for a while."""
    source = Sine(bench.engine.cycle_data.reference.now[:7], amplitude)
    bench.engine.reference.take(source)
    bench.engine.enter(State.RUNNING)
    bench.steps(round(duration * bench.config.rate))
    return source


def test_another_source_is_followed_and_stops_by_its_own_law(bench: Bench) -> None:
    source = begun(bench, 0.01)
    assert bench.in_state(State.RUNNING) and bench.engine.reference.moving
    bench.rig.request(Pause())
    bench.until_state(State.ENGAGED)
    assert source.stops == [0.4] and not source.moving
    with pytest.raises(RefusedError, match="nothing is paused"):
        bench.rig.request(Resume())
    bench.steps(100)
    standing = bench.engine.cycle_data.reference.now[2]
    rows = bench.recording().rows
    running = rows["state"] == State.RUNNING
    error = rows["length"][running] - rows["length_reference"][running]
    assert np.abs(error).max() < 2e-4 and np.ptp(rows["reference"][running, 2]) > 0.01
    heights = rows["reference"][:, 2]
    assert heights[-1] == standing and (np.abs(rows["reference"][-50:, 7:]) == 0.0).all()
    # speed and acceleration are those of the path, to its very end
    derived = np.gradient(heights[running], bench.config.period)
    assert np.abs(derived - rows["reference"][running, 9])[2:-2].max() < 1e-3


def test_a_stop_is_the_sources_own_and_takes_the_torque_off_in_time(bench: Bench) -> None:
    source = begun(bench, 0.01)
    bench.rig.request(Stop(1))
    bench.until_state(State.PARKED)
    bench.until(lambda: not bench.torque)
    assert source.stops == [0.4]
    recording = bench.recording()
    assert FaultCode.STOP_OVERDUE not in causes(recording)
    stopping = recording.rows["state"] == State.STOPPING
    assert 0.35 < np.count_nonzero(stopping) * bench.config.period < 0.6
    assert np.abs(recording.rows["reference"][stopping][:-1, :2] - source._pose[:2]).max() < 1e-4


@pytest.mark.parametrize(("offence", "code"), [(math.nan, FaultCode.CONDITIONING), (2.0, FaultCode.LENGTH_LIMIT)])
def test_what_a_source_asks_for_beyond_the_limits_is_not_commanded(
    bench: Bench, offence: float, code: FaultCode
) -> None:
    source = begun(bench, 0.01)
    source._amplitude = offence  # from one cycle to the next
    bench.until(lambda: bench.machine.latched)
    cause = bench.machine.cause
    assert cause is not None and cause.code is code
    bench.until(lambda: not bench.engine.reference.moving)
    bench.steps(50)
    assert bench.engine.reference.name != "sine" and bench.in_state(State.STOPPING) and bench.torque
    recording = bench.recording()
    limits = [leg.limits for leg in bench.config.machine.legs]
    for leg, limit in enumerate(limits):
        assert limit is not None and limit.length is not None and limit.velocity is not None
        assert (np.abs(recording.rows["velocity_reference"][:, leg]) <= limit.velocity * (1.0 + 1e-9)).all()
        assert (recording.rows["length_reference"][:, leg] <= limit.length[1] + 1e-9).all()
    invariants(recording)


class Stepping(Sine):
    """Stands, or goes up and down, and is elsewhere from one moment to the next without a speed that says so."""

    name = "stepping"

    def __init__(self, pose: Array, amplitude: float, step: float, speed_step: float) -> None:
        super().__init__(pose, amplitude)
        self._step, self._speed_step = step, speed_step
        self.since = math.inf
        """path time of the step"""

    @property
    def moving(self) -> bool:
        return self._amplitude > 0.0 and super().moving

    def evaluate(self, ahead: float, motion: Array) -> bool:
        super().evaluate(ahead, motion)
        past = self.path_time + ahead - self.since
        if past > 0.0:
            motion[2] += self._step + past * self._speed_step
            motion[9] += self._speed_step
        return True


@pytest.mark.parametrize("phase", ["standing", "moving", "slowing", "stopping"])
@pytest.mark.parametrize(("step", "speed_step"), [(1e-3, 0.0), (0.0, 0.06)])
def test_a_source_that_steps_is_left_at_its_last_good_reference(
    shipped: Bench, phase: str, step: float, speed_step: float
) -> None:
    """Within every limit of the legs, before and after, and in every phase of a motion."""
    source = Stepping(
        shipped.engine.cycle_data.reference.now[:7], 0.0 if phase == "standing" else 0.01, step, speed_step
    )
    shipped.engine.reference.take(source)
    if phase == "standing":
        shipped.steps(20)
        assert shipped.in_state(State.ENGAGED)
    else:
        shipped.engine.enter(State.RUNNING)
        shipped.steps(350)
        if phase == "slowing":
            shipped.rig.request(Pause())
        elif phase == "stopping":
            shipped.engine.stop(2)
        shipped.steps(20)
    assert not shipped.machine.latched
    source.since = source.path_time + 5.5 * shipped.config.period
    shipped.until(lambda: shipped.machine.latched, 0.1)
    cause = shipped.machine.cause if phase != "stopping" else shipped.engine.events[-1]
    assert cause is not None and cause.code is FaultCode.REFERENCE_INVALID
    assert "steps by" in cause.text
    shipped.until(lambda: not shipped.engine.reference.moving)
    shipped.steps(50)
    assert shipped.engine.reference.source is not source and shipped.in_state(State.STOPPING) and shipped.torque
    recording = shipped.recording()
    rows = recording.rows[-400:]
    period, heights, speeds = shipped.config.period, rows["reference"][:, 2], rows["reference"][:, 9]
    assert np.abs(np.diff(heights) - 0.5 * period * (speeds[1:] + speeds[:-1])).max() < 2e-5
    assert np.abs(np.diff(speeds)).max() < 0.04
    commanded = rows["position_command"]
    assert not (np.abs(np.diff(commanded, axis=0)) > 2e-4).any()  # 0.1 m/s; no number where forces are commanded
    invariants(recording)


def test_a_source_that_changes_its_mind_between_cycles_is_left_too(bench: Bench) -> None:
    source = begun(bench, 0.01)
    source._pose[2] += 1e-3  # what it foresaw for this cycle is not what it says now
    height = bench.engine.cycle_data.reference.now[2]
    bench.steps(1)
    assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.REFERENCE_INVALID
    assert abs(bench.engine.cycle_data.reference.now[2] - height) < 2e-4

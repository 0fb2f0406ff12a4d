"""A law and a reference of a distribution of its own: followed live and in lockstep, and trusted with nothing."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED
from fault_bench import C2, Q, invariants
from lockstep_bench import Bench, bench_config, shipped_config
from own_packages import example, installed

from kinematics import Array, leg_kinematics
from rig.client import Interruption, open_rig
from rig.client.lockstep import LockstepRig
from rig.engine import Connect, FollowSource, sample_source
from rig.engine.sources import GuardedSource
from rig.errors import ConfigError, InputError, RefusedError
from rig.findings import Code
from rig.states import State
from rig.virtual import run_loop

FAILING = """
import math
import numpy as np
from actuators import Mode
from rig.config import LawDeclaration
from rig.engine import ForceLaw

class Failing(ForceLaw):
    name = "failing"
    after = 10
    def compute(self, cycle):
        super().compute(cycle)
        self.after -= 1
        if self.after == 0:
            raise KeyError("gain")

class Mute(Failing):
    name = "mute"
    def compute(self, cycle):
        ForceLaw.compute(self, cycle)
    def commands(self, cycle):
        self.after -= 1
        return 1 / 0 if self.after == 0 else super().commands(cycle)

class Deaf(Failing):
    name = "deaf"
    def refer(self, cycle):
        self.after -= 1
        if self.after < 0:
            raise RuntimeError("refer")

class Unmade(Failing):
    name = "unmade"
    @classmethod
    def of(cls, config, dynamics):
        raise OSError("no such file")

class Five(Mute):
    name = "five"
    def commands(self, cycle):
        self.after -= 1
        return list(super(Failing, self).commands(cycle))[: 5 if self.after < 0 else 6]

class Another(Five):
    name = "another"
    def commands(self, cycle):
        self.after -= 1
        found = super(Failing, self).commands(cycle)
        found.force[1] += 5.0 * (self.after < 0)
        return found

class Empty(Another):
    name = "empty"
    def commands(self, cycle):
        found = super().commands(cycle)
        found.force[1] += math.nan if self.after < 0 else 0.0
        return found

class Lengths(Five):
    name = "lengths"
    def commands(self, cycle):
        self.after -= 1
        mode = Mode.POSITION if self.after < 0 else Mode.FORCE
        return [one._replace(mode=mode) for one in super(Failing, self).commands(cycle)]

class Replacing(Failing):
    name = "replacing"
    def compute(self, cycle):
        ForceLaw.compute(self, cycle)
        self.after -= 1
        if self.after < 0:
            cycle.set_points.force = np.zeros(5)

class Leading(Failing):
    name = "leading"
    def compute(self, cycle):
        ForceLaw.compute(self, cycle)
        self.after -= 1
        if self.after < 0:
            cycle.reference.now[:] = 0.0

class Infinite(Failing):
    name = "infinite"
    def compute(self, cycle):
        ForceLaw.compute(self, cycle)
        self.after -= 1
        if self.after < 0:
            cycle.set_points.force[2] = math.nan

LAWS = (Failing, Mute, Deaf, Unmade, Five, Another, Empty, Lengths, Replacing, Leading, Infinite)
globals().update({law.__name__.upper(): LawDeclaration(law.name, law.name, law) for law in LAWS})

def unmade(settings, pose):
    raise OSError("no such port")
"""
ENTRIES = """
[stewart_rig.control_laws]
integral = my_laws:LAW
failing = failing:FAILING
mute = failing:MUTE
deaf = failing:DEAF
unmade = failing:UNMADE
five = failing:FIVE
another = failing:ANOTHER
empty = failing:EMPTY
lengths = failing:LENGTHS
replacing = failing:REPLACING
leading = failing:LEADING
infinite = failing:INFINITE
[stewart_rig.references]
wave = my_references:WAVE
unmade = failing:unmade
"""
T = 1.2  # s, at which what is broken breaks: the wave is moving
EDGE = 1.0 + 1e-6


@pytest.fixture(scope="module", autouse=True)
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    words = {"my_laws": "class IntegralLaw", "my_references": "class Wave:"}
    modules = {name: example(text) for name, text in words.items()} | {"failing": FAILING}
    with installed(tmp_path_factory.mktemp("packages"), modules, ENTRIES):
        yield


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made.engage()


def wave(bench: Bench, **members: Any) -> Any:
    """The guide's wave where the platform stands, with members of its own in place of its."""
    from my_references import Wave, WaveSettings  # type: ignore[import-not-found,unused-ignore]

    pose = np.array(bench.engine.published.reference)
    return type("Wave", (Wave,), members)(WaveSettings(amplitude=0.01), pose)


def commanded(bench: Bench, duration: float) -> Array:
    """Step for so long, s; the references now and ahead of each cycle, (2 n, 19)."""
    seen = []
    for _ in range(round(duration * bench.config.rate)):
        bench.rig.step()
        seen += [bench.engine.cycle_data.reference.now.copy(), bench.engine.cycle_data.reference.ahead.copy()]
    return np.array(seen)


def within_limits(bench: Bench, motions: Array) -> None:
    limits = bench.config.machine.legs[0].limits
    assert limits and limits.length and limits.velocity and limits.acceleration and np.isfinite(motions).all()
    legs = leg_kinematics(bench.config.machine.geometry, motions)
    assert legs.length.min() >= limits.length[0] / EDGE and legs.length.max() <= limits.length[1] * EDGE
    assert np.abs(legs.velocity).max() <= limits.velocity * EDGE
    assert np.abs(legs.acceleration).max() <= limits.acceleration * EDGE


# -- followed ----------------------------------------------------------------------------------------------------------


def test_a_reference_is_followed_paused_and_resumed_in_lockstep(tmp_path: Path) -> None:
    with open_rig(bench_config(), lockstep=True, record=False) as robot:
        robot.home()
        robot.engage()
        robot.follow("wave", settings={"amplitude": 0.003, "period": 1.0}, name="sea")
        robot.wait(1.5)
        assert robot.status.motion == "sea" and robot.status.state is State.RUNNING
        rows = robot.telemetry(last=0.5).rows
        assert np.ptp(rows["reference"][:, 2]) == pytest.approx(0.003, rel=0.3)
        assert np.abs(rows["length"] - rows["length_reference"]).max() < 1e-3
        assert robot.pause() and robot.status.paused
        robot.resume()
        robot.wait(0.2)
        assert robot.state is State.RUNNING
        robot.stop(2)
        robot.abandon()
        assert any("'sea' is abandoned after" in event.finding.text for event in robot.status.events)
        ending = FinishedWave.of(robot.pose)
        robot.run(ending, name="short")
        assert ending.path_time == pytest.approx(0.6) and robot.state is State.ENGAGED
        with pytest.raises(InputError, match="neither amplitude nor repeats"):
            robot.run(ending, repeats=2)
        with pytest.raises(InputError, match="float must be a reference"):
            robot.follow(2.0)
        robot.park()


class FinishedWave:
    """A wave that ends by itself."""

    @staticmethod
    def of(pose: Array) -> Any:
        from my_references import Wave, WaveSettings

        def paused(self: Any) -> bool:
            return False

        source = type("Finished", (Wave,), {"paused": property(paused), "path_duration": 0.6})(WaveSettings(), pose)
        source._slowed, source._ramp = 0.3, 0.3
        return source


def test_both_run_live(tmp_path: Path) -> None:
    """In processes, which find the packages by themselves: it takes the time that homing takes."""
    with open_rig(shipped_config(mode="integral"), output=tmp_path) as robot:
        robot.home()
        robot.engage()
        with pytest.raises(RefusedError, match=r"'wave' cannot be followed: amplitude: must be between|amplitude"):
            robot.follow("wave", settings={"amplitude": -1.0})
        with pytest.raises(RefusedError, match=r"'unmade'.*must be a SourceDeclaration"):
            robot.follow("unmade")
        with pytest.raises(InputError, match=r"the engine is another process, .*'stewart_rig.references'"):
            robot.follow(FinishedWave.of(robot.pose))
        robot.follow("wave", settings={"period": 0.5})
        robot.wait(0.6)
        assert robot.status.motion == "wave" and robot.status.state is State.RUNNING
        rows = robot.telemetry(last=0.2).rows
        assert np.ptp(rows["reference"][:, 2]) > 1e-3
        beyond = rows["force_command"] - rows["force_feedforward"]
        beyond -= 20e3 * (rows["length_reference"] - rows["length"])
        beyond -= 900.0 * (rows["velocity_reference"] - rows["velocity"])
        assert np.abs(beyond).max() > 0.01  # N: the integral is in the command
        robot.stop(1)


def test_both_run_offline() -> None:
    from my_references import Wave, WaveSettings

    table = sample_source(Wave(WaveSettings(), SHIPPED.machine.geometry.home_pose), 2e-3, 4.0)
    run = run_loop(SHIPPED, table, "integral")
    assert table.duration == pytest.approx(4.0) and not run.end
    assert np.ptp(run.states[:, 2]) > 5e-3 and np.abs(run.error[:, :3]).max() < 1e-4
    assert np.abs(table.samples[-1, 6:]).max() < 1e-9


# -- trusted with nothing ----------------------------------------------------------------------------------------------


def spoils(entry: int, value: float) -> Callable[..., bool]:
    def evaluate(self: Any, ahead: float, motion: Array) -> bool:
        done = bool(super(type(self), self).evaluate(ahead, motion))
        if self.path_time + ahead > T:
            motion[entry] += value
        return done

    return evaluate


def late(what: Callable[[], Any]) -> Callable[..., Any]:
    """`evaluate` or `advance` that does `what` once it is time."""

    def method(self: Any, duration: float, *rest: Array) -> Any:
        if self.path_time > T:
            return what()
        return getattr(super(type(self), self), "evaluate" if rest else "advance")(duration, *rest)

    return method


def raising() -> None:
    raise ValueError("lost")


def unsure(self: Any) -> bool:
    return bool(1 / 0) if self.path_time > T else True


@pytest.mark.parametrize(
    ("members", "code", "text"),
    [
        ({"evaluate": late(raising)}, Code.SOURCE_FAILED, "evaluate: ValueError: lost"),
        ({"advance": late(raising)}, Code.SOURCE_FAILED, "advance: ValueError: lost"),
        ({"moving": property(unsure)}, Code.SOURCE_FAILED, "ZeroDivisionError"),
        ({"evaluate": late(lambda: False)}, Code.SOURCE_FAILED, "it is not defined 0 s ahead"),
        ({"evaluate": spoils(9, np.nan)}, Code.SOURCE_FAILED, "number 10 of its 19 is nan"),
        ({"evaluate": spoils(0, np.inf)}, Code.SOURCE_FAILED, "number 1 of its 19 is inf"),
        ({"evaluate": spoils(3, 0.1)}, Code.SOURCE_FAILED, "the norm of its quaternion is"),
        ({"evaluate": spoils(2, 0.05)}, Code.REFERENCE_STEP, "steps by"),
        ({"path_rate": float("nan")}, Code.SOURCE_FAILED, ""),
    ],
    ids=["raises", "raises in time", "raises on itself", "undefined", "NaN", "infinite", "no turn", "jumps", "no rate"],
)
def test_a_reference_that_fails_is_left_and_the_platform_comes_to_rest(
    bench: Bench, members: dict[str, Any], code: Code, text: str
) -> None:
    source = wave(bench, **{name: one for name, one in members.items() if name != "path_rate"})
    bench.rig.follow_source(source, "")
    if "path_rate" in members:
        commanded(bench, T)
        type(source).path_rate = members["path_rate"]
    motions = commanded(bench, 2.5)
    machine = bench.machine
    assert machine.cause is not None and machine.cause.finding.code is code and text in machine.cause.text
    assert code is Code.REFERENCE_STEP or "'wave'" in machine.cause.text
    assert machine.stop is C2 and machine.latched
    within_limits(bench, motions)
    assert not motions[-1, 7:].any() and not bench.engine.reference.moving
    invariants(bench.recording())


@pytest.mark.parametrize("stop", [False, True], ids=["paused", "stopped"])
def test_a_reference_that_does_not_come_to_rest_is_braked(bench: Bench, stop: bool) -> None:
    source = wave(bench, decelerate=lambda self, durations: None)
    bench.rig.follow_source(source, "")
    commanded(bench, T)
    if stop:
        bench.engine.stop(2)
    else:
        bench.engine.pause(0.5)
    motions = commanded(bench, 4.2)
    cause = bench.machine.cause
    assert cause is not None and cause.finding.code is Code.SOURCE_NOT_AT_REST
    assert f"did not come to rest within {0.8 * bench.config.safety.stop_time if stop else 3.2:g} s" in cause.text
    within_limits(bench, motions)
    assert not motions[-1, 7:].any() and bench.machine.stop is C2


def test_what_it_keeps_of_the_engine_it_cannot_change(bench: Bench) -> None:
    """The array that it is given is not the engine's, and at rest it is not asked again."""
    kept: list[Array] = []

    def evaluate(self: Any, ahead: float, motion: Array) -> bool:
        for one in kept:
            one[:] = 7.0
        kept.append(motion)
        return bool(super(type(self), self).evaluate(ahead, motion))

    bench.rig.follow_source(wave(bench, evaluate=evaluate), "")
    assert np.abs(commanded(bench, 0.5)).max() < 2.0
    bench.engine.pause()
    bench.until_state(State.ENGAGED)
    asked = len(kept)
    motions = commanded(bench, 0.3)
    assert len(kept) == asked and bench.machine.cause is None and np.ptp(motions, axis=0).max() == 0.0


class Clock:
    """A clock of which a source takes so much at each look."""

    def __init__(self) -> None:
        self.t = 0.0

    def now(self) -> float:
        return self.t


@pytest.mark.parametrize(
    ("each", "once", "fails"), [(0.4, 0.0, False), (0.6, 0.0, True), (0.1, 20.0, False), (0.1, 60.0, True)]
)
def test_values_that_take_too_long(bench: Bench, each: float, once: float, fails: bool) -> None:
    """Times of a cycle: on average less than half, and one that is longer than 25."""
    clock, period = Clock(), 2e-3

    def evaluate(self: Any, ahead: float, motion: Array) -> bool:
        clock.t += period * (once if 0.3 < self.path_time < 0.3 + period else each)
        return bool(super(type(self), self).evaluate(ahead, motion))

    guard, motion = GuardedSource(wave(bench, evaluate=evaluate), "wave", clock.now, period), np.zeros(19)
    for _ in range(400):
        guard.advance(period)
        guard.evaluate(0.0, motion)
    assert (guard.fault is not None) == fails
    if guard.fault is not None:
        assert guard.fault.code is Code.SOURCE_LATE and "(at most 1 ms)" in guard.fault.text


def test_what_cannot_be_followed_is_refused_by_name(bench: Bench) -> None:
    pose = np.array(bench.engine.published.reference)
    elsewhere = wave(bench)
    elsewhere._pose = pose + np.array([0.001, 0, 0, 0, 0, 0, 0])
    clock = bench.engine
    sources: tuple[tuple[Any, str], ...] = (
        (elsewhere, "starts 1 mm and .* from where the platform is"),
        (object(), "object is no ReferenceSource: it has no advance, evaluate, decelerate, resume"),
        (wave(bench, evaluate=lambda self, ahead, motion: raising()), "'wave' failed: evaluate: ValueError: lost"),
        (wave(bench, moving=False), "it does not move from the beginning"),
        (wave(bench, paused=True), "it is moving and paused"),
        (wave(bench, name=7), "no ReferenceSource"),
    )
    for source, why in sources:
        with pytest.raises(RefusedError, match=why):
            bench.rig.follow_source(source, "")
    for command, why in (
        (FollowSource("tide"), "'tide' cannot be followed: no reference 'tide'; known references: .*wave"),
        (FollowSource("wave", {"amplitud": 1.0}), "'wave' cannot be followed: amplitud: unknown"),
        (FollowSource("wave", {"amplitude": "much"}), "'wave' cannot be followed: amplitude: "),
        (FollowSource("unmade"), "'unmade' .* must be a SourceDeclaration"),
    ):
        with pytest.raises(RefusedError, match=why):
            bench.rig.request(command)
    assert clock.machine.state is State.ENGAGED and clock.reference.name == "hold"


def test_a_law_that_raises_in_every_cycle_leaves_a_rig_that_takes_commands(tmp_path: Path) -> None:
    with Bench(tmp_path, bench_config(mode="deaf")) as bench:
        bench.rig.request(Connect())
        bench.until_state(State.FAULT)
        cause = bench.machine.cause
        assert cause is not None and "the control law 'deaf' failed: RuntimeError: refer" in cause.text
    with pytest.raises(ConfigError, match="control law 'unmade' cannot be made: OSError: no such file"):
        LockstepRig(bench_config(mode="unmade"), None, Interruption())


def test_a_reference_needs_an_engaged_platform(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.park()
        with pytest.raises(RefusedError, match="follow-source: engage first"):
            bench.rig.request(FollowSource("wave"))
        assert bench.machine.state is State.PARKED and bench.engine.reference.name == "hold"
        with pytest.raises(RefusedError, match="'wave' cannot be followed in state PARKED: engage first"):
            bench.engine.follow(wave(bench))


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("failing", "failed: KeyError: 'gain'"),
        ("mute", "failed: ZeroDivisionError"),
        ("five", "failed: ValueError: it gives 5 commands, must be six"),
        ("another", "failed: ValueError: it commands the forces .* N, its checked set-points are"),
        ("empty", "failed: ValueError: it commands the forces .*nan"),
        ("lengths", "failed: ValueError: its commands are not all in mode FORCE with torque on"),
        ("replacing", "failed: ValueError: it replaced an array of set_points"),
        ("leading", "failed: ValueError: it changed the reference"),
        ("infinite", "asks for .*nan.* N"),
    ],
)
def test_a_law_that_raises_stops_the_rig(tmp_path: Path, mode: str, why: str) -> None:
    with Bench(tmp_path, bench_config(mode=mode)) as bench:
        bench.park()
        bench.rig.engine.reference.hold(bench.engine.cycle_data.measurement.pose)
        bench.engine.enter(State.ENGAGING)
        bench.until(lambda: bench.machine.cause is not None)
        cause = bench.machine.cause
        assert cause is not None
        assert re.search(f"the control law {mode!r} {why}", cause.text) and bench.machine.stop >= Q
        assert (bench.engine.cycle_data.reference.now[3:7] != 0.0).any()
        bench.until_state(State.FAULT)
        assert not bench.torque

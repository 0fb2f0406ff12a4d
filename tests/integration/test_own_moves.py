"""The rig's own moves: checked whole beforehand, kept to the legs' limits, and a way down where one is refused."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lockstep_bench import Bench, bench_config, motion_table

from kinematics import Array, MotionTable
from rig.client.motions import checked_move
from rig.config.rig_config import RigConfig
from rig.engine.messages import Follow, Park, Pause, Stop
from rig.engine.point_to_point import approach_move
from rig.engine.reference import straight_move
from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.recording import Recording
from rig.states import State

CONFIG = bench_config()
HOME = CONFIG.machine.geometry.home_pose
FASTEST = bench_config(motion={"approach_speed": 0.8, "approach_rotation": 3.6})


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path, FASTEST) as made:
        yield made


def away(bench: Bench, *offset: float) -> None:
    """ENGAGED at `offset` (x y z, m) from home."""
    bench.engage()
    there = HOME.copy()
    there[:3] += offset
    table = checked_move(bench.config, HOME, there, 0.15, 0.5)
    bench.rig.request(Follow("away", table.step), table.samples)
    bench.until_state(State.RUNNING)
    bench.until_state(State.ENGAGED)


def peaks(recording: Recording, config: RigConfig, state: State) -> tuple[float, float]:
    """Largest speed and acceleration of a leg's reference in a state, as fractions of their limits."""
    rows = recording.rows[recording.rows["state"] == state]
    speed = np.abs(rows["velocity_reference"]).max()
    change = np.abs(np.diff(rows["velocity_reference"], axis=0)).max() / config.period
    limits = config.machine.legs[0].limits
    assert limits is not None and limits.velocity is not None and limits.acceleration is not None
    return float(speed) / limits.velocity, float(change) / limits.acceleration


@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.08), (0.05, 0.02, -0.03), (0.0, 0.0, 0.002)])
def test_parking_at_the_fastest_setting_keeps_to_the_legs_limits(
    bench: Bench, offset: tuple[float, float, float]
) -> None:
    away(bench, *offset)
    bench.rig.request(Park())
    bench.until_state(State.PARKED)
    assert bench.machine.cause is None
    speed, acceleration = peaks(bench.recording(), bench.config, State.PARKING)
    assert speed <= 1.0 and acceleration <= 1.0
    assert max(abs(part) for part in offset) < 0.01 or max(speed, acceleration) > 0.5  # no slower than it must be


def test_a_move_at_a_speed_that_the_legs_bear_is_as_fast_as_it_says() -> None:
    there = HOME.copy()
    there[2] += 0.05
    slow = approach_move(CONFIG, HOME, there)
    assert slow.duration == straight_move(HOME, there, CONFIG.motion.approach_speed, 0.2).duration
    assert np.array_equal(slow.samples, straight_move(HOME, there, 0.05, 0.2).samples)


def test_a_park_that_is_refused_changes_nothing_and_leaves_a_way_down(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    away(bench, 0.0, 0.0, 0.08)

    def hasty(_config: RigConfig, start: Array, end: Array) -> MotionTable:
        return straight_move(start, end, 5.0, 1.0)

    monkeypatch.setattr("rig.engine.operator.approach_move", hasty)
    stands = bench.engine.cycle_data.reference.now.copy()
    with pytest.raises(RefusedError, match=r"(?s)park: .*speed of leg .* must be at most 800 mm/s.*STOP, which takes"):
        bench.rig.request(Park())
    bench.steps(20)
    assert bench.in_state(State.ENGAGED) and np.array_equal(bench.engine.cycle_data.reference.now, stands)
    bench.rig.request(Stop(1))
    bench.until_state(State.PARKED)
    bench.steps(20)
    assert not bench.torque and not bench.machine.latched


def test_the_way_home_is_checked_whole_not_at_its_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    away(bench, 0.0, 0.0, 0.02)
    seen: list[MotionTable] = []

    def refusal(table: MotionTable) -> Finding:
        seen.append(table)
        return Finding(Code.MOTION_REFUSED, details={"text": "a limit on the way"})

    monkeypatch.setattr(bench.rig.operator, "_check", refusal)
    with pytest.raises(RefusedError, match="park: a limit on the way"):
        bench.rig.request(Park())
    (table,) = seen
    assert table.samples[0, 2] == pytest.approx(0.47) and table.samples[-1, 2] == pytest.approx(0.45)
    assert bench.in_state(State.ENGAGED)


def test_no_park_from_where_the_platform_is_no_more(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    away(bench, 0.0, 0.0, 0.02)
    made: Callable[..., MotionTable] = approach_move

    def outdated(config: RigConfig, start: Array, end: Array) -> MotionTable:
        return made(config, start + np.array([1e-5, 0, 0, 0, 0, 0, 0]), end)

    monkeypatch.setattr("rig.engine.operator.approach_move", outdated)
    with pytest.raises(RefusedError, match="the platform was moving at the request"):
        bench.rig.request(Park())
    assert bench.in_state(State.ENGAGED)


def test_parking_out_of_a_paused_motion(tmp_path: Path) -> None:
    with Bench(tmp_path, FASTEST) as bench:
        bench.engage()
        table = motion_table(bench.config)
        bench.rig.request(Follow("bench", table.step), table.samples)
        bench.until(lambda: bench.engine.reference.path_time >= 1.3)
        bench.rig.request(Pause())
        bench.until_state(State.ENGAGED)
        bench.rig.request(Park())
        bench.until_state(State.PARKED)
        recording = bench.recording()
    for state in (State.RUNNING, State.PARKING):
        speed, acceleration = peaks(recording, bench.config, state)
        assert speed <= 1.0 and acceleration <= 1.0


def test_every_reference_is_judged_in_the_cycle_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    away(bench, 0.0, 0.0, 0.08)
    judged: list[Any] = []
    limits = bench.engine._supervision._limits
    accept = limits.accept

    def counted(*arguments: Any, **named: Any) -> Any:
        judged.append(bench.machine.state)
        return accept(*arguments, **named)

    monkeypatch.setattr(limits, "accept", counted)
    bench.rig.request(Park())
    bench.steps(40)
    assert judged.count(State.PARKING) == len(judged) >= 41

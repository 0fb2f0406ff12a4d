"""What a leg's own speed must explain of its way, on made-up samples at any rate."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from engine_support import CONFIG, HOME
from feedback_samples import Drives, LegReference

from kinematics import leg_lengths
from rig.safety.feedback import MotionChecks
from rig.safety.trip import Trip
from rig.states import FaultCode, StopSeverity

Floats = npt.NDArray[np.float64]
LENGTH = leg_lengths(CONFIG.machine.geometry, HOME)
BOUND = CONFIG.safety.position_jump
ZERO = np.zeros(6)
LEG = 4


class Judge:
    """The checks of a homed rig at a rate, fed one sample a cycle."""

    def __init__(self, rate: float, resolution: float = 0.0) -> None:
        self.period = 1.0 / rate
        borne = max(CONFIG.safety.staleness(self.period), CONFIG.drives.watchdog)
        self.checks = MotionChecks(CONFIG.machine, CONFIG.safety, self.period, borne, [resolution] * 6)

    def look(
        self,
        length: Floats,
        speed: Floats = ZERO,
        *,
        fresh: bool = True,
        lag: Floats = ZERO,
        reference: tuple[Floats, Floats] | None = None,
    ) -> Trip | None:
        """reference: lengths and speeds where the host closes the loop."""
        where, rate = (length, ZERO) if reference is None else reference
        present = np.ones(6) if fresh else ZERO
        controlled = reference is not None
        drives = Drives(length, speed, present, lag)
        return self.checks.check(1.0, self.period, drives, LegReference(where, rate), homed=True, controlled=controlled)


def off(amount: float) -> Floats:
    """Lengths of which one is off by `amount`, m."""
    lengths: Floats = LENGTH.copy()
    lengths[LEG - 1] += amount
    return lengths


def jumped(found: Trip | None) -> bool:
    """Whether that was found at the leg; with it the homing goes."""
    if found is None:
        return False
    assert (found.cause.code, found.cause.leg) == (FaultCode.POSITION_JUMP, LEG), found.cause.text
    assert found.unhome and found.category is StopSeverity.QUICK_STOP
    return True


@pytest.mark.parametrize("rate", [50.0, 100.0, 500.0, 2000.0])
@pytest.mark.parametrize("lost", [1, 2])
def test_a_jump_behind_lost_replies_is_found(rate: float, lost: int) -> None:
    for jump in (2.0 * BOUND, -2.0 * BOUND, 1.01 * BOUND):
        judge = Judge(rate)
        assert judge.look(LENGTH) is None
        for _ in range(lost):
            assert judge.look(LENGTH, fresh=False) is None
        assert jumped(judge.look(off(jump)))


def test_after_a_long_silence_the_leg_may_stand_elsewhere() -> None:
    judge = Judge(500.0)
    assert judge.look(LENGTH) is None
    for _ in range(100):
        assert judge.look(LENGTH, fresh=False) is None
    assert judge.look(off(2.0 * BOUND)) is None
    assert jumped(judge.look(LENGTH))


@pytest.mark.parametrize(("creep", "cycles"), [(0.75 * BOUND, 2), (0.1 * BOUND, 12), (0.005 * BOUND, 300)])
@pytest.mark.parametrize("held", [False, True])
def test_a_length_that_creeps_while_the_speed_says_no_is_found(creep: float, cycles: int, held: bool) -> None:
    judge = Judge(500.0)
    for cycle in range(cycles + 1):
        lengths = off(creep * cycle)
        if jumped(judge.look(lengths, reference=(lengths, ZERO) if held else None)):
            break
    else:
        pytest.fail(f"not found in {cycles} cycles")
    assert cycle >= BOUND / creep * 0.99


def test_an_honest_leg_that_follows_a_creeping_encoder_is_found_by_its_speed() -> None:
    judge, speed = Judge(500.0), ZERO.copy()
    speed[LEG - 1] = -0.02
    found = [judge.look(LENGTH, speed, reference=(LENGTH, ZERO)) for _ in range(100)]
    assert jumped(next(finding for finding in found if finding is not None))


@pytest.mark.parametrize("rate", [5.0, 10.0, 20.0, 39.0])
def test_at_a_low_rate_a_jump_is_what_the_following_error_is_beyond_its_bound(rate: float) -> None:
    judge, error = Judge(rate), CONFIG.safety.following_error
    for cycle in range(30):  # a speed that says nothing of the way, and a leg that is where it was told to be
        w = 2.0 * np.pi
        here, speed = off(0.02 * np.sin(w * cycle / rate)), ZERO.copy()
        speed[LEG - 1] = 0.02 * w * np.cos(w * cycle / rate)
        ahead = here.copy()
        ahead[LEG - 1] += 0.9 * error * (-1) ** cycle
        assert judge.look(ahead, reference=(here, speed)) is None
    jump = here.copy()
    jump[LEG - 1] += error + 1.1 * BOUND
    assert jumped(judge.look(jump, reference=(here, speed)))


@pytest.mark.parametrize("rate", [5.0, 20.0])
def test_at_a_low_rate_a_jump_of_a_leg_that_stands_is_found_at_once(rate: float) -> None:
    judge = Judge(rate)
    assert judge.look(LENGTH) is None
    assert jumped(judge.look(off(1.01 * BOUND)))


def _samples(rate: float, seconds: float) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    """Lengths and speeds of a lively motion as a real drive tells them, and as they are: a speed in steps of 1 mm/s,
    estimated with 5 ms of delay and noise, an encoder in steps of 1 µm."""
    random = np.random.default_rng(7)
    frequency, phase = random.uniform(0.5, 2.0, 6), random.uniform(0.0, 6.0, 6)
    amplitude = 6.0 / (2.0 * np.pi * frequency) ** 2  # 6 m/s² each
    amplitude = np.minimum(amplitude, 0.04)
    w = 2.0 * np.pi * frequency
    for t in np.arange(round(seconds * rate)) / rate:
        fade = min(1.0, t)
        length = LENGTH + fade * amplitude * np.sin(w * t + phase)
        speed = fade * amplitude * w * np.cos(w * t + phase) + (amplitude * np.sin(w * t + phase) if t < 1.0 else 0.0)
        late = max(t - 0.005, 0.0)
        estimate = min(1.0, late) * amplitude * w * np.cos(w * late + phase)
        estimate += amplitude * np.sin(w * late + phase) if late < 1.0 else 0.0
        told = np.round((estimate + random.normal(0.0, 1e-3, 6)) / 1e-3) * 1e-3
        yield np.round(length / 1e-6) * 1e-6, told, length, speed


@pytest.mark.parametrize("controlled", [False, True])
@pytest.mark.parametrize("rate", [100.0, 500.0, 2000.0])
def test_an_honest_encoder_is_never_accused(rate: float, controlled: bool) -> None:
    """Coarse registers, a late and noisy speed, and one reply in forty lost."""
    judge, random = Judge(rate), np.random.default_rng(3)
    for length, told, where, speed in _samples(rate, 4.0):
        found = judge.look(
            length, told, fresh=random.random() > 0.025, reference=(where, speed) if controlled else None
        )
        assert found is None, found.cause.text


def test_replies_that_come_to_be_a_cycle_old_are_no_jump() -> None:
    """At 0.3 m/s and 100 Hz a cycle is 3 mm."""
    judge, speed = Judge(100.0), np.full(6, 0.3)
    lengths = [LENGTH + 0.003 * cycle for cycle in range(6)]
    assert judge.look(lengths[0], speed) is None
    assert judge.look(lengths[1], speed, fresh=False) is None  # the first reply that is old is not believed
    assert judge.look(lengths[1], speed, lag=np.ones(6)) is None
    assert judge.look(lengths[2], speed, fresh=False, lag=np.ones(6)) is None
    assert judge.look(lengths[4], speed) is None
    assert judge.look(lengths[5], speed) is None


@pytest.mark.parametrize(("resolution", "behind"), [(0.0, 1e-3), (1e-6, 1e-3), (1e-4, 2e-3)])
def test_a_coarse_encoder_has_steps_before_it_counts_as_frozen(resolution: float, behind: float) -> None:
    """At 2 mm/s and 100 Hz a cycle is 20 µm; up to half a following error friction holds back a leg that begins."""
    judge, speed = Judge(100.0, resolution), np.full(6, 2e-3)
    for cycle in range(200):
        found = judge.look(LENGTH, reference=(LENGTH + 2e-5 * cycle, speed))
        if found is not None:
            break
    assert found is not None and found.cause.code is FaultCode.FEEDBACK_FROZEN
    assert 2e-5 * cycle == pytest.approx(behind, abs=3e-5)


@pytest.mark.parametrize(
    ("behind", "speed", "said"),
    [
        (2.2e-3, 0.02, ": it lags 110 ms behind, at 20.0 mm/s"),
        (-2.2e-3, -0.02, ": it lags 110 ms behind, at 20.0 mm/s"),
        (-2.2e-3, 0.02, ""),  # ahead of its reference
        (2.2e-3, 1e-3, ""),  # held, or pushed
        (2.2e-3, 0.0, ""),
    ],
)
def test_a_following_error_says_by_which_time_a_leg_lags(behind: float, speed: float, said: str) -> None:
    one = np.eye(6)[LEG - 1]
    found = Judge(500.0).look(LENGTH, speed * one, reference=(LENGTH + behind * one, speed * one))
    assert found is not None and found.cause.text == f"leg {LEG}: following error 2.20 mm (bound 2 mm){said}"


@pytest.mark.parametrize(
    ("speeds", "said"),
    [
        ([0.1] * 8 + [-0.1] * 3, "a sign is inverted"),
        ([0.1, 0.1, -0.1, -0.1] * 3 + [0.1, -0.1, -0.1, -0.1], "oscillates about its reference"),
    ],
)
def test_a_leg_that_swings_is_not_said_to_have_a_sign_reversed(speeds: list[float], said: str) -> None:
    judge = Judge(500.0)
    place, wanted = LENGTH.copy(), 0.05 * np.eye(6)[LEG - 1]
    found = None
    for speed in speeds:
        assert found is None
        place = place + judge.period * np.eye(6)[LEG - 1] * speed
        found = judge.look(place, np.eye(6)[LEG - 1] * speed, reference=(place, wanted))
    assert found is not None and said in found.cause.text
    assert found.cause.code is FaultCode.RUNAWAY and found.category is StopSeverity.CATEGORY_0

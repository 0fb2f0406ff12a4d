"""The conformance suite of a reference."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from kinematics import Array, pose_difference
from rig.config import load_config
from rig.engine import ReferenceSource
from rig.testing.failure import Failure, run_checks

Make = Callable[[Array], ReferenceSource]

_STEP = 1e-3  # s
_TIMES = (0.0, 0.31, 0.87, 1.6, 2.75)  # s, at which it is told to come to rest
_FOLLOWED = 3.0  # s
_DURATIONS = (0.4, 0.8, 1.6)  # s, given to come to rest
_AHEADS = (1e-3, 4e-3, 0.05)  # s
_EXACT = 1e-9
_PART_OF_SPEED, _PART_OF_ACCELERATION = 0.02, 0.1
"""of the largest, by which a change may differ from what its derivative says; a jump is half of itself off"""


def _motion(source: ReferenceSource, ahead: float = 0.0) -> Array:
    motion = np.full(19, np.nan)
    if not source.evaluate(ahead, motion):
        raise ValueError(f"it is not defined {ahead:g} s ahead, at path time {source.path_time:g} s")
    if not np.isfinite(motion).all():
        raise ValueError(f"not finite {ahead:g} s ahead, at path time {source.path_time:g} s: {motion}")
    return motion


def _after(make: Make, pose: Array, time: float) -> ReferenceSource:
    source = make(pose.copy())
    for _ in range(round(time / _STEP)):
        source.advance(_STEP)
    return source


def _begins(make: Make, pose: Array) -> Iterator[str]:
    source = make(pose.copy())
    for member in ("advance", "evaluate", "decelerate", "resume"):
        if not callable(getattr(source, member, None)):
            yield f"it has no method {member}"
    if not (isinstance(source.name, str) and source.name):
        yield f"its name is {source.name!r}"
    motion = _motion(source)
    if np.abs(pose_difference(motion[:7], pose)).max() > _EXACT:
        yield f"it begins at {motion[:7]}, not at the platform's pose {pose}"
    if np.abs(motion[7:13]).max() > _EXACT:
        yield f"it begins with the twist {motion[7:13]}; the platform is at rest"
    if not source.moving:
        yield "it does not move at its beginning"


def _pure(make: Make, pose: Array) -> Iterator[str]:
    for time in _TIMES:
        source = _after(make, pose, time)
        before, place = _motion(source), source.path_time
        for ahead in _AHEADS:
            _motion(source, ahead)
        if not np.array_equal(before, _motion(source)) or source.path_time != place:
            yield f"evaluate changes what it says next, at {time:g} s"


def _foretells(make: Make, pose: Array) -> Iterator[str]:
    for time in _TIMES:
        for ahead in _AHEADS:
            source = _after(make, pose, time)
            foretold = _motion(source, ahead)
            source.advance(ahead)
            if source.moving and not np.allclose(foretold, _motion(source), atol=1e-7, rtol=1e-6):
                yield f"what it says {ahead:g} s ahead, at {time:g} s, is not what comes"


def _deterministic(make: Make, pose: Array) -> Iterator[str]:
    one, other = _after(make, pose, 1.0), _after(make, pose, 1.0)
    if not np.array_equal(_motion(one), _motion(other)):
        yield "two that are made alike differ after 1 s"


def _to_rest(source: ReferenceSource, *, least: float = 0.0) -> tuple[list[Array], bool]:
    """Motions in each step until it rests, and whether it does within the longest duration given."""
    motions = [_motion(source)]
    for count in range(round((_DURATIONS[-1] + 2.0 * _STEP) / _STEP)):
        if not source.moving and count * _STEP >= least:
            return motions, True
        source.advance(_STEP)
        motions.append(_motion(source))
    return motions, not source.moving


def _jump(motions: list[Array]) -> str:
    """What is not continuous in successive motions with their derivatives; "" for nothing."""
    rows = np.array(motions)
    if len(rows) < 2:
        return ""
    steps = pose_difference(rows[1:, :7], rows[:-1, :7])
    for name, change, rate, part in (
        ("pose", steps, rows[:, 7:13], _PART_OF_SPEED),
        ("twist", np.diff(rows[:, 7:13], axis=0), rows[:, 13:], _PART_OF_ACCELERATION),
    ):
        off = np.abs(change - 0.5 * _STEP * (rate[1:] + rate[:-1]))
        bound = part * _STEP * max(float(np.abs(rate).max()), float(np.abs(change).max()) / _STEP) + _EXACT
        if off.max() > bound:
            row, axis = np.unravel_index(int(off.argmax()), off.shape)
            size, apart = change[row, axis], off[row, axis]
            return f"its {name} changes by {size:.3g} in axis {axis + 1}, {apart:.3g} off its rate"
    return ""


def _continuous(make: Make, pose: Array) -> Iterator[str]:
    source, motions = make(pose.copy()), []
    for _ in range(round(_FOLLOWED / _STEP)):
        motions.append(_motion(source))
        source.advance(_STEP)
    if found := _jump(motions):
        yield f"while followed, {found}"
    norm = np.abs(np.linalg.norm(np.array(motions)[:, 3:7], axis=1) - 1.0).max()
    if norm > 1e-6:
        yield f"the norm of its quaternion is {norm:.3g} off 1"
    for time in _TIMES:
        source = _after(make, pose, time)
        before = [_motion(source)]
        source.decelerate(_DURATIONS)
        if found := _jump(before + _to_rest(source, least=0.05)[0][1:]):
            yield f"asked to come to rest at {time:g} s, {found}"


def _comes_to_rest(make: Make, pose: Array) -> Iterator[str]:
    for time in _TIMES:
        source = _after(make, pose, time)
        source.decelerate(_DURATIONS)
        motions, rests = _to_rest(source)
        if not rests:
            yield f"asked to come to rest at {time:g} s, it still moves {_DURATIONS[-1]:g} s later"
        elif np.abs(motions[-1][7:13]).max() > 1e-6:
            yield f"asked to come to rest at {time:g} s, it has the twist {motions[-1][7:13]} and says it does not move"
        else:
            source.advance(0.5)
            if np.abs(pose_difference(_motion(source)[:7], motions[-1][:7])).max() > _EXACT:
                yield f"at rest, after {time:g} s, its pose still changes"


def _phase(source: ReferenceSource) -> str:
    """What is wrong with what it says of itself; "" for nothing."""
    if source.moving and source.paused:
        return "it is moving and paused"
    if source.slowing and not source.moving:
        return "it is slowing and not moving"
    if not (math.isfinite(source.path_time) and source.path_duration >= source.path_time):
        return f"path_time is {source.path_time:g} s of {source.path_duration:g} s"
    if not source.moving and source.path_rate != 0.0:
        return f"it does not move, and path_rate is {source.path_rate:g}"
    return ""


def _phases(make: Make, pose: Array) -> Iterator[str]:
    for time in _TIMES:
        source = make(pose.copy())
        place = source.path_time
        for step in range(round((time + _DURATIONS[-1] + 0.1) / _STEP)):
            if step == round(time / _STEP):
                if not source.moving:
                    break
                source.decelerate(_DURATIONS)
                if source.moving and not source.slowing:
                    yield f"asked to come to rest at {time:g} s, it is moving and not slowing"
            source.advance(_STEP)
            if found := _phase(source):
                yield f"at {(step + 1) * _STEP:g} s {found}"
            if source.path_time < place:
                yield f"at {(step + 1) * _STEP:g} s its path_time goes back"
            place = source.path_time


def _resumes(make: Make, pose: Array) -> Iterator[str]:
    source = _after(make, pose, _TIMES[1])
    source.decelerate(_DURATIONS)
    motions, _ = _to_rest(source)
    if not source.paused:
        return  # it has ended
    source.resume(_DURATIONS)
    if not source.moving or source.slowing or source.paused:
        yield "resumed, it does not move, or is slowing or paused"
    motions = [motions[-1]]
    for _ in range(round(0.5 / _STEP)):
        source.advance(_STEP)
        motions.append(_motion(source))
    if found := _jump(motions):
        yield f"resumed, {found}"


SOURCE_CHECKS: Mapping[str, Callable[[Make, Array], Iterator[str]]] = {
    "begins": _begins,
    "pure": _pure,
    "foretells": _foretells,
    "deterministic": _deterministic,
    "continuous": _continuous,
    "comes to rest": _comes_to_rest,
    "phases": _phases,
    "resumes": _resumes,
}
"""The checks of a reference by name.

It begins at rest where the platform is; `evaluate` changes nothing; what it says ahead comes; the same for the same;
pose, twist and acceleration are one continuous motion, also as it comes to rest; it rests within the longest duration,
and stays; `moving`, `slowing` and `paused` agree; paused, it goes on.
"""


def check_source(make: Make, pose: Array | None = None) -> tuple[Failure, ...]:
    """Check a reference, which `make` makes anew at a pose (7,), the shipped rig's home if None; () if none failed."""
    start = load_config("virtual").machine.geometry.home_pose if pose is None else pose
    return run_checks({name: partial(check, make, start) for name, check in SOURCE_CHECKS.items()})

"""Compiled part of a stream's source: samples in order of time, the motion between them, and the plan of cycles ahead.

The plan is a state of the platform at each whole period from now to the time that the cycle looks ahead. What is
planned stays. Each new state is accepted by `rig.engine.braking_ahead`, or the braking path of the one before is
followed.
"""

import math

import numpy as np
from numpy.typing import NDArray

from kinematics import Array, acquire_fence, coordinates_to_motion_kernel, inlined, kernel, rotation_matrix
from rig.engine import braking_ahead as check
from rig.engine.braking_ahead import (
    ACCELERATION_OF,
    LINEAR_OF,
    SURE,
    Ahead,
    accepted_kernel,
    along,
    braking_kernel,
    calm_of,
    evaluate_kernel,
    judged_kernel,
    near_verdict_kernel,
    rest_state_kernel,
    state_within_kernel,
)
from rig.streaming import MOST_AT_ONCE, PUSHED

CAPACITY = 2048
"""Samples kept."""
TRIES = 4
"""Durations of coming to rest that are tried, at most."""
KNOTS = 64
"""States of the plan kept, a power of two."""
_SPACING = 2e-4  # s, least between two samples; nearer ones, as of a flood, are not used
_SAME = 1e-6  # s, within which two samples are one
_RESTART = 1000  # count by which a sender's sequence has to fall to be one begun anew
_LEAST_COSINE = 1e-3
_UNIT = 1e-3  # largest departure of a quaternion's norm from 1
_NEAR = 1e-4  # m and rad, from the stream's pose, within which no approach is needed
_PEAK_SPEED = 1.875  # of a minimum-jerk move, beside its mean
_FUTURE = 1.0  # s, largest lead of a sample over the clock
_RATE = 25.0  # rad/s, of the filter that brings the platform back to what is asked
_SHARE = 0.8  # of a leg's acceleration that the filter uses
_RISE = 0.03  # s, in which the filter's acceleration rises to the limit
_JOINED = 0.1  # m/s² and rad/s²: what is so near in a cycle is what is asked for
_SLIP = 0.02  # s, by which the rig's clock may lag behind that of the stream
_SLIPPED_FOR = 0.1  # s, after which a lag is one that stays, not a cycle that came late
_LEAST_LAG = 1e-4  # s, of the rig's clock that is made up for
_GAIN = 2.0  # 1/s, of a lag that stays: the part of it that is made up for in a second
_FASTEST = 3e-3  # s/s, by which the stream is followed faster meanwhile, or slower
_RAMP = 1e-4  # s/s, by which that changes in a cycle
_SPARE = 0.1  # part of speed that is to spare where the stream is followed faster
_FALL = 5.0  # times `_RAMP`, by which it is followed more slowly where it is not
_FORESEEN = 8  # cycles beyond the plan that are looked at for this: in 6 of them the rate falls to 1
_HALVINGS = 14  # of the way from home to a pose that is out of reach

_DONE, _TRY, _LIMIT, _LEAVE = range(4)  # steps of planning a state
RESTING, APPROACHING, FADING_IN, FOLLOWING, FADING_OUT = range(5)
"""Phases of a stream."""
BASE, HOME, PLATFORM = range(3)
"""Frames of a stream's poses."""
REFUSED, STARVED, ENDED, BAD, STALE, LIMITED, FOLLOWS, SILENT, LOST, SLIPPED, ELSEWHERE = (1 << k for k in range(11))
"""Events of a cycle, as bits. ELSEWHERE: it is refused on the way to its first pose."""
MOVING, SLOWING, PAUSED = (1 << k for k in range(11, 14))
"""What the source is, as bits."""

STREAM = np.dtype(
    [
        ("period", np.float64),
        ("delay", np.float64),
        ("horizon", np.float64),
        ("watchdog", np.float64),
        ("stop_after", np.float64),
        ("fade_in", np.float64),
        ("fade_out", np.float64),
        ("predict", np.float64),
        ("speed", np.float64),
        ("rotation_speed", np.float64),
        ("limit", np.int64),
        ("frame", np.int64),
        ("home", np.float64, (7,)),
        ("home_coordinates", np.float64, (6,)),
        ("history", np.float64, (CAPACITY, 19)),
        ("given", np.int64, (CAPACITY,)),
        ("pose", np.float64, (7,)),
        ("velocity", np.float64, (6,)),
        ("acceleration", np.float64, (6,)),
        ("begin", np.int64),
        ("end", np.int64),
        ("cursor", np.int64),
        ("sequence", np.uint64),
        ("fresh", np.float64),
        ("taken", np.int64),
        ("used", np.int64),
        ("lost", np.int64),
        ("late", np.int64),
        ("bad", np.int64),
        ("limited", np.int64),
        ("place", np.float64),
        ("origin", np.float64),
        ("slip", np.float64),
        ("silent_since", np.float64),
        ("slipped_since", np.float64),
        ("least_slip", np.float64),
        ("rate", np.float64),
        ("wanted_rate", np.float64),
        ("lag", np.float64),
        ("lag_until", np.float64),
        ("spare_for", np.int64),
        ("rest_at", np.float64),
        ("phase", np.int64),
        ("stopped", np.int64),
        ("leave", np.int64),
        ("tries", np.float64, (TRIES,)),
        ("arrived", np.int64),
        ("what", np.int64),
        ("leg", np.int64),
        ("value", np.float64),
        ("ended", np.int64),
        ("apart", np.int64),
        ("events", np.int64),
        ("elapsed", np.float64),
        ("fade", np.float64),
        ("front", np.int64),
        ("braking_duration", np.float64),
        ("braking_elapsed", np.float64),
        ("base_duration", np.float64),
        ("base_elapsed", np.float64),
        ("plan", np.float64, (KNOTS, 18)),
        ("asked", np.float64, (KNOTS, 18)),
        ("braking", np.float64, (18,)),
        ("base", np.float64, (18,)),
        ("to", np.float64, (6,)),
        ("target", np.float64, (18,)),
        ("wanted", np.float64, (18,)),
        ("next", np.float64, (18,)),
        ("between", np.float64, (18,)),
        ("node", np.float64, (2, 18)),
        ("motion", np.float64, (19,)),
        ("was", np.float64, (6,)),
    ],
    align=True,
)
"""Settings, samples, state and working memory of a stream.

history: (CAPACITY, 19) time s, coordinates, rates and accelerations; given: which of these a sample had; valid from
`begin` to `end`. plan, asked: by knot modulo KNOTS, what is commanded and what the stream asks for there, NaN for
nothing. apart: whether these differ because of limits. leave, tries: number of the durations, s, in which to come to
rest from the end of the plan. what, leg, value: why the stream was refused, as of `AHEAD`. braking: state (18,) at the
beginning of the braking path of `braking_duration` s that is valid at `front`, the last knot, `braking_elapsed` s
later. base: likewise of that out of which the stream fades in. place: s since the beginning, which was at `origin`,
s of the stream's clock; slip: s by which the cycles lag behind it; rest_at: place at which the plan is at rest. taken:
samples of the ring, from its beginning. rate: seconds of the stream per second, on its way to wanted_rate; lag,
lag_until: s, least slip of the present `_SLIPPED_FOR`, and its end. spare_for: cycles since which there was speed to
spare.
"""

Stream = NDArray[np.void]
Numbers = NDArray[np.uint64]
Samples = NDArray[np.void]


# -- samples ---------------------------------------------------------------------------------------------------------


@inlined
def _turned(frame: int, r: tuple[float, float, float, float, float, float, float, float, float], x: float, y: float,
    z: float) -> tuple[float, float, float]:  # fmt: skip
    """A vector of the stream in base axes."""
    if frame == PLATFORM:
        return r[0] * x + r[1] * y + r[2] * z, r[3] * x + r[4] * y + r[5] * z, r[6] * x + r[7] * y + r[8] * z
    return x, y, z


@kernel
def coordinates_kernel(
    frame: int, home: Array, given: int, pose: Array, velocity: Array, acceleration: Array, out: Array
) -> bool:
    """Coordinates, rates and accelerations into `out` (18,) of a sample in a frame; False if it cannot be evaluated."""
    n = pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]
    if not (abs(n - 1.0) <= 2.0 * _UNIT):  # not a number is not either
        return False
    for k in range(7):
        if not math.isfinite(pose[k]):
            return False
    for k in range(6):
        if given & 1 and not math.isfinite(velocity[k]):
            return False
        if given & 2 and not math.isfinite(acceleration[k]):
            return False
    h = rotation_matrix(home[3], home[4], home[5], home[6])
    s = rotation_matrix(pose[3], pose[4], pose[5], pose[6])
    x, y, z = _turned(frame, h, pose[0], pose[1], pose[2])
    if frame == HOME:
        s = _product(s, h)
    elif frame == PLATFORM:
        s = _product(h, s)
    if frame != BASE:
        x, y, z = x + home[0], y + home[1], z + home[2]
    out[0], out[1], out[2] = x, y, z
    cy = math.hypot(s[0], s[3])
    if cy < _LEAST_COSINE:
        return False
    sy, cz, sz = -s[6], s[0] / cy, s[3] / cy
    out[3], out[4], out[5] = math.atan2(s[7], s[8]), math.atan2(sy, cy), math.atan2(s[3], s[0])
    for k in range(6, 18):
        out[k] = 0.0
    if given & 1:
        out[6], out[7], out[8] = _turned(frame, h, velocity[0], velocity[1], velocity[2])
        wx, wy, wz = _turned(frame, h, velocity[3], velocity[4], velocity[5])
        dx = (wx * cz + wy * sz) / cy
        dy = wy * cz - wx * sz
        dz = wz + dx * sy
        out[9], out[10], out[11] = dx, dy, dz
        if given & 2:
            out[12], out[13], out[14] = _turned(frame, h, acceleration[0], acceleration[1], acceleration[2])
            wx, wy, wz = _turned(frame, h, acceleration[3], acceleration[4], acceleration[5])
            wx -= -dx * (sz * cy * dz + cz * sy * dy) - cz * dz * dy
            wy -= dx * (cz * cy * dz - sz * sy * dy) - sz * dz * dy
            wz -= -cy * dy * dx
            ddx = (wx * cz + wy * sz) / cy
            out[15], out[16], out[17] = ddx, wy * cz - wx * sz, wz + ddx * sy
    return True


@kernel
def _product(
    a: tuple[float, float, float, float, float, float, float, float, float],
    b: tuple[float, float, float, float, float, float, float, float, float],
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Product of two matrices, row by row."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6], a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6], a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6], a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )  # fmt: skip


@kernel
def _make_room(stream: Stream) -> None:
    """Move the samples that are still needed to the beginning of the history."""
    data = stream[0]
    keep = max(data.begin, data.cursor - 2)
    if data.end - keep == CAPACITY:
        keep += CAPACITY // 4
    for row in range(keep, data.end):
        for k in range(19):
            data.history[row - keep, k] = data.history[row, k]
        data.given[row - keep] = data.given[row]
    data.cursor = max(0, data.cursor - keep)
    data.end -= keep
    data.begin = 0


@inlined
def _copied(stream: Stream, numbers: Numbers, slots: Samples, index: int) -> tuple[bool, int, int, float]:
    """Copy sample `index` of a ring, its arrays into `stream`; whether it was whole, its sequence, `given` and time.

    The loads of the copy come before that of the number, and after that of the counter in `take_kernel`: the fences
    bind the compiler, and the processor where it would reorder loads (Arm; x86-64 does not, they cost nothing there).
    """
    data = stream[0]
    slot = slots[index & (slots.shape[0] - 1)]
    sequence, given, time = slot.sequence, slot.given, slot.time
    for k in range(7):
        data.pose[k] = slot.pose[k]
    for k in range(6):
        data.velocity[k], data.acceleration[k] = slot.velocity[k], slot.acceleration[k]
    # after the copy: whatever the writer touched meanwhile has another number by now
    acquire_fence()
    whole = numbers[index & (slots.shape[0] - 1)] == np.uint64(2 * index + 2)
    return whole, sequence, given, time


@kernel
def take_kernel(stream: Stream, header: Numbers, numbers: Numbers, slots: Samples, now: float) -> None:
    """Put new samples of a ring into the history, in order of their times; counts what is not used.

    header, numbers, slots: `arrays` of `rig.streaming.SampleRing`, of which nothing is trusted. now: s, the stream's
    clock.
    """
    data = stream[0]
    state = data.next[:]
    begin, end, capacity = data.taken, np.int64(header[PUSHED]), slots.shape[0]
    acquire_fence()
    data.taken = end
    if begin < 0 or not 0 < end - begin <= MOST_AT_ONCE:  # begun anew, or no count at all
        return
    data.lost += max(0, end - begin - capacity)
    for index in range(max(begin, end - capacity), end):
        whole, number, given, time = _copied(stream, numbers, slots, index)
        if not whole:
            data.lost += 1
            continue
        if data.used > 0:
            ahead = np.int64(number - data.sequence)
            if ahead < 0 and now - data.fresh > data.watchdog:
                ahead = np.int64(-_RESTART)  # the sender was away, and counts anew
            if ahead > 1 and ahead < _RESTART:
                data.lost += ahead - 1
            elif ahead < 0 and ahead > -_RESTART and data.lost > 0:
                data.lost -= 1  # it was counted when it was overtaken
            if ahead > 0 or ahead <= -_RESTART:
                data.sequence = number
        else:
            data.sequence = number
        if not math.isfinite(time) or not coordinates_kernel(
            data.frame, data.home[:], given, data.pose[:], data.velocity[:], data.acceleration[:], state
        ):
            data.bad += 1
            data.events |= BAD
            continue
        if time < now - data.delay - data.watchdog or time > now + _FUTURE:
            data.late += 1
            data.events |= STALE
            continue
        data.fresh = now
        if data.end == CAPACITY:
            _make_room(stream)
        row = data.end
        while row > data.begin and data.history[row - 1, 0] > time:
            row -= 1
        if (row > data.begin and time - data.history[row - 1, 0] < (_SPACING if row == data.end else _SAME)) or (
            row < data.end and (row <= data.cursor + 2 or data.history[row, 0] - time < _SAME)
        ):
            if given & 4 and row == data.end:
                data.given[row - 1] |= 4
                data.used += 1
            else:
                data.late += 1
            continue
        for later in range(data.end, row, -1):
            for k in range(19):
                data.history[later, k] = data.history[later - 1, k]
            data.given[later] = data.given[later - 1]
        data.history[row, 0], data.given[row] = time, given
        for k in range(18):
            data.history[row, 1 + k] = state[k]
        if row > data.begin:  # angles go on
            for k in (4, 6):
                turns = math.floor((data.history[row, k] - data.history[row - 1, k]) / (2.0 * math.pi) + 0.5)
                data.history[row, k] -= 2.0 * math.pi * turns
        data.end += 1
        data.used += 1


@kernel
def _node_kernel(stream: Stream, row: int, out: Array) -> bool:
    """State (18,) of a sample, with derivatives that it lacks from its neighbours; False if one is still to come."""
    data = stream[0]
    given = data.given[row]
    before, after = row > data.begin, row + 1 < data.end
    if before and data.history[row, 0] - data.history[row - 1, 0] > data.watchdog:
        before = False
    if after and data.history[row + 1, 0] - data.history[row, 0] > data.watchdog:
        after = False
    known = given & 1 and given & 2
    one_sided = data.predict > 0.0 or given & 4 or row + 1 < data.end  # of a sample before a gap none is to come
    if not (known or after or one_sided):
        return False
    back = data.history[row, 0] - data.history[row - 1, 0] if before else 1.0
    on = data.history[row + 1, 0] - data.history[row, 0] if after else 1.0
    for k in range(1, 7):
        q, v, a = data.history[row, k], data.history[row, 6 + k], data.history[row, 12 + k]
        slope_back = (q - data.history[row - 1, k]) / back if before else 0.0
        slope_on = (data.history[row + 1, k] - q) / on if after else 0.0
        if not given & 1:
            if before and after:
                v = (slope_back * on + slope_on * back) / (back + on)
                a = 2.0 * (slope_on - slope_back) / (back + on)
            else:
                v, a = slope_back + slope_on, 0.0
        elif not given & 2:
            if before and after:
                a = (data.history[row + 1, 6 + k] - data.history[row - 1, 6 + k]) / (back + on)
            elif before:
                a = (v - data.history[row - 1, 6 + k]) / back
            else:
                a = (data.history[row + 1, 6 + k] - v) / on if after else 0.0
        out[k - 1], out[5 + k], out[11 + k] = q, v, a
    return True


@kernel
def between_kernel(left: Array, right: Array, step: float, u: float, out: Array) -> None:
    """State (18,) at the part `u` between two states `step` s apart: quintic Hermite polynomials."""
    for i in range(6):
        v0, v1 = step * left[6 + i], step * right[6 + i]
        a0, a1 = step * step * left[12 + i], step * step * right[12 + i]
        d = right[i] - left[i] - v0 - 0.5 * a0
        v, a = v1 - v0 - a0, a1 - a0
        c3 = 10.0 * d - 4.0 * v + 0.5 * a
        c4 = -15.0 * d + 7.0 * v - a
        c5 = 6.0 * d - 3.0 * v + 0.5 * a
        out[i] = left[i] + u * (v0 + u * (0.5 * a0 + u * (c3 + u * (c4 + u * c5))))
        out[6 + i] = (v0 + u * (a0 + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5)))) / step
        out[12 + i] = (a0 + u * (6.0 * c3 + u * (12.0 * c4 + u * 20.0 * c5))) / (step * step)


@kernel
def target_kernel(stream: Stream, time: float, out: Array) -> bool:
    """What the stream asks for at `time`, s of its clock, into `out` (18,); False if the samples do not say."""
    data = stream[0]
    if data.end == data.begin:
        return False
    row = max(data.cursor, data.begin)
    while row + 1 < data.end and data.history[row + 1, 0] <= time:
        row += 1
    data.cursor = row
    past = time - data.history[row, 0]
    if past < 0.0:
        return False
    left, right = data.node[0], data.node[1]
    if data.given[row] & 4:
        data.ended = 1
    if row + 1 == data.end:
        if data.ended or past > data.predict or not _node_kernel(stream, row, left):
            return False
        for i in range(6):
            a = left[12 + i]
            out[i] = left[i] + past * (left[6 + i] + 0.5 * past * a)
            out[6 + i], out[12 + i] = left[6 + i] + past * a, a
        return True
    step = data.history[row + 1, 0] - data.history[row, 0]
    if step > data.watchdog or not (_node_kernel(stream, row, left) and _node_kernel(stream, row + 1, right)):
        return False
    between_kernel(left, right, step, past / step, out)
    return True


# -- the plan --------------------------------------------------------------------------------------------------------


@inlined
def _copy(state: Array, out: Array) -> None:
    for k in range(18):
        out[k] = state[k]


@inlined
def _keep_refusal(stream: Stream, ahead: Ahead) -> None:
    """Keep what stands against the state that was judged last."""
    data, why = stream[0], ahead[0]
    data.what, data.leg, data.value = why.what, why.leg, why.value


@kernel
def _bring_into_reach(stream: Stream, ahead: Ahead, target: Array) -> None:
    """Replace a target (18,) whose pose is out of reach by rest at the last pose within, on the way to it from home.

    Of a target within reach that is too fast, the accelerations are dropped.
    """
    data = stream[0]
    pose = data.between[:]
    low, high = 0.0, 1.0
    for k in range(6, 18):
        pose[k] = 0.0
    for i in range(6):
        pose[i] = target[i]
    if state_within_kernel(ahead, pose, True, 1.0, check.ELSEWHERE):
        if not state_within_kernel(ahead, target, False, 1.0, check.ELSEWHERE):
            _keep_refusal(stream, ahead)
            for k in range(12, 18):
                target[k] = 0.0
        return
    _keep_refusal(stream, ahead)
    for _ in range(_HALVINGS):
        part = 0.5 * (low + high)
        for i in range(6):
            pose[i] = data.home_coordinates[i] + part * (target[i] - data.home_coordinates[i])
        if state_within_kernel(ahead, pose, True, 1.0, check.ELSEWHERE):
            low = part
        else:
            high = part
    for i in range(6):
        target[i] = data.home_coordinates[i] + 0.999 * low * (target[i] - data.home_coordinates[i])
        target[6 + i] = target[12 + i] = 0.0


@kernel
def _filtered_kernel(stream: Stream, ahead: Ahead, state: Array, target: Array, out: Array) -> None:
    """The next state (18,) of a critically damped motion from `state` to `target`, within the legs' limits as a whole.

    v_ref = q̇_d + ω/2 (q_d - q), the second part no faster than can be braked from; a = q̈_d + 2 ω (v_ref - q̇), scaled to
    `_SHARE` of the legs' accelerations and to their limits within `_RISE`.
    """
    data = stream[0]
    bounds, h, change, was = ahead[0].bounds, data.period, data.between[:], data.was
    evaluate_kernel(ahead, state, check.ELSEWHERE)
    for i in range(6):
        change[6 + i] = target[i] - state[i] - h * state[6 + i]
        was[i] = ahead[0].legs[check.ELSEWHERE, i, ACCELERATION_OF] - ahead[0].legs[check.ELSEWHERE, i, LINEAR_OF]
    part = 1.0
    for i in range(6):
        away = abs(along(ahead, check.ELSEWHERE, i, change, 6))
        if away > 1e-12:
            most = min(0.5 * bounds[i, 2], math.sqrt(_SHARE * bounds[i, 3] * away))
            part = min(part, most / (0.5 * _RATE * away))
    for i in range(6):
        change[i] = target[6 + i] + part * 0.5 * _RATE * change[6 + i]
    part = 1.0
    for i in range(6):
        speed = abs(along(ahead, check.ELSEWHERE, i, change, 0))
        if speed > 0.95 * bounds[i, 2]:
            part = min(part, 0.95 * bounds[i, 2] / speed)
    for i in range(6):
        wanted = part * change[i] - state[6 + i] - 0.5 * h * state[12 + i]
        change[12 + i] = (target[12 + i] + 2.0 * _RATE * wanted) / (1.0 + _RATE * h)
    part = 1.0
    for i in range(6):
        by = along(ahead, check.ELSEWHERE, i, change, 12)
        if abs(by) > 1e-12 and bounds[i, 3] < math.inf:
            most = _SHARE * bounds[i, 3]
            part = min(part, max(0.0, ((most if by > 0.0 else -most) - was[i]) / by))
    for i in range(6):
        change[12 + i] *= part
        change[i] = change[12 + i] - state[12 + i]
    part = 1.0
    for i in range(6):
        by = abs(along(ahead, check.ELSEWHERE, i, change, 0))
        if by > 1e-12:
            part = min(part, bounds[i, 3] * h / (_RISE * by))
    for i in range(6):
        a = state[12 + i]
        new = a + part * change[i]
        out[i] = state[i] + h * state[6 + i] + h * h * (2.0 * a + new) / 6.0
        out[6 + i] = state[6 + i] + 0.5 * h * (a + new)
        out[12 + i] = new


@kernel
def _between_within(stream: Stream, ahead: Ahead, state: Array) -> bool:
    """Whether what lies between the end of the plan and its next state (18,) keeps to the bounds."""
    data = stream[0]
    between = data.between[:]
    for part in (0.22, 0.5, 0.78):  # where a quintic polynomial that has to make up for a difference peaks
        between_kernel(data.plan[data.front % KNOTS], state, data.period, part, between)
        certain = near_verdict_kernel(ahead, state, between)
        if certain != SURE and not state_within_kernel(ahead, between, False, 1.0, check.ELSEWHERE):
            return False
    return True


@kernel
def _plan(stream: Stream, state: Array, duration: float) -> None:
    """Make `state` (18,) the next one of the plan; from it a braking path of `duration` s begins."""
    data = stream[0]
    data.front += 1
    _copy(state, data.plan[data.front % KNOTS])
    _copy(state, data.braking)
    data.braking_duration, data.braking_elapsed = duration, 0.0


@kernel
def _go_on_to_rest(stream: Stream) -> None:
    """Make the next state of the plan the one on the present braking path; at its end the platform rests."""
    data = stream[0]
    data.braking_elapsed += data.period
    data.front += 1
    state = data.plan[data.front % KNOTS]
    rest_state_kernel(
        data.braking[:], data.braking_duration, calm_of(data.braking_duration), data.braking_elapsed, state
    )
    if data.braking_elapsed >= data.braking_duration:
        for k in range(6, 18):
            state[k] = 0.0
        _copy(state, data.braking)
        data.braking_elapsed = 0.0
        if data.phase == FADING_OUT:
            data.phase = RESTING


@kernel
def _duration_of_move(stream: Stream, start: Array, end: Array) -> float:
    """Duration, s, of a move between coordinates (6,) at the speeds of the rig's own moves."""
    data = stream[0]
    distance = math.sqrt((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2 + (end[2] - start[2]) ** 2)
    turn = max(abs(end[3] - start[3]), abs(end[4] - start[4]), abs(end[5] - start[5]))
    duration: float = _PEAK_SPEED * max(distance / data.speed, turn / data.rotation_speed)
    return duration


@kernel
def _begin_fade_in(stream: Stream) -> None:
    """Fade in from the braking path that the plan is on."""
    data = stream[0]
    _copy(data.braking, data.base)
    data.base_duration, data.base_elapsed = data.braking_duration, data.braking_elapsed
    end = data.between[:]
    rest_state_kernel(data.base[:], data.base_duration, calm_of(data.base_duration), data.base_duration, end)
    data.fade = max(data.fade_in, _duration_of_move(stream, end[:6], data.target[:6]))
    data.phase, data.elapsed = FADING_IN, 0.0


@inlined
def _smooth(x: float) -> tuple[float, float, float]:
    """Quintic from 0 to 1, with its derivatives."""
    return (
        x * x * x * (10.0 + x * (6.0 * x - 15.0)),
        30.0 * x * x * (1.0 + x * (x - 2.0)),
        60.0 * x * (1.0 + x * (2.0 * x - 3.0)),
    )


@kernel
def _blended(stream: Stream, out: Array) -> None:
    """State (18,) between the braking path `base` and the target: q = p + w (q_d - p), with w from 0 to 1."""
    data = stream[0]
    w, dw, ddw = _smooth(min(1.0, data.elapsed / data.fade))
    dw, ddw = dw / data.fade, ddw / (data.fade * data.fade)
    base, target = data.between[:], data.target[:]
    elapsed = data.base_elapsed + data.elapsed
    rest_state_kernel(data.base[:], data.base_duration, calm_of(data.base_duration), elapsed, base)
    for i in range(6):
        d, dd, ddd = target[i] - base[i], target[6 + i] - base[6 + i], target[12 + i] - base[12 + i]
        out[i] = base[i] + w * d
        out[6 + i] = base[6 + i] + w * dd + dw * d
        out[12 + i] = base[12 + i] + w * ddd + 2.0 * dw * dd + ddw * d


@kernel
def _approached(stream: Stream, out: Array) -> bool:
    """State (18,) of the move from `base` to `to`, and whether it ends there."""
    data = stream[0]
    x = min(1.0, data.elapsed / data.fade)
    w, dw, ddw = _smooth(x)
    for i in range(6):
        d = data.to[i] - data.base[i]
        out[i], out[6 + i], out[12 + i] = data.base[i] + w * d, dw * d / data.fade, ddw * d / (data.fade * data.fade)
    if x >= 1.0:
        for i in range(6):
            out[6 + i] = out[12 + i] = 0.0
    return bool(x >= 1.0)


@kernel
def _enter(stream: Stream) -> None:
    """Begin the move to what the stream asks for, or from a braking path fade in."""
    data = stream[0]
    if data.phase == RESTING:
        far = 0.0
        for i in range(6):
            far = max(far, abs(data.target[i] - data.braking[i]))
        if far > _NEAR:
            _copy(data.braking, data.base)
            for i in range(6):
                data.to[i] = data.target[i]
            data.fade = max(0.1, _duration_of_move(stream, data.base[:6], data.to[:]))
            data.phase, data.elapsed = APPROACHING, 0.0
            return
    _begin_fade_in(stream)


@kernel
def _leave(stream: Stream, duration: float) -> int:
    """Come to rest from the end of the plan, within `duration` s where that keeps to the bounds; the next step."""
    data = stream[0]
    if data.phase in (RESTING, FADING_OUT):
        _go_on_to_rest(stream)
        return _DONE
    data.phase = FADING_OUT
    data.tries[0], data.leave = duration, 1
    _copy(data.plan[data.front % KNOTS], data.next[:])
    return _LEAVE


@kernel
def _begin_step(stream: Stream, ahead: Ahead, time: float) -> int:
    """Begin to plan the next state, of `time`, s of the stream's clock: what is to be judged is in `next`."""
    data = stream[0]
    target, state, wanted = data.target[:], data.next[:], data.wanted[:]
    known = target_kernel(stream, time, target)
    if data.rate != 1.0:
        for k in range(6):
            target[6 + k] *= data.rate
            target[12 + k] *= data.rate * data.rate
    asked = data.asked[(data.front + 1) % KNOTS]
    for k in range(18):
        asked[k] = target[k] if known else math.nan
    if data.leave > 0:  # from outside
        if data.phase in (RESTING, FADING_OUT):
            data.leave = 0
        else:
            data.phase = FADING_OUT
            _copy(data.plan[data.front % KNOTS], state)
            return _LEAVE
    if data.ended and not data.stopped:
        data.stopped, data.events = 1, data.events | ENDED
        return _leave(stream, data.fade_out)
    if data.phase in (APPROACHING, FADING_IN, FOLLOWING) and not known:
        data.events |= STARVED
        return _leave(stream, data.fade_out)
    if data.phase in (RESTING, FADING_OUT) and known and not data.stopped:
        _enter(stream)
    if data.phase in (RESTING, FADING_OUT):
        _go_on_to_rest(stream)
        return _DONE
    data.elapsed += data.period
    if data.phase == APPROACHING:
        data.arrived = _approached(stream, wanted)
    elif data.phase == FADING_IN:
        _blended(stream, wanted)
        data.arrived = data.elapsed >= data.fade
    else:
        data.arrived = 0
        _copy(target, wanted)
    if data.apart:
        return _begin_limit(stream, ahead)
    _copy(wanted, state)
    if data.predict > 0.0 and data.phase != APPROACHING:
        _filtered_kernel(stream, ahead, data.plan[data.front % KNOTS], wanted, state)
    return _TRY


@kernel
def _begin_limit(stream: Stream, ahead: Ahead) -> int:
    """Judge next the state on the way to what is wanted, which is not reached now."""
    data = stream[0]
    data.events |= LIMITED
    data.limited += 1
    data.apart = 1
    _bring_into_reach(stream, ahead, data.wanted[:])
    _filtered_kernel(stream, ahead, data.plan[data.front % KNOTS], data.wanted[:], data.next[:])
    return _LIMIT


@kernel
def _end_step(stream: Stream, ahead: Ahead, step: int, duration: float) -> int:
    """Act on the judgement of `next`: `duration`, s, of its braking path, or 0. Returns the next step."""
    data = stream[0]
    if step == _LEAVE:
        if duration > 0.0:
            _copy(data.next[:], data.braking)
            data.braking_duration, data.braking_elapsed = duration, 0.0
            data.leave = 0
        else:
            data.leave -= 1
            for k in range(data.leave):
                data.tries[k] = data.tries[k + 1]
            if data.leave > 0:
                return _LEAVE
        _go_on_to_rest(stream)
        return _DONE
    if duration > 0.0:
        _plan(stream, data.next[:], duration)
    elif step == _TRY and data.limit:
        _keep_refusal(stream, ahead)
        return _begin_limit(stream, ahead)
    elif step == _TRY:
        data.stopped, data.events = 1, data.events | REFUSED
        if data.phase == APPROACHING:
            data.events |= ELSEWHERE
        _keep_refusal(stream, ahead)
        return _leave(stream, data.fade_out)
    else:
        _go_on_to_rest(stream)
    if step == _LIMIT and duration > 0.0:
        data.apart = 0
        for i in range(6):
            if not (
                abs(data.wanted[i] - data.next[i]) <= _JOINED * data.period * data.period
                and abs(data.wanted[6 + i] - data.next[6 + i]) <= _JOINED * data.period
            ):
                data.apart = 1
    if data.arrived and data.phase == APPROACHING:
        _begin_fade_in(stream)
    elif data.arrived and data.phase == FADING_IN:
        data.phase, data.events = FOLLOWING, data.events | FOLLOWS
    return _DONE


@kernel
def status_kernel(stream: Stream) -> int:
    """Which of MOVING, SLOWING and PAUSED the source is."""
    data = stream[0]
    if data.phase != RESTING:
        data.rest_at = (data.front + 1) * data.period
    if not data.stopped or data.phase != RESTING or data.place < data.rest_at:
        return MOVING | SLOWING if data.stopped and not data.ended else MOVING
    return PAUSED if data.stopped and not data.ended else 0


@kernel
def _watch(stream: Stream, now: float) -> None:
    """Judge silence and the clock's slip, at `now`, s of the stream's clock."""
    data = stream[0]
    if data.stopped or not data.used:
        return
    if now - data.fresh <= data.watchdog:
        data.silent_since = math.nan
    elif math.isnan(data.silent_since):
        data.silent_since = now
        data.events |= SILENT
    if now - data.silent_since >= data.stop_after:
        data.events |= LOST
    if data.slip <= _SLIP:
        data.slipped_since = math.nan
        return
    if math.isnan(data.slipped_since):
        data.slipped_since, data.least_slip = now, data.slip
    data.least_slip = min(data.least_slip, data.slip)
    if now - data.slipped_since >= _SLIPPED_FOR:
        data.events |= SLIPPED
        data.origin += data.least_slip
        data.slipped_since = math.nan
        data.tries[0], data.leave = data.fade_out, 1


@kernel
def _accepted_faster(stream: Stream, ahead: Ahead, state: Array) -> bool:
    """Whether `state` (18,) would be accepted with as much more speed, and acceleration as belongs to it."""
    faster = stream[0].between[:]
    for k in range(6):
        faster[k] = state[k]
        faster[6 + k], faster[12 + k] = (1.0 + _SPARE) * state[6 + k], (1.0 + _SPARE) ** 2 * state[12 + k]
    return accepted_kernel(ahead, faster, 0.0, False) > 0.0


@kernel
def _has_to_spare(stream: Stream, ahead: Ahead) -> bool:
    """Whether there is speed to spare at the end of the plan, and at all that is asked until `_FORESEEN` cycles later.

    So the rate has fallen before the stream comes to its limit, as far as samples are known.
    """
    data = stream[0]
    target, cursor, ended = data.target[:], data.cursor, data.ended
    time = data.origin + (data.front + 1 + _FORESEEN) * data.period - data.delay
    known = target_kernel(stream, time, target)
    data.cursor, data.ended = cursor, ended
    spare = _accepted_faster(stream, ahead, data.plan[data.front % KNOTS])
    if spare and known:
        spare = _accepted_faster(stream, ahead, target)
    data.spare_for = data.spare_for + 1 if spare else 0
    lasting: bool = data.spare_for > _FORESEEN
    return lasting


@kernel
def _make_up(stream: Stream, ahead: Ahead, now: float) -> None:
    """Make up smoothly for a lag of the rig's clock that stays but is small, as of a computer that was busy.

    The rate changes only while there is speed to spare: its change is an acceleration as well.
    """
    data = stream[0]
    data.lag = min(data.lag, data.slip)
    if now >= data.lag_until:
        lag = data.lag
        data.lag, data.lag_until = math.inf, now + _SLIPPED_FOR
        if lag <= _SLIP:
            data.wanted_rate = 1.0 if abs(lag) < _LEAST_LAG else 1.0 + max(-_FASTEST, min(_FASTEST, _GAIN * lag))
    if data.wanted_rate == 1.0 and data.rate == 1.0:
        data.spare_for = 0
    elif _has_to_spare(stream, ahead):
        data.rate += max(-_RAMP, min(_RAMP, data.wanted_rate - data.rate))
    elif data.rate > 1.0:
        data.rate = max(1.0, data.rate - _FALL * _RAMP)


@kernel
def advance_kernel(
    stream: Stream, ahead: Ahead, header: Numbers, numbers: Numbers, slots: Samples, now: float, place: float,
    delay: Array, asked: Array, counts: Numbers,
) -> int:  # fmt: skip
    """Take samples, and plan to the horizon; returns what has happened, and what the source is.

    header, numbers, slots: see `take_kernel`. now: s, the stream's clock. place: s since the beginning. Fills what is
    recorded: delay (1,) s, asked (7,), the pose asked for at `place`, counts (4,).
    """
    data = stream[0]
    passed = place - data.place
    data.events, data.place = 0, place
    if math.isnan(data.origin) or (not data.used and now - place < data.origin):
        data.origin = now - place  # the least late of the first cycles
    data.origin += (data.rate - 1.0) * passed
    data.slip = now - place - data.origin
    _make_up(stream, ahead, now)
    take_kernel(stream, header, numbers, slots, now)
    until = math.ceil((place + data.horizon) / data.period - 1e-6)
    while data.front < until:
        step = _begin_step(stream, ahead, data.origin + (data.front + 1) * data.period - data.delay)
        while step != _DONE:
            duration = 0.0
            if step == _LEAVE:
                duration = accepted_kernel(ahead, data.next[:], data.tries[0], True)
            elif judged_kernel(ahead, data.next[:]) and _between_within(stream, ahead, data.next[:]):
                duration = braking_kernel(ahead, data.next[:], 0.0, False)
            step = _end_step(stream, ahead, step, duration)
    delay[0] = data.delay + data.slip
    counts[0], counts[1], counts[2], counts[3] = data.used, data.lost, data.late + data.bad, data.limited
    motion = data.motion[:]
    wanted = data.asked[round(place / data.period) % KNOTS]
    for k in range(7):
        asked[k] = math.nan
    if wanted[0] == wanted[0]:
        coordinates_to_motion_kernel(wanted, motion)
        for k in range(7):
            asked[k] = motion[k]
    _watch(stream, now)
    happened: int = data.events | status_kernel(stream)
    return happened


@kernel
def planned_kernel(stream: Stream, place: float, motion: Array) -> bool:
    """Fill `motion` (19,) with the plan at `place`, s since its beginning; beyond it, with the braking path.

    False before what is kept.
    """
    data = stream[0]
    x = place / data.period
    row = math.floor(x + 1e-9)
    if row < 0 or row <= data.front - KNOTS:
        return False
    state = motion[:18]
    if row >= data.front:
        elapsed = data.braking_elapsed + max(0.0, (x - data.front) * data.period)
        rest_state_kernel(data.braking[:], data.braking_duration, calm_of(data.braking_duration), elapsed, state)
    else:
        between_kernel(data.plan[row % KNOTS], data.plan[(row + 1) % KNOTS], data.period, max(0.0, x - row), state)
    coordinates_to_motion_kernel(motion, motion)
    return True

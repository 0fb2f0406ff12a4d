"""Braking ahead: whether the platform can come to rest within all limits from a state, before it gets there.

A table is known to its end before it begins. A motion that arises while it is followed is not, so each state of it is
taken only if a way to rest begins there that stays within the limits of stroke, speed, acceleration, joint angles,
conditioning and force. The state after it either is taken too, or that way is followed.

The way to rest of T s from coordinates q, rates v and accelerations a (six each), with x = t/T and y = t/T_a, T_a ≤ T:
    q(t) = q + v T (x − x³ + x⁴/2) + a T_a² (y²/2 − 2y³/3 + y⁴/4)
The rates fall to zero with a cubic, the acceleration within T_a; speed and acceleration are continuous.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dynamics import WORK_SIZE, Dynamics, LegLimits, forces_kernel
from kinematics import (
    Array,
    condition_number_kernel,
    coordinates_to_motion_kernel,
    inverse_kinematics_kernel,
    kernel,
    quaternion_to_matrix,
    rotate,
    rotation_matrix,
)
from rig.config import RigConfig

DURATIONS = (0.02, 0.04, 0.07, 0.12, 0.2, 0.35, 0.6)
"""Durations of a way to rest that are tried, as parts of `safety.stop_time`."""
_CALM = 0.04  # s, at most, in which the acceleration at the beginning falls to zero
PART = 0.99
"""Part of the legs' limits of speed, acceleration and force that a state may use, as peaks lie between two samples."""
_STROKE = 3e-4  # m, likewise at both ends of a leg's stroke
_ANGLE = 2e-3  # rad, and of a joint's angle
# Where a way is looked at, in parts of its duration or of that of its beginning, in which the acceleration falls: the
# end first, where the stroke is used up, then where the deceleration is greatest, and where the acceleration has
# overshot; there force and conditioning are looked at as well, which change slowly.
_PLACES = (1.0, 0.5, 2.0 / 3.0, 0.3, 0.12, 0.06, 0.2, 0.45, 0.12, 0.28, 0.64, 0.82)
_IN_CALM = (False, False, True, True, True, True, True, True, False, False, False, False)
_SAMPLES = len(_PLACES)
_SHARE = 0.94  # of the bound of acceleration: between two places of a way it may be greater by some percent
_FORCES = 3

WITHIN, NOT_FINITE, LENGTH, SPEED, ACCELERATION, CONDITION, UNIVERSAL, SPHERICAL, FORCE, NO_WAY = range(10)
"""What stands against a state: nothing, a quantity of a leg or the pose, or that no way to rest begins there."""

AHEAD = np.dtype(
    [
        ("geometry", np.float64, (6, 9)),
        ("bounds", np.float64, (6, 4)),
        ("force", np.float64, (6,)),
        ("home", np.float64, (2, 6, 3)),
        ("cosine", np.float64, (2, 6)),
        ("condition", np.float64),
        ("characteristic_length", np.float64),
        ("durations", np.float64, (len(DURATIONS),)),
        ("last", np.int64),
        ("what", np.int64),
        ("leg", np.int64),
        ("value", np.float64),
        ("motion", np.float64, (19,)),
        ("state", np.float64, (18,)),
        ("legs", np.float64, (6, 13)),
        ("matrix", np.float64, (6, 6)),
        ("forces", np.float64, (6,)),
        ("wrench", np.float64, (6,)),
        ("work", np.float64, (WORK_SIZE,)),
    ],
    align=True,
)
"""Bounds and working memory of the check.

bounds: (6, 4) least and greatest length m, speed m/s and acceleration m/s² of a leg. force: (6,) N. home: (2, 6, 3)
directions of the legs at home, base and platform axes. cosine: (2, 6) of the greatest angles from these. last: index of
the duration that passed last. what, leg (index) and value: what the last refusal was for.
"""

Ahead = NDArray[np.void]


@kernel
def rest_state_kernel(state: Array, duration: float, calm: float, elapsed: float, out: Array) -> None:
    """State (18,) on the way to rest from `state` (18,), `elapsed` s after its beginning, into `out`; not the same.

    duration, calm: T and T_a, s, of the way.
    """
    x, y = min(elapsed / duration, 1.0), min(elapsed / calm, 1.0)
    way = duration * x * (1.0 + x * x * (0.5 * x - 1.0))
    rate = 1.0 + x * x * (2.0 * x - 3.0)
    change = -6.0 * x * (1.0 - x) / duration
    calm_way = calm * calm * y * y * (0.5 + y * (0.25 * y - 2.0 / 3.0))
    calm_rate = calm * y * (1.0 + y * (y - 2.0))
    calm_change = 1.0 + y * (3.0 * y - 4.0)
    for i in range(6):
        v, a = state[6 + i], state[12 + i]
        out[i] = state[i] + v * way + a * calm_way
        out[6 + i] = v * rate + a * calm_rate
        out[12 + i] = v * change + a * calm_change


@kernel
def calm_of(duration: float) -> float:
    """T_a of a way to rest of `duration` s."""
    return min(duration, _CALM)


@kernel
def state_within_kernel(ahead: Ahead, state: Array, whole: bool, share: float) -> bool:
    """Whether a state (18,) of coordinates, rates and accelerations keeps to all bounds but the force's.

    If not, why is stored. whole: look at the conditioning as well. share: of the bound of acceleration, that is used.
    """
    data = ahead[0]
    motion, legs, geometry, bounds = data.motion[:], data.legs[:], data.geometry[:], data.bounds
    what, leg, value = WITHIN, -1, 0.0
    for k in range(18):
        if not math.isfinite(state[k]):
            what, value = NOT_FINITE, state[k]
    if what == WITHIN:
        coordinates_to_motion_kernel(state, motion)
        leg = inverse_kinematics_kernel(geometry, motion, legs) - 1
        what = WITHIN if leg < 0 else UNIVERSAL
    if what == WITHIN:
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(motion[3], motion[4], motion[5], motion[6])
        for i in range(6):
            x, y, z = legs[i, 3], legs[i, 4], legs[i, 5]
            universal = x * data.home[0, i, 0] + y * data.home[0, i, 1] + z * data.home[0, i, 2]
            x, y, z = rotate(r00, r10, r20, r01, r11, r21, r02, r12, r22, x, y, z)
            spherical = x * data.home[1, i, 0] + y * data.home[1, i, 1] + z * data.home[1, i, 2]
            if not bounds[i, 0] <= legs[i, 0] <= bounds[i, 1]:
                what, leg, value = LENGTH, i, legs[i, 0]
            elif not abs(legs[i, 1]) <= bounds[i, 2]:
                what, leg, value = SPEED, i, legs[i, 1]
            elif not abs(legs[i, 2]) <= share * bounds[i, 3]:
                what, leg, value = ACCELERATION, i, legs[i, 2]
            elif not universal >= data.cosine[0, i]:
                what, leg, value = UNIVERSAL, i, math.acos(max(-1.0, min(1.0, universal)))
            elif not spherical >= data.cosine[1, i]:
                what, leg, value = SPHERICAL, i, math.acos(max(-1.0, min(1.0, spherical)))
            if what != WITHIN:
                break
    if what == WITHIN and whole:
        condition = condition_number_kernel(geometry, motion[:7], data.characteristic_length, data.matrix[:])
        if not condition <= data.condition:
            what, value = CONDITION, condition
    if what != WITHIN:
        data.what, data.leg, data.value = what, leg, value
    return what == WITHIN


@kernel
def accepted_kernel(ahead: Ahead, state: Array, wanted: float, only: bool) -> float:
    """Duration of a way to rest within the bounds from a state (18,), s; 0 if there is none, and why not is stored.

    wanted: s, tried first; 0 for none. only: try no other, and do not look at the state itself, which is known to keep
    to the bounds. Else it has to do so, too.
    """
    data = ahead[0]
    then, forces, wrench, work = data.state[:], data.forces[:], data.wrench[:], data.work[:]
    trial, sample, duration = -2, 0 if only else -1, wanted
    while trial < len(data.durations):
        if sample >= 0:  # the state itself comes before all ways
            if trial == -2:
                duration = wanted
            elif trial == -1:
                duration = data.durations[data.last]
            else:
                duration = data.durations[trial]
            if duration <= 0.0 or (trial >= 0 and trial == data.last):
                trial += 1
                continue
        if sample >= 0:
            calm = calm_of(duration)
            elapsed = _PLACES[sample] * (calm if _IN_CALM[sample] else duration)
            rest_state_kernel(state, duration, calm, elapsed, then)
        else:
            for k in range(18):
                then[k] = state[k]
        within = state_within_kernel(ahead, then, sample < _FORCES, 1.0 if sample < 0 else _SHARE)
        if within and sample < _FORCES:
            status = forces_kernel(data.motion[:], wrench, work, forces)
            for i in range(6):
                if status != 0 or not abs(forces[i]) <= data.force[i]:
                    data.what, data.leg, data.value, within = FORCE, i, forces[i], False
        if not within:
            if sample < 0 or only:
                return 0.0
            trial, sample = trial + 1, 0
        elif sample == _SAMPLES - 1:
            data.last = trial if trial >= 0 else data.last
            return duration
        else:
            sample += 1
    data.what = NO_WAY
    return 0.0


def make_ahead(config: RigConfig) -> Ahead:
    """Bounds and working memory (1,) of dtype `AHEAD`, for the check of a rig: its limits less a margin."""
    mechanism, safety, geometry = config.machine, config.safety, config.machine.geometry
    ahead = np.zeros(1, AHEAD)
    data = ahead[0]
    limits = [leg.limits or LegLimits() for leg in mechanism.legs]

    def bounds(name: str) -> list[float]:
        return [math.inf if (bound := getattr(limit, name)) is None else bound for limit in limits]

    lengths = np.array([limit.length or (0.0, math.inf) for limit in limits])
    data["bounds"][:, :2] = lengths + np.array([_STROKE, -_STROKE])
    data["bounds"][:, 2] = PART * np.array(bounds("velocity"))
    data["bounds"][:, 3] = PART * np.array(bounds("acceleration"))
    data["force"] = PART * np.array(bounds("force"))
    data["geometry"] = geometry.array
    home = geometry.home_pose
    legs = geometry.platform_joints(home) - geometry.base_points
    legs /= np.linalg.norm(legs, axis=1, keepdims=True)
    data["home"] = legs, legs @ quaternion_to_matrix(home[3:])
    angles = np.array([bounds("universal_angle"), bounds("spherical_angle")])
    data["cosine"] = np.where(angles < math.pi, np.cos(np.minimum(angles - _ANGLE, math.pi)), -2.0)
    data["condition"], data["characteristic_length"] = PART * safety.condition, safety.characteristic_length
    data["durations"] = np.array(DURATIONS) * safety.stop_time
    parameters = Dynamics(mechanism, coulomb_speed=config.control.coulomb_speed).parameters
    data["work"][: len(parameters)] = parameters
    return ahead

"""The section of a configuration with sizes and thresholds of the acceptance test of a motion base."""

from typing import Annotated

from pydantic import Field

from kinematics import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularSpeed,
    Frequency,
    Length,
    Number,
    Speed,
    Time,
    within,
)
from rig.config.sections import Count, Section

_Part = Annotated[Number, within(1e-6, 1.0)]
_Length = Annotated[Length, within(1e-9, 1.0, "m")]
_Angle = Annotated[Angle, within(1e-9, 1.0, "rad")]
_Acceleration = Annotated[Acceleration, within(1e-6, 100.0, "m/s^2")]
_Time = Annotated[Time, within(1e-4, 10.0, "s")]
_Excursion = Annotated[Length, within(0.0, 10.0, "m")]
_Turn = Annotated[Angle, within(0.0, 3.0, "rad")]
_Speed = Annotated[Speed, within(0.0, 10.0, "m/s")]
_TurnSpeed = Annotated[AngularSpeed, within(0.0, 30.0, "rad/s")]
_Push = Annotated[Acceleration, within(0.0, 100.0, "m/s^2")]
_TurnPush = Annotated[AngularAcceleration, within(0.0, 300.0, "rad/s^2")]


class Acceptance(Section):
    """Sizes and thresholds of the acceptance test (`rig accept`).

    Of rotations, lengths and accelerations are those at `safety.characteristic_length` from the axis.
    """

    share: Annotated[Number, within(0.05, 0.98)] = 0.9
    """Size of each test's motion, as a fraction of the largest that passes the check of motions."""
    confidence: Annotated[Number, within(0.5, 0.9999)] = 0.95
    """Confidence required for a pass or a fail, of each number; otherwise it is undecided."""
    acceleration_bandwidth: Annotated[Frequency, within(1.0, 1000.0, "Hz")] = 40.0
    """Band in which accelerations are measured, Hz."""
    band: Annotated[Frequency, within(0.1, 100.0, "Hz")] = 5.0
    """Highest frequency at which gain and phase are judged, Hz."""
    highest_frequency: Annotated[Frequency, within(0.5, 200.0, "Hz")] = 20.0
    """Highest frequency of the describing function, Hz."""
    small_part: Annotated[Number, within(0.01, 0.9)] = 0.25
    """Size of the describing function's second motion, as a fraction of its first."""
    step: Annotated[Acceleration, within(1e-3, 10.0, "m/s^2")] = 0.1
    """Acceleration before and after the step of the dynamic threshold, m/s²."""
    pose_cycles: Annotated[Count, Field(ge=3, le=100)] = 30
    """Visits of each of the five poses."""
    path_cycles: Annotated[Count, Field(ge=3, le=100)] = 10
    """Rounds of the path."""

    excursion: tuple[_Excursion, _Excursion, _Excursion] | None = None
    """Required excursion in x, y and z to either side of home, m; not given: what was commanded, within
    `size_error`. The same for the next five."""
    rotation: tuple[_Turn, _Turn, _Turn] | None = None
    """Required rotation about x, y and z, rad."""
    speed: tuple[_Speed, _Speed, _Speed] | None = None
    """Required speed in x, y and z, m/s."""
    rotation_speed: tuple[_TurnSpeed, _TurnSpeed, _TurnSpeed] | None = None
    """Required angular speed about x, y and z, rad/s."""
    acceleration: tuple[_Push, _Push, _Push] | None = None
    """Required acceleration in x, y and z, m/s²."""
    rotation_acceleration: tuple[_TurnPush, _TurnPush, _TurnPush] | None = None
    """Required angular acceleration about x, y and z, rad/s²."""

    size_error: _Part = 0.02
    """Maximum shortfall of excursion, speed and acceleration, as a fraction of what was commanded."""
    gain_error: _Part = 0.05
    """Maximum deviation of the gain from 1 up to `band`."""
    phase_lag: _Angle = 0.1745329
    """Maximum phase lag up to `band`, rad."""
    bandwidth: Annotated[Frequency, within(0.1, 200.0, "Hz")] = 5.0
    """Minimum frequency at which the gain has fallen by 3 dB, Hz."""
    linearity: _Part = 0.02
    """Maximum second and third harmonic of a sine, as a fraction of it; and maximum change of the gain with the
    amplitude up to `band`."""
    noise: _Acceleration = 0.1
    """Maximum acceleration noise, RMS, m/s²."""
    hysteresis: _Length = 1e-4
    """Maximum hysteresis, m."""
    dynamic_threshold: _Time = 0.1
    """Maximum time to 63 % of a step of the acceleration, s."""
    crosstalk: _Part = 0.02
    """Maximum acceleration of any other axis, as a fraction of that of the driven one, RMS."""
    turn_around: _Acceleration = 0.25
    """Maximum bump of the acceleration where the motion turns around, m/s²."""
    leg_balance_gain: _Part = 0.01
    """Maximum difference of the gains of any two legs."""
    leg_balance_phase: _Angle = 0.0262
    """Maximum difference of the phases of any two legs, rad."""
    smoothness: _Acceleration = 0.1
    """Maximum deviation of the acceleration between the turns, RMS, m/s²."""
    repeatability: _Acceleration = 0.4903325
    """Maximum deviation of the acceleration with the same input, m/s²; the default is 0.05 g."""
    pose_accuracy: _Length = 5e-4
    """Maximum distance between the mean attained and the commanded position, m."""
    pose_repeatability: _Length = 1e-4
    """Maximum repeatability of a position, m."""
    rotation_accuracy: _Angle = 2e-3
    """Maximum angle between the mean attained and the commanded attitude, rad."""
    rotation_repeatability: _Angle = 5e-4
    """Maximum repeatability of an attitude, rad."""
    settled: _Length = 1e-4
    """Limit band of the position within which the platform has settled, m."""
    settling: _Time = 0.2
    """Maximum time from the first to the last crossing of the limit band, s."""
    overshoot: _Length = 5e-4
    """Maximum overshoot of a position, m."""
    path_accuracy: _Length = 5e-4
    """Maximum distance between the mean attained and the commanded path, m."""
    path_repeatability: _Length = 2e-4
    """Maximum repeatability of a path, m."""
    residual_noise: Annotated[Number, within(0.1, 1e6)] = 2.0
    """Maximum residual of the forces in any band of frequencies, RMS, times what the cells' noise has in it."""

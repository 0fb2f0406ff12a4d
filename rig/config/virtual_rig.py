"""The virtual rig's section of a configuration: its drives, cells, plant and faults."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from kinematics import (
    Angle,
    Damping,
    Force,
    ForceRate,
    Frequency,
    Length,
    Mass,
    Number,
    Speed,
    Stiffness,
    Time,
    within,
)
from rig.config.fmu import PayloadFmu
from rig.config.sections import LEGS, Bandwidth, Count, Delay, OnceOrPerLeg, Section, Smoothing, Text


def _once_or_per_neighbour(value: object) -> object:
    """Accept one number, or per leg a number for both neighbours, or one each for the previous and next leg."""
    if not isinstance(value, (list, tuple)):
        return [[value, value]] * LEGS
    return [entry if isinstance(entry, (list, tuple)) else [entry, entry] for entry in value]


_Gain = Annotated[Number, within(-1e3, 1e3)]
_Bias = Annotated[Force, within(-1e6, 1e6, "N")]
_Spread = Annotated[Force, within(0.0, 1e5, "N")]
_Rate = Annotated[ForceRate, within(-1e5, 1e5, "N/s")]
GainPerLeg = Annotated[tuple[_Gain, _Gain, _Gain, _Gain, _Gain, _Gain], OnceOrPerLeg]
BiasPerLeg = Annotated[tuple[_Bias, _Bias, _Bias, _Bias, _Bias, _Bias], OnceOrPerLeg]
SpreadPerLeg = Annotated[tuple[_Spread, _Spread, _Spread, _Spread, _Spread, _Spread], OnceOrPerLeg]
ForceRatePerLeg = Annotated[tuple[_Rate, _Rate, _Rate, _Rate, _Rate, _Rate], OnceOrPerLeg]
_Part = Annotated[Number, within(-0.2, 0.2)]
PartPerLeg = Annotated[tuple[_Part, _Part, _Part, _Part, _Part, _Part], OnceOrPerLeg]
_Loop = Annotated[Number, within(0.0, 0.1)]
LoopPerLeg = Annotated[tuple[_Loop, _Loop, _Loop, _Loop, _Loop, _Loop], OnceOrPerLeg]
_Neighbours = tuple[_Part, _Part]
PartPerNeighbour = Annotated[
    tuple[_Neighbours, _Neighbours, _Neighbours, _Neighbours, _Neighbours, _Neighbours],
    BeforeValidator(_once_or_per_neighbour),
]
_NO_CROSS_TALK = (0.0, 0.0)
_Often = Annotated[Number, within(0.0, 10.0, "1/s")]
_ZEROS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class VirtualDrive(Section):
    """Properties of a virtual drive and its actuator."""

    force_bandwidth: Bandwidth = 300.0
    """-3 dB frequency of the force loop, Hz."""
    delay: Delay = 1e-4
    """Dead time between a command's arrival and its force, s."""
    force_limit: Annotated[Force, within(0.1, 1e7, "N")] = 450.0
    """Maximum force of the motor, N."""
    position_resolution: Annotated[Length, within(1e-12, 1e-3, "m")] = 1e-7
    """Step of the encoder, m."""
    homing_speed: Annotated[Speed, within(1e-4, 1.0, "m/s")] = 0.05
    """Speed of a leg during homing, m/s."""
    position_stiffness: Annotated[Stiffness, within(1.0, 1e9, "N/m")] = 60e3
    """Stiffness of the drive's own position loop, N/m."""
    position_damping: Annotated[Damping, within(0.1, 1e7, "N s/m")] = 900.0
    """Damping of the drive's own position loop, N s/m."""
    brake_stiffness: Annotated[Stiffness, within(1.0, 1e10, "N/m")] = 2e6
    """Stiffness of a closed brake, N/m."""
    brake_damping: Annotated[Damping, within(0.1, 1e8, "N s/m")] = 5000.0
    """Damping of a closed brake, N s/m."""
    brake_force: Annotated[Force, within(0.01, 1e7, "N")] = 600.0
    """Force at which a closed brake slips, N."""
    quick_stop_damping: Annotated[Damping, within(0.1, 1e7, "N s/m")] = 1200.0
    """Damping of a leg in its drive's quick stop, N s/m."""
    start_spread: Annotated[Length, within(0.0, 0.5, "m")] = 0.01
    """Maximum deviation of a leg's length from home at power-up, m."""


class VirtualCells(Section):
    """Errors of virtual load cells: reading = gain·force + bias + drift·time + noise; one value, or one per leg.

    The force includes cross-talk, curvature and hysteresis. Fractions of the range refer to `load_cells.range`.
    """

    gain: GainPerLeg = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    """Factor on the force."""
    bias: BiasPerLeg = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Reading at zero force, N."""
    noise: SpreadPerLeg = (0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    """Standard deviation of the noise, N."""
    drift: ForceRatePerLeg = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Drift rate of the zero, N/s."""
    warming: BiasPerLeg = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Shift of the zero of a warm cell, N; it grows as 1 − e^(−t/`warming_time`)."""
    warming_time: Annotated[Time, within(0.1, 1e5, "s")] = 300.0
    """Time constant of the warming, s."""
    gain_warming: PartPerLeg = _ZEROS
    """Relative increase of a warm cell's gain; it grows as `warming` does."""
    cross_talk: PartPerNeighbour = (
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
    )
    """Fraction of each neighbouring leg's force in a cell's reading: one number, one per leg, or a pair per leg, for
    the previous and the next leg."""
    curvature: PartPerLeg = _ZEROS
    """Deviation from linearity at full range, as a fraction of the range; it grows with the square of the force."""
    hysteresis: LoopPerLeg = _ZEROS
    """Maximum width of the loading loop, at mid-range, as a fraction of the range."""
    lag: Annotated[Time, within(0.0, 0.1, "s")] = 0.0
    """Delay of the readings, s."""
    resolution: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Step of the readings, N; 0 for none."""
    hum: SpreadPerLeg = _ZEROS
    """Amplitude of mains hum, N; the seed determines its phase."""
    hum_frequency: Annotated[Frequency, within(0.1, 1e4, "Hz")] = 50.0
    """Frequency of the hum, Hz."""
    jump: SpreadPerLeg = _ZEROS
    """Size of random jumps of a cell's zero, N, in either direction; at a set time: the fault `zero_jump`."""
    jump_rate: _Often = 0.0
    """Mean rate of zero jumps, 1/s."""
    spike: SpreadPerLeg = _ZEROS
    """Size of random spikes, N, in either direction, each in one reading."""
    spike_rate: _Often = 0.0
    """Mean rate of spikes, 1/s."""

    @model_validator(mode="after")
    def _sizes_have_rates(self) -> "VirtualCells":
        for name in ("jump", "spike"):
            size, rate = max(getattr(self, name)), getattr(self, f"{name}_rate")
            if (size > 0.0) != (rate > 0.0):
                raise ValueError(f"{name} {size:g} N and {name}_rate {rate:g} 1/s: both are above 0, or none")
        return self


_Offset = Annotated[Length, within(-10.0, 10.0, "m")]


class Payload(Section):
    """A rigid body on the platform that is missing in the model."""

    mass: Annotated[Mass, within(1e-6, 1e5, "kg")]
    """Mass, kg."""
    center_of_mass: tuple[_Offset, _Offset, _Offset] = (0.0, 0.0, 0.0)
    """Centre of mass in the platform frame, m."""


_Friction = Annotated[Force, within(0.0, 1e5, "N")]
_FrictionPerLeg = Annotated[tuple[_Friction, _Friction, _Friction, _Friction, _Friction, _Friction], OnceOrPerLeg]
_Share = Annotated[Number, within(0.0, 0.5)]
_SharePerLeg = Annotated[tuple[_Share, _Share, _Share, _Share, _Share, _Share], OnceOrPerLeg]
_Offset3 = tuple[_Offset, _Offset, _Offset]
_Phase = Annotated[Angle, within(-100.0, 100.0, "rad")]
_PhasePerLeg = Annotated[tuple[_Phase, _Phase, _Phase, _Phase, _Phase, _Phase], OnceOrPerLeg]
_Bristle = Annotated[Stiffness, within(0.0, 1e9, "N/m")]
_BristlePerLeg = Annotated[tuple[_Bristle, _Bristle, _Bristle, _Bristle, _Bristle, _Bristle], OnceOrPerLeg]
_Damper = Annotated[Damping, within(0.0, 1e6, "N s/m")]
_DamperPerLeg = Annotated[tuple[_Damper, _Damper, _Damper, _Damper, _Damper, _Damper], OnceOrPerLeg]


class Hose(Section):
    """A hose or cable between base and platform: an isotropic spring and damper."""

    stiffness: Annotated[Stiffness, within(0.0, 1e8, "N/m")]
    """Stiffness, N/m."""
    damping: Annotated[Damping, within(0.0, 1e6, "N s/m")] = 0.0
    """Damping, N s/m."""
    point: _Offset3 = (0.0, 0.0, 0.0)
    """Attachment point on the platform, platform frame, m."""
    rest: _Offset3
    """Position of that point at which the hose is relaxed, base frame, m."""


class PlantFriction(Section):
    """Unmodelled friction of the plant's prismatic joints, added to the mechanism's; one value, or one per leg.

    At speed v ≠ 0, leg length L and axial force F, |force| = (Coulomb force of the direction) + (breakaway of it)
    e^(−|v/`speed`|^`shape`) + load |F| + ripple sin(2π L/`ripple_length` + phase) + viscous
    |v/`viscous_speed`|^`viscous_exponent`.
    """

    extending: BiasPerLeg = _ZEROS
    """Unmodelled Coulomb friction of an extending leg, N; negative: the model has too much."""
    retracting: BiasPerLeg = _ZEROS
    """The same for a retracting leg, N."""
    breakaway_extending: _FrictionPerLeg = _ZEROS
    """Stribeck excess friction near standstill of an extending leg, N."""
    breakaway_retracting: _FrictionPerLeg = _ZEROS
    """The same for a retracting leg, N."""
    speed: Annotated[Speed, within(1e-4, 1.0, "m/s")] = 0.02
    """Stribeck speed, at which the excess has fallen to 1/e, m/s."""
    shape: Annotated[Number, within(0.5, 3.0)] = 2.0
    """Exponent of the Stribeck curve."""
    load: _SharePerLeg = _ZEROS
    """Friction per axial force."""
    viscous: _FrictionPerLeg = _ZEROS
    """Viscous friction at `viscous_speed`, N; a power law of the speed."""
    viscous_speed: Annotated[Speed, within(1e-3, 10.0, "m/s")] = 0.1
    """Reference speed of `viscous`, m/s."""
    viscous_exponent: Annotated[Number, within(0.3, 2.0)] = 1.0
    """Exponent of `viscous`."""
    ripple: _FrictionPerLeg = _ZEROS
    """Amplitude of friction periodic in the leg's length, N."""
    ripple_length: Annotated[Length, within(1e-4, 10.0, "m")] = 0.01
    """Wavelength of `ripple`, m."""
    ripple_phase: _PhasePerLeg = _ZEROS
    """Phase of `ripple` at leg length 0, rad."""
    presliding_stiffness: _BristlePerLeg = _ZEROS
    """Presliding stiffness of all friction, including the mechanism's (Dahl, LuGre), N/m; 0: no presliding, only
    smoothing by `coulomb_speed`."""
    presliding_damping: _DamperPerLeg = _ZEROS
    """Presliding damping (LuGre), N s/m."""
    running_in: Annotated[Number, within(0.0, 5.0)] = 0.0
    """Relative increase of all friction, including the mechanism's, at the start; it falls as
    e^(−t/`running_in_time`)."""
    running_in_time: Annotated[Time, within(0.1, 1e5, "s")] = 60.0
    """Time constant of running in or warming up, s."""

    @model_validator(mode="after")
    def _damping_has_stiffness(self) -> "PlantFriction":
        for leg, (k, d) in enumerate(zip(self.presliding_stiffness, self.presliding_damping, strict=True), start=1):
            if d > 0.0 and k == 0.0:
                raise ValueError(f"presliding_damping {d:g} N s/m of leg {leg}: its presliding_stiffness is 0 N/m")
        return self


_Stribeck = Annotated[Speed, within(1e-4, 1.0, "m/s")]


class Tolerance(Section):
    """Maximum deviations of an as-built machine from its drawing, for `as_built`.

    Masses, inertias and frictions deviate by at least half of theirs, so that no machine equals its drawing. Tolerances
    of 0, and quantities set elsewhere in the configuration, are not drawn.
    """

    mass: _Share = 0.2
    """Relative, each body's mass."""
    center: Annotated[Length, within(0.0, 0.1, "m")] = 3e-3
    """Centre of mass, each axis, m."""
    inertia: _Share = 0.2
    """Relative, each principal second moment of a body's mass about its centre, whose axes may also turn slightly, and
    each drive's inertia."""
    friction: _Share = 0.2
    """Relative, each friction coefficient."""
    joints: Annotated[Length, within(0.0, 0.01, "m")] = 2e-5
    """Joint positions, each axis, m; the default is that of a calibrated geometry."""
    axes: Annotated[Angle, within(0.0, 0.1, "rad")] = 5e-4
    """Directions of the universal joints' axes, rad."""
    length_offset: Annotated[Length, within(0.0, 0.01, "m")] = 2e-5
    """Offset of a drive's reading from its leg's length, m."""
    asymmetry: _Share = 0.15
    """Difference of one direction, as a fraction of the Coulomb friction."""
    breakaway: _Share = 0.3
    """Excess near standstill, as a fraction of the Coulomb friction."""
    stribeck_speeds: tuple[_Stribeck, _Stribeck] = (0.01, 0.03)
    """Minimum and maximum Stribeck speed, m/s."""
    stribeck_shape: Annotated[Number, within(0.0, 1.0)] = 0.0
    """Deviation of the Stribeck exponent from 2."""
    viscous: _Share = 0.0
    """Power-law viscous friction at 0.1 m/s, as a fraction of the Coulomb friction; exponent 0.3 to 2."""
    ripple: _Share = 0.0
    """Amplitude of friction periodic in the leg's length, as a fraction of the Coulomb friction; wavelength 4 to 40
    mm."""
    presliding: Annotated[Length, within(0.0, 1e-3, "m")] = 0.0
    """Presliding displacement of the friction, m."""
    running_in: Annotated[Number, within(0.0, 5.0)] = 0.0
    """Relative increase of friction at the start; time constant 20 to 300 s."""
    load: Annotated[Number, within(0.0, 0.1)] = 5e-3
    """Friction per axial force."""
    cell_gain: Annotated[Number, within(0.0, 0.1)] = 5e-4
    """Relative, a load cell's gain."""
    cell_bias: Annotated[Force, within(0.0, 1e3, "N")] = 0.5
    """Zero of a load cell, N."""
    cell_gain_warming: _Loop = 0.0
    """Relative change of a warm cell's gain."""
    cell_cross_talk: _Loop = 0.0
    """Fraction of a neighbouring leg's force in a cell's reading."""
    cell_curvature: _Loop = 0.0
    """Deviation from linearity at full range, as a fraction of the range."""
    cell_hysteresis: _Loop = 0.0
    """Width of a cell's hysteresis loop, as a fraction of the range."""
    cell_hum: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Amplitude of the mains hum, N."""
    cell_jump: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Size of zero jumps, N; one per 20 to 200 s."""
    cell_spike: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Size of spikes, N; one per 2 to 20 s."""
    tilt: Annotated[Angle, within(0.0, 0.5, "rad")] = 0.0
    """Each angle of the base's tilt against gravity, rad."""
    hose: Annotated[Stiffness, within(0.0, 1e6, "N/m")] = 0.0
    """Stiffness of a hose to the platform's rim, N/m."""

    @model_validator(mode="after")
    def _speeds_in_order(self) -> "Tolerance":
        least, greatest = self.stribeck_speeds
        if least > greatest:
            raise ValueError(f"stribeck_speeds: the least, {least:g} m/s, is above the greatest, {greatest:g} m/s")
        return self


_Tilt = Annotated[Angle, within(-0.5, 0.5, "rad")]


class VirtualPlant(Section):
    """Differences between the plant and the mechanism file, the only model of engine and estimators."""

    engine: Literal["exact", "mujoco"] = "exact"
    """Equations of motion of the plant: the model's, or MuJoCo's, which must be installed."""
    mechanism: Text | None = None
    """Mechanism of the plant: a shipped one, or a file relative to the configuration's folder."""
    as_built: Annotated[Count, Field(ge=0, lt=2**63)] | None = None
    """Seed of an as-built machine, drawn about the mechanism within `tolerance`."""
    tolerance: Tolerance = Tolerance()
    """Maximum deviations of `as_built` from the mechanism."""
    expected_residual: Annotated[Force, within(0.0, 1e6, "N")] | None = None
    """RMS of a leg's residual explained by the plant's deviations or the drives' own loops, N; up to it the model's
    verdict is "expected"."""
    friction: PlantFriction = PlantFriction()
    """Unmodelled friction."""
    leg_stiffness: Annotated[Stiffness, within(1e4, 1e12, "N/m")] | None = None
    """Stiffness between a drive's encoder and its leg's joints, N/m; not given: rigid."""
    backlash: Annotated[Length, within(0.0, 0.01, "m")] = 0.0
    """Play between a drive's encoder and its leg's joints, m."""
    payload: Payload | None = None
    """A body on the platform that is missing in the model."""
    payload_fmu: PayloadFmu | None = None
    """A payload that a foreign FMU computes, see docs/fmi.md."""
    tilt: tuple[_Tilt, _Tilt] = (0.0, 0.0)
    """Tilt of the base against gravity, rad: about its x axis, then about its own y axis."""
    hose: Hose | None = None
    """A hose or cable between base and platform."""
    mass_scale: Annotated[Number, within(0.01, 10.0)] = 1.0
    """Factor on the masses and inertias of the mechanism."""
    coulomb_speed: Smoothing = 1e-3
    """Leg speed below which the plant smooths Coulomb friction, m/s."""

    @model_validator(mode="after")
    def _one_truth(self) -> "VirtualPlant":
        if self.mechanism is not None and self.as_built is not None:
            raise ValueError("mechanism and as_built both say what the plant is: give one of them")
        return self


FAULT_WORDS = {
    "jam": "leg{leg} jammed",
    "brake_slips": "brake{leg} slips",
    "brake_open": "brake{leg} does not close",
    "weak": "drive{leg} is weak",
    "motor_exchanged": "motor{leg} wired to another drive",
    "encoder_exchanged": "encoder{leg} wired to another drive",
    "cell_exchanged": "cell{leg} wired to another channel",
    "force_step": "push on the platform{leg}",
    "payload": "unknown payload",
    "test_load": "test mass on cell{leg}",
    "zero_jump": "zero of cell{leg} jumped",
    "force_reversed": "drive{leg} pushes for pull",
    "temperature": "drive{leg} hot",
    "supply": "supply{leg} low",
    "safe_torque_off": "safe torque off{leg}",
    "torque_stuck": "power stage{leg} stays on",
    "reboot": "drive{leg} restarts",
    "hang": "drive{leg} hangs",
    "encoder_frozen": "encoder{leg} frozen",
    "encoder_jump": "encoder{leg} jumped",
    "encoder_creep": "encoder{leg} creeps",
    "encoder_scale": "encoder{leg} wrong scale",
    "encoder_reversed": "encoder{leg} reversed",
    "encoder_nan": "encoder{leg} without value",
    "cell_nan": "cell{leg} without value",
    "cell_silent": "cell{leg} frozen",
    "cell_saturated": "cell{leg} saturated",
    "cell_offset": "cell{leg} offset",
    "cell_scale": "cell{leg} wrong scale",
    "drop_all": "cable{leg} unplugged",
    "drop_write": "requests{leg} lost",
    "close": "connection{leg} closed",
    "delay": "replies{leg} late",
    "lag": "replies{leg} old",
    "replay": "replies{leg} repeated",
    "rechunk": "replies{leg} split",
    "bit_flip": "replies{leg} garbled",
    "noise": "noise before replies{leg}",
    "busy": "requests{leg} refused",
    "swap_unit": "cable{leg} exchanged",
    "amplifier_drop_write": "amplifier: requests lost",
    "amplifier_close": "amplifier: connection closed",
    "amplifier_delay": "amplifier: replies late",
    "amplifier_lag": "amplifier: replies old",
    "amplifier_replay": "amplifier: replies repeated",
    "amplifier_rechunk": "amplifier: replies split",
    "amplifier_bit_flip": "amplifier: replies garbled",
    "amplifier_noise": "amplifier: noise before replies",
    "amplifier_busy": "amplifier: requests refused",
    "amplifier_drop_all": "amplifier unplugged",
    "amplifier_hang": "amplifier hangs",
    "amplifier_standing": "amplifier stops converting",
    "amplifier_invalid": "amplifier: channel{leg} not valid",
    "io_emergency_stop": "emergency stop pressed",
    "io_emergency_stop_wire": "emergency stop's input open",
    "io_safe_torque_off": "safe torque off opened",
    "io_safe_torque_off_feedback": "safe torque off's feedback open",
    "io_drop_write": "I/O block: requests lost",
    "io_drop_all": "I/O block unplugged",
    "io_delay": "I/O block: replies late",
    "io_bit_flip": "I/O block: replies garbled",
    "io_noise": "I/O block: noise before replies",
    "io_busy": "I/O block: requests refused",
    "io_replay": "I/O block: replies repeated",
    "io_lag": "I/O block: replies old",
    "io_hang": "I/O block hangs",
    "io_rechunk": "I/O block: replies split",
    "io_close": "I/O block: connection closed",
    "sensors_silent": "external sensors silent",
    "sensors_nan": "external sensors without value",
    "owner_hangs": "app frozen",
}
"""Description of every fault by name; {leg} stands for a leg's number, preceded by a space."""


AT_PLATFORM = frozenset({"force_step"})
"""Names of faults that act at the platform's origin if no leg is named, instead of on all six."""


def fault_words(name: str, leg: int | None = None) -> str:
    """Describe a fault, as "cable 3 unplugged"; leg 1…6, None for all, 0 for the whole rig."""
    words = FAULT_WORDS.get(name, name)
    everywhere = leg is None and "{leg}" in words and name not in AT_PLATFORM
    return words.format(leg=f" {leg}" if leg else "") + (", every leg" if everywhere else "")


class InjectedFault(Section):
    """A fault injected into the virtual rig."""

    fault: Text
    """Name of the fault; `faults` at the prompt of `rig operate` lists them."""
    leg: Annotated[Count, Field(ge=1, le=LEGS)] | None = None
    """Leg 1 to 6; not given: all."""
    at: Annotated[Time, within(0.0, 1e6, "s")] = 0.0
    """Rig time of its start, s."""
    duration: Annotated[Time, within(1e-6, 1e6, "s")] | None = None
    """Its duration, s; not given: until it is cleared."""
    value: Annotated[Number, within(-1e9, 1e9)] | None = None
    """Size of the fault, in its own SI unit; not given: the fault's default."""


_ForceBias = Annotated[Number, within(-100.0, 100.0, "m/s²")]
_RateBias = Annotated[Number, within(-10.0, 10.0, "rad/s")]
_Scale = Annotated[Number, within(0.1, 10.0)]
_ClockOffset = Annotated[Time, within(-1e9, 1e9, "s")]


class VirtualSensor(Section):
    """A simulated sensor of [[sensors]], an IMU or a tracker, which sends its readings to the sensor's UDP port."""

    name: Text
    """Name of the sensor in [[sensors]]."""
    force_bias: tuple[_ForceBias, _ForceBias, _ForceBias] = (0.0, 0.0, 0.0)
    """Bias of an IMU's specific force by axis, m/s²."""
    rate_bias: tuple[_RateBias, _RateBias, _RateBias] = (0.0, 0.0, 0.0)
    """Bias of its angular rate by axis, rad/s."""
    force_scale: tuple[_Scale, _Scale, _Scale] = (1.0, 1.0, 1.0)
    """Factor on its specific force by axis."""
    rate_scale: tuple[_Scale, _Scale, _Scale] = (1.0, 1.0, 1.0)
    """Factor on its angular rate by axis."""
    force_noise: Annotated[Number, within(0.0, 1e3, "m/s²/√Hz")] = 0.0
    """Noise density of its specific force, m/s²/√Hz: a reading has this times √(rate/2)."""
    rate_noise: Annotated[Number, within(0.0, 1e3, "rad/s/√Hz")] = 0.0
    """Noise density of its angular rate, rad/s/√Hz."""
    position_noise: Annotated[Length, within(0.0, 1.0, "m")] = 0.0
    """Standard deviation of a tracker's position by axis, m."""
    rotation_noise: Annotated[Angle, within(0.0, 1.0, "rad")] = 0.0
    """Standard deviation of its attitude about each axis, rad."""
    delay: Annotated[Time, within(0.0, 1.0, "s")] = 0.0
    """Time by which a reading is older than its stamp, s."""
    loss: Annotated[Number, within(0.0, 1.0)] = 0.0
    """Part of its readings that is lost on the way."""
    clock_offset: _ClockOffset = 0.0
    """What its own clock is ahead of the plant's by, s."""
    clock_drift: Annotated[Number, within(-1e-2, 1e-2)] = 0.0
    """By how much its own clock is fast, s/s."""


class Virtual(Section):
    """The virtual rig; a configuration without this section describes real hardware."""

    seed: Annotated[Count, Field(ge=0, lt=2**63)] = 1
    """Seed of all random numbers: the same seed gives the same run in lockstep."""
    step: Annotated[Time, within(1e-5, 2e-3, "s")] = 5e-4
    """Integration step of the plant, s."""
    real_time: bool = False
    """Whether the plant runs in real time instead of waiting for the engine."""
    speed: Annotated[Number, within(0.1, 1000.0)] = 1.0
    """Maximum speed of a run in which the plant waits, in multiples of real time."""
    drive: VirtualDrive = VirtualDrive()
    """Properties of the virtual drives."""
    cells: VirtualCells = VirtualCells()
    """Errors of the virtual load cells."""
    plant: VirtualPlant = VirtualPlant()
    """How the simulated machine differs from the mechanism."""
    faults: Annotated[tuple[InjectedFault, ...], Field(max_length=1000)] = ()
    """Faults injected at set times."""
    sensors: Annotated[tuple[VirtualSensor, ...], Field(max_length=32)] = ()
    """Simulated sensors, by their names in [[sensors]]; the others are left to real ones."""

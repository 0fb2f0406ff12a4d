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
    """What a virtual drive and its actuator are like."""

    force_bandwidth: Bandwidth = 300.0
    """-3 dB frequency of the force loop, Hz."""
    delay: Delay = 1e-4
    """Dead time between a command's arrival and its force, s."""
    force_limit: Annotated[Force, within(0.1, 1e7, "N")] = 450.0
    """Largest force of the motor, N."""
    position_resolution: Annotated[Length, within(1e-12, 1e-3, "m")] = 1e-7
    """Step of the encoder, m."""
    homing_speed: Annotated[Speed, within(1e-4, 1.0, "m/s")] = 0.05
    """Speed of a leg that searches its reference, m/s."""
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
    """Damping by which a drive brakes its leg in a quick stop, N s/m."""
    start_spread: Annotated[Length, within(0.0, 0.5, "m")] = 0.01
    """How far from home a leg may stand at power-up, m."""


class VirtualCells(Section):
    """Faults of virtual load cells: reading = gain·force + bias + drift·time + noise; one value, or one per leg.

    The force is what is left of the true one after cross-talk, curvature and hysteresis. Parts of the range are of
    `load_cells.range`.
    """

    gain: GainPerLeg = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    """Factor on the force."""
    bias: BiasPerLeg = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Reading without a force, N."""
    noise: SpreadPerLeg = (0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    """Standard deviation of the noise, N."""
    drift: ForceRatePerLeg = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Rate at which the zero drifts, N/s."""
    warming: BiasPerLeg = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """Reading of a warm cell beyond that of a cold one, N; it grows as 1 − e^(−t/`warming_time`)."""
    warming_time: Annotated[Time, within(0.1, 1e5, "s")] = 300.0
    """Time constant of the warming, s."""
    gain_warming: PartPerLeg = _ZEROS
    """Part of a cold cell's gain by which that of a warm one is greater; it grows as `warming` does."""
    cross_talk: PartPerNeighbour = (
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
        _NO_CROSS_TALK,
    )
    """Part of each of the two neighbouring legs' forces that a cell reads too: one number, one of each leg, or of each
    leg a pair, of the leg before it and of the leg behind it."""
    curvature: PartPerLeg = _ZEROS
    """What a cell reads beyond a straight line at its range, part of the range; it grows with the force's square."""
    hysteresis: LoopPerLeg = _ZEROS
    """Width of the loop of a cell that is loaded and unloaded, part of the range, in its middle and at its widest."""
    lag: Annotated[Time, within(0.0, 0.1, "s")] = 0.0
    """How much later than they act the forces are read, s."""
    resolution: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Step of the readings, N; 0 for none."""
    hum: SpreadPerLeg = _ZEROS
    """Amplitude of the mains' hum, N, its phase by the seed."""
    hum_frequency: Annotated[Frequency, within(0.1, 1e4, "Hz")] = 50.0
    """Frequency of the hum, Hz."""
    jump: SpreadPerLeg = _ZEROS
    """Size of jumps of a cell's zero, N, either way at random; at a stated time: the fault `zero_jump`."""
    jump_rate: _Often = 0.0
    """How often a zero jumps on average, 1/s."""
    spike: SpreadPerLeg = _ZEROS
    """Size of spikes, N, either way at random, each in one reading."""
    spike_rate: _Often = 0.0
    """How often there is a spike on average, 1/s."""

    @model_validator(mode="after")
    def _sizes_have_rates(self) -> "VirtualCells":
        for name in ("jump", "spike"):
            size, rate = max(getattr(self, name)), getattr(self, f"{name}_rate")
            if (size > 0.0) != (rate > 0.0):
                raise ValueError(f"{name} {size:g} N and {name}_rate {rate:g} 1/s: both are above 0, or none")
        return self


_Offset = Annotated[Length, within(-10.0, 10.0, "m")]


class Payload(Section):
    """A rigid body on the platform that the model does not know of."""

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
    """A hose or cable between base and platform: a spring and a damper, alike in every direction."""

    stiffness: Annotated[Stiffness, within(0.0, 1e8, "N/m")]
    """Stiffness, N/m."""
    damping: Annotated[Damping, within(0.0, 1e6, "N s/m")] = 0.0
    """Damping, N s/m."""
    point: _Offset3 = (0.0, 0.0, 0.0)
    """Where it is fixed to the platform, platform frame, m."""
    rest: _Offset3
    """Where that point is when the hose pulls nothing, base frame, m."""


class PlantFriction(Section):
    """Friction of the plant's prismatic joints that the model does not have, beside the mechanism's; once or per leg.

    At speed v ≠ 0, leg length L and axial force F, |force| = (N of the direction) + (breakaway of it)
    e^(−|v/`speed`|^`shape`) + load |F| + ripple sin(2π L/`ripple_length` + phase) + viscous
    |v/`viscous_speed`|^`viscous_exponent`.
    """

    extending: BiasPerLeg = _ZEROS
    """Coulomb friction that the model does not have where the leg extends, N; below zero: has too much of."""
    retracting: BiasPerLeg = _ZEROS
    """The same where it retracts, N."""
    breakaway_extending: _FrictionPerLeg = _ZEROS
    """Stribeck's excess of friction near standstill, N."""
    breakaway_retracting: _FrictionPerLeg = _ZEROS
    """The same where the leg retracts, N."""
    speed: Annotated[Speed, within(1e-4, 1.0, "m/s")] = 0.02
    """Stribeck's speed, at which the excess is down to 1/e, m/s."""
    shape: Annotated[Number, within(0.5, 3.0)] = 2.0
    """Exponent of Stribeck's curve."""
    load: _SharePerLeg = _ZEROS
    """Friction per axial force."""
    viscous: _FrictionPerLeg = _ZEROS
    """Viscous friction at `viscous_speed`, N, that follows a power of the speed."""
    viscous_speed: Annotated[Speed, within(1e-3, 10.0, "m/s")] = 0.1
    """Speed at which it is that, m/s."""
    viscous_exponent: Annotated[Number, within(0.3, 2.0)] = 1.0
    """That power."""
    ripple: _FrictionPerLeg = _ZEROS
    """Amplitude of the friction that follows the leg's length, N."""
    ripple_length: Annotated[Length, within(1e-4, 10.0, "m")] = 0.01
    """Its wave length, m."""
    ripple_phase: _PhasePerLeg = _ZEROS
    """Its phase, rad, at a leg length of 0."""
    presliding_stiffness: _BristlePerLeg = _ZEROS
    """Stiffness of the friction, that of the mechanism too, before it slides (Dahl, LuGre), N/m; 0: it has its size as
    soon as a leg moves, as far as `coulomb_speed` smooths it."""
    presliding_damping: _DamperPerLeg = _ZEROS
    """LuGre's damping of it, N s/m."""
    running_in: Annotated[Number, within(0.0, 5.0)] = 0.0
    """Part by which all friction, that of the mechanism too, is greater at the start, and which falls as
    e^(−t/`running_in_time`)."""
    running_in_time: Annotated[Time, within(0.1, 1e5, "s")] = 60.0
    """Time constant of running in, or of getting warm, s."""

    @model_validator(mode="after")
    def _damping_has_stiffness(self) -> "PlantFriction":
        for leg, (k, d) in enumerate(zip(self.presliding_stiffness, self.presliding_damping, strict=True), start=1):
            if d > 0.0 and k == 0.0:
                raise ValueError(f"presliding_damping {d:g} N s/m of leg {leg}: its presliding_stiffness is 0 N/m")
        return self


_Stribeck = Annotated[Speed, within(1e-4, 1.0, "m/s")]


class Tolerance(Section):
    """How far a machine as built may be from its drawing; what `as_built` draws within.

    Masses, inertias and frictions are off by half of theirs at least, so that no draw is the drawing. What is 0 is not
    drawn; what is given of it elsewhere in the configuration holds, and is not drawn either.
    """

    mass: _Share = 0.2
    """Part of each body's mass."""
    center: Annotated[Length, within(0.0, 0.1, "m")] = 3e-3
    """Centre of mass, each axis, m."""
    inertia: _Share = 0.2
    """Part of each principal second moment of a body's mass about its centre, which may also turn a little."""
    friction: _Share = 0.2
    """Part of each coefficient of friction."""
    joints: Annotated[Length, within(0.0, 0.01, "m")] = 2e-5
    """Places of the joints, each axis, m: of a machine whose geometry is calibrated."""
    axes: Annotated[Angle, within(0.0, 0.1, "rad")] = 5e-4
    """Directions of the universal joints' axes, rad."""
    length_offset: Annotated[Length, within(0.0, 0.01, "m")] = 2e-5
    """What a drive reads beyond its leg's length, m."""
    asymmetry: _Share = 0.15
    """Part of the Coulomb friction by which a direction may differ."""
    breakaway: _Share = 0.3
    """Greatest excess near standstill, part of the Coulomb friction."""
    stribeck_speeds: tuple[_Stribeck, _Stribeck] = (0.01, 0.03)
    """Least and greatest speed at which that is down to 1/e, m/s."""
    stribeck_shape: Annotated[Number, within(0.0, 1.0)] = 0.0
    """By how much the exponent of Stribeck's curve may be off 2."""
    viscous: _Share = 0.0
    """Greatest viscous friction of another power at 0.1 m/s, part of the Coulomb friction; the power is 0.3 to 2."""
    ripple: _Share = 0.0
    """Greatest amplitude of friction that follows the leg's length, part of the Coulomb friction; its waves are of
    4 to 40 mm."""
    presliding: Annotated[Length, within(0.0, 1e-3, "m")] = 0.0
    """Greatest way before friction slides, m."""
    running_in: Annotated[Number, within(0.0, 5.0)] = 0.0
    """Greatest part by which friction is greater at the start; it falls in 20 to 300 s."""
    load: Annotated[Number, within(0.0, 0.1)] = 5e-3
    """Greatest friction per axial force."""
    cell_gain: Annotated[Number, within(0.0, 0.1)] = 5e-4
    """Part of a load cell's gain."""
    cell_bias: Annotated[Force, within(0.0, 1e3, "N")] = 0.5
    """Zero of a load cell, N."""
    cell_gain_warming: _Loop = 0.0
    """Part by which a warm cell's gain is off that of a cold one."""
    cell_cross_talk: _Loop = 0.0
    """Part of a neighbouring leg's force that a cell reads too."""
    cell_curvature: _Loop = 0.0
    """What a cell is off a straight line at its range, part of the range."""
    cell_hysteresis: _Loop = 0.0
    """Greatest width of a cell's loop, part of the range."""
    cell_hum: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Greatest amplitude of the hum, N."""
    cell_jump: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Greatest size of jumps of the zero, N; one comes in 20 to 200 s."""
    cell_spike: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Greatest size of spikes, N; one comes in 2 to 20 s."""
    tilt: Annotated[Angle, within(0.0, 0.5, "rad")] = 0.0
    """Each angle by which the base is turned against gravity, rad."""
    hose: Annotated[Stiffness, within(0.0, 1e6, "N/m")] = 0.0
    """Greatest stiffness of a hose to the platform's rim, N/m."""

    @model_validator(mode="after")
    def _speeds_in_order(self) -> "Tolerance":
        least, greatest = self.stribeck_speeds
        if least > greatest:
            raise ValueError(f"stribeck_speeds: the least, {least:g} m/s, is above the greatest, {greatest:g} m/s")
        return self


_Tilt = Annotated[Angle, within(-0.5, 0.5, "rad")]


class VirtualPlant(Section):
    """How the plant differs from the mechanism file, which is all that engine and estimators know."""

    engine: Literal["exact", "mujoco"] = "exact"
    """Whose equations of motion move the plant: those of the model, or MuJoCo's, which have to be installed."""
    mechanism: Text | None = None
    """The plant's own mechanism: one that comes along, or a file relative to the configuration's folder."""
    as_built: Annotated[Count, Field(ge=0, lt=2**63)] | None = None
    """Seed of a machine as built, drawn about the mechanism within `tolerance`."""
    tolerance: Tolerance = Tolerance()
    """How far `as_built` may be from the mechanism."""
    expected_residual: Annotated[Force, within(0.0, 1e6, "N")] | None = None
    """RMS of a leg's residual that the plant's departures explain, N: up to it the model's verdict is "expected"."""
    friction: PlantFriction = PlantFriction()
    """Friction that the model does not have."""
    leg_stiffness: Annotated[Stiffness, within(1e4, 1e12, "N/m")] | None = None
    """Between a drive's encoder and its leg's joints, N/m; not given: rigid."""
    backlash: Annotated[Length, within(0.0, 0.01, "m")] = 0.0
    """Play between a drive's encoder and its leg's joints, m."""
    payload: Payload | None = None
    """A body on the platform that the model does not know of."""
    tilt: tuple[_Tilt, _Tilt] = (0.0, 0.0)
    """By how much the base is turned against gravity, rad: about its x axis, then about its own y axis."""
    hose: Hose | None = None
    """A hose or cable between base and platform."""
    mass_scale: Annotated[Number, within(0.01, 10.0)] = 1.0
    """Factor on the plant's masses and inertias, against those of the mechanism."""
    coulomb_speed: Smoothing = 1e-3
    """Leg speed over which the plant smooths Coulomb friction, m/s."""

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
    """A fault that the virtual rig makes happen."""

    fault: Text
    """Name of the fault; `faults` at the prompt of `rig operate` lists them."""
    leg: Annotated[Count, Field(ge=1, le=LEGS)] | None = None
    """Leg 1 to 6; not given: all."""
    at: Annotated[Time, within(0.0, 1e6, "s")] = 0.0
    """Rig time at which it begins, s."""
    duration: Annotated[Time, within(1e-6, 1e6, "s")] | None = None
    """How long it lasts, s; not given: until it is cleared."""
    value: Annotated[Number, within(-1e9, 1e9)] | None = None
    """Size of the fault, in its own SI unit; not given: the fault's usual one."""


class Virtual(Section):
    """The virtual rig; a configuration without this section speaks of real hardware."""

    seed: Annotated[Count, Field(ge=0, lt=2**63)] = 1
    """Seed of all that is random: the same seed gives the same run in lockstep."""
    step: Annotated[Time, within(1e-5, 2e-3, "s")] = 5e-4
    """Integration step of the plant, s."""
    real_time: bool = False
    """Whether the plant keeps to the wall clock, as a machine does, rather than to the engine that paces it."""
    speed: Annotated[Number, within(0.1, 1000.0)] = 1.0
    """How many times as fast as the wall clock a paced run goes at most."""
    drive: VirtualDrive = VirtualDrive()
    """What the virtual drives are like."""
    cells: VirtualCells = VirtualCells()
    """Errors of the virtual load cells."""
    plant: VirtualPlant = VirtualPlant()
    """How the simulated machine differs from the mechanism."""
    faults: Annotated[tuple[InjectedFault, ...], Field(max_length=1000)] = ()
    """Faults that are injected at stated times."""

"""The virtual rig's section of a configuration: its drives, cells, plant and faults."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from kinematics import Angle, Damping, Force, ForceRate, Length, Mass, Number, Speed, Stiffness, Time, within
from rig.config.sections import LEGS, Bandwidth, Count, Delay, Section, Smoothing, Text


def _once_or_per_leg(value: object) -> object:
    return value if isinstance(value, (list, tuple)) else [value] * LEGS


_Gain = Annotated[Number, within(-1e3, 1e3)]
_Bias = Annotated[Force, within(-1e6, 1e6, "N")]
_Spread = Annotated[Force, within(0.0, 1e5, "N")]
_Rate = Annotated[ForceRate, within(-1e5, 1e5, "N/s")]
_OnceOrPerLeg = BeforeValidator(_once_or_per_leg)
GainPerLeg = Annotated[tuple[_Gain, _Gain, _Gain, _Gain, _Gain, _Gain], _OnceOrPerLeg]
BiasPerLeg = Annotated[tuple[_Bias, _Bias, _Bias, _Bias, _Bias, _Bias], _OnceOrPerLeg]
SpreadPerLeg = Annotated[tuple[_Spread, _Spread, _Spread, _Spread, _Spread, _Spread], _OnceOrPerLeg]
ForceRatePerLeg = Annotated[tuple[_Rate, _Rate, _Rate, _Rate, _Rate, _Rate], _OnceOrPerLeg]


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
    """Faults of virtual load cells: reading = gain·force + bias + drift·time + noise; one value, or one per leg."""

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
    cross_talk: Annotated[Number, within(0.0, 0.2)] = 0.0
    """Part of each of the two neighbouring legs' forces that a cell reads too."""
    lag: Annotated[Time, within(0.0, 0.1, "s")] = 0.0
    """How much later than they act the forces are read, s."""
    resolution: Annotated[Force, within(0.0, 1e3, "N")] = 0.0
    """Step of the readings, N; 0 for none."""


_Offset = Annotated[Length, within(-10.0, 10.0, "m")]


class Payload(Section):
    """A rigid body on the platform that the model does not know of."""

    mass: Annotated[Mass, within(1e-6, 1e5, "kg")]
    """Mass, kg."""
    center_of_mass: tuple[_Offset, _Offset, _Offset] = (0.0, 0.0, 0.0)
    """Centre of mass in the platform frame, m."""


_Friction = Annotated[Force, within(0.0, 1e5, "N")]
_FrictionPerLeg = Annotated[tuple[_Friction, _Friction, _Friction, _Friction, _Friction, _Friction], _OnceOrPerLeg]
_Share = Annotated[Number, within(0.0, 0.5)]
_SharePerLeg = Annotated[tuple[_Share, _Share, _Share, _Share, _Share, _Share], _OnceOrPerLeg]
_NONE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class PlantFriction(Section):
    """Friction of the plant's prismatic joints that the model does not have, beside the mechanism's; once or per leg.

    At speed v ≠ 0 and axial force F, |force| = (N of the direction) + (breakaway of it) e^(−(v/`speed`)²) + load |F|.
    """

    extending: BiasPerLeg = _NONE
    """Coulomb friction that the model does not have where the leg extends, N; below zero: has too much of."""
    retracting: BiasPerLeg = _NONE
    """The same where it retracts, N."""
    breakaway_extending: _FrictionPerLeg = _NONE
    """Stribeck's excess of friction near standstill, N."""
    breakaway_retracting: _FrictionPerLeg = _NONE
    """The same where the leg retracts, N."""
    speed: Annotated[Speed, within(1e-4, 1.0, "m/s")] = 0.02
    """Stribeck's speed, at which the excess is down to 1/e, m/s."""
    load: _SharePerLeg = _NONE
    """Friction per axial force."""


class Tolerance(Section):
    """How far a machine as built may be from its drawing; what `as_built` draws within.

    Masses, inertias and frictions are off by half of theirs at least, so that no draw is the drawing.
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
    load: Annotated[Number, within(0.0, 0.1)] = 5e-3
    """Greatest friction per axial force."""
    cell_gain: Annotated[Number, within(0.0, 0.1)] = 5e-4
    """Part of a load cell's gain."""
    cell_bias: Annotated[Force, within(0.0, 1e3, "N")] = 0.5
    """Zero of a load cell, N."""


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
    "cell_silent": "cell{leg} stands still",
    "cell_saturated": "cell{leg} at end of scale",
    "cell_offset": "cell{leg} off",
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
    "amplifier_standing": "amplifier converts nothing",
    "amplifier_invalid": "amplifier: channel{leg} not valid",
    "owner_hangs": "app stands still",
}
"""Every fault as a person calls it, by name; {leg} stands for a leg's number, with a space before it."""


AT_PLATFORM = frozenset({"force_step"})
"""Names of faults that act at the platform's origin where no leg is named, and not at all six."""


def fault_words(name: str, leg: int | None = None) -> str:
    """A fault in words, as "cable 3 unplugged"; the leg (1…6) is none for all, 0 for the whole rig."""
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

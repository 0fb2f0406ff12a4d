"""Objective Motion Cueing Test: gain and phase of what is sensed on the platform, by axis and frequency.

After ICAO Doc 9625, Manual of Criteria for the Qualification of Flight Simulation Training Devices, third edition,
attachment F, "frequency-domain motion cueing system performance test"; see Hosman and Advani, Aeronautical Journal 120
(2016), and Stroosma, van Paassen, Mulder, Hosman and Advani, AIAA 2013-4834. Theirs: sines one at a time, the twelve
frequencies, the ten tests of direct and cross responses. This project's reading: the amplitudes, the units of the cross
responses, rotation without a change of the specific force, and the classes of `Fidelity`. The standard's own boundaries
are not reproduced.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynamics import Mechanism
from kinematics import COORDINATES, FLAGS, Array, Tuning, pose_to_coordinates, quaternion_to_matrix
from rig.config import Safety
from rig.cueing.cueing import sensed_at
from rig.errors import InputError
from rig.streaming import washout_of

Complex = npt.NDArray[np.complex128]

FREQUENCIES = 10.0 ** (-1.0 + 0.2 * np.arange(12))
"""The twelve frequencies, 0.1 to 15.849 rad/s."""
FORCE_AMPLITUDE = 1.0
"""m/s², of an input of specific force."""
_ANGLE, _RATE, _ACCELERATION = np.radians([6.0, 1.0, 10.0])
"""Least of these is the amplitude of an input of rotation: rad, rad/s, rad/s²."""
AXES = ("surge", "sway", "heave", "roll", "pitch", "yaw")
"""Inputs and outputs: specific force along x, y, z and rotation about them."""


@dataclass(frozen=True, slots=True)
class AxisTest:
    """One of the ten tests: its number, its input and its output of AXES."""

    number: int
    input: int
    output: int

    @property
    def name(self) -> str:
        """Return "surge", or "pitch to surge" of a cross response."""
        return AXES[self.input] if self.input == self.output else f"{AXES[self.input]} to {AXES[self.output]}"

    @property
    def direct(self) -> bool:
        """Whether input and output are of the same axis."""
        return self.input == self.output

    @property
    def unit(self) -> str:
        """Unit of the gain: rotations are angular accelerations."""
        kinds = "translation" if self.output < 3 else "rotation", "translation" if self.input < 3 else "rotation"
        return {("translation", "rotation"): "(m/s²)/(rad/s²)", ("rotation", "translation"): "(rad/s²)/(m/s²)"}.get(
            kinds, ""
        )


TESTS = tuple(
    AxisTest(number, AXES.index(given), AXES.index(sensed))
    for number, (given, sensed) in enumerate(
        (
            ("pitch", "pitch"), ("pitch", "surge"), ("roll", "roll"), ("roll", "sway"), ("yaw", "yaw"),
            ("surge", "surge"), ("surge", "pitch"), ("sway", "sway"), ("sway", "roll"), ("heave", "heave"),
        ),
        start=1,
    )
)  # fmt: skip
"""The ten tests."""

Level = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Gain and phase of a direct response at 1 rad/s, and their class.

    The plane of gain and phase distortion at 1 rad/s with three classes is that of Sinacori (1977) and Schroeder
    (NASA TP-1999-208766); the numbers of the boundaries are this project's reading: high from a gain of 0.8 to 1.2 with
    at most 20°, medium from 0.4 to 1.6 with at most 40°.
    """

    name: str
    gain: float
    phase: float
    """rad"""

    @property
    def level(self) -> Level:
        """Return the class."""
        degrees = abs(np.degrees(self.phase))
        if 0.8 <= self.gain <= 1.2 and degrees <= 20.0:
            return "high"
        return "medium" if 0.4 <= self.gain <= 1.6 and degrees <= 40.0 else "low"


@dataclass(frozen=True, slots=True, eq=False)
class RigResponse:
    """Measured response of the rig's pose to its reference along one coordinate, from `rig respond --json`.

    dof: x, y, z, rx, ry or rz. frequency (k,) Hz, gain (k,) complex.
    """

    source: str
    dof: str
    frequency: Array
    gain: Complex

    def at(self, omega: Array) -> Complex:
        """Return the response at angular frequencies (n,) rad/s, not a number above the highest measured one.

        Interpolated in magnitude and phase. Below the lowest measured frequency: that one's gain, and a phase in
        proportion to the frequency, as a dead time has.
        """
        frequency = omega / (2.0 * np.pi)
        magnitude = np.interp(frequency, self.frequency, np.abs(self.gain))
        phase = np.interp(frequency, self.frequency, np.unwrap(np.angle(self.gain)))
        phase = np.where(frequency < self.frequency[0], phase * frequency / self.frequency[0], phase)
        found: Complex = np.where(frequency > self.frequency[-1], np.nan, magnitude * np.exp(1j * phase))
        return found


def read_response(path: Path) -> RigResponse:
    """Read a response of the pose that `rig respond --json` has written.

    Raises:
        InputError: no such file, or its content.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        pose = found["pose"]
        frequency = np.array(pose["frequency_hz"], dtype=np.float64)
        gain = np.array(pose["magnitude"]) * np.exp(1j * np.array(pose["phase_rad"]))
        dof = found["dof"]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: is no response of a pose, as `rig respond RECORDING --json` writes it") from None
    valid = (
        dof in COORDINATES and frequency.ndim == 1 and frequency.shape == gain.shape and len(frequency) > 0
        and np.isfinite(frequency).all() and np.isfinite(gain).all() and frequency[0] > 0.0
        and (np.diff(frequency) > 0.0).all()
    )  # fmt: skip
    if not valid:
        raise InputError(f"{path}: a response needs a coordinate, and gains at increasing frequencies above 0 Hz")
    return RigResponse(str(path), dof, frequency, gain)


@dataclass(frozen=True, eq=False)
class ObjectiveTest:
    """Result of the test: complex gains at the twelve frequencies.

    gains (6 outputs, 6 inputs, 12) of AXES: m/s² and rad/s². with_rig: the same with the rig's own response, or None.
    distortion (6, 12): of each input's direct output, the part that is not at the input's frequency, of the whole.
    limited (6, 12): share of the steps in which a leg's bound, an input's or the tilt's limit changed the motion.
    """

    rate: float
    gains: Complex
    with_rig: Complex | None
    distortion: Array
    limited: Array
    responses: tuple[RigResponse, ...]

    def response(self, test: AxisTest, *, rig: bool = False) -> Complex:
        """Return the gains (12,) of a test, of the washout or with the rig's response."""
        gains = self.with_rig if rig and self.with_rig is not None else self.gains
        found: Complex = gains[test.output, test.input]
        return found

    @cached_property
    def fidelity(self) -> tuple[Fidelity, ...]:
        """Classes of the direct responses."""
        place = int(np.argmin(np.abs(FREQUENCIES - 1.0)))
        direct = [(test, complex(self.response(test)[place])) for test in TESTS if test.direct]
        return tuple(Fidelity(test.name, abs(gain), float(np.angle(gain))) for test, gain in direct)


def objective_test(
    mechanism: Mechanism,
    safety: Safety,
    tuning: Tuning,
    rate: float,
    responses: tuple[RigResponse, ...] = (),
    report: Callable[[float], None] = lambda _fraction: None,
) -> ObjectiveTest:
    """Run the test on a machine's washout, sine by sine.

    Raises:
        InputError: two responses of one coordinate; see also `washout_of`.
    """
    known = {one.dof: one for one in responses}
    if len(known) < len(responses):
        raise InputError(f"responses of the rig: two of one coordinate, {', '.join(one.dof for one in responses)}")
    washout = washout_of(mechanism, safety, tuning, rate)
    gravity = np.asarray(mechanism.gravity, dtype=np.float64)
    size, head = float(np.linalg.norm(gravity)), np.array(tuning.head)
    sign = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0]) if tuning.axes == "z-down" else np.ones(6)
    gains = np.empty((6, 6, len(FREQUENCIES)), dtype=np.complex128)
    with_rig = np.empty_like(gains)
    distortion, limited = np.empty((6, len(FREQUENCIES))), np.empty((6, len(FREQUENCIES)))
    changing = sum(FLAGS.values())  # every bit
    for axis in range(6):
        for place, omega in enumerate(FREQUENCIES):
            amplitude = FORCE_AMPLITUDE if axis < 3 else min(_ANGLE * omega, _RATE, _ACCELERATION / omega)
            period = 2.0 * np.pi / omega
            settling = ceil(max(_SETTLING, period) / period)  # whole periods, so that the sine begins at zero
            counted = max(2, ceil(_COUNTED / period))
            steps = round((settling + counted) * period * rate)
            times = np.arange(steps) / rate
            samples = np.zeros((steps, 6))
            samples[:, 2] = size
            samples[:, axis] += amplitude * np.sin(omega * times)
            washout.reset()
            motions, flags = washout.run(samples * sign)
            kept = slice(round(settling * period * rate), None)
            sensed = sensed_at(motions[kept], head, gravity)
            basis = np.column_stack(
                [np.sin(omega * times[kept]), np.cos(omega * times[kept]), np.ones(len(times[kept]))]
            )
            found, *_ = np.linalg.lstsq(basis, sensed, rcond=None)
            phasors = (found[0] + 1j * found[1]) / amplitude
            rest = sensed[:, axis] - basis @ found[:, axis]
            whole = float(np.std(sensed[:, axis]))
            distortion[axis, place] = float(np.std(rest)) / whole if whole > 0.0 else 0.0
            limited[axis, place] = float(np.mean(flags[kept] & changing != 0))
            moved = _coordinates(mechanism, motions[kept], head)
            found, *_ = np.linalg.lstsq(basis, moved, rcond=None)
            factor = np.array([known[name].at(np.array([omega]))[0] if name in known else 1.0 for name in COORDINATES])
            changed = (found[0] + 1j * found[1]) / amplitude * (factor - 1.0)
            added = np.empty(6, dtype=np.complex128)
            added[:3] = -(omega**2) * changed[:3]
            added[0] -= size * changed[4]
            added[1] += size * changed[3]
            added[3:] = 1j * omega * changed[3:]
            scale = _to_accelerations(axis, omega)
            gains[:, axis, place] = phasors * scale
            with_rig[:, axis, place] = (phasors + added) * scale
            report((axis * len(FREQUENCIES) + place + 1) / (6 * len(FREQUENCIES)))
    return ObjectiveTest(rate, gains, with_rig if known else None, distortion, limited, responses)


_SETTLING, _COUNTED = 15.0, 4.0
"""s: before what is evaluated, and evaluated, at least; and at least one and two periods"""


def _coordinates(mechanism: Mechanism, motions: Array, head: Array) -> Array:
    """Place of the head from home, and the angles (n, 6), in the axes at home, as they are near home."""
    home = mechanism.geometry.home_pose
    back = quaternion_to_matrix(home[3:])
    place = motions[:, :3] + quaternion_to_matrix(motions[:, 3:7]) @ head - home[:3] - back @ head
    return np.hstack([place @ back, pose_to_coordinates(motions[:, :7])[:, 3:]])


def _to_accelerations(axis: int, omega: float) -> Complex:
    """Factors (6,) from rates to angular accelerations, of output over input."""
    outputs = np.array([1.0, 1.0, 1.0, 1j * omega, 1j * omega, 1j * omega])
    factors: Complex = outputs / (1.0 if axis < 3 else 1j * omega)
    return factors


def axis_record(test: AxisTest, found: ObjectiveTest) -> dict[str, Any]:
    """Return a test as a JSON object: magnitude, phase rad, and the same with the rig."""
    record: dict[str, Any] = {
        "number": test.number, "name": test.name, "input": AXES[test.input], "output": AXES[test.output],
        "unit": test.unit,
    }  # fmt: skip
    for suffix, rig in (("", False), *((("_with_rig", True),) if found.with_rig is not None else ())):
        gains = found.response(test, rig=rig)
        phase = np.angle(gains)
        record[f"magnitude{suffix}"] = [None if np.isnan(one) else float(one) for one in np.abs(gains)]
        record[f"phase_rad{suffix}"] = [None if np.isnan(one) else float(one) for one in phase]
    return record

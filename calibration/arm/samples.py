"""Measured positions and drive forces of an arm, filtered without phase, with speeds and accelerations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.arm.torque_model import BODY, TorqueModel, body_regressor
from calibration.errors import CalibrationError
from dynamics import serial
from kinematics import Array

FILTER_ORDER = 4
"""of the Butterworth low-pass, once forward and once backward"""
_ABOVE_MOTION, _LEAST_ABOVE = 15.0, 5.0
"""cut-off over the frequency of the motion: as chosen, and at least"""
_MOTION_POWER = 0.99
"""part of a speed's power below the frequency of the motion"""
_NOISE_SHARE = 0.03
"""of an acceleration's RMS, greatest share of noise that a chosen cut-off lets pass"""
_NYQUIST = 0.8
"""highest cut-off, of half the rate"""
_KEPT = 2.5
"""kept samples in a period of the cut-off"""
_EDGE = 2.0
"""periods of the cut-off that are cut at both ends"""
_LEAST_ROWS = 100
_LEAST_TRAVEL = 1e-3  # rad or m
_CLIPPED = 20  # samples in a row


@dataclass(frozen=True, slots=True, eq=False)
class ArmRecord:
    """One motion of an arm, as measured at constant `rate`, Hz.

    positions (N, n) of the joints, rad or m. drives (N, n): what each drive exerts, at its own joint: gear ratio times
    motor torque, N m or N; joint forces are Gᵀ diag(G)⁻¹ of it. load: m, h, J (10,) of a body that was mounted on the
    last link, in its frame and about its origin; None without one. source: what messages call it; begin: s, its first
    sample.
    """

    rate: float
    positions: Array
    drives: Array
    load: Array | None = None
    source: str = "data"
    begin: float = 0.0


def drive_matrix(arm: serial.Arm) -> Array:
    """D (n, n) with drive forces D τ of joint forces τ, see `ArmRecord`: diag(G) G⁻ᵀ."""
    ratios = arm.motor_ratios
    forces: Array = np.diag(ratios)[:, np.newaxis] * np.linalg.inv(ratios).T
    return forces


@dataclass(frozen=True, slots=True, eq=False)
class ArmSamples:
    """Filtered states and drive forces at the kept rows, all records in order.

    t, q, qd, qdd, drives: (T,) and (T, n). record (T,): number of the record. known (T, n): drive forces of known
    loads. rate: Hz, of the kept rows. cutoff: Hz. Friction is filtered as the forces are, from `fine`: q̇ and q̈ at all
    rows and the kept rows' places, of each record.
    """

    arm: serial.Arm
    t: Array
    q: Array
    qd: Array
    qdd: Array
    drives: Array
    known: Array
    record: NDArray[np.intp]
    rate: float
    cutoff: float
    fine: tuple[tuple[Array, Array, NDArray[np.intp], float], ...]

    @property
    def joint_forces(self) -> Array:
        """Measured joint forces τ (T, n) under the stated gains."""
        forces: Array = self.drives @ np.linalg.inv(drive_matrix(self.arm)).T
        return forces

    def columns(self, model: TorqueModel, body_rows: Array | None = None, bodies: Array | None = None) -> Array:
        """Drive forces (T, n, p) as a regressor of the model's unknowns.

        body_rows: `body_regressor` at these samples, if it is known already. bodies: (10 n,) numbers of all bodies by
        which the term "load" is formed, with the known load.
        """
        rows = body_regressor(model.arm, self.q, self.qd, self.qdd) if body_rows is None else body_rows
        values = np.concatenate(
            [low_pass(model.drive_values(qd, qdd), self.cutoff, rate)[kept] for qd, qdd, kept, rate in self.fine]
        )
        parts = [rows, values[:, np.newaxis, :] * model.drive_rows.T]
        if "load" in model.terms:
            if bodies is None:
                raise ValueError('bodies: None, needed by the term "load"')
            carried = rows @ bodies + self.known @ np.linalg.inv(drive_matrix(self.arm)).T
            parts.append(model.load_columns(self.signs(model), carried))
        columns: Array = np.einsum("jk,tkp->tjp", drive_matrix(self.arm), np.concatenate(parts, axis=2))
        return columns

    def signs(self, model: TorqueModel) -> Array:
        """The model's smoothed signs of speed (T, number of its sides), filtered as the forces are."""
        return np.concatenate(
            [low_pass(model.smoothed_sign(qd), self.cutoff, rate)[kept] for qd, _, kept, rate in self.fine]
        )


def prepare(arm: serial.Arm, records: Sequence[ArmRecord], cutoff: float | None = None) -> ArmSamples:
    """Filter records, differentiate positions and keep rows at 2.5 times the cut-off.

    A Butterworth low-pass of fourth order forward and backward, so without phase, on positions and forces alike;
    central differences; two periods of the cut-off are cut at both ends. cutoff: Hz; None: `chosen_cutoff`.

    Raises CalibrationError with all faults: shapes, a joint that does not move, a force that is constant or at the end
    of its scale, a record that is too short, a cut-off that the rate does not allow.
    """
    if not records:
        raise CalibrationError("no data are given")
    faults = [fault for record in records for fault in _faults(arm, record)]
    if faults:
        raise CalibrationError(faults)
    least = min(record.rate for record in records)
    if cutoff is None:
        cutoff = min(chosen_cutoff(record) for record in records)
    elif not 0.0 < cutoff <= _NYQUIST * 0.5 * least:
        raise CalibrationError(
            f"cut-off: {cutoff:g} Hz, must be above 0 and at most {_NYQUIST * 0.5 * least:g} Hz at a rate of "
            f"{least:g} Hz"
        )
    parts, fine = [], []
    for number, record in enumerate(records):
        q = low_pass(record.positions, cutoff, record.rate)
        qd = np.gradient(q, 1.0 / record.rate, axis=0)
        qdd = np.gradient(qd, 1.0 / record.rate, axis=0)
        edge = int(np.ceil(_EDGE * record.rate / cutoff))
        step = max(1, int(record.rate / (_KEPT * cutoff)))
        kept = np.arange(edge, len(q) - edge, step)
        if len(kept) < _LEAST_ROWS:
            raise CalibrationError(
                f"{record.source}: {len(q) / record.rate:.3g} s leave {len(kept)} rows at a cut-off of {cutoff:g} Hz, "
                f"at least {_LEAST_ROWS} are needed: give a longer motion"
            )
        forces = low_pass(record.drives, cutoff, record.rate)[kept]
        known = np.zeros_like(forces)
        if record.load is not None:
            rows = body_regressor(arm, q[kept], qd[kept], qdd[kept])[:, :, -BODY:]
            known = rows @ record.load @ drive_matrix(arm).T
        t = record.begin + kept / record.rate
        parts.append((t, q[kept], qd[kept], qdd[kept], forces, known, np.full(len(kept), number)))
        fine.append((qd, qdd, kept, record.rate))
    columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
    t, q, qd, qdd, drives, known, which = columns
    rate = min(record.rate / max(1, int(record.rate / (_KEPT * cutoff))) for record in records)
    return ArmSamples(arm, t, q, qd, qdd, drives, known, which, rate, cutoff, tuple(fine))


def chosen_cutoff(record: ArmRecord) -> float:
    """Cut-off of the low-pass, Hz, by a record's positions alone.

    Fifteen times the frequency below which 99 % of a speed's power is, of the fastest joint; less where the noise of
    the positions would be more than 3 % of an acceleration, but at least five times that frequency; at most 0.8 of
    half the rate.
    """
    count, rate = len(record.positions), record.rate
    window = np.hanning(count)[:, np.newaxis]
    frequency = np.fft.rfftfreq(count, 1.0 / rate)
    centred = (record.positions - record.positions.mean(axis=0)) * window
    power = np.abs(np.fft.rfft(centred, axis=0)) ** 2
    floor = np.median(power[frequency > 0.4 * rate], axis=0)
    omega = 2.0 * np.pi * frequency
    speed = np.cumsum(np.maximum(power - floor, 0.0) * omega[:, np.newaxis] ** 2, axis=0)
    motion = max(
        float(frequency[np.searchsorted(speed[:, j], _MOTION_POWER * speed[-1, j])]) for j in range(power.shape[1])
    )
    best = _ABOVE_MOTION * motion
    noise = np.cumsum(omega**4)[:, np.newaxis] * floor
    within = frequency <= _LEAST_ABOVE * motion
    moved = np.sum(np.maximum(power - floor, 0.0)[within] * omega[within, np.newaxis] ** 4, axis=0)
    loud = (noise > _NOISE_SHARE**2 * moved).any(axis=1)
    if loud.any():
        best = min(best, float(frequency[int(np.argmax(loud))]))
    return float(min(max(best, _LEAST_ABOVE * motion), _NYQUIST * 0.5 * rate))


def _faults(arm: serial.Arm, record: ArmRecord) -> list[str]:
    n = len(arm.joints)
    shape = (len(record.positions), n)
    if record.positions.shape != shape or record.drives.shape != shape:
        return [
            f"{record.source}: positions {record.positions.shape}, forces {record.drives.shape}: {arm.name} has {n} "
            "joints"
        ]
    if not (np.isfinite(record.rate) and record.rate > 0.0):
        return [f"{record.source}: rate {record.rate} Hz, must be finite and above 0"]
    if not (np.isfinite(record.positions).all() and np.isfinite(record.drives).all()):
        return [f"{record.source}: positions or forces that are not finite"]
    faults = []
    for j, joint in enumerate(arm.joints):
        unit = "rad" if joint.revolute else "m"
        travel = float(np.ptp(record.positions[:, j]))
        if travel < _LEAST_TRAVEL:
            faults.append(
                f"{record.source}: {joint.name} moves by {travel:.2g} {unit}, at least {_LEAST_TRAVEL:g} {unit} are "
                "needed"
            )
        forces = record.drives[:, j]
        if np.ptp(forces) == 0.0:
            faults.append(f"{record.source}: the force of {joint.name} is {forces[0] + 0.0:g} throughout")
            continue
        for end, name in ((forces.max(), "greatest"), (forces.min(), "least")):
            longest = _longest_run(forces == end)
            if longest >= max(_CLIPPED, round(5e-3 * record.rate)):
                faults.append(
                    f"{record.source}: the force of {joint.name} stays at its {name} value {end:g} for {longest} "
                    "samples: at the end of its scale"
                )
    return faults


def _longest_run(flags: NDArray[np.bool_]) -> int:
    """Length of the longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def low_pass(values: Array, cutoff: float, rate: float) -> Array:
    """Values (N, …) through a Butterworth low-pass forward and backward; unchanged at or above half the rate."""
    from scipy.signal import butter, sosfiltfilt  # takes long to import, and few need it

    if cutoff >= 0.5 * rate:
        return values
    filtered: Array = sosfiltfilt(butter(FILTER_ORDER, cutoff, fs=rate, output="sos"), values, axis=0)
    return filtered

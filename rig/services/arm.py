"""A serial arm: its dynamics applied to motions in joint space, simulation, computed torque, and operation counts."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dynamics import papers, serial
from kinematics import (
    Array,
    Axes,
    InputFileError,
    NumberTextError,
    load_joint_trajectory,
    parse_toml,
    read_list,
    read_text,
)
from rig.config import gain_findings
from rig.csvio import check_folder, check_output, read_table, write_table
from rig.errors import FieldError, InputError, RefusedError
from rig.findings import Code, Finding
from rig.services.arm_figures import FORMATS, JointPlot, write_joint_plots
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

USUAL_RATE = 500.0
"""Samples of a trajectory file, Hz."""
USUAL_SAMPLING = 100.0
"""Sampling of the controller, Hz: 000 has 10 ms."""
USUAL_STIFFNESS, USUAL_DAMPING = 100.0, 20.0
"""K_p 1/s² and K_v 1/s of 000: both poles at 10 rad/s."""
_COMPILED_TITLE = "Newton–Euler, compiled, drives included"
_FASTEST = 100_000.0  # Hz
_MOST_SAMPLES = 2_000_000
_EVEN = 1e-6  # relative, of two sampling periods


def joint_columns(prefix: str, joints: int) -> tuple[str, ...]:
    """Return column names of the joints: `joint_columns("q", 3)` is q1, q2, q3."""
    return tuple(f"{prefix}{joint}" for joint in range(1, joints + 1))


def motion_columns(joints: int) -> tuple[str, ...]:
    """Return the columns of a motion in joint space: q1…qn, qd1…qdn, qdd1…qddn."""
    return tuple(name for prefix in ("q", "qd", "qdd") for name in joint_columns(prefix, joints))


def arm_axes(arm: serial.Arm) -> Axes:
    """Return names and units of an arm's joints."""
    return Axes(tuple(x.name for x in arm.joints), tuple("rad" if x.revolute else "m" for x in arm.joints))


@dataclass(frozen=True, slots=True, eq=False)
class JointMotion:
    """A motion in joint space: times (m,) s; q, qd, qdd (m, n), rad or m, and per s."""

    times: Array
    q: Array
    qd: Array
    qdd: Array


def read_joint_motion(arm: serial.Arm, path: Path, rate: float) -> JointMotion:
    """Read a motion of an arm: a table (CSV) as it is, or a trajectory file (TOML) sampled at `rate` Hz.

    Its samples are evenly spaced over the duration, a little closer than `rate` says where they would not end with it.

    Raises InputError with all faults of the file, by column and line, or by part and joint.
    """
    n = len(arm)
    if path.suffix.lower() == ".toml":
        trajectory = load_joint_trajectory(path, arm_axes(arm))
        count = max(1, math.ceil(trajectory.duration * rate * (1.0 - 1e-12)))
        if count + 1 > _MOST_SAMPLES:
            raise InputError(
                f"{path}: {trajectory.duration:g} s at {rate:g} Hz need {count + 1} samples, at most {_MOST_SAMPLES}"
            )
        times = np.linspace(0.0, trajectory.duration, count + 1)
        return JointMotion(times, *trajectory.coordinates(times))
    others = [joint_columns("tau", n), joint_columns("e", n)]
    table = read_table(path, motion_columns(n), others, increasing=True)
    q, qd, qdd = (table.columns(joint_columns(prefix, n)) for prefix in ("q", "qd", "qdd"))
    return JointMotion(table.times, q, qd, qdd)


def _loaded(source: str, notices: Notices) -> serial.Arm:
    arm = serial.load_arm(source, evaluate_only=True)
    if arm.unphysical:
        finding = Finding(Code.ARM_UNPHYSICAL, details={"names": list(arm.unphysical)})
        notices.add(finding.code, finding.text, arm.name)
    for note in arm.notes:
        notices.add("arm-file", note, arm.name)
    return arm


def _report_limits(arm: serial.Arm, motion: JointMotion, tau: Array, notices: Notices) -> tuple[Finding, ...]:
    findings = tuple(
        Finding(
            Code.ARM_BEYOND_LIMIT,
            value=one.value,
            bound=one.bound,
            details={"joint": one.joint, "quantity": one.quantity, "unit": one.unit, "time": one.time},
        )
        for one in serial.limit_excesses(arm, motion.times, motion.q, motion.qd, motion.qdd, tau)
    )
    for finding in findings:
        notices.add(finding.code, finding.text, arm.name)
    return findings


def _units(arm: serial.Arm) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return units of the joints' positions and forces."""
    pairs = [serial.joint_units(joint.kind) for joint in arm.joints]
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


def _check_rate(name: str, rate: float) -> None:
    if not 0.0 < rate <= _FASTEST:
        raise FieldError(name, f"{rate:g} Hz, must be above 0 to {_FASTEST:g} Hz")


def _check_figures(folder: Path | None, names: Sequence[str]) -> None:
    if folder is not None:
        check_folder(folder, [f"{name}.{suffix}" for name in names for suffix in FORMATS])


@dataclass(frozen=True, slots=True)
class JointPeak:
    """Largest size of a quantity of one joint, and its time, s."""

    joint: str
    value: float
    unit: str
    time: float


def _peaks(arm: serial.Arm, times: Array, values: Array, units: Sequence[str]) -> tuple[JointPeak, ...]:
    worst = np.abs(values).argmax(axis=0)
    return tuple(
        JointPeak(joint.name, float(values[row, k]), units[k], float(times[row]))
        for k, (joint, row) in enumerate(zip(arm.joints, worst, strict=True))
    )


def _peaks_dict(peaks: Sequence[JointPeak]) -> list[dict[str, Any]]:
    return [{"joint": x.joint, "value": x.value, "unit": x.unit, "time": x.time} for x in peaks]


@request
class ArmInverseRequest:
    """Joint forces of a motion."""

    arm: str
    """an arm file, or the name of a shipped one"""
    trajectory: Path
    """a trajectory file in joint space (TOML), or a CSV table of t, q1…, qd1…, qdd1…"""
    output: Path
    """CSV file of t, q1…, qd1…, qdd1…, tau1…"""
    formulation: str = "compiled"
    """see `dynamics.serial.FORMULATIONS`"""
    rate: float = USUAL_RATE
    """samples of a trajectory file, Hz"""
    coulomb_speed: float = 0.0
    """joint speed below which Coulomb friction falls to 0, rad/s or m/s; 0 for the sign"""
    figures: Path | None = None
    """folder for plots, created if missing"""

    def __post_init__(self) -> None:
        _check_rate("rate", self.rate)
        _check_speed(self.coulomb_speed)
        if self.formulation not in (known := (serial.COMPILED, *serial.FORMULATIONS)):
            raise FieldError("formulation", f"{self.formulation!r} must be one of {', '.join(known)}")


@dataclass(frozen=True, slots=True, eq=False)
class ArmTableResult:
    """Result: the arm's name, the table and its rows, largest values, findings on limits, and plots."""

    arm: str
    table: Path
    rows: int
    peaks: tuple[JointPeak, ...]
    findings: tuple[Finding, ...] = ()
    figures: tuple[Path, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            "arm": self.arm,
            "table": str(self.table),
            "rows": self.rows,
            "peaks": _peaks_dict(self.peaks),
            "findings": [finding.as_dict() for finding in self.findings],
            "figures": list(map(str, self.figures)),
            **self.details,
        }


def arm_inverse(request: ArmInverseRequest, progress: OnEvent = no_progress) -> ArmTableResult:
    """Compute the joint forces of a motion, by the compiled recursion or by a formulation of the papers.

    Events: notices of the arm, and of limits that the motion exceeds.

    Raises:
        InputError, KinematicsError, DynamicsError: a file that cannot be read or written, or an arm that the
            formulation does not have.
    """
    check_output(request.output)
    _check_figures(request.figures, ("joints", "forces"))
    notices = Notices(progress)
    arm = _loaded(request.arm, notices)
    motion = read_joint_motion(arm, request.trajectory, request.rate)
    tau = serial.arm_forces(arm, request.formulation, motion.q, motion.qd, motion.qdd, request.coulomb_speed)
    findings = _report_limits(arm, motion, tau, notices)
    _write(request.output, motion, tau)
    _positions, forces = _units(arm)
    figures = write_joint_plots(request.figures, _motion_plots(arm, motion, tau))
    return ArmTableResult(arm.name, request.output, len(tau), _peaks(arm, motion.times, tau, forces), findings, figures)


def _write(path: Path, motion: JointMotion, tau: Array) -> None:
    """Write t, q, qd, qdd and the forces tau (m, n) as a table."""
    n = tau.shape[1]
    rows = np.column_stack([motion.times, motion.q, motion.qd, motion.qdd, tau])
    write_table(path, ("t", *motion_columns(n), *joint_columns("tau", n)), rows)


def _motion_plots(arm: serial.Arm, motion: JointMotion, tau: Array) -> list[JointPlot]:
    names = arm_axes(arm).names
    positions, forces = _units(arm)
    return [
        JointPlot("joints", names, positions, motion.times, {"position": motion.q}),
        JointPlot("forces", names, forces, motion.times, {"force": tau}),
    ]


@request
class ArmForwardRequest:
    """Joint accelerations of joint forces."""

    arm: str
    """an arm file, or the name of a shipped one"""
    table: Path
    """CSV table of t, q1…, qd1…, tau1…; qdd1…, if there, are compared"""
    output: Path
    """CSV file of t, q1…, qd1…, qdd1…, tau1…"""
    method: Literal["compiled", "strobing"] = "compiled"
    """composite bodies and Cholesky's method in compiled code, or 001's strobing"""
    coulomb_speed: float = 0.0
    """as in `ArmInverseRequest`: the same for forces that were computed with it"""

    def __post_init__(self) -> None:
        _check_speed(self.coulomb_speed)


def arm_forward(request: ArmForwardRequest, progress: OnEvent = no_progress) -> ArmTableResult:
    """Compute joint accelerations, row by row.

    `details`: with qdd in the table, "difference", the largest from it of each joint.

    Raises:
        InputError, DynamicsError: a file that cannot be read or written, or bodies without inertia.
    """
    check_output(request.output)
    notices = Notices(progress)
    arm = _loaded(request.arm, notices)
    n = len(arm)
    given = joint_columns("qdd", n)
    needed = [name for prefix in ("q", "qd", "tau") for name in joint_columns(prefix, n)]
    table = read_table(request.table, needed, [given, joint_columns("e", n)], increasing=True)
    q, qd, tau = (table.columns(joint_columns(prefix, n)) for prefix in ("q", "qd", "tau"))
    if request.method == "compiled":
        qdd = serial.ArmDynamics(arm, request.coulomb_speed).forward(q, qd, tau)
    else:
        rows = zip(q, qd, tau, strict=True)
        qdd = np.array([serial.strobed_arm_acceleration(arm, *row, request.coulomb_speed) for row in rows])
    motion = JointMotion(table.times, q, qd, qdd)
    findings = _report_limits(arm, motion, tau, notices)
    _write(request.output, motion, tau)
    details: dict[str, Any] = {"method": request.method}
    if table.has(given):
        details["difference"] = np.abs(qdd - table.columns(given)).max(axis=0).tolist()
    units = tuple(f"{unit}/s²" for unit in _units(arm)[0])
    return ArmTableResult(
        arm.name, request.output, len(qdd), _peaks(arm, table.times, qdd, units), findings, details=details
    )


@request
class ArmSimulateRequest:
    """Motion of an arm under joint forces."""

    arm: str
    """an arm file, or the name of a shipped one"""
    source: Path
    """CSV table of t, evenly spaced, and tau1…, each held until the next row; q1… and qd1…, if there, give the start in
    their first row and are compared. Or a trajectory file (TOML): the forces of that motion, held for a sample"""
    output: Path
    """CSV file of t, q1…, qd1…, qdd1…, tau1…"""
    rate: float = USUAL_RATE
    """samples of a trajectory file, Hz"""
    substeps: int | None = None
    """steps of Runge and Kutta's formula for each row; None: as many as friction needs at the start"""
    coulomb_speed: float = 0.01
    """joint speed below which Coulomb friction falls to 0, rad/s or m/s; 0 for the sign"""
    figures: Path | None = None
    """folder for plots, created if missing"""

    def __post_init__(self) -> None:
        _check_rate("rate", self.rate)
        _check_substeps(self.substeps)
        _check_speed(self.coulomb_speed)


def _check_substeps(substeps: int | None) -> None:
    if substeps is not None and not 1 <= substeps <= 10_000:
        raise FieldError("substeps", f"{substeps}, must be 1 to 10000")


def _check_speed(speed: float) -> None:
    if not (math.isfinite(speed) and speed >= 0.0):
        raise FieldError("coulomb_speed", f"{speed:g}, must be finite and at least 0")


def arm_simulate(request: ArmSimulateRequest, progress: OnEvent = no_progress) -> ArmTableResult:
    """Simulate an arm by Runge and Kutta's formula (001 §7), in compiled code.

    `details`: "difference" from the given motion at the end and at most, if there is one; "speed", times real time.

    Raises:
        InputError, KinematicsError, DynamicsError: a file that cannot be read or written, times that are not even,
            or a simulation that diverges.
    """
    check_output(request.output)
    _check_figures(request.figures, ("joints", "forces"))
    notices = Notices(progress)
    arm = _loaded(request.arm, notices)
    model = serial.ArmDynamics(arm, request.coulomb_speed)
    n = len(arm)
    if request.source.suffix.lower() == ".toml":
        motion = read_joint_motion(arm, request.source, request.rate)
        times, tau = motion.times, model.inverse(motion.q, motion.qd, motion.qdd)
        given: Array | None = motion.q
        start_q, start_qd = motion.q[0], motion.qd[0]
    else:
        positions, rates = joint_columns("q", n), joint_columns("qd", n)
        others = [positions, rates, joint_columns("qdd", n), joint_columns("e", n)]
        table = read_table(request.source, joint_columns("tau", n), others, increasing=True)
        times, tau = table.times, table.columns(joint_columns("tau", n))
        given = table.columns(positions) if table.has(positions) else None
        start_q = np.zeros(n) if given is None else given[0]
        start_qd = table.columns(rates)[0] if table.has(rates) else np.zeros(n)
    period = _even_period(request.source, times)
    substeps = request.substeps or model.stable_substeps(start_q, period)
    model.simulate(start_q, start_qd, tau[:1], period, substeps)  # compiles it
    began = time.perf_counter()
    run = model.simulate(start_q, start_qd, tau[:-1], period, substeps)
    spent = time.perf_counter() - began
    qdd = model.forward(run.q, run.qd, tau)
    motion = JointMotion(times, run.q, run.qd, qdd)
    findings = _report_limits(arm, motion, tau, notices)
    _write(request.output, motion, tau)
    details: dict[str, Any] = {
        "period": period,
        "substeps": substeps,
        "speed": float(times[-1] - times[0]) / spent,
    }
    if given is not None:
        apart = np.abs(run.q - given)
        details["difference"] = {"end": apart[-1].tolist(), "largest": apart.max(axis=0).tolist()}
    plots = _motion_plots(arm, motion, tau)
    if given is not None:
        plots[0] = JointPlot("joints", plots[0].joints, plots[0].units, times, {"simulated": run.q, "given": given})
    figures = write_joint_plots(request.figures, plots)
    return ArmTableResult(
        arm.name, request.output, len(times), _peaks(arm, times, run.q, _units(arm)[0]), findings, figures, details
    )


def _even_period(path: Path, times: Array) -> float:
    """Return the period of evenly spaced times, s. Raises InputError with the first row that is not."""
    if len(times) < 2:
        raise InputError(f"{path}: 1 row, must be at least 2")
    steps = np.diff(times)
    period = float(times[-1] - times[0]) / len(steps)
    uneven = np.abs(steps - period) > _EVEN * period + 1e-9 * abs(times[-1])
    if uneven.any():
        row = int(np.argmax(uneven))
        raise InputError(
            f"{path}: t = {times[row + 1]:g} s is {steps[row]:g} s after the row before, must be {period:g} s as the "
            "others"
        )
    return period


@request
class ArmControlRequest:
    """An arm that follows a motion under computed torque."""

    arm: str
    """the controller's model: an arm file, or the name of a shipped one"""
    trajectory: Path
    """a trajectory file in joint space (TOML), or a CSV table of t, evenly spaced, q1…, qd1…, qdd1…"""
    output: Path
    """CSV file of t, q1…, qd1…, qdd1…, e1…, tau1…: actual motion, error (desired minus actual), and forces"""
    plant: str | None = None
    """the arm that is controlled; None: the model"""
    law: serial.ControlLaw = "mended"
    """see `dynamics.serial.arm_control`"""
    kp: str = f"{USUAL_STIFFNESS:g}"
    """K_p, 1/s²: a number, or n numbers of a diagonal, separated by commas"""
    kv: str = f"{USUAL_DAMPING:g}"
    """K_v, 1/s: likewise"""
    gains: Path | None = None
    """TOML file of kp and kv, each a number, n numbers or n rows of n; instead of kp and kv"""
    rate: float = USUAL_SAMPLING
    """sampling of the controller, Hz, of a trajectory file"""
    substeps: int | None = None
    """steps of Runge and Kutta's formula for each sample; None: 4, or more where friction needs it"""
    preview: bool = False
    """mean acceleration of the coming sample, in place of that at the sampling instant"""
    coulomb_speed: float = 0.01
    """as in `ArmSimulateRequest`"""
    figures: Path | None = None
    """folder for plots, created if missing"""

    def __post_init__(self) -> None:
        _check_rate("rate", self.rate)
        _check_substeps(self.substeps)
        _check_speed(self.coulomb_speed)


def arm_control(request: ArmControlRequest, progress: OnEvent = no_progress) -> ArmTableResult:
    """Let an arm follow a motion under computed torque (000 eqs. 4.1 and 4.4), sampled, with held forces.

    `peaks` are the largest errors; `details`: the gains, and the rms errors.

    Raises:
        RefusedError: the gains do not meet conditions (a) to (c) of 000; its finding has one for each that is broken.
        InputError, KinematicsError, DynamicsError: a file that cannot be read or written, or a plant that diverges.
    """
    check_output(request.output)
    _check_figures(request.figures, ("joints", "errors", "forces"))
    notices = Notices(progress)
    model = _loaded(request.arm, notices)
    n = len(model)
    kp, kv = _gains(request, n)
    refuse_gains(kp, kv)
    plant = model if request.plant is None else _loaded(request.plant, notices)
    motion = read_joint_motion(model, request.trajectory, request.rate)
    _even_period(request.trajectory, motion.times)
    run = serial.control_arm(
        model,
        plant,
        motion.times,
        (motion.q, motion.qd, motion.qdd),
        serial.ControlSettings(
            kp.tolist(), kv.tolist(), request.law, request.substeps, request.preview, request.coulomb_speed
        ),
    )
    qdd = serial.ArmDynamics(plant, request.coulomb_speed).forward(run.actual, run.rates, run.torques)
    actual = JointMotion(run.times, run.actual, run.rates, qdd)
    names = ("t", *motion_columns(n), *joint_columns("e", n), *joint_columns("tau", n))
    write_table(request.output, names, np.column_stack([run.times, run.actual, run.rates, qdd, run.error, run.torques]))
    findings = _report_limits(plant, actual, run.torques, notices)
    joints, (positions, forces) = arm_axes(model).names, _units(model)
    figures = write_joint_plots(
        request.figures,
        [
            JointPlot("joints", joints, positions, run.times, {"actual": run.actual, "desired": run.desired}),
            JointPlot("errors", joints, positions, run.times, {"error": run.error}),
            JointPlot("forces", joints, forces, run.times, {"force": run.torques}),
        ],
    )
    details = {
        "law": request.law,
        "plant": plant.name,
        "kp": kp.tolist(),
        "kv": kv.tolist(),
        "rms": np.sqrt(np.mean(run.error**2, axis=0)).tolist(),
    }
    return ArmTableResult(
        model.name, request.output, len(run.times), _peaks(model, run.times, run.error, positions), findings, figures,
        details,
    )  # fmt: skip


def _gains(request: ArmControlRequest, joints: int) -> tuple[Array, Array]:
    """Return K_p and K_v as matrices (n, n).

    Raises FieldError, InputError or DynamicsError with the gain, its shape and value.
    """
    if request.gains is None:
        kp, kv = (_option_gain(name, text, joints) for name, text in (("kp", request.kp), ("kv", request.kv)))
        return kp, kv
    try:
        given = parse_toml(read_text(request.gains))
    except InputFileError as error:
        raise InputError(f"{request.gains}: {error}") from None
    unknown = sorted(set(given) - {"kp", "kv"})
    if unknown or len(given) < 2:
        fault = f"unknown key {unknown[0]}" if unknown else f"missing {'kp' if 'kp' not in given else 'kv'}"
        raise InputError(f"{request.gains}: {fault}; it has kp and kv")
    kp, kv = (serial.gain_matrix(f"{request.gains}: {name}", given[name], joints) for name in ("kp", "kv"))
    return kp, kv


def _option_gain(name: str, text: str, joints: int) -> Array:
    try:
        numbers = read_list(text)
    except NumberTextError as error:
        raise FieldError(name, str(error)) from None
    if len(numbers) not in (1, joints):
        raise FieldError(name, f"{len(numbers)} numbers, must be 1 or {joints}")
    return serial.gain_matrix(name, numbers if len(numbers) > 1 else numbers[0], joints)


def refuse_gains(kp: Array, kv: Array) -> None:
    """Refuse gains K_p 1/s² and K_v 1/s (n, n) under which the error may not vanish: conditions (a) to (c) of 000.

    Raises RefusedError, whose finding has one for each broken condition.
    """
    named = {"K_p": "kp", "K_v": "kv", "K_p and K_v": "kp and kv"}
    within = [found for _gain, found in gain_findings(kp, kv, named)]
    if within:
        raise RefusedError(Finding(Code.ARM_GAINS_REFUSED, within=tuple(within)))


@request
class ArmCompareRequest:
    """Joint forces of a motion by every formulation."""

    arm: str
    """an arm file, or the name of a shipped one"""
    trajectory: Path
    """as in `ArmInverseRequest`"""
    output: Path
    """CSV file of t and, for each formulation, tau1_NAME…"""
    rate: float = 100.0
    """samples of a trajectory file, Hz"""
    as_printed: bool = False
    """also the formulations with the errors of their print"""
    figures: Path | None = None
    """folder for plots, created if missing"""

    def __post_init__(self) -> None:
        _check_rate("rate", self.rate)


@dataclass(frozen=True, slots=True)
class FormulationResult:
    """One formulation on a motion.

    difference: largest from the compiled one, relative to the joint's largest force, the worst joint's. seconds: for a
    sample. operations: those on the arm's structure, None for the compiled one.
    """

    name: str
    title: str
    difference: float
    seconds: float
    operations: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ArmCompareResult:
    """Result: the arm's name, the formulations, the table and its rows, and plots."""

    arm: str
    formulations: tuple[FormulationResult, ...]
    table: Path
    rows: int
    figures: tuple[Path, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        found = [
            {"name": x.name, "difference": x.difference, "seconds": x.seconds, "operations": x.operations}
            for x in self.formulations
        ]
        return {
            "arm": self.arm,
            "formulations": found,
            "table": str(self.table),
            "rows": self.rows,
            "figures": list(map(str, self.figures)),
        }


def arm_compare(request: ArmCompareRequest, progress: OnEvent = no_progress) -> ArmCompareResult:
    """Compute the joint forces of a motion by every formulation that the arm can have, and compare.

    Events: `reproducing` with the current `what`; notices of the arm.

    Raises:
        InputError, KinematicsError, DynamicsError: a file that cannot be read or written.
    """
    check_output(request.output)
    _check_figures(request.figures, ("forces", "differences"))
    notices = Notices(progress)
    arm = _loaded(request.arm, notices)
    motion = read_joint_motion(arm, request.trajectory, request.rate)
    names = serial.formulation_names(arm, printed=request.as_printed)
    counts = {one.name: one.operations.total for one in papers.count_arm(arm)}
    forces: dict[str, Array] = {}
    found = []
    serial.arm_forces(arm, serial.COMPILED, motion.q[:1], motion.qd[:1], motion.qdd[:1])  # compiles it
    for index, name in enumerate(names):
        title = serial.FORMULATIONS[name].title if name in serial.FORMULATIONS else _COMPILED_TITLE
        progress(Progress("reproducing", index, len(names), {"what": title}))
        began = time.perf_counter()
        forces[name] = serial.arm_forces(arm, name, motion.q, motion.qd, motion.qdd)
        spent = (time.perf_counter() - began) / len(motion.times)
        scale = np.abs(forces[serial.COMPILED]).max(axis=0)
        apart = np.abs(forces[name] - forces[serial.COMPILED]).max(axis=0) / np.where(scale > 0.0, scale, 1.0)
        found.append(FormulationResult(name, title, float(apart.max()), spent, counts.get(name)))
    columns = [f"{column}_{name.replace('-', '_')}" for name in names for column in joint_columns("tau", len(arm))]
    write_table(request.output, ("t", *columns), np.column_stack([motion.times, *forces.values()]))
    units = _units(arm)[1]
    apart_by_name = {name: forces[name] - forces[serial.COMPILED] for name in names[1:]}
    figures = write_joint_plots(
        request.figures,
        [
            JointPlot("forces", arm_axes(arm).names, units, motion.times, forces),
            JointPlot("differences", arm_axes(arm).names, units, motion.times, apart_by_name),
        ],
    )
    return ArmCompareResult(arm.name, tuple(found), request.output, len(motion.times), figures)


@request
class ArmCountRequest:
    """Operation counts of the formulations."""

    arm: str | None = None
    """an arm file, or the name of a shipped one: counts on its own structure"""
    structure: str = ""
    """or kinds of the joints, "RRPR": counts on a chain of them without zeros, as the papers count"""
    joints: int | None = None
    """or a number of revolute joints"""

    def __post_init__(self) -> None:
        if sum((self.arm is not None, bool(self.structure), self.joints is not None)) != 1:
            raise FieldError("arm", "give an arm, a structure or a number of joints, one of the three")
        if self.joints is not None and not 1 <= self.joints <= papers.MOST_JOINTS:
            raise FieldError("joints", f"{self.joints}, must be 1 to {papers.MOST_JOINTS}")
        if set(self.structure.upper()) - set("RP") or len(self.structure) > papers.MOST_JOINTS:
            raise FieldError("structure", f"{self.structure!r}, must be 1 to {papers.MOST_JOINTS} letters R or P")


@dataclass(frozen=True, slots=True, eq=False)
class ArmCountResult:
    """Result: what was counted, and the counts."""

    what: str
    counts: tuple[papers.ArmCount, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        counts = [{"name": one.name, "title": one.title, **one.operations._asdict()} for one in self.counts]
        return {"what": self.what, "counts": counts}


def arm_count(request: ArmCountRequest, progress: OnEvent = no_progress) -> ArmCountResult:
    """Count the operations of every formulation, of M and q̈ by strobing, and of the control laws of 000.

    Raises:
        DynamicsError: an arm that cannot be read.
    """
    if request.arm is not None:
        arm = _loaded(request.arm, Notices(progress))
        return ArmCountResult(f"{arm.name}, {len(arm)} joints, its own structure", tuple(papers.count_arm(arm)))
    letters = request.structure.upper() or "R" * (request.joints or 0)
    kinds: list[serial.JointKind] = ["revolute" if letter == "R" else "prismatic" for letter in letters]
    return ArmCountResult(f"a general chain {letters}", tuple(papers.count_structure(kinds)))

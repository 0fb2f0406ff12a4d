"""Identification of a serial arm from measured positions and forces."""

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from calibration import (
    FRICTION_TERMS,
    UNKNOWN_GAIN,
    ArmAccuracy,
    ArmRecord,
    ArmSettings,
    CalibrationError,
    save_parameters,
)
from rig.csvio import check_output, whole_file
from rig.errors import FieldError, InputError, RefusedError
from rig.findings import Code, Finding
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.outputs import check_new_file
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from dynamics import serial
    from rig.analysis import ArmIdentified

_USUAL = ArmAccuracy()
_Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


@request
class ArmIdentifyRequest:
    """An arm, files of its motions, and what is known before.

    Raises:
        InputError: invalid or contradictory fields.
    """

    arm: str
    """an arm file, or the name of a shipped one"""
    data: tuple[Path, ...]
    """CSV files, one for each motion: positions, and forces unless they have files of their own"""
    forces: tuple[Path, ...] = ()
    """CSV files of the forces, one for each of `data`; empty: in these"""
    loaded: tuple[Path, ...] = ()
    """more motions, with the load mounted"""
    loaded_forces: tuple[Path, ...] = ()
    """as `forces`, of these"""
    load_mass: _Positive | None = None
    """kg, of the known load"""
    load_center: tuple[_Finite, _Finite, _Finite] = (0.0, 0.0, 0.0)
    """m, its centre of mass, in the tip's axes from its origin"""
    load_inertia: tuple[_Finite, _Finite, _Finite] | None = None
    """kg m², its moments of inertia about its centre, in the tip's axes; None: 0"""
    position_columns: tuple[str, ...] = ()
    """names of the n columns, or one with a "*" for the number; empty: q1…qn of joints or p1…pn of motors"""
    force_columns: tuple[str, ...] = ()
    """the same; empty: tau1…taun of joints, c1…cn of motors, or currents i1…in"""
    time_column: str = "t"
    """name of the column of time, s"""
    at: Literal["joints", "motors"] | None = None
    """where columns of other names were measured"""
    rate: _Positive | None = None
    """Hz, of files without time"""
    zero: tuple[_Finite, ...] = ()
    """rad or m, joint positions at which motors read 0; empty: 0"""
    degrees: bool = False
    """whether angles are in degrees"""
    gains: tuple[_Finite, ...] = ()
    """force per unit of the columns, such as N m/A: one, or one for each drive; empty: 1"""
    gain_sigma: float | Literal["unknown"] = 0.0
    """relative sigma of the gains, 0 to 1; "unknown": found by the loaded motions alone"""
    cutoff: _Positive | None = None
    """Hz, of the zero-phase low-pass; None: by the motions"""
    friction: tuple[str, ...] = ()
    """terms beside Coulomb and viscous friction, or "auto" """
    smoothing: float | None = None
    """speed over which Coulomb friction is smoothed, of the RMS speed; None: chosen by cross-validation"""
    rotors: bool = True
    """identify the rotors' inertias"""
    coupling: bool = True
    """with the couplings of the arm's motors"""
    mass: _Positive = _USUAL.mass
    """relative sigma of the masses in the arm's file"""
    center: _Positive = _USUAL.center
    """m, sigma of each axis of the centres of mass"""
    inertia: _Positive = _USUAL.inertia
    """relative sigma of the principal moments of inertia"""
    friction_sigma: _Positive = _USUAL.friction
    """relative sigma of friction and rotors"""
    offset: _Positive = _USUAL.offset
    """sigma of the offsets, of each drive's RMS force"""
    output: Path | None = None
    """arm file to write, never overwritten"""
    parameters: Path | None = None
    """parameter file with the covariance to write, never overwritten"""
    page: Path | None = None
    """HTML page to write"""
    note: str = ""
    """note stored in the parameter file"""

    def __post_init__(self) -> None:
        if not (self.data or self.loaded):
            raise InputError("no data are given")
        for field, files, forces in (
            ("forces", self.data, self.forces),
            ("loaded_forces", self.loaded, self.loaded_forces),
        ):
            if forces and len(forces) != len(files):
                raise FieldError(field, f"{len(forces)} files of forces for {len(files)} of positions, must be as many")
        if self.loaded and self.load_mass is None:
            raise FieldError("load_mass", "not given, but motions with a load are")
        for field in ("load_mass", "load_inertia"):
            if getattr(self, field) is not None and not self.loaded:
                raise FieldError(field, "given, but no motion with a load is")
        if self.load_inertia is not None and min(self.load_inertia) < 0.0:
            raise FieldError("load_inertia", f"{min(self.load_inertia):g} kg m², must be at least 0 kg m²")
        if any(gain == 0.0 for gain in self.gains):
            raise FieldError("gains", "0, must not be 0: such a drive exerts no force")
        if self.gain_sigma != "unknown" and not 0.0 <= self.gain_sigma <= 1.0:
            raise FieldError("gain_sigma", f"{self.gain_sigma:g}, must be 0 to 1, or unknown")
        if self.gain_sigma == "unknown" and not self.loaded:
            raise FieldError("gain_sigma", "unknown, but no motion with a known load is given")
        if unknown := set(self.friction) - {"auto", *FRICTION_TERMS}:
            raise FieldError("friction", f"{', '.join(sorted(unknown))}: must be auto or {', '.join(FRICTION_TERMS)}")
        if "auto" in self.friction and len(self.friction) > 1:
            raise FieldError("friction", "auto, with other terms: must be alone")

    @property
    def settings(self) -> ArmSettings:
        """The settings of the estimation. Raises CalibrationError for a number beyond its bounds."""
        return ArmSettings(
            accuracy=ArmAccuracy(
                mass=self.mass,
                center=self.center,
                inertia=self.inertia,
                friction=self.friction_sigma,
                offset=self.offset,
                gain=UNKNOWN_GAIN if self.gain_sigma == "unknown" else self.gain_sigma,
            ),
            friction="auto" if self.friction == ("auto",) else self.friction,
            smoothing=self.smoothing,
            rotors=self.rotors,
            coupling=self.coupling,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ArmIdentifyResult:
    """Result of the service: what was found, the files that were written, or None, and notices on the arm's file."""

    found: "ArmIdentified"
    arm_file: Path | None
    parameters_file: Path | None
    page: Path | None
    notices: tuple[Notice, ...]

    @property
    def predicts(self) -> bool:
        """Return whether every joint force that was held out is predicted, in motion."""
        return not self.found.misfits

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        paths = {"arm_file": self.arm_file, "parameters_file": self.parameters_file, "page": self.page}
        return self.found.summary() | {
            "paths": {name: None if path is None else str(path) for name, path in paths.items()}
        }


def arm_identify(request: ArmIdentifyRequest, progress: OnEvent = no_progress) -> ArmIdentifyResult:
    """Identify an arm, judge it by what was held out, and write what was found.

    See `calibration.identify_arm`. Events: `reading-data`, `fitting-parameters`, `judging`.

    Raises:
        ArmError, InputError: an arm or files that cannot be used.
        CalibrationFileError: an output exists already.
        RefusedError: data from which no parameters follow, with the reasons.
    """
    from calibration import identify_arm
    from dynamics import serial
    from rig.analysis import ArmIdentified
    from rig.report import write_arm_page

    for path in (request.output, request.parameters):
        if path is not None:
            check_new_file(path)
    if request.page is not None:
        check_output(request.page)
    notices = Notices(progress)
    arm = serial.load_arm(request.arm, evaluate_only=True)
    if arm.unphysical:  # something is taken to be known of them before, see `prior_of`
        finding = Finding(Code.ARM_UNPHYSICAL, details={"names": list(arm.unphysical)})
        notices.add(finding.code, finding.text, arm.name)
    for note in arm.notes:
        notices.add("arm-file", note, arm.name)
    progress(Progress("reading-data"))
    records, names = _records(arm, request)
    try:
        found = identify_arm(
            arm,
            records,
            request.settings,
            request.cutoff,
            lambda stage, share: progress(Progress(stage, share, 1.0 if stage == "judging" else 0.0)),
        )
        identified = ArmIdentified(found, names)
        if request.parameters is not None:
            save_parameters(request.parameters, identified.file(date.today(), request.note))
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["identification refused, nothing written:", *error.faults])) from None
    if request.output is not None:
        with whole_file(request.output) as file:
            file.write(identified.arm_text(date.today()))
    if request.page is not None:
        write_arm_page(identified, request.page)
    return ArmIdentifyResult(identified, request.output, request.parameters, request.page, notices.found)


def _records(arm: "serial.Arm", request: ArmIdentifyRequest) -> tuple[list[ArmRecord], tuple[str, ...]]:
    """Return the motions in order, one behind another, and names of their files."""
    from rig.analysis import ArmColumns, ArmLoad, read_arm_record

    columns = ArmColumns(
        request.position_columns,
        request.force_columns,
        request.time_column,
        request.at,
        request.rate,
        request.zero,
        request.degrees,
    )
    load = None
    if request.load_mass is not None:
        inertia = None if request.load_inertia is None else np.diag(request.load_inertia)
        load = ArmLoad(request.load_mass, request.load_center, inertia)
    gains = request.gains or ((1.0,) if request.gain_sigma == "unknown" else ())  # found by the load from any unit
    found, names = [], []
    for files, forces, mounted in (
        (request.data, request.forces, None),
        (request.loaded, request.loaded_forces, load),
    ):
        for k, path in enumerate(files):
            both = (path, forces[k]) if forces else (path,)
            names.append(" + ".join(each.name for each in both))
            found.append(read_arm_record(arm, both, columns, gains, mounted))
    begins = np.cumsum([0.0, *(len(each.positions) / each.rate for each in found[:-1])])
    return [replace(each, begin=float(begin)) for each, begin in zip(found, begins, strict=True)], tuple(names)

"""Export of a mechanism's exact model as a functional mock-up unit."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rig.errors import FieldError
from rig.fmu import FmiVersion, UnitModel
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.path_planning import Pose
from rig.services.request import request
from rig.services.sources import Notices


@request
class FmuRequest:
    """Export of the forward or the inverse dynamics as a co-simulation FMU."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    output: Path | None = None
    """file; None: MECHANISM-MODEL-fmi2.fmu, or -fmi3, in the current folder"""
    model: UnitModel = "plant"
    """plant: leg forces in, motion out; inverse: motion in, leg forces out"""
    version: FmiVersion = "2.0"
    """of the standard"""
    pose: Pose | None = None
    """start pose: x, y, z, m, and a unit quaternion, scalar first; None: home"""
    step: float = 0.0005
    """s, longest Runge-Kutta step of a plant"""
    coulomb_speed: float = 0.001
    """m/s, leg speed that smooths Coulomb friction; 0 for none"""

    def __post_init__(self) -> None:
        if not 0.0 < self.step <= 1.0:
            raise FieldError("step", f"{self.step:g} s must be above 0 s and at most 1 s")
        if not 0.0 <= self.coulomb_speed <= 1.0:
            raise FieldError("coulomb_speed", f"{self.coulomb_speed:g} m/s must be 0 to 1 m/s")


@dataclass(frozen=True, slots=True)
class FmuResult:
    """Result of the service.

    file: the FMU. size: bytes. variables: names by causality. needs: what the unit needs of a machine, a sentence.
    """

    file: Path
    size: int
    variables: dict[str, tuple[str, ...]]
    needs: str


def export_fmu(request: FmuRequest, progress: OnEvent = no_progress) -> FmuResult:
    """Compile a mechanism's model to an FMU; the file appears only when complete and when FMPy finds it valid.

    Events: notices of the mechanism; `compiling`, the first time on a machine.

    Raises:
        FieldError: a mechanism without home and no start pose; a step too long for the mechanism's friction.
        InputError: FMPy or a C compiler is missing, the machine is no x86-64 Linux, the file cannot be written.
        DynamicsError: no mechanism, or a start pose in which the leg forces are not determined.
    """
    from dynamics import load_mechanism
    from rig.csvio import whole_binary_file
    from rig.fmu import build_unit, inverse_unit, longest_stable_step, plant_unit

    machine = load_mechanism(request.mechanism, evaluate_only=request.model == "inverse")
    notices = Notices(progress)
    for warning in machine.warnings:
        notices.add("mechanism", warning)
    pose = machine.geometry.home if request.pose is None else np.array(request.pose)
    if pose is None:
        raise FieldError("pose", f"{machine.name} has no home: the unit needs a start pose")
    if request.model == "plant":
        unit = plant_unit(machine, pose, request.step, request.coulomb_speed)
        longest = longest_stable_step(unit)
        if longest == 0.0:
            raise FieldError("coulomb_speed", "0 m/s must be above 0 m/s for a plant with Coulomb friction")
        if request.step > longest:
            fault = f"{request.step:g} s is too long to integrate the friction along the legs, at most {longest:.3g} s"
            raise FieldError("step", f"{fault}; a greater coulomb_speed allows longer ones")
    else:
        unit = inverse_unit(machine, pose, request.coulomb_speed)
    target = request.output or Path(f"{unit.identifier.removeprefix('stewart_')}_fmi{request.version[0]}.fmu")
    with whole_binary_file(target) as file:
        needs = build_unit(
            unit, request.version, file, lambda done, total: progress(Progress("compiling", done, total))
        )
    names: dict[str, list[str]] = {}
    for variable in unit.variables:
        names.setdefault("output" if variable.role == "state" else variable.role, []).append(variable.name)
    del names["time"]
    return FmuResult(target, target.stat().st_size, {role: tuple(each) for role, each in names.items()}, needs)

"""Design of motions for a rig: excitation of its parameters, or of one coordinate."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from calibration import CalibrationError
from rig.errors import InputError, RefusedError
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request

if TYPE_CHECKING:
    from calibration import Excitation
    from rig.safety import TrajectoryVerdict

_SHRINK = 0.98  # safety factor: the motion is not exactly proportional to its size


@request
class ExciteRequest:
    """A Fourier-series motion in all six axes, for the rig of a configuration."""

    config: str
    """a configuration's file, or the name of a shipped one"""
    output: Path = Path("excitation.toml")
    """trajectory file to write"""
    duration: float = 60.0
    """s"""
    fastest: float = 2.0
    """Hz, highest frequency"""
    margin: float = 0.75
    """usable fraction of every limit"""
    candidates: int = 40
    """random motions; the search starts from the best"""
    steps: int = 300
    """maximum gradient evaluations"""
    seed: Annotated[int, Field(ge=0)] = 0
    """seed of the random phases"""


@dataclass(frozen=True, slots=True, eq=False)
class ExciteResult:
    """Result of the service.

    trajectory: the file. found: the motion, with its information on the parameters. verdict: of the limits.
    """

    trajectory: Path
    found: "Excitation"
    verdict: "TrajectoryVerdict"

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI; information in nepers."""
        found = self.found
        return {
            "trajectory": str(self.trajectory),
            "duration_s": found.duration,
            "condition": found.condition,
            "information_nepers": found.information,
            "random_information_nepers": found.drawn,
            "base_parameters": found.parameters,
            "gain_nepers": found.gain,
            "candidates": found.tried,
            "checks": self.verdict.as_dict()["checks"],
        }


def excite(request: ExciteRequest, progress: OnEvent = no_progress) -> ExciteResult:
    """Design an exciting motion for a rig's parameters within its limits, and write it.

    Raises:
        InputError: the configuration, or a file that cannot be written.
        RefusedError: no motion can be designed.
    """
    from rig.client import checked_motion, excitation_for, write_excitation
    from rig.config import load_config
    from rig.csvio import check_output

    settings = load_config(request.config)
    check_output(request.output)
    try:
        found = excitation_for(
            settings,
            request.duration,
            fastest=request.fastest,
            margin=request.margin,
            candidates=request.candidates,
            steps=request.steps,
            seed=request.seed,
            progress=lambda part: progress(Progress("designing", part, 1.0)),
        )
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["no motion can be designed:", *error.faults])) from None
    _, verdict = checked_motion(settings, found.trajectory(settings.machine.geometry.home_pose))
    write_excitation(request.output, found)
    return ExciteResult(request.output, found, verdict)


@request
class MultisineRequest:
    """A motion about home that excites one coordinate at odd multiples of 1/period."""

    config: str
    """a configuration's file, or the name of a shipped one"""
    output: Path
    """trajectory file to write"""
    dof: str = "z"
    """coordinate: x, y, z, rx, ry or rz"""
    low: float = 0.5
    """Hz, lowest frequency"""
    high: float = 30.0
    """Hz, highest frequency"""
    amplitude: float | None = None
    """m or rad, of the sum; None: 10 mm or 50 mrad, as the limits allow"""
    period: float = 4.0
    """s, period of the excitation: a whole number of the rig's cycles"""
    periods: int = 2
    """periods per realisation, without its fades"""
    realizations: Annotated[int, Field(ge=1)] = 6
    """successive realisations with random phases"""
    seed: Annotated[int, Field(ge=0)] = 0
    """seed of the phases and of the omitted multiples"""


@dataclass(frozen=True, slots=True, eq=False)
class MultisineResult:
    """Result of the service.

    trajectory: the file. dof: the excited one. amplitude: m or rad. frequency: Hz, of each sine. verdict: of the limits
    on the motion.
    """

    trajectory: Path
    dof: str
    amplitude: float
    realizations: int
    periods: int
    frequency: tuple[float, ...]
    verdict: "TrajectoryVerdict"

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        return {
            "trajectory": str(self.trajectory),
            "dof": self.dof,
            "duration_s": self.verdict.duration,
            "amplitude": self.amplitude,
            "realizations": self.realizations,
            "periods": self.periods,
            "frequency_hz": list(self.frequency),
            "checks": self.verdict.as_dict()["checks"],
        }


def multisine(request: MultisineRequest, progress: OnEvent = no_progress) -> MultisineResult:
    """Write a motion that excites a coordinate at many frequencies at once, checked as by `rig check`.

    Without an amplitude it is as large as the limits allow.

    Raises:
        InputError: the configuration, an invalid frequency or period, or a file that cannot be written.
        RefusedError: the motion is outside the limits.
    """
    import tomlkit

    from kinematics import TrajectorySpec, build_trajectory
    from rig.analysis import multisine as spec_of
    from rig.client import checked_motion
    from rig.config import load_config
    from rig.csvio import check_output, whole_file

    check_output(request.output)
    settings = load_config(request.config)
    high, period = request.high, request.period
    if high > settings.rate / 4.0:
        raise InputError(
            f"to: {high:g} Hz, must be at most {settings.rate / 4.0:g} Hz, a quarter of the cycles a second"
        )
    cycles = period * settings.rate
    if not abs(cycles - round(cycles)) < 1e-6 * max(cycles, 1.0):
        raise InputError(f"period: {period:g} s, must be a whole number of cycles of {1.0 / settings.rate:g} s")
    home = settings.machine.geometry.home_pose
    size = request.amplitude
    if size is None:
        size = 0.05 if request.dof.startswith("r") else 0.01
    for _ in range(2):
        progress(Progress("searching-phases"))
        spec = spec_of(
            request.dof,
            request.low,
            high,
            size,
            period,
            request.periods,
            request.seed,
            realizations=request.realizations,
            odd=True,
        )
        progress(Progress("checking-motion"))
        _, verdict = checked_motion(settings, build_trajectory(TrajectorySpec.model_validate(spec), home))
        if verdict.passed or request.amplitude is not None:
            break
        size *= _SHRINK * verdict.scale
    if verdict.finding is not None:
        raise RefusedError(verdict.finding)
    with whole_file(request.output) as file:
        file.write(tomlkit.dumps(spec))
    tones = tuple(term["frequency"] for term in spec["parts"][0]["terms"])
    return MultisineResult(request.output, request.dof, size, request.realizations, request.periods, tones, verdict)

"""`rig multisine` and `rig respond`: a coordinate excited, and its frequency response."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import (
    ConfigArgument,
    JsonOption,
    LookOption,
    OutputOption,
    ProgressOption,
    check_made_of,
    end_doubtful,
    tell_caveats,
    tell_holds,
)

if TYPE_CHECKING:
    from rig.analysis import Response, ResponseFit

_LISTED = 12


def multisine(
    config: ConfigArgument,
    output: OutputOption,
    dof: Annotated[str, typer.Option("--dof", metavar="x|y|z|rx|ry|rz", help="The coordinate that is excited.")] = "z",
    low: Annotated[float, typer.Option("--from", metavar="HZ", help="Lowest frequency.")] = 0.5,
    high: Annotated[float, typer.Option("--to", metavar="HZ", help="Highest frequency.")] = 30.0,
    amplitude: Annotated[
        float | None,
        typer.Option("--amplitude", metavar="M|RAD", help="Of the whole; left out: 10 mm or 50 mrad, as limits allow."),
    ] = None,
    period: Annotated[float, typer.Option("--period", metavar="S", help="Of the excitation.")] = 4.0,
    periods: Annotated[int, typer.Option("--periods", help="Beside those in which it is faded in and out.")] = 8,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the search for phases.")] = 0,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a motion about home that excites one coordinate at many frequencies at once, for `rig run`.

    The motion is checked as `rig check` does; without --amplitude it is made as large as the limits allow.
    """
    import tomlkit

    from kinematics import TrajectorySpec, build_trajectory
    from rig.analysis import multisine as spec_of
    from rig.cli.progress import tell_step
    from rig.client import checked_motion
    from rig.config import load_config
    from rig.csvio import check_output, whole_file
    from rig.errors import InputError, RefusedError

    check_output(output)
    settings = load_config(config)
    if high > settings.rate / 4.0:
        raise InputError(
            f"to: {high:g} Hz, must be at most {settings.rate / 4.0:g} Hz, a quarter of the cycles a second"
        )
    home = settings.machine.geometry.home_pose
    size = (0.05 if dof.startswith("r") else 0.01) if amplitude is None else amplitude
    tell = tell_step if progress else lambda _step: None
    for _ in range(2):
        tell("searching phases")
        spec = spec_of(dof, low, high, size, period, periods, seed)
        tell("checking the motion")
        _, verdict = checked_motion(settings, build_trajectory(TrajectorySpec.model_validate(spec), home))
        if verdict.passed or amplitude is not None:
            break
        size *= 0.98 * verdict.scale
    if not verdict.passed:
        raise RefusedError(verdict.message)
    with whole_file(output) as file:
        file.write(tomlkit.dumps(spec))
    terms = spec["parts"][0]["terms"]
    if as_json:
        told = {"trajectory": str(output), "dof": dof, "duration_s": verdict.duration, "amplitude": size}
        told |= {"frequency_hz": [term["frequency"] for term in terms], "checks": verdict.as_dict()["checks"]}
        typer.echo(json.dumps(told, indent=2))
        return
    lines = len(terms)
    typer.echo(f"{lines} frequencies from {low:g} to {high:g} Hz, amplitude {size:.3g}: {output}")


def respond(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording (.mcap) of an excitation.")],
    dof: Annotated[
        str | None, typer.Option("--dof", metavar="x|y|z|rx|ry|rz", help="The coordinate; left out: the excited one.")
    ] = None,
    low: Annotated[float | None, typer.Option("--from", metavar="HZ", help="Of the band that is asked for.")] = None,
    high: Annotated[float | None, typer.Option("--to", metavar="HZ", help="Its end; both or neither.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Bode plots, SVG; left out: none.")
    ] = None,
    friction: Annotated[
        float,
        typer.Option("--friction", metavar="PART", help="How well the legs' friction is known, one sigma.", min=0.0),
    ] = 0.2,
    look: LookOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Frequency response of a recorded excitation: commanded to measured pose, commanded to measured force.

    H1 with its coherence, over whole periods where the excitation has them (`rig multisine`), by Welch's method else
    (a chirp); dead time, lag and -3 dB bandwidth with their standard uncertainties. Without enough excitation it is
    refused, and the frequencies that lack it are named. The force of a drive whose friction the cells do not read
    rests on the model's friction: what --friction makes of the lag is said.
    """
    from kinematics import COORDINATES
    from rig.analysis import fit_response, recorded_response
    from rig.cli.progress import tell_step
    from rig.recording import RecordingFile

    if dof is not None and dof not in COORDINATES:
        raise typer.BadParameter(f"{dof!r} is none of {', '.join(COORDINATES)}", param_hint="'--dof'")
    band = None
    if low is not None or high is not None:
        if low is None or high is None or not 0.0 < low < high < float("inf"):
            raise typer.BadParameter("give --from and --to, both above 0 Hz, the first below", param_hint="'--from'")
        band = (low, high)
    tell = tell_step if progress else lambda _step: None
    if output is not None and not look:
        check_made_of(recording, output)
    opened = RecordingFile(recording)
    tell_caveats(opened)
    tell("reading the recording")
    found = recorded_response(opened, dof, band)
    if look:
        lines = found.pose.frequency
        span = f"{len(lines)} frequencies from {lines[0]:.3g} to {lines[-1]:.3g} Hz"
        tell_holds(f"coordinate {found.dof}, {span}, {found.begin:.1f} to {found.end:.1f} s", as_json)
        return
    tell("fitting dead time and lag")
    responses = {"pose": found.pose} | ({} if found.force is None else {"force": found.force})
    fits = {name: fit_response(one) for name, one in responses.items()}
    by_friction = found.lag_by_friction(friction)
    if output is not None:
        from rig.analysis import draw_bode

        draw_bode(responses, fits, found.dof, output)
    if as_json:
        told = {name: _told(one, fits[name]) for name, one in responses.items()}
        base: dict[str, Any] = {
            "recording": str(recording),
            "dof": found.dof,
            "begin_s": found.begin,
            "end_s": found.end,
        }
        if "force" in told:
            told["force"]["lag_friction_sigma_s"] = by_friction
        typer.echo(json.dumps(base | told | {"plot": None if output is None else str(output)}, indent=2))
    else:
        typer.echo(f"coordinate {found.dof}, {found.begin:.3f} to {found.end:.3f} s, {found.rate:g} cycles a second")
        for name, one in responses.items():
            typer.echo(_described(name, one, fits[name]))
        if by_friction > 0.0:
            lag = math.hypot(by_friction, fits["force"].lag_sigma)
            typer.echo(
                f"force: its lag is known to ± {lag * 1e3:.3f} ms, {by_friction * 1e3:.3f} ms of that by the legs' "
                f"friction, which these cells do not read and the model knows to {100.0 * friction:g} %"
            )
        if output is not None:
            typer.echo(f"plot       {output}")
    end_doubtful(opened)


def _told(response: "Response", fit: "ResponseFit") -> dict[str, Any]:
    from dataclasses import asdict

    import numpy as np

    reached = response.bandwidth()
    return {
        "frequency_hz": response.frequency.tolist(),
        "magnitude": np.abs(response.gain).tolist(),
        "phase_rad": response.phase.tolist(),
        "sigma": response.sigma.tolist(),
        "coherence": response.coherence.tolist(),
        "averages": response.averages,
        "periodic": response.periodic,
        "bandwidth_hz": None if reached is None else reached[0],
        "bandwidth_sigma_hz": None if reached is None else reached[1],
        "fit": asdict(fit),
    }


def _described(name: str, response: "Response", fit: "ResponseFit") -> str:
    import numpy as np

    reached = response.bandwidth()
    periods = "periods" if response.periodic else "averages"
    lines = [
        f"{name}: commanded to measured, {len(response.frequency)} frequencies, {response.averages:g} {periods}",
        "  -3 dB      "
        + (f"above {response.frequency[-1]:g} Hz" if reached is None else f"{reached[0]:.3f} ± {reached[1]:.3f} Hz"),
        f"  lag        {fit.lag * 1e3:.3f} ± {fit.lag_sigma * 1e3:.3f} ms at low frequencies",
        f"  dead time  {fit.dead_time * 1e3:.3f} ± {fit.dead_time_sigma * 1e3:.3f} ms beside order {fit.order}"
        + (f", {fit.natural_frequency:.3f} ± {fit.natural_frequency_sigma:.3f} Hz" if fit.order else "")
        + (f", damping {fit.damping:.3f}" if fit.damping is not None else "")
        + f" (reduced χ² {fit.chi_square:.2g})",
        f"  {'Hz':>9} {'|H|':>10} {'sigma':>9} {'phase deg':>10} {'coherence':>10}",
    ]
    shown = np.unique(np.round(np.linspace(0, len(response.frequency) - 1, _LISTED)).astype(int))
    for at in shown:
        lines.append(
            f"  {response.frequency[at]:9.3f} {abs(response.gain[at]):10.5f} {response.sigma[at]:9.2g} "
            f"{np.degrees(response.phase[at]):10.3f} {response.coherence[at]:10.6f}"
        )
    return "\n".join(lines)

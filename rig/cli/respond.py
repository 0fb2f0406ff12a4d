"""`rig multisine` and `rig respond`: a coordinate excited, and its frequency response."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import (
    ConfigArgument,
    JsonOption,
    OutputOption,
    ProbeOption,
    ProgressOption,
    check_made_of,
    end_doubtful,
    print_caveats,
    print_contents,
    print_warning,
)

if TYPE_CHECKING:
    from rig.analysis import Distortion, Response, ResponseFit


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
    periods: Annotated[int, typer.Option("--periods", help="Of each realisation, beside its fades.")] = 2,
    realizations: Annotated[
        int, typer.Option("--realizations", min=1, help="Of random phases, one after the other: they tell distortion.")
    ] = 6,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of phases and of the multiples left out.")] = 0,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a motion about home that excites one coordinate at many frequencies at once, for `rig run`.

    Odd multiples of 1/period, some left out at random, which then show non-linear distortion.
    The motion is checked as `rig check` does; without --amplitude it is made as large as the limits allow.
    """
    import tomlkit

    from kinematics import TrajectorySpec, build_trajectory
    from rig.analysis import multisine as spec_of
    from rig.cli.progress import print_step
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
    cycles = period * settings.rate
    if not abs(cycles - round(cycles)) < 1e-6 * max(cycles, 1.0):
        raise InputError(f"period: {period:g} s, must be a whole number of cycles of {1.0 / settings.rate:g} s")
    home = settings.machine.geometry.home_pose
    size = (0.05 if dof.startswith("r") else 0.01) if amplitude is None else amplitude
    tell = print_step if progress else lambda _step: None
    for _ in range(2):
        tell("searching phases")
        spec = spec_of(dof, low, high, size, period, periods, seed, realizations=realizations, odd=True)
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
        told |= {"realizations": realizations, "periods": periods}
        told |= {"frequency_hz": [term["frequency"] for term in terms], "checks": verdict.as_dict()["checks"]}
        typer.echo(json.dumps(told, indent=2))
        return
    lines = len(terms)
    typer.echo(
        f"{lines} frequencies from {terms[0]['frequency']:g} to {terms[-1]['frequency']:g} Hz, {realizations} "
        f"realisations, amplitude {size:.3g}, {verdict.duration:g} s: {output}"
    )


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
        typer.Option("--friction", metavar="PART", help="How well the model's friction is known, one sigma.", min=0.0),
    ] = 0.2,
    look: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Frequency response of a recorded excitation: commanded to measured pose, commanded to measured force.

    The best linear approximation over whole periods and phase realisations (`rig multisine`), else by Welch's method
    (a chirp); noise, even and odd distortion; dead time, corner and -3 dB bandwidth with their standard uncertainties,
    or that no model fits. Without enough excitation it is refused, and the frequencies that lack it are named. The
    force of a drive whose friction the cells do not read rests on the model's: --friction says how well that is known.
    """
    from kinematics import COORDINATES
    from rig.analysis import described, notes_of, recorded_response
    from rig.cli.progress import print_step
    from rig.recording import RecordingFile

    if dof is not None and dof not in COORDINATES:
        raise typer.BadParameter(f"{dof!r} is none of {', '.join(COORDINATES)}", param_hint="'--dof'")
    band = None
    if low is not None or high is not None:
        if low is None or high is None or not 0.0 < low < high < float("inf"):
            raise typer.BadParameter("give --from and --to, both above 0 Hz, the first below", param_hint="'--from'")
        band = (low, high)
    tell = print_step if progress else lambda _step: None
    if output is not None and not look:
        check_made_of(recording, output)
    opened = RecordingFile(recording)
    print_caveats(opened)
    tell("reading the recording")
    found = recorded_response(opened, dof, band)
    if look:
        lines = found.pose.frequency
        span = f"{len(lines)} frequencies from {lines[0]:.3g} to {lines[-1]:.3g} Hz"
        print_contents(f"coordinate {found.dof}, {span}, {found.begin:.1f} to {found.end:.1f} s", as_json)
        return
    tell("fitting dead time and lag")
    responses, fits = found.responses(), found.fits(friction)
    notes = notes_of(found, fits)
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
        base["notes"] = [{"response": name, "code": code, "text": text} for name, code, text in notes]
        typer.echo(json.dumps(base | told | {"plot": None if output is None else str(output)}, indent=2))
    else:
        typer.echo(f"coordinate {found.dof}, {found.begin:.3f} to {found.end:.3f} s, {found.rate:g} cycles a second")
        for name, one in responses.items():
            typer.echo(described(name, one, fits[name]))
        if output is not None:
            typer.echo(f"plot       {output}")
    for name, _code, text in notes:
        print_warning(f"{name}: {text}")
    end_doubtful(opened)


def _told(response: "Response", fit: "ResponseFit") -> dict[str, Any]:
    from dataclasses import asdict

    import numpy as np

    reached, distortion = response.bandwidth(), response.distortion
    return {
        "frequency_hz": response.frequency.tolist(),
        "magnitude": np.abs(response.gain).tolist(),
        "phase_rad": response.phase.tolist(),
        "sigma": response.sigma.tolist(),
        "noise_sigma": response.noise.tolist(),
        "bias_sigma": response.bias.tolist(),
        "coherence": response.coherence.tolist(),
        "output": response.output.tolist(),
        "averages": response.averages,
        "realizations": response.realizations,
        "periodic": response.periodic,
        "bandwidth_hz": None if reached is None else reached[0],
        "bandwidth_sigma_hz": None if reached is None else reached[1],
        "distortion": None if distortion is None else _distortion_told(distortion),
        "fit": asdict(fit),
    }


def _distortion_told(distortion: "Distortion") -> dict[str, Any]:
    return {
        "frequency_hz": distortion.frequency.tolist(),
        "even": distortion.even.tolist(),
        "level": distortion.level.tolist(),
        "noise": distortion.noise.tolist(),
        "even_part": distortion.even_part,
        "odd_part": distortion.odd_part,
        "noise_part": distortion.noise_part,
        "even_found": distortion.even_found,
        "odd_found": distortion.odd_found,
    }

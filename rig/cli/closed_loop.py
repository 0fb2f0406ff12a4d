"""`rig simulate --trajectory`: comparison of controllers on the virtual rig's plant."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rig.cli.options import parse_six

if TYPE_CHECKING:
    from rig.services import LoopsResult
    from rig.virtual import Merit

_SUFFIXES = (".svg", ".pdf", ".png")
_WRENCH = "fx,fy,fz,mx,my,mz"
_LARGEST_ERROR = 0.9
_PLANT_WIDTH = 16


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """Command-line arguments, unparsed."""

    machine: str
    trajectory: str
    controllers: tuple[str, ...]
    compare: bool
    plant: str | None
    built: int | None
    mass_error: str
    bandwidth: float | None
    mujoco: bool
    twist: str | None
    wrench: str | None
    output: Path | None
    plot: Path | None
    page: Path | None


def closed_loop(asked: ClosedLoop, as_json: bool, progress: bool) -> None:
    """Run and compare the controllers, and write the requested files.

    Raises:
        typer.BadParameter: an invalid option.
        InputError, KinematicsError: an invalid file.
    """
    from rig.cli.progress import service_events
    from rig.services import LoopsRequest, compare_loops
    from rig.virtual import controllers as known_controllers

    controllers = known_controllers() if asked.compare else tuple(dict.fromkeys(asked.controllers))
    for name in controllers:
        if name not in known_controllers():
            raise typer.BadParameter(
                f"{name!r} must be one of {', '.join(known_controllers())}", param_hint="'--controller'"
            )  # fmt: skip
    if asked.output is not None and len(controllers) > 1:
        raise typer.BadParameter("the motion of a single --controller can be written", param_hint="'--output'")
    if asked.plot is not None and asked.plot.suffix.lower() not in _SUFFIXES:
        raise typer.BadParameter(f"{asked.plot} must end in {', '.join(_SUFFIXES)}", param_hint="'--plot'")
    if asked.plant is not None and asked.built is not None:
        raise typer.BadParameter("--plant already names the plant", param_hint="'--as-built'")
    wrench: tuple[float, ...] | Path | None = None
    if asked.wrench is not None:
        typed = "," in asked.wrench or not Path(asked.wrench).exists()
        wrench = parse_six(asked.wrench, _WRENCH, "--wrench") if typed else Path(asked.wrench)
    request = LoopsRequest(
        machine=asked.machine,
        trajectory=asked.trajectory,
        controllers=controllers,
        plant=asked.plant,
        built=asked.built,
        mass_error=_mass_error(asked.mass_error),
        bandwidth=asked.bandwidth,
        mujoco=asked.mujoco,
        twist=None if asked.twist is None else parse_six(asked.twist, "vx,vy,vz,wx,wy,wz", "--twist"),
        wrench=None if isinstance(wrench, Path) else wrench,
        wrench_file=wrench if isinstance(wrench, Path) else None,
        output=asked.output,
        plot=asked.plot,
        page=asked.page,
    )
    with service_events(progress) as report:
        result = compare_loops(request, report)
    _print(result, as_json)


def _mass_error(text: str) -> float:
    from kinematics import read_number

    try:
        error = read_number(text.removesuffix("%")) / 100.0 if text.endswith("%") else read_number(text)
    except ValueError:
        error = float("nan")
    if not 0.0 <= error <= _LARGEST_ERROR:
        raise typer.BadParameter(
            f"{text!r} must be a percentage from 0% to {100 * _LARGEST_ERROR:g}%, or a fraction below 1",
            param_hint="'--mass-error'",
        )
    return error


def _print(result: "LoopsResult", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
        return
    typer.echo(f"{result.mechanism}: trajectory {result.trajectory}, {result.duration:g} s at {result.rate:g} Hz")
    width = max(_PLANT_WIDTH, *(len(one.plant) + 1 for one in result.runs))
    quantities = "".join(f"{name:>18}" for name in ("position, mm", "rotation, mrad", "leg force, N"))
    typer.echo(f"  {'controller':16}{'plant':{width}}{quantities}{'of limit':>10}")
    typer.echo(f"  {'':{16 + width}}{''.join(f'{name:>9}' for name in ('RMS', 'peak') * 3)}")
    for one in result.runs:
        typer.echo(_line(one, width))
        for text in _remarks(one):
            typer.echo(f"  {'':16}{text}")
    if result.bandwidths:
        typer.echo(f"  {'controller':16}{'natural frequency at home, Hz':>32}{'gain margin':>14}")
    for loop in result.bandwidths:
        margin = "the drives'" if loop.margin is None else f"{loop.margin:.3g}"
        typer.echo(f"  {loop.law:16}{loop.span:>32}{margin:>14}")
    for path in result.paths.values():
        typer.echo(f"wrote {path}")


def _line(one: "Merit", width: int) -> str:
    numbers = [1e3 * value for value in (*one.position, *one.rotation)]
    force = float((one.force_rms**2).mean() ** 0.5)
    return (
        f"  {one.controller:16}{one.plant:{width}}"
        + "".join(f" {value:8.3g}" for value in numbers)
        + f" {force:8.4g} {one.force_peak.max():8.4g}{100.0 * one.share.max():8.0f} %"
    )


def _remarks(one: "Merit") -> list[str]:
    remarks = [] if not one.end else [f"ended: {one.end}"]
    bounded = [leg for leg, share in enumerate(one.saturated, start=1) if share]
    if bounded:
        legs = ", ".join(str(leg) for leg in bounded)
        remarks.append(
            f"force bounded: leg {legs}, up to {100.0 * one.saturated.max():.2g} % of the cycles; a rig stops"
        )
    if one.stopped:
        remarks.append(f"end stop reached: leg {', '.join(map(str, one.stopped))}")
    return remarks

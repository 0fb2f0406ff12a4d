"""`rig simulate --trajectory`: controllers on the virtual rig's plant, compared."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rig.cli.options import parse_six, print_warning

if TYPE_CHECKING:
    from dynamics import Mechanism
    from kinematics import Array, MotionTable
    from rig.config import RigConfig
    from rig.report import LoopTrace
    from rig.virtual import LoopRun, Merit, Truth

_SUFFIXES = (".svg", ".pdf", ".png")
_WRENCH = "fx,fy,fz,mx,my,mz"
_LARGEST_ERROR = 0.9
_HEADER = (
    f"  {'controller':16}{'plant':16}{'position, mm':>18}{'rotation, mrad':>18}{'leg force, N':>18}{'of limit':>10}\n"
    f"  {'':32}{'RMS':>9}{'peak':>9}{'RMS':>9}{'peak':>9}{'RMS':>9}{'peak':>9}"
)


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """What was asked for, as it was typed."""

    machine: str
    trajectory: str
    controllers: tuple[str, ...]
    compare: bool
    plant: str | None
    built: int | None
    mass_error: str
    twist: str | None
    wrench: str | None
    output: Path | None
    plot: Path | None


def closed_loop(asked: ClosedLoop, as_json: bool, progress: bool) -> None:
    """Run and compare the controllers, and write what was asked for.

    Raises:
        typer.BadParameter: an option that cannot be.
        InputError, KinematicsError: a file that is wrong.
    """
    import numpy as np

    from kinematics import load_trajectory
    from rig.cli.progress import progress_display
    from rig.client import Progress, checked_motion
    from rig.csvio import check_output
    from rig.virtual import CONTROLLERS, cycle_times, force_bounds, merit, on_reference, run_loop

    controllers = CONTROLLERS if asked.compare else tuple(dict.fromkeys(asked.controllers))
    for name in controllers:
        if name not in CONTROLLERS:
            raise typer.BadParameter(
                f"{name!r} must be one of {', '.join(CONTROLLERS)}", param_hint="'--controller'"
            )  # fmt: skip
    if asked.output is not None and len(controllers) > 1:
        raise typer.BadParameter("the motion of a single --controller can be written", param_hint="'--output'")
    if asked.plot is not None and asked.plot.suffix.lower() not in _SUFFIXES:
        raise typer.BadParameter(f"{asked.plot} must end in {', '.join(_SUFFIXES)}", param_hint="'--plot'")
    if asked.plant is not None and asked.built is not None:
        raise typer.BadParameter("--plant says already what moves", param_hint="'--as-built'")
    error = _mass_error(asked.mass_error)
    twist = None if asked.twist is None else np.array(parse_six(asked.twist, "vx,vy,vz,wx,wy,wz", "--twist"))
    for path in filter(None, (asked.output, asked.plot)):
        check_output(path)
    config = _config(asked.machine)
    table, verdict = checked_motion(config, load_trajectory(asked.trajectory, config.machine.geometry.home_pose))
    warnings = [] if verdict.passed else [f"a rig would not run it: {verdict.message}"]
    wrenches = _wrenches(asked.wrench, cycle_times(config, table))
    start, bounds = on_reference(config, table, twist), force_bounds(config)
    found: list[Merit] = []
    traces: list[LoopTrace] = []
    plants, truth = _plants(config, asked, error)
    with progress_display(progress) as show:
        for name in controllers:
            for label, plant in plants:
                show(Progress(f"{name}, {label}", len(found) / (len(controllers) * len(plants))))
                run = run_loop(
                    config, table, name, plant=plant, friction=truth.friction, hose=truth.hose,
                    start=start, wrenches=wrenches,
                )  # fmt: skip
                found.append(merit(run, label, bounds))
                if label in ("as modelled", "as given", "as built"):
                    traces.append(_trace(run))
                    if asked.output is not None:
                        _write_motion(asked.output, run)
    if asked.plot is not None:
        from rig.report import write_loop_figure

        write_loop_figure(asked.plot, traces)
    for warning in warnings:
        print_warning(warning)
    _tell(config, asked, table, found, as_json)


def _config(name: str) -> "RigConfig":
    """The configuration of that name, or `virtual` with the mechanism of that name."""
    from dynamics import mechanism_names
    from kinematics import InputFileError, parse_toml, read_text
    from rig.config import load_config, shipped_configs

    path = Path(name)
    if name in shipped_configs():
        return load_config(name)
    mechanism = name in mechanism_names()
    if not mechanism:
        try:
            data = parse_toml(read_text(path))
        except InputFileError:
            return load_config(name)  # says what is wrong with it
        mechanism = "platform" in data and "drives" not in data
    if not mechanism:
        return load_config(name)
    return load_config("virtual").changed({"mechanism": name if name in mechanism_names() else str(path.absolute())})


def _plants(config: "RigConfig", asked: ClosedLoop, error: float) -> "tuple[list[tuple[str, Mechanism]], Truth]":
    """What the controllers are tried on, its name and its mechanism, and what no model has of it."""
    from dynamics import load_mechanism
    from rig.virtual import scaled_mechanism, truth_of

    if asked.built is not None:
        config = config.changed({"virtual": {"plant": {"as_built": asked.built}}})
    truth = truth_of(config)
    name, machine = "as modelled" if asked.built is None else "as built", truth.mechanism
    if asked.plant is not None:
        name, machine = "as given", load_mechanism(asked.plant)
    plants = [(name, machine)]
    for factor in (1.0 + error, 1.0 - error) if error else ():
        plants.append((f"masses {100.0 * (factor - 1.0):+.3g} %", scaled_mechanism(machine, factor)))
    return plants, truth


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


def _wrenches(text: str | None, times: "Array") -> "Array | None":
    """The external wrench of each cycle (n, 6): that in its middle."""
    import numpy as np

    from rig.csvio import WRENCH, read_table

    if text is None:
        return None
    if "," in text or not Path(text).exists():
        return np.tile(np.array(parse_six(text, _WRENCH, "--wrench")), (len(times), 1))
    table = read_table(Path(text), WRENCH, increasing=True)
    middles = times + 0.5 * (times[1] - times[0] if len(times) > 1 else 0.0)
    return np.column_stack(
        [np.interp(middles, table.times, column, left=0.0, right=0.0) for column in table.columns(WRENCH).T]
    )


def _trace(run: "LoopRun") -> "LoopTrace":
    import numpy as np

    from rig.report import LoopTrace

    size = np.linalg.norm
    return LoopTrace(
        run.controller, run.times, size(run.error[:, :3], axis=1), size(run.error[:, 3:], axis=1), run.motors
    )


def _write_motion(path: Path, run: "LoopRun") -> None:
    import numpy as np

    from rig.csvio import MOTION, WRENCH, per_leg, write_table

    names = ("t", *MOTION, *WRENCH, *(name for prefix in "fclv" for name in per_leg(prefix)))
    columns = [run.times[:, np.newaxis], run.motion, run.wrenches, run.motors, run.cells(), *run.encoders()]
    write_table(path, names, np.hstack(columns))


def _tell(config: "RigConfig", asked: ClosedLoop, table: "MotionTable", found: "list[Merit]", as_json: bool) -> None:
    paths = {name: str(path) for name, path in (("motion", asked.output), ("plot", asked.plot)) if path is not None}
    if as_json:
        result: dict[str, Any] = {
            "config": str(config.path),
            "mechanism": config.machine.name,
            "trajectory": asked.trajectory,
            "duration_s": table.duration,
            "rate_hz": 1.0 / config.exchange_period,
            "runs": [one.as_dict() for one in found],
            "paths": paths,
        }
        typer.echo(json.dumps(result, indent=2))
        return
    typer.echo(
        f"{config.machine.name}: trajectory {asked.trajectory}, {table.duration:g} s at "
        f"{1.0 / config.exchange_period:g} Hz"
    )
    typer.echo(_HEADER)
    for one in found:
        typer.echo(_line(one))
        for text in _remarks(one):
            typer.echo(f"  {'':16}{text}")
    for path in paths.values():
        typer.echo(f"wrote {path}")


def _line(one: "Merit") -> str:
    numbers = [1e3 * value for value in (*one.position, *one.rotation)]
    force = float((one.force_rms**2).mean() ** 0.5)
    return (
        f"  {one.controller:16}{one.plant:16}"
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

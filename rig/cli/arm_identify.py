"""`rig arm identify`: identification of a serial arm from measured positions and forces."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rig.cli.arm import ArmArgument
from rig.cli.options import JsonOption, ProgressOption, named_by_option, refused_parameters, table_console

if TYPE_CHECKING:
    from rig.analysis import ArmIdentified

_LISTED = 18


def arm_identify_command(
    arm: ArmArgument,
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA.csv…",
            help="Motions without load: t, positions q1…qn of joints or p1…pn of motors (rad, m), and forces tau1…taun "
            "of joints, c1…cn of motors (N m, N) or currents i1…in.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="ARM.toml", help="Arm file to write, never overwritten."),
    ] = None,
    parameters: Annotated[
        Path | None,
        typer.Option(
            metavar="PARAMETERS.toml", help="Dated parameter file with the covariance to write, never overwritten."
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option(metavar="PAGE.html", help="Page on the result to write.")] = None,
    forces: Annotated[
        list[Path] | None,
        typer.Option(metavar="FORCES.csv", help="Forces of each DATA, in order, where they are in files of their own."),
    ] = None,
    loaded: Annotated[
        list[Path] | None, typer.Option(metavar="DATA.csv", help="A motion with the known load on the tip; repeatable.")
    ] = None,
    loaded_forces: Annotated[
        list[Path] | None, typer.Option(metavar="FORCES.csv", help="Forces of each --loaded, as --forces.")
    ] = None,
    load_mass: Annotated[float | None, typer.Option(metavar="KG", help="Mass of the load.")] = None,
    load_center: Annotated[
        str, typer.Option(metavar="X,Y,Z", help="Its centre of mass, in the tip's axes from its origin, m.")
    ] = "0,0,0",
    load_inertia: Annotated[
        str | None,
        typer.Option(metavar="XX,YY,ZZ", help="Its moments of inertia about the centre, kg m²; left out: 0."),
    ] = None,
    position_columns: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help='Columns of positions, by commas; "actual_q_*" is any number in its place.'),
    ] = None,
    force_columns: Annotated[str | None, typer.Option(metavar="NAMES", help="The same for forces or currents.")] = None,
    time_column: Annotated[str, typer.Option(metavar="NAME", help="Column of time, s.")] = "t",
    at: Annotated[
        Literal["joints", "motors"] | None,
        typer.Option(metavar="joints|motors", help="Where columns of other names, or a file's only n, were measured."),
    ] = None,
    rate: Annotated[float | None, typer.Option(metavar="HZ", help="Rate of files without a column of time.")] = None,
    zero: Annotated[
        str | None,
        typer.Option(metavar="Q1,…", help='Joint positions at which motors read 0: such as "-90deg"; left out: 0.'),
    ] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="Angles in the files are in degrees.")] = False,
    gain: Annotated[
        str | None,
        typer.Option(
            metavar="G|G1,…", help="Force per unit of the columns, such as N m/A; one, or one for each drive."
        ),
    ] = None,
    gain_sigma: Annotated[
        str,
        typer.Option(
            metavar="PART|unknown",
            help='Uncertainty of the gains, one sigma; above 0 they are estimated too. "unknown": by --loaded alone.',
        ),
    ] = "0",
    cutoff: Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Cut-off of the low-pass without phase; left out: chosen by the motions."),
    ] = None,
    friction: Annotated[
        str,
        typer.Option(
            metavar="TERMS",
            help="Beside Coulomb and viscous friction: asymmetry, power, stribeck, load, by commas; auto: what "
            "predicts best within the fitted data.",
        ),
    ] = "",
    smoothing: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            help="Speed over which Coulomb friction changes sign, of the RMS speed; left out: chosen within the data.",
        ),
    ] = None,
    rotors: Annotated[bool, typer.Option("--rotors/--no-rotors", help="Identify rotor inertias.")] = True,
    coupling: Annotated[
        bool, typer.Option("--coupling/--no-coupling", help="With the couplings of the arm's motors.")
    ] = True,
    mass: Annotated[
        float, typer.Option(metavar="PART", help="Prior uncertainty of the masses in ARM, one sigma.")
    ] = 0.3,
    center: Annotated[float, typer.Option(metavar="M", help="The same for centres of mass, each axis, m.")] = 0.05,
    inertia: Annotated[float, typer.Option(metavar="PART", help="The same for moments of inertia.")] = 0.5,
    friction_sigma: Annotated[
        float, typer.Option(metavar="PART", help="The same for friction and rotors; at least what forces suggest.")
    ] = 1.0,
    offset: Annotated[
        float, typer.Option(metavar="PART", help="The same for offsets, of each drive's RMS force.")
    ] = 0.05,
    note: Annotated[str, typer.Option(help="Note; stored in the parameter file.")] = "",
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Identify an arm's bodies, rotors, friction, offsets and gains from measured motions and forces.

    Robust weighted least squares with what ARM says as the prior, then the nearest bodies that can exist. Positions and
    forces are filtered without phase. Standard deviations know that the residual is correlated. What was found is
    judged by the last third of each motion, by blocks, and by the last of several motions, beside other models and
    ordinary least squares (OLS) on the same forces.

    Exit code 4: data from which no parameters follow. Exit code 6: a joint's held-out force in motion is not predicted.
    """
    from rig.cli.progress import service_events
    from rig.errors import ExitCode
    from rig.services import ArmIdentifyRequest, arm_identify

    with refused_parameters(), named_by_option(gains="--gain"):
        request = ArmIdentifyRequest(
            arm=arm,
            data=tuple(data),
            forces=tuple(forces or ()),
            loaded=tuple(loaded or ()),
            loaded_forces=tuple(loaded_forces or ()),
            load_mass=load_mass,
            load_center=_three(load_center, "load-center"),
            load_inertia=None if load_inertia is None else _three(load_inertia, "load-inertia"),
            position_columns=_names(position_columns),
            force_columns=_names(force_columns),
            time_column=time_column,
            at=at,
            rate=rate,
            zero=_angles(zero),
            degrees=degrees,
            gains=() if gain is None else _numbers(gain, "gain"),
            gain_sigma="unknown" if gain_sigma == "unknown" else _numbers(gain_sigma, "gain-sigma", 1)[0],
            cutoff=cutoff,
            friction=_names(friction),
            smoothing=smoothing,
            rotors=rotors,
            coupling=coupling,
            mass=mass,
            center=center,
            inertia=inertia,
            friction_sigma=friction_sigma,
            offset=offset,
            output=output,
            parameters=parameters,
            page=page,
            note=note,
        )
    with service_events(progress) as report:
        result = arm_identify(request, report)
    if as_json:
        typer.echo(json.dumps(result.as_dict(), indent=2))
    else:
        _print(result.found)
        for name, path in (("arm file", output), ("parameters", parameters), ("page", page)):
            if path is not None:
                typer.echo(f"{name}: {path}")
    if not result.predicts:
        raise typer.Exit(ExitCode.MISFIT)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _numbers(text: str, option: str, count: int | None = None) -> tuple[float, ...]:
    """Parse numbers separated by commas. Raises typer.BadParameter."""
    from kinematics import read_list

    try:
        return tuple(read_list(text, count))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=f"'--{option}'") from None


def _three(text: str, option: str) -> tuple[float, float, float]:
    x, y, z = _numbers(text, option, 3)
    return x, y, z


def _angles(text: str | None) -> tuple[float, ...]:
    """Parse joint positions, each in rad or m or with a unit. Raises typer.BadParameter."""
    from kinematics import Quantity

    kinds = Quantity("angle", "rad"), Quantity("length", "m")
    found = []
    for part in text.split(",") if text else ():
        faults = []
        for kind in kinds:
            try:
                found.append(kind.read(part))
                break
            except ValueError as error:
                faults.append(str(error))
        else:
            raise typer.BadParameter(faults[0], param_hint="'--zero'")
    return tuple(found)


def _print(found: "ArmIdentified") -> None:
    """Print hold-outs, the parameters that changed most, data, residual, gains and whether forces are predicted."""
    from rich.table import Table

    result = found.result
    joints = [joint.name for joint in result.arm.joints]
    console = table_console()
    table = Table(title=f"{result.arm.name}: relative residual of held-out joint forces, %")
    table.add_column("split", no_wrap=True)
    table.add_column("model", no_wrap=True)
    for name in joints:
        table.add_column(name, justify="right")
    for place, split in enumerate(result.formulation("chosen").hold_outs):
        ordinary = result.formulation("ordinary").hold_outs[place]
        for title, values in (
            ("OLS", ordinary.held_out),
            ("OLS, in motion", ordinary.moving),
            ("found", split.held_out),
            ("found, in motion", split.moving),
        ):
            cells = (f"{100.0 * value:.1f}" for value in values)
            style = "bold" if title == "found" else None
            table.add_row(found.split_name(split.split), title, *cells, style=style)
    console.print(table)
    shown = Table(title="Base parameters that changed most, in their standard deviations")
    for heading in ("named after", "before", "found", "±", "unit"):
        shown.add_column(heading, justify="left" if heading in ("named after", "unit") else "right", no_wrap=True)
    change = abs(result.base_after - result.base_before) / result.base_sigma
    for row in sorted(range(len(change)), key=lambda row: -change[row])[:_LISTED]:
        numbers = f"{result.base_before[row]:.4g}", f"{result.base_after[row]:.4g}", f"{result.base_sigma[row]:.2g}"
        shown.add_row(result.base.names[row], *numbers, result.base.units[row])
    console.print(shown)
    samples, fit = result.samples, result.fit
    typer.echo(
        f"{len(samples.t)} rows at {samples.rate:g} Hz, cut-off {samples.cutoff:.3g} Hz; the data determine "
        f"{int(result.determined.sum())} of {len(result.determined)} base parameters (σ at most half of the prior's); "
        f"physically consistent bodies: {'yes' if fit.consistent else 'NO'}"
    )
    white = result.whiteness
    names = ", ".join(name for name, is_white in zip(joints, white.white, strict=True) if not is_white)
    if names:
        typer.echo(
            f"the residual is not white noise ({names}), correlated over {min(white.correlation_time):.2g} to "
            f"{max(white.correlation_time):.2g} s: standard deviations take it into account"
        )
    else:
        typer.echo("the residual may be white noise")
    for each in found.gain_parameters():
        typer.echo(f"{each.name}: {each.value:.4g} ± {each.sigma:.2g} times the stated one")
    if found.misfits:
        where, joint, left = max(found.misfits, key=lambda each: each[2])
        typer.echo(
            f"fit: MISFIT: {found.split_name(where)}, {joints[joint]}: {100.0 * left:.0f} % of the held-out force in "
            "motion are not predicted"
        )
    else:
        typer.echo("fit: predicts what was held out")

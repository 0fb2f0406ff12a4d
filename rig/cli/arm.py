"""`rig arm`: dynamics of a serial arm of one's own, by the formulations of the papers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from rig.cli.help import command_group
from rig.cli.options import JsonOption, OutputOption, named_by_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rig.services import ArmTableResult, JointPeak

app = command_group(
    name="arm",
    help="Dynamics of a serial arm of your own: forces, accelerations, simulation, computed torque.",
    no_args_is_help=True,
)

ArmArgument = Annotated[
    str,
    typer.Argument(
        metavar="ARM",
        help="An arm file (TOML) or a URDF file, or the name of a shipped arm: puma-560, scara, tx40.",
    ),
]
_TrajectoryArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TRAJECTORY",
        help="A trajectory file in joint space (TOML), or a table (CSV) of t, q1…qn, qd1…qdn, qdd1…qddn: rad, m, s.",
    ),
]
_FiguresOption = Annotated[
    Path | None,
    typer.Option("--figures", metavar="DIR", help="Folder for plots as SVG and PDF; created if missing."),
]
_CoulombOption = Annotated[
    float,
    typer.Option(
        "--coulomb-speed",
        min=0.0,
        help="Joint speed, rad/s or m/s, below which Coulomb friction falls to 0; 0: the sign of the speed.",
    ),
]
_SubstepsOption = Annotated[
    int | None,
    typer.Option(
        "--substeps",
        min=1,
        max=10_000,
        help="Steps of Runge and Kutta's formula for each row; left out: as many as friction needs at the start.",
    ),
]


def _rate(what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option("--rate", metavar="HZ", help=f"{what} a trajectory file, Hz.")
    return option


@app.callback()
def _arm() -> None:
    """Dynamics of a serial arm of your own: forces, accelerations, simulation, computed torque."""


@app.command("inverse")
def inverse(
    arm: ArmArgument,
    trajectory: _TrajectoryArgument,
    output: OutputOption,
    formulation: Annotated[
        str,
        typer.Option(
            "--formulation",
            metavar="NAME",
            help="compiled, newton-euler (iterative in standard frames), base-axes, modified-newton-euler, iterative "
            "(in modified frames), lagrange; with the errors of their print: newton-euler-as-printed, "
            "modified-as-printed, iterative-as-printed.",
        ),
    ] = "compiled",
    rate: Annotated[float, _rate("Samples of")] = 500.0,
    coulomb_speed: _CoulombOption = 0.0,
    figures: _FiguresOption = None,
    as_json: JsonOption = False,
) -> None:
    """Joint forces of a motion: inverse dynamics.

    Writes t, q1…qn, qd1…qdn, qdd1…qddn, tau1…taun in rad, m, s, N m, N: forces at the joints, with motors and friction.
    All formulations give the same forces; the compiled one is some thousand times as fast. Prints the largest force of
    each joint, and names the limits that the motion exceeds.
    """
    from rig.cli.progress import show_notices
    from rig.services import ArmInverseRequest, arm_inverse

    with named_by_option():
        request = ArmInverseRequest(arm, trajectory, output, formulation, rate, coulomb_speed, figures)
        found = arm_inverse(request, show_notices)
    _print_table(found, "largest force", as_json)


@app.command("forward")
def forward(
    arm: ArmArgument,
    table: Annotated[
        Path,
        typer.Argument(metavar="TABLE.csv", help="Columns t, q1…qn, qd1…qdn, tau1…taun; qdd1…qddn may follow."),
    ],
    output: OutputOption,
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help="compiled, or strobing (Turney, Mudge & Lee 1980, §§6, 7).")
    ] = "compiled",
    coulomb_speed: _CoulombOption = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Joint accelerations of joint forces: forward dynamics, row by row.

    Takes what `rig arm inverse` writes, and with their --coulomb-speed (0.01) what simulate and control write. Writes
    t, q1…qn, qd1…qdn, qdd1…qddn, tau1…taun. Where the table has accelerations, prints the largest difference from them.
    """
    from rig.cli.progress import show_notices
    from rig.services import ArmForwardRequest, arm_forward

    if method not in ("compiled", "strobing"):
        raise typer.BadParameter(f"{method!r} must be compiled or strobing", param_hint="'--method'")
    with named_by_option():
        chosen = cast("Literal['compiled', 'strobing']", method)
        request = ArmForwardRequest(arm, table, output, chosen, coulomb_speed)
        found = arm_forward(request, show_notices)
    _print_table(found, "largest acceleration", as_json)
    if not as_json and "difference" in found.details:
        typer.echo("largest difference from the table's accelerations, of each joint:")
        _print_differences(found.peaks, found.details["difference"])


@app.command("simulate")
def simulate(
    arm: ArmArgument,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE.csv|TRAJECTORY",
            help="Columns t, evenly spaced, and tau1…taun, each held until the next row; q1…qn and qd1…qdn, if there, "
            "give the start. Or a trajectory file: the forces of that motion are held for a sample.",
        ),
    ],
    output: OutputOption,
    rate: Annotated[float, _rate("Samples of")] = 500.0,
    substeps: _SubstepsOption = None,
    coulomb_speed: _CoulombOption = 0.01,
    figures: _FiguresOption = None,
    as_json: JsonOption = False,
) -> None:
    """Motion of an arm under joint forces, by Runge and Kutta's formula.

    Without q and qd in the table the arm starts at rest with all joints at 0. Writes t, q1…qn, qd1…qdn, qdd1…qddn,
    tau1…taun. Where the motion is given, prints how far the simulation is from it: no loop is closed, so that the two
    part.
    """
    from rig.cli.progress import show_notices
    from rig.services import ArmSimulateRequest, arm_simulate

    with named_by_option():
        request = ArmSimulateRequest(arm, source, output, rate, substeps, coulomb_speed, figures)
        found = arm_simulate(request, show_notices)
    _print_table(found, "largest position", as_json)
    if as_json:
        return
    typer.echo(f"{found.details['substeps']} steps a row, {found.details['speed']:.0f} times real time")
    if "difference" in found.details:
        typer.echo("difference from the given motion, at the end and the largest, of each joint:")
        apart = found.details["difference"]
        _print_differences(found.peaks, apart["end"], apart["largest"])


@app.command("control")
def control(
    arm: ArmArgument,
    trajectory: _TrajectoryArgument,
    output: OutputOption,
    plant: Annotated[
        str | None,
        typer.Option("--plant", metavar="ARM", help="The arm that is controlled; left out: ARM, the model itself."),
    ] = None,
    law: Annotated[
        str,
        typer.Option(
            "--law",
            metavar="NAME",
            help="mended: eq. 4.4, Newton–Euler; lagrange: eq. 4.1; as-printed: eq. 4.1 with the sign of eq. 3.10.",
        ),
    ] = "mended",
    kp: Annotated[
        str, typer.Option("--kp", metavar="K[,K…]", help="K_p, 1/s²: a number, or one for each joint.")
    ] = "100",
    kv: Annotated[
        str, typer.Option("--kv", metavar="K[,K…]", help="K_v, 1/s: a number, or one for each joint.")
    ] = "20",
    gains: Annotated[
        Path | None,
        typer.Option(
            "--gains", metavar="FILE", help="TOML file of kp and kv, each a number, n numbers, or n rows of n numbers."
        ),
    ] = None,
    rate: Annotated[float, _rate("Sampling of the controller on")] = 100.0,
    substeps: _SubstepsOption = None,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview", help="Take the mean acceleration of the coming sample, which a held force can achieve."
        ),
    ] = False,
    coulomb_speed: _CoulombOption = 0.01,
    figures: _FiguresOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an arm follow a motion under computed torque (Lee, Chung, Mudge & Turney 1982).

    Forces are computed at each sample and held; the arm is simulated in between. Gains under which the error may not
    vanish are refused, with the condition (a), (b) or (c) of the paper that they break. Writes t, q1…qn, qd1…qdn,
    qdd1…qddn, e1…en (desired minus actual), tau1…taun, and prints the largest error of each joint.
    """
    from rig.cli.progress import show_notices
    from rig.services import ArmControlRequest, arm_control

    if law not in ("mended", "lagrange", "as-printed"):
        raise typer.BadParameter(f"{law!r} must be mended, lagrange or as-printed", param_hint="'--law'")
    with named_by_option():
        chosen = cast("Literal['mended', 'lagrange', 'as-printed']", law)
        request = ArmControlRequest(
            arm, trajectory, output, plant, chosen, kp, kv, gains, rate, substeps, preview, coulomb_speed, figures
        )
        found = arm_control(request, show_notices)
    _print_table(found, "largest error", as_json)


@app.command("count")
def count(
    arm: Annotated[
        str | None,
        typer.Argument(metavar="ARM", help="An arm: counts on its own structure, where zeros cost nothing."),
    ] = None,
    structure: Annotated[
        str,
        typer.Option(
            "--structure", metavar="RP…", help="Kinds of joints, such as RRPR: a chain of them without zeros, instead."
        ),
    ] = "",
    joints: Annotated[
        int | None, typer.Option("--joints", min=1, help="A chain of so many revolute joints without zeros, instead.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Operations of every formulation, of mass matrix and acceleration by strobing, and of the control laws.

    Counted by running the algorithms on numbers that count. What is 0, 1 or −1 in an arm's geometry, masses and gravity
    costs nothing; motors and friction are not counted.
    """
    from rig.cli.progress import show_notices
    from rig.services import ArmCountRequest, arm_count

    with named_by_option(arm="ARM"):
        found = arm_count(ArmCountRequest(arm, structure, joints), show_notices)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
        return
    typer.echo(found.what)
    typer.echo(f"{'':24}{'×':>8}{'+':>8}{'÷':>6}{'sin, cos':>10}{'total':>9}")
    for one in found.counts:
        numbers = one.operations
        typer.echo(
            f"  {one.name:22}{numbers.multiplications:8}{numbers.additions:8}{numbers.divisions:6}"
            f"{numbers.functions:10}{numbers.total:9}  {one.title}"
        )


@app.command("compare")
def compare(
    arm: ArmArgument,
    trajectory: _TrajectoryArgument,
    output: OutputOption,
    rate: Annotated[float, _rate("Samples of")] = 100.0,
    as_printed: Annotated[
        bool, typer.Option("--as-printed", help="Also the formulations with the errors of their print.")
    ] = False,
    figures: _FiguresOption = None,
    as_json: JsonOption = False,
) -> None:
    """Joint forces of a motion by every formulation: differences, operations and time.

    Writes t and, for each formulation, tau1_NAME…taun_NAME. Prints the largest difference from the compiled one,
    relative to the joint's largest force.
    """
    from rig.cli.progress import service_events
    from rig.services import ArmCompareRequest, arm_compare

    with named_by_option(), service_events() as show:
        found = arm_compare(ArmCompareRequest(arm, trajectory, output, rate, as_printed, figures), show)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
        return
    typer.echo(f"{found.arm}: {found.rows} samples")
    typer.echo(f"{'':24}{'difference':>12}{'operations':>12}{'µs':>10}")
    for one in found.formulations:
        operations = "" if one.operations is None else str(one.operations)
        typer.echo(f"  {one.name:22}{one.difference:12.1e}{operations:>12}{1e6 * one.seconds:10.1f}  {one.title}")
    _print_paths(found.table, found.figures)


def _print_table(found: "ArmTableResult", what: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
        return
    typer.echo(f"{found.arm}: {found.rows} samples; {what} of each joint:")
    _print_peaks(found.peaks)
    _print_paths(found.table, found.figures)


def _print_peaks(peaks: "Sequence[JointPeak]") -> None:
    width = max(len(peak.joint) for peak in peaks)
    for peak in peaks:
        typer.echo(f"  {peak.joint:{width}}  {peak.value:12.5g} {peak.unit:6} at {peak.time:g} s")


def _print_differences(peaks: "Sequence[JointPeak]", *columns: "Sequence[float]") -> None:
    """Print a line for each joint: its values in the unit of its peak."""
    width = max(len(peak.joint) for peak in peaks)
    for peak, *values in zip(peaks, *columns, strict=True):
        typer.echo(f"  {peak.joint:{width}}  " + "".join(f"{value:12.3g} " for value in values) + peak.unit)


def _print_paths(table: Path, figures: "Sequence[Path]") -> None:
    typer.echo(f"table: {table}")
    for path in figures:
        if path.suffix == ".svg":
            typer.echo(f"plot: {path}")

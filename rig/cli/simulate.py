"""`rig simulate`: the platform's motion under given leg forces, or along a trajectory under a controller."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.closed_loop import ClosedLoop, closed_loop
from rig.cli.options import JsonOption, ProgressOption, named_by_option, parse_pose, parse_six

_STEP = 0.0005


def simulate(
    machine: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG|MECHANISM",
            help="A rig's configuration, for its gains, rate and drives; a mechanism has those of `virtual`. Under "
            "leg forces: a mechanism.",
        ),
    ] = "virtual",
    forces: Annotated[
        Path | None,
        typer.Argument(metavar="FORCES.csv", help="Columns t, f1…f6: actuator forces in N, linear between the rows."),
    ] = None,
    trajectory: Annotated[
        str | None,
        typer.Option(
            "--trajectory",
            metavar="TRAJECTORY",
            help='Trajectory to follow: a file (TOML), a motion\'s table or recording, or "demo"; instead of FORCES.',
        ),
    ] = None,
    controllers: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            metavar="NAME",
            help="pd, none, or a control law: force, computed-torque, position, observer, or an installed one; may be "
            "repeated for a comparison. Left out: force.",
        ),
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Every controller.")] = False,
    plant: Annotated[
        str | None,
        typer.Option(
            "--plant", metavar="MECHANISM", help="Mechanism of the plant, if it differs from the controller's model."
        ),
    ] = None,
    built: Annotated[
        int | None,
        typer.Option("--as-built", metavar="SEED", help="Use an as-built machine as the plant, see `rig demo`.", min=0),
    ] = None,
    mass_error: Annotated[
        str,
        typer.Option(
            "--mass-error",
            metavar="PERCENT",
            help="Also test each controller on plants with masses and inertias greater and smaller by this; 0%: none.",
        ),
    ] = "20%",
    bandwidth: Annotated[
        float | None,
        typer.Option(
            "--bandwidth",
            metavar="HZ",
            min=0.01,
            max=1000.0,
            help="Gains for all controllers: natural frequency of the fastest direction at home, with their damping "
            "ratios; left out: the configuration's gains.",
        ),
    ] = None,
    mujoco: Annotated[
        bool, typer.Option("--mujoco", help="Also test on plants that MuJoCo moves; needs the extra mujoco.")
    ] = False,
    pose: Annotated[
        str | None,
        typer.Option("--pose", metavar="x,y,z,qw,qx,qy,qz", help="Initial pose; with a trajectory, its start."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Motion to write, CSV; it appears only when complete."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot of tracking and forces over time: .svg, .pdf or .png."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="PAGE.html",
            help="Page on the comparison to write. With --bandwidth, force and computed-torque it also compares these "
            "at the same slowest direction and gain margin.",
        ),
    ] = None,
    dt: Annotated[
        float | None,
        typer.Option(
            "--dt", metavar="S", help="Maximum integration step, s; left out: 0.0005, or the configuration's."
        ),
    ] = None,
    twist: Annotated[
        str | None,
        typer.Option("--twist", metavar="vx,vy,vz,wx,wy,wz", help="Initial twist, base frame; left out: at rest."),
    ] = None,
    wrench: Annotated[
        str | None,
        typer.Option(
            "--wrench",
            metavar="fx,fy,fz,mx,my,mz",
            help="A constant external wrench at the platform origin, platform axes; or columns of these names in "
            "FORCES; on a trajectory, or a CSV file of t and these columns.",
        ),
    ] = None,
    coulomb_speed: Annotated[
        float | None,
        typer.Option("--coulomb-speed", metavar="M/S", help="Leg speed that smooths Coulomb friction; 0 for none."),
    ] = None,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Motion under leg forces, or along a trajectory in the closed loop.

    With FORCES.csv and --pose: forward dynamics, integrated by fourth-order Runge-Kutta. Writes a row at every time of
    the input: t and the columns of a motion. It ends with exit code 4 and the rows so far where a leg leaves its
    stroke: without a control loop a platform is unstable.

    With --trajectory: plant, drives and control cycle of the virtual rig, compiled, hundreds of times as fast as real
    time. Compares the tracking error, effort and robustness to plant errors of controllers. The rig's safety stops are
    not simulated. pd: stiffness and damping of each leg, no model. force: the same with model feedforward.
    computed-torque: inverse dynamics of the commanded platform acceleration. position: the drives' own loops. observer:
    force with a disturbance observer. none: model feedforward only; ends where a leg leaves its stroke. A second table
    has each loop's natural frequencies at home and its gain margin; --bandwidth compares all at the same. -o writes the
    motion of a single controller: t, a motion, the wrench, forces f, cells c, encoders l and speeds v.
    """
    if trajectory is not None:
        loop_only = {"FORCES.csv": forces, "--pose": pose, "--dt": dt, "--coulomb-speed": coulomb_speed}
        _refuse_others(loop_only, "goes with leg forces, not with --trajectory")
        chosen = tuple(controllers or ("force",))
        asked = ClosedLoop(
            machine, trajectory, chosen, compare, plant, built, mass_error, bandwidth, mujoco, twist, wrench, output,
            plot, page,
        )  # fmt: skip
        closed_loop(asked, as_json, progress)
        return
    forces_only = {
        "--controller": controllers, "--compare": compare or None, "--plant": plant, "--as-built": built,
        "--bandwidth": bandwidth, "--mujoco": mujoco or None, "--plot": plot, "--page": page, "--json": as_json or None,
        "--progress": progress or None,
    }  # fmt: skip
    _refuse_others(forces_only, "goes with --trajectory")
    if forces is None:
        raise typer.BadParameter("give MECHANISM FORCES.csv --pose -o, or a --trajectory", param_hint="'FORCES.csv'")
    if pose is None or output is None:
        raise typer.BadParameter("leg forces need it", param_hint="'--pose'" if pose is None else "'--output'")
    _open_loop(
        machine, forces, pose, output, _STEP if dt is None else dt, twist, wrench, coulomb_speed or 0.0
    )  # fmt: skip


def _refuse_others(given: Mapping[str, object], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise typer.BadParameter(why, param_hint=f"'{name}'")


def _open_loop(
    mechanism: str,
    forces: Path,
    pose: str,
    output: Path,
    dt: float,
    twist: str | None,
    wrench: str | None,
    coulomb_speed: float,
) -> None:
    from rig.cli.progress import show_notices
    from rig.errors import RefusedError
    from rig.services import ForcesRequest, simulate_forces

    with named_by_option(step="--dt"):
        request = ForcesRequest(
            mechanism,
            forces,
            parse_pose(pose, "--pose"),
            output,
            dt,
            None if twist is None else parse_six(twist, "vx,vy,vz,wx,wy,wz", "--twist"),
            None if wrench is None else parse_six(wrench, "fx,fy,fz,mx,my,mz", "--wrench"),
            coulomb_speed,
        )
        found = simulate_forces(request, show_notices)
    if found.departure is not None:
        raise RefusedError(f"{found.departure}\n{found.motion} has the {found.rows} of {found.of} rows before")

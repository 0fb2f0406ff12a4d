"""`rig workspace`: reachable poses of a mechanism's platform, and their conditioning."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rig.cli.options import ClusterOption, JsonOption, MechanismArgument, named_by_option


def workspace(
    mechanism: MechanismArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Folder for workspace.json, layers.csv, samples.npz and two maps, dexterity and limits, as PNG, SVG "
            "and PDF.",
        ),
    ] = None,
    constant_orientation: Annotated[
        str | None,
        typer.Option(
            "--constant-orientation",
            metavar="RX,RY,RZ",
            help='Positions at these angles, rad or "10 deg"; R = Rz Ry Rx. Left out: the orientation at home.',
        ),
    ] = None,
    orientation: Annotated[
        str | None,
        typer.Option(
            "--orientation", metavar="X,Y,Z|home", help="Orientations with the platform origin here instead, m."
        ),
    ] = None,
    grid: Annotated[
        int | None, typer.Option("--grid", metavar="N", min=2, help="Cells along each coordinate; left out: 60.")
    ] = None,
    poses: Annotated[
        int | None, typer.Option("--poses", metavar="COUNT", min=8, help="Approximate total number of poses, instead.")
    ] = None,
    slices: Annotated[
        str | None,
        typer.Option("--slice", metavar="NAME=VALUE", help='One plane only: "z=0.45", or "rz=10 deg".'),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="NAME=LOW:HIGH",
            help="Bounds of a coordinate. Without any, those of the reachable range.",
        ),
    ] = None,
    condition: Annotated[
        float | None, typer.Option("--condition", metavar="BOUND", help="Maximum condition number of H.")
    ] = None,
    characteristic_length: Annotated[
        float | None,
        typer.Option(
            "--characteristic-length", metavar="M", help="Divides moments in H; left out: the platform joints' radius."
        ),
    ] = None,
    clearance: Annotated[
        float | None, typer.Option("--clearance", metavar="M", help="Minimum distance between two legs' surfaces.")
    ] = None,
    leg_radius: Annotated[
        float, typer.Option("--leg-radius", metavar="M", help="Radius of the legs as cylinders.")
    ] = 0.0,
    any_side: Annotated[bool, typer.Option("--any-side", help="Include poses beyond a singularity from home.")] = False,
    threads: Annotated[
        int | None,
        typer.Option("--threads", metavar="N", min=1, help="Number of threads; left out: one per processor."),
    ] = None,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Workspace of the platform on a grid of poses: strokes, joint angles, leg clearance, conditioning.

    Sizes are in m³ for positions, in rad³ for orientations (measure cos ry; the total is 8π²), one power less for a
    slice. "connected" is the part reachable from home.
    """
    from rig.cli.progress import service_events
    from rig.cli.workspace_options import grid_fields
    from rig.services import WorkspaceRequest, sweep_workspace

    if grid is not None and poses is not None:
        raise typer.BadParameter("give --grid or --poses, not both", param_hint="'--poses'")
    fields = grid_fields(constant_orientation, orientation, slices, ranges or ())
    with (
        named_by_option(fixed="--orientation", plane="--slice", ranges="--range"),
        service_events() as show,
    ):
        request = WorkspaceRequest(
            mechanism,
            cells=grid,
            poses=poses,
            condition=condition,
            characteristic_length=characteristic_length,
            clearance=clearance,
            leg_radius=leg_radius,
            any_side=any_side,
            threads=threads,
            cluster=cluster,
            output=output,
            **fields,
        )
        found = sweep_workspace(request, show)
    if as_json:
        typer.echo(json.dumps(found.summary | {"paths": [str(path) for path in found.paths]}, indent=2))
        return
    _print(found.summary)
    for path in found.paths:
        typer.echo(f"  wrote {path}")


def _print(summary: dict[str, Any]) -> None:
    cells = " × ".join(str(number) for number in summary["shape"])
    typer.echo(f"workspace of {summary['mechanism']}: {summary['kind']}s, {cells} = {summary['poses']} poses")
    typer.echo("  at " + ", ".join(f"{name} = {value:.6g}" for name, value in summary["fixed"].items()))
    typer.echo("  in " + ", ".join(f"{name} {low:.4g} to {high:.4g}" for name, (low, high) in summary["box"].items()))
    for name in ("reachable", "connected"):
        part = summary[name]
        if part is None:
            continue
        typer.echo(f"  {name}: {part['size']:.6g} {summary['unit']}, {100.0 * part['fraction']:.2f} % of the box")
        if "condition" in part:
            typer.echo(
                f"    condition number {part['condition']['best']:.4g} at best, "
                f"{part['condition']['median']:.4g} median; "
                f"legs no nearer than {1000.0 * part['least_clearance']:.4g} mm"
            )
        if part["touches_boundary"]:
            typer.echo("    it touches the edge of the box, which may cut it: see --range")
    beyond = ", ".join(f"{name.lower()} {count}" for name, count in summary["beyond"].items() if count)
    typer.echo(f"  poses beyond a limit: {beyond or 'none'}")

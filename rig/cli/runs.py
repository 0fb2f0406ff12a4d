"""`rig runs`: the runs of a recordings folder, listed, judged, compared and annotated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import JsonOption, parse_judge

if TYPE_CHECKING:
    from rig.runs import Listed
    from rig.services import RunsResult

_MOST_NAME = 24


def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of recordings, or one recording.")] = Path(
        "recordings"
    ),
    search: Annotated[str, typer.Option("--search", metavar="TEXT", help="Only runs matching these words.")] = "",
    starred: Annotated[bool, typer.Option("--starred", help="Only runs with a star.")] = False,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="FILE#ID", help="Only this run; may be repeated."),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Compute missing numbers of the listed runs; seconds each.")
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare the numbers of the listed runs, the oldest first.")
    ] = False,
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG",
            help="Configuration with the thresholds, [validation], that the motion's file lacks; left out: as "
            "recorded.",
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Use only these thresholds, named as in [validation]; may be repeated."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="TEXT", help="New name of the one --run.")] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="New note on the one --run.")] = None,
    star: Annotated[
        bool | None, typer.Option("--star/--no-star", help="Set or remove the star of the one --run.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs of a folder of recordings, the newest first.

    A run is one executed motion: amplitude, operator, injected faults, outcome and, once judged, residual, tracking
    error and verdict, as in `rig report FILE#ID`. Names, notes and stars are stored in runs.json next to the
    recordings, which are not changed.
    """
    from rig.cli.progress import print_notice, print_step
    from rig.services import Event, Notice, RunsRequest, list_runs

    request = RunsRequest(
        folder,
        search,
        starred,
        tuple(run or ()),
        judge=judge,
        compare=compare,
        thresholds=parse_judge(thresholds, threshold or ()),
        alone=bool(threshold),
        name=name,
        note=note,
        star=star,
    )

    def show(event: Event) -> None:
        if isinstance(event, Notice):
            print_notice(event)
        else:
            print_step(event.values["run"])

    found = list_runs(request, show)
    if found.comparison is not None:
        from rig.report import comparison_text  # slow to load and not needed for a list

        text = json.dumps({"comparison": found.comparison}, indent=2) if as_json else comparison_text(found.comparison)
        typer.echo(text)
    elif as_json:
        typer.echo(json.dumps({"runs": [one.described() for one in found.runs]}, indent=2))
    else:
        _print(found)


def _print(found: RunsResult) -> None:
    if not found.runs:
        typer.echo(f"{found.folder}: no runs")
        return
    typer.echo(f"  {'name':<{_MOST_NAME}} size  {'residual':>10} {'position':>10}  {'verdict':<10} {'outcome':<10} run")
    for one in found.runs:
        typer.echo(_line(one))


def _line(one: Listed) -> str:
    run, headline = one.run, (one.numbers or {}).get("headline", {})
    name = one.name if len(one.name) <= _MOST_NAME else f"{one.name[: _MOST_NAME - 1]}…"
    size = "–" if run.amplitude is None else f"{100 * run.amplitude:.0f} %"
    verdict = one.verdict or ("none" if one.numbers else "–")
    residual = _number(headline.get("residual_n"), 1.0, "N", 3)
    position = _number(headline.get("position_m"), 1e6, "µm", 1)
    cells = [
        f"{'★' if one.entry.starred else ' '} {name:<{_MOST_NAME}} {size:>5}",
        f"{residual:>10} {position:>10}",
        f"{verdict:<10} {run.outcome:<10} {run.id}",
    ]
    more = [one.run.operator, one.note, *(f"injected {fault}" for fault in run.injected), run.cause]
    if one.speed is not None:
        more.append(f"at {100 * one.speed:.0f} % of its speed")
    more_text = "; ".join(text for text in more if text)
    return " ".join([cells[0], cells[1], "", cells[2]]) + (f"\n      {more_text}" if more_text else "")


def _number(value: Any, scale: float, unit: str, digits: int) -> str:
    return "–" if value is None else f"{scale * value:.{digits}f} {unit}"

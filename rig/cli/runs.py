"""`rig runs`: the runs of a folder of recordings, listed, judged, compared, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import JsonOption, parse_judge, print_warning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rig.runs import Catalogue, Listed

_MOST_NAME = 24
_LOOKS = 5  # at runs that come to their end while others are counted


def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of recordings, or one recording.")] = Path(
        "recordings"
    ),
    search: Annotated[str, typer.Option("--search", metavar="TEXT", help="Only runs of which these words tell.")] = "",
    starred: Annotated[bool, typer.Option("--starred", help="Only runs with a star.")] = False,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="FILE#ID", help="Only this run; may be given repeatedly."),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Count the numbers of those listed that have none yet; seconds each.")
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Set the numbers of those listed side by side, the oldest first.")
    ] = False,
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="CONFIG",
            help="Configuration whose [validation] judges, where the motion's file does not; left out: as recorded.",
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Judge by these and no others, as [validation] names them; repeatedly."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="TEXT", help="Call the one --run so.")] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Note this on the one --run.")] = None,
    star: Annotated[bool | None, typer.Option("--star/--no-star", help="Give the one --run a star, or none.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs of a folder of recordings, the newest first.

    A run is one motion that was followed: with its amplitude, who operated it, what was injected, how it ended, and,
    once it is judged, what the model left, how well it was tracked, and the verdict: as `rig report FILE#ID` has them.
    Names, notes and stars are kept in runs.json beside the recordings, which stay as they are.
    """
    from rig.errors import InputError
    from rig.runs import Catalogue, matches

    judge_by = parse_judge(thresholds, threshold or ())
    catalogue = Catalogue(folder)
    changes = {key: value for key, value in (("name", name), ("note", note), ("starred", star)) if value is not None}
    if changes:
        if run is None or len(run) != 1:
            raise InputError("--name, --note and --star are of one run: name it by --run FILE#ID")
        catalogue.change(run[0], changes)
    wanted = set(run or ())

    def listed() -> list[Listed]:
        there = catalogue.runs()
        if missing := sorted(wanted - {one.run.id for one in there}):
            raise InputError(f"{folder}: has no run {', '.join(missing)}")
        chosen = [one for one in there if not wanted or one.run.id in wanted]
        return [one for one in chosen if matches(one, search) and (one.entry.starred or not starred)]

    found, uncounted = _counted(catalogue, listed) if judge or compare else (listed(), [])
    for reason in (*catalogue.unreadable, *uncounted):
        print_warning(reason)
    if judge_by is not None:
        found = [one.judged_by(judge_by, alone=bool(threshold)) for one in found]
    if compare:
        _tell_comparison(found, as_json)
    elif as_json:
        typer.echo(json.dumps({"runs": [one.described() for one in found]}, indent=2))
    else:
        _tell(catalogue, found)


def _counted(catalogue: Catalogue, listed: Callable[[], list[Listed]]) -> tuple[list[Listed], list[str]]:
    """The runs that `listed` finds with their numbers, and why some that are over have none."""
    for _ in range(_LOOKS):
        faults = catalogue.count(listed(), lambda which: typer.echo(f"… {which}", err=True))
        found = listed()  # one may have come to its end, or more been recorded of it, while others were counted
        left = [one.run.id for one in found if one.numbers is None and one.run.end is not None]
        if len(left) <= len(faults):  # one for each that cannot be counted
            return found, faults
    return found, [*faults, *(f"{run}: its recording changed while it was counted" for run in left)]


def _tell_comparison(found: Sequence[Listed], as_json: bool) -> None:
    from rig.errors import InputError
    from rig.report import comparison_text
    from rig.runs import compare_runs

    over = [one for one in reversed(found) if one.numbers is not None]
    if len(over) < 2:
        raise InputError(f"{len(over)} of the runs chosen can be counted: two or more are needed to compare")
    entries = compare_runs(over)
    typer.echo(json.dumps({"comparison": entries}, indent=2) if as_json else comparison_text(entries))


def _tell(catalogue: Catalogue, found: Sequence[Listed]) -> None:
    if not found:
        typer.echo(f"{catalogue.folder}: no runs")
        return
    typer.echo(f"  {'name':<{_MOST_NAME}} size  {'residual':>10} {'position':>10}  {'verdict':<10} {'outcome':<10} run")
    for one in found:
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
    said = "; ".join(text for text in more if text)
    return " ".join([cells[0], cells[1], "", cells[2]]) + (f"\n      {said}" if said else "")


def _number(value: Any, scale: float, unit: str, digits: int) -> str:
    return "–" if value is None else f"{scale * value:.{digits}f} {unit}"

"""`rig paper`: reproduction of the studies of five papers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import JsonOption, print_styled

if TYPE_CHECKING:
    from rig.papers import Claim, Study

_ALL = "all"


def paper(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="dasgupta-1998, pedrammehr-2012, turney-1980, lee-1982, iterative-newton-euler, or all of them.",
        ),
    ] = _ALL,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write to; created if missing.")
    ] = Path("papers"),
    as_json: JsonOption = False,
) -> None:
    """Reproduce the study of a paper: its figures, tables and claims.

    Writes a self-contained HTML file, STUDY.html (papers.html for all), and next to it a folder STUDY with the numbers
    of every figure, table and claim as CSV and the figures as SVG and PDF. Prints every claim with its reproduced
    value. A different or undecidable claim is a result, not an error.
    """
    from rig.cli.progress import service_events
    from rig.services import PaperRequest, paper_studies, reproduce_papers

    known = (*paper_studies(), _ALL)
    if study not in known:
        raise typer.BadParameter(f"{study!r} is none of {', '.join(known)}", param_hint="'STUDY'")
    with service_events() as show:
        found = reproduce_papers(PaperRequest(() if study == _ALL else (study,), output), show)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
        return
    for one in found.studies:
        _print_study(one)
    if len(found.studies) > 1:
        from rig.papers import total

        print_styled(f"{total(found.studies)}\n", bold=True)
    typer.echo(f"page: {found.page}")
    typer.echo(f"next to it: {len(found.tables)} CSV files, {len(found.figures) // 2} figures, each as SVG and PDF")


def _print_study(study: "Study") -> None:
    print_styled(f"{study.name}: {study.title}", bold=True)
    for claim in study.counted:
        _line(claim)
    if study.apart:
        typer.echo("  not counted:")
    for claim in study.apart:
        _line(claim)
    typer.echo(f"  {study.headline}\n")


def _line(claim: "Claim") -> None:
    from rig.papers import Origin, Threshold, Verdict

    source = "claimed" if claim.origin is Origin.PAPER else "expected"
    holds, differs = (claim.verdict is verdict for verdict in (Verdict.HOLDS, Verdict.DIFFERS))
    print_styled(f"  {claim.verdict:13} ", fg="green" if holds else "yellow", nl=False)
    typer.echo(f"{claim.statement}")
    ours = "own threshold" if claim.threshold is Threshold.OURS else ""
    notes = ", ".join(filter(None, (claim.tolerance, ours)))
    text = f"{claim.published}{f' ({notes})' if notes else ''}; computed {claim.found}"
    typer.echo(f"{'':16}{source} {text}" + (f"; difference {claim.difference}" if differs else ""))
    for reason, text in (("not counted", claim.apart), ("why", "" if holds else claim.why)):
        if text:
            typer.echo(f"{'':16}{reason}: {text}")

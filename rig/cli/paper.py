"""`rig paper`: the studies of four papers, reproduced."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.options import JsonOption

if TYPE_CHECKING:
    from rig.papers import Claim, Study

_ALL = "all"


def paper(
    study: Annotated[
        str,
        typer.Argument(metavar="STUDY", help="dasgupta-1998, pedrammehr-2012, turney-1980, lee-1982, or all of them."),
    ] = _ALL,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write to; it is made if it is not there.")
    ] = Path("papers"),
    as_json: JsonOption = False,
) -> None:
    """Reproduce the study of a paper: its figures, its tables, and for each of its claims whether it holds.

    Writes one HTML file that needs nothing else, STUDY.html (papers.html for all), and the numbers of every figure,
    table and claim as CSV files in a folder STUDY beside it. Prints every claim with what comes out here. A claim that
    differs is a result, not an error.
    """
    from rig.cli.progress import progress_display
    from rig.csvio import check_folder
    from rig.operation import Progress
    from rig.papers import STUDIES, reproduce, write_studies

    if study not in (*STUDIES, _ALL):
        known = ", ".join((*STUDIES, _ALL))
        raise typer.BadParameter(f"{study!r} is none of {known}", param_hint="'STUDY'")
    check_folder(output)
    names = STUDIES if study == _ALL else (study,)
    with progress_display() as show:
        studies = reproduce(names, lambda what, fraction: show(Progress(what, fraction)))
    page, *tables = write_studies(studies, output)
    if as_json:
        found = {one.name: [claim.record() for claim in one.claims] for one in studies}
        paths = {"page": str(page), "tables": [str(table) for table in tables]}
        typer.echo(json.dumps({"claims": found, "paths": paths}, indent=2, ensure_ascii=False))
        return
    for one in studies:
        _say(one)
    typer.echo(f"page: {page}")
    typer.echo(f"tables: {len(tables)} CSV files beside it")


def _say(study: "Study") -> None:
    from rig.papers import Verdict

    typer.secho(f"{study.name}: {study.title}", bold=True)
    for claim in study.claims:
        _line(claim)
    typer.echo(f"  {study.count(Verdict.HOLDS)} claims hold, {study.count(Verdict.DIFFERS)} differ\n")


def _line(claim: "Claim") -> None:
    from rig.papers import Origin, Verdict

    says = "claimed" if claim.origin is Origin.PAPER else "expected"
    holds = claim.verdict is Verdict.HOLDS
    typer.secho(f"  {claim.verdict:8}", fg="green" if holds else "yellow", nl=False)
    typer.echo(f"{claim.statement}")
    tolerance = f" ({claim.tolerance})" if claim.tolerance else ""
    text = f"{claim.published}{tolerance}; computed {claim.found}"
    typer.echo(f"{'':10}{says} {text}" + ("" if holds else f"; difference {claim.difference}"))
    if not holds and claim.why:
        typer.echo(f"{'':10}why: {claim.why}")

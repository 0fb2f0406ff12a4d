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
    value, its class (reproduced, erratum, contradicted, not decidable), the unprinted thresholds and inputs for which
    that is the same, and the paper's errata. No class is an error.
    """
    from rig.cli.progress import service_events
    from rig.services import PaperRequest, paper_studies, reproduce_papers

    known = (*paper_studies(), _ALL)
    if study not in known:
        raise typer.BadParameter(f"{study!r} must be one of {', '.join(known)}", param_hint="'STUDY'")
    with service_events() as show:
        found = reproduce_papers(PaperRequest(() if study == _ALL else (study,), output), show)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
        return
    from rig.papers import count

    print_styled(f"{count(found.studies).text}\n", bold=True)
    for one in found.studies:
        _print_study(one)
    typer.echo(f"page: {found.page}")
    typer.echo(f"next to it: {len(found.tables)} CSV files, {len(found.figures) // 2} figures, each as SVG and PDF")


def _print_study(study: "Study") -> None:
    print_styled(f"{study.name}: {study.title}", bold=True)
    typer.echo(f"  {study.counts.text}")
    for claim in study.counted:
        _line(claim)
    if study.apart:
        typer.echo("  not counted:")
    for claim in study.apart:
        _line(claim)
    typer.echo("  errata:")
    for erratum in study.errata:
        typer.echo(f"    {erratum.place}: {erratum.printed}; meant: {erratum.meant} ({erratum.shown})")
    for title, lines in (("not printed", study.open), ("comments of others", study.comments)):
        for line in lines:
            typer.echo(f"  {title}: {line}")
    typer.echo("")


def _line(claim: "Claim") -> None:
    from rig.papers import Origin, Verdict

    source = "claimed" if claim.origin is Origin.PAPER else "expected"
    reproduced = claim.verdict is Verdict.REPRODUCED
    print_styled(f"  {claim.word:13} ", fg="green" if reproduced and claim.counted else "yellow", nl=False)
    typer.echo(f"{claim.statement}")
    notes = f" ({claim.tolerance})" if claim.tolerance else ""
    difference = f"; difference {claim.difference}" if claim.met is False else ""
    typer.echo(f"{'':16}{source} {claim.published}{notes}; computed {claim.found}{difference}")
    if claim.mended is not None:
        typer.echo(f"{'':16}mended: {claim.mended.mend}: {claim.found_mended}")
    why = "" if reproduced else claim.why
    for reason, text in (("range", "; ".join(claim.open)), ("why", why), ("not counted", claim.apart)):
        if text:
            typer.echo(f"{'':16}{reason}: {text}")

"""`rig import`: conversion of another program's log to a recording."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import ConfigArgument, JsonOption, parse_span, table_console

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = {"m": ("mm", 1e3), "m/s": ("mm/s", 1e3), "rad": ("deg", 57.29577951308232), "N": ("N", 1.0)}
_NO_JITTER = 1e-9  # s: smaller jitter is rounding


def import_log(
    config: ConfigArgument,
    data: Annotated[Path, typer.Argument(metavar="DATA.csv", help="The log: a table with one line per sample.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE.mcap", help="Recording to write; left out: next to the log, same name."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="GROUP=NAMES",
            help="Columns of a group, legs 1 to 6 in this order, and their unit: lengths=a,b,c,d,e,f [mm]. Groups: "
            "time, lengths, pose ([mm,deg]), commanded_lengths, commanded_pose, forces.",
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", metavar="FILE", help="TOML file of the same and more; --columns take precedence."),
    ] = None,
    during: Annotated[
        str | None,
        typer.Option("--during", metavar="FROM,TO", help="Interval on the log's own clock, s; left out: all."),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="HZ", help="Cycles per second; left out: the log's sampling rate.")
    ] = None,
    bandwidth: Annotated[
        float | None,
        typer.Option(
            "--bandwidth",
            metavar="HZ",
            help="Cutoff of the low-pass for speeds and accelerations; left out: 25 Hz, or a seventh of the rate.",
        ),
    ] = None,
    align: Annotated[
        bool,
        typer.Option("--align", help="Shift the commanded motion by the delay of the measured one."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "--look", help="Only show how the log is interpreted; nothing is written.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Convert another program's log to a recording: time, leg lengths or poses, optionally leg forces.

    Then `rig identify`, `respond`, `weigh`, `wrench`, `report` and `export` work on it, as far as its columns allow.
    First use --dry-run: it shows rate, jitter, gaps, delay, ranges with the mechanism's limits, and which analyses the
    log does not support. Measured lengths or a pose are required; commanded ones and forces are optional.

    Without --columns and --mapping the names are those of this program's own tables: t, l1…l6, x y z qw qx qy qz,
    f1…f6, or those of `rig export`. Delimiter, decimal comma and lines above the names are recognised. Samples are
    resampled to an even cycle; gaps remain; for a lower --rate they are low-passed first.
    """
    from rig.cli.progress import print_notice
    from rig.services import Event, ImportRequest, Notice
    from rig.services import import_log as make_recording

    request = ImportRequest(
        config,
        data,
        output,
        tuple(columns or ()),
        mapping,
        during=None if during is None else parse_span(during, "--during"),
        rate=rate,
        bandwidth=bandwidth,
        align=align,
        dry_run=dry_run,
    )
    notices: list[Event] = []
    found = make_recording(request, notices.append)
    summary = found.log.summary()
    if as_json:
        paths = {"recording": None if found.recording is None else str(found.recording)}
        typer.echo(json.dumps(summary | {"ranges": list(found.ranges), "paths": paths}, indent=2))
        return
    typer.echo("\n".join(_lines(summary)))
    _print_ranges(found.ranges)
    for notice in notices:
        if isinstance(notice, Notice):
            print_notice(notice)
    typer.echo("nothing was written" if found.recording is None else f"recording  {found.recording}")


def _lines(summary: dict[str, Any]) -> list[str]:
    lines = [
        f"log        {summary['file']}, {summary['rows']} rows, {summary['bytes']} bytes, "
        f"SHA-256 {summary['sha256'][:12]}…",
        f"motion     measured: {_words(summary['measured'])}; reference: {_words(summary['reference'])}; "
        f"forces: {'yes' if summary['forces'] else 'none'}",
        f"rate       {summary['rate_hz']:g} Hz, the log's {summary['own_rate_hz']:g} Hz; {summary['cycles']} cycles, "
        f"{summary['duration_s']:.3f} s from {summary['begin_s']:.6g} s of its clock",
        _stamps(summary),
        f"gaps       {summary['gaps']}, {summary['missing_cycles']} cycles missing, the longest gap "
        f"{summary['longest_gap_s']:.4g} s; the longest stretch without {summary['longest_stretch_s']:.3f} s",
        f"bridged    {summary['bridged']} intervals with samples missing that count as no gap, the longest "
        f"{summary['longest_bridged_s']:.4g} s",
        f"rows       {summary['duplicates']} duplicates left out, {summary['disordered']} put in order, "
        f"{sum(summary['empty_cells'].values())} cells empty, {summary['forces_missing']} cycles without forces",
        f"low-pass   {summary['bandwidth_hz']:.4g} Hz, on speeds and accelerations",
    ]
    if summary["delay_s"] is not None:
        lines.append(
            f"delay      {1e3 * summary['delay_s']:.4f} ± {1e3 * summary['delay_sigma_s']:.4f} ms of measured behind "
            f"commanded motion{', taken off' if summary['aligned'] else ''}"
        )
    if summary["lengths_pose_rms_m"] is not None:
        lines.append(f"lengths    {1e6 * summary['lengths_pose_rms_m']:.4g} µm RMS from those of the poses")
    return lines


def _stamps(summary: dict[str, Any]) -> str:
    if summary["jitter_s"] < _NO_JITTER:
        return "stamps     even"
    taken = "sampled as stamped" if summary["stamps"] == "sampled" else "sampled evenly"
    jitter = f"jitter {1e6 * summary['jitter_s']:.4g} µs RMS, at most {1e6 * summary['jitter_max_s']:.4g} µs"
    return f"stamps     {jitter}; {taken}{_followed(summary)}"


def _followed(summary: dict[str, Any]) -> str:
    if summary["jitter_followed"] is None:
        return ""
    return f" (the motion follows {summary['jitter_followed']:.3f} ± {summary['jitter_followed_sigma']:.3f} of it)"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _print_ranges(ranges: "Sequence[Mapping[str, Any]]") -> None:
    from rich.table import Table

    table = Table(title="Measured ranges and limits")
    for heading in ("", "unit", "least", "most", "limits"):
        table.add_column(heading, justify="left" if heading in ("", "unit") else "right")
    for entry in ranges:
        unit, scale = _SHOWN[entry["unit"]]

        def shown(value: float | None, scale: float = scale) -> str:
            return "–" if value is None else f"{scale * value:.6g}"

        limits = [entry["limit_least"], entry["limit_most"]]
        bounds = "–" if limits[1] is None else " to ".join(shown(each) for each in limits if each is not None)
        table.add_row(entry["name"], unit, shown(entry["least"]), shown(entry["most"]), bounds)
    table_console().print(table)

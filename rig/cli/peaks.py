"""`rig inverse --peaks`: peak reactions of every joint, for its design."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rig.cli.options import table_console

if TYPE_CHECKING:
    from dynamics import ReactionPeak


def peaks_summary(peaks: "Sequence[ReactionPeak]") -> list[dict[str, Any]]:
    """Return the peaks as JSON-able objects: magnitude in `unit`, time in s, components in base and in leg axes."""
    return [asdict(peak) for peak in peaks]


def print_peaks(mechanism: str, peaks: "Sequence[ReactionPeak]") -> None:
    """Print the peaks as a table, a line per joint and leg: magnitude, time, components in base axes."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = f"Peak joint reactions of {mechanism}, components in base axes"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("reaction", no_wrap=True)
    for heading in ("leg", "peak", "t, s", "x", "y", "z"):
        table.add_column(heading, justify="right", no_wrap=True)
    shown = ""
    for peak in peaks:
        if shown and peak.reaction != shown:
            table.add_section()
        decimals = 2 if peak.unit == "N" else 3
        table.add_row(
            f"{peak.reaction}, {peak.unit}" if peak.reaction != shown else "",
            "all" if peak.leg is None else str(peak.leg),
            f"{peak.magnitude:.{decimals}f}",
            "" if peak.time is None else f"{peak.time:.6g}",
            *(f"{component:.{decimals}f}" for component in peak.components),
        )
        shown = peak.reaction
    table_console().print(table)

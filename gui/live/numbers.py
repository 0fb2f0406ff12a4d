"""Numbers as a person reads them: one, and those of recordings as rows of a table, side by side."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gui.texts import tr

Summary = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One line of the table: `value` takes it from a summary of `rig.report.summarize`, in the unit given."""

    name: str
    unit: str
    value: Callable[[Summary], float | None]
    digits: int = 3


def _at(*path: str | int, scale: float = 1.0) -> Callable[[Summary], float | None]:
    def value(summary: Summary) -> float | None:
        found: Any = summary
        for key in path:
            found = found[key]
        return None if found is None else scale * float(found)

    return value


def _legs(name: str, unit: str, *path: str, key: str, scale: float = 1.0, digits: int = 3) -> list[Quantity]:
    return [
        Quantity(
            tr("{name}, leg {leg}").format(name=name, leg=leg + 1),
            unit,
            _at(*path, "legs", leg, key, scale=scale),
            digits,
        )
        for leg in range(6)
    ]


def _lasts(summary: Summary) -> float | None:
    window = summary["window"]
    return None if window["begin_s"] is None else float(window["end_s"] - window["begin_s"])


OF_RUN: tuple[Quantity, ...] = (
    Quantity(tr("Duration"), "s", _lasts),
    Quantity(tr("Rows"), tr("rows"), _at("window", "rows"), 0),
    Quantity(tr("Overruns"), tr("cycles"), _at("window", "overruns"), 0),
    Quantity(tr("Period error, 99 %"), "µs", _at("window", "period_error_p99_s", scale=1e6), 1),
    Quantity(tr("Position error, RMS"), "µm", _at("tracking", "position_rms_m", scale=1e6), 2),
    Quantity(tr("Position error, largest"), "µm", _at("tracking", "position_max_m", scale=1e6), 2),
    Quantity(tr("Rotation error, RMS"), "µrad", _at("tracking", "rotation_rms_rad", scale=1e6), 2),
    Quantity(tr("Rotation error, largest"), "µrad", _at("tracking", "rotation_max_rad", scale=1e6), 2),
    *_legs(tr("Length error, RMS"), "µm", "tracking", key="length_rms_m", scale=1e6, digits=2),
    *_legs(tr("Force measured, RMS"), "N", "force", key="rms_measured_n", digits=2),
    *_legs(tr("Force of the model, RMS"), "N", "force", key="rms_model_n", digits=2),
    *_legs(tr("Residual, RMS"), "N", "force", key="rms_residual_n"),
    *_legs(tr("Residual, mean"), "N", "force", key="bias_n"),
    *_legs(tr("Residual, largest"), "N", "force", key="peak_residual_n"),
    Quantity(tr("Condition number, largest"), "–", _at("condition", "max"), 2),
)
"""of the motion that is judged, or of the rows under power where none was run"""
OF_WHOLE: tuple[Quantity, ...] = (
    Quantity(tr("Duration"), "s", _at("recording", "duration_s")),
    Quantity(tr("Rows"), tr("rows"), _at("recording", "rows"), 0),
    Quantity(tr("Dropped rows"), tr("rows"), _at("recording", "dropped"), 0),
    Quantity(tr("Cycle rate"), "Hz", _at("cycle", "rate_measured_hz"), 2),
    Quantity(tr("Overruns"), tr("cycles"), _at("cycle", "overruns"), 0),
    Quantity(tr("Stale feedback"), tr("cycles"), _at("cycle", "stale_feedback"), 0),
    Quantity(tr("Period error, 99 %"), "µs", _at("cycle", "period_error_p99_us"), 1),
    Quantity(tr("Period error, largest"), "µs", _at("cycle", "period_error_max_us"), 1),
    Quantity(tr("Exchange, median"), "µs", _at("cycle", "exchange_p50_us"), 1),
    Quantity(tr("Computation, median"), "µs", _at("cycle", "compute_p50_us"), 1),
)
"""of all rows that were opened: those of a run, or of a whole recording"""


def side_by_side(summaries: Sequence[Summary]) -> list[list[str]]:
    """Rows of texts: name, unit, a value for each summary, and with two the second minus the first.

    The numbers of what is judged come first, those of everything that was opened below; a row before each says which.
    """
    judged = [tr("Judged"), "", *map(_judged, summaries)]
    opened = [tr("All open items"), "", *[tr("every row")] * len(summaries)]
    return [judged, *_numbers(OF_RUN, summaries), opened, *_numbers(OF_WHOLE, summaries)]


def _judged(summary: Summary) -> str:
    motion = summary["motion"]
    return tr("the rows under power") if motion is None else tr("motion {name}").format(name=motion["name"])


def _numbers(quantities: Sequence[Quantity], summaries: Sequence[Summary]) -> list[list[str]]:
    rows = []
    for quantity in quantities:
        found = [quantity.value(summary) for summary in summaries]
        values = [math.nan if value is None else value for value in found]
        if len(values) == 2:
            values.append(values[1] - values[0])
        rows.append([quantity.name, quantity.unit, *(number_text(value, quantity.digits) for value in values)])
    return rows


def number_text(value: float, digits: int) -> str:
    """A value for a person, with so many digits after the point; a dash for what is no number."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−") if math.isfinite(value) else "–"

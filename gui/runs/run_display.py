"""What a run looks like in words: its verdict as a word, a shape and a colour, its numbers, and what to look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gui.texts import tr, trn


@dataclass(frozen=True, slots=True)
class VerdictStyle:
    """How a verdict is shown: never by its colour alone."""

    word: str
    mark: str
    background: str
    foreground: str


_LOOKS = {
    "pass": VerdictStyle(tr("PASS"), "✓", "#007a59", "white"),
    "fail": VerdictStyle(tr("FAIL"), "✗", "#9b1111", "white"),
    "expected": VerdictStyle(tr("EXPECTED"), "≈", "#5b3a8c", "white"),
    "undecided": VerdictStyle(tr("UNDECIDED"), "?", "#e69f00", "#10151a"),
}
NOT_JUDGED = VerdictStyle(tr("NO THRESHOLDS"), "–", "#5b6470", "white")
BEING_JUDGED = VerdictStyle(tr("JUDGING"), "…", "#0072b2", "white")
WAITING = VerdictStyle(tr("NOT JUDGED"), "–", "#5b6470", "white")

FIGURES: tuple[tuple[str, str, float, str, int], ...] = (
    ("residual_n", tr("Residual RMS"), 1.0, "N", 3),
    ("position_m", tr("Position RMS"), 1e6, "µm", 1),
    ("peak_force_n", tr("Peak force"), 1.0, "N", 1),
    ("period_error_s", tr("Period ±, 99 %"), 1e6, "µs", 0),
)
"""Key of the headline, caption, how many of the unit are one of SI, unit, decimals."""

_PLACES = {
    "residual_rms": "residuals",
    "residual_noise": "residuals",
    "bias": "residuals",
    "lag": "validation",
    "r_squared": "forces",
    "inside_band": "residuals",
    "band_noise": "validation",
    "mass_error": "validation",
    "inertia_error": "validation",
    "gravity_error": "validation",
    "friction_error": "validation",
    "center_error": "validation",
    "gain_error": "validation",
    "peak_residual": "residuals",
    "peak_force": "forces",
    "position_rms": "tracking",
    "position_max": "tracking",
    "rotation_rms": "tracking",
    "rotation_max": "tracking",
    "period_error": "timing",
    "overruns": "timing",
}
"""Where the report shows what a threshold is about."""


def verdict_style(verdict: str | None) -> VerdictStyle:
    """How a verdict is shown; None where there are no thresholds."""
    return NOT_JUDGED if verdict is None else _LOOKS[verdict]


def figure_text(numbers: Mapping[str, Any] | None, place: int) -> tuple[str, str]:
    """A headline number as a person reads it, and its unit; a dash where there is none."""
    key, _caption, scale, unit, digits = FIGURES[place]
    value = None if numbers is None else numbers["headline"][key]
    return ("–", unit) if value is None else (f"{scale * value:.{digits}f}", unit)


def inspection_hints(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Sentences on a judged run, each with the place in its report, the most urgent first."""
    numbers = run["numbers"]
    found = []
    if run["cause"]:
        found.append((tr("Stopped: {cause}").format(cause=run["cause"]), "faults"))
    elif run["outcome"] != "finished":
        found.append(
            (
                tr("It did not come to its end: {outcome} at {reached:.2f} s").format(
                    outcome=run["outcome"], reached=run["reached"]
                ),
                "motions",
            )
        )
    said = [(one["why"], one["name"]) for one in numbers["criteria"] if one["verdict"] == numbers["verdict"]]
    if numbers["verdict"] in ("fail", "undecided", "expected"):
        for why in dict.fromkeys(why for why, _name in said):
            found.append((_sentence(why), next(_PLACES[name] for text, name in said if text == why)))
    cycle = numbers["cycle"]
    if cycle["overruns"]:
        found.append(
            (
                tr("{count} of {cycles} cycles were skipped").format(count=cycle["overruns"], cycles=cycle["cycles"]),
                "timing",
            )
        )
    if numbers["dropped"]:
        found.append(
            (
                trn("{count} row is missing", "{count} rows are missing", numbers["dropped"]).format(
                    count=numbers["dropped"]
                ),
                "timing",
            )
        )
    if not found and numbers["verdict"] == "pass":
        found.append(
            (
                _kept(numbers),
                "validation",
            )
        )
    elif not found:
        found.append((tr("No threshold is set: Thresholds … gives some"), "validation"))
    return found


def _kept(numbers: Mapping[str, Any]) -> str:
    count = len(numbers["criteria"])
    if all(criterion["sigma"] is None for criterion in numbers["criteria"]):  # counted, which is sure
        return trn("{count} threshold kept", "{count} thresholds kept", count).format(count=count)
    return trn(
        "{count} threshold kept, at {confidence:g} % confidence",
        "{count} thresholds kept, at {confidence:g} % confidence",
        count,
    ).format(count=count, confidence=100 * numbers["confidence"])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]

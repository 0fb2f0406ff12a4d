"""Differences between several recordings that exceed their uncertainty."""

from collections.abc import Mapping, Sequence
from typing import Any

_COMPARED = {
    "rms_n": "rms_sigma_n",
    "bias_n": "bias_sigma_n",
    "r_squared": "r_squared_sigma",
    "inside_band": "inside_band_sigma",
    "lag_beyond_hold_s": "lag_sigma_s",
}
_SIGNIFICANT = 3.0
"""sigmas: a larger difference is significant"""


def compared(summaries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Compare the numbers over all legs of each recording with those of the first.

    Returns:
        One entry per recording: `recording`, `verdict`, `same_config`, `same_mechanism` (as the first, by
        `machine_sha256` and `mechanism_sha256`) and by number `value`, `sigma`, `difference`, `difference_sigma`,
        `differs` (by more than three sigmas).
    """
    first = summaries[0]
    return [_entry(summary, first) for summary in summaries]


def _entry(summary: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"recording": summary["paths"]["recording"], "verdict": summary["validation"]["verdict"]}
    for key, name in (("config", "machine_sha256"), ("mechanism", "mechanism_sha256")):
        entry[f"same_{key}"] = summary["provenance"][name] == first["provenance"][name]
    here, there = summary["validation"]["together"], first["validation"]["together"]
    for name, sigma in _COMPARED.items():
        entry[name] = _number(here[name], here[sigma], there[name], there[sigma])
    return entry


def _number(value: float | None, sigma: float | None, other: float | None, other_sigma: float | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"value": value, "sigma": sigma, "difference": None, "difference_sigma": None}
    if value is None or other is None or sigma is None or other_sigma is None:
        return entry | {"differs": None}
    apart, spread = value - other, (sigma**2 + other_sigma**2) ** 0.5
    return entry | {"difference": apart, "difference_sigma": spread, "differs": abs(apart) > _SIGNIFICANT * spread}


def comparison_text(entries: Sequence[Mapping[str, Any]]) -> str:
    """Format the comparison as a table; a star marks what differs from the first recording."""
    lines = [f"{'RMS, N':>10} {'bias, N':>10} {'R2':>10} {'inside':>10} {'lag, ms':>10}  verdict    recording"]
    for entry in entries:
        cells = []
        for name in _COMPARED:
            number = entry[name]
            scale = 1e3 if name.startswith("lag") else 1.0
            shown = "-" if number["value"] is None else f"{scale * number['value']:.4f}"
            cells.append(f"{shown + ('*' if number['differs'] else ' '):>10}")
        lines.append(f"{' '.join(cells)}  {entry['verdict'] or '-':<10} {entry['recording']}")
        lines += [
            f"           another {key} than the first" for key in ("config", "mechanism") if not entry[f"same_{key}"]
        ]
    return "\n".join([*lines, "* differs from the first recording by more than three standard uncertainties"])

"""What a validation found, in a few lines for a person."""

from collections.abc import Iterator, Mapping
from typing import Any

from kinematics import figure_and_bound

UNITS = {
    "residual_rms": "N",
    "residual_noise": "",
    "bias": "N",
    "lag": "s",
    "r_squared": "",
    "inside_band": "",
    "position_rms": "m",
    "position_max": "m",
    "rotation_rms": "rad",
    "rotation_max": "rad",
    "peak_force": "N",
    "peak_residual": "N",
    "period_error": "s",
    "overruns": "",
}
"""SI, of what thresholds are given in, by their names."""
SHOWN = {
    "lag": ("ms", 1e3),
    "position_rms": ("µm", 1e6),
    "position_max": ("µm", 1e6),
    "rotation_rms": ("µrad", 1e6),
    "rotation_max": ("µrad", 1e6),
    "period_error": ("µs", 1e6),
    "overruns": ("%", 1e2),
}
"""Unit in a sentence, and how many of it one of SI is, where it is another."""


def said(summary: Mapping[str, Any]) -> list[str]:
    """Lines on agreement, lag, models, verdict, and what identification would leave: what a summary has of them."""
    validation = summary.get("validation")
    lines = [] if validation is None else list(_lines(validation, summary["force"].get("models") or []))
    if identification := summary.get("identification"):
        lines.append(f"outlook    {identification['text']}")
    return lines


def in_unit(name: str, value: float) -> str:
    """A threshold, or what is held against it, with the unit in which it is read."""
    unit, scale = SHOWN.get(name, (UNITS[name], 1.0))
    return f"{scale * value:.4g} {unit}".rstrip()


def in_unit_with_bound(name: str, value: float, bound: float) -> tuple[str, str]:
    """What is held against a threshold, and the threshold, with the unit in which they are read."""
    unit, scale = SHOWN.get(name, (UNITS[name], 1.0))
    figure, most = figure_and_bound(scale * value, scale * bound, bound_digits=4)
    return f"{figure} {unit}".rstrip(), f"{most} {unit}".rstrip()


def said_verdict(validation: Mapping[str, Any]) -> str:
    """The verdict in a sentence."""
    count, sure = len(validation["criteria"]), f"{100 * validation['confidence']:g} %"
    if validation["verdict"] is None:
        return "none: neither the configuration nor the motion gives thresholds ([validation])"
    if validation["verdict"] == "pass":
        estimated = any(criterion["sigma"] is not None for criterion in validation["criteria"])
        return f"pass: {count} threshold{'s' if count > 1 else ''} kept{f', at {sure} confidence' if estimated else ''}"
    return f"{validation['verdict']}: {'; '.join(validation['reasons'])}"


def said_lag(validation: Mapping[str, Any]) -> str:
    """The lag in a sentence."""
    lag, together = validation["lag"], validation["together"]
    if together["lag_s"] is None:
        return f"not to be told: {lag['why']}"
    sentence = f"measured {1e3 * together['lag_s']:.3f} ± {1e3 * together['lag_sigma_s']:.3f} ms behind the model"
    if not lag["hold_s"]:
        return sentence
    beyond = 1e3 * together["lag_beyond_hold_s"]
    return (
        f"{sentence}, of which {1e3 * lag['hold_s']:.3f} ms is that forces are held for a cycle: {beyond:.3f} ms remain"
    )


def said_model(entry: Mapping[str, Any]) -> str:
    """How a published model did beside the exact one, in a few words; empty of the exact one itself."""
    test = entry.get("test")
    if test is None:
        return ""
    told = test["without_offset"]
    if told is None:
        return "too few rows to tell"
    chance = {"worse": told["p_no_worse"], "better": told["p_no_better"]}.get(told["verdict"])
    return str(told["verdict"]) if chance is None else f"{told['verdict']} ({said_chance(chance)})"


def said_chance(chance: float) -> str:
    """A chance, as is usual."""
    return "p < 0.001" if chance < 0.001 else f"p = {chance:.3f}"


def _lines(validation: Mapping[str, Any], models: list[Mapping[str, Any]]) -> Iterator[str]:
    together = validation["together"]
    if together["rms_n"] is not None:
        parts = [f"{together['rms_n']:.3f} N RMS"]
        if together["nrmse"] is not None:
            parts.append(f"{100 * together['nrmse']:.2f} % of the measured range")
        if together["r_squared"] is not None:
            parts.append(f"R² {together['r_squared']:.4f}")
        if together["inside_band"] is not None:
            parts.append(f"{100 * together['inside_band']:.1f} % inside the uncertainty band")
        yield f"residual   {', '.join(parts)}"
        yield f"lag        {said_lag(validation)}"
    told = [f"{entry['model']} {said_model(entry)}" for entry in models if said_model(entry)]
    if told:
        yield f"models     beside the exact one: {', '.join(told)}"
    yield f"verdict    {said_verdict(validation)}"

"""The findings of a validation as a few readable lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kinematics import figure_and_bound
from rig.config import CRITERIA
from rig.report.digital_io import point_name, state_text

_NAMES = {
    "period_error": "period error of 99 % of the cycles",
    "overruns": "cycles skipped",
    "residual_noise": "residual",
    "band_noise": "uncertainty band",
}
_CAUSES = {
    "few_samples": "too few samples without a gap",
    "no_change": "the modelled forces do not change",
    "not_told": "not identifiable from the motion: no leg's force changes enough against its residual",
    "not_moved": "the motion does not excite it",
    "no_noise": "the recording has no noise of the cells",
    "no_mechanism": "the recording has no usable mechanism",
    "no_samples": "no samples",
    "not_computable": "the model cannot be computed along it: {detail}",
    "other_parameters": "its parameters are not those of its mechanism",
    "no_such_term": "the model has no such term",
    "few_rows": "too few rows, {count}",
    "few_blocks": "too few rows with forces and a model, {count}: the uncertainty is unknown",
    "still": "the platform was at rest, or nearly: the modelled forces change by {moved_n:.2g} N RMS, no more than the "
    "{level}, {level_n:.2g} N",
    "saturated": "saturated readings of the load cells: {count}",
    "damaged": "the recording is damaged: its data may be wrong",
    "slow_cells": "the cells are read every {reading_ms:.3g} ms and the cycle takes {cycle_ms:.3g} ms: rows repeat "
    "readings",
    "imported_cycles": "imported; its cycles are not those of a rig",
    "unaligned": "the measured motion lags the commanded one, by a delay of log or machine, and the model uses the "
    "commanded one: import with --align",
    "simulated_clock": "simulated clock: no cycle can be late",
    "not_recorded": "not recorded",
    "imported": "imported from {name}: the drives' forces between two commands are unknown",
    "own_loop": "its drive holds a command for {period_ms:.3g} ms, and the force of its own loop meanwhile is unknown "
    "(drives.position_stiffness, position_damping)",
    "in_turns": "its drive holds a command for {period_ms:.3g} ms, and its force meanwhile is unknown: it is not "
    "polled in every cycle",
    "parameters": "that is within the uncertainty of the parameter files",
    "by_design": "the plant differs from the model by design: the worst leg's residual is {rms_n:.2f} N RMS, expected "
    "up to {expected_n:.2f} N; identification removes it (`rig demo --identify`, `rig identify`)",
    "by_design_own_loops": "the plant differs from the model by design: the worst leg's residual is {rms_n:.2f} N RMS, "
    "expected up to {expected_n:.2f} N; identification removes what the parameters cause (`rig demo --identify`, "
    "`rig identify`), not the force of the drives' own loops between two commands",
    "own_loops": "the drives close their own loops, and the model has no force of theirs between two commands: the "
    "worst leg's residual is {rms_n:.2f} N RMS, expected up to {expected_n:.2f} N by a simulation of these drives",
    "own_loops_lag": "a residual of {expected_n:.2f} N RMS, as is expected of the drives' own loops, moves the lag by "
    "up to {reach_ms:.3g} ms",
}
"""Sentence of each cause code, with its fields, of an unknown result or an excused fail; times in ms."""


def cause_text(cause: Mapping[str, Any] | None) -> str:
    """Return the text of a cause, `code` with its fields; empty for None."""
    if not cause:
        return ""
    times = {f"{key[:-2]}_ms": 1e3 * value for key, value in cause.items() if key.endswith("_s")}
    return _CAUSES[cause["code"]].format(**cause, **times)


def unfinished_text(cause: Mapping[str, Any] | None) -> str:
    """Return why an unfinished motion has not passed; empty for None."""
    if not cause:
        return ""
    how = "the recording ends" if cause["outcome"] == "underway" else cause["outcome"]
    place = "" if cause["reached_s"] is None else f" at {cause['reached_s']:.2f} s of it"
    return f"the motion did not finish: {how}{place}"


def criterion_text(criterion: Mapping[str, Any]) -> str:
    """Return a sentence that compares a number of a verdict with its threshold."""
    name, code, cause = criterion["name"], criterion["code"], cause_text(criterion["cause"])
    if code == "undecidable":
        return cause
    subject = _subject(criterion)
    if code == "negligible":
        return f"{subject}: its whole effect on the cells is below their noise"
    if code == "unknown" or criterion["value"] is None:
        return f"{subject}: unknown{cause and f': {cause}'}"
    figure, bound = in_unit_with_bound(name, criterion["value"], criterion["threshold"], criterion["margin"])
    wanted = f"{'at least' if CRITERIA[name].at_least else 'at most'} {bound}"
    by = " (the motion's threshold)" if criterion["whose"] == "motion" else ""
    if code == "close":
        return f"{subject}: {figure}: too close to the threshold, {wanted}{by}"
    if code == "kept":
        return f"{subject}: {figure}, required {wanted}{by}"
    missed = f"{subject}: {figure}, required {wanted}{by}"
    return f"{cause}; {missed}" if code == "expected" else f"{missed}{cause and f'; {cause}'}"


def reason_texts(criteria: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return sentences that compare numbers of a verdict with their thresholds; the cause that several have, once."""
    texts: list[str] = []
    for criterion in criteria:
        if criterion["code"] == "expected":
            texts.append(cause_text(criterion["cause"]))
            criterion = {**criterion, "code": "exceeded", "cause": None}
        texts.append(criterion_text(criterion))
    return list(dict.fromkeys(texts))


def detectable_errors_text(found: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on the detectable model errors: for each kind the least detectable one."""
    parts, unseen = [], []
    for name, terms in _KINDS.items():
        here = [one for one in found if one["term"] in terms]
        if not here:
            continue
        if any(one["error"] is None for one in here):
            unseen.append(name)
            continue
        worst = max(here, key=lambda one: one["error"])
        if worst["absolute"] is not None:
            parts.append(f"{worst['absolute']:.2g} {worst['absolute_unit']} of {name}")
        elif worst["unit"] == "m":
            parts.append(f"{1e3 * worst['error']:.2g} mm of {name}")
        else:
            share = f"{100.0 * worst['error']:.2g}"
            parts.append(f"{_plain(share)} % of {name}")
    if not parts:
        return "no error of a term" if unseen else ""
    return f"{', '.join(parts)}{'; no error of ' if unseen else ''}{', '.join(unseen)}"


_KINDS = {
    "the platform's mass": ("platform mass",),
    "its inertia": ("platform inertia",),
    "its rotational inertia": ("platform rotational inertia",),
    "the legs' inertia": ("leg inertia",),
    "the drives' inertia": ("drive inertia",),
    "friction": ("friction",),
    "gravity": ("gravity",),
    "its direction": ("gravity direction 1", "gravity direction 2"),
    "the centre of mass": ("centre of mass x", "centre of mass y", "centre of mass z"),
    "a cell's gain": ("cell gain",),
}


def summary_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return lines on agreement, lag, models, verdict, identifiability and inputs, as far as the summary has them."""
    validation = summary.get("validation")
    lines = [] if validation is None else list(_lines(validation, summary["force"].get("models") or []))
    if identification := summary.get("identification"):
        lines.append(f"outlook    {identification['text']}")
    if inputs := _inputs_text(summary.get("io")):
        lines.append(f"inputs     {inputs}")
    return lines


def _inputs_text(io: Mapping[str, Any] | None) -> str:
    """Return the inputs at the end of a recording; empty without any."""
    points = [] if io is None else [point for point in io["points"] if point["kind"] == "input"]
    return ", ".join(
        f"{point_name(point['name'])} {state_text(point['name'], 'input', point['end'])} at the end, "
        f"{point['changes']} change{'s' * (point['changes'] != 1)}"
        for point in points
    )


def in_unit(name: str, value: float) -> str:
    """Format a threshold, or the value compared with it, in its display unit."""
    unit, scale = _shown(name)
    return f"{_plain(f'{scale * value:.4g}')} {unit}".rstrip()


def in_unit_with_bound(name: str, value: float, bound: float, margin: float | None = None) -> tuple[str, str]:
    """Format a value with its margin, and its threshold, in their display unit."""
    unit, scale = _shown(name)
    figure, most = map(_plain, figure_and_bound(scale * value, scale * bound, bound_digits=4))
    figure += "" if margin is None else f" ± {_plain(f'{scale * margin:.2g}')}"
    return f"{figure} {unit}".rstrip(), f"{most} {unit}".rstrip()


def _plain(figure: str) -> str:
    """Return a number of format `g` without its exponent, if that is positive."""
    return f"{float(figure):.0f}" if "e+" in figure else figure


def _shown(name: str) -> tuple[str, float]:
    """Return the display unit of a criterion, and its factor."""
    found = CRITERIA[name]
    return "× the cells' noise" if found.times else found.shown, found.factor


def _subject(criterion: Mapping[str, Any]) -> str:
    """Return what a number refers to: name, leg, term or frequency band."""
    name, leg = str(criterion["name"]), criterion["leg"]
    text = _NAMES.get(name, name.replace("_", " "))
    if criterion["term"]:
        text += f", {criterion['term']}"
    if leg is not None:
        text += f" of leg {leg}"
    if criterion["band_hz"]:
        low, high = criterion["band_hz"]
        text += f" between {low:.3g} and {high:.3g} Hz"
    return text


def verdict_text(validation: Mapping[str, Any]) -> str:
    """Return the verdict as a sentence."""
    count, sure = len(validation["criteria"]), f"{100 * validation['confidence']:g} %"
    if validation["verdict"] is None:
        return "none: neither the configuration nor the motion gives thresholds ([validation])"
    if validation["verdict"] == "pass":
        estimated = any(criterion["sigma"] is not None for criterion in validation["criteria"])
        return f"pass: {count} threshold{'s' if count > 1 else ''} met{f', at {sure} confidence' if estimated else ''}"
    return f"{validation['verdict']}: {'; '.join(validation['reasons'])}"


def lag_text(validation: Mapping[str, Any]) -> str:
    """Return the lag as a sentence."""
    lag, together = validation["lag"], validation["together"]
    if together["lag_s"] is None:
        return f"cannot be determined: {cause_text({'code': lag['why']})}"
    sentence = f"measured {1e3 * together['lag_s']:.3f} ± {1e3 * together['lag_sigma_s']:.3f} ms behind the model"
    if not lag["hold_s"]:
        return sentence
    beyond = 1e3 * together["lag_beyond_hold_s"]
    return (
        f"{sentence}, of which {1e3 * lag['hold_s']:.3f} ms is the hold of forces for a cycle: {beyond:.3f} ms remain"
    )


def model_text(entry: Mapping[str, Any]) -> str:
    """Return how a published model compares with the exact one; empty for the exact one itself."""
    test = entry.get("test")
    if test is None:
        return ""
    told = test["without_offset"]
    if told is None:
        return "too few rows"
    chance = {"worse": told["p_no_worse"], "better": told["p_no_better"]}.get(told["verdict"])
    return str(told["verdict"]) if chance is None else f"{told['verdict']} ({probability_text(chance)})"


def probability_text(chance: float) -> str:
    """Format a probability."""
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
        yield f"lag        {lag_text(validation)}"
    told = [f"{entry['model']} {model_text(entry)}" for entry in models if model_text(entry)]
    if told:
        yield f"models     compared with the exact one: {', '.join(told)}"
    if power := detectable_errors_text(validation["noticed"]):
        yield f"notices    {power}"
    yield f"verdict    {verdict_text(validation)}"

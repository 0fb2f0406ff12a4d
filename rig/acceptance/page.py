"""The report on an acceptance test: one HTML page with figures and a signature line, and the numbers as JSON."""

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from matplotlib.figure import Figure

from kinematics import COORDINATES
from rig.acceptance.numbers import SHOWN, SOURCES, AcceptanceTest, Basis, Number, Verdict
from rig.acceptance.performing import Acceptance
from rig.csvio import check_output, whole_file
from rig.report import LEG_COLORS, STYLE, drawing, page_environment, panelled, styled
from rig.version import __version__

_KINDS = {
    Verdict.PASS: "good",
    Verdict.FAIL: "bad",
    Verdict.UNDECIDED: "warn",
    Verdict.NOT_MEASURED: "warn",
    Verdict.STATED: "neutral",
}
_PANEL = 1.9  # inches


def write_acceptance(result: Acceptance, summary: Mapping[str, Any], page: Path, numbers: Path) -> None:
    """Write the page and the JSON; each appears only when complete, and replaces one of the same name.

    summary: of `summary_of`. Raises InputError where one cannot be written.
    """
    for path in (page, numbers):
        check_output(path)
    text = _rendered(result, summary)
    with whole_file(page) as file:
        file.write(text)
    with whole_file(numbers) as file:
        file.write(orjson.dumps(summary, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode() + "\n")


def summary_of(result: Acceptance, date: datetime, recording: str | None, sensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result as a JSON object, SI.

    sensors: what is said of files of sensors, by name. recording: its path.
    """
    config = result.config
    return {
        "rig": config.name,
        "mechanism": config.machine.name,
        "mode": config.mode,
        "rate_hz": config.rate,
        "virtual": config.virtual is not None,
        "date": f"{date:%Y-%m-%d %H:%M}",
        "version": __version__,
        "recording": recording,
        "verdict": result.verdict.value,
        "confidence": result.confidence,
        "share": config.acceptance.share,
        "rig_time_s": result.rig_time,
        "skipped_cycles": result.skipped,
        "ended": None if result.ended is None else result.ended.as_dict(),
        "bounds_of_configuration": _own_bounds(result),
        "sensors": dict(sensors),
        "numbers": [number.as_dict(result.confidence) for number in result.numbers],
        "motions": [trial.as_dict() for trial in result.trials],
        "responses": {
            axis: [
                {
                    "amplitude": size,
                    "frequency_hz": one.frequency.tolist(),
                    "gain": np.abs(one.gain).tolist(),
                    "phase_rad": one.phase.tolist(),
                    "sigma": np.hypot(one.sigma, one.bias).tolist(),
                }
                for size, one in found
            ]
            for axis, found in result.curves.responses.items()
        },
        "residuals": {
            axis: [{"from_hz": low, "to_hz": high, "of_noise": ratio} for low, high, ratio in octaves]
            for axis, octaves in result.curves.residuals.items()
        },
    }


def _own_bounds(result: Acceptance) -> list[str]:
    """Names of settings that are not the defaults."""
    settings = result.config.acceptance
    return [name for name, default in type(settings)() if getattr(settings, name) != default]


def _rendered(result: Acceptance, summary: Mapping[str, Any]) -> str:
    with styled(STYLE):
        pictures = _pictures(result)
    tests = [
        {
            "name": test.value,
            "title": SOURCES[test].title,
            "method": SOURCES[test].method,
            "bound": SOURCES[test].bound,
            "rows": [_row(number, result.confidence) for number in result.of(test)],
            "pictures": pictures.get(test, []),
        }
        for test in AcceptanceTest
        if result.of(test)
    ]
    return (
        page_environment("rig.report")
        .get_template("acceptance.html.j2")
        .render(
            summary=summary,
            kind=_KINDS[result.verdict],
            cards=_cards(result),
            statements=_statements(result, summary),
            tests=tests,
            version=__version__,
        )
    )


def _cards(result: Acceptance) -> list[dict[str, str]]:
    cards = [
        {
            "name": verdict.value.capitalize(),
            "value": str(result.count(verdict)),
            "unit": "number" if result.count(verdict) == 1 else "numbers",
            "note": ", ".join(_tests_with(result, verdict)) if verdict is not Verdict.PASS else "",
            "kind": _KINDS[verdict],
        }
        for verdict in Verdict
        if result.count(verdict)
    ]
    minutes = result.rig_time / 60.0
    return [*cards, {"name": "Rig time", "value": f"{minutes:.1f}", "unit": "min", "note": "", "kind": "neutral"}]


def _tests_with(result: Acceptance, verdict: Verdict) -> list[str]:
    found = [SOURCES[one.test].title for one in result.numbers if one.verdict(result.confidence) is verdict]
    return list(dict.fromkeys(found))


def _statements(result: Acceptance, summary: Mapping[str, Any]) -> list[str]:
    settings, length = result.config.acceptance, result.config.safety.characteristic_length
    bases = {number.basis for number in result.numbers if number.value is not None}
    texts = []
    if Basis.TRACKER in bases:
        texts.append("Poses are a tracker's.")
    else:
        texts.append(
            "Poses are those of the drives' encoders, by forward kinematics with the geometry of the mechanism's file: "
            "an error of this geometry, play and bending outside the encoders are not in any number. Pose and path "
            "accuracy are how well the rig goes where its encoders say, not where the platform is."
        )
    texts.append(
        "Accelerations of x, y and z are an accelerometer's; those of the rotations are derivatives of the poses."
        if Basis.ACCELEROMETER in bases
        else "Accelerations are second derivatives of these poses, not an accelerometer's."
    )
    texts += [
        f"{name.capitalize()}: clock {one['offset_s']:+.4f} s ± {1e3 * one['offset_sigma_s']:.2g} ms from the rig's, "
        f"found by its correlation with the commanded motion ({one['correlation']:.3f}); a delay of the sensor as a "
        "whole is part of this offset."
        if one["corrected"]
        else f"{name.capitalize()}: recorded with the rig, at times of its own; {1e3 * one['offset_s']:+.2f} ms ± "
        f"{1e3 * one['offset_sigma_s']:.2g} ms behind the commanded motion (correlation {one['correlation']:.3f})."
        for name, one in summary["sensors"].items()
        if "not_used" not in one
    ]
    texts += [
        f"Not used: {one['not_used']}{'' if one['not_used'].endswith('?') else '.'}"
        for name, one in summary["sensors"].items()
        if "not_used" in one
    ]
    texts += [
        f"Rotations are compared with lengths at {1e3 * length:.4g} mm from their axis (safety.characteristic_length). "
        f"Accelerations are those up to {settings.acceleration_bandwidth:g} Hz.",
        "σ is the standard uncertainty by the scatter of the measurement itself and by the rounding of the drives' "
        "encoders. Other errors of a sensor that repeat are not in it. A number passes or fails at a confidence of "
        f"{100.0 * result.confidence:.4g} %, one-sided, each by itself; in between it is undecided.",
    ]
    if result.ended is not None:
        texts.insert(0, f"{result.ended.text[0].upper()}{result.ended.text[1:]}. What was to follow is not measured.")
    own = summary["bounds_of_configuration"]
    texts.append(
        f"Set by the configuration: {', '.join(own)}. Other bounds are defaults, whose source each test names."
        if own
        else "All bounds are defaults, whose source each test names."
    )
    if result.skipped:
        texts.append(f"{result.skipped} cycles were skipped in the evaluated motions, and interpolated.")
    return texts


def displayed(number: Number) -> tuple[str, str, str, str]:
    """Value, σ, unit and bound of a number as text, each in a unit of suitable scale; "" for a value not measured."""
    unit, factor = ("", 1.0) if number.test is AcceptanceTest.RESIDUAL else SHOWN.get(number.unit, (number.unit, 1.0))
    bound = "–" if number.bound is None else f"{'≥' if number.at_least else '≤'} {factor * number.bound:.4g}"
    value, sigma = "", "–"
    if number.value is not None:
        value = f"{factor * number.value:.4g}" if math.isfinite(number.value) else "∞"
        value = f"> {value}" if number.beyond else value
    if number.sigma is not None and math.isfinite(number.sigma) and not number.beyond:
        sigma = f"{factor * number.sigma:.2g}"
    return value, sigma, unit, bound


def _row(number: Number, confidence: float) -> dict[str, str]:
    value, sigma, unit, bound = displayed(number)
    return {
        "axis": number.place,
        "name": number.name,
        "value": value,
        "sigma": sigma,
        "unit": unit,
        "bound": bound,
        "at": "" if number.at is None else number.at.text(),
        "basis": "" if number.basis is None else number.basis.value,
        "verdict": number.verdict(confidence).value,
        "reason": number.reason if number.value is None else "",
    }


def _pictures(result: Acceptance) -> dict[AcceptanceTest, list[dict[str, str]]]:
    curves = result.curves
    made: dict[AcceptanceTest, list[dict[str, str]]] = {}
    if curves.responses:
        caption = "Gain and phase at the larger amplitude, with two standard uncertainties, by axis."
        made[AcceptanceTest.RESPONSE] = [{"caption": caption, "svg": drawing(_response_figure(result)).svg}]
    if curves.loops:
        caption = "Deviation from the commanded place, forth (solid) and back (dashed), by axis."
        made[AcceptanceTest.HYSTERESIS] = [{"caption": caption, "svg": drawing(_loop_figure(result)).svg}]
    if curves.steps:
        caption = "Acceleration at the step, commanded (dashed) and measured (solid), mean of the steps, by axis."
        made[AcceptanceTest.THRESHOLD] = [{"caption": caption, "svg": drawing(_step_figure(result)).svg}]
    if curves.residuals:
        caption = "RMS of the residual of all legs in each octave, as a multiple of the cells' noise there, by axis."
        made[AcceptanceTest.RESIDUAL] = [{"caption": caption, "svg": drawing(_residual_figure(result)).svg}]
    return made


def _color(axis: str) -> str:
    return LEG_COLORS[COORDINATES.index(axis)]


def _response_figure(result: Acceptance) -> Figure:
    figure = panelled(_PANEL + 0.9, 1)
    gain, phase = figure.subplots(1, 2)
    for axis, found in result.curves.responses.items():
        response = found[0][1]
        size, spread = np.abs(response.gain), math.sqrt(2.0) * np.hypot(response.sigma, response.bias)
        style: Any = {"fmt": ".-", "markersize": 3, "linewidth": 0.8, "color": _color(axis), "label": axis}
        gain.errorbar(response.frequency, size, yerr=spread, **style)
        phase.errorbar(response.frequency, np.degrees(response.phase), yerr=np.degrees(spread / size), **style)
    for axes, title in ((gain, "Gain"), (phase, "Phase, deg")):
        axes.set_xscale("log")
        axes.set_title(title)
        axes.set_xlabel("frequency, Hz")
        axes.axvline(result.config.acceptance.band, color="#8A929A", linewidth=0.8, linestyle=":")
    gain.legend(ncols=3)
    return figure


def _by_axis(title: str, label: str) -> tuple[Figure, Any]:
    """A figure of one panel, and its axes."""
    figure = panelled(_PANEL + 0.7, 1, 1)
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_xlabel(label)
    return figure, axes


def _loop_figure(result: Acceptance) -> Figure:
    figure, axes = _by_axis("Deviation, µm", "place, mm")
    for axis, (places, forth, back) in result.curves.loops.items():
        axes.plot(1e3 * places, 1e6 * forth, color=_color(axis), linewidth=1.0, label=axis)
        axes.plot(1e3 * places, 1e6 * back, color=_color(axis), linewidth=1.0, linestyle="--")
    axes.legend(ncols=6)
    return figure


def _step_figure(result: Acceptance) -> Figure:
    figure, axes = _by_axis("Acceleration, m/s²", "time, ms")
    for axis, (t, wanted, measured) in result.curves.steps.items():
        near = np.abs(t) <= 0.12
        axes.plot(1e3 * t[near], measured[near], color=_color(axis), linewidth=1.0, label=axis)
        axes.plot(1e3 * t[near], wanted[near], color="#3A424A", linewidth=0.8, linestyle="--")
    axes.legend(ncols=6)
    return figure


def _residual_figure(result: Acceptance) -> Figure:
    figure, axes = _by_axis("Residual, times the noise", "frequency, Hz")
    for axis, octaves in result.curves.residuals.items():
        middles = [math.sqrt(low * high) for low, high, _ in octaves]
        axes.plot(middles, [ratio for *_, ratio in octaves], ".-", color=_color(axis), linewidth=1.0, label=axis)
    axes.axhline(result.config.acceptance.residual_noise, color="#8A929A", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.legend(ncols=6)
    return figure

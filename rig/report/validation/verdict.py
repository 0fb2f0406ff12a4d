"""Pass, fail or undecided: thresholds of the rig and of the motion against numbers that are uncertain."""

from collections.abc import Iterator, Mapping
from typing import Any

from kinematics import Thresholds, figure_and_bound
from rig.config import MOTION, RIG, Validation
from rig.report.saying import SHOWN, UNITS, in_unit_with_bound
from rig.report.validation.counted import COUNTED

PASS, FAIL, UNDECIDED, EXPECTED = "pass", "fail", "undecided", "expected"
_OF_MODEL = ("residual_rms", "residual_noise", "bias", "r_squared", "inside_band")
"""What a model that is known to be off explains, as long as no leg's residual is greater than it explains."""
_SAID = {"period_error": "period error of 99 % of the cycles", "overruns": "cycles skipped"}
_AT_LEAST = ("r_squared", "inside_band")
_KEYS = {
    "residual_rms": ("rms_n", "rms_sigma_n"),
    "bias": ("bias_n", "bias_sigma_n"),
    "r_squared": ("r_squared", "r_squared_sigma"),
    "inside_band": ("inside_band", "inside_band_sigma"),
    "lag": ("lag_beyond_hold_s", "lag_sigma_s"),
}


def judged(
    thresholds: Validation,
    numbers: Mapping[str, Any],
    noise: float | None,
    own: Thresholds | None = None,
    whose: str = RIG,
) -> dict[str, Any]:
    """The verdict on a validation's numbers.

    A criterion on an estimate passes where its number is within the threshold, and fails where it is beyond it, by more
    than its uncertainty at the wanted confidence (Student's t, one side); it is undecided in between, where there is no
    number or no uncertainty, where the data can tell nothing of the model (`undecidable` of the numbers), and instead
    of a fail on the model where a leg's `holding` says what else may be the cause. Of six legs the worst counts: one
    that fails, then one that is undecided. What is counted (see `counted`) is sure, and undecided only where its
    `doubt` says why. Of all criteria a fail counts first, then what is undecided; a motion that did not come to its
    end (`unfinished`) has not passed, however well its beginning went.

    Of a machine that is known not to be its model (`expected_n` of the numbers: N RMS of a leg's residual that this
    explains) a fail on the model by the rig's thresholds is expected, as long as no leg's residual is beyond that.

    Args:
        thresholds: those of the rig, or of whoever `whose` says.
        numbers: of the validation.
        noise: of the cells, N, where it is known.
        own: those of the motion's file, which go before.
        whose: RIG or GIVEN.

    Returns:
        `verdict` (null without thresholds), `confidence`, `reasons` (sentences), `own` (what the motion's file names),
        `criteria`: each `name`, `unit`, `threshold`, `whose`, `leg` (the worst one), `value`, `sigma`, `verdict` and
        `why`.
    """
    named = {} if own is None else own.named
    thresholds = thresholds if own is None else thresholds.under(own)
    criteria = [
        _criterion(name, bound, thresholds.confidence, numbers, noise, MOTION if name in named else whose)
        for name, bound in thresholds.thresholds.items()
    ]
    expected = _expected(numbers)
    if expected:
        criteria = [
            criterion | {"verdict": EXPECTED, "why": f"{expected}; {criterion['why']}"}
            if criterion["verdict"] == FAIL and criterion["name"] in _OF_MODEL and criterion["whose"] == RIG
            else criterion
            for criterion in criteria
        ]
    words = [criterion["verdict"] for criterion in criteria]
    word = next((each for each in (FAIL, UNDECIDED, EXPECTED, PASS) if each in words), None)
    reasons = [criterion["why"] for criterion in criteria if criterion["verdict"] == word and word != PASS]
    if word in (PASS, EXPECTED) and numbers["unfinished"]:
        word, reasons = UNDECIDED, [numbers["unfinished"]]
    return {
        "verdict": word,
        "confidence": thresholds.confidence,
        "reasons": list(dict.fromkeys(reasons)),
        "own": named,
        "criteria": criteria,
    }


def _expected(numbers: Mapping[str, Any]) -> str:
    """That the residual is what is expected of a machine that is known not to be its model; empty where it is not."""
    bound = numbers.get("expected_n")
    residuals = [leg["rms_n"] for leg in numbers["legs"]]
    if bound is None or not residuals or any(value is None or value > bound for value in residuals):
        return ""
    return (
        f"the plant differs from the model by design: the worst leg's residual is {max(residuals):.2f} N RMS, "
        f"expected up to {bound:.2f} N; identification removes it (`rig demo --identify`, `rig identify`)"
    )


def _criterion(
    name: str, bound: float, confidence: float, numbers: Mapping[str, Any], noise: float | None, whose: str
) -> dict[str, Any]:
    if name in COUNTED:
        return _of_counted(name, bound, numbers["counted"][name], whose)
    told: list[dict[str, Any]] = []
    for leg, value, sigma in _values(name, numbers, noise):
        part: dict[str, Any] = {"leg": leg, "value": value, "sigma": sigma}
        if numbers["undecidable"]:
            word, why = UNDECIDED, str(numbers["undecidable"][0])
        else:
            word, why = _word(name, bound, confidence, part, numbers)
            why += _by(whose)
            holding = numbers["legs"][leg - 1].get("holding", "")
            if word == FAIL and name in _OF_MODEL and holding:
                word, why = UNDECIDED, f"{why}; {holding}"
        told.append(part | {"verdict": word, "why": why})
    order = (FAIL, UNDECIDED, PASS)
    worst = min(told, key=lambda part: (order.index(part["verdict"]), -_excess(name, part["value"])))
    return {"name": name, "unit": UNITS[name], "threshold": bound, "whose": whose} | worst


def _of_counted(name: str, bound: float, number: Mapping[str, Any], whose: str) -> dict[str, Any]:
    """A criterion on what is counted: no uncertainty, but where it says so it may be greater than it was read."""
    value, leg = number["value"], number["leg"]
    said = _SAID.get(name, name.replace("_", " ")) + ("" if leg is None else f" of leg {leg}")
    figure, most = ("", "") if value is None else in_unit_with_bound(name, value, bound)
    if value is not None and value > bound:
        word, why = FAIL, f"{said}: {figure}, wanted at most {most}{_by(whose)}"
    elif number["doubt"]:
        word, why = UNDECIDED, f"{said}: cannot be told: {number['doubt']}"
    else:
        word, why = PASS, f"{said}: {figure}, at most {most} wanted{_by(whose)}"
    part = {"leg": leg, "value": value, "sigma": None, "verdict": word, "why": why}
    return {"name": name, "unit": UNITS[name], "threshold": bound, "whose": whose} | part


def _by(whose: str) -> str:
    return " (the motion's threshold)" if whose == MOTION else ""


def _values(
    name: str, numbers: Mapping[str, Any], noise: float | None
) -> Iterator[tuple[int, float | None, float | None]]:
    value_key, sigma_key = _KEYS["residual_rms" if name == "residual_noise" else name]
    for leg in numbers["legs"]:
        value, sigma = leg[value_key], leg[sigma_key]
        if name == "residual_noise":
            value = value / noise if value is not None and noise else None
            sigma = sigma / noise if sigma is not None and noise else None
        yield leg["leg"], value, sigma


def _excess(name: str, value: float | None) -> float:
    """The greater the worse."""
    if value is None:
        return float("inf")
    return -value if name in _AT_LEAST else abs(value)


def _word(
    name: str, bound: float, confidence: float, part: Mapping[str, Any], numbers: Mapping[str, Any]
) -> tuple[str, str]:
    from scipy.special import stdtrit

    leg, value, sigma = part["leg"], part["value"], part["sigma"]
    said = name.replace("_", " ")
    if value is None or sigma is None:
        return UNDECIDED, f"{said} of leg {leg}: cannot be told{_because(name, numbers)}"
    freedom = numbers["freedom"] if name != "lag" else 1000
    margin = float(stdtrit(freedom, confidence)) * sigma
    beyond = bound - value if name in _AT_LEAST else abs(value) - bound
    unit, scale = SHOWN.get(name, (UNITS[name], 1.0))
    figure, limit = figure_and_bound(scale * value, scale * bound, bound_digits=4)
    shown = f"{said} of leg {leg}: {figure} ± {scale * margin:.2g} {unit}".rstrip()
    wanted = f"{'at least' if name in _AT_LEAST else 'at most'} {limit} {unit}".rstrip()
    if beyond > margin:
        return FAIL, f"{shown}, wanted {wanted}"
    if beyond + margin > 0.0:
        return UNDECIDED, f"{shown}: too close to the threshold, {wanted}"
    return PASS, f"{shown}, {wanted} wanted"


def _because(name: str, numbers: Mapping[str, Any]) -> str:
    why = {"lag": numbers["lag"]["why"], "inside_band": numbers["band"].get("why", "")}.get(name, "")
    return f": {why}" if why else ""

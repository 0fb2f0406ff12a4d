"""Verdict pass, fail or undecided: uncertain numbers against the thresholds of the rig and of the motion."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinematics import Thresholds
from rig.config import CRITERIA, MOTION, RIG, Validation
from rig.report.text_summary import criterion_text, reason_texts, unfinished_text
from rig.report.validation.sample_metrics import COUNTED
from rig.report.validation.sensitivity import NEGLIGIBLE

PASS, FAIL, UNDECIDED, EXPECTED = "pass", "fail", "undecided", "expected"
_TERMS = {
    "mass_error": ("platform mass",),
    "inertia_error": ("platform inertia", "platform rotational inertia", "leg inertia", "drive inertia"),
    "gravity_error": ("gravity", "gravity direction 1", "gravity direction 2"),
    "friction_error": ("friction",),
    "center_error": ("centre of mass x", "centre of mass y", "centre of mass z"),
    "gain_error": ("cell gain",),
}
"""Terms of each threshold."""
_BOUND_OF = {term: name for name, terms in _TERMS.items() for term in terms}
_NEW_READINGS = (*_TERMS, "band_noise")
"""Thresholds that require new readings in every cycle."""
_OF_MODEL = ("residual_rms", "residual_noise", "bias", "r_squared", "inside_band", *_NEW_READINGS)
"""Criteria whose fail a known model deviation explains, as long as no leg's residual exceeds it."""
_KEYS = {
    "residual_rms": ("rms_n", "rms_sigma_n"),
    "residual_noise": ("rms_n", "rms_sigma_n"),
    "bias": ("bias_n", "bias_sigma_n"),
    "r_squared": ("r_squared", "r_squared_sigma"),
    "inside_band": ("inside_band", "inside_band_sigma"),
    "lag": ("lag_beyond_hold_s", "lag_sigma_s"),
}
_SIGNIFICANT = 2.0
"""sigmas of the parameter files' uncertainty within which a model error is no fail"""
_POWER = 0.95
"""Probability of detecting an error stated as detectable."""


@dataclass(slots=True)
class _Part:
    """A number compared with a threshold: of a leg, of a term, or of a frequency band.

    `low` and `high` are its one-sided confidence limits, by which it fails or passes (reversed for a minimum);
    `eased` is the limit for a fail reduced by the parameters' uncertainty; None where unknown.
    """

    value: float | None
    sigma: float | None
    leg: int | None = None
    term: str | None = None
    band_hz: list[float] | None = None
    low: float = math.nan
    high: float = math.nan
    eased: float | None = None
    negligible: bool = False
    unknown: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Levels:
    """Confidence of each number's pass, and false-alarm probability of each criterion."""

    confidence: float
    alarm: float

    def student(self, freedom: int | None, parts: int) -> tuple[float, float]:
        """Return the sigmas required for a pass and for a fail, of one of `parts` numbers of a criterion."""
        from scipy.special import stdtrit

        if not freedom:
            return math.nan, math.nan
        return float(stdtrit(freedom, self.confidence)), float(-stdtrit(freedom, self.alarm / parts))


def judged(
    thresholds: Validation,
    numbers: Mapping[str, Any],
    noise: float | None,
    own: Thresholds | None = None,
    whose: str = RIG,
) -> dict[str, Any]:
    """Return the verdict on a validation's numbers.

    An estimate passes a criterion if it is within the threshold, and fails if it is beyond it, by more than its
    uncertainty at the required confidence (Student's t; chi-squared for bands; one-sided). Legs, terms and bands of all
    criteria share the false-alarm probability, 1 less the confidence (Bonferroni). For a pass all of them must keep
    the threshold, which needs no such correction.

    It is undecided in between, without a number or an uncertainty, and if the data decide nothing about the model
    (`undecidable` of the numbers); also instead of a fail on the model if a leg's `holding` gives another cause,
    or if the uncertainty of the parameter files explains it. The worst leg, term or band counts: a fail, then an
    undecided one. A term that changes no cell by a fifth of the noise is not judged; a threshold with no other term is
    undecided, except friction, which is then irrelevant. Counted numbers (see `counted`) are exact, and undecided only
    if they have a `doubt`. Over all criteria a fail counts first, then an undecided one; a motion that did not complete
    (`unfinished`) has not passed.

    If the machine is known to deviate from its model (`expected_n` of the numbers: N RMS of a leg's residual explained
    by this), a fail on the model by the rig's thresholds is expected, as long as no leg's residual exceeds that, and so
    is what would fail without another explanation. Where the drives' own loops are the cause, so is what is unknown or
    too close because of it. A residual r
    moves the least-squares lag by |Σ r ṁ| / Σ ṁ² ≤ RMS(r) / RMS(ṁ), so a lag is expected up to that beyond its bound.

    Args:
        thresholds: those of the rig, or of the source that `whose` names.
        numbers: of the validation.
        noise: of the cells, N, if known.
        own: those of the motion's file, which take precedence.
        whose: RIG or GIVEN.

    Returns:
        `verdict` (null without thresholds), `confidence`, `reasons` (sentences), `own` (what the motion's file names),
        `criteria`: each `name`, `unit`, `threshold`, `whose`, of the worst `leg`, `term`, `band_hz`, `value`, `sigma`,
        `margin` (required by the confidence), `verdict`, `code` (kept, exceeded, close, unknown, negligible,
        undecidable, explained, or expected), `cause` (a code with its fields, or null) and `why` (a sentence made of
        these); `noticed`: see `_detectable`.
    """
    named = {} if own is None else own.named
    thresholds = thresholds if own is None else thresholds.under(own)
    expected = _expected(numbers)
    estimated = [name for name in thresholds.thresholds if name not in COUNTED]
    levels = _Levels(thresholds.confidence, (1.0 - thresholds.confidence) / max(1, len(estimated)))
    criteria = []
    for name, bound in thresholds.thresholds.items():
        by = MOTION if name in named else whose
        criterion = _criterion(name, bound, levels, numbers, noise)
        criterion = {"name": name, "unit": CRITERIA[name].unit, "threshold": bound, "whose": by} | criterion
        if expected and by == RIG and (cause := _explanation(criterion, expected, numbers)):
            criterion |= {"verdict": EXPECTED, "code": "expected", "cause": cause}
        criteria.append(criterion | {"why": criterion_text(criterion)})
    verdicts = [criterion["verdict"] for criterion in criteria]
    verdict = next((each for each in (FAIL, UNDECIDED, EXPECTED, PASS) if each in verdicts), None)
    reasons = reason_texts(one for one in criteria if one["verdict"] == verdict and verdict != PASS)
    if verdict in (PASS, EXPECTED) and numbers["unfinished"]:
        verdict, reasons = UNDECIDED, [unfinished_text(numbers["unfinished"])]
    return {
        "verdict": verdict,
        "confidence": thresholds.confidence,
        "reasons": reasons,
        "own": named,
        "criteria": criteria,
        "noticed": _detectable(thresholds, levels, numbers, noise),
    }


def _expected(numbers: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the reason if the residual matches a machine's known model deviation; else None."""
    bound = numbers.get("expected_n")
    residuals = [leg["rms_n"] for leg in numbers["legs"]]
    if bound is None or not residuals or any(value is None or value > bound for value in residuals):
        return None
    return {"code": numbers["expected_by"], "rms_n": max(residuals), "expected_n": bound}


def _explanation(
    criterion: Mapping[str, Any], expected: dict[str, Any], numbers: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the cause by which a criterion's verdict is expected; None if it is not."""
    own_loops = expected["code"] == "own_loops"
    codes = ("explained", "close", "unknown") if own_loops else ("explained",)
    undecided = criterion["verdict"] == UNDECIDED and criterion["code"] in codes
    if criterion["name"] in _OF_MODEL:
        return expected if criterion["verdict"] == FAIL or undecided else None
    if criterion["name"] != "lag" or not own_loops or not (undecided or criterion["verdict"] == FAIL):
        return None
    slopes = [leg["slope_n_per_s"] for leg in numbers["legs"]]
    if not all(slopes):
        return None
    reach = [expected["expected_n"] / slope for slope in slopes]
    lags = [abs(leg["lag_beyond_hold_s"] or 0.0) for leg in numbers["legs"]]
    if any(lag > criterion["threshold"] + most for lag, most in zip(lags, reach, strict=True)):
        return None
    return {"code": "own_loops_lag", "expected_n": expected["expected_n"], "reach_s": max(reach)}


def _criterion(
    name: str, bound: float, levels: _Levels, numbers: Mapping[str, Any], noise: float | None
) -> dict[str, Any]:
    if name in COUNTED:
        return _of_counted(bound, numbers["counted"][name])
    if name in _TERMS:
        parts = list(_of_terms(name, levels, numbers, noise))
    elif name == "band_noise":
        parts = list(_of_bands(levels, numbers, noise))
    else:
        parts = list(_of_legs(name, levels, numbers, noise))
    parts_judged = [_judged_part(name, bound, part, numbers) for part in parts]
    order = (FAIL, UNDECIDED, PASS)
    chosen = [one for one in parts_judged if one["code"] != "negligible"] or parts_judged
    return min(chosen, key=lambda one: (order.index(one["verdict"]), -_excess(name, one["value"])))


def _judged_part(name: str, bound: float, part: _Part, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Judge one part of a criterion against its bound."""
    verdict, code, cause = UNDECIDED, "unknown", part.unknown
    sign = -1.0 if CRITERIA[name].at_least else 1.0
    if numbers["undecidable"]:
        code, cause = "undecidable", numbers["undecidable"][0]
    elif name in _NEW_READINGS and numbers["slow_cells"]:
        code, cause = "undecidable", numbers["slow_cells"]
    elif part.negligible:
        verdict, code, cause = PASS if name == "friction_error" else UNDECIDED, "negligible", None
    elif part.value is not None and math.isfinite(part.low) and cause is None:
        best, worst = sign * part.low, sign * part.high
        if best > sign * bound:
            verdict, code, cause = _failed(name, sign * bound, sign, part, numbers)
        else:
            verdict, code = (UNDECIDED, "close") if worst > sign * bound else (PASS, "kept")
    known = part.value is not None and math.isfinite(part.low)
    size = 0.0 if part.value is None else abs(part.value)
    margin = abs(size - (part.low if code in ("exceeded", "explained") else part.high)) if known else None
    return {
        "leg": part.leg,
        "term": part.term,
        "band_hz": part.band_hz,
        "value": part.value,
        "sigma": part.sigma,
        "margin": margin,
        "verdict": verdict,
        "code": code,
        "cause": cause,
    }


def _failed(
    name: str, bound: float, sign: float, part: _Part, numbers: Mapping[str, Any]
) -> tuple[str, str, dict[str, Any] | None]:
    """Judge a number beyond its threshold: a fail, unless a known uncertainty explains it."""
    if name in _OF_MODEL and part.eased is not None and not sign * part.eased > bound:
        return UNDECIDED, "explained", {"code": "parameters"}
    if name in (*_OF_MODEL, "lag"):
        legs = numbers["legs"] if part.leg is None else [numbers["legs"][part.leg - 1]]
        if holding := next((leg["holding"] for leg in legs if leg.get("holding")), None):
            return UNDECIDED, "explained", holding
    return FAIL, "exceeded", None


def _of_counted(bound: float, number: Mapping[str, Any]) -> dict[str, Any]:
    """Judge a counted number: exact, but it may be larger than read if it has a doubt."""
    value, doubt = number["value"], number["doubt"]
    if value is not None and value > bound:
        verdict, code = FAIL, "exceeded"
    else:
        verdict, code = (UNDECIDED, "unknown") if doubt else (PASS, "kept")
    part = {"leg": number["leg"], "term": None, "band_hz": None, "value": value, "sigma": None, "margin": None}
    return part | {"verdict": verdict, "code": code, "cause": doubt if code == "unknown" else None}


def _of_legs(name: str, levels: _Levels, numbers: Mapping[str, Any], noise: float | None) -> Iterator[_Part]:
    """Yield the numbers of each leg with Student's t limits, also reduced by the parameters' uncertainty."""
    value_key, sigma_key = _KEYS[name]
    open_n = numbers["band"].get("parameters_sigma_n") or [0.0] * len(numbers["legs"])
    freedom = numbers["freedom"] if name != "lag" else 1000
    for leg, parameters in zip(numbers["legs"], open_n, strict=True):
        scale = (noise or 0.0) if name == "residual_noise" else 1.0
        value, sigma = leg[value_key], leg[sigma_key]
        if value is None or sigma is None or not scale:
            code = {"lag": numbers["lag"]["why"], "inside_band": numbers["band"]["why"]}.get(name, "")
            cause = {"code": code, "detail": numbers["band"].get("detail", "")} if code else None
            yield _Part(None if not scale else value, sigma, leg["leg"], unknown=cause)
            continue
        value, sigma = value / scale, sigma / scale
        to_pass, to_fail = (sigma * t for t in levels.student(freedom, len(numbers["legs"])))
        sign, size = (-1.0, value) if CRITERIA[name].at_least else (1.0, abs(value))
        part = _Part(value, sigma, leg["leg"], low=size - sign * to_fail, high=size + sign * to_pass)
        if parameters > 0.0 and name != "lag" and leg["rms_n"]:
            left = max(0.0, 1.0 - (_SIGNIFICANT * parameters / leg["rms_n"]) ** 2)  # fraction of the mean square
            if name == "r_squared":
                part.eased = 1.0 - (1.0 - value) * left + to_fail
            elif name == "bias":
                part.eased = size - math.hypot(to_fail, _SIGNIFICANT * parameters)
            elif name != "inside_band":  # inside_band already includes them
                part.eased = size * math.sqrt(left) - to_fail
        yield part


def _of_terms(name: str, levels: _Levels, numbers: Mapping[str, Any], noise: float | None) -> Iterator[_Part]:
    """Yield the coefficients of the threshold's terms."""
    found = numbers["sensitivity"]
    terms = [one for one in found["terms"] if _BOUND_OF[one["term"]] == name]
    if not terms:
        yield _Part(None, None, unknown={"code": found.get("why") or "no_such_term", "detail": found.get("detail", "")})
    for one in terms:
        part = _Part(one["coefficient"], one["sigma"], one["leg"], one["term"])
        if one["leg"] is None and one["whole_n"] < NEGLIGIBLE * (noise or 0.0):
            part.negligible = True
        elif one["coefficient"] is None:
            part.unknown = {"code": "not_moved"}
        else:
            size = abs(one["coefficient"])
            to_pass, to_fail = levels.student(found["freedom"], len(terms))
            part.low, part.high = size - to_fail * one["sigma"], size + to_pass * one["sigma"]
            if one["parameters_sigma"]:
                part.eased = size - max(to_fail, _SIGNIFICANT) * math.hypot(one["sigma"], one["parameters_sigma"])
        yield part


def _of_bands(levels: _Levels, numbers: Mapping[str, Any], noise: float | None) -> Iterator[_Part]:
    """Yield each leg's residual by frequency band, in multiples of the cells' noise.

    Limits are those of chi-squared.
    """
    from scipy.special import chdtri

    bands = numbers["octaves"]
    if not bands or not noise:
        yield _Part(None, None, unknown={"code": "few_samples" if noise else "no_noise", "detail": ""})
        return
    open_n = numbers["band"].get("parameters_sigma_n") or [0.0] * len(numbers["legs"])
    alarm = levels.alarm / (len(bands) * len(numbers["legs"]))
    for band in bands:
        freedom = band["freedom"]
        greatest, least = float(chdtri(freedom, alarm)), float(chdtri(freedom, levels.confidence))
        # all of the parameters' uncertainty may be in this band, which has this fraction of white noise's power
        share = freedom / sum(each["freedom"] for each in bands)
        for leg, rms, parameters in zip(numbers["legs"], band["rms_n"], open_n, strict=True):
            ratio = rms / noise
            low = ratio * math.sqrt(freedom / greatest)
            sigma, hz = ratio / math.sqrt(2.0 * freedom), [band["low_hz"], band["high_hz"]]
            part = _Part(ratio, sigma, leg["leg"], band_hz=hz)
            part.low, part.high = low, ratio * math.sqrt(freedom / least)
            if parameters > 0.0:
                part.eased = math.sqrt(max(0.0, low**2 - (_SIGNIFICANT * parameters / noise) ** 2 / share))
            yield part


def _excess(name: str, value: float | None) -> float:
    """Return a rank in which larger is worse."""
    if value is None:
        return float("inf")
    return -value if CRITERIA[name].at_least else abs(value)


def _detectable(
    thresholds: Validation, levels: _Levels, numbers: Mapping[str, Any], noise: float | None
) -> list[dict[str, Any]]:
    """Return the smallest error of each term that fails these thresholds in this recording with 95 % probability.

    All other terms are exact. For residual thresholds the leg with the largest effect counts; the threshold on
    frequency bands is left out, so that smaller errors may also be detected.

    Returns:
        Each `term`, `leg`, `unit`, `error` (null if none fails), `by` (the threshold that fails first), and
        with a term that has a scale `absolute` in `absolute_unit`.
    """
    found = numbers["sensitivity"]
    if not found["terms"] or not noise or numbers["undecidable"] or not numbers["freedom"]:
        return []
    power = _Levels(_POWER, 0.0).student(found["freedom"], 1)[0]
    of_legs = levels.student(numbers["freedom"], len(numbers["legs"]))[1], power
    detectable = []
    for one in found["terms"]:
        errors = {}
        name = _BOUND_OF[one["term"]]
        bound = thresholds.thresholds.get(name)
        alike = sum(_BOUND_OF[each["term"]] == name for each in found["terms"])
        to_fail = levels.student(found["freedom"], alike)[1]
        judged_by_itself = one["leg"] is not None or one["whole_n"] >= NEGLIGIBLE * noise
        if bound is not None and one["sigma"] is not None and judged_by_itself and not numbers["slow_cells"]:
            margin = (to_fail + power) * one["sigma"]
            if one["parameters_sigma"]:
                margin += (max(to_fail, _SIGNIFICANT) + power) * one["parameters_sigma"]
            errors[name] = bound + margin
        for other, most in thresholds.thresholds.items():
            seen = [_smallest_error(other, most, noise, of_legs, numbers["rows"], leg, one) for leg in numbers["legs"]]
            if any(value is not None for value in seen):
                errors[other] = min(value for value in seen if value is not None)
        by = min(errors, key=lambda each: errors[each], default=None)
        term = {key: one[key] for key in ("term", "leg", "unit")}
        error = None if by is None else errors[by]
        absolute = None if error is None or one["scale"] is None else error * one["scale"]
        detectable.append(term | {"error": error, "by": by, "absolute": absolute, "absolute_unit": one["scale_unit"]})
    return detectable


def _smallest_error(
    name: str,
    bound: float,
    noise: float,
    sigmas: tuple[float, float],
    rows: int,
    leg: Mapping[str, Any],
    term: Mapping[str, Any],
) -> float | None:
    """Return the smallest detectable error of a term in a number of a leg's residual; None if there is none.

    With the error β the residual is noise plus β times the term's effect. The effect varies between blocks, which
    increases the number's uncertainty; between runs only the noise varies. `sigmas`: required multiples of the total
    uncertainty, for a fail, and of the variation between runs.
    """
    place, (to_fail, power) = leg["leg"] - 1, sigmas
    if name == "bias" and leg["bias_sigma_n"] is not None:
        value, chance = _ERRORS * abs(term["mean_n"][place]), leg["bias_sigma_n"]
        sigma = np.hypot(chance, _ERRORS * term["mean_sigma_n"][place])
    elif name in ("residual_rms", "residual_noise", "r_squared") and leg["rms_sigma_n"] is not None:
        moved = _ERRORS**2 * term["square_n2"][place]
        value = noise**2 + moved
        chance = 2.0 * noise * np.hypot(leg["rms_sigma_n"], np.sqrt(moved / rows))
        sigma = np.hypot(chance, _ERRORS**2 * term["square_sigma_n2"][place])
        if name == "r_squared":
            unexplained = 1.0 - (leg["r_squared"] or 0.0)
            if leg["r_squared_sigma"] is None or not unexplained > 0.0:
                return None
            spread = leg["rms_n"] ** 2 / unexplained
            sigma = value / spread * np.hypot(sigma / value, leg["r_squared_sigma"] / unexplained)
            value, chance, bound = value / spread, chance / spread, 1.0 - bound
        else:
            value = np.sqrt(value)
            sigma, chance = 0.5 * sigma / value, 0.5 * chance / value
            bound *= noise if name == "residual_noise" else 1.0
    else:
        return None
    shown = np.flatnonzero(value - to_fail * sigma - power * chance >= bound)
    return float(_ERRORS[shown[0]]) if len(shown) else None


_ERRORS = np.geomspace(1e-5, 1e3, 800)
"""Errors tried, 2 % apart."""

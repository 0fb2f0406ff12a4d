"""A validation: one look at the covered rows of a recording, then what follows from what was kept of them."""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from calibration import CalibrationError, ParameterFile, parse_parameters
from dynamics import DynamicsError, Mechanism, parse_mechanism
from rig.cell_models import recorded_coulomb_speed
from rig.config import GIVEN, RIG, Validation
from rig.recording import Recorded, RecordingError
from rig.report.summary import window_of
from rig.report.validation.agreement import Agreement
from rig.report.validation.band import SAMPLES, Samples, band, inside, sampled
from rig.report.validation.blocks import FEWEST, Numbers, block_numbers
from rig.report.validation.counted import counted
from rig.report.validation.dependence import dependence
from rig.report.validation.holding import hold_lag, unknown_holding
from rig.report.validation.lag import find_lag
from rig.report.validation.verdict import judged

_LEGS = 6
Rows = npt.NDArray[np.void]


def validate(
    recording: Recorded,
    summary: Mapping[str, Any],
    *,
    thresholds: Validation | None = None,
    alone: bool = False,
    parameters: Sequence[ParameterFile] | None = None,
) -> dict[str, Any]:
    """How model and measurement agree over the rows that the report's numbers cover. Memory does not grow with length.

    Args:
        recording: read through once.
        summary: what `summarize` gave of it.
        thresholds: of the rig; None: those of the recorded configuration. Those of the motion's own file go before.
        alone: by nothing but these, whatever the motion's file says.
        parameters: whose covariance widens the band; None: those that the recording was computed with.

    Returns:
        A JSON object: `verdict`, `confidence`, `reasons`, `criteria` (see `judged`), `legs` and `together` (see
        `Agreement.legs`, with the lag, the fraction inside the band, and `holding`: why the residual may come of what
        the leg's drive gives between two commands, empty where it cannot), `lag` (`hold_s`, see `hold_lag`,
        `consistency_p` and `why`, see `find_lag`), `spectrum` (see `Agreement.spectrum`, or null), `band` (see
        `inside`; without its numbers and with `why` where it cannot be computed), `dependence` (see `dependence`, or
        null), `undecidable` (sentences: why these rows can tell nothing of the model), `counted` (tracking, peaks and
        timing, see there), `expected_n` (N RMS of a leg's residual that a machine which is known not to be its model
        explains, or null), `unfinished` (a sentence, empty where the motion came to its end), `rows`.

    Raises:
        RecordingError: the file changed meanwhile, or there is no room for its columns in the temporary folder.
        CalibrationError: parameters that the recorded mechanism does not have.
    """
    if thresholds is None:
        thresholds = recorded_thresholds(recording.header)
    rate = summary["cycle"]["rate_hz"] or 1.0
    with ExitStack() as resources:
        agreement = Agreement(summary["window"]["rows"], rate, _full_scale(recording.header))
        resources.callback(agreement.close)
        kept: tuple[list[Rows], list[Numbers]] = ([], [])
        try:
            _look(recording, summary, rate, agreement, kept)
            numbers = _numbers(recording, summary, agreement, kept, parameters)
        except OSError as error:
            raise RecordingError(f"{recording.path}: no room for its forces: {error.strerror}") from None
    covered = summary["window"]["motion"]
    own = next((motion.own_thresholds for motion in recording.motions if motion.id == covered), None)
    numbers["unfinished"] = next((_unfinished(motion) for motion in summary["motions"] if motion["id"] == covered), "")
    whose = GIVEN if alone else RIG
    found = judged(thresholds, numbers, summary["force"]["noise_n"], None if alone else own, whose)
    return found | numbers | {"own": {} if own is None else own.named}


def recorded_thresholds(header: Mapping[str, Any]) -> Validation:
    """The thresholds of a recording's configuration; none of one without, or with others than today's."""
    section = header.get("config", {}).get("validation", {})
    try:
        return Validation.model_validate(section)
    except ValidationError:
        return Validation()


def recorded_parameters(header: Mapping[str, Any]) -> list[ParameterFile]:
    """The parameter files that a recording was computed with. Raises CalibrationFileError for one that is none."""
    texts = header.get("parameters", {})
    return [parse_parameters(text, name) for name, text in texts.items()] if isinstance(texts, dict) else []


def _look(
    recording: Recorded,
    summary: Mapping[str, Any],
    rate: float,
    agreement: Agreement,
    kept: tuple[list[Rows], list[Numbers]],
) -> None:
    whole = summary["window"]["rows"]
    stride = -(-whole // SAMPLES) or 1
    seen = taken = 0
    with np.errstate(all="ignore"):  # whatever a file says
        for block in recording.blocks():
            rows = block[window_of(block, seen, summary)]
            seen += len(block)
            known = agreement.add(rows)
            numbers = block_numbers(taken, len(rows), whole, rate)
            places = known[(known + taken) % stride == 0]
            kept[0].append(rows[places])
            kept[1].append(numbers[places])
            taken += len(rows)


def _numbers(
    recording: Recorded,
    summary: Mapping[str, Any],
    agreement: Agreement,
    kept: tuple[list[Rows], list[Numbers]],
    parameters: Sequence[ParameterFile] | None,
) -> dict[str, Any]:
    legs, together = agreement.legs(), agreement.together()
    lag = find_lag(agreement.spool, agreement.rate)
    held = 0.0 if agreement.held.any() else hold_lag(recording.header)
    unknown = unknown_holding(recording.header, agreement.held)
    samples = sampled(*kept) if kept[0] else None
    mechanism = _mechanism(recording)
    told = _band(recording, summary, samples, mechanism, parameters)
    for place, (leg, dynamic) in enumerate(zip(legs, agreement.dynamic().tolist(), strict=True)):
        leg["holding"] = unknown[place] if (leg["rms_n"] or 0.0) <= dynamic else ""
        of_lag, of_band = lag["legs"][place], told["legs"][place]
        leg |= _lag(of_lag, held)
        leg |= {key: of_band[key] for key in ("inside_band", "inside_band_sigma")}
    together |= _lag(lag, held)
    together |= {key: told[key] for key in ("inside_band", "inside_band_sigma")}
    return {
        "rows": int(agreement.sums.counts.sum()),
        "undecidable": _undecidable(recording, agreement, legs, summary["force"]["noise_n"]),
        "counted": counted(
            summary,
            real_time=bool(recording.header.get("clock", {}).get("wall_ns", 0)),
            damaged=_damaged(recording),
            saturated=_saturated(agreement),
        ),
        "expected_n": _expected(recording.header),
        "freedom": together["freedom"],
        "together": together,
        "legs": legs,
        "lag": {"hold_s": held} | {key: lag[key] for key in ("consistency_p", "why")},
        "band": {key: value for key, value in told.items() if key != "legs"},
        "spectrum": agreement.spectrum(),
        "dependence": None if samples is None or mechanism is None else dependence(samples, mechanism.geometry),
    }


def _lag(found: Mapping[str, Any], held: float | None) -> dict[str, float | None]:
    """Lag as measured, and what is left of it beyond that of forces held for a cycle."""
    whole = found["lag_s"]
    beyond = None if whole is None else whole - (held or 0.0)
    return {"lag_s": whole, "lag_sigma_s": found["sigma_s"], "lag_beyond_hold_s": beyond}


def _expected(header: Mapping[str, Any]) -> float | None:
    """N RMS of a leg's residual that a virtual plant's own departures from the model explain; None where none are."""
    virtual = header.get("config", {}).get("virtual") or {}
    value = virtual.get("plant", {}).get("expected_residual") if isinstance(virtual, Mapping) else None
    return float(value) if isinstance(value, int | float) and value >= 0.0 else None


def _undecidable(
    recording: Recorded, agreement: Agreement, legs: list[dict[str, Any]], noise: float | None
) -> list[str]:
    """Why nothing can be decided by these rows."""
    found = []
    count = int(agreement.sums.counts.sum())
    if np.count_nonzero(agreement.sums.counts) < FEWEST:
        found.append(f"too few rows with forces and a model, {count}: nothing can be said of uncertainty")
    elif (moved := float(agreement.spread().max())) <= (level := noise or legs[0]["rms_n"]):
        found.append(
            f"the platform stood still, or nearly: the modelled forces change by {moved:.2g} N RMS, no more than "
            f"{'the noise' if noise else 'the residual'}, {level:.2g} N"
        )
    return [*found, *filter(None, [_saturated(agreement), _damaged(recording)])]


def _saturated(agreement: Agreement) -> str:
    count = agreement.saturated
    return f"{count} readings at the end of the load cells' scale, where they mean nothing" if count else ""


def _damaged(recording: Recorded) -> str:
    return "the recording is damaged: what it says may be wrong" if recording.doubts else ""


def _unfinished(motion: Mapping[str, Any]) -> str:
    """Why a motion has not passed, however well its beginning went; empty of one that came to its end."""
    if motion["outcome"] == "finished":
        return ""
    how = "the recording ends" if motion["outcome"] == "underway" else motion["outcome"]
    place = "" if motion["reached_s"] is None else f" at {motion['reached_s']:.2f} s of it"
    return f"the motion did not come to its end: {how}{place}"


def _band(
    recording: Recorded,
    summary: Mapping[str, Any],
    samples: Samples | None,
    mechanism: Mechanism | None,
    parameters: Sequence[ParameterFile] | None,
) -> dict[str, Any]:
    empty = {"inside_band": None, "inside_band_sigma": None}
    nothing = {"legs": [{"leg": leg + 1} | empty for leg in range(_LEGS)], **empty}
    noise = summary["force"]["noise_n"]
    if noise is None or mechanism is None:
        lacking = "the cells' noise" if noise is None else "a mechanism that can be used"
        return nothing | {"why": f"the recording does not say {lacking}"}
    if samples is None or not len(samples.residuals):
        return nothing | {"why": "there are no samples"}
    files = recorded_parameters(recording.header) if parameters is None else parameters
    try:
        made = band(samples, mechanism, noise, files, recorded_coulomb_speed(recording.header))
    except (DynamicsError, np.linalg.LinAlgError) as error:
        return nothing | {"why": f"the model cannot be computed along it: {error}"}
    except CalibrationError:
        if parameters is not None:
            raise
        return nothing | {"why": "its parameters are not those of its mechanism"}
    said = [f"{file.kind} of {file.date}" for file in files]
    return inside(made, samples) | {"parameter_files": said, "why": ""}


def _mechanism(recording: Recorded) -> Mechanism | None:
    text = recording.header.get("mechanism")
    try:
        return parse_mechanism(text, evaluate_only=True) if isinstance(text, str) else None
    except DynamicsError:
        return None


def _full_scale(header: Mapping[str, Any]) -> float:
    """End of the cells' scale, N; infinite where the recording does not say it."""
    value = header.get("config", {}).get("load_cells", {}).get("range")
    return float(value) if isinstance(value, int | float) and value > 0 else math.inf

"""A validation: one look at the covered rows of a recording, then what follows from what was kept of them."""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from calibration import (
    CalibrationError,
    LoadCellCalibration,
    ParameterFile,
    ReadingsUncertainty,
    parse_cell_calibration,
    parse_parameters,
)
from dynamics import DynamicsError, Mechanism, parse_mechanism
from rig.cell_models import recorded_coulomb_speed
from rig.config import GIVEN, RIG, RigConfig, Validation
from rig.recording import Finding, Recorded, RecordingError, has_finding, imported_from
from rig.report.streaming import Floats
from rig.report.summary import window_of
from rig.report.validation.agreement import Agreement
from rig.report.validation.band import SAMPLES, Samples, band, inside, sampled
from rig.report.validation.blocks import FEWEST, Numbers, block_numbers
from rig.report.validation.dependence import dependence
from rig.report.validation.lag import find_lag, hold_lag, unknown_zoh
from rig.report.validation.sample_metrics import Cause, counted
from rig.report.validation.sensitivity import sensitivity
from rig.report.validation.verdict import judged
from rig.states import State

_LEGS = 6
_SHORTEST_REST = 50
"""Cycles of one standing still, from which the cells' noise is told."""
_SMOOTHED = 0.06
"""s"""
Rows = npt.NDArray[np.void]
_SampleRows = tuple[list[Rows], list[Floats], list[Numbers]]


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
        A JSON object: `verdict`, `confidence`, `reasons`, `criteria`, `noticed` (see `judged`), `legs` and `together`
        (see `Agreement.legs`, with the lag, the fraction inside the band, and `holding`: why the residual may come of
        what the leg's drive gives between two commands, null where it cannot), `lag` (`hold_s`, see `hold_lag`,
        `consistency_p` and `why`, see `find_lag`), `spectrum` (see `Agreement.spectrum`, or null), `band` (see
        `inside`; without its numbers and with `why` where it cannot be computed), `dependence` (see `dependence`, or
        null), `sensitivity` (see `sensitivity`, or with `why` alone), `octaves` (see `Octaves.bands`), `noise_n` and
        `noise_source` ("configured", "at rest" or null), `undecidable` (why these rows can tell nothing of the
        model), `slow_cells` (why cells tell nothing of noise and terms, or null), `counted` (tracking, peaks and
        timing, see there), `expected_n` (N RMS of a leg's residual that a machine which is known not to be its model
        explains, or null), `unfinished` (null where the motion came to its end), `rows`. Why something cannot be told
        is a `code` with its fields, see `rig.report.text_summary.cause_text`.

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
        rows_used: _SampleRows = ([], [], [])
        try:
            _read(recording, summary, rate, agreement, rows_used)
            numbers = _numbers(recording, summary, agreement, rows_used, parameters)
        except OSError as error:
            raise RecordingError(f"{recording.path}: no room for its forces: {error.strerror}") from None
    covered = summary["window"]["motion"]
    own = next((motion.own_thresholds for motion in recording.motions if motion.id == covered), None)
    motions = [motion for motion in summary["motions"] if motion["id"] == covered]
    numbers["unfinished"] = next(map(_unfinished, motions), None)
    whose = GIVEN if alone else RIG
    found = judged(thresholds, numbers, numbers["noise_n"], None if alone else own, whose)
    return found | numbers | {"own": {} if own is None else own.named}


def recorded_thresholds(header: Mapping[str, Any]) -> Validation:
    """The thresholds of a recording's configuration; none of one without, or with others than today's."""
    section = header.get("config", {}).get("validation", {})
    try:
        return Validation.model_validate(section)
    except ValidationError:
        return Validation()


def recorded_calibration(header: Mapping[str, Any]) -> LoadCellCalibration | None:
    """The calibration of its cells that a recording was made with, None without one. Raises CalibrationFileError."""
    text = header.get("calibration")
    return parse_cell_calibration(text) if isinstance(text, str) else None


def recorded_parameters(header: Mapping[str, Any]) -> list[ParameterFile]:
    """The parameter files that a recording was computed with. Raises CalibrationFileError for one that is none."""
    texts = header.get("parameters", {})
    return [parse_parameters(text, name) for name, text in texts.items()] if isinstance(texts, dict) else []


def _read(
    recording: Recorded,
    summary: Mapping[str, Any],
    rate: float,
    agreement: Agreement,
    rows_used: _SampleRows,
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
            rows_used[0].append(rows[places])
            rows_used[1].append(_derivatives(rows, rate)[places])
            rows_used[2].append(numbers[places])
            taken += len(rows)


def _derivatives(rows: Rows, rate: float) -> Floats:
    """Slopes of the modelled readings, N/s, and the lengths less their references, m, with two derivatives: (m, 4, 6).

    Those of the lengths by a cubic over `_SMOOTHED` s (Savitzky and Golay, Anal. Chem. 36, 1964), so that an encoder's
    steps are no accelerations; 0 where there is none.
    """
    from scipy.signal import savgol_filter

    found = np.zeros((len(rows), 4, _LEGS))
    if len(rows) > 1 and (np.diff(rows["t"]) > 0.0).all():
        found[:, 0] = np.gradient(rows["force_model"], rows["t"], axis=0)
    width = max(5, int(_SMOOTHED * rate) // 2 * 2 + 1)
    if len(rows) >= width:
        error = rows["length"] - rows["length_reference"]
        for order in range(3):
            found[:, 1 + order] = savgol_filter(error, width, 3, deriv=order, delta=1.0 / rate, axis=0)
    return np.nan_to_num(found, posinf=0.0, neginf=0.0)


def _numbers(
    recording: Recorded,
    summary: Mapping[str, Any],
    agreement: Agreement,
    rows_used: _SampleRows,
    parameters: Sequence[ParameterFile] | None,
) -> dict[str, Any]:
    legs, together = agreement.legs(), agreement.together()
    lag = find_lag(agreement.spool, agreement.rate)
    hold_time = 0.0 if agreement.zoh_modelled.any() else hold_lag(recording.header)
    unknown = unknown_zoh(recording.header, agreement.zoh_modelled)
    samples = sampled(*rows_used) if rows_used[0] else None
    mechanism = _mechanism(recording)
    configured = summary["force"]["noise_n"]
    noise = configured or _noise_at_rest(recording)
    band, terms = _of_model(recording, noise, samples, mechanism, parameters)
    for place, (leg, dynamic) in enumerate(zip(legs, agreement.dynamic().tolist(), strict=True)):
        leg["holding"] = unknown[place] if (leg["rms_n"] or 0.0) <= dynamic else None
        of_lag, of_band = lag["legs"][place], band["legs"][place]
        leg |= _lag(of_lag, hold_time)
        leg |= {key: of_band[key] for key in ("inside_band", "inside_band_sigma")}
    together |= _lag(lag, hold_time)
    together |= {key: band[key] for key in ("inside_band", "inside_band_sigma")}
    return {
        "rows": int(agreement.sums.counts.sum()),
        "undecidable": _undecidable(recording, agreement, legs, summary["force"]["noise_n"]),
        "counted": counted(
            summary,
            real_time=bool(recording.header.get("clock", {}).get("wall_ns", 0)),
            imported=imported_from(recording.header) is not None,
            damaged=_damaged(recording),
            saturated=_saturated(agreement),
        ),
        "expected_n": _expected(recording.header),
        "freedom": together["freedom"],
        "together": together,
        "legs": legs,
        "lag": {"hold_s": hold_time} | {key: lag[key] for key in ("consistency_p", "why")},
        "band": {key: value for key, value in band.items() if key != "legs"},
        "sensitivity": terms,
        "octaves": agreement.octaves.bands(agreement.rate),
        "noise_n": noise,
        "noise_source": "configured" if configured else "at rest" if noise else None,
        "slow_cells": _slow_cells(recording.header),
        "spectrum": agreement.spectrum(),
        "dependence": None if samples is None or mechanism is None else dependence(samples, mechanism.geometry),
    }


def _lag(found: Mapping[str, Any], hold_time: float | None) -> dict[str, float | None]:
    """Lag as measured, and what is left of it beyond that of forces held for a cycle."""
    whole = found["lag_s"]
    beyond = None if whole is None else whole - (hold_time or 0.0)
    return {"lag_s": whole, "lag_sigma_s": found["sigma_s"], "lag_beyond_hold_s": beyond}


def _expected(header: Mapping[str, Any]) -> float | None:
    """N RMS of a leg's residual that a virtual plant's own departures from the model explain; None where none are."""
    if imported_from(header) is not None:
        return None
    virtual = header.get("config", {}).get("virtual") or {}
    value = virtual.get("plant", {}).get("expected_residual") if isinstance(virtual, Mapping) else None
    return float(value) if isinstance(value, int | float) and value >= 0.0 else None


def _undecidable(
    recording: Recorded, agreement: Agreement, legs: list[dict[str, Any]], noise: float | None
) -> list[dict[str, Any]]:
    """Why nothing can be decided by these rows."""
    found: list[dict[str, Any] | None] = []
    count = int(agreement.sums.counts.sum())
    if np.count_nonzero(agreement.sums.counts) < FEWEST:
        found.append({"code": "few_blocks", "count": count})
    elif (moved := float(agreement.spread().max())) <= (level := noise or legs[0]["rms_n"]):
        found.append({"code": "still", "moved_n": moved, "level_n": level, "level": "noise" if noise else "residual"})
    if has_finding(recording.header, Finding.DELAY, aligned=False):
        found.append({"code": "unaligned"})
    return [cause for cause in (*found, _saturated(agreement), _damaged(recording)) if cause]


def _saturated(agreement: Agreement) -> Cause:
    return {"code": "saturated", "count": agreement.saturated} if agreement.saturated else None


def _damaged(recording: Recorded) -> Cause:
    return {"code": "damaged"} if recording.doubts else None


def _slow_cells(header: Mapping[str, Any]) -> Cause:
    """That cells are read less often than once a cycle: rows repeat a reading, whose noise is not what is expected."""
    try:
        config = RigConfig.model_validate(header.get("config", {}))
    except ValidationError:
        return None
    if config.reading_period <= config.period:
        return None
    return {"code": "slow_cells", "reading_s": config.reading_period, "cycle_s": config.period}


def _unfinished(motion: Mapping[str, Any]) -> Cause:
    """Why a motion has not passed, however well its beginning went; None of one that came to its end."""
    if motion["outcome"] == "finished":
        return None
    return {"code": "unfinished", "outcome": motion["outcome"], "reached_s": motion["reached_s"]}


def _noise_at_rest(recording: Recorded) -> float | None:
    """Standard deviation of the cells' readings where the platform was held still, N; None where it never was.

    About the mean of each cell and standing still, so that no model is in it. Of the noisiest cell.
    """
    squares, freedom = np.zeros(_LEGS), 0
    for block in recording.blocks():
        resting = (block["state"] == State.ENGAGED) & (block["motion"] == 0)
        resting &= np.isfinite(block["force_measured"]).all(axis=1) & ~block["reference"][:, 7:].any(axis=1)
        for part in np.split(np.arange(len(block)), np.flatnonzero(np.diff(resting)) + 1):
            if len(part) >= _SHORTEST_REST and resting[part[0]]:
                squares += len(part) * block["force_measured"][part].var(axis=0)
                freedom += len(part) - 1
    return float(np.sqrt(squares.max() / freedom)) or None if freedom else None


def _of_model(
    recording: Recorded,
    noise: float | None,
    samples: Samples | None,
    mechanism: Mechanism | None,
    parameters: Sequence[ParameterFile] | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The uncertainty band, and what goes with each term of the model; both with `why`, which is empty where all is."""
    empty = {"inside_band": None, "inside_band_sigma": None}
    nothing = {"legs": [{"leg": leg + 1} | empty for leg in range(_LEGS)], **empty}

    def without(code: str, detail: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
        reason = {"why": code, "detail": detail}
        return nothing | reason, {"freedom": 0, "terms": []} | reason

    if noise is None or mechanism is None:
        return without("no_noise" if noise is None else "no_mechanism")
    if samples is None or not len(samples.residuals):
        return without("no_samples")
    files = recorded_parameters(recording.header) if parameters is None else parameters
    speed = recorded_coulomb_speed(recording.header)
    try:
        uncertainty = ReadingsUncertainty(mechanism, files, speed, recorded_calibration(recording.header))
        made = band(samples, mechanism, noise, uncertainty, speed)
        terms = sensitivity(samples, mechanism, noise, uncertainty, speed)
    except (DynamicsError, np.linalg.LinAlgError) as error:
        return without("not_computable", str(error))
    except CalibrationError:
        if parameters is not None:
            raise
        return without("other_parameters")
    sure = {"why": "", "detail": ""}
    names = [f"{file.kind} of {file.date}" for file in files]
    return inside(made, samples) | {"parameter_files": names} | sure, terms | sure


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

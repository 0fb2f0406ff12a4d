"""Validation run: one pass over the covered rows of a recording, then the evaluation of the collected data."""

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
_MIN_REST = 50
"""Minimum cycles of one rest period for the noise estimate."""
_SMOOTHED = 0.06
"""s, length of the smoothing filter"""
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
    """Return how model and measurement agree over the covered rows, in constant memory.

    Args:
        recording: read once.
        summary: result of `summarize`.
        thresholds: of the rig; None: those of the recorded configuration. Those of the motion's own file override them.
        alone: use only these thresholds and ignore the motion's file.
        parameters: files whose covariance widens the band; None: those the recording was computed with.

    Returns:
        A JSON object: `verdict`, `confidence`, `reasons`, `criteria`, `noticed` (see `judged`), `legs` and `together`
        (see `Agreement.legs`, with the lag, the fraction inside the band, and `holding`: why the leg's drive may cause
        the residual between two commands, else null), `lag` (`hold_s`, see `hold_lag`,
        `consistency_p` and `why`, see `find_lag`), `spectrum` (see `Agreement.spectrum`, or null), `band` (see
        `inside`; without its numbers and with `why` where it cannot be computed), `dependence` (see `dependence`, or
        null), `sensitivity` (see `sensitivity`, or with `why` alone), `octaves` (see `Octaves.bands`), `noise_n` and
        `noise_source` ("configured", "at rest" or null), `undecidable` (why these rows decide nothing about the
        model), `slow_cells` (why cells determine neither noise nor terms, or null), `counted` (tracking, peaks and
        timing, see there), `expected_n` (N RMS of a leg's residual that a machine's known deviation from the model, or
        its drives' own loops explain, or null) and `expected_by` (which of the two), `unfinished` (null for a completed
        motion), `rows`. The reason for an unknown result is a `code` with its fields, see
        `rig.report.text_summary.cause_text`.

    Raises:
        RecordingError: the file changed meanwhile, or the temporary folder has no room for its columns.
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
    """Return the thresholds of the recorded configuration; none if it has none or unknown ones."""
    section = header.get("config", {}).get("validation", {})
    try:
        return Validation.model_validate(section)
    except ValidationError:
        return Validation()


def recorded_calibration(header: Mapping[str, Any]) -> LoadCellCalibration | None:
    """Return the cell calibration used for the recording, None without one. Raises CalibrationFileError."""
    text = header.get("calibration")
    return parse_cell_calibration(text) if isinstance(text, str) else None


def recorded_parameters(header: Mapping[str, Any]) -> list[ParameterFile]:
    """Return the parameter files used for the recording. Raises CalibrationFileError for an invalid one."""
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
    with np.errstate(all="ignore"):  # a file may hold any value
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
    """Return slopes of the modelled readings, N/s, and length deviations, m, with two derivatives: (m, 4, 6).

    Length derivatives use a cubic over `_SMOOTHED` s (Savitzky and Golay, Anal. Chem. 36, 1964), so that encoder steps
    do not appear as accelerations; 0 where there is none.
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
        **_expected(recording.header),
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
    """Return the measured lag, and its remainder beyond the zero-order hold of one cycle."""
    whole = found["lag_s"]
    beyond = None if whole is None else whole - (hold_time or 0.0)
    return {
        "lag_s": whole,
        "lag_sigma_s": found["sigma_s"],
        "lag_beyond_hold_s": beyond,
        "slope_n_per_s": found.get("slope_n_per_s"),
    }


def _expected(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return `expected_n`, the RMS leg residual, N, that is expected of a virtual rig, and `expected_by`, its cause.

    The cause is "by_design" for a plant that is built otherwise than the model, "own_loops" for drives that close their
    own loops, "by_design_own_loops" for both; both results are None where nothing is expected.
    """
    nothing = {"expected_n": None, "expected_by": None}
    virtual = header.get("config", {}).get("virtual") or {}
    plant = virtual.get("plant", {}) if isinstance(virtual, Mapping) else {}
    value = plant.get("expected_residual")
    if imported_from(header) is not None or not (isinstance(value, int | float) and value >= 0.0):
        return nothing
    try:
        own = any(RigConfig.model_validate(header["config"]).own_loops)
    except ValidationError:
        own = False
    of_own_loops = "own_loops" if plant.get("as_built") is None else "by_design_own_loops"
    return {"expected_n": float(value), "expected_by": of_own_loops if own else "by_design"}


def _undecidable(
    recording: Recorded, agreement: Agreement, legs: list[dict[str, Any]], noise: float | None
) -> list[dict[str, Any]]:
    """Return why these rows decide nothing."""
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
    """Return a cause if cells are read less than once per cycle: repeated readings change the expected noise."""
    try:
        config = RigConfig.model_validate(header.get("config", {}))
    except ValidationError:
        return None
    if config.reading_period <= config.period:
        return None
    return {"code": "slow_cells", "reading_s": config.reading_period, "cycle_s": config.period}


def _unfinished(motion: Mapping[str, Any]) -> Cause:
    """Return why the motion did not complete; None if it did."""
    if motion["outcome"] == "finished":
        return None
    return {"code": "unfinished", "outcome": motion["outcome"], "reached_s": motion["reached_s"]}


def _noise_at_rest(recording: Recorded) -> float | None:
    """Return the standard deviation of the noisiest cell's readings at rest, N; None without a rest period.

    It is taken about each cell's mean per rest period, so it is independent of the model.
    """
    squares, freedom = np.zeros(_LEGS), 0
    for block in recording.blocks():
        resting = (block["state"] == State.ENGAGED) & (block["motion"] == 0)
        resting &= np.isfinite(block["force_measured"]).all(axis=1) & ~block["reference"][:, 7:].any(axis=1)
        for part in np.split(np.arange(len(block)), np.flatnonzero(np.diff(resting)) + 1):
            if len(part) >= _MIN_REST and resting[part[0]]:
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
    """Return the uncertainty band and the sensitivity to model terms; both with `why`, empty where known."""
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
    """Return the full scale of the cells, N; infinite where not recorded."""
    value = header.get("config", {}).get("load_cells", {}).get("range")
    return float(value) if isinstance(value, int | float) and value > 0 else math.inf

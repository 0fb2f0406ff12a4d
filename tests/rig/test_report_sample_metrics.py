"""Verdicts on what is counted: tracking, peaks and timing; each can pass, fail, and be undecided."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from validated import NOISE, RATE, forces, header_with, make_running, noise, ran

from kinematics import Thresholds
from rig.recording import Recording
from rig.report import judged as judge
from rig.report import summarize
from rig.report.pages import page_environment
from rig.report.text_summary import detectable_errors_text, in_unit, in_unit_with_bound
from rig.report.validation import validate
from rig.states import MotionOutcome, State

COUNT = round(4.0 * RATE)
MODEL = forces(np.arange(COUNT) / RATE)
Rows = npt.NDArray[np.void]


def _rows() -> Rows:
    return make_running(MODEL + noise(1, COUNT), MODEL)


def made(rows: Rows, **thresholds: float) -> Recording:
    header = header_with(**thresholds)
    return Recording(Path("run.mcap"), header, rows, (), dropped=0, complete=True, closing={}, motions=(ran(COUNT),))


def judged(recording: Recording, **more: Any) -> dict[str, Any]:
    return validate(recording, summarize(recording), **more)


def _off_by(rows: Rows) -> None:
    rows["pose"][::2, 0] += 3e-4


def _turned(rows: Rows) -> None:
    angle = 2e-3
    rows["pose"][7, 3:7] = np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0


def _pushed(rows: Rows) -> None:
    rows["force_measured"][50, 4] = -700.0
    rows["force_residual"][50, 4] = -700.0 - rows["force_model"][50, 4]


def _uneven(rows: Rows) -> None:
    rows["period"][::20] += 4e-4


def _skipped(rows: Rows) -> None:
    rows["overruns"][1000:] += 10


WRONG: list[tuple[str, Callable[[Rows], None], float, int | None]] = [
    ("position_rms", _off_by, 3e-4 / np.sqrt(2), None),
    ("position_max", _off_by, 3e-4, None),
    ("rotation_rms", _turned, 2e-3 / np.sqrt(COUNT), None),
    ("rotation_max", _turned, 2e-3, None),
    ("peak_force", _pushed, 700.0, 5),
    ("peak_residual", _pushed, 700.0 + MODEL[50, 4], 5),
    ("period_error", _uneven, 4e-4, None),
    ("overruns", _skipped, 10 / (COUNT + 10), None),
]


@pytest.mark.parametrize(("name", "spoil", "value", "leg"), WRONG)
def test_each_passes_below_its_number_and_fails_above_it(
    name: str, spoil: Callable[[Rows], None], value: float, leg: int | None
) -> None:
    rows = _rows()
    spoil(rows)
    kept = judged(made(rows, **{name: 1.001 * value}))
    (criterion,) = kept["criteria"]
    assert (kept["verdict"], kept["reasons"], criterion["leg"], criterion["sigma"]) == ("pass", [], leg, None)
    assert criterion["value"] == pytest.approx(value)
    missed = judged(made(rows, **{name: 0.999 * value}))
    assert missed["verdict"] == "fail" and "at most" in missed["reasons"][0]
    assert ("of leg 5" in missed["reasons"][0]) == (leg is not None)
    assert judged(made(_rows(), **{name: 0.5 * value}))["verdict"] == "pass"  # unspoiled


def test_sentences_have_units_that_are_read() -> None:
    rows = _rows()
    _off_by(rows)
    _skipped(rows)
    result = judged(made(rows, position_max=1e-4, overruns=0.001))
    assert result["reasons"] == [
        "position max: 300 µm, required at most 100 µm",
        "cycles skipped: 0.4975 %, required at most 0.1 %",
    ]


def test_thresholds_have_no_exponent_and_say_what_they_count() -> None:
    assert in_unit("position_max", 0.012) == "12000 µm"
    assert in_unit_with_bound("position_max", 0.00111, 0.012) == ("1110 µm", "12000 µm")
    assert in_unit("residual_noise", 1.5) == "1.5 × the cells' noise"
    friction = {"term": "friction", "error": 16.6, "absolute": None, "unit": ""}
    assert detectable_errors_text([friction]) == "1700 % of friction"
    text = page_environment("rig.report").from_string("{{ text | prose }}").render(text="<1 N, see `rig identify`")
    assert text == "&lt;1 N, see <code>rig identify</code>"


def test_what_is_outside_the_motion_does_not_count() -> None:
    """Cycles skipped and late before it begins, and a platform pushed aside after it has ended."""
    before, after = _rows()[:500], _rows()[:500]
    rows = _rows()
    before["state"] = after["state"] = State.ENGAGED
    before["motion"] = after["motion"] = 0
    before["period"] += 4e-4
    before["overruns"][100:] = rows["overruns"][:] = after["overruns"][:] = 50
    after["pose"][:, 0] += 0.1
    whole = np.concatenate([before, rows, after])
    whole["cycle"] = np.arange(len(whole))
    whole["t"] = whole["cycle"] / RATE
    thresholds = {"overruns": 0.0, "period_error": 1e-6, "position_max": 1e-6}
    motion = replace(ran(COUNT), start=500 / RATE, end=500 / RATE + COUNT / RATE)
    assert judged(replace(made(whole, **thresholds), motions=(motion,)))["verdict"] == "pass"
    _skipped(whole[500 : 500 + COUNT])
    failed = judged(replace(made(whole, **thresholds), motions=(motion,)))
    assert [one["name"] for one in failed["criteria"] if one["verdict"] == "fail"] == ["overruns"]


def test_on_a_simulated_clock_no_cycle_can_be_late_and_that_decides_nothing() -> None:
    recording = made(_rows(), overruns=0.0, period_error=1e-3, position_rms=1e-3)
    assert judged(recording)["verdict"] == "pass"
    header = recording.header | {"clock": {"monotonic_ns": 0, "wall_ns": 0}}
    result = judged(replace(recording, header=header))
    assert [one["verdict"] for one in result["criteria"]] == ["pass", "undecided", "undecided"]
    assert result["verdict"] == "undecided" and result["criteria"][1]["cause"]["code"] == "simulated_clock"


def test_a_platform_that_stood_still_is_tracked_though_the_model_is_not_told() -> None:
    rows = make_running(np.full_like(MODEL, 40.0) + noise(2, COUNT), np.full_like(MODEL, 40.0))
    result = judged(made(rows, position_rms=1e-4, residual_rms=1.0))
    assert {one["name"]: one["verdict"] for one in result["criteria"]} == {
        "residual_rms": "undecided",
        "position_rms": "pass",
    }
    assert result["verdict"] == "undecided"


def test_forces_at_the_end_of_the_scale_may_be_greater_but_are_never_less() -> None:
    rows = _rows()
    _pushed(rows)

    def at_the_end(**thresholds: float) -> dict[str, Any]:
        recording = made(rows, **thresholds)
        config = recording.header["config"]
        cells = config["load_cells"] | {"range": 700.0}
        return judged(replace(recording, header=recording.header | {"config": config | {"load_cells": cells}}))

    assert at_the_end(peak_force=650.0)["verdict"] == "fail"
    above = at_the_end(peak_force=750.0)
    assert above["verdict"] == "undecided" and above["criteria"][0]["cause"]["code"] == "saturated"
    assert at_the_end(peak_residual=10.0)["verdict"] == "undecided"


def test_a_damaged_or_empty_recording_is_undecided() -> None:
    sure = made(_rows(), position_rms=1e-3, peak_force=1e3, overruns=0.1)
    assert judged(sure)["verdict"] == "pass"
    for doubtful in (replace(sure, doubts=("a chunk is torn",)), replace(sure, rows=sure.rows[:0])):
        assert [one["verdict"] for one in judged(doubtful)["criteria"]] == ["undecided"] * 3
    assert judged(replace(sure, rows=sure.rows[:7]))["verdict"] == "undecided"


@pytest.mark.parametrize("outcome", [MotionOutcome.STOPPED, MotionOutcome.FAULT, MotionOutcome.UNDERWAY])
def test_a_motion_that_did_not_come_to_its_end_has_not_passed_but_may_have_failed(outcome: MotionOutcome) -> None:
    stopped = replace(made(_rows(), position_rms=1e-3), motions=(ran(COUNT, outcome),))
    result = judged(stopped)
    assert result["verdict"] == "undecided" and "did not finish" in result["reasons"][0]
    rows = _rows()
    rows["pose"][:, 2] += 2e-3
    assert judged(replace(stopped, rows=rows))["verdict"] == "fail"


def test_given_thresholds_alone_leave_those_of_the_motions_file_out() -> None:
    own = Thresholds(position_rms=1e-9).text
    rows = _rows()
    _off_by(rows)
    recording = replace(made(rows, peak_force=1.0), motions=(ran(COUNT, thresholds=own),))
    assert [one["whose"] for one in judged(recording)["criteria"]] == ["motion", "rig"]
    from rig.config import Validation

    alone = judged(recording, thresholds=Validation(residual_rms=3 * NOISE), alone=True)
    assert alone["verdict"] == "pass" and [one["whose"] for one in alone["criteria"]] == ["given"]
    assert alone["own"] == {"position_rms": 1e-9}
    again = judge(Validation(position_max=1e-3), alone, NOISE, None, "given")
    assert again["verdict"] == "pass"

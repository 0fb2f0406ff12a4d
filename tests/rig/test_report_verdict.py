"""The verdict: it can pass, fail, and be undecided, each for its own reason; numbers against plain definitions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED
from validated import NOISE, RATE, Floats, forces, header_with, make_running, noise, ran

from rig.client import identifiability_of
from rig.config import Validation, load_config
from rig.errors import ConfigError
from rig.recording import Recording
from rig.report import summarize
from rig.report.validation import validate
from rig.report.validation.verdict import judged as decide
from rig.states import MotionOutcome

TIMES = np.arange(round(8.0 * RATE)) / RATE
MODEL = forces(TIMES)


def made(measured: Floats, **thresholds: float) -> Recording:
    return compared_with(MODEL, measured, **thresholds)


def compared_with(model: Floats, measured: Floats, /, **thresholds: float) -> Recording:
    rows = make_running(measured, model)
    header, motions = header_with(**thresholds), (ran(len(rows)),)
    return Recording(Path("run.mcap"), header, rows, (), dropped=0, complete=True, closing={}, motions=motions)


def judged(recording: Recording) -> dict[str, Any]:
    return validate(recording, summarize(recording))


MEASURED = MODEL + noise(1, len(MODEL))
TRUE = {"residual_rms": NOISE, "residual_noise": 1.0, "bias": 0.0, "lag": 0.0, "r_squared": 0.998}
CASES = [
    (name, threshold, verdict)
    for name, passing, failing in (
        ("residual_rms", 1.2 * NOISE, 0.8 * NOISE),
        ("residual_noise", 1.2, 0.8),
        ("r_squared", 0.98, 0.9999),
    )
    for threshold, verdict in ((passing, "pass"), (failing, "fail"))
]


@pytest.mark.parametrize(("name", "threshold", "verdict"), CASES)
def test_numbers_away_from_a_threshold_are_decided(name: str, threshold: float, verdict: str) -> None:
    result = judged(made(MEASURED, **{name: threshold}))
    assert result["verdict"] == verdict
    (criterion,) = result["criteria"]
    assert (criterion["name"], criterion["threshold"]) == (name, threshold)
    assert bool(result["reasons"]) == (verdict == "fail")


@pytest.mark.parametrize(
    ("name", "threshold", "wrong"),
    [("bias", 0.3, MEASURED + 0.5), ("lag", 1e-3, forces(TIMES - 3e-3) + noise(1, len(MODEL)))],
)
def test_bias_and_lag_fail_by_the_leg_that_has_them(name: str, threshold: float, wrong: Floats) -> None:
    assert judged(made(MEASURED, **{name: threshold}))["verdict"] == "pass"
    only = MEASURED.copy()
    only[:, 3] = wrong[:, 3]
    result = judged(made(only, **{name: threshold}))
    assert result["verdict"] == "fail" and result["criteria"][0]["leg"] == 4
    assert "leg 4" in result["reasons"][0]


def test_too_close_to_a_threshold_is_undecided() -> None:
    rms = judged(made(MEASURED))["legs"]
    worst = max(leg["rms_n"] for leg in rms)
    result = judged(made(MEASURED, residual_rms=worst))
    assert result["verdict"] == "undecided" and "too close" in result["reasons"][0]


def test_one_failure_is_a_failure_whatever_else_is_undecided() -> None:
    worst = max(leg["rms_n"] for leg in judged(made(MEASURED))["legs"])
    assert judged(made(MEASURED, residual_rms=worst, r_squared=0.98))["verdict"] == "undecided"
    assert judged(made(MEASURED, residual_rms=worst, r_squared=0.9999))["verdict"] == "fail"


def _still(recording: Recording) -> Recording:
    rows = make_running(np.full_like(MODEL, 40.0) + noise(2, len(MODEL)), np.full_like(MODEL, 40.0))
    return replace(recording, rows=rows)


def _short(recording: Recording) -> Recording:
    return replace(recording, rows=recording.rows[:300])


def _damaged(recording: Recording) -> Recording:
    return replace(recording, doubts=("a chunk is not as it was written",))


def _saturated(recording: Recording) -> Recording:
    config = recording.header["config"]
    cells = config["load_cells"] | {"range": 60.0}
    return replace(recording, header=recording.header | {"config": config | {"load_cells": cells}})


def _empty(recording: Recording) -> Recording:
    return replace(recording, rows=recording.rows[:0])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_still, "still"),
        (_short, "few_blocks"),
        (_damaged, "damaged"),
        (_saturated, "saturated"),
        (_empty, "few_blocks"),
    ],
)
def test_rows_that_can_tell_nothing_are_undecided(change: Any, why: str) -> None:
    sure = made(MEASURED, residual_rms=2.0, lag=1e-3)
    assert judged(sure)["verdict"] == "pass"
    result = judged(change(sure))
    assert result["verdict"] == "undecided" and result["criteria"][0]["cause"]["code"] == why


def test_nothing_is_judged_without_thresholds() -> None:
    result = judged(made(MEASURED))
    assert result["verdict"] is None and result["criteria"] == []
    other = validate(made(MEASURED), summarize(made(MEASURED)), thresholds=Validation(residual_rms=0.1))
    assert other["verdict"] == "fail"


def test_numbers_against_plain_definitions() -> None:
    result = judged(made(MEASURED))
    residual = MEASURED - MODEL
    for index, leg in enumerate(result["legs"]):
        one, measured = residual[:, index], MEASURED[:, index]
        assert leg["rms_n"] == pytest.approx(np.sqrt(np.mean(one**2)))
        assert leg["peak_n"] == np.abs(one).max()
        assert leg["bias_n"] == pytest.approx(one.mean())
        assert leg["nrmse"] == pytest.approx(leg["rms_n"] / np.ptp(measured))
        assert leg["r_squared"] == pytest.approx(1 - np.mean(one**2) / measured.var())
        assert leg["rms_sigma_n"] == pytest.approx(NOISE / np.sqrt(2 * len(MODEL)), rel=0.6)
        assert leg["terms"]["gravity"] == 1.0 and leg["dynamic_fraction"] == 0.0
    together = result["together"]
    assert together["rms_n"] == pytest.approx(np.sqrt(np.mean(residual**2)))
    spectrum = result["spectrum"]
    level = np.mean([leg["residual_n2_per_hz"] for leg in spectrum["legs"]])
    assert level == pytest.approx(NOISE**2 / (RATE / 2), rel=0.1)  # white: even over all frequencies
    coherence = np.array([leg["coherence"] for leg in spectrum["legs"]])
    frequency = np.array(spectrum["frequency_hz"])
    assert coherence[:, frequency < 1.0].min() > 0.99


def test_what_is_unrelated_is_seldom_above_the_coherence_level() -> None:
    spectrum = judged(compared_with(45 + noise(1, len(MODEL)), 45 + noise(2, len(MODEL))))["spectrum"]
    coherence = np.array([leg["coherence"] for leg in spectrum["legs"]])
    assert 0.005 < np.mean(coherence > np.array(spectrum["coherence_level"])) < 0.1


def test_sigmas_of_numbers_are_those_of_their_errors() -> None:
    """Of noise that remembers half a second: as if it were white, they would be a tenth of it."""
    errors = []
    for seed in range(6):
        for leg in judged(made(MODEL + noise(seed, len(MODEL), 0.98)))["legs"]:
            errors.append(leg["bias_n"] / leg["bias_sigma_n"])
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) < 1.6


def test_thresholds_have_bounds() -> None:
    assert load_config("virtual").validation.thresholds == {}
    changed = load_config("virtual").changed({"validation": {"lag": "1 ms", "inside_band": 0.9}})
    assert changed.validation.thresholds == {"lag": 1e-3, "inside_band": 0.9}
    with pytest.raises(ConfigError, match=r"validation\.lag: 1 s, must be") as refused:
        load_config("virtual").changed({"validation": {"r_squared": 1.5, "lag": "1 s", "rms": 1.0}})
    assert "validation.rms: unknown key" in str(refused.value)
    assert "validation.r_squared: 1.5, must be 0 to 1" in str(refused.value)


def meant(measured: Floats, expected: float, **thresholds: float) -> Recording:
    """Of a virtual plant whose departures from the model explain so much of a leg's residual, N RMS."""
    recording = made(measured, **thresholds)
    config = recording.header["config"] | {"virtual": {"plant": {"expected_residual": expected}}}
    return replace(recording, header=recording.header | {"config": config})


OFF = MEASURED + 5.0 * NOISE


def test_a_residual_that_is_expected_of_a_machine_that_is_not_its_model_is_no_fail() -> None:
    result = judged(meant(OFF, 7.0 * NOISE, residual_noise=1.5, bias=0.1))
    assert result["verdict"] == "expected"
    assert [criterion["verdict"] for criterion in result["criteria"]] == ["expected", "expected"]
    worst = max(leg["rms_n"] for leg in result["legs"])
    assert f"is {worst:.2f} N RMS" in result["reasons"][0] and f"up to {7.0 * NOISE:.2f} N" in result["reasons"][0]
    assert len(result["reasons"]) == 3 and "by design" not in "".join(result["reasons"][1:]), "the cause once"
    assert judged(meant(MEASURED, 7.0 * NOISE, residual_noise=1.5))["verdict"] == "pass"


def test_what_is_expected_hides_no_failure() -> None:
    beyond = OFF.copy()
    beyond[:, 2] += 3.0 * NOISE  # one leg alone
    assert judged(meant(beyond, 7.0 * NOISE, residual_noise=1.5))["verdict"] == "fail"
    assert judged(made(OFF, residual_noise=1.5))["verdict"] == "fail"  # of a machine of which nothing is expected
    other = judged(meant(OFF, 7.0 * NOISE, residual_noise=1.5, peak_force=1.0))
    assert other["verdict"] == "fail" and all("peak force" in reason for reason in other["reasons"])
    given = meant(OFF, 7.0 * NOISE, residual_noise=1.5)
    asked = validate(given, summarize(given), thresholds=Validation(residual_noise=1.5), alone=True)
    assert asked["verdict"] == "fail"  # by somebody's own thresholds
    (motion,) = given.motions
    cut = replace(given, motions=(replace(motion, outcome=MotionOutcome.STOPPED, reached=1.0),))
    assert judged(cut)["verdict"] == "undecided"


def test_an_outlook_that_fails_says_why_in_one_sentence() -> None:
    told = identifiability_of(made(MEASURED))
    assert told["holdout"] is None and told["why"]
    assert ":;" not in told["text"] and "run.mcap" not in told["text"] and "\n" not in told["text"]


@pytest.mark.parametrize(
    ("changes", "held", "verdict"),
    [
        ({"mode": "position"}, 0.0, "undecided"),  # what drives give between two commands may be all of it
        ({"mode": "position"}, 0.1, "fail"),
        ({"mode": "force"}, 0.0, "fail"),
        ({"mode": "force", "drives": {"sample_period": 0.02}}, 0.0, "undecided"),
    ],
    ids=["position, not known", "position, known", "force", "force, asked in turns"],
)
def test_what_held_commands_may_explain_is_no_fail(changes: dict[str, Any], held: float, verdict: str) -> None:
    recording = made(MEASURED, residual_rms=0.8 * NOISE)
    config = SHIPPED.changed(changes).changed({"validation": {"residual_rms": 0.8 * NOISE}}).resolved()
    rows = recording.rows.copy()
    rows["terms"][:, 0], rows["terms"][:, 1] = MODEL - 45.0, 45.0
    rows["force_held"] = held
    header = recording.header | {"config": config}
    result = judged(replace(recording, header=header, rows=rows))
    assert result["verdict"] == verdict
    assert ("holds a command for" in result["reasons"][0]) == (verdict == "undecided")
    rows["terms"][:, 0] *= 1e-3  # no inertia: then holding is not it
    assert judged(replace(recording, header=header, rows=rows))["verdict"] == "fail"


def own_loops(measured: Floats, expected: float, **thresholds: float) -> Recording:
    """Of a plant that is the model, whose drives close their own loops and are expected to leave so much, N RMS."""
    recording = made(measured, **thresholds)
    changes = {"mode": "position", "validation": thresholds, "virtual": {"plant": {"expected_residual": expected}}}
    rows = recording.rows.copy()
    rows["terms"][:, 0], rows["terms"][:, 1] = MODEL - 45.0, 45.0
    return replace(recording, header=recording.header | {"config": SHIPPED.changed(changes).resolved()}, rows=rows)


def test_the_cause_of_a_residual_names_the_drives_own_loops_where_identification_leaves_it() -> None:
    recording = own_loops(OFF, 7.0 * NOISE, residual_noise=1.5)
    config = recording.header["config"]
    plant = {**config["virtual"]["plant"], "as_built": 1}
    built = {**config, "virtual": {**config["virtual"], "plant": plant}}
    codes = [
        judged(replace(recording, header=recording.header | {"config": each}))["criteria"][0]["cause"]["code"]
        for each in (config, built, {**built, "mode": "force"})
    ]
    assert codes == ["own_loops", "by_design_own_loops", "by_design"]


def test_what_is_too_close_is_expected_of_own_loops_alone() -> None:
    bound = float(np.sqrt(np.mean((OFF - MODEL) ** 2, axis=0)).max())  # of which nobody can tell on which side it is
    (criterion,) = judged(own_loops(OFF, 7.0 * NOISE, residual_rms=bound))["criteria"]
    assert criterion["verdict"] == "expected" and criterion["cause"]["code"] == "own_loops"
    assert "by a simulation of these drives" in criterion["why"]
    (other,) = judged(meant(OFF, 7.0 * NOISE, residual_rms=bound))["criteria"]
    assert (other["verdict"], other["code"]) == ("undecided", "close")
    (beyond,) = judged(own_loops(OFF, 4.0 * NOISE, residual_rms=bound))["criteria"]
    assert beyond["verdict"] == "undecided", "more than is expected"


def test_a_lag_is_expected_as_far_as_the_expected_residual_moves_it() -> None:
    late = np.roll(MODEL, 4, axis=0) + noise(3, len(MODEL))
    lags = judged(made(late))["legs"]
    expected = 1.1 * max(leg["rms_n"] for leg in lags)
    for leg in lags:  # Cauchy and Schwarz: a residual cannot move it any further
        assert 0.0 < leg["lag_s"] <= leg["rms_n"] / leg["slope_n_per_s"]
    (criterion,) = judged(own_loops(late, expected, lag=1e-4))["criteria"]
    assert criterion["verdict"] == "expected" and criterion["cause"]["code"] == "own_loops_lag"
    assert criterion["cause"]["reach_s"] >= max(leg["lag_s"] for leg in lags)
    numbers = judged(own_loops(late, expected, lag=1e-4))
    (leg, *others) = numbers["legs"]
    far = {**numbers, "legs": [{**leg, "lag_beyond_hold_s": 0.09}, *others]}
    (found,) = decide(Validation(lag=1e-4), far, NOISE)["criteria"]
    assert found["verdict"] != "expected"


def test_a_leg_whose_cell_feels_the_other_drives_is_not_known_by_that() -> None:
    recording = own_loops(MEASURED, 7.0 * NOISE, residual_rms=0.8 * NOISE)
    rows = recording.rows.copy()
    rows["force_held"], rows["velocity_held"][:, :4] = 0.1, 1e-4
    legs = validate(replace(recording, rows=rows), summarize(recording))["legs"]
    assert [leg["holding"] is None for leg in legs] == [True] * 4 + [False] * 2

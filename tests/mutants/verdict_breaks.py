"""Verdicts that could be passed too easily, and the speed at which runs are followed."""

from breaks import Break

_COUNTED = "rig/test_report_sample_metrics.py"
_PACE = "rig/test_pace.py"
_SURE = "rig/test_report_verdict.py"
_TERMS = "rig/test_report_sensitivity.py"


def _verdict(name: str, path: str, old: str, new: str, test: str) -> Break:
    return Break(name, f"rig/report/{path}", old, new, (f"{_COUNTED}::{test}",))


def _terms(name: str, module: str, old: str, new: str, test: str) -> Break:
    return Break(name, f"rig/report/validation/{module}.py", old, new, (f"{_TERMS}::{test}",))


def _engine(name: str, path: str, old: str, new: str, test: str) -> Break:
    return Break(name, f"rig/engine/{path}", old, new, (f"{_PACE}::{test}",))


def _class(name: str, old: str, new: str) -> Break:
    test = "rig/test_papers_claims.py::test_the_class_of_a_verdict"
    return Break(name, "rig/papers/claims.py", old, new, (test,))


VERDICT_BREAKS = [
    Break(
        "a printed claim may have two criteria",
        "rig/papers/printed.py",
        "if len(given) != 1:",
        "if not given:",
        ("papers/test_printed.py::test_a_wrong_file_is_refused_by_its_place",),
    ),
    _class(
        "a claim is decided whose outcome changes with what a paper leaves open",
        "if None in outcomes or len(outcomes) > 1:",
        "if None in outcomes:",
    ),
    _class(
        "a threshold of ours is not varied",
        "[criterion, *(criterion.at(threshold) for threshold in self.thresholds)]",
        "[criterion]",
    ),
    _class(
        "a claim that the mended print does not meet either is an erratum",
        "one.met(self.mended.computed) for one in self._criteria(self.mended.criterion)",
        "True for one in self._criteria(self.mended.criterion)",
    ),
    Break(
        "what is expected of a machine that is not its model has no bound",
        "rig/report/validation/verdict.py",
        "any(value is None or value > bound for value in residuals)",
        "False",
        (f"{_SURE}::test_what_is_expected_hides_no_failure",),
    ),
    Break(
        "what is expected of the model hides what is wrong with anything else",
        "rig/report/validation/verdict.py",
        'if criterion["name"] in _OF_MODEL:',
        "if True:",
        (f"{_SURE}::test_what_is_expected_hides_no_failure",),
    ),
    Break(
        "a lag of any size is expected of the drives' own loops",
        "rig/report/validation/verdict.py",
        'if any(lag > criterion["threshold"] + most for',
        "if any(False for",
        (f"{_SURE}::test_a_lag_is_expected_as_far_as_the_expected_residual_moves_it",),
    ),
    Break(
        "what is too close is expected of a machine as built",
        "rig/report/validation/verdict.py",
        '("explained", "close", "unknown") if own_loops else',
        '("explained", "close", "unknown") if True else',
        (f"{_SURE}::test_what_is_too_close_is_expected_of_own_loops_alone",),
    ),
    Break(
        "what other legs' drives do to a cell makes its own drive known",
        "rig/report/validation/agreement.py",
        "return self._force_held & self._velocity_held if self._velocity_held.any() else self._force_held",
        "return self._force_held",
        (f"{_SURE}::test_a_leg_whose_cell_feels_the_other_drives_is_not_known_by_that",),
    ),
    Break(
        "what is expected answers thresholds that somebody gives",
        "rig/report/validation/verdict.py",
        " and by == RIG",
        "",
        (f"{_SURE}::test_what_is_expected_hides_no_failure",),
    ),
    _verdict(
        "a motion that did not come to its end has passed",
        "validation/verdict.py",
        'if verdict in (PASS, EXPECTED) and numbers["unfinished"]:',
        "if False:",
        "test_a_motion_that_did_not_come_to_its_end_has_not_passed_but_may_have_failed",
    ),
    _verdict(
        "a clock on which nothing can be late passes timing",
        "validation/sample_metrics.py",
        "simulated = None if real_time else",
        "simulated = None if True else",
        "test_on_a_simulated_clock_no_cycle_can_be_late_and_that_decides_nothing",
    ),
    _verdict(
        "a damaged recording passes what is counted",
        "validation/sample_metrics.py",
        "    few = damaged\n",
        "    few = None\n",
        "test_a_damaged_or_empty_recording_is_undecided",
    ),
    _verdict(
        "a force at the end of the cell's scale passes",
        "validation/verdict.py",
        '(UNDECIDED, "unknown") if doubt else',
        '(UNDECIDED, "unknown") if doubt and value is None else',
        "test_forces_at_the_end_of_the_scale_may_be_greater_but_are_never_less",
    ),
    _verdict(
        "cycles skipped before the motion are the motion's",
        "summary.py",
        'int(rows["overruns"][-1]) - self._overruns_before',
        'int(rows["overruns"][-1])',
        "test_what_is_outside_the_motion_does_not_count",
    ),
    _verdict(
        "periods before the motion are the motion's",
        "summary.py",
        "covered.add(timing[in_hold if self.motion is None else ids == self.motion.id, 0])",
        "covered.add(timing[:, 0])",
        "test_what_is_outside_the_motion_does_not_count",
    ),
    _terms(
        "a coefficient is as sure as if noise were white",
        "sensitivity",
        "float(max(of_blocks, noise / np.sqrt(power)))",
        "float(noise / np.sqrt(power))",
        "test_errors_of_coefficients_are_as_their_sigmas_say",
    ),
    _terms(
        "a term counts twice",
        "sensitivity",
        "heavier = replace(mechanism, mass=2.0 * mechanism.mass)",
        "heavier = replace(mechanism, mass=3.0 * mechanism.mass)",
        "test_each_coefficient_is_the_error_of_its_term_and_has_its_sign",
    ),
    _terms(
        "a lag of the cells is an error of a term",
        "sensitivity",
        "free: Floats = columns - share * slopes",
        "free: Floats = columns",
        "test_offset_lag_and_what_does_not_move_the_cells_are_no_error_of_a_term",
    ),
    _terms(
        "an octave has another's share of noise",
        "spectra",
        "values = (first + second) / np.sqrt(2.0)",
        "values = (first + second) / 2.0",
        "test_octaves_hold_white_noise_alike_and_a_slow_residual_where_it_is",
    ),
    _terms(
        "what parameter files are unsure of is a fail",
        "verdict",
        "if name in _OF_MODEL and part.eased is not None and not sign * part.eased > bound:",
        "if False:",
        "test_a_model_that_is_off_within_its_stated_uncertainty_does_not_fail",
    ),
    _terms(
        "what parameter files are unsure of hides any error",
        "verdict",
        "not sign * part.eased > bound:",
        "True:",
        "test_a_model_that_is_off_within_its_stated_uncertainty_does_not_fail",
    ),
    _terms(
        "cells that repeat their readings tell of noise",
        "verdict",
        'elif name in _NEW_READINGS and numbers["slow_cells"]:',
        "elif False:",
        "test_cells_slower_than_the_cycle_decide_nothing_of_terms_and_noise",
    ),
    _terms(
        "more is told to be noticed than is",
        "verdict",
        'margin = (to_fail + power) * one["sigma"]',
        "margin = -bound / 2.0",
        "test_the_power_of_the_thresholds_is_as_stated",
    ),
    _terms(
        "a term that the motion does not move keeps its threshold",
        "verdict",
        'PASS if name == "friction_error" else UNDECIDED, "negligible", None',
        'PASS, "negligible", None',
        "test_an_inertia_that_a_slow_motion_does_not_show_is_undecided",
    ),
    _terms(
        "noise at rest is that of all rows",
        "run",
        '(block["state"] == State.ENGAGED) & (block["motion"] == 0)',
        "np.ones(len(block), bool)",
        "test_noise_that_is_not_configured_is_that_at_rest",
    ),
    _engine(
        "a run begins at full speed whatever the pace",
        "reference.py",
        "rate = self.rate if paced else 1.0",
        "rate = 1.0",
        "test_a_run_takes_as_long_as_its_pace_wants_and_parking_does_not",
    ),
    _engine(
        "a way to a start goes by the pace of runs",
        "operator.py",
        "paced=command.purpose == MotionKind.RUN",
        "paced=True",
        "test_a_run_takes_as_long_as_its_pace_wants_and_parking_does_not",
    ),
    _engine(
        "a change of pace within a ramp begins at once, with a step of the acceleration",
        "reference.py",
        " and self.moving and self._elapsed >= self._duration:",
        " and self.moving:",
        "test_a_pace_asked_for_within_a_ramp_waits_for_its_end_so_that_no_acceleration_jumps",
    ),
    _engine(
        "a motion goes on at full speed after a pause",
        "reference.py",
        "self._change(self._full, durations)",
        "self._change(1.0, durations)",
        "test_a_pace_asked_for_while_it_stands_is_that_with_which_it_goes_on",
    ),
]

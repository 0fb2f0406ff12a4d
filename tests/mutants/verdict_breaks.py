"""Verdicts that could be passed too easily, and the speed at which runs are followed."""

from breaks import Break

_COUNTED = "rig/test_report_counted.py"
_PACE = "rig/test_pace.py"
_SURE = "rig/test_report_verdict.py"


def _verdict(name: str, path: str, old: str, new: str, test: str) -> Break:
    return Break(name, f"rig/report/{path}", old, new, (f"{_COUNTED}::{test}",))


def _engine(name: str, path: str, old: str, new: str, test: str) -> Break:
    return Break(name, f"rig/engine/{path}", old, new, (f"{_PACE}::{test}",))


VERDICT_BREAKS = [
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
        'and criterion["name"] in _OF_MODEL and',
        "and",
        (f"{_SURE}::test_what_is_expected_hides_no_failure",),
    ),
    Break(
        "what is expected answers thresholds that somebody gives",
        "rig/report/validation/verdict.py",
        ' and criterion["whose"] == RIG',
        "",
        (f"{_SURE}::test_what_is_expected_hides_no_failure",),
    ),
    _verdict(
        "a motion that did not come to its end has passed",
        "validation/verdict.py",
        'if word in (PASS, EXPECTED) and numbers["unfinished"]:',
        "if False:",
        "test_a_motion_that_did_not_come_to_its_end_has_not_passed_but_may_have_failed",
    ),
    _verdict(
        "a clock on which nothing can be late passes timing",
        "validation/counted.py",
        'clock = few or ("" if real_time else',
        'clock = few or ("" if True else',
        "test_on_a_simulated_clock_no_cycle_can_be_late_and_that_decides_nothing",
    ),
    _verdict(
        "a damaged recording passes what is counted",
        "validation/counted.py",
        "    few = damaged\n",
        '    few = ""\n',
        "test_a_damaged_or_empty_recording_is_undecided",
    ),
    _verdict(
        "a force at the end of the cell's scale passes",
        "validation/verdict.py",
        '    elif number["doubt"]:\n',
        '    elif number["doubt"] and value is None:\n',
        "test_forces_at_the_end_of_the_scale_may_be_greater_but_are_never_less",
    ),
    _verdict(
        "cycles skipped before the motion are the motion's",
        "survey.py",
        'int(rows["overruns"][-1]) - self._overruns_before',
        'int(rows["overruns"][-1])',
        "test_what_is_outside_the_motion_does_not_count",
    ),
    _verdict(
        "periods before the motion are the motion's",
        "survey.py",
        "covered.add(timing[held if self.motion is None else ids == self.motion.id, 0])",
        "covered.add(timing[:, 0])",
        "test_what_is_outside_the_motion_does_not_count",
    ),
    _engine(
        "a run begins at full speed whatever the pace",
        "reference.py",
        "rate=self.rate if paced else 1.0",
        "rate=1.0",
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
        "table_source.py",
        " and self.moving and self._elapsed >= self._duration:",
        " and self.moving:",
        "test_a_pace_asked_for_within_a_ramp_waits_for_its_end_so_that_no_acceleration_jumps",
    ),
    _engine(
        "a motion goes on at full speed after a pause",
        "table_source.py",
        "self._change(self._full, durations)",
        "self._change(1.0, durations)",
        "test_a_pace_asked_for_while_it_stands_is_that_with_which_it_goes_on",
    ),
]

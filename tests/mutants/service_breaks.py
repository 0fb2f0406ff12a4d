"""Breaks in services and in the processes that run them."""

from breaks import Break

_JOB = "rig/services/job.py"
_TESTS = "rig/test_services_job.py"
_CASES = "rig/test_services.py"

SERVICE_BREAKS = [
    Break(
        "a job does not end with its owner",
        _JOB,
        "except (EOFError, OSError):  # the parent has ended\n            self._end_within(PATIENCE)",
        "except (EOFError, OSError):\n            pass",
        (f"{_TESTS}::test_the_end_of_its_owner_ends_it",),
    ),
    Break(
        "a service does not hear that it is cancelled",
        _JOB,
        "        if self._cancelled:\n            raise CancelledError",
        "        if False:\n            raise CancelledError",
        (f"{_TESTS}::test_it_ends_between_two_events_when_it_is_cancelled",),
    ),
    Break(
        "a service does not wait for what it asks for",
        _JOB,
        "event.waits and not self._proceed",
        "event.waits and False",
        (f"{_TESTS}::test_what_waits_goes_on_once_it_is_done",),
    ),
    Break(
        "an event that comes while another is told waits for the next",
        "gui/session/job_runner.py",
        "if not job.ended:",
        "if not job.poll():",
        ("gui/test_job_runner.py::test_every_event_comes_before_the_end",),
    ),
    Break(
        "a report is judged by what was recorded, whatever its request says",
        "rig/services/reporting.py",
        "thresholds=request.thresholds, alone=request.alone",
        "thresholds=None, alone=False",
        (f"{_CASES}::test_reports_have_numbers_and_pages",),
    ),
    Break(
        "a motion is run in its full size, whatever the request says",
        "rig/services/running.py",
        "amplitude=request.amplitude",
        "amplitude=1.0",
        (f"{_CASES}::test_a_motion_is_run_smaller_and_slower",),
    ),
    Break(
        "a path may end beyond the limits",
        "rig/services/path_planning.py",
        '_refuse(machine, limits, ends[1:], "end")',
        "pass",
        (f"{_CASES}::test_a_path_is_planned",),
    ),
    Break(
        "a command does work of its own",
        "rig/cli/check.py",
        "    from rig.services import CheckRequest",
        "    from rig.config import load_config  # noqa: F401\n    from rig.services import CheckRequest",
        ("rig/test_cli_thin.py::test_a_command_parses_and_prints[check]",),
    ),
]

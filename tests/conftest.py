"""For all tests: no screen needed, no test skipped unseen, nothing left running."""

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Iterator

import pytest
from exploration import LONG, either
from hypothesis import HealthCheck, settings
from processes import offspring

_PATIENCE = 5.0  # s, for processes and threads on their way out

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `rig` has it; here before any test loads NumPy
os.environ["LANGUAGE"] = "C"  # the texts that tests compare are the English ones
if not os.environ.get("DISPLAY"):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# Always the same examples, however busy the machine is; drawn anew only where a long run is asked for.
settings.register_profile(
    "suite",
    deadline=None,
    derandomize=not LONG,
    max_examples=either(50, 200),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip is a hole in the suite: an error, unless it is a declared xfail."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"unexpected skip: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for whole modules, skipped while they are collected."""
    report = yield
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"unexpected skip: {report.longrepr}"
    return report


def pytest_configure() -> None:
    """Hear Ctrl-C, and let what tests start hear it: a shell has those that it starts side by side ignore it.

    What is loaded is no garbage, and need not be searched for it.
    """
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what is loaded, which stays: it looks at all of it again and again otherwise.

    It looks for the rest less often, too: what tests leave is most of the time not in cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def nothing_left_running() -> Iterator[None]:
    """At the session's end no child process and no thread may be left."""
    before = set(threading.enumerate())
    children = _children()
    yield
    deadline = time.monotonic() + _PATIENCE
    while left := [*_new_threads(before), *sorted(_children() - children)]:
        if time.monotonic() > deadline:
            pytest.fail(f"left running after the tests: {', '.join(left)}", pytrace=False)
        time.sleep(0.05)


def _new_threads(before: set[threading.Thread]) -> list[str]:
    return [f"thread {thread.name}" for thread in threading.enumerate() if thread not in before]


def _children() -> set[str]:
    """Child processes and theirs, "process number command" each."""
    multiprocessing.active_children()  # collects those that have ended
    return {f"process {pid} {command}" for pid, command in offspring(os.getpid()).items()}


@pytest.fixture
def undrawn_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without their plots, which take more than a second each: for tests of what is done, said and counted."""
    monkeypatch.setattr("rig.report.html.figures", lambda *_: {})

"""The threads of the app and the processes in which they compute: they end by themselves, and with their owner."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from gui.session import Worker
from rig.runtime import ChildDiedError

_PATIENCE = 60_000  # ms


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[Worker]:
    made = Worker("sums")
    yield made
    made.finish()
    made.join(10.0)


def _answer(worker: Worker, qtbot: QtBot, job: Any) -> tuple[Any, Exception | None]:
    answers: list[tuple[Any, Exception | None]] = []
    worker.submit(job, lambda result, error: answers.append((result, error)))
    qtbot.waitUntil(lambda: bool(answers), timeout=_PATIENCE)
    return answers[0]


def test_what_it_computes_is_computed_in_one_process_of_its_own(worker: Worker, qtbot: QtBot) -> None:
    assert _answer(worker, qtbot, threading.current_thread)[0].name == "sums"
    first, error = _answer(worker, qtbot, partial(worker.compute, os.getpid))
    assert error is None and first != os.getpid()
    assert _answer(worker, qtbot, partial(worker.compute, os.getpid)) == (first, None)


def test_a_process_without_work_is_ended_and_started_anew(
    worker: Worker, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.session.workers._IDLE", 0.1)
    first, _error = _answer(worker, qtbot, partial(worker.compute, os.getpid))
    qtbot.waitUntil(lambda: not os.path.exists(f"/proc/{first}"), timeout=_PATIENCE)
    assert _answer(worker, qtbot, partial(worker.compute, os.getpid))[0] != first


def test_a_process_that_dies_is_an_error_of_its_job_alone(worker: Worker, qtbot: QtBot) -> None:
    result, error = _answer(worker, qtbot, partial(worker.compute, signal.raise_signal, signal.SIGKILL))
    assert result is None and isinstance(error, ChildDiedError) and str(error) == "the process of sums has died"
    assert _answer(worker, qtbot, partial(worker.compute, max, 1, 2)) == (2, None)


def test_the_process_ends_with_the_worker(worker: Worker, qtbot: QtBot) -> None:
    pid, _error = _answer(worker, qtbot, partial(worker.compute, os.getpid))
    worker.finish()
    worker.join(10.0)
    assert not os.path.exists(f"/proc/{pid}")


def test_what_it_computes_ends_with_the_worker_and_the_rest_is_done(worker: Worker, qtbot: QtBot) -> None:
    pid, _error = _answer(worker, qtbot, partial(worker.compute, os.getpid))
    begun, done = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        worker.compute(time.sleep, 600.0)

    worker.submit(job, lambda _result, _error: None)
    worker.submit(partial(worker.compute, time.sleep, 600.0), lambda _result, _error: None)
    worker.submit(done.set, lambda _result, _error: None)
    assert begun.wait(10.0)
    worker.finish()
    worker.join(10.0)
    assert done.is_set() and not os.path.exists(f"/proc/{pid}")

"""Progress of the processes that compile while a rig starts."""

import threading
from pathlib import Path
from typing import Any

import pytest
from configured import VIRTUAL
from pyqtgraph.Qt import QtWidgets

from gui.session import rig_session
from gui.session.joined_progress import JoinedProgress
from gui.session.virtual_hardware import VirtualHardware
from rig.engine import Compiling
from rig.errors import HardwareError
from rig.findings import Code, Finding


def test_it_moves_until_the_last_process_has_compiled() -> None:
    reported: list[Compiling] = []
    progress = JoinedProgress(reported.append)
    for what, done, total in (
        ("the model", 0, 100),
        ("the virtual rig", 10, 80),
        ("the model", 99, 100),
        ("the model", 100, 100),
        ("the virtual rig", 40, 80),
        ("the virtual rig", 80, 80),
    ):
        progress(Compiling(what, done, total))
    assert [(one.done, one.total) for one in reported] == [
        (0, 100),
        (10, 180),
        (109, 180),
        (110, 180),
        (140, 180),
        (180, 180),
    ]
    assert [one.what for one in reported[:3]] == ["the model", *2 * ["the model and the virtual rig"]]
    assert reported[3].words.startswith("compiling the virtual rig: 110 of 180 kernels")
    assert [one.finished for one in reported] == [*5 * [False], True]


def test_an_engine_that_is_refused_is_reported_while_the_virtual_rig_still_compiles(
    qapp: QtWidgets.QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, compiled, waiting = threading.Event(), threading.Event(), []

    def wait(_hardware: VirtualHardware, _report: Any) -> None:
        waiting.append(threading.current_thread().daemon)  # else a closed app would live on until it has compiled
        begun.set()
        compiled.wait(60.0)

    def refuse(*_arguments: Any) -> None:
        begun.wait(60.0)
        raise HardwareError(Finding(Code.CHECK_DIED))

    monkeypatch.setattr(VirtualHardware, "begin", lambda _hardware: None)
    monkeypatch.setattr(VirtualHardware, "wait_ready", wait)
    monkeypatch.setattr(rig_session, "acquire_engine", refuse)
    session = rig_session.RigSession(VIRTUAL, tmp_path)
    try:
        with pytest.raises(HardwareError):
            session._start()
        assert waiting == [True] and not compiled.is_set()
    finally:
        compiled.set()
        session.close()

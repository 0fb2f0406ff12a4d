"""The acceptance test of a machine in the app: an engine of its own, on drives that answer on their wires."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from fit_support import BUTTON
from live_app import START, with_patience
from processes import offspring
from pyqtgraph.Qt import QtWidgets
from shell_support import press

from gui.calibrate import CalibrateMenu, acceptance
from gui.calibrate.acceptance import AcceptanceWizard
from gui.session import RigSession
from rig.acceptance import AcceptanceTest, Verdict
from rig.client import on_free_ports
from rig.config import RigConfig, in_real_time, load_config
from rig.engine import LegResult, find_engine, put_on_record
from rig.findings import Code
from rig.recording import open_recording
from rig.states import FaultCode, MotionKind, State
from rig.virtual import VirtualRigProcess

# Real time, on a machine that may be busy; so the shortest of the motions alone.
_BOUNDS = {"size_error": 0.2, "repeatability": 5.0}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RigConfig]:
    """A machine's configuration, whose drives are served by a process of the test."""
    served = in_real_time(on_free_ports(with_patience(load_config("virtual"), position_jump=0.02)))
    file = tmp_path_factory.mktemp("machine") / "machine.toml"
    real = served.changed({"virtual": None, "acceptance": _BOUNDS, "recording": {"directory": str(file.parent)}})
    file.write_text(tomlkit.dumps(real.model_dump(mode="json", exclude_none=True)), encoding="utf-8")
    config = load_config(file)
    assert config.virtual is None
    for leg in range(1, 7):
        put_on_record(config, LegResult(leg, 2e-3, (), False, None, 2e-3, 0.0, 0.0, 0.0, 0.0, {}, f"VIRTUAL-{leg}"))
    with VirtualRigProcess(served):
        yield config


@pytest.fixture
def session(qapp: QtWidgets.QApplication, machine: RigConfig, tmp_path: Path) -> Iterator[RigSession]:
    """The app's session of this machine, disconnected."""
    made = RigSession(machine, tmp_path)
    yield made
    made.close()


@pytest.fixture
def wizard(menu: CalibrateMenu, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> AcceptanceWizard:
    """The wizard at the start of the test of accelerations along z."""
    monkeypatch.setattr(acceptance, "_PATIENCE", 1e-3 * START)
    menu.acceptance.start()
    made = menu.acceptance.wizard
    assert made is not None
    page = made.choice_page
    for test, box in page.tests.items():
        box.setChecked(test is AcceptanceTest.ACCELERATION)
    for axis, box in page.axes.items():
        box.setChecked(axis == "z")
    qtbot.waitUntil(lambda: not page.missing, timeout=START)
    press(made.button(BUTTON.NextButton))
    press(made.run_page.pair.arm)
    press(made.run_page.pair.act)
    return made


def test_a_machine_is_tested_by_an_engine_of_its_own_and_parked(
    wizard: AcceptanceWizard, machine: RigConfig, qtbot: Any
) -> None:
    qtbot.waitUntil(lambda: find_engine(machine) is not None, timeout=START)
    assert wizard.hindrance() == "Stop the test first."
    qtbot.waitUntil(lambda: not wizard.runner.busy, timeout=START)
    result = wizard.result
    assert result is not None, wizard.run_page.result.text()
    assert wizard.run_page.result.text().startswith("All motions are done")
    (number,) = result.found.numbers
    skipped = number.finding is not None and number.finding.code is Code.ACCEPT_SKIPPED  # by a busy computer
    assert skipped or number.verdict(0.95) is Verdict.PASS
    assert result.page.is_file() and "virtual rig" not in result.page.read_text(encoding="utf-8")
    assert result.recording is not None
    assert open_recording(result.recording).rows["state"][-1] in (State.PARKED, State.IDLE, State.OFF)
    assert find_engine(machine) is None and not _engines()


def test_stop_stops_the_machine_and_the_report_says_so(
    wizard: AcceptanceWizard, session: RigSession, machine: RigConfig, qtbot: Any
) -> None:
    qtbot.waitUntil(lambda: session.found.engine is not None, timeout=START)
    qtbot.waitUntil(lambda: wizard.run_page.bar.value() > 100, timeout=START)  # the motion itself runs
    session.stop()
    qtbot.waitUntil(lambda: not wizard.runner.busy, timeout=START)
    result = wizard.result
    assert result is not None and result.found.ended is not None, wizard.run_page.result.text()
    assert result.found.ended.code is Code.ACCEPT_STOPPED
    assert wizard.run_page.result.text().startswith("The test was stopped at 'hard sine z'")
    assert "The test was stopped" in result.page.read_text(encoding="utf-8")
    assert result.recording is not None
    recording = open_recording(result.recording)
    (motion,) = (motion for motion in recording.motions if motion.kind == MotionKind.RUN)
    assert motion.cause_code == FaultCode.OPERATOR_STOP
    assert recording.rows["state"][-1] not in (State.RUNNING, State.ENGAGED)
    assert find_engine(machine) is None and not _engines()


def _engines() -> list[str]:
    return [command for command in offspring(os.getpid()).values() if command.startswith("rig: engine")]

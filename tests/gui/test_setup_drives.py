"""The wizard on virtual drives, over real TCP: asked, then, in a rehearsal, legs moved, cells zeroed, all stopped."""

import multiprocessing
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_server import served
from pyqtgraph.Qt import QtTest
from setup_support import BUTTON, back, click, forward, press_indicator, rehearse, settled, until, write
from shell_support import KEY, LEFT, FakeSession, key, press

from actuators import Identity, Status
from calibration import load_cell_calibration
from gui.setup.drives_page import DrivesPage
from gui.setup.entry import SetupEntry
from gui.setup.wizard import SetupWizard
from rig.commissioning import LegProbe, Probe
from rig.config.rig_config import load_config
from rig.engine.devices import make_drive
from rig.findings import Code, Finding
from rig.virtual import VirtualRig


def status(wizard: SetupWizard, leg: int) -> Status:
    """What the drive of leg 1 to 6 reports to whoever asks, without commanding anything."""
    served = wizard.bench._served
    assert served is not None
    drive = make_drive(served, leg - 1)
    try:
        drive.connect(5.0)
        return drive.observe(5.0).status
    finally:
        drive.close()


def off(wizard: SetupWizard, leg: int) -> bool:
    """Whether torque is off and the brake on."""
    found = status(wizard, leg)
    return bool(found & Status.BRAKE) and not found & Status.ENABLED


def start(wizard: SetupWizard, leg: int, qtbot: Any) -> None:
    """Arm and test a leg; wait until its drive has torque."""
    pair = wizard.legs.pairs[leg - 1]
    press(pair.arm)
    press(pair.act)
    until(qtbot, lambda: wizard.bench._served is not None and bool(status(wizard, leg) & Status.ENABLED))


@pytest.fixture
def page(wizard: SetupWizard, qtbot: Any) -> Iterator[DrivesPage]:
    """The page of the drives, with the addresses of six that answer."""
    with served(list(VirtualRig(load_config("virtual")).drives)) as ports:
        write(wizard.start["name"], "trial")
        settled(wizard, qtbot)
        click(wizard, BUTTON.NextButton)
        for leg, port in enumerate(ports):
            write(wizard.drives.host[leg], "127.0.0.1")
            wizard.drives.port[leg].setValue(port)
        settled(wizard, qtbot)
        yield wizard.drives


def test_drives_are_asked_and_their_serial_numbers_taken(wizard: SetupWizard, page: DrivesPage, qtbot: Any) -> None:
    assert "no drive has reported" in page.use_serials.obstacle
    press(page.ask[2])
    assert page.status[2].text() == "querying …" and "querying the drive of leg 3" in page.ask_all.obstacle
    settled(wizard, qtbot)
    assert page.status[2].text().startswith("✓ stewart-rig virtual servo, serial VIRTUAL-3")
    assert page.status[0].text() == "not queried yet"
    assert [edit.text() for edit in page.serial] == ["", "", "VIRTUAL-3", "", "", ""]
    assert wizard.draft().drives[2].serial == "VIRTUAL-3"
    page.unit[2].setValue(9)
    assert page.serial[2].text() == ""  # nobody gave it: it was that of the drive at the address before
    page.unit[2].setValue(1)
    write(page.serial[4], "SOMETHING")
    press(page.ask_all)
    settled(wizard, qtbot)
    assert [edit.text() for edit in page.serial[3:]] == ["VIRTUAL-4", "SOMETHING", "VIRTUAL-6"]
    assert "another drive than expected, serial SOMETHING" in page.status[4].text()
    assert [page.status[leg].text()[0] for leg in range(6)] == ["✓", "✓", "✓", "✓", "✗", "✓"]
    write(page.serial[0], "VIRTUAL-2")
    write(page.serial[1], "VIRTUAL-1")
    settled(wizard, qtbot)
    press(page.ask_all)
    settled(wizard, qtbot)
    assert "legs 1 and 2 have changed places" in page.findings.text()
    press(page.use_serials)
    settled(wizard, qtbot)
    assert [edit.text() for edit in page.serial] == [f"VIRTUAL-{leg}" for leg in range(1, 7)]
    page.unit[2].setValue(9)
    assert page.serial[2].text() == "VIRTUAL-3"  # taken by hand: it is to answer wherever the drive is
    page.unit[2].setValue(1)
    press(page.ask_all)
    settled(wizard, qtbot)
    assert not page.findings.text() and all(label.text().startswith("✓") for label in page.status)
    page.port[5].setValue(page.port[0].value())
    settled(wizard, qtbot)
    assert page.status[5].text() == "not queried yet" and not wizard.button(BUTTON.NextButton).isEnabled()


def test_real_drives_that_are_not_there(wizard: SetupWizard, qtbot: Any) -> None:
    host = "127.0.0.95"  # no other test commands drives there
    with socket.create_server((host, 0)) as silent:
        write(wizard.start["name"], "mine")
        settled(wizard, qtbot)
        click(wizard, BUTTON.NextButton)
        page = wizard.drives
        for leg in range(6):
            write(page.host[leg], host)
            page.port[leg].setValue(silent.getsockname()[1] if leg == 3 else 1 + leg)
        settled(wizard, qtbot)
        press(page.ask_all)
        settled(wizard, qtbot)
    assert f"cannot connect to {host}:1:" in page.status[0].text()
    assert "did not answer within 2\u00a0s" in page.status[3].text()
    forward(wizard, wizard.legs)
    pair = wizard.legs.pairs[0]
    press(pair.arm)
    press(pair.act)
    settled(wizard, qtbot)
    assert "6 devices cannot be used" in wizard.legs.labels[0].text()


def test_an_answer_is_dropped_where_another_address_was_entered_meanwhile(
    wizard: SetupWizard, page: DrivesPage, qtbot: Any
) -> None:
    press(page.ask_all)
    write(page.host[0], "localhost")
    page.unit[3].setValue(7)
    assert page.status[0].text() == "not queried yet" and page.status[1].text() == "querying …"
    settled(wizard, qtbot)
    assert [page.status[leg].text() for leg in (0, 3)] == ["changed during the query: query again"] * 2
    assert sorted(page.found) == [2, 3, 5, 6] and page.status[1].text().startswith("✓")
    page.unit[3].setValue(1)
    write(page.host[0], "127.0.0.1")
    press(page.ask_all)
    settled(wizard, qtbot)
    assert len(page.found) == 6
    page["watchdog"].setFocus()
    key(KEY.Key_Up, wizard)
    assert {label.text() for label in page.status} == {"not queried yet"}
    assert not page.found and "no drive has reported" in page.use_serials.obstacle


def test_a_leg_is_tested_and_another_stopped_by_esc_and_by_the_button(
    wizard: SetupWizard, session: FakeSession, qtbot: Any
) -> None:
    rehearse(wizard, qtbot)
    click(wizard, BUTTON.NextButton)
    press(wizard.drives.ask_all)
    settled(wizard, qtbot)
    assert all(label.text().startswith("✓") for label in wizard.drives.status)
    forward(wizard, wizard.legs)
    page = wizard.legs
    pair = page.pairs[0]
    press(pair.arm)
    press(pair.act)
    settled(wizard, qtbot)
    assert "no reference yet" in page.labels[0].text() and 1 not in page.results
    press_indicator(page["home"])
    start(wizard, 1, qtbot)
    assert wizard.state.text().startswith("Testing leg 1") and wizard.bench.moving
    assert "testing leg 1" in page.pairs[1].arm.obstacle and page.missing == "Wait: testing leg 1."
    assert not wizard.button(BUTTON.CancelButton).isEnabled()
    wizard.reject()
    assert wizard.isVisible() and wizard.question is None
    settled(wizard, qtbot)
    assert page.results[1].passed and page.labels[0].text().startswith("✓ homed")
    assert "2.00" in page.labels[0].text() and off(wizard, 1)

    start(wizard, 2, qtbot)
    key(KEY.Key_Escape, wizard)
    assert session.stops == [(1, "Esc")] and wizard.isVisible()
    settled(wizard, qtbot)
    assert page.results[2].stopped and "operator's stop, category 1" in page.labels[1].text()
    assert off(wizard, 2) and not status(wizard, 2) & Status.WATCHDOG
    start(wizard, 2, qtbot)
    QtTest.QTest.mousePress(wizard.stop_button, LEFT)
    settled(wizard, qtbot)
    assert page.results[2].stopped and off(wizard, 2)
    QtTest.QTest.mouseRelease(wizard.stop_button, LEFT)

    page["travel"].set_si(0.05)
    press(page.pairs[0].arm)
    press(page.pairs[0].act)
    settled(wizard, qtbot)
    assert "travel 50\u00a0mm is outside 0.5 to 22\u00a0mm" in page.labels[0].text()
    press(page.pairs[3].arm)
    press(page.pairs[3].act)
    assert page.labels[3].text() == "starting …"
    wizard.drives.unit[3].setValue(9)
    settled(wizard, qtbot)
    assert page.labels[3].text() == "✗ what was entered has changed meanwhile: do it again"
    forward(wizard, wizard.saving)
    assert wizard.saving.untested.text() == "⚠ Legs not tested: 1, 3–6\n⚠ Legs that did not pass their test: 2"
    back(wizard, wizard.drives)
    wizard.drives.unit[0].setValue(9)
    settled(wizard, qtbot)
    assert page.labels[0].text() == "not tested yet" and 1 not in page.results


def test_a_stop_while_the_test_is_starting_lets_nothing_move(wizard: SetupWizard, qtbot: Any) -> None:
    rehearse(wizard, qtbot)
    forward(wizard, wizard.legs)
    press_indicator(wizard.legs["home"])
    press(wizard.legs.pairs[4].arm)
    press(wizard.legs.pairs[4].act)
    key(KEY.Key_Escape, wizard)
    settled(wizard, qtbot)
    result = wizard.legs.results[5]
    assert result.stopped and result.homed is None
    assert off(wizard, 5) and not status(wizard, 5) & Status.HOMED


def test_the_cells_are_zeroed_and_the_zero_is_saved(wizard: SetupWizard, qtbot: Any, tmp_path: Path) -> None:
    rehearse(wizard, qtbot)
    forward(wizard, wizard.saving)
    press(wizard.saving.save)
    settled(wizard, qtbot)
    assert wizard.saving.saved is not None
    click(wizard, BUTTON.BackButton)
    page = wizard.zeroing
    page["duration"].set_si(1.0)
    press(page.pair.arm)
    press(page.pair.act)
    until(qtbot, lambda: "homing" in page.status.text())
    key(KEY.Key_Escape, wizard)
    settled(wizard, qtbot)
    assert "stopped" in page.status.text() and page.zero is None
    assert all(off(wizard, leg) for leg in range(1, 7))
    write(page["operator"], "me")
    press(page.pair.arm)
    press(page.pair.act)
    settled(wizard, qtbot)
    assert page.status.text().startswith("✓ zeroed"), page.status.text()
    assert all(label.text().endswith("\u00a0N") for labels in page.figures for label in labels)
    assert wizard.saving.saved is None  # closing here asks
    forward(wizard, wizard.saving)
    assert "zero is written" in wizard.saving.notes.text() and "exists already" in wizard.saving.save.obstacle
    press_indicator(wizard.saving.overwrite)
    settled(wizard, qtbot)
    press(wizard.saving.save)
    settled(wizard, qtbot)
    assert wizard.saving.save.obstacle == "it is saved"
    config = load_config(tmp_path / "trial.toml")
    assert config.calibration_path is not None and config.load_cells.calibration in wizard.saving.result.text()
    calibration = load_cell_calibration(config.calibration_path)
    assert calibration.provenance.operator == "me"
    assert calibration.offset == pytest.approx([0.0] * 6, abs=0.2)
    back(wizard, wizard.start)
    wizard.start["rate"].set_si(400.0)
    settled(wizard, qtbot)
    assert page.zero is None and "not zeroed" in page.status.text()


def test_closing_the_app_in_the_middle_of_a_test_stops_the_leg(
    wizard: SetupWizard, set_up: SetupEntry, qtbot: Any
) -> None:
    rehearse(wizard, qtbot)
    forward(wizard, wizard.legs)
    press_indicator(wizard.legs["home"])
    start(wizard, 3, qtbot)
    assert wizard.bench.moving
    set_up.close()
    assert wizard.bench._virtual is None
    assert not [child for child in multiprocessing.active_children() if child.name == "engine"]


def test_what_is_found_across_the_drives_and_how_late_they_answer_is_taken(wizard: SetupWizard, qtbot: Any) -> None:
    drives = wizard.drives
    for leg in range(6):
        drives.host[leg].setText(f"/dev/line{leg}")
    asked = Identity("Makers", "drive", "", "")
    legs = tuple(LegProbe(leg, "", identity=asked, reply_delay=1e-3 * leg) for leg in range(1, 7))
    probe = Probe(legs, (Finding(Code.DRIVES_SWAPPED, details={"one": 1, "other": 2}),))
    drives.begin(None)
    drives.show_all(probe)
    assert drives.findings.text() == "the drives of legs 1 and 2 have changed places: cables or unit ids swapped"
    assert [drive.reply_delay for drive in wizard.entered().drives] == pytest.approx(
        [1e-3 * leg for leg in range(1, 7)]
    )
    write(drives.host[0], "/dev/other")
    settled(wizard, qtbot)
    assert wizard.entered().drives[0].reply_delay == 0.0 and wizard.entered().drives[1].reply_delay == 2e-3

"""The wizard's page of the drives: those that are searched for, and each driver's own settings."""

import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from device_server import served
from setup_support import BUTTON, click, press_indicator, settled, until, write
from shell_support import press

from actuators import Answer, ConnectError, Endpoint, Identity, SerialEndpoint
from gui.setup import SetupWizard
from gui.setup.drives_page import DrivesPage
from rig.config.rig_config import load_config
from rig.virtual import VirtualRig

Asked = Generator[tuple[Endpoint, list[Answer]], None, None]
LINE = SerialEndpoint("/dev/serial/by-id/usb-a", 38_400, "none", 1)
SLIDERS = [Answer(LINE, unit, "iai", Identity("IAI", "ROBO Cylinder", "", ""), "register 0 is 0") for unit in (1, 2, 3)]


@pytest.fixture
def page(wizard: SetupWizard, qtbot: Any) -> DrivesPage:
    """The page of the drives, empty."""
    write(wizard.start.name, "trial")
    settled(wizard, qtbot)
    click(wizard, BUTTON.NextButton)
    return wizard.drives


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Asked]], None]:
    """Puts something in place of what a search asks."""

    def put(search: Callable[..., Asked]) -> None:
        monkeypatch.setattr("gui.setup.bench.search", search)

    return put


def choose_driver(page: DrivesPage, name: str) -> None:
    page.driver.setCurrentIndex(page.driver.findData(name))


def test_what_answers_at_a_host_is_entered_and_can_be_asked(wizard: SetupWizard, page: DrivesPage, qtbot: Any) -> None:
    assert "say where first" in page.search.search.obstacle and "nothing was found" in page.search.enter.obstacle
    with served(list(VirtualRig(load_config("virtual")).drives)[:2]) as ports:
        write(page.host[0], "127.0.0.1")
        page.port[0].setValue(ports[0])
        for port in ports:
            write(page.search.place, f"127.0.0.1:{port}")
            page.search.units.setValue(1)
            press(page.search.search)
            assert "searching" in page.ask_all.obstacle or not wizard.bench.busy
            settled(wizard, qtbot)
            assert page.search.label.text().startswith(f"127.0.0.1:{port}, unit 1: driver servo: stewart-rig")
            press(page.search.enter)
        assert [host.text() for host in page.host] == ["127.0.0.1"] * 2 + [""] * 4
        assert [page.port[leg].value() for leg in (0, 1)] == ports  # the first was there already
        settled(wizard, qtbot)
        press(page.ask[1])
        settled(wizard, qtbot)
        assert page.status[1].text().startswith("✓ stewart-rig virtual servo, serial VIRTUAL-2")


def test_units_of_a_line_go_into_the_rows_without_a_host(
    wizard: SetupWizard, page: DrivesPage, answering: Callable[..., None], qtbot: Any
) -> None:
    asked: list[tuple[str, Sequence[int]]] = []

    def search(target: str, units: Sequence[int]) -> Asked:
        asked.append((target, units))
        yield SerialEndpoint(LINE.device, 115_200, "even"), []
        yield LINE, SLIDERS

    answering(search)
    write(page.host[1], "10.0.0.1")
    write(page.search.place, LINE.device)
    press(page.search.search)
    settled(wizard, qtbot)
    assert asked == [(LINE.device, range(1, 9))]
    assert page.search.label.text().splitlines()[2] == (
        f"{LINE.device}, 38400 baud 8N1, unit 3: driver iai: IAI ROBO Cylinder"
    )
    press(page.search.enter)
    settled(wizard, qtbot)
    drives = wizard.draft().drives
    assert [(drives[leg].device, drives[leg].baud, drives[leg].unit) for leg in (0, 2, 3)] == [
        (LINE.device, 38_400, unit) for unit in (1, 2, 3)
    ]
    assert {drives[leg].parity for leg in (0, 2, 3)} == {"none"} and {drives[0].stop_bits} == {1}
    assert (drives[1].host, drives[1].parity) == ("10.0.0.1", "")
    assert wizard.draft().driver == "servo"  # as a drive that was there before is
    press(page.search.enter)
    assert page.host[4].text() == ""  # they are in their rows


def test_driver_and_frame_are_one_for_all_and_not_changed_for_a_later_line(
    wizard: SetupWizard, page: DrivesPage, answering: Callable[..., None], qtbot: Any
) -> None:
    even = SerialEndpoint("/dev/serial/by-id/usb-b", 38_400, "even", 1)
    servos = [Answer(even, unit, "servo", Identity("x", "y", "", ""), "register 0 is 0") for unit in (1, 2)]

    def enter(*asked: tuple[Endpoint, list[Answer]]) -> None:
        answering(lambda _target, _units: iter_of(*asked))
        write(page.search.place, "/dev/x")
        press(page.search.search)
        settled(wizard, qtbot)
        press(page.search.enter)

    enter((LINE, SLIDERS))
    enter((even, servos))
    assert [host.text() for host in page.host[3:]] == [""] * 3
    assert "usb-b, 38400 baud 8E1, unit 2: the bytes" in page.findings.text()
    assert (page.driver.currentData(), page.frame.currentData()) == ("iai", ("none", 1))
    page.frame.setCurrentIndex(0)  # as usual: of the driver, which has no parity
    enter((even, servos))
    assert page.host[3].text() == ""
    choose_driver(page, "servo")
    enter((even, servos))
    assert [host.text() for host in page.host[3:5]] == [even.device] * 2 and not page.findings.text()


def test_nothing_answers_or_it_cannot_be_opened(
    wizard: SetupWizard, page: DrivesPage, answering: Callable[..., None], qtbot: Any
) -> None:
    def refused(target: str, units: Sequence[int]) -> Asked:
        raise ConnectError(f"cannot open {target}")
        yield LINE, []

    write(page.search.place, "/dev/none")
    answering(lambda _target, _units: iter_of((LINE, [])))
    press(page.search.search)
    settled(wizard, qtbot)
    assert page.search.label.text() == "✗ nothing answers there" and page.search.enter.obstacle
    answering(refused)
    press(page.search.search)
    settled(wizard, qtbot)
    assert page.search.label.text() == "✗ cannot open /dev/none"


def iter_of(*asked: tuple[Endpoint, list[Answer]]) -> Asked:
    yield from asked


@pytest.mark.parametrize("by_stop", [False, True])
def test_a_search_can_be_ended(
    wizard: SetupWizard, page: DrivesPage, answering: Callable[..., None], qtbot: Any, by_stop: bool
) -> None:
    go_on, closed = threading.Event(), threading.Event()

    def endless(_target: str, _units: Sequence[int]) -> Asked:
        try:
            yield LINE, SLIDERS[:1]
            while go_on.wait(60.0):
                yield LINE, []
        finally:
            closed.set()

    answering(endless)
    write(page.search.place, LINE.device)
    press(page.search.search)
    until(qtbot, lambda: "38400 baud 8N1 asked" in wizard.state.text())
    assert "searching" in page.ask_all.obstacle and page.search.search.obstacle
    press(wizard.stop_button if by_stop else page.search.stop)
    go_on.set()
    settled(wizard, qtbot)
    assert closed.is_set() and page.search.label.text().count("unit") == 1
    assert "nothing is searched" in page.search.stop.obstacle


def test_virtual_drives_are_not_searched_for(wizard: SetupWizard, qtbot: Any) -> None:
    press_indicator(wizard.start.rehearsal)
    settled(wizard, qtbot)
    assert "virtual drives" in wizard.drives.search.search.obstacle


def test_each_driver_has_its_own_settings(wizard: SetupWizard, page: DrivesPage, qtbot: Any, tmp_path: Path) -> None:
    assert set(page.settings.fields) == {"turnaround", "reply_timeout", "shared_connection"}
    choose_driver(page, "jrk-g2")
    field = page.settings.fields["stroke"]
    assert field.placeholderText() == "0.3" and "longer the leg is" in field.toolTip()
    for leg in range(6):
        write(page.host[leg], f"/dev/jrk-{leg}")
        page.port[leg].setValue(115_200)
    write(field, "0.25")
    write(page.settings.fields["crc"], "true")
    settled(wizard, qtbot)
    assert wizard.draft().settings == {"stroke": 0.25, "crc": True}
    assert not wizard.drives.missing
    write(field, "-1")
    settled(wizard, qtbot)
    assert "drives.stroke" in wizard.drives.missing
    choose_driver(page, "iai")
    settled(wizard, qtbot)
    assert "stroke" not in page.settings.fields and wizard.draft().settings == {}
    choose_driver(page, "jrk-g2")
    assert page.settings.fields["stroke"].text() == "-1"  # nothing that was entered is lost


def test_a_drive_that_cannot_be_one_of_its_driver_is_not_asked(
    wizard: SetupWizard, page: DrivesPage, qtbot: Any
) -> None:
    choose_driver(page, "orca")
    write(page.host[0], "/dev/orca")
    page.port[0].setValue(19_200)
    page.frame.setCurrentIndex(page.frame.findText("8N1"))
    settled(wizard, qtbot)
    press(page.ask[0])
    assert not wizard.bench.busy and "an ORCA motor has even parity" in page.status[0].text()

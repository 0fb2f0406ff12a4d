"""The wizard's page of the drives: those that are searched for, and each driver's own settings."""

import socket
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from device_server import served
from setup_support import BUTTON, back, click, press_indicator, settled, until, write
from shell_support import press

from actuators import Answer, CanEndpoint, ConnectError, Endpoint, Identity, SerialEndpoint
from gui.setup.drives_page import DrivesPage
from gui.setup.entry import SetupEntry
from gui.setup.wizard import SetupWizard
from rig.commissioning import LegProbe
from rig.config.rig_config import load_config
from rig.virtual import VirtualRig

Asked = Generator[tuple[Endpoint, list[Answer]], None, None]
LINE = SerialEndpoint("/dev/serial/by-id/usb-a", 38_400, "none", 1)
ALL_UNITS = 20.0  # s, less than it takes to ask all units that say nothing
SLIDERS = [Answer(LINE, unit, "iai", Identity("IAI", "ROBO Cylinder", "", ""), "register 0 is 0") for unit in (1, 2, 3)]


@pytest.fixture
def page(wizard: SetupWizard, qtbot: Any) -> DrivesPage:
    """The page of the drives, empty."""
    write(wizard.start["name"], "trial")
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
    page["driver"].setCurrentIndex(page["driver"].findData(name))


def test_what_answers_at_a_host_is_entered_and_can_be_asked(wizard: SetupWizard, page: DrivesPage, qtbot: Any) -> None:
    assert "say where first" in page.search.search.obstacle and "nothing was found" in page.search.enter.obstacle
    with served(list(VirtualRig(load_config("virtual")).drives)[:2]) as ports:
        write(page.host[0], "127.0.0.1")
        page.port[0].setValue(ports[0])
        for port in ports:
            write(page.search.place, f"127.0.0.1:{port}")
            page.search.units.setValue(1)
            press(page.search.search)
            settled(wizard, qtbot)
            assert page.search.label.text().startswith(
                f"127.0.0.1:{port}, unit 1: driver servo, profile generic-servo: stewart-rig"
            )
            press(page.search.enter)
        assert [host.text() for host in page.host] == ["127.0.0.1"] * 2 + [""] * 4
        assert [page.port[leg].value() for leg in (0, 1)] == ports  # the first was there already
        settled(wizard, qtbot)
        press(page.ask[1])
        settled(wizard, qtbot)
        assert page.status[1].text().startswith("✓ stewart-rig virtual servo, serial VIRTUAL-2")


def test_a_can_bus_is_searched_at_the_bit_rate_of_its_row(
    wizard: SetupWizard, page: DrivesPage, answering: Callable[..., None], qtbot: Any
) -> None:
    asked: list[tuple[str, Any]] = []
    nodes: list[Answer] = []
    bus = CanEndpoint("can://socketcan/can0", 500_000, "none")

    def search(target: str, _units: Sequence[int], **options: Any) -> Asked:
        asked.append((target, options["bauds"]))
        yield bus, nodes

    answering(search)
    choose_driver(page, "canopen")
    write(page.search.place, LINE.device)
    assert "do not speak Modbus" in page.search.search.obstacle
    write(page.search.place, bus.device)
    press(page.search.search)
    settled(wizard, qtbot)
    assert page.search.label.text().startswith("✗ no answer at 1000000 bit/s; for another bit rate")
    write(page.host[5], bus.device)
    page.port[5].setValue(500_000)
    page.unit[5].setValue(6)
    settled(wizard, qtbot)
    nodes += [Answer(bus, unit, "canopen", Identity("a", "b", f"S{unit}", ""), "") for unit in (1, 6)]
    press(page.search.search)
    settled(wizard, qtbot)
    assert asked == [(bus.device, (1_000_000,)), (bus.device, (500_000,))]
    press(page.search.enter)
    settled(wizard, qtbot)
    drives = wizard.draft().drives
    assert [(drive.device, drive.baud, drive.unit) for drive in drives if drive.device] == [
        (bus.device, 500_000, 1),
        (bus.device, 500_000, 6),
    ]


def test_units_of_a_line_go_into_the_rows_without_a_host(
    wizard: SetupWizard, page: DrivesPage, answering: Callable[..., None], qtbot: Any
) -> None:
    asked: list[tuple[str, Sequence[int]]] = []

    def search(target: str, units: Sequence[int], **_stopped: Any) -> Asked:
        asked.append((target, units))
        yield SerialEndpoint(LINE.device, 115_200, "even"), []
        yield LINE, SLIDERS

    answering(search)
    page.zero[2].set_si(0.364)
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
    assert [(drive.device, drive.baud, drive.unit, drive.parity, drive.stop_bits) for drive in drives[:3]] == [
        (LINE.device, 38_400, unit, "none", 1) for unit in (1, 2, 3)
    ]
    assert drives[2].position_offset == 0.364
    assert wizard.draft().driver == "iai"
    press(page.search.enter)
    assert page.host[3].text() == ""  # they are in their rows


def test_what_is_put_into_no_row_is_said_and_what_was_asked_stands(
    wizard: SetupWizard, page: DrivesPage, answering: Callable[..., None], qtbot: Any
) -> None:
    page.show_probe(LegProbe(1, "x", identity=Identity("a", "b", "S1", "")))
    write(page.host[0], "10.0.0.1")
    settled(wizard, qtbot)
    page.begin(0)
    page.show_probe(LegProbe(1, "x", identity=Identity("a", "b", "S1", "")))
    answering(lambda *_, **_stopped: iter_of((LINE, SLIDERS)))
    write(page.search.place, LINE.device)
    press(page.search.search)
    settled(wizard, qtbot)
    press(page.search.enter)
    assert page.findings.text().count("the driver is servo") == 3
    assert [host.text() for host in page.host] == ["10.0.0.1", *[""] * 5]
    assert page.status[0].text().startswith("✓ a b, serial S1")


def test_nothing_answers_or_it_cannot_be_opened(
    wizard: SetupWizard, page: DrivesPage, answering: Callable[..., None], qtbot: Any
) -> None:
    def refused(target: str, _units: Sequence[int], **_stopped: Any) -> Asked:
        raise ConnectError(f"cannot open {target}")
        yield LINE, []

    write(page.search.place, "/dev/none")
    answering(lambda *_, **_stopped: iter_of((LINE, [])))
    press(page.search.search)
    settled(wizard, qtbot)
    assert page.search.label.text() == "✗ no answer there" and page.search.enter.obstacle
    answering(refused)
    press(page.search.search)
    settled(wizard, qtbot)
    assert page.search.label.text() == "✗ cannot open /dev/none"


def iter_of(*asked: tuple[Endpoint, list[Answer]]) -> Asked:
    yield from asked


@pytest.fixture
def silent() -> Iterator[str]:
    """A host that takes every connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def begin(wizard: SetupWizard, page: DrivesPage, place: str, qtbot: Any) -> None:
    """Search a place for as many units as keep it busy for half a minute."""
    page.search.units.setValue(255)
    write(page.search.place, place)
    press(page.search.search)
    until(qtbot, lambda: wizard.state.text().startswith("Searching"))
    assert "searching" in page.ask_all.obstacle and page.search.search.obstacle


@pytest.mark.parametrize("by_stop", [False, True])
def test_a_search_can_be_ended(wizard: SetupWizard, page: DrivesPage, silent: str, qtbot: Any, by_stop: bool) -> None:
    begin(wizard, page, silent, qtbot)
    begun = time.monotonic()
    press(wizard.stop_button if by_stop else page.search.stop)
    settled(wizard, qtbot)
    assert time.monotonic() - begun < ALL_UNITS
    assert page.search.label.text() == "✗ ended before any device answered"
    assert "no search is running" in page.search.stop.obstacle


def test_closing_the_wizard_ends_a_search(
    wizard: SetupWizard, page: DrivesPage, set_up: SetupEntry, silent: str, qtbot: Any
) -> None:
    begin(wizard, page, silent, qtbot)
    begun = time.monotonic()
    set_up.close()
    assert time.monotonic() - begun < ALL_UNITS


def test_virtual_drives_are_not_searched_for(wizard: SetupWizard, qtbot: Any) -> None:
    press_indicator(wizard.start["virtual"].buttons[True])
    settled(wizard, qtbot)
    assert "virtual drives" in wizard.drives.search.search.obstacle


def test_what_could_take_the_questions_for_commands_is_not_searched_for(page: DrivesPage) -> None:
    write(page.search.place, LINE.device)
    assert not page.search.search.obstacle
    choose_driver(page, "jrk-g2")
    assert "do not speak Modbus" in page.search.search.obstacle


def test_a_leg_keeps_its_length_at_zero_and_a_driver_has_its_usual_unit(
    wizard: SetupWizard, page: DrivesPage, qtbot: Any
) -> None:
    page.zero[4].set_si(0.364)
    page.unit[1].setValue(7)
    choose_driver(page, "jrk-g2")
    back(wizard, wizard.start)
    press_indicator(wizard.start["virtual"].buttons[True])
    press_indicator(wizard.start["virtual"].buttons[False])
    settled(wizard, qtbot)
    drives = wizard.draft().drives
    assert [drive.position_offset for drive in drives] == [0.0, 0.0, 0.0, 0.0, 0.364, 0.0]
    assert [drive.unit for drive in drives] == [11, 7, 11, 11, 11, 11]


def test_each_driver_has_its_own_settings(wizard: SetupWizard, page: DrivesPage, qtbot: Any, tmp_path: Path) -> None:
    assert set(page.settings.fields) == {"turnaround", "reply_timeout", "shared_connection"}
    choose_driver(page, "jrk-g2")
    field = page.settings.fields["stroke"]
    assert field.placeholderText() == "0.3" and "leg length" in field.toolTip()
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
    page["frame"].setCurrentIndex(page["frame"].findText("8N1"))
    settled(wizard, qtbot)
    press(page.ask[0])
    assert not wizard.bench.busy and "an ORCA motor has even parity" in page.status[0].text()

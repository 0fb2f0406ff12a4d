"""How long drives on a line take to answer: measured by the set-up and the search, and kept in the configuration."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from drive_support import serving_at
from own_packages import installed
from virtual_line import line_servo

from actuators import DeviceLine, FaultyServo, SerialEndpoint, scan
from rig.commissioning import (
    Draft,
    DriveAddress,
    DriveKind,
    answer_finding,
    draft_text,
    probe_drive,
    with_patience,
    with_reply_delays,
)
from rig.config import LegDrive, leg_section, load_config, parse_config
from rig.engine import virtual_port
from rig.findings import Code
from rig.services import rig_probes
from rig.testing import BenchLeg as Leg

BAUD = 115_200
DELAY = 6e-3
"""s, by which the twins answer later than they could"""


@contextmanager
def lined(path: Path, delay: float = DELAY) -> Iterator[SerialEndpoint]:
    """Two servos at a pseudo-terminal that answer after a delay."""
    twins = [FaultyServo(line_servo(Leg(), unit, serial=f"U{unit}")) for unit in (1, 2)]
    for twin in twins:
        twin.reply_delay = delay
    endpoint = SerialEndpoint(str(path), BAUD)
    with serving_at([(endpoint, DeviceLine(twins, endpoint.byte_time))], tick=2e-4):
        yield endpoint


def place(endpoint: SerialEndpoint) -> LegDrive:
    return leg_section("servo").model_validate({"device": endpoint.device, "baud": BAUD, "unit": 1})


def test_a_probe_measures_it(tmp_path: Path) -> None:
    with lined(tmp_path / "line") as endpoint:
        found = probe_drive(1, place(endpoint), DriveKind(settings={"reply_timeout": 5.0}, timeout=10.0))
    assert found.fault is None and found.reply_delay is not None and found.reply_delay >= DELAY
    assert found.as_dict()["reply_delay_s"] == found.reply_delay
    assert f"answers after {found.reply_delay * 1e3:.3g} ms" in found.finding.text


def test_a_line_that_is_faster_than_its_bytes_shows_no_delay(tmp_path: Path) -> None:
    with lined(tmp_path / "line", 0.0) as endpoint:
        slow = leg_section("servo").model_validate({"device": endpoint.device, "baud": 1200, "unit": 1})
        found = probe_drive(1, slow, DriveKind(settings={"reply_timeout": 5.0}, timeout=10.0))
    assert (found.fault, found.answered, found.reply_delay) == (None, True, None)
    assert "answers after" not in found.finding.text


def test_a_drive_slower_than_it_is_waited_for_is_found_and_named(tmp_path: Path) -> None:
    with lined(tmp_path / "line") as endpoint:
        found = probe_drive(1, place(endpoint), DriveKind(settings={"reply_timeout": 2e-3}, timeout=5.0))
    assert found.answered and found.fault is not None and found.fault.code is Code.REPLY_TOO_LATE
    assert found.fault.value == found.reply_delay and found.fault.bound == 2e-3


def test_a_rehearsals_twin_that_is_late_is_no_fault(tmp_path: Path) -> None:
    """It answers when this computer has time."""
    named = SerialEndpoint(str(tmp_path / "line"), BAUD)
    kind = DriveKind(settings={"reply_timeout": 2e-3}, timeout=5.0, virtual=True)
    with lined(Path(virtual_port(named, make=True).device)):
        found = probe_drive(1, place(named), kind)
    assert found.answered and found.fault is None and found.reply_delay is not None and found.reply_delay >= DELAY


OWN = """
from actuators import DriveAddress, DriveOptions, Driver, DriveSettings, SerialEndpoint
from actuators.modbus_servo import ModbusServo, ModbusServoOptions


class Address(DriveAddress):
    device: str

    identity = property(lambda self: ("", f"{self.device} unit {self.unit}"))
    place = property(lambda self: self.device)
    endpoint = property(lambda self: SerialEndpoint(self.device, 115_200))


class Options(DriveOptions, DriveSettings, Address):
    pass


DRIVER = Driver(Address, DriveSettings, Options, lambda given: ModbusServo(
    ModbusServoOptions(baud=115_200, reply_timeout=5.0, **given.model_dump(exclude={"buses"}))
))
"""


def test_it_is_not_measured_for_an_address_without_a_key_for_it(tmp_path: Path) -> None:
    with (
        installed(tmp_path, {"mine": OWN}, "[stewart_rig.drivers]\nmine = mine:DRIVER\n"),
        lined(tmp_path / "line") as endpoint,
    ):
        address = leg_section("mine").model_validate({"device": endpoint.device, "unit": 1})
        found = probe_drive(1, address, DriveKind(driver="mine", settings={}, timeout=10.0))
    assert (found.fault, found.answered, found.reply_delay) == (None, True, None)


def test_a_search_measures_it(tmp_path: Path) -> None:
    with lined(tmp_path / "line") as endpoint:
        answers = list(scan(endpoint, [1, 2], 5.0, rtu=True))
    assert [answer.unit for answer in answers] == [1, 2]
    for answer in answers:
        assert answer.reply_delay is not None and answer.reply_delay >= DELAY
        assert answer_finding(answer).text.endswith(f", answers after {answer.reply_delay * 1e3:.3g} ms")


def test_it_is_stored_in_the_tables_of_the_legs(tmp_path: Path) -> None:
    drives = tuple(DriveAddress(device="/dev/ttyUSB0", baud=BAUD, unit=unit) for unit in range(1, 7))
    draft = replace(Draft(name="lined"), drives=drives, rate=50.0, watchdog=0.2)
    text = draft_text(with_reply_delays(draft, {1: 2.1e-3, 4: 3.4e-3}))
    legs = parse_config(text, tmp_path / "lined.toml").drives.legs
    assert [leg.given["reply_delay"] for leg in legs] == [2.1e-3, None, None, 3.4e-3, None, None]


def test_slow_drives_get_a_timeout_that_they_keep() -> None:
    draft = Draft(name="lined")
    assert with_reply_delays(draft, {1: 2e-3}).settings == {}  # the default is enough
    assert with_reply_delays(draft, {1: 2e-3, 3: 14.1e-3}).settings == {"reply_timeout": 0.057}
    own = replace(draft, settings={"reply_timeout": 0.02})
    assert with_reply_delays(own, {1: 14.1e-3}).settings == own.settings == with_patience(own).settings
    assert with_patience(draft).settings["reply_timeout"] > 0.1
    assert with_patience(replace(draft, driver="canopen")).settings == {}  # which has none
    assert with_patience(replace(draft, virtual=True)).settings == {}


def test_the_doctor_reads_the_latency_timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actuators.wire.ADAPTERS", tmp_path)
    assert list(rig_probes.adapter("/dev/ttyUSB7")) == []
    (tmp_path / "ttyUSB7").mkdir()
    timer = tmp_path / "ttyUSB7" / "latency_timer"
    timer.write_text("16\n", encoding="ascii")
    (found,) = rig_probes.adapter("/dev/ttyUSB7")
    assert found.status == "warn" and "up to 16 ms" in found.detail
    assert 'ATTR{latency_timer}="1"' in found.fix and "udevadm" in found.fix
    timer.write_text("1\n", encoding="ascii")
    (found,) = rig_probes.adapter("/dev/ttyUSB7")
    assert (found.status, found.fix) == ("ok", "")


def test_the_doctor_names_every_line_that_is_too_slow() -> None:
    lines = load_config("virtual-servo")
    assert [found.status for found in rig_probes.lines(lines)] == ["ok", "ok"]
    legs = [leg.model_dump() | {"baud": 115_200} for leg in lines.drives.legs]
    slow = list(rig_probes.lines(lines.changed({"drives": {"legs": legs}})))
    assert [found.status for found in slow] == ["fail", "fail"]
    assert "line-b" in slow[1].detail and "baud" in slow[1].fix

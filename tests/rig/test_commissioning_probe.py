"""Asking drives who they are: over real TCP, with drives that are silent, swapped, or not what they should be."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomlkit
from device_server import served
from drive_support import Stand, servo_of
from servo_profiles import profile

from actuators import (
    Drive,
    FaultyServo,
    Identity,
    LinkClosedError,
    Responder,
    ServoProfile,
    Status,
    VirtualServo,
    load_profile,
)
from actuators.virtual.servo import SEQUENCE
from rig.commissioning import DriveKind, LegProbe, compare, probe_drive, probe_drives
from rig.commissioning import probe as probe_module
from rig.config import LegDrive, leg_section
from rig.config.rig_config import load_config
from rig.engine.drive_lock import claim_addresses
from rig.findings import Code, Finding
from rig.virtual import VirtualRig

KIND = DriveKind(timeout=1.0)


class Gateway(Stand):
    """Several drives behind one port, told apart by their unit ids."""

    def __init__(self, devices: list[Responder]) -> None:
        self.devices = devices

    def tick(self, now: float) -> None:
        for device in self.devices:
            device.tick(now)

    def respond(self, adu: bytes) -> bytes:
        return b"".join(device.respond(adu) for device in self.devices)


class Hangup(Stand):
    """Takes a connection and closes it at the first word."""

    def respond(self, adu: bytes) -> bytes:
        raise LinkClosedError


@pytest.fixture
def servos() -> list[FaultyServo]:
    made = [drive for drive in VirtualRig(load_config("virtual")).drives if isinstance(drive, FaultyServo)]
    assert len(made) == 6
    return made


def place(port: int, unit: int = 1, serial: str | None = None) -> LegDrive:
    return leg_section("servo").model_validate({"host": "127.0.0.1", "port": port, "unit": unit, "serial": serial})


def places(ports: list[int], serials: list[str | None] | None = None) -> list[LegDrive]:
    serials = serials or [None] * 6
    return [place(port, serial=s) for port, s in zip(ports, serials, strict=True)]


def fault_of(probe: LegProbe) -> Finding:
    assert probe.fault is not None
    return probe.fault


def test_six_drives_say_who_they_are(servos: list[FaultyServo]) -> None:
    with served(list(servos)) as ports:
        found = probe_drives(places(ports), [KIND] * 6)
    assert found.passed and found.findings == ()
    assert found.serials == {leg: f"VIRTUAL-{leg}" for leg in range(1, 7)}
    for leg, probe in enumerate(found.legs, start=1):
        assert probe.leg == leg and probe.watchdog == KIND.watchdog
        assert probe.status == Status.READY | Status.BRAKE | Status.STANDSTILL
        assert probe.position == 0.0 and 20.0 < probe.force < 50.0
        assert probe.finding.text == (
            f"stewart-rig virtual servo, serial VIRTUAL-{leg}, firmware 1.0; brake on, standstill; "
            f"position 0.000 mm, force {probe.force:.1f} N"
        )
        data = probe.as_dict()
        assert data["identity"]["serial"] == f"VIRTUAL-{leg}" and data["status"] == ["brake on", "standstill"]
        assert (data["fault"], data["finding"]) == ("", None)
    assert all(servo_of(servo)._watchdog == pytest.approx(0.05) for servo in servos)


def test_asking_commands_nothing(servos: list[FaultyServo]) -> None:
    before = [servo_of(servo)._command_bytes for servo in servos]
    with served(list(servos)) as ports:
        probe_drives(places(ports), [KIND] * 6)
    assert [servo_of(servo)._command_bytes for servo in servos] == before
    assert all(servo_of(servo).row[SEQUENCE] == 0.0 for servo in servos)


def test_a_drive_that_is_not_there_one_that_is_silent_and_one_that_hangs_up(servos: list[FaultyServo]) -> None:
    servos[1].inject("drop_all")
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = nobody.getsockname()[1]
    with served([*servos[:2], Hangup(), *servos[3:]]) as ports:
        found = probe_drives(places([closed, *ports[1:]]), [DriveKind(timeout=0.3)] * 6)
    assert not found.passed
    one, two, three, *rest = found.legs
    faults = [fault_of(leg) for leg in (one, two, three)]
    assert [(fault.code, fault.leg) for fault in faults] == [(Code.DRIVE_FAILS, leg) for leg in (1, 2, 3)]
    texts = [fault.text for fault in faults]
    assert "cannot connect" in texts[0] and str(closed) in texts[0]
    assert "did not answer within 0.3 s" in texts[1] and not two.answered
    assert "closed the connection" in texts[2]
    assert [leg.fault for leg in rest] == [None, None, None]
    assert found.serials == {4: "VIRTUAL-4", 5: "VIRTUAL-5", 6: "VIRTUAL-6"}


def test_another_drive_than_expected_is_said_with_where_it_belongs(servos: list[FaultyServo]) -> None:
    expected = ["VIRTUAL-1", "VIRTUAL-3", "VIRTUAL-2", "VIRTUAL-4", "VIRTUAL-6", "OTHER"]
    with served(list(servos)) as ports:
        found = probe_drives(places(ports, list(expected)), [KIND] * 6)
    assert [bool(leg.fault) for leg in found.legs] == [False, True, True, False, True, True]
    assert found.legs[1].fault == Finding(Code.UNEXPECTED_SERIAL, 2, details={"expected": "VIRTUAL-3"})
    assert found.findings == (
        Finding(Code.DRIVES_SWAPPED, details={"one": 2, "other": 3}),
        Finding(Code.DRIVE_ELSEWHERE, 6, details={"other": 5, "serial": "VIRTUAL-6"}),
    )
    assert [finding.text for finding in found.findings] == [
        "the drives of legs 2 and 3 have changed places: cables or unit ids swapped",
        "the drive of leg 5 (serial VIRTUAL-6) answers at leg 6's address",
    ]
    assert [finding["code"] for finding in found.as_dict()["findings"]] == ["drives_swapped", "drive_elsewhere"]
    assert [fault.leg for fault in found.faults] == [2, 3, 5, 6, 0, 6]


def test_one_drive_at_two_addresses(servos: list[FaultyServo]) -> None:
    with served(list(servos)) as ports:
        found = probe_drives(places([*ports[:5], ports[0]]), [KIND] * 6)
    assert found.findings == (Finding(Code.ONE_DRIVE_BY_SERIAL, details={"legs": [1, 6], "serial": "VIRTUAL-1"}),)
    assert 1 not in found.serials and 6 not in found.serials


def test_unit_ids_behind_one_address() -> None:
    profile = load_profile("generic-servo", ServoProfile)
    ports_of = VirtualRig(load_config("virtual"))._ports
    drives: list[Responder] = [
        VirtualServo(profile, port, unit=leg, serial=f"U{leg}") for leg, port in enumerate(ports_of, start=1)
    ]
    with served([Gateway(drives)]) as (port,):
        units = [2, 1, 3, 4, 5, 6]
        serials = [f"U{leg}" for leg in range(1, 7)]
        addresses = [place(port, u, s) for u, s in zip(units, serials, strict=True)]
        swapped = probe_drives(addresses, [KIND] * 6)
        lost = probe_drive(1, place(port, 77), DriveKind(timeout=0.3))
    assert swapped.findings == (Finding(Code.DRIVES_SWAPPED, details={"one": 1, "other": 2}),)
    fault = fault_of(lost)
    assert fault.code is Code.OTHER_UNIT_ANSWERS and "did not answer" in fault.text
    assert fault.text.endswith("; unit 1 answers there: stewart-rig virtual servo, serial U1, firmware 1.0")


def test_the_search_asks_no_other_legs_drive_and_one_connection_is_open_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Drive] = []
    make = probe_module._make

    def alone(leg: int, address: LegDrive, kind: DriveKind) -> Drive:
        assert not any(drive.connected for drive in made)
        made.append(make(leg, address, kind))
        return made[-1]

    monkeypatch.setattr(probe_module, "_make", alone)
    profile = load_profile("generic-servo", ServoProfile)
    ports_of = VirtualRig(load_config("virtual"))._ports
    devices: list[Responder] = [
        VirtualServo(profile, port, unit=unit, serial=f"U{unit}")
        for unit, port in zip((1, 2, 4), ports_of[:3], strict=True)
    ]
    with served([Gateway(devices)]) as (port,):
        places = [place(port, unit) for unit in (1, 2, 77)]
        lost = probe_drive(3, places[2], DriveKind(timeout=0.3), places)
        none = probe_drive(3, places[2], DriveKind(timeout=0.3), [*places, places[0].model_copy(update={"unit": 4})])
    assert fault_of(lost).code is Code.OTHER_UNIT_ANSWERS and fault_of(lost).details["unit"] == 4
    assert fault_of(none).code is Code.DRIVE_FAILS and "did not answer" in fault_of(none).text


def test_a_drive_that_an_engine_commands_is_left_alone(servos: list[FaultyServo]) -> None:
    with served(list(servos)) as ports:
        addresses = places(ports)
        with claim_addresses({4: addresses[3]}):
            found = probe_drives(addresses, [KIND] * 6)
        assert probe_drives(addresses, [KIND] * 6).passed  # nothing stays claimed
    assert [leg.answered for leg in found.legs] == [True, True, True, False, True, True]
    fault = fault_of(found.legs[3])
    assert fault.code is Code.DRIVE_CLAIMED
    assert fault.text.startswith(f"leg 4: another program (process {os.getpid()}, ")


def test_a_drive_needs_the_modes_of_the_engine_and_no_others(servos: list[FaultyServo], tmp_path: Path) -> None:
    source = Path(load_config("virtual").path).parents[3] / "actuators" / "profiles" / "generic-servo.toml"
    text = source.read_text(encoding="utf-8")
    for mode, line in (("position", "\nposition = 2\n"), ("force", "\nforce = 1\n")):
        (tmp_path / f"no-{mode}.toml").write_text(text.replace(line, "\n"), encoding="utf-8")
    with served(list(servos)) as ports:
        address = places(ports)[0]
        fit = probe_drive(1, address, DriveKind(settings={"profile": str(tmp_path / "no-position.toml")}))
        weak = probe_drive(1, address, DriveKind(settings={"profile": str(tmp_path / "no-force.toml")}))
    assert fit.fault is None and weak.fault == Finding(Code.DRIVE_WITHOUT_MODE, 1, details={"modes": "FORCE"})
    assert weak.finding.text == (
        "stewart-rig virtual servo, serial VIRTUAL-1, firmware 1.0: the drive has no mode FORCE"
    )


def test_a_latched_fault_and_a_dead_encoder_are_said(servos: list[FaultyServo]) -> None:
    servos[2].inject("encoder_nan")
    servo_of(servos[3])._latch("watchdog")
    with served(list(servos)) as ports:
        found = probe_drives(places(ports), [KIND] * 6)
    assert [fault_of(leg).code for leg in found.legs[2:4]] == [Code.FAULT_AT_DRIVE] * 2
    assert [fault_of(leg).details["error"] for leg in found.legs[2:4]] == [3, 1]
    assert fault_of(found.legs[3]).text == "leg 4: latched fault 1, no command within the watchdog time"
    assert found.legs[2].as_dict()["position_m"] is None


def test_findings_of_drives_without_serial_numbers() -> None:
    nobody = Identity("v", "p", "", "1")
    silent = LegProbe(3, "c", fault=Finding.of_text("silent"))
    assert compare([LegProbe(1, "a", identity=nobody), LegProbe(2, "b", identity=nobody), silent]) == []
    unknown = LegProbe(4, "d", identity=Identity("", "", "", ""), position=0.5)
    assert (silent.finding.text, unknown.finding.text) == ("silent", "position 500.000 mm")


class Deaf(Stand):
    """A gateway that ignores the unit id: one drive answers under each."""

    def __init__(self, drive: Responder) -> None:
        self.drive = drive

    def tick(self, now: float) -> None:
        self.drive.tick(now)

    def respond(self, adu: bytes) -> bytes:
        reply = self.drive.respond(adu[:6] + b"\x01" + adu[7:])
        return reply[:6] + adu[6:7] + reply[7:] if reply else reply


def nameless(folder: Path, **changes: object) -> tuple[list[FaultyServo], DriveKind]:
    """Six drives whose profile has no identity, behind one port if need be, and how they are asked."""
    path = folder / "nameless.toml"
    path.write_text(tomlkit.dumps(profile(identity=None, **changes).model_dump(exclude_none=True)), encoding="utf-8")
    legs = [{"host": "127.0.0.1", "port": 15021 + leg, "unit": leg + 1} for leg in range(6)]
    config = load_config("virtual").changed({"drives": {"profile": str(path), "legs": legs}})
    made = [drive for drive in VirtualRig(config).drives if isinstance(drive, FaultyServo)]
    return made, DriveKind(settings={"profile": str(path)}, timeout=1.0)


def test_a_drive_that_answers_under_every_unit_id_is_distinguished_from_six(tmp_path: Path) -> None:
    """By a watchdog time that is written at one leg and read at another; each then has its own again."""
    drives, kind = nameless(tmp_path)
    for device, same in ((Gateway(list(drives)), False), (Deaf(drives[0]), True)):
        with served([device]) as (port,):
            found = probe_drives([place(port, unit) for unit in range(1, 7)], [kind] * 6)
        assert all(leg.answered and not leg.fault for leg in found.legs)
        assert found.passed is not same
        expected = Finding(Code.ONE_DRIVE_BY_WATCHDOG, details={"legs": [1, 2, 3, 4, 5, 6], "first": 1})
        assert found.findings == ((expected,) if same else ())
        assert all(servo_of(drive)._watchdog == pytest.approx(kind.watchdog) for drive in drives)


def test_without_a_watchdog_it_is_distinguished_by_unit_ids_that_no_leg_has(tmp_path: Path) -> None:
    drives, kind = nameless(tmp_path, parameters={"watchdog": None})
    for device, same in ((Gateway(list(drives)), False), (Deaf(drives[0]), True)):
        with served([device]) as (port,):
            found = probe_drives([place(port, unit) for unit in range(1, 7)], [kind] * 6)
        assert found.passed is not same
        if same:
            (finding,) = found.findings
            assert finding.code is Code.UNIT_ID_IGNORED
            assert "answers under every unit id, also 247 and 231" in finding.text


def walked(finding: Finding) -> Iterator[Finding]:
    yield finding
    for inner in finding.within:
        yield from walked(inner)


def test_a_length_that_no_leg_has_is_doubted_before_it_is_homed(servos: list[FaultyServo]) -> None:
    with served(list(servos)) as ports:
        standing = [drive.model_copy(update={"position_offset": 0.45}) for drive in places(ports)]
        near = probe_drives(standing, [DriveKind(timeout=1.0, lengths=(0.4, 0.5))] * 6).legs[0]
        far = probe_drives(standing, [DriveKind(timeout=1.0, lengths=(0.04, 0.044))] * 6).legs[0]
    assert near.doubt is None and near.as_dict()["doubt"] == ""
    assert far.fault is None and far.doubt is not None and far.doubt.code is Code.POSITION_OF_NO_LEG
    assert far.as_dict()["doubt"] == far.doubt.text and far.doubt.code in {one.code for one in walked(far.finding)}
    servo_of(servos[0])._homed = True
    with served(list(servos)) as ports:
        standing = [drive.model_copy(update={"position_offset": 0.45}) for drive in places(ports)]
        homed = probe_drives(standing, [DriveKind(timeout=1.0, lengths=(0.04, 0.044))] * 6).legs[0]
    assert homed.fault is not None and homed.fault.code is Code.POSITION_OF_NO_LEG and homed.doubt is None
    assert homed.fault.value == pytest.approx(0.45)


def test_a_homed_leg_outside_the_mechanisms_range_is_named_with_what_would_fit(servos: list[FaultyServo]) -> None:
    """Where it has no reference, its length is not known."""
    kind = DriveKind(timeout=1.0, lengths=(0.4, 0.5))
    with served(list(servos)) as ports:
        assert probe_drives(places(ports), [kind] * 6).passed
        for servo in servos[:1]:
            servo_of(servo)._homed = True
        found = probe_drives(places(ports), [kind] * 6)
    fault = fault_of(found.legs[0])
    assert "mm is outside the mechanism's 400 to 500 mm: correct its position_offset (now 0 mm" in fault.text
    assert [leg.fault for leg in found.legs[1:]] == [None] * 5

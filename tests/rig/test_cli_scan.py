"""`rig scan`: what answers is said, nothing is written to it, and who has nothing to say is not named."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import tomlkit
from drive_support import serving
from servo_profiles import GUIDE, SHIPPED, UGLY_GUIDE

from actuators import (
    AmplifierProfile,
    Answer,
    ConnectError,
    Endpoint,
    FaultyDevice,
    MemoryWire,
    SerialEndpoint,
    TcpEndpoint,
    VirtualAmplifier,
    Wire,
    create_twin,
    load_profile,
    open_wire,
    search,
    searching,
)
from actuators.virtual.device import RTU_FRAMING, ModbusDevice
from rig.cli import main
from rig.errors import ExitCode
from rig.testing import BenchLeg as Leg

READING = {1, 2, 3, 4}
GENERIC = "driver servo, profile generic-servo: "
PATIENT = ("--timeout", "5")


class Watched:
    """A device that keeps the function codes of what it is asked."""

    def __init__(self, device: FaultyDevice) -> None:
        self.device = device
        self.asked: set[int] = set()
        self.framing = device.framing
        self.next_event = device.next_event

    def tick(self, now: float) -> None:
        self.device.tick(now)

    def passes(self, now: float) -> bool:
        return self.device.passes(now)

    def due(self) -> bytes:
        return self.device.due()

    def respond(self, frame: bytes) -> bytes:
        self.asked.add(self.framing.message(frame)[1])
        return self.device.respond(frame)


class Everything(ModbusDevice):
    """A device with all registers below those of a ROBO Cylinder, each 0."""

    def __init__(self) -> None:
        super().__init__(1)
        self.functions = frozenset(READING)
        for function in READING:
            self._tables[function] = [(0, 0x9000, partial(bytes, (1 + (function > 2)) * 0x9000))]

    def tick(self, now: float) -> None:
        pass

    def _write(self, address: int, data: bytes) -> None:
        raise AssertionError("it is only read")


@contextmanager
def served(driver: str, **options: object) -> Iterator[tuple[str, Watched]]:
    device = Watched(create_twin(driver, {"name": "twin", **options}, Leg()))
    with serving([device]) as [(host, port)]:
        yield f"{host}:{port}", device
    assert device.asked <= READING


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["scan", *arguments])
    out = capsys.readouterr()
    return code, out.out + out.err


@pytest.mark.parametrize(
    ("driver", "options", "more", "words"),
    [
        ("servo", {"host": "x"}, (), f"{GENERIC}stewart-rig virtual servo, serial VIRTUAL-1, firmware 1.0"),
        ("servo", {"device": "x"}, ("--rtu",), f"{GENERIC}stewart-rig virtual servo, serial VIRTUAL-1"),
        ("orca", {"device": "x", "serial": "77"}, ("--rtu",), "driver orca: Iris Dynamics ORCA, stator 6, serial 77"),
        ("iai", {"device": "x"}, ("--rtu",), "driver iai: IAI ROBO Cylinder"),
    ],
)
def test_each_driver_knows_its_own(
    driver: str,
    options: dict[str, object],
    more: Sequence[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with served(driver, unit=3, **options) as (place, _):
        code, text = said(capsys, place, "--units", "3", *PATIENT, *more)
    assert code == ExitCode.OK
    (line,) = text.splitlines()
    assert line.startswith(f"{place}, unit 3: {words}")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_profile_is_recognised_by_its_registers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with served("servo", host="x", profile=SHIPPED[name]) as (place, _):
        code, text = said(capsys, place, "--units", "1", *PATIENT)
        _, found = said(capsys, place, "--units", "1", "--json", *PATIENT)
    assert code == ExitCode.OK
    assert f"driver servo, profile {name}: it has these registers, none of which identifies it" in text
    (answer,) = json.loads(found)
    assert answer["profile"] == name and answer["reply"] and "said" not in answer


def test_profiles_of_ones_own_are_recognised_by_their_identity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "press.toml").write_text(tomlkit.dumps(UGLY_GUIDE.model_dump(exclude_none=True)))
    (tmp_path / "rig.toml").write_text('name = "a rig"\n')
    with served("servo", host="x", profile=UGLY_GUIDE, serial="815") as (place, _):
        _, text = said(capsys, place, "--units", "1", *PATIENT)
        assert "no driver knows it by its registers" in text
        for given in (tmp_path, tmp_path / "press.toml"):
            _, text = said(capsys, place, "--units", "1", "--profile", str(given), *PATIENT)
            name = str(tmp_path / "press.toml")
            assert f"driver servo, profile {name}: Press Makers 4A00, serial 815" in text
    with served("servo", host="x", profile=GUIDE) as (place, _):
        _, text = said(capsys, place, "--units", "1", "--profile", str(tmp_path), *PATIENT)
        assert "no driver knows it by its registers" in text
    for wrong, words in ((tmp_path / "none", "no profile"), (tmp_path / "rig.toml", "feedback: missing")):
        code, text = said(capsys, "127.0.0.1:1", "--profile", str(wrong))
        assert code == ExitCode.INPUT and words in text
    (tmp_path / "press.toml").unlink()
    code, text = said(capsys, "127.0.0.1:1", "--profile", str(tmp_path))
    assert code == ExitCode.INPUT and "no profile of a servo" in text


def test_a_device_with_any_register_is_none_in_particular(capsys: pytest.CaptureFixture[str]) -> None:
    device = Everything()
    with serving([device]) as [(host, port)]:
        code, text = said(capsys, f"{host}:{port}", "--units", "1", *PATIENT)
    assert code == ExitCode.OK and "answers (register 0 is 0); no driver knows it by its registers" in text


def test_what_no_driver_knows_is_said_to_answer(capsys: pytest.CaptureFixture[str]) -> None:
    profile = load_profile("laumas", AmplifierProfile)
    device = VirtualAmplifier(profile, [Leg()], unit=5, framing=RTU_FRAMING)
    with serving([device]) as [(host, port)]:
        place = f"{host}:{port}"
        code, text = said(capsys, place, "--units", "5", "--rtu", *PATIENT)
        assert code == ExitCode.OK
        answer = "answers (exception 02 (illegal data address)); no driver knows it by its registers, answers after"
        assert text.startswith(f"{place}, unit 5: {answer} ") and text.endswith(" ms\n")
        code, text = said(capsys, place, "--units", "5", "--rtu", "--json", *PATIENT)
    (found,) = json.loads(text)
    assert (found["host"], found["port"], found["unit"], found["driver"], found["identity"]) == (
        host,
        port,
        5,
        "",
        None,
    )


def test_a_line_is_asked_at_one_speed_after_the_other_until_somebody_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    with served("orca", device="x", unit=2) as (place, _):
        host, port = place.split(":")

        def opening(endpoint: Endpoint, timeout: float) -> Wire:
            assert isinstance(endpoint, SerialEndpoint)
            opened.append((endpoint.baud, endpoint.parity))
            if endpoint.parity == "even":
                raise ConnectError("it has no such speed")
            if endpoint.baud != 115_200:
                return MemoryWire(lambda _data: b"")
            return open_wire(TcpEndpoint(host, int(port)), timeout)

        monkeypatch.setattr(searching, "open_wire", opening)
        line = ("--baud", "230400,115200,9600", "--parity", "even,none")
        code, text = said(capsys, "/dev/line", "--units", "2", *line, *PATIENT)
    assert code == ExitCode.OK and text.startswith("/dev/line, 115200 baud 8N1, unit 2: driver orca")
    assert opened == [(230_400, "even"), (230_400, "none"), (115_200, "even"), (115_200, "none")]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("127.0.0.1:1",), ExitCode.HARDWARE, "cannot connect to 127.0.0.1:1"),
        (("/dev/none",), ExitCode.HARDWARE, "cannot open /dev/none at 1000000 baud"),
        (("10.0.0.0/8",), ExitCode.INPUT, "16777216 addresses, at most 1024"),
        (("10.0.0.0/40",), ExitCode.INPUT, "is no network"),
        (("here:0",), ExitCode.INPUT, "give HOST, HOST:PORT"),
        (("/dev/none", "--units", "3-1"), ExitCode.INPUT, "--units '3-1'"),
        (("/dev/none", "--units", "256"), ExitCode.INPUT, "numbers from 0 to 255"),
        (("/dev/none", "--parity", "mark"), ExitCode.INPUT, "--parity 'mark': one of even, none, odd"),
        (("here", "--baud", "9600"), ExitCode.INPUT, "of a serial port"),
    ],
)
def test_what_cannot_be_asked_is_said(
    arguments: tuple[str, ...], code: ExitCode, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, text = said(capsys, *arguments)
    assert found == code and words in text


@pytest.mark.parametrize("unit", range(128))
def test_no_question_on_a_line_is_a_command_to_a_jrk(unit: int) -> None:
    """Those begin with a byte from 80h on; a Jrk may be where a drive on Modbus is sought."""
    asked: list[bytes] = []

    def taken(data: bytes) -> bytes:
        asked.append(data)
        return b""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "open_wire", lambda _endpoint, _timeout: MemoryWire(taken))
        assert not list(searching.scan(SerialEndpoint("/dev/line", 9600, "none"), [unit], 0.001, rtu=True))
    assert asked and max(b"".join(asked)) < 0x80 and {frame[:2] for frame in asked} == {bytes((unit, 3))}


def test_units_whose_questions_would_be_commands_are_refused_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "/dev/none", "--units", "1,200")
    assert code == ExitCode.INPUT and "unit 200: on a serial line 0 to 127 can be asked for" in text


def test_what_answered_is_said_whatever_becomes_of_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    """A device that closes the connection when another unit is asked."""
    answer = bytes.fromhex("0000 0000 0005 01 03 02 0005".replace(" ", ""))
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for _ in range(2):
                connection, _address = server.accept()
                with connection:
                    request = connection.recv(64)
                    if request[6] == 1:
                        connection.sendall(request[:2] + answer[2:])
                        connection.recv(64)  # until it is left, or asked who it is
            server.close()

        thread = threading.Thread(target=serve)
        thread.start()
        place = f"127.0.0.1:{server.getsockname()[1]}"
        code, text = said(capsys, place, "--units", "1-4", "--timeout", "0.5")
        thread.join(10.0)
        assert not thread.is_alive()
    assert code == ExitCode.OK
    assert text == f"{place}, unit 1: answers (register 0 is 5); no driver knows it by its registers\n"


def test_a_network_is_asked_host_by_host(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "127.0.9.0/29", "--units", "1", "--timeout", "0.01")
    assert code == ExitCode.HARDWARE
    assert text == "error: nothing answers at 127.0.9.0/29: 6 hosts asked for 1 unit\n"


def test_a_slow_host_holds_back_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    others_said = threading.Event()

    def scanned(endpoint: TcpEndpoint, *_units: object, **_how: object) -> Iterator[Answer]:
        if endpoint.host == "10.9.9.1":
            assert others_said.wait(10.0)
        return iter(())

    monkeypatch.setattr("actuators.searching.scan", scanned)
    found = search("10.9.9.0/30", [1])
    assert next(found) == (TcpEndpoint("10.9.9.2", 502), [])
    others_said.set()
    assert list(found) == [(TcpEndpoint("10.9.9.1", 502), [])]

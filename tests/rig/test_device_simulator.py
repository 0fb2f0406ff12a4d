"""`rig twin`: one virtual device, where it is served, and what it does there."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from processes import offspring
from waiting import eventually

import actuators
from actuators import (
    COMMAND_HOME,
    COMMAND_OFF,
    CanEndpoint,
    Command,
    DeviceLine,
    Endpoint,
    FaultyDevice,
    SerialEndpoint,
    Status,
    TcpEndpoint,
    VirtualAmplifier,
    VirtualServo,
    cell_driver_names,
    create_drive,
    drive_names,
    shipped_profiles,
)
from actuators.jrk.protocol import GET_SETTINGS, PololuFraming, PololuLine, Setting
from actuators.virtual.device import MBAP_FRAMING, RTU_FRAMING
from rig.cli import main
from rig.client import device_simulator
from rig.config import RigConfig, device_keys
from rig.errors import ExitCode
from rig.virtual import VirtualRig, virtual_rig

PATIENCE = 300.0  # s; the first start on a machine compiles the kernels


def _serves(out: Path) -> bool:
    """Whether a command says in its output that it serves."""
    return "Ctrl-C ends it" in out.read_text()


twins: list[FaultyDevice] = []
"""Those that would be served."""
delays: list[float | None] = []


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Endpoint]:
    """Where a device would be served."""
    found: list[Endpoint] = []

    def serve(
        config: RigConfig, device: int, _stop: object, ready: object, reply_delay: float | None, _report: object
    ) -> None:
        endpoint = device_keys(config)[device][1].endpoint
        assert endpoint is not None and callable(ready)
        found.append(endpoint)
        rig = VirtualRig(config)
        twins.append(rig.devices[device])
        delays.append(reply_delay)
        ready(endpoint)

    monkeypatch.setattr(device_simulator, "serve_device", serve)
    return found


def test_it_is_served_at_a_port_of_its_kind_or_of_the_other(
    served: list[Endpoint], capsys: pytest.CaptureFixture[str]
) -> None:
    own = f"twin-{os.getpid()}"
    for arguments, expected in (
        (("orca",), SerialEndpoint(own, 1_000_000)),
        (("iai",), SerialEndpoint(own, 230_400, "none")),
        (("servo", "--pty", "--leg", "4"), SerialEndpoint(own, 115_200)),
        (("modbus", "--pty"), SerialEndpoint(own, 115_200)),
        (("iai", "--listen", "127.0.0.9:4001"), TcpEndpoint("127.0.0.9", 4001)),
        (("virtual", "--listen", "127.0.0.9:502", "--leg", "6"), TcpEndpoint("127.0.0.9", 502)),
        (("mantracourt", "--leg", "5"), SerialEndpoint(own, 115_200, "none")),
        (("loadstar",), SerialEndpoint(own, 9600, "none")),
        (("virtual-mixed", "--leg", "4"), SerialEndpoint(own, 1_000_000)),
        (("canopen", "--leg", "2"), CanEndpoint(f"can://twin/{os.getpid()}", 1_000_000, "none")),
        (("virtual-mixed", "--cell", "5"), SerialEndpoint(own, 115_200, "none")),
        (("virtual-orca", "--cell", "2", "--listen", "127.0.0.9:502"), TcpEndpoint("127.0.0.9", 502)),
        (("modbus-io", "--pty"), SerialEndpoint(own, 115_200)),
    ):
        assert main(["twin", *arguments]) == ExitCode.OK
        assert served[-1] == expected
    for name in ("servo", "modbus", "modbus-io"):
        assert main(["twin", name]) == ExitCode.OK
        endpoint = served[-1]
        assert isinstance(endpoint, TcpEndpoint) and endpoint.host == "127.0.0.1"
    said = capsys.readouterr().out.splitlines()
    unseen = "(a pseudo-terminal: a client's baud rate, stop bits and breaks have no effect; open it without parity)"
    assert said[0] == f"orca, leg 1, at {own}, 1000000 baud 8E1 {unseen}, unit 1; Ctrl-C ends it"
    assert said[3] == f"modbus, six load cells, at {own}, 115200 baud 8E1 {unseen}, unit 1; Ctrl-C ends it"
    assert said[5] == "servo, leg 6, at 127.0.0.9:502, unit 1; Ctrl-C ends it"
    assert said[6] == f"mantracourt, load cell 5, at {own}, 115200 baud 8N1 {unseen}, unit 1; Ctrl-C ends it"
    assert said[7] == f"loadstar, load cell 1, at {own}, 9600 baud 8N1 {unseen}, unit 1; Ctrl-C ends it"
    assert said[9] == f"canopen, leg 2, at can://twin/{os.getpid()}, 1000000 bit/s {unseen}, unit 2; Ctrl-C ends it"
    assert said[10] == f"mantracourt, load cell 5, at {own}, 115200 baud 8N1 {unseen}, unit 1; Ctrl-C ends it"
    assert said[11] == "modbus, six load cells, at 127.0.0.9:502, unit 1; Ctrl-C ends it"
    assert said[12] == f"modbus-io, inputs and outputs, at {own}, 115200 baud 8E1 {unseen}, unit 1; Ctrl-C ends it"
    assert said[8] == f"orca, leg 4, at {own}, 1000000 baud 8E1 {unseen}, unit 1; Ctrl-C ends it"


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("terminal", [False, True], ids=["usual", "pty"])
@pytest.mark.parametrize("name", [*drive_names(), *cell_driver_names(), *shipped_profiles()])
def test_every_driver_and_every_shipped_profile_can_be_served(name: str, terminal: bool) -> None:
    assert main(["twin", name, *["--pty"] * terminal]) == ExitCode.OK
    device = twins[-1].device
    if name in shipped_profiles():
        assert isinstance(device, VirtualServo | VirtualAmplifier) and device.profile.name == name
        assert device.framing is (RTU_FRAMING if terminal else MBAP_FRAMING)


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("profile", ["oriental-az", "laumas"])
def test_a_profile_of_ones_own_can_be_served(profile: str, tmp_path: Path) -> None:
    shipped = Path(actuators.__file__).parent / "profiles" / f"{profile}.toml"
    (tmp_path / "own.toml").write_text(shipped.read_text().replace(f'name = "{profile}"', 'name = "own"'))
    assert main(["twin", str(tmp_path / "own.toml"), "--pty"]) == ExitCode.OK
    device = twins[-1].device
    assert isinstance(device, VirtualServo | VirtualAmplifier) and device.profile.name == "own"


@pytest.mark.usefixtures("served")
def test_a_setting_of_its_driver_or_address_is_the_twins(served: list[Endpoint]) -> None:
    assert main(["twin", "jrk-g2", "--set", "crc=false", "--set", "unit=12"]) == ExitCode.OK
    assert twins[-1].framing == PololuFraming(crc=False) and twins[-1].unit == 12
    assert main(["twin", "jrk-g2", "--set", "watchdog=5"]) == ExitCode.OK
    question = PololuLine(crc=True).frame(bytes((11, GET_SETTINGS, Setting.SERIAL_TIMEOUT, 2)))
    assert twins[-1].respond(question) == (500).to_bytes(2, "little"), "in units of 10 ms"
    assert main(["twin", "mantracourt", "--set", "modbus_number=4", "--leg", "2"]) == ExitCode.OK
    assert twins[-1].framing is RTU_FRAMING
    assert main(["twin", "virtual-mixed", "--leg", "5", "--set", "speed=0.1", "--set", "baud=38400"]) == ExitCode.OK
    assert served[-1] == SerialEndpoint(f"twin-{os.getpid()}", 38_400, "none") and delays[-1] is None
    for driver, slow in (("loadstar", "series=di-1000"), ("loadstar", "baud=300"), ("mantracourt", "baud=300")):
        assert main(["twin", driver, "--set", slow]) == ExitCode.OK
    assert main(["twin", "orca", "--reply-delay", "0.05"]) == ExitCode.OK
    assert delays[-1] == 0.05


def test_it_says_what_it_compiles_before_it_is_served(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    @contextlib.contextmanager
    def compiling(_kernels: object, report: Callable[[int, int], None]) -> Iterator[None]:
        report(3, 12)
        yield

    class Server:
        def __init__(self, endpoints: list[tuple[Endpoint, object]], **_options: object) -> None:
            self._served = [endpoint for endpoint, _ in endpoints]

        def serve(self, _stop: object, ready: Callable[[list[Endpoint]], None]) -> None:
            ready(self._served)

    monkeypatch.setattr(virtual_rig, "TwinServer", Server)
    monkeypatch.setattr(virtual_rig, "report_compilation", compiling)
    monkeypatch.setattr(virtual_rig, "_call_kernels", lambda _config: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["twin", "servo"]) == ExitCode.OK
    assert capfd.readouterr().err == "… compiling the simulated machine: 3 of 12 kernels, once on this machine\n"


@pytest.mark.parametrize(("arguments", "delay"), [((), 0.00175), (("--reply-delay", "0.05"), 0.05)])
def test_it_waits_on_a_line_before_it_answers(
    arguments: tuple[str, ...], delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the silence of a line at 115200 baud where nothing else is said."""
    lines: list[object] = []

    class Server:
        def __init__(self, endpoints: list[tuple[Endpoint, object]], **_options: object) -> None:
            lines.extend(responder for _, responder in endpoints)

        def serve(self, _stop: object, _ready: object) -> None:
            """End at once."""

    monkeypatch.setattr(virtual_rig, "TwinServer", Server)
    monkeypatch.setattr(virtual_rig, "_store_kernels", lambda *_arguments: None)
    assert main(["twin", "servo", "--pty", *arguments]) == ExitCode.OK
    (line,) = lines
    assert isinstance(line, DeviceLine) and [one.reply_delay for one in line.devices] == [delay]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("nothing",),
            "no virtual device 'nothing': give a driver (canopen, iai, jrk-g2, loadstar, mantracourt, modbus, ",
        ),
        (
            ("zeta",),
            "no virtual device 'zeta': give a driver (canopen, iai, jrk-g2, loadstar, mantracourt, modbus, ",
        ),
        (("orca", "--listen", "here"), "--listen 'here': give HOST:PORT"),
        (("orca", "--listen", "x:65536"), "--listen 'x:65536': give HOST:PORT"),
        (("orca", "--pty", "--listen", "x:1"), "--listen and --pty: one of the two"),
        (("orca", "--set", "speed=3"), "--set speed: it has baud, framing, parity, registers, reply_delay,"),
        (("orca", "--set", "baud"), "--set 'baud': give NAME=VALUE"),
        (("iai", "--set", "unit=2", "--set", "unit=3"), "--set 'unit=3': unit is given twice"),
        (("iai", "--set", "unit=17"), "unit: 17 is outside 1..16"),
        (("servo", "--reply-delay", "0.01"), "is no serial line"),
        (("canopen", "--reply-delay", "0.01"), "is no serial line"),
        (("modbus-io", "--leg", "2"), "--leg 2: modbus-io is one block for the whole rig"),
        (("modbus", "--leg", "2"), "--leg 2: modbus reads the load cells of all six legs"),
        (("virtual", "--cell", "2"), "--cell 2: the drives of virtual read its load cells"),
        (("virtual-mixed", "--leg", "1", "--cell", "2"), "--leg and --cell: one of the two"),
        (("gone.toml",), "gone.toml"),
    ],
)
def test_what_cannot_be_served_is_said(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["twin", *arguments]) == ExitCode.INPUT
    assert said in capsys.readouterr().err


def test_a_driver_finds_it_and_homes_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from rig.cli import main; sys.exit(main(['twin', 'orca']))"]
    with (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(command, stdout=out, cwd=tmp_path)
    try:
        eventually(lambda: "Ctrl-C ends it" in (tmp_path / "out").read_text(), "the twin to be served", PATIENCE)
        device = (tmp_path / "out").read_text().split(" at ")[1].split(",")[0]
        motor = create_drive("orca", {"device": device, "baud": 1_000_000, "turnaround": 8e-5, "watchdog": 0.5})
        motor.connect(PATIENCE)
        try:
            assert motor.identify().vendor == "Iris Dynamics"
            motor.configure()
            motor.exchange(COMMAND_OFF, motor.line.now() if motor.line else 0.0, 1.0)

            def does(status: Status) -> bool:
                assert motor.line is not None
                return bool(motor.exchange(COMMAND_HOME, motor.line.now(), 1.0).status & status)

            eventually(lambda: does(Status.HOMING), "the auto-zero to begin", PATIENCE)
            eventually(lambda: does(Status.HOMED), "the auto-zero to end", PATIENCE)
        finally:
            motor.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == ExitCode.OK
        assert not Path(device).exists()
    finally:
        process.kill()
        process.wait()


def test_it_loads_no_compiler_until_somebody_connects(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(rig_command("twin", "virtual", "--leg", "1"), stdout=out)
    try:
        eventually(lambda: _serves(tmp_path / "out"), "the twin to be served", PATIENCE)
        assert not _has_compiler(process.pid) and not offspring(process.pid)
        port = (tmp_path / "out").read_text().split(",")[2].rpartition(":")[2]
        servo = create_drive("servo", {"host": "127.0.0.1", "port": int(port), "watchdog": 10.0})
        servo.connect(PATIENCE)
        try:
            servo.identify()
            servo.configure()

            def does(command: Command, status: Status) -> bool:
                return bool(servo.exchange(command, time.monotonic(), 1.0).status & status)

            assert does(COMMAND_OFF, Status.BRAKE)
            eventually(lambda: does(COMMAND_HOME, Status.HOMED), "homing to end", PATIENCE)
            assert _has_compiler(process.pid)
        finally:
            servo.close()
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == ExitCode.OK


def _has_compiler(pid: int) -> bool:
    return "llvmlite" in Path(f"/proc/{pid}/maps").read_text()


def test_a_driver_that_is_installed_but_has_no_configuration_asks_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not offered among those that can be given, and its name is not unknown."""
    metadata = tmp_path / "zeta-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: zeta\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[stewart_rig.drivers]\nzeta = actuators.orca:DRIVER\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])]))
    told = [subprocess.run(rig_command("twin", name), capture_output=True, text=True) for name in ("zeta", "eta")]
    assert [one.returncode for one in told] == [ExitCode.INPUT] * 2
    assert "driver 'zeta': no configuration that comes along has its drives; give a file" in told[0].stderr
    assert "no virtual device 'eta': give a driver (canopen, iai," in told[1].stderr and "zeta" not in told[1].stderr


def rig_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "rig", *arguments]


def test_a_place_too_deep_for_sockets_is_named(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 100)
    deep.mkdir()
    command = rig_command("virtual", "virtual-servo")
    told = subprocess.run(command, env=os.environ | {"TMPDIR": str(deep)}, capture_output=True, text=True)
    assert told.returncode == ExitCode.HARDWARE and f"runtime folder {deep}" in told.stderr, told.stderr
    assert "must be at most" in told.stderr and "TMPDIR" in told.stderr


def test_simulators_leave_no_terminal_after_sigterm() -> None:
    """By SIGTERM, as a service manager or a closing terminal's script does; Ctrl-C is above."""
    commands = (("twin", "orca"), ("virtual", "virtual-servo"))
    with contextlib.ExitStack() as stack:
        tmp_path = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp")))  # a socket's path is bounded
        environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
        served = []
        for number, arguments in enumerate(commands):
            out = stack.enter_context((tmp_path / f"out-{number}").open("w+"))
            process = subprocess.Popen(rig_command(*arguments), stdout=out, env=environment)
            stack.callback(process.wait)
            stack.callback(process.kill)
            served.append((process, tmp_path / f"out-{number}"))
        for _process, written in served:
            eventually(partial(_serves, written), "it to be served", PATIENCE)
        root = tmp_path / f"stewart-rig-{os.getuid()}"
        assert len(list(root.glob("tty-*"))) == 6  # three ports, and a lock each
        for process, _out in served:
            process.terminate()
        assert [process.wait(PATIENCE) for process, _out in served] == [ExitCode.OK] * 2
        assert not list(root.glob("tty-*"))

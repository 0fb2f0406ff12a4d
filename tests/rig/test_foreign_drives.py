"""Drives that somebody else wrote, in C, from their register table to a leg test that passes, by the commands alone."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from exploration import LONG

from actuators import (
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Command,
    Feedback,
    Mode,
    ServoProfile,
    Status,
    create_drive,
    load_profile,
)
from rig.cli import main
from rig.config import LEAST_RATE
from rig.errors import ExitCode

TESTS = Path(__file__).parents[1]
PATIENCE = 10.0  # s
ZERO = "494.211 mm"
"""Length of a leg of the lab-hexapod at home, where these drives have their reference."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("drive") / "drive"
    subprocess.run(["cc", "-O2", str(TESTS / "foreign_drive.c"), "-o", str(made), "-lm"], check=True)
    return made


@pytest.fixture
def ports(program: Path) -> Iterator[list[str]]:
    """TCP ports of six drives, which are served until the test ends."""
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        try:
            yield server.stdout.readline().split()
        finally:
            server.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                server.wait(PATIENCE)
            server.kill()


def test_from_the_register_table_to_a_leg_that_passes(
    ports: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(TESTS / "foreign_drive.toml", tmp_path / "drive.toml")
    places = [part for port in ports for part in ("--drive", f"127.0.0.1:{port}")]
    position = ["--mode", "position", "--rate", f"{LEAST_RATE:g}", "--watchdog", "2.0", "--offset", ZERO]

    def typed(*words: str) -> str:
        assert main([*words]) == ExitCode.OK, capsys.readouterr()
        return capsys.readouterr().out

    found = typed("scan", f"127.0.0.1:{ports[2]}", "--units", "1", "--profile", ".", "--timeout", "5")
    assert "driver servo, profile drive.toml: Another maker 4A00, serial 1003" in found
    typed("setup", "new", "rig.toml", "--profile", "drive.toml", *position, "--ask", *places)
    config = tmp_path / "rig.toml"
    assert all(f'serial = "{1001 + leg}"' in config.read_text() for leg in range(6))
    assert config.read_text().count("reply_delay = ") == 6  # messages that go in turn take it, on TCP as well
    config.write_text(f"{config.read_text()}\n[safety]\nstale_time = 1.0  # s, on a busy machine\n")
    assert typed("setup", "probe", "rig.toml").count("ok   leg") == 6
    assert "until the devices answer" in typed("check", "rig.toml")
    for leg in range(1, 7) if LONG else (3,):
        assert "verdict     passed" in typed("setup", "leg", "rig.toml", str(leg), "--home", "--seen")


def test_a_leg_is_enabled_homed_and_moved(ports: list[str]) -> None:
    profile = load_profile(TESTS / "foreign_drive.toml", ServoProfile)
    place = {"host": "127.0.0.1", "port": int(ports[3]), "position_offset": 0.5, "serial": "1004"}
    patience = {"request_timeout": PATIENCE, "watchdog": PATIENCE}
    drive = create_drive("servo", {"name": "drive 4", "profile": profile, **patience, **place})
    drive.connect(PATIENCE)

    def stands_at(target: float, feedback: Feedback) -> bool:
        return abs(feedback.position - target) < 2e-9

    def until(command: Command, reached: Callable[[Feedback], bool]) -> Feedback:
        deadline = time.monotonic() + 3.0 * PATIENCE
        while time.monotonic() < deadline:
            feedback = drive.exchange(command, time.monotonic(), PATIENCE)
            assert feedback.fresh and not feedback.status & Status.FAULT
            if reached(feedback):
                return feedback
        raise AssertionError(f"{command}: {feedback}")

    try:
        assert drive.identify().serial == "1004"
        drive.configure()
        first = until(COMMAND_OFF, lambda seen: Status.READY in seen.status)
        assert first.position == pytest.approx(0.504, abs=1e-9)
        assert first.status == Status.READY | Status.BRAKE | Status.STANDSTILL
        until(COMMAND_HOME, lambda seen: Status.HOMING in seen.status)
        until(COMMAND_HOME, lambda seen: Status.HOMED in seen.status and Status.HOMING not in seen.status)
        for target in (0.5012, 0.4991):
            command = Command(Mode.POSITION, 0.0, target, 0.0, enable=True)
            until(command, partial(stands_at, target))
        until(COMMAND_STOP, lambda seen: Status.ENABLED not in seen.status)
        assert drive.counters.exceptions == drive.counters.rejected == 0
    finally:
        drive.close()

"""Commissioning with real processes over real TCP, and what is left of it when something is killed."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from live_bench import command, live_config
from waiting import eventually

from actuators import Status
from calibration import load_cell_calibration
from rig.cli import main
from rig.client.interruption import Interruption
from rig.commissioning import (
    Draft,
    DriveAddress,
    LegMove,
    LegResult,
    LegTest,
    ZeroOptions,
    draft_text,
    run_leg_test,
    zero_rig,
)
from rig.config.rig_config import RigConfig, load_config
from rig.engine.devices import make_drive
from rig.errors import ExitCode, HardwareError, InterruptedRunError, RefusedError
from rig.virtual import VirtualRigProcess

pytestmark = pytest.mark.realtime

PATIENT = "\n[safety]\nstale_cycles = 60\noverruns_in_a_row = 100\n"


@dataclass
class Hardware:
    """A virtual rig that stands for a real one: commands know its addresses only."""

    process: VirtualRigProcess
    config: RigConfig
    path: Path

    def status(self, leg: int) -> Status:
        """What the drive of leg 1 to 6 says of itself to whoever asks, without commanding anything."""
        drive = make_drive(self.config, leg - 1)
        try:
            drive.connect(5.0)
            return drive.observe(5.0).status
        finally:
            drive.close()

    def off(self, leg: int) -> bool:
        """Whether torque is off and the brake on."""
        status = self.status(leg)
        return bool(status & Status.BRAKE) and not status & Status.ENABLED


@pytest.fixture
def hardware(tmp_path: Path) -> Iterator[Hardware]:
    served = live_config()
    drives = tuple(DriveAddress(leg.host, leg.port) for leg in served.drives.legs)
    path = tmp_path / "rig.toml"
    path.write_text(draft_text(Draft(name="bench", drives=drives, watchdog=0.2)) + PATIENT)
    with VirtualRigProcess(served) as process:
        yield Hardware(process, load_config(path), path)


def ignore(_progress: object) -> None:
    pass


def begun(hardware: Hardware, leg: int) -> None:
    """Wait until a leg has torque."""
    eventually(lambda: bool(hardware.status(leg) & Status.ENABLED), f"torque on leg {leg}")


def test_a_leg_is_homed_and_moved_over_real_wires(hardware: Hardware) -> None:
    with pytest.raises(RefusedError, match="no reference yet"):
        run_leg_test(hardware.config, LegMove(2), Interruption(), ignore)
    phases: list[str] = []
    result = run_leg_test(
        hardware.config, LegMove(2, home=True), Interruption(), lambda progress: phases.append(progress.phase)
    )
    assert result.passed, result.faults
    assert result.reached == pytest.approx(2e-3, abs=1e-4)
    assert {"looking for the reference", "moving there", "moving back"} <= set(phases)
    assert hardware.off(2) and hardware.status(2) & Status.HOMED
    hardware.process.inject("drop_all", 4)
    config = hardware.config.changed({"drives": {"connect_timeout": 0.3}})
    with pytest.raises(HardwareError, match=r"leg 4: drive 4 .* did not answer"):
        run_leg_test(config, LegMove(2), Interruption(), ignore)


def test_the_owner_stops_it_and_falls_silent(hardware: Hardware) -> None:
    with LegTest(hardware.config, LegMove(1, home=True)) as test:
        _follow(test, hardware, 1)
        test.stop()
        result = _result(test)
        assert result.stopped and result.faults == ("stopped by the operator",)
        assert hardware.off(1) and not hardware.status(1) & Status.WATCHDOG
    with LegTest(hardware.config, LegMove(1, home=True)) as test:
        _follow(test, hardware, 1)
        eventually(lambda: hardware.off(1), "the leg to be stopped")  # no sign of life meanwhile
        assert not hardware.status(1) & Status.WATCHDOG, "it was stopped, not left to its watchdog"
        result = _result(test)
        assert result.stopped and "no sign of life of the owner" in result.faults[0]


def test_the_test_itself_is_killed_and_the_drive_stops_by_its_watchdog(hardware: Hardware) -> None:
    with LegTest(hardware.config, LegMove(1, home=True)) as test:
        _follow(test, hardware, 1)
        os.kill(test.pid or 0, signal.SIGKILL)
        eventually(lambda: hardware.off(1), "the drive to stop")
        assert hardware.status(1) & Status.WATCHDOG
        with pytest.raises(HardwareError, match="ended by itself, exit code -9"):
            _result(test)
    with pytest.raises(RefusedError, match="leg 1: no command within the watchdog time: a latched fault"):
        run_leg_test(hardware.config, LegMove(1, home=True), Interruption(), ignore)
    assert run_leg_test(hardware.config, LegMove(1, home=True, clear=True), Interruption(), ignore).passed


def _follow(test: LegTest, hardware: Hardware, leg: int) -> None:
    """Be a good owner until the leg has torque."""

    def torque() -> bool:
        test.beat()
        return bool(hardware.status(leg) & Status.ENABLED)

    eventually(torque, "torque")


def _result(test: LegTest) -> LegResult:
    found: list[LegResult] = []

    def there() -> bool:
        news = test.poll()
        if isinstance(news, LegResult):
            found.append(news)
        return bool(found)

    eventually(there, "the result")
    return found[0]


def test_the_command_is_killed_and_nothing_goes_on_moving(hardware: Hardware, tmp_path: Path) -> None:
    with command(tmp_path, "setup", "leg", "rig.toml", "3", "--home") as started:
        begun(hardware, 3)
        os.kill(started.process.pid, signal.SIGKILL)
        eventually(lambda: hardware.off(3), "the leg to be stopped")
        assert not hardware.status(3) & Status.WATCHDOG, "it was stopped, not left to its watchdog"
        eventually(lambda: not started.members(), "the test's process to end", 10.0)


def test_ctrl_c_at_the_command_stops_the_leg(hardware: Hardware, tmp_path: Path) -> None:
    with command(tmp_path, "setup", "leg", "rig.toml", "3", "--home", "--json") as started:
        begun(hardware, 3)
        started.interrupt()
        assert started.ended() == ExitCode.INTERRUPTED
        out, err = started.texts()
        assert json.loads(out)["stopped"] is True
        assert "stopped by the operator" in err
        assert hardware.off(3) and not hardware.status(3) & Status.WATCHDOG


def test_zeroing_real_cells_and_stopping_it(
    hardware: Hardware, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hardware.process.inject("cell_offset", 2, 12.0)
    assert main(["calibrate", "zero", str(hardware.path), "--apply", "--duration", "1"]) == 0
    (file,) = tmp_path.glob("cells-*.toml")
    calibration = load_cell_calibration(file)
    assert calibration.offset == pytest.approx([0.0, 12.0, 0.0, 0.0, 0.0, 0.0], abs=0.2)
    config = load_config(hardware.path)
    assert config.load_cells.calibration == file.name and config.safety.stale_cycles == 60
    assert "named in" in capsys.readouterr().out
    interruption = Interruption()

    def press(progress: object) -> None:
        if "homing" in str(progress):
            interruption.count += 1

    with pytest.raises(InterruptedRunError):
        zero_rig(config, ZeroOptions(), interruption, press)
    assert all(hardware.off(leg) for leg in range(1, 7))
    little = ["--duration", "0.5", "--largest-shift", "0.001", "-o", str(tmp_path / "x.toml")]
    assert main(["calibrate", "zero", str(hardware.path), *little]) == ExitCode.REFUSED
    assert not (tmp_path / "x.toml").exists()

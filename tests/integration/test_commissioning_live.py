"""Commissioning with real processes over real TCP, and what is left of it when something is killed."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest
from configured import GAINS, RATE
from live_bench import command, live_config
from waiting import eventually

from actuators import Status
from calibration import load_cell_calibration
from rig.cli import main
from rig.client import Interruption, LiveRig
from rig.commissioning import (
    Draft,
    DriveAddress,
    LegMove,
    LegResult,
    ZeroOptions,
    draft_text,
    leg_recording,
    record_path,
    run_leg_test,
    zero_rig,
)
from rig.config.rig_config import RigConfig, load_config
from rig.engine import Connect, MoveLeg
from rig.engine.devices import make_drive
from rig.engine.wiring import unproven
from rig.errors import ExitCode, HardwareError, InterruptedRunError, RefusedError
from rig.findings import Code, Finding
from rig.states import State
from rig.virtual import VirtualRigProcess

PATIENT = "\n[safety]\nstale_time = 1.0\noverruns_in_a_row = 200\n"
SLOW = 50.0  # Hz, at which few replies come too late on a busy machine
LOOP = "\n[control]\n" + "".join(f"{name} = {gain * SLOW / RATE}\n" for name, gain in GAINS.items())


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
    addresses = [leg.model_dump() for leg in served.drives.legs]
    drives = tuple(DriveAddress(address["host"], address["port"]) for address in addresses)
    path = tmp_path / "rig.toml"
    text = draft_text(Draft(name="bench", drives=drives, watchdog=1.0, rate=SLOW)) + LOOP + PATIENT
    path.write_text(text.replace('"recordings"', f'"{tmp_path}"'))
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
    assert main(["setup", "leg", str(hardware.path), "2"]) == ExitCode.OK  # nobody says that it was seen
    assert not record_path(hardware.config).exists()
    assert main(["setup", "leg", str(hardware.path), "2", "--seen"]) == ExitCode.OK
    serials = [f"VIRTUAL-{leg}" for leg in range(1, 7)]
    lacking = unproven(hardware.config, serials)
    assert lacking is not None and lacking.legs == (1, 3, 4, 5, 6)
    hardware.process.inject("drop_all", 4)
    config = hardware.config.changed({"drives": {"connect_timeout": 0.3}})
    with pytest.raises(HardwareError, match=r"leg 4: drive 4 .* did not answer"):
        run_leg_test(config, LegMove(2), Interruption(), ignore)


def test_the_owner_stops_it_and_falls_silent(hardware: Hardware) -> None:
    with Test(hardware) as test:
        test.rig.raise_stop_flag(1)
        result = test.result()
        assert result.stopped and result.faults == (Finding(Code.STOP_FLAG, details={"category": 1}),)
        assert hardware.off(1) and not hardware.status(1) & Status.WATCHDOG
    with Test(hardware, beating=False) as test:  # no sign of life any more
        eventually(lambda: hardware.off(1), "the leg to be stopped")
        assert not hardware.status(1) & Status.WATCHDOG, "it was stopped, not left to its watchdog"
        result = test.result()
        assert result.stopped and result.faults[0].code is Code.CLIENT_SILENT


def test_the_test_itself_is_killed_and_the_drive_stops_by_its_watchdog(hardware: Hardware) -> None:
    with Test(hardware) as test:
        os.kill(test.rig.engine.pid or 0, signal.SIGKILL)
        eventually(lambda: hardware.off(1), "the drive to stop")
        assert hardware.status(1) & Status.WATCHDOG
        with pytest.raises(HardwareError, match="the engine has died"):
            test.result()
    with pytest.raises(RefusedError, match="leg 1: the drive's own watchdog stopped it: a latched fault"):
        run_leg_test(hardware.config, LegMove(1, home=True), Interruption(), ignore)
    assert run_leg_test(hardware.config, LegMove(1, home=True, clear=True), Interruption(), ignore).passed


class Test:
    """A test of leg 1 whose leg has torque, by an engine of its own; a context manager."""

    __test__ = False

    def __init__(self, hardware: Hardware, *, beating: bool = True) -> None:
        recording = leg_recording(hardware.config, LegMove(1))
        self.rig = LiveRig(hardware.config, recording, "a test", beating=beating)
        try:
            self.rig.beat()
            self.rig.request(Connect())
            eventually(self._idle, "state IDLE")
            self.rig.request(MoveLeg(1, 2e-3, 5e-3, home=True))
            eventually(lambda: self._begun(hardware), "torque on leg 1")
        except BaseException:
            self.rig.close()
            raise

    def _begun(self, hardware: Hardware) -> bool:
        self.rig.beat()  # silent from here on, not before
        return bool(hardware.status(1) & Status.ENABLED)

    def _idle(self) -> bool:
        self.rig.beat()
        return self.rig.status().state is State.IDLE

    def result(self) -> LegResult:
        def there() -> bool:
            test = self.rig.status().leg_test
            return test is not None and test.result is not None

        eventually(there, "the result")
        test = self.rig.status().leg_test
        assert test is not None and test.result is not None
        return test.result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.rig.close()


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
        assert "operator's stop, category 1" in err
        assert hardware.off(3) and not hardware.status(3) & Status.WATCHDOG


def test_zeroing_real_cells_and_stopping_it(
    hardware: Hardware, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hardware.process.inject("cell_offset", 2, 12.0)
    zero = ["calibrate", "zero", str(hardware.path), "--duration", "1", "--apply"]
    assert main(zero) == ExitCode.REFUSED
    refusal = capsys.readouterr().err
    assert "no test is on record" in refusal and "--unproven homes without" in refusal
    assert main([*zero, "--unproven"]) == ExitCode.OK
    (file,) = tmp_path.glob("cells-*.toml")
    calibration = load_cell_calibration(file)
    assert calibration.offset == pytest.approx([0.0, 12.0, 0.0, 0.0, 0.0, 0.0], abs=0.2)
    config = load_config(hardware.path)
    assert config.load_cells.calibration == file.name and config.safety.stale_time == 1.0
    assert "named in" in capsys.readouterr().out
    interruption = Interruption()

    def press(progress: object) -> None:
        if "homing" in str(progress):
            interruption.count += 1

    with pytest.raises(InterruptedRunError):
        zero_rig(config, ZeroOptions(), interruption, press, unproven=True)
    assert all(hardware.off(leg) for leg in range(1, 7))
    little = ["--unproven", "--duration", "0.5", "--largest-shift", "0.001", "-o", str(tmp_path / "x.toml")]
    assert main(["calibrate", "zero", str(hardware.path), *little]) == ExitCode.REFUSED
    assert not (tmp_path / "x.toml").exists()

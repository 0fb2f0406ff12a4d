"""`rig calibrate cells CONFIG`: cells behind real Modbus TCP loaded at the prompts, and the virtual rig's own."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bench_cells import Bench, servos, write_config
from device_server import served
from drive_support import Stand

from actuators import (
    ActuatorError,
    AmplifierProfile,
    LinkClosedError,
    Responder,
    VirtualAmplifier,
    load_profile,
)
from calibration import CalibrationError, load_cell_calibration
from rig.cli.calibrate import app
from rig.config.rig_config import load_config
from rig.engine.drive_lock import claim_drives
from rig.errors import HardwareError, InputError, RefusedError

MASSES = (0.0, 5.0, 10.0)
LOADS = [(cell, mass) for cell in range(1, 7) for mass in MASSES]
OPTIONS = ("--masses", "0,5,10", "--samples", "20", "-o", "cells.toml")


class Operator(io.StringIO):
    """Standard input of a person who does what the prompts ask, in the order in which they must come."""

    def __init__(self, cells: list[Bench], sign: float = 1.0) -> None:
        super().__init__()
        self.cells, self.sign = cells, sign
        self.todo = [(0, 0.0), *LOADS, (0, 0.0)]
        self.before: Callable[[int], None] = lambda step: None
        self.step = 0

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        self.before(self.step)
        self.step += 1
        cell, mass = self.todo.pop(0)
        for leg, bench in enumerate(self.cells, start=1):
            bench.force = self.sign * mass * 9.80665 if leg == cell else 0.0
        return "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cells() -> list[Bench]:
    return [Bench(leg) for leg in range(6)]


@pytest.fixture
def operator(cells: list[Bench], monkeypatch: pytest.MonkeyPatch) -> Operator:
    person = Operator(cells)
    monkeypatch.setattr("sys.stdin", person)
    return person


def calibrate(*arguments: str) -> None:
    app(["cells", *arguments], standalone_mode=False)


def check(cells: list[Bench], path: Path) -> None:
    calibration = load_cell_calibration(path)
    for bench, gain, offset, cell in zip(cells, calibration.gain, calibration.offset, calibration.cells, strict=True):
        # the wire rounds to 1 mN, far below the noise
        assert abs(gain - 1.0 / bench.sensitivity) < 4.5 * cell.gain_standard_error
        assert abs(offset - bench.bias) < 4.5 * cell.offset_standard_error
        assert cell.gain_standard_error < 1e-3


def test_cells_of_six_drives(
    folder: Path, cells: list[Bench], operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(servos(cells)) as ports:
        write_config(folder / "bench.toml", ports)
        calibrate("bench.toml", *OPTIONS)
    check(cells, folder / "cells.toml")
    assert operator.todo == []
    assert not any(bench.powered for bench in cells)
    output = capsys.readouterr()
    assert output.err.startswith("Take everything off all six cells")
    assert "Cell 6: Put 10 kg on it, in all." in output.err
    assert output.out.count(" ok ") == 6
    assert load_cell_calibration(folder / "cells.toml").provenance.source == "rig bench"


def test_a_program_is_told_each_question_and_step_in_a_line(
    folder: Path, cells: list[Bench], operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(servos(cells)) as ports:
        write_config(folder / "bench.toml", ports)
        calibrate("bench.toml", "--look", *OPTIONS)
        assert operator.step == 0 and not (folder / "cells.toml").exists()
        looked = capsys.readouterr().out
        calibrate("bench.toml", "--progress", *OPTIONS)
    assert looked == (
        "six cells of the rig bench in its drives, which stay off: 18 times a mass is to be changed by hand\n"
    )
    lines = capsys.readouterr().err.splitlines()
    assert lines[:4] == [
        "? Take everything off all six cells; none may carry its leg or the platform.",
        "… reading all cells without load: 0 %",
        "? Cell 1: take everything off.",
        "… reading cell 1 under 0 kg: 5 %",
    ]
    assert len([line for line in lines if line.startswith("? ")]) == len(LOADS) + 2


def test_cells_of_an_amplifier_under_hung_masses(
    folder: Path, cells: list[Bench], operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    operator.sign = -1.0
    amplifier = VirtualAmplifier(load_profile("generic-amplifier", AmplifierProfile), cells)
    with served([amplifier]) as ports:
        write_config(folder / "bench.toml", list(range(1, 7)), ports[0])
        with claim_drives(load_config("bench.toml")):  # the drives are not touched
            calibrate("bench.toml", *OPTIONS, "--load", "tension", "--json")
    check(cells, folder / "cells.toml")
    output = capsys.readouterr()
    assert "Cell 1: Hang 5 kg on it" in output.err
    assert json.loads(output.out)["verdict"] == "ok"


def test_dead_cell_is_named(folder: Path, cells: list[Bench], operator: Operator) -> None:
    cells[3].dead = True
    with (
        served(servos(cells)) as ports,
        pytest.raises(CalibrationError, match=r"^cell 4: reading not finite without load$"),
    ):
        write_config(folder / "bench.toml", ports)
        calibrate("bench.toml", *OPTIONS)
    assert not (folder / "cells.toml").exists()


def test_silent_drive_is_named(folder: Path, operator: Operator) -> None:
    write_config(folder / "bench.toml", list(range(1, 7)))
    with pytest.raises(ActuatorError, match=r"drive 1: .*127\.0\.0\.1:1"):
        calibrate("bench.toml", *OPTIONS)
    assert operator.step == 0
    assert not (folder / "cells.toml").exists()


def test_drives_that_another_process_commands_are_left_alone(
    folder: Path, cells: list[Bench], operator: Operator
) -> None:
    with served(servos(cells)) as ports:
        write_config(folder / "bench.toml", ports)
        claim = claim_drives(load_config("bench.toml"))
        with claim, pytest.raises(HardwareError, match=r"leg 1: another program .* commands the drive"):
            calibrate("bench.toml", *OPTIONS)
        assert operator.step == 0
        calibrate("bench.toml", *OPTIONS)


def test_a_folder_that_takes_no_file_is_said_before_a_mass_is_hung(
    folder: Path, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(folder / "bench.toml", list(range(1, 7)))
    monkeypatch.setattr(os, "access", lambda *_arguments: False)  # whoever may do anything sees no other way
    with pytest.raises(InputError, match=r"cannot write cells\.toml: permission denied"):
        calibrate("bench.toml", *OPTIONS)
    assert operator.step == 0


class Flawed(Stand):
    """A device with a flaw: `mute` it stays silent, `closing` it closes the connection at the next request."""

    def __init__(self, device: Responder) -> None:
        self.device = device
        self.mute = self.closing = False

    def tick(self, now: float) -> None:
        self.device.tick(now)

    def respond(self, adu: bytes) -> bytes:
        if self.closing:
            self.closing = False
            raise LinkClosedError
        return b"" if self.mute else self.device.respond(adu)


def test_drive_that_goes_silent_is_named(folder: Path, cells: list[Bench], operator: Operator) -> None:
    devices = [Flawed(device) for device in servos(cells)]

    def fail(step: int) -> None:
        devices[4].mute = step == 7

    operator.before = fail
    with (
        served(list(devices)) as ports,
        pytest.raises(HardwareError, match=r"^drive 5: no fresh load-cell reading for 1 s$"),
    ):
        write_config(folder / "bench.toml", ports)
        calibrate("bench.toml", *OPTIONS)
    assert [entry.name for entry in folder.iterdir()] == ["bench.toml"]


def test_drive_that_hangs_up_while_a_mass_is_fetched_is_called_again(
    folder: Path, cells: list[Bench], operator: Operator
) -> None:
    devices = [Flawed(device) for device in servos(cells)]

    def hang_up(step: int) -> None:
        devices[1].closing = step == 5

    operator.before = hang_up
    with served(list(devices)) as ports:
        write_config(folder / "bench.toml", ports)
        calibrate("bench.toml", *OPTIONS)
    check(cells, folder / "cells.toml")


@pytest.mark.parametrize("step", [0, 8])
def test_interruption_writes_nothing(folder: Path, cells: list[Bench], operator: Operator, step: int) -> None:
    def interrupt(now: int) -> None:
        if now == step:
            raise KeyboardInterrupt

    operator.before = interrupt
    with served(servos(cells)) as ports:
        write_config(folder / "bench.toml", ports)
        with pytest.raises(SystemExit) as caught:
            app(["cells", "bench.toml", *OPTIONS])
    assert caught.value.code == 130
    assert [entry.name for entry in folder.iterdir()] == ["bench.toml"]


def test_end_of_input_writes_nothing(folder: Path, cells: list[Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n\n"))
    with served(servos(cells)) as ports, pytest.raises(InputError, match="standard input ended"):
        write_config(folder / "bench.toml", ports)
        calibrate("bench.toml", *OPTIONS)
    assert [entry.name for entry in folder.iterdir()] == ["bench.toml"]


VIRTUAL = """
name = "trial"
mechanism = "lab-hexapod"
[drives]
legs = [{legs}]
{cells}
[virtual]
seed = {seed}
[virtual.cells]
gain = [1.02, -0.95, 1.0, 0.9, 1.1, -1.0]
bias = [3.0, -20.0, 0.0, 7.5, 1.0, -2.0]
noise = 0.5
drift = [{drift}, 0.0, 0.0, 0.0, 0.0, 0.0]
"""
GAIN = np.array([1.02, -0.95, 1.0, 0.9, 1.1, -1.0])
BIAS = np.array([3.0, -20.0, 0.0, 7.5, 1.0, -2.0])
AMPLIFIER = '[load_cells]\nsource = "amplifier"\namplifier = { host = "127.0.0.1", port = 15020 }'


def write_virtual(path: Path, *, seed: int = 1, drift: float = 0.0, cells: str = "") -> None:
    legs = ", ".join(f'{{ host = "127.0.0.1", port = {15021 + leg} }}' for leg in range(6))
    path.write_text(VIRTUAL.format(legs=legs, seed=seed, drift=drift, cells=cells))


@pytest.mark.parametrize(("seed", "load"), [(1, "compression"), (2, "tension")])
@pytest.mark.parametrize("cells", ["", AMPLIFIER], ids=["drives", "amplifier"])
def test_virtual_rig_gives_its_gain_and_bias_away(folder: Path, seed: int, load: str, cells: str) -> None:
    write_virtual(folder / "trial.toml", seed=seed, cells=cells)
    calibrate("trial.toml", "--load", load, "--samples", "50", "-o", "cells.toml")
    calibration = load_cell_calibration(folder / "cells.toml")
    gain_error = np.array([cell.gain_standard_error for cell in calibration.cells])
    offset_error = np.array([cell.offset_standard_error for cell in calibration.cells])
    assert (np.abs(calibration.gain - 1.0 / GAIN) < 4.0 * gain_error).all()
    assert (np.abs(calibration.offset - BIAS) < 4.0 * offset_error).all()
    assert (gain_error < 1e-3).all()
    assert calibration.tare_before is not None
    assert calibration.tare_before.noise == pytest.approx(np.full(6, 0.5), rel=0.5)
    assert calibration.provenance.source == "virtual rig trial"


def test_drifting_virtual_cell_is_refused(folder: Path) -> None:
    write_virtual(folder / "trial.toml", drift=0.5)
    with pytest.raises(RefusedError, match=r"cell 1: the zero drifted by \+[0-9.]+ N, allowed") as caught:
        calibrate("trial.toml", "--masses", "0,10,20", "--samples", "50", "-o", "cells.toml")
    assert "cell 2" not in str(caught.value)
    assert not (folder / "cells.toml").exists()


def test_shipped_virtual_rig_twice_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for name in ("a.toml", "b.toml"):
        calibrate("virtual", "--masses", "0,10,20", "--samples", "20", "--date", "2026-11-21", "-o", name, "--json")
        answers.append(json.loads(capsys.readouterr().out)["cells"])
    assert answers[0] == answers[1]
    assert (folder / "a.toml").read_bytes() == (folder / "b.toml").read_bytes()

"""`rig setup new` for drives on serial ports."""

from pathlib import Path

import pytest

from rig.cli import main
from rig.config import load_config
from rig.errors import ExitCode


def new(here: Path, drives: list[str], *more: str) -> int:
    return main(["setup", "new", str(here / "rig.toml"), *(part for one in drives for part in ("--drive", one)), *more])


def test_serial_ports_with_baud_and_unit(here: Path) -> None:
    drives = [f"/dev/serial/by-id/usb-a@230400:{unit}" for unit in (1, 2, 3)]
    drives += [f"/dev/serial/by-id/usb-b@230400:{unit}" for unit in (1, 2, 3)]
    assert new(here, drives, "--driver", "iai", "--mode", "position", "--rate", "50") == ExitCode.OK
    config = load_config(here / "rig.toml")
    assert [(leg.place[-5:], leg.unit) for leg in config.drives.legs] == [
        ("usb-a", 1), ("usb-a", 2), ("usb-a", 3), ("usb-b", 1), ("usb-b", 2), ("usb-b", 3),
    ]  # fmt: skip


def test_the_usual_baud_and_unit_may_be_left_out(here: Path) -> None:
    assert new(here, [f"/dev/motor-{leg}" for leg in range(1, 7)], "--driver", "orca") == ExitCode.OK
    assert load_config(here / "rig.toml").drives.legs[5].place == "/dev/motor-6"


def test_what_is_neither_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new(here, ["/dev/a@12"] * 6) == ExitCode.INPUT
    assert "'/dev/a@12' is not HOST:PORT" in capsys.readouterr().err

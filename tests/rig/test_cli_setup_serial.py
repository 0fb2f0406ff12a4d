"""`rig setup new` for drives on serial ports."""

from pathlib import Path

import pytest

from actuators import CanEndpoint, SerialEndpoint
from rig.cli import main
from rig.config import load_config
from rig.errors import ExitCode


def new(here: Path, drives: list[str], *more: str) -> int:
    addresses = [part for one in drives for part in ("--drive", one)]
    return main(["setup", "new", str(here / "rig.toml"), *addresses, "--amplifier", "127.0.0.1:15030", *more])


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


def test_the_frame_of_a_byte_and_settings_of_the_driver(here: Path) -> None:
    drives = [f"/dev/jrk-{leg}@115200-8N1:11" for leg in range(1, 7)]
    own = ("--set", "stroke=0.25", "--set", " crc = true", "--set", "home=2000", "--offset", "380 mm")
    assert new(here, drives, "--driver", "jrk-g2", "--mode", "position", "--rate", "50", *own) == ExitCode.OK
    config = load_config(here / "rig.toml")
    assert config.drives.legs[2].endpoint == SerialEndpoint("/dev/jrk-3", 115_200, "none", 1)
    settings = config.drives.settings_of(5)
    assert (settings["stroke"], settings["crc"], settings["home"]) == (0.25, True, 2000)
    assert {leg.position_offset for leg in config.drives.legs} == {0.38}
    lengths = ("--offset", "380 mm,381 mm,0.382,383 mm,384 mm,0.385", "--overwrite")
    assert new(here, drives, "--driver", "jrk-g2", "--mode", "position", "--rate", "50", *lengths) == ExitCode.OK
    legs = load_config(here / "rig.toml").drives.legs
    assert [leg.position_offset for leg in legs] == pytest.approx([0.38, 0.381, 0.382, 0.383, 0.384, 0.385])


def test_an_amplifier_on_a_serial_port(here: Path) -> None:
    drives = [f"/dev/motor-{leg}" for leg in range(1, 7)]
    assert new(here, drives, "--driver", "orca", "--amplifier", "/dev/cells@115200-8N1:3") == ExitCode.OK
    amplifier = load_config(here / "rig.toml").load_cells.amplifier
    assert amplifier is not None
    assert (amplifier.endpoint, amplifier.unit) == (SerialEndpoint("/dev/cells", 115_200, "none", 1), 3)


@pytest.mark.parametrize(
    ("option", "address", "words"),
    [
        ("--drive", "/dev/ttyUSB0:1", "'/dev/ttyUSB0:1' has no baud rate: /dev/ttyUSB0@19200-8E1:1"),
        ("--amplifier", "/dev/ttyUSB0:12", "'/dev/ttyUSB0:12' has no baud rate: /dev/ttyUSB0@19200-8E1:12"),
        ("--amplifier", "dev/ttyUSB0@19200:1", "'dev/ttyUSB0@19200:1' is not HOST:PORT or HOST:PORT:UNIT"),
    ],
)
def test_an_address_that_would_be_read_as_another_one_is_refused(
    option: str, address: str, words: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drives = [f"/dev/motor-{leg}" for leg in range(1, 7)]
    given = [address, *drives[1:]] if option == "--drive" else drives
    assert new(here, given, "--driver", "orca", *(() if option == "--drive" else (option, address))) == ExitCode.INPUT
    assert words in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not (here / "rig.toml").exists()


def test_nodes_of_a_can_bus(here: Path) -> None:
    drives = [f"can://socketcan/can0@500000:{node}" for node in range(11, 14)]
    drives += [f"can://socketcan/can1:{node}" for node in range(1, 4)]
    assert new(here, drives, "--driver", "canopen", "--mode", "position", "--rate", "100") == ExitCode.OK
    legs = load_config(here / "rig.toml").drives.legs
    assert [(leg.endpoint, leg.unit) for leg in legs] == [
        *((CanEndpoint("can://socketcan/can0", 500_000, "none"), node) for node in (11, 12, 13)),
        *((CanEndpoint("can://socketcan/can1", 1_000_000, "none"), node) for node in (1, 2, 3)),
    ]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--set", "strok=0.2"), "driver jrk-g2 has no 'strok'; it has turnaround, reply_timeout, crc, stroke"),
        (("--set", "stroke"), "--set 'stroke': give NAME=VALUE"),
        (("--set", "stroke="), "--set 'stroke=': give NAME=VALUE"),
        (("--set", "stroke=-1"), "drives.stroke: must be at least 0.001, not -1"),
        (("--set", "driver=servo"), "driver jrk-g2 has no 'driver'"),
        (("--set", "home=1", "--set", "home=2"), "--set 'home=2': home is given twice"),
        (("--set", "home=1", "--driver", "nobody"), "no driver 'nobody'"),
        (("--set", "profile=x", "--driver", "servo"), "driver servo; the option is --profile"),
        (("--offset", "1,2"), "2 lengths, must be one or six"),
        (("--offset", "380 mN"), "380 mN"),
        (("--set", "stroke=0.1", "--offset", "0.4"), "leg 1: its drive accepts 0.4 to 0.5 m"),
        (("--set", "stroke=0.1"), "position_offset (now 0 m) is the leg's length where the drive reads zero, and at"),
        (("--set", "stroke=0.1"), "at home the leg is 0.494211 m long"),
    ],
)
def test_settings_that_cannot_be(
    here: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], words: str
) -> None:
    drives = [f"/dev/jrk-{leg}" for leg in range(1, 7)]
    assert new(here, drives, "--driver", "jrk-g2", "--mode", "position", *more) == ExitCode.INPUT
    assert words in capsys.readouterr().err
    assert not (here / "rig.toml").exists()


@pytest.mark.parametrize("text", ["/dev/a@12", "/dev/a@19200-8E3:1", "/dev/a@19200-7E1:1", "/dev/a b:1"])
def test_what_is_no_port_is_refused(here: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert new(here, [text] * 6) == ExitCode.INPUT
    assert f"'{text}' is not /dev/" in capsys.readouterr().err.replace("\n", "")
    assert not (here / "rig.toml").exists()


def test_a_unit_that_is_left_out_is_the_drivers_usual_one(here: Path) -> None:
    drives = [f"/dev/jrk-{leg}@9600-8n1" for leg in range(1, 7)]
    more = ("--driver", "jrk-g2", "--mode", "position", "--rate", "50", "--offset", "364 mm", "--set", "stroke=0.26")
    assert new(here, drives, *more) == ExitCode.OK
    assert {leg.unit for leg in load_config(here / "rig.toml").drives.legs} == {11}

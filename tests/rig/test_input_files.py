"""What no input file may be, whoever reads it: a device, a pipe, endless, nested without end, a number without end."""

import os
import pickle
import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from actuators import ConfigurationError, ServoProfile, load_profile
from calibration import CalibrationFileError, load_cell_calibration, read_cell_measurements
from dynamics import MechanismError, load_mechanism
from kinematics import MOST_BYTES, InputFileError, TrajectoryError, load_trajectory, parse_toml, read_poses
from kinematics.inputs import files
from rig.cli import main
from rig.commissioning import name_calibration
from rig.config.rig_config import load_config
from rig.csvio import POSE, Table, read_table
from rig.errors import ExitCode, InputError
from rig.services.geometry_tables import read_measurements

HOME = load_config().machine.geometry.home_pose
SHIPPED = load_config().path.read_text(encoding="utf-8")


def read_trajectory(path: Path) -> None:
    load_trajectory(path, HOME)


def read_profile(path: Path) -> None:
    load_profile(path, ServoProfile)


def read_motion_table(path: Path) -> None:
    read_table(path, POSE)


def read_calibration_of_config(path: Path) -> None:
    """As a configuration names it."""
    config = Path.cwd() / "rig.toml"
    config.write_text(SHIPPED.replace('# calibration = "cells.toml"', f"calibration = '{path}'"))
    load_config(config)


TOML: list[tuple[Callable[[Path], object], type[Exception]]] = [
    (load_config, InputError),
    (load_mechanism, MechanismError),
    (load_cell_calibration, CalibrationFileError),
    (read_trajectory, TrajectoryError),
    (read_profile, ConfigurationError),
    (lambda path: name_calibration(path, "cells.toml"), InputError),
]
EVERY = [
    *TOML,
    (read_poses, TrajectoryError),
    (read_motion_table, InputError),
    (read_cell_measurements, CalibrationFileError),
    (read_calibration_of_config, InputError),
]
NAMES = [
    *("configuration", "mechanism", "calibration", "trajectory", "profile", "naming"),
    *("poses", "motion", "measurements", "calibration-of-configuration"),
]

HOSTILE = {
    "arrays": "a = " + "[" * 1000 + "]" * 1000,
    "arrays over lines": "a = " + "[\n" * 1000 + "]\n" * 1000,
    "tables": "a = " + "{a = " * 1000 + "1" + "}" * 1000,
    "open": "a = " + "[" * 60_000,
    "dotted": "a." * 30_000 + "a = 1",
    "digits": "a = " + "9" * 5000,
    "fewer digits": "a = " + "9" * 4000,
    "hexadecimal": "a = 0x" + "f" * 50_000,
    "name of a number": "name = " + "9" * 4000,
    "no date": "a = 2026-02-31",
    "null": 'name = "\\u0000"\nmechanism = "\\u0000.toml"',
}


@pytest.mark.parametrize(("read", "error"), EVERY, ids=NAMES)
def test_only_regular_files_are_read(
    here: Path, read: Callable[[Path], object], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PIPE_PATIENCE", 0.05)  # for who reads tables: into this one nothing is ever written
    os.mkfifo(here / "pipe.toml")
    (here / "folder.toml").mkdir()
    (here / "zero.toml").symlink_to("/dev/zero")
    for name in ("pipe.toml", "folder.toml", "zero.toml", "gone.toml", "no\0name.toml", "x" * 300 + ".toml"):
        begun = time.monotonic()
        with pytest.raises(error) as caught:
            read(here / name)
        assert len(str(caught.value)) < 1000
        assert name[0] not in "pfz" or "regular file" in str(caught.value) or "nothing is written" in str(caught.value)
        assert time.monotonic() - begun < 5.0


TABLES: list[tuple[Callable[[Path], Any], str]] = [
    (read_poses, "t,x,y,z,qw,qx,qy,qz\n0,0,0,0.5,1,0,0,0\n1,0,0,0.5,1,0,0,0\n"),
    (lambda path: read_table(path, POSE), "t,x,y,z,qw,qx,qy,qz\n0,0,0,0.5,1,0,0,0\n"),
    (lambda path: read_measurements(path, "none", None), "l1,l2,l3,l4,l5,l6,rx,ry\n" + "0.5,0.5,0.5,0.5,0.5,0.5,0,0\n"),
    (
        read_cell_measurements,
        "\n".join(
            [
                "cell,mass,reading,phase",
                *(f"{cell},0,{n},tare_before" for cell in range(1, 7) for n in (1, 2)),
                *(
                    f"{cell},{mass},{10 * mass + n},load"
                    for cell in range(1, 7)
                    for mass in (1, 2, 3)
                    for n in (0, 0.1)
                ),
                *(f"{cell},0,{n},tare_after" for cell in range(1, 7) for n in (1, 2)),
            ]
        ),
    ),
]


@pytest.mark.parametrize(("read", "text"), TABLES, ids=["poses", "motion", "geometry", "measurements"])
def test_a_table_comes_out_of_a_pipe_as_out_of_a_file(here: Path, read: Callable[[Path], Any], text: str) -> None:
    """Of a FIFO, of /dev/stdin behind another command, and of a shell's <(command), which is a /dev/fd."""
    (here / "table.csv").write_text(text)
    expected = read(here / "table.csv")
    os.mkfifo(here / "fifo.csv")
    with ThreadPoolExecutor() as pool:
        written = pool.submit((here / "fifo.csv").write_text, text)  # waits for who reads
        found = read(here / "fifo.csv")
        written.result(60.0)
    ends = os.pipe()
    os.write(ends[1], text.encode())
    os.close(ends[1])
    substituted = read(Path(f"/dev/fd/{ends[0]}"))
    os.close(ends[0])
    assert pickle.dumps(_plain(found)) == pickle.dumps(_plain(substituted)) == pickle.dumps(_plain(expected))


def _plain(read: Any) -> Any:
    """What was read, without the path that it was read from."""
    return replace(read, path=Path()) if isinstance(read, Table) else read


def test_a_motion_out_of_a_pipe_is_poses_unless_its_name_says_another() -> None:
    """A shell's <(command) has a name without an ending."""
    begun, end = os.pipe()
    rows = "".join(f"{t},{HOME[0]},{HOME[1]},{HOME[2]},1,0,0,0\n" for t in (0, 1, 2, 3))
    os.write(end, f"t,x,y,z,qw,qx,qy,qz\n{rows}".encode())
    os.close(end)
    assert load_trajectory(f"/dev/fd/{begun}", HOME).duration == 3.0
    os.close(begun)


def test_a_pipe_without_end_and_one_that_falls_silent_are_given_up(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, end = os.pipe()
    os.write(end, b"t,x,y,z,qw,qx,qy,qz\n")
    monkeypatch.setattr(files, "PIPE_PATIENCE", 0.05)
    with pytest.raises(TrajectoryError, match=r"nothing is written for 0\.05 s"):
        read_poses(Path(f"/dev/fd/{begun}"))
    os.write(end, b"0" * 20_000)
    with pytest.raises(InputFileError, match="more than 10000 bytes"), files.open_table(f"/dev/fd/{begun}", 10_000):
        pass
    os.close(begun)
    os.close(end)


@pytest.mark.parametrize(("read", "error"), EVERY, ids=NAMES)
def test_a_file_without_end_is_refused_by_its_size(
    here: Path, read: Callable[[Path], object], error: type[Exception]
) -> None:
    path = here / "large.toml"
    with path.open("w") as file:
        file.truncate(10**12)  # takes no room
    with pytest.raises(error, match="bytes"):
        read(path)


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(("read", "error"), TOML, ids=NAMES[: len(TOML)])
def test_hostile_toml_is_refused(
    here: Path, content: str, read: Callable[[Path], object], error: type[Exception]
) -> None:
    path = here / "hostile.toml"
    path.write_text(content)
    begun = time.monotonic()
    with pytest.raises(error) as caught:
        read(path)
    assert len(str(caught.value)) < 2000
    assert time.monotonic() - begun < 5.0


def test_a_number_of_a_profile_that_is_not_finite_is_refused(here: Path) -> None:
    text = (resources.files("actuators.profiles") / "generic-servo.toml").read_text(encoding="utf-8")
    numbers = list(re.finditer(r"(?<=[=:] )-?\d[\d.e-]*(?=[ ,}\n])", text))
    assert len(numbers) > 30
    for number in numbers:
        for value in ("inf", "-inf", "nan", "1e400", "1e300"):
            (here / "drive.toml").write_text(text[: number.start()] + value + text[number.end() :])
            with pytest.raises(ConfigurationError, match=r"drive\.toml:\n  \S+: "):
                read_profile(here / "drive.toml")


def test_nesting_is_bounded_where_it_is_no_recursion_of_the_parser() -> None:
    assert parse_toml("a." * 15 + "a = 1")
    assert parse_toml("a = " + "[" * 15 + "]" * 15)
    for text in ("a." * 17 + "a = 1", '"a" . ' * 17 + "a = 1", "a = " + "[" * 17 + "]" * 17, "[" + "a." * 17 + "a]"):
        with pytest.raises(InputFileError, match="nested more than 16 deep"):
            parse_toml(text)
    with pytest.raises(InputFileError, match="at most"):
        parse_toml("#" * (MOST_BYTES + 1))


def test_a_file_with_a_byte_order_mark_and_foreign_line_ends_is_read(here: Path) -> None:
    (here / "rig.toml").write_bytes(b"\xef\xbb\xbf" + SHIPPED.replace("\n", "\r\n").encode())
    assert load_config(here / "rig.toml").resolved() == load_config().resolved()


@pytest.mark.parametrize(
    "entry", ['name = "a\\u0000b"', 'mechanism = "a\\u0000.toml"', 'recording.directory = "a\\u0000"']
)
def test_a_null_character_in_a_text_is_refused(here: Path, entry: str) -> None:
    key = entry.partition(" ")[0]
    if "." in key:
        text = SHIPPED.replace('directory = "recordings"', 'directory = "a\\u0000"')
    else:
        text = "\n".join(entry if line.startswith(f"{key} =") else line for line in SHIPPED.splitlines())
    (here / "rig.toml").write_text(text)
    with pytest.raises(InputError, match=rf"{key}: "):
        load_config(here / "rig.toml")


@pytest.mark.parametrize("what", ["check", "inverse", "trajectory"])
def test_commands_end_with_the_code_for_a_wrong_file(here: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(Path(str(resources.files("kinematics") / "trajectories" / "demo.toml")), here / "demo.toml")
    (here / "deep.toml").write_text(HOSTILE["arrays"])
    arguments = {
        "check": ["check", "deep.toml"],
        "inverse": ["inverse", "deep.toml", "demo.toml", "-o", "out.csv"],
        "trajectory": ["check", "virtual", "deep.toml"],
    }
    assert main(arguments[what]) == ExitCode.INPUT
    printed = capsys.readouterr()
    assert "deep.toml" in printed.err and "nested more than 16 deep" in printed.err

"""The way of a set-point from a script's `run` to the bytes on the wire: the files that the architecture page lists."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import rig
from kinematics import Harmonic, HarmonicTerm, Placement
from rig.config import load_config

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "architecture.md"
MOST = 24
STATIONS = {
    ("rig/client/motions.py", "checked_motion"): "the motion is checked as a table",
    ("kinematics/trajectories/table.py", "tabulate"): "as a table",
    ("rig/engine/reference.py", "follow"): "the engine takes it over",
    ("rig/engine/reference.py", "evaluate"): "the reference of a cycle",
    ("rig/safety/limits.py", "accept"): "its check",
    ("rig/engine/cycle_data.py", "foresee"): "and that of the next one",
    ("rig/engine/laws/force.py", "compute"): "the law's forces",
    ("rig/engine/laws/force.py", "commands"): "six commands",
    ("actuators/servo_group.py", "exchange"): "registers of six drives",
    ("actuators/wire.py", "send"): "bytes",
}
"""Functions that have a set-point in hand, one after the other."""


@contextmanager
def traced(files: set[str], met: set[tuple[str, str]]) -> Iterator[None]:
    """Collect the project's files on the stack whenever a station is called."""

    def look(frame: FrameType, event: str, _argument: object) -> None:
        if event != "call":
            return
        name = frame.f_code.co_name
        if not any(name == function for _file, function in STATIONS):
            return
        station = (_file(frame), name)
        if station not in STATIONS:
            return
        met.add(station)
        above: FrameType | None = frame
        while above is not None:
            file = _file(above)
            if file and not file.startswith(("tests/", ".venv/")):
                files.add(file)
            above = above.f_back

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)


def _file(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""


def listed() -> set[str]:
    """The files that the page lists for a set-point."""
    section = PAGE.read_text(encoding="utf-8").split("### A set-point's way to the wire")[1].split("\n### ")[0]
    return set(re.findall(r"^\d+\. `([a-z0-9_/]+\.py)`", section, re.MULTILINE))


def test_a_set_point_passes_the_files_that_the_page_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config("virtual")
    home = Placement("home", home=config.machine.geometry.home_pose)
    path = Harmonic([HarmonicTerm("z", 2e-3, 1.0)], 0.5, 0.2, placement=home)
    files: set[str] = set()
    met: set[tuple[str, str]] = set()
    with rig.open(config, lockstep=True, output=tmp_path) as robot:
        robot.home()
        robot.engage()
        with traced(files, met):
            robot.run(path)
    assert met == set(STATIONS)
    assert len(files) <= MOST
    assert files == listed()

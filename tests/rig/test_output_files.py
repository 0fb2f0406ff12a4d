"""Files that are written: whole or not at all, never through a link that another user planted, recordings private."""

import csv
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from engine_support import bench

from dynamics import load_mechanism, pose_limits
from kinematics import PoseGrid
from rig.cli import main
from rig.csvio import check_folder, check_output, whole_binary_file, whole_file, write_table
from rig.errors import ExitCode, InputError
from rig.recording import recover
from rig.workspace.sweep import FILES, sweep_workspace, write_workspace

MALLORY = 12345


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Path], None]:
    """Puts a link to a file where another one is going to be written, as another user."""

    def plant(link: Path, target: Path) -> None:
        link.symlink_to(target)
        if os.geteuid() == 0:
            os.lchown(link, MALLORY, -1)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: MALLORY)  # and this user is the other one

    return plant


def _table(path: Path) -> None:
    write_table(path, ("t",), np.zeros((2, 1)))


def _text(path: Path) -> None:
    with whole_file(path) as file:
        file.write("new")


def _bytes(path: Path) -> None:
    with whole_binary_file(path) as file:
        file.write(b"new")


@pytest.mark.parametrize("write", [_table, _text, _bytes, check_output])
def test_a_planted_link_is_refused_and_its_target_untouched(
    tmp_path: Path, planted: Callable[[Path, Path], None], write: Callable[[Path], None]
) -> None:
    target, link = tmp_path / "precious", tmp_path / "report.html"
    target.write_text("old")
    planted(link, target)
    with pytest.raises(InputError, match=r"cannot write .*report.html: .* is a symbolic link that user \d+ has put"):
        write(link)
    assert target.read_text() == "old" and link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious", "report.html"]


def test_a_report_does_not_follow_a_planted_link(
    tmp_path: Path, planted: Callable[[Path, Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with bench(tmp_path) as rig:
        rig.engine.sink = rig.sink
        rig.park()
    target = tmp_path / "precious"
    target.write_text("old")
    planted(tmp_path / "engine.html", target)
    planted_table = tmp_path / "engine.csv"
    planted_table.symlink_to(target)
    if os.geteuid() == 0:
        os.lchown(planted_table, MALLORY, -1)
    for command in ("report", "export"):
        assert main([command, str(tmp_path / "engine.mcap")]) == ExitCode.INPUT
        assert "is a symbolic link that user" in capsys.readouterr().err
    assert target.read_text() == "old"


def test_ones_own_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "report.html"
    link.symlink_to(Path("there") / "real.html")
    _text(link)
    assert link.is_symlink() and (tmp_path / "there" / "real.html").read_text() == "new"
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["real.html"]


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InputError, match="more than 40 symbolic links"):
        check_output(tmp_path / "a")


def test_a_pipe_behind_a_link_of_the_system_is_written_to() -> None:
    reading, writing = os.pipe()
    try:
        _table(Path(f"/dev/fd/{writing}"))
        os.close(writing)
        with os.fdopen(reading, newline="") as file:
            assert list(csv.reader(file)) == [["t"], ["0.0"], ["0.0"]]
    finally:
        for descriptor in (reading, writing):
            with suppress(OSError):
                os.close(descriptor)


def test_a_workspace_does_not_write_through_a_planted_link(
    tmp_path: Path, planted: Callable[[Path, Path], None]
) -> None:
    folder = tmp_path / "maps"
    machine = load_mechanism("lab-hexapod")
    home = machine.geometry.home_pose[:3]
    grid = PoseGrid("position", np.zeros(3), home - 0.01, home + 0.01, (3, 3, 3))
    swept = sweep_workspace(machine.name, machine.geometry, grid, pose_limits(machine), threads=1)
    written = write_workspace(swept, folder, {})
    assert [path.name for path in written] == list(FILES)
    target = tmp_path / "precious"
    target.write_text("old")
    for path in written:
        content = path.read_bytes()
        path.unlink()
        planted(path, target)
        others = {other: other.stat().st_mtime_ns for other in written if other != path}
        for refused in (lambda: write_workspace(swept, folder, {}), lambda: check_folder(folder, FILES)):
            with pytest.raises(InputError, match=rf"{path.name} is a symbolic link that user"):
                refused()
        assert {other: other.stat().st_mtime_ns for other in others} == others, "half done"
        path.unlink()
        path.write_bytes(content)
    assert target.read_text() == "old" and len(written) == 9


def test_a_recording_is_its_owners_alone_also_once_it_is_recovered(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with bench(tmp_path) as rig:
            rig.engine.sink = rig.sink
            rig.park()
        path = tmp_path / "engine.mcap"
        assert path.stat().st_mode & 0o777 == 0o600
        path.write_bytes(path.read_bytes()[:-2000])
        path.chmod(0o644)
        recover(path)
        assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)

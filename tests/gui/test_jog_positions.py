"""Saved positions on the Jog page: saved, gone to, renamed, deleted, and a file that cannot be used."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shell_support import FakeSession, Panels, make_status, press

from gui.operate.saved_positions import SavedPositions
from kinematics import pose_to_coordinates
from rig.client import Positions
from rig.engine import Follow
from rig.states import State

_FILE = "virtual.positions.toml"
_PLACE = (0.01, 0.0, 0.46, 1.0, 0.0, 0.0, 0.0)


@pytest.fixture
def saved(panels: Panels, session: FakeSession) -> SavedPositions:
    """The group, the platform held a little off home."""
    panels.tabs.setCurrentWidget(panels.jog)
    session.take(make_status(State.ENGAGED, reference=_PLACE))
    return panels.jog.saved


def _names(saved: SavedPositions) -> list[str]:
    return [saved.list.item(row).text() for row in range(saved.list.count())]


def test_the_present_pose_is_saved_and_gone_to(
    panels: Panels, session: FakeSession, saved: SavedPositions, tmp_path: Path, qtbot: Any
) -> None:
    assert saved.save.toolTip() == "type a name" and saved.go.toolTip() == "choose one from the list"
    saved.name.setText("above")
    press(saved.save)
    assert _names(saved) == ["above"] and saved.chosen == "above"
    assert Positions(tmp_path / _FILE).all()["above"].tolist() == list(_PLACE)
    assert saved.save.toolTip() == "a position 'above' is saved already"
    home = session.config.machine.geometry.home_pose
    session.take(make_status(State.ENGAGED, t=11.0, reference=tuple(home.tolist())))
    press(saved.go)
    qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
    ((what, command, samples),) = session.sent
    assert what == "follow 'go to above'" and isinstance(command, Follow)
    assert np.asarray(samples)[-1, :6] == pytest.approx(pose_to_coordinates(np.array(_PLACE)), abs=1e-12)
    assert not saved.go.isEnabled()


def test_one_is_renamed_and_deleted(
    panels: Panels, session: FakeSession, saved: SavedPositions, tmp_path: Path
) -> None:
    file = Positions(tmp_path / _FILE)
    for name in ("a", "b"):
        file.save(name, np.array(_PLACE))  # by a console, meanwhile
    saved.read()
    saved.list.setCurrentRow(1)
    assert saved.name.text() == "b" and not saved.rename.isEnabled()
    saved.name.setText("c")
    press(saved.rename)
    assert list(file.all()) == ["a", "c"] == _names(saved) and saved.chosen == "c"
    logged: list[str] = []
    session.logged.connect(lambda entry: logged.append(entry.text))
    press(saved.delete)
    assert list(file.all()) == ["a"] == _names(saved)
    assert logged == ["the saved position 'c' was deleted; it was 0.01,0,0.46,1,0,0,0"]


def test_one_that_was_changed_meanwhile_is_not_gone_to(
    session: FakeSession, saved: SavedPositions, tmp_path: Path
) -> None:
    file = Positions(tmp_path / _FILE)
    file.save("a", np.array(_PLACE))
    saved.read()
    saved.list.setCurrentRow(0)
    file.delete("a")
    file.save("a", session.config.machine.geometry.home_pose)
    press(saved.go)
    assert not session.moving and session.sent == []


def test_a_file_that_cannot_be_used_is_named_and_left_alone(
    panels: Panels, saved: SavedPositions, tmp_path: Path
) -> None:
    (tmp_path / _FILE).write_text("position = 3\n")
    saved.name.setText("a")
    press(saved.save)
    assert str(tmp_path / _FILE) in saved.reason.text()
    assert (tmp_path / _FILE).read_text() == "position = 3\n" and _names(saved) == []
    (tmp_path / _FILE).unlink()
    saved.read()
    assert saved.reason.text() == ""


def test_a_pose_that_nobody_knows_is_not_saved(session: FakeSession, saved: SavedPositions) -> None:
    saved.name.setText("a")
    assert saved.save.isEnabled()
    session.take(make_status(State.IDLE, t=11.0))
    assert saved.save.toolTip() == "the pose is not known: connect and home first"

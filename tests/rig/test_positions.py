"""Saved positions: a file that is checked, written whole, and left alone where it cannot be used."""

from pathlib import Path

import numpy as np
import pytest

from rig.client import Positions, positions_path
from rig.config.rig_config import load_config
from rig.errors import InputError

_POSE = np.array([0.01, -0.02, 0.47, 1.0, 0.0, 0.0, 0.0])
_TURNED = np.array([0.0, 0.0, 0.45, 0.6, 0.8, 0.0, 0.0])


def _lines(name: str = "a", pose: str = "[0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0]") -> str:
    return f'[[position]]\nname = "{name}"\npose = {pose}\n'


@pytest.fixture
def saved(tmp_path: Path) -> Positions:
    """A file that is not there yet, in a folder that is not either."""
    return Positions(tmp_path / "recordings" / "rig.positions.toml")


def test_what_is_saved_is_read_back_bit_by_bit_in_its_order(saved: Positions) -> None:
    assert saved.all() == {}
    saved.save("above the vice", _POSE)
    saved.save('"quoted" \\ µ', _TURNED)
    again = Positions(saved.path).all()
    assert list(again) == ["above the vice", '"quoted" \\ µ']
    assert again["above the vice"].tolist() == _POSE.tolist()
    assert again['"quoted" \\ µ'] == pytest.approx(_TURNED, abs=1e-15)
    saved.rename("above the vice", "below")
    assert list(saved.all()) == ["below", '"quoted" \\ µ']
    assert saved.delete("below").tolist() == _POSE.tolist()
    assert list(saved.all()) == ['"quoted" \\ µ']


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "must be printable text"),
        (" a", "without spaces around"),
        ("a\nb", "must be printable text"),
        ("home", "the mechanism's own pose"),
        ("0,0", "must have no comma"),
        ("x" * 61, "61 characters, must be at most 60"),
        ("taken", "is saved already"),
    ],
)
def test_a_name_that_none_can_have_is_refused(saved: Positions, name: str, fault: str) -> None:
    saved.save("taken", _POSE)
    before = saved.path.read_bytes()
    with pytest.raises(InputError, match=fault):
        saved.save(name, _POSE)
    saved.save("other", _POSE)
    with pytest.raises(InputError, match=fault):
        saved.rename("other", name)
    saved.delete("other")
    assert saved.path.read_bytes() == before


def test_a_position_that_is_not_there_is_named_with_those_that_are(saved: Positions) -> None:
    saved.save("a", _POSE)
    for act in (lambda: saved.delete("b"), lambda: saved.rename("b", "c")):
        with pytest.raises(InputError, match="no position 'b' is saved; saved are: 'a'"):
            act()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("positon = 1", "positon: unknown key"),
        ("hello", "not valid TOML"),
        (_lines(pose="[0.0, 0.0, nan, 1.0, 0.0, 0.0, 0.0]"), r"position\[1\]\.pose\[3\]: must be a finite number"),
        (_lines(pose="[0.0, 0.0, 0.45]"), "must be at least 7"),
        (_lines(pose="[0.0, 0.0, 0.45, 2.0, 0.0, 0.0, 0.0]"), "'a': the quaternion's norm is 2, must be 1 within"),
        (_lines("home"), "the mechanism's own pose"),
        (_lines() + _lines(), "'a': there are 2 of this name"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_left_alone(saved: Positions, text: str, fault: str) -> None:
    saved.path.parent.mkdir()
    saved.path.write_text(text)
    for act in (saved.all, lambda: saved.save("b", _POSE), lambda: saved.delete("a")):
        with pytest.raises(InputError, match=fault) as caught:
            act()
        assert str(saved.path) in str(caught.value)
    assert saved.path.read_text() == text


def test_the_file_lies_beside_its_configuration_but_not_beside_the_shipped_one(tmp_path: Path) -> None:
    shipped = load_config("virtual")
    assert positions_path(shipped, tmp_path) == tmp_path / "virtual.positions.toml"
    own = tmp_path / "rig.toml"
    own.write_text(shipped.path.read_text())
    assert positions_path(load_config(own), tmp_path / "elsewhere") == tmp_path / "rig.positions.toml"

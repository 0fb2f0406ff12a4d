"""`rig drive`: one leg by hand, in lockstep."""

import io
import sys
from pathlib import Path

import pytest
from configured import slower_file

from rig.cli import main
from rig.errors import ExitCode
from rig.recording import open_recording
from rig.states import State

pytestmark = pytest.mark.usefixtures("undrawn_reports")


def driven(here: Path, monkeypatch: pytest.MonkeyPatch, text: str, *options: str) -> int:
    """Exit code of a session of leg 3 with these lines."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    rig = slower_file(here / "rig.toml")
    return main(["drive", str(rig), "3", "--lockstep", "-o", str(here / "kept"), *options])


def test_it_goes_where_it_is_told_and_stays_there(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "# up\nby 2mm\n\nby -0.5mm --speed 2mm/s\nquit\nby 5mm\n"
    assert driven(here, monkeypatch, text, "--home") == ExitCode.OK
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("moved by")]
    moved = [float(line.split()[2]) for line in said]
    lengths = [float(line.split("the leg is ")[1].split()[0]) for line in said]
    assert moved == pytest.approx([2.0, -0.5], abs=0.02)
    assert lengths[1] - lengths[0] == pytest.approx(-0.5, abs=0.1)  # from where it stayed, as its brake let it
    (path,) = (here / "kept").glob("leg-3-*.mcap")
    rows = open_recording(path).rows
    alone = rows[rows["state"] == State.SINGLE_LEG]
    assert not alone["mode"][:, [0, 1, 3, 4, 5]].any()  # no other leg was told anything
    assert abs(float(rows["length"][-1, 2]) - lengths[1] * 1e-3) < 2e-4


@pytest.mark.parametrize(
    ("text", "options", "code", "said"),
    [
        ("by 2mm\n", (), ExitCode.REFUSED, "line 1: move-leg: leg 3: the drive has no reference yet"),
        ("by 90mm\n", ("--home",), ExitCode.REFUSED, "travel 90 mm is outside 0.5 to 22 mm"),
        ("by 2kg\n", ("--home",), ExitCode.INPUT, "line 1: Invalid value for 'LENGTH': "),
        ("by nan\n", ("--home",), ExitCode.INPUT, "is not finite"),
        ("to 2mm\n", ("--home",), ExitCode.INPUT, "line 1: No such command 'to'"),
        ("by 2mm --speed 90m/s\n", ("--home",), ExitCode.REFUSED, "speed 90000 mm/s is outside"),
    ],
)
def test_what_may_not_be_ends_a_script_in_words(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    options: tuple[str, ...],
    code: ExitCode,
    said: str,
) -> None:
    assert driven(here, monkeypatch, text, *options) == code
    assert said in capsys.readouterr().err

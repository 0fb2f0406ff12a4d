"""`rig workspace`, as a user meets it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from dynamics import load_mechanism
from kinematics import leg_lengths
from rig.cli import main
from rig.errors import ExitCode

SMALL = ("--grid", "24")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run `rig workspace lab-hexapod … --json`; returns what it prints."""
    assert main(["workspace", "lab-hexapod", *arguments, "--json"]) == ExitCode.OK
    captured = capsys.readouterr()
    assert captured.err == ""  # a progress bar is for terminals
    result: dict[str, Any] = json.loads(captured.out)
    return result


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the pictures, which take longer than the sweep."""
    monkeypatch.setattr("rig.workspace.maps.draw_maps", lambda *_: [])


def test_a_map_with_its_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = run(capsys, *SMALL, "-o", "out", "--condition", "5", "--clearance", "0.01", "--leg-radius", "0.02")
    assert summary["kind"] == "position"
    assert summary["unit"] == "m^3"
    assert summary["poses"] == 24**3
    assert 0.018 < summary["reachable"]["size"] < 0.026
    assert summary["connected"]["size"] <= summary["reachable"]["size"]
    assert not summary["reachable"]["touches_boundary"]
    assert summary["connected"]["condition"]["worst"] <= 5.0
    assert sorted(path.name for path in (here / "out").iterdir()) == [
        "dexterity.pdf", "dexterity.png", "dexterity.svg", "layers.csv", "limits.pdf", "limits.png", "limits.svg",
        "samples.npz", "workspace.json",
    ]  # fmt: skip
    assert summary["paths"] == [str(Path("out") / name) for name in (
        "workspace.json", "layers.csv", "samples.npz", "dexterity.png", "dexterity.svg", "dexterity.pdf", "limits.png",
        "limits.svg", "limits.pdf",
    )]  # fmt: skip
    saved = json.loads((here / "out" / "workspace.json").read_text())
    assert saved == {name: value for name, value in summary.items() if name != "paths"}
    layers = np.genfromtxt(here / "out" / "layers.csv", delimiter=",", names=True)
    step = layers["z"][1] - layers["z"][0]
    assert layers["reachable"].sum() * step == pytest.approx(summary["reachable"]["size"])
    samples = np.load(here / "out" / "samples.npz")
    assert samples["condition"].shape == (24, 24, 24)
    assert np.count_nonzero(samples["faults"] == 0) == summary["reachable"]["poses"]
    for name in ("dexterity.png", "limits.png"):
        picture = imread(here / "out" / name)
        assert picture.shape[0] > 300
        assert picture[..., :3].std() > 0.1


@pytest.mark.usefixtures("undrawn")
def test_a_slice_at_another_orientation(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--slice", "z=450 mm", "--constant-orientation", "0, 10 deg, 0", "--poses", "10000", "-o", "out")
    summary = run(capsys, *options)
    assert summary["shape"] == [100, 100, 1]
    assert summary["unit"] == "m^2"
    assert summary["fixed"]["ry"] == pytest.approx(np.radians(10.0))
    samples = np.load(here / "out" / "samples.npz")
    geometry = load_mechanism("lab-hexapod").geometry
    x, y = samples["x"][50], samples["y"][50]
    half = np.radians(5.0)
    lengths = leg_lengths(geometry, [x, y, 0.45, np.cos(half), 0.0, np.sin(half), 0.0])
    assert samples["stroke_margin"][50, 50, 0] == pytest.approx(min(lengths.min() - 0.4, 0.62 - lengths.max()))
    assert 0.13 < summary["reachable"]["size"] < 0.16


def test_orientations_at_a_point(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at_home = run(capsys, *SMALL, "--orientation", "home", "-o", "out")
    assert at_home["kind"] == "orientation"
    assert at_home["unit"] == "rad^3"
    assert at_home["fixed"] == {"x": 0.0, "y": 0.0, "z": 0.45}
    assert 0.005 < at_home["reachable"]["fraction_of_rotations"] < 0.02
    higher = run(capsys, *SMALL, "--orientation", "0,0,0.55")
    assert higher["reachable"]["size"] < at_home["reachable"]["size"]
    narrow = run(capsys, *SMALL, "--orientation", "home", *(f"--range=r{axis}=-5 deg:5 deg" for axis in "xyz"))
    assert narrow["reachable"]["fraction"] == 1.0
    assert narrow["reachable"]["touches_boundary"]


def test_what_it_prints_for_people(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workspace", "lab-hexapod", *SMALL]) == ExitCode.OK
    printed = capsys.readouterr().out
    assert "reachable: 0.0" in printed
    assert "poses beyond a limit: stroke" in printed
    assert list(here.iterdir()) == []


@pytest.mark.usefixtures("undrawn")
def test_bounds_shrink_the_workspace(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranges = ("--range", "x=-0.3:0.3", "--range", "y=-0.3:0.3", "--range", "z=0.3:0.62")
    free = run(capsys, *SMALL, *ranges)["reachable"]["poses"]
    assert run(capsys, *SMALL, *ranges, "--condition", "3.8")["reachable"]["poses"] < free
    assert run(capsys, *SMALL, *ranges, "--clearance", "0.1135")["reachable"]["poses"] < free
    nothing = run(capsys, *SMALL, *ranges, "--condition", "1.5", "-o", "out")
    assert nothing["reachable"]["poses"] == nothing["connected"]["poses"] == 0


def test_poses_beyond_a_singularity(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = run(capsys, *SMALL, "--range", "z=-0.65:0.65", "--any-side")
    above = run(capsys, *SMALL, "--range", "z=-0.65:0.65")
    assert both["limits"]["same_side"] is False
    assert above["beyond"]["SIDE"] > 0
    assert both["reachable"]["poses"] >= above["reachable"]["poses"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--slice", "w=0.4"), "--slice"),
        (("--slice", "z=0.4 deg"), "--slice"),
        (("--range", "z=0.5:0.4"), "--range"),
        (("--range", "z"), "--range"),
        (("--constant-orientation", "0,0"), "--constant-orientation"),
        (("--constant-orientation", "0,0,0", "--orientation", "home"), "--orientation"),
        (("--grid", "10", "--poses", "1000"), "--poses"),
        (("--orientation", "0,0,x"), "--orientation"),
        (("--condition", "0.5"), "--condition"),
        (("--leg-radius", "-1"), "--leg-radius"),
        (("--cluster", "local:0"), "cluster"),
        (("--grid", "8", "-o", "file/out"), "file"),
    ],
)
def test_refused(here: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], named: str) -> None:
    (here / "file").write_text("where a folder should be")
    assert main(["workspace", "lab-hexapod", *options]) == ExitCode.INPUT
    assert named in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_said_before_the_sweep(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_arguments: object, **_named: object) -> None:
        raise AssertionError("swept")

    monkeypatch.setattr("rig.workspace.sweep_workspace", never)
    (here / "taken").write_text("a file")
    assert main(["workspace", "lab-hexapod", "--grid", "2", "-o", "taken/map"]) == ExitCode.INPUT
    assert "cannot make the folder taken/map" in capsys.readouterr().err


def test_a_mechanism_without_limits_needs_a_box(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workspace", "dasgupta-1998", *SMALL]) == ExitCode.INPUT
    assert "box" in capsys.readouterr().err
    ranges = (f"--range={name}=0.1:0.5" for name in "xyz")
    assert main(["workspace", "dasgupta-1998", *SMALL, *ranges, "--condition", "60", "--json"]) == ExitCode.OK
    summary = json.loads(capsys.readouterr().out)
    assert summary["connected"] is None
    assert summary["beyond"]["CONDITION"] > 0

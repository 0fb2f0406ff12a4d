"""`rig simulate --trajectory`: what it takes, writes and says."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from dynamics import Dynamics, load_mechanism
from rig.cli import main
from rig.csvio import MOTION, WRENCH, per_leg, read_table, write_table
from rig.errors import ExitCode

TRAJECTORY = """
frame = "home"

[[parts]]
type = "harmonic"
duration = 1.0
fade = 0.25
terms = [{ dof = "z", amplitude = 0.01, frequency = 2.0 }]
"""

PLANTS = ("as modelled", "masses +20 %", "masses -20 %")


@pytest.fixture
def trajectory(here: Path) -> str:
    (here / "small.toml").write_text(TRAJECTORY, encoding="utf-8")
    return "small.toml"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["simulate", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["simulate", *arguments]) == ExitCode.INPUT
    said = capsys.readouterr()
    assert said.out == ""
    return " ".join(said.err.replace("│", " ").split())


def test_controllers_are_compared_as_modelled_and_with_other_masses(
    trajectory: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "--trajectory", trajectory, "--compare"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "lab-hexapod: trajectory small.toml, 1 s at 500 Hz"
    rows = [line for line in lines[3:-6] if "ended" not in line]
    assert len(rows) == 18
    assert lines[-6].split() == ["controller", "natural", "frequency", "at", "home,", "Hz", "gain", "margin"]
    assert [line.split() for line in lines[-5:-2]] == [
        ["pd", "3.16", "to", "11.5", "1.54"],
        ["force", "3.16", "to", "11.5", "1.54"],
        ["computed-torque", "10", "2.77"],
    ]
    assert lines[-2].split() == ["position", "5.47", "to", "19.9", "the", "drives'"]
    assert [row.split()[0] for row in rows[::3]] == ["none", "pd", "force", "computed-torque", "position", "observer"]
    assert "as modelled" in rows[6] and "masses +20 %" in rows[7] and "masses -20 %" in rows[8]


def test_the_numbers_as_json(trajectory: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--trajectory", trajectory, "--controller", "force", "--controller", "observer", "--mass-error", "10%")
    found = told(capsys, "virtual", *arguments)
    assert (found["rate_hz"], found["duration_s"], found["mechanism"]) == (500.0, 1.0, "lab-hexapod")
    runs = {(run["controller"], run["plant"]): run for run in found["runs"]}
    assert len(runs) == len(found["runs"]) == 6
    nominal, heavy = runs["force", "as modelled"], runs["force", "masses +10 %"]
    assert nominal["end"] is None and nominal["position_rms_mm"] < 0.01 < heavy["position_rms_mm"]
    assert len(nominal["force_rms_n"]) == 6 and 0.0 < nominal["share_of_limit"][0] < 0.5
    assert runs["observer", "masses +10 %"]["position_rms_mm"] < 0.3 * heavy["position_rms_mm"]


def test_all_controllers_get_one_bandwidth(trajectory: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--trajectory", trajectory, "--compare", "--bandwidth", "9 Hz")
    found = told(capsys, "virtual", *arguments)
    loops = {loop["controller"]: loop for loop in found["bandwidths"]}
    assert loops.keys() == {"pd", "force", "computed-torque", "position", "observer"}
    assert [loop["fastest_hz"] for loop in loops.values()] == pytest.approx([9.0] * 5)
    assert loops["computed-torque"]["slowest_hz"] == pytest.approx(9.0) and loops["force"]["slowest_hz"] < 3.0
    runs = {(run["controller"], run["plant"]): run["position_rms_mm"] for run in found["runs"]}
    for plant in ("masses +20 %", "masses -20 %"):
        assert runs["computed-torque", plant] < runs["force", plant]


def test_the_plants_are_moved_by_mujoco_too(trajectory: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "--trajectory", trajectory, "--mujoco", "--mass-error", "10%")
    runs = {run["plant"]: run["position_rms_mm"] for run in found["runs"]}
    names = ["as modelled", "masses +10 %", "masses -10 %"]
    assert list(runs) == [*names, *(f"{name}, MuJoCo" for name in names)]
    for name in names[1:]:
        assert runs[f"{name}, MuJoCo"] == pytest.approx(runs[name], rel=0.05)
    assert main(["simulate", "--trajectory", trajectory, "--mujoco"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].startswith("  force           as modelled ") and lines[8].split()[4] == "MuJoCo"


def test_the_motion_is_written_with_what_drives_and_cells_said(trajectory: str, here: Path) -> None:
    extra = [per_leg(prefix) for prefix in "fclv"]
    wrench = "5,0,-20,0,1,0"
    options = ["--mass-error", "0%", "--wrench", wrench, "-o", "run.csv"]
    assert main(["simulate", "--trajectory", trajectory, *options]) == 0
    table = read_table(here / "run.csv", MOTION, [WRENCH, *extra])
    assert len(table.times) == 501 and table.times[-1] == pytest.approx(1.0)
    np.testing.assert_array_equal(table.columns(WRENCH)[0], [float(text) for text in wrench.split(",")])
    model = Dynamics(load_mechanism("lab-hexapod"), 1e-3)
    cells = model.cells(table.columns(MOTION), table.columns(WRENCH))
    assert (table.columns(per_leg("c")) - cells).std() == pytest.approx(0.5, rel=0.1)


def test_a_wrench_may_come_and_go(trajectory: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.array([[0.2, 0, 0, -40, 0, 0, 0], [0.4, 0, 0, -40, 0, 0, 0]], dtype=float)
    write_table(here / "push.csv", ("t", *WRENCH), rows)
    options = ("--trajectory", trajectory, "--mass-error", "0")
    pushed = told(capsys, *options, "--wrench", "push.csv", "-o", "run.csv")["runs"][0]
    assert pushed["position_peak_mm"] > 20.0 * told(capsys, *options)["runs"][0]["position_peak_mm"]
    acting = read_table(here / "run.csv", MOTION, [WRENCH, *(per_leg(prefix) for prefix in "fclv")])
    np.testing.assert_array_equal(acting.times[acting.columns(WRENCH)[:, 2] != 0.0][[0, -1]].round(3), [0.2, 0.398])


@pytest.mark.parametrize(("name", "begins"), [("a.svg", b"<?xml"), ("a.pdf", b"%PDF"), ("a.png", b"\x89PNG")])
def test_the_plot_is_of_the_kind_that_its_name_says(trajectory: str, here: Path, name: str, begins: bytes) -> None:
    options = ["--mass-error", "0", "--controller", "force", "--controller", "pd", "--plot", name]
    assert main(["simulate", "--trajectory", trajectory, *options]) == 0
    assert (here / name).read_bytes().startswith(begins)


def test_what_moves_may_be_a_mechanism_of_its_own(
    trajectory: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(__file__).parents[2] / "dynamics/mechanisms/lab-hexapod.toml").read_text(encoding="utf-8")
    (here / "other.toml").write_text(text.replace("coulomb = 4.0", "coulomb = 12.0"), encoding="utf-8")
    options = ("--trajectory", trajectory, "--mass-error", "0")
    rough = told(capsys, "--plant", "other.toml", *options)["runs"][0]
    assert rough["plant"] == "as given"
    assert rough["position_rms_mm"] > 10.0 * told(capsys, *options)["runs"][0]["position_rms_mm"]
    as_model = told(capsys, "other.toml", *options)["runs"][0]  # a mechanism in place of a configuration
    assert as_model["position_rms_mm"] < 0.1 * rough["position_rms_mm"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--trajectory", "T", "--controller", "pid"], "'pid' must be one of none, pd, force"),
        (["--trajectory", "T", "--compare", "-o", "a.csv"], "the motion of a single --controller can be written"),
        (["--trajectory", "T", "--plot", "a.gif"], "a.gif must end in .svg, .pdf, .png"),
        (["--trajectory", "T", "--plot", "no/a.svg"], "there is no folder no"),
        (["--trajectory", "T", "--page", "no/a.html"], "there is no folder no"),
        (["lab-hexapod", "--page", "a.html"], "goes with --trajectory"),
        (["--trajectory", "T", "--mass-error", "95%"], "must be a percentage from 0% to 90%"),
        (["--trajectory", "T", "--mass-error", "nan"], "must be a percentage"),
        (["--trajectory", "T", "--wrench", "1,2"], "not a list of six finite numbers fx,fy,fz,mx,my,mz"),
        (["--trajectory", "T", "--plant", "none-such.toml"], "none-such.toml"),
        (["none-such.toml", "--trajectory", "T"], "no such configuration: none-such.toml"),
        (["--trajectory", "T", "--pose", "0,0,0,1,0,0,0"], "goes with leg forces, not with --trajectory"),
        (["lab-hexapod", "--controller", "pd"], "goes with --trajectory"),
        (["lab-hexapod", "--bandwidth", "9"], "goes with --trajectory"),
        (["lab-hexapod", "--mujoco"], "goes with --trajectory"),
        (["--trajectory", "T", "--bandwidth", "2 kHz"], "2000 must be 0.01 to 1000 Hz"),
        (["--trajectory", "T", "--bandwidth", "900"], "control.stiffness: "),
        (["lab-hexapod"], "give MECHANISM FORCES.csv --pose -o, or a --trajectory"),
        (["lab-hexapod", "f.csv", "-o", "a.csv"], "leg forces need it"),
    ],
)
def test_what_does_not_go_together_is_refused(
    trajectory: str, options: list[str], text: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, *(trajectory if option == "T" else option for option in options))
    assert text in said, said
    assert [path.name for path in here.iterdir()] == [trajectory]


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page without its figure."""
    monkeypatch.setattr("rig.report.loops_page.svg_text", lambda _figure: "<svg/>")


def page_of(*arguments: str) -> str:
    assert main(["simulate", *arguments, "--page", "page.html"]) == 0
    return " ".join(Path("page.html").read_text(encoding="utf-8").split())


def test_the_page_has_every_law_on_every_plant_and_what_was_made_equal(
    trajectory: str, undrawn: None, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--trajectory", trajectory, "--controller", "force", "--controller", "computed-torque")
    found = told(capsys, "virtual", *arguments, "--bandwidth", "9", "--page", "page.html")
    page = " ".join(Path("page.html").read_text(encoding="utf-8").split())
    assert found["bandwidth_hz"] == 9.0 and found["paths"] == {"page": "page.html"}
    force, task = found["bandwidths"]
    assert task["stiffness_per_s2"] == pytest.approx((18.0 * np.pi) ** 2) and task["damping_ratio"] == pytest.approx(
        1.0
    )
    assert force["damping_ratio"] == pytest.approx(
        force["damping_n_s_per_m"] * 9.0 * np.pi / force["stiffness_n_per_m"]
    )
    slowest, margin = found["equal_loops"]
    assert slowest["equal"] == "slowest" and slowest["bandwidth"]["fastest_hz"] == pytest.approx(force["slowest_hz"])
    assert margin["bandwidth"]["gain_margin"] == pytest.approx(force["gain_margin"], rel=3e-3)
    errors = {(run["controller"], run["plant"]): run["position_rms_mm"] for run in found["runs"]}
    worst = {law: max(errors[law, f"masses {off}20 %"] for off in "+-") for law in ("force", "computed-torque")}
    assert f"is {worst['computed-torque'] / worst['force']:.2g} times that of force" in page
    assert all(f"<td>{error:.3f}</td>" in page for (_, plant), error in errors.items() if plant != "as modelled")
    for one, place in ((slowest, "behind"), (margin, "ahead of")):
        left = max(run["position_rms_mm"] for run in one["runs"])
        assert f"It is {left:.3g} mm off, and force {worst['force']:.3g} mm: it is {place} force." in page
        assert (left < worst["force"]) is (place == "ahead of")
    assert "at the same bandwidth" in page and "natural frequency of 9 Hz in its fastest direction" in page
    assert "depends on what is made equal" in page and "MuJoCo" not in page


def test_a_page_at_the_gains_of_the_configuration_says_that_bandwidths_differ(
    trajectory: str, undrawn: None, here: Path
) -> None:
    (here / "page.html").write_text("a page of before", encoding="utf-8")
    page = page_of("--trajectory", trajectory, "--compare")
    assert "not at the same bandwidth" in page and "10 to 19.9 Hz in their fastest directions" in page
    assert "none, masses +20 %: ended, a leg left its stroke" in page and "none, as modelled: ended" not in page
    assert "force, computed-torque, position and observer stay within" in page and "pd, which has no model, is" in page
    assert "a page of before" not in page and "further runs" not in page


def test_the_figure_has_a_panel_for_each_plant_and_dashes_for_mujoco(
    trajectory: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Figure] = []

    def kept(figure: Figure) -> str:
        figures.append(figure)
        return "<svg/>"

    monkeypatch.setattr("rig.report.loops_page.svg_text", kept)
    page = page_of("--trajectory", trajectory, "--mujoco", "--controller", "none", "--controller", "force")
    (figure,) = figures
    names = [f"{plant}: {name} error" for plant in PLANTS for name in ("position", "rotation")]
    assert [axes.get_title(loc="left") for axes in figure.axes] == names
    assert [axes.get_ylabel() for axes in figure.axes] == ["mm", "mrad"] * 3
    assert [axes.get_xlabel() for axes in figure.axes][-2:] == ["time, s"] * 2
    assert all([line.get_linestyle() for line in axes.lines] == ["-", "--"] for axes in figure.axes)
    heavy = figure.axes[2].lines[0].get_ydata()
    assert np.max(heavy) > 10.0 * np.max(figure.axes[0].lines[0].get_ydata())
    assert "On plants that MuJoCo moves the errors with other masses differ by at most" in page
    assert "same bandwidth" not in page and "One law closes a loop: nothing is made equal." in page


def test_the_figure_is_drawn_into_the_page(trajectory: str, here: Path) -> None:
    page = page_of("--trajectory", trajectory, "--mass-error", "0", "--controller", "pd", "--controller", "force")
    assert page.count("data:image/svg+xml;base64,") == 1
    assert str(here) not in page

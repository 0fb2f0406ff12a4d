"""`rig study`, as a user meets it: page, figures, tables, JSON, and what is refused."""

import base64
import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from exploration import LONG
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from studied import PATH_3, along, at_home, shipped, sway, tilted

from dynamics import Mechanism, format_mechanism, massless_legs
from rig.cli import main
from rig.csvio import per_leg, read_table
from rig.errors import ExitCode, InputError
from rig.motions import SampledMotion
from rig.papers import Picture
from rig.papers.paths import PLANS, run_path
from rig.report import Drawing, drawing
from rig.report.pages import _lay_out
from rig.services import StudyRequest
from rig.services import study as study_service
from rig.study import study_machine, write_study
from rig.study.figures import Drawer

EMBEDDED = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


def drawn(made: Callable[[Figure], Drawing]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("rig.papers.drawing", "rig.study.figures"):
            patch.setattr(f"{module}.drawing", made)
        yield


@pytest.fixture(scope="module")
def cheap() -> Iterator[list[Figure]]:
    """Only the first figure is drawn as it is; the others stand for themselves."""
    figures: list[Figure] = []
    first: list[Drawing] = []

    def make(figure: Figure) -> Drawing:
        figures.append(figure)
        if not first:
            first.append(drawing(figure))
        return first[0]

    def yielding() -> Iterator[list[Figure]]:
        for _ in drawn(make):
            yield figures

    yield from yielding()


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch, cheap: list[Figure]) -> None:
    """A study of one figure."""

    def first(drawer: Drawer) -> Iterator[tuple[str, Picture]]:
        yield "motion", next(drawer._path())

    monkeypatch.setattr("rig.study.page.Drawer.figures", first)


def path_file(folder: Path, name: str) -> Path:
    """A path of 1998 as a trajectory file."""
    plan = PLANS[name]
    path = folder / f"path-{name}.toml"
    path.write_text(
        f'frame = "base"\n[[parts]]\ntype = "blend"\nstart = {list(plan.start)}\nend = {list(plan.end)}\n'
        f"duration = {plan.duration}\nspeed = {plan.speed}\nangular_speed = {plan.angular_speed}\n"
    )
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, cheap: list[Figure]) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("study")
    source = path_file(folder, "I")
    with redirect_stdout(StringIO()) as out:
        arguments = ["study", "dasgupta-1998", str(source), "-o", str(folder / "not" / "there"), "--step", "0.1"]
        assert main(arguments) == 0
    return folder / "not" / "there", out.getvalue()


def test_every_figure_is_there_in_three_formats(made: tuple[Path, str]) -> None:
    folder, out = made
    assert sorted(path.name for path in folder.iterdir()) == ["figures", "study.html", "study.json", "tables"]
    assert [path.name for path in folder.parent.iterdir()] == ["there"]  # nothing temporary
    names = {path.stem for path in (folder / "figures").iterdir()}
    assert sorted(path.name for path in (folder / "figures").iterdir()) == sorted(
        f"{name}.{kind}" for name in names for kind in ("csv", "pdf", "svg")
    )
    assert names == {
        "position", "angles", "leg-lengths", "leg-speeds", "forces", "terms", "terms-rms", "fraction", "models",
        "model-errors", "leg-rotation", "spherical-ends", "spherical-force", "universal-force", "universal-moment",
        "guide-force", "prismatic-moment", "base-force", "base-moment", "condition", "determinant", "manipulability",
        "amplification", "box",
    }  # fmt: skip
    assert f"page: {folder / 'study.html'}" in out
    assert "24 figures, each as PDF, SVG and CSV, 8 tables, study.json" in out
    for path in folder.glob("*/*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert len(set(header)) == len(header)
        assert rows
        assert {len(row) for row in rows} == {len(header)}


def test_numbers_written_are_those_of_the_paper_s_study(made: tuple[Path, str]) -> None:
    run, folder = run_path("I"), made[0] / "figures"
    forces = read_table(folder / "forces.csv", (*per_leg("f"), *per_leg("massless"), *per_leg("dynamic")))
    np.testing.assert_array_equal(forces.times, run.times)
    np.testing.assert_array_equal(forces.columns(per_leg("f")), run.exact)
    np.testing.assert_array_equal(forces.columns(per_leg("massless")), run.massless)
    np.testing.assert_array_equal(
        read_table(folder / "condition.csv", ("condition", "scaled")).columns(("condition",))[:, 0], run.condition
    )
    models = ("exact", "dasgupta-1998_", "pedrammehr-2012_", "massless_")
    table = read_table(folder / "models.csv", [name for model in models for name in per_leg(model)])
    np.testing.assert_array_equal(table.columns(per_leg("dasgupta-1998_")), run.dasgupta)
    np.testing.assert_array_equal(table.columns(per_leg("pedrammehr-2012_")), run.pedrammehr)


def test_the_page_has_every_statement_and_loads_nothing(made: tuple[Path, str]) -> None:
    folder, out = made
    text = (folder / "study.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert re.findall(r'<script|<link|@import|url\(|src="(?!data:)|https?:', text) == []
    for picture in EMBEDDED.findall(text):
        assert ElementTree.fromstring(base64.b64decode(picture)).tag.endswith("svg")
    assert len(EMBEDDED.findall(text)) == 24
    for name in re.findall(r"<code>([^<]+)</code>", text):
        assert (folder / name).is_file()
    words = re.sub(r"</?(i|sub|sup)>", "", text)
    assert "improve on those of 1998 by a factor of" in words
    assert re.search(r"machine: 0\.07\d* % against 1\.9\d* % RMS", words)
    assert "nan" not in words.split("<main>")[1].replace("src=", "").split("data:")[0]
    assert "Faults of the mechanism" in words  # its printed tensors are none that a body has
    for line in out.splitlines():
        if line.startswith("  "):
            assert line.strip().split("_")[0].split("<")[0][:40] in words.replace("&lt;", "<").replace("&#39;", "'")


def test_json_holds_sentences_with_their_numbers(made: tuple[Path, str]) -> None:
    found = json.loads((made[0] / "study.json").read_text(encoding="utf-8"))
    assert found["mechanism"] == "dasgupta-1998"
    assert (found["samples"], found["duration_s"], found["friction"]) == (61, 6.0, "same")
    (improved,) = [one for one in found["statements"]["models"] if one["code"] == "improved"]
    assert improved["values"]["theirs"] == pytest.approx(1.92, abs=0.005)
    assert f"{improved['values']['factor']:.4g}" in improved["text"]
    errors = {row["model"]: row["rms_percent"] for row in found["tables"]["models-summary"]}
    assert errors["pedrammehr-2012"] == pytest.approx(0.07, abs=0.005)
    operations = {row["part"]: row["printed_1998"] for row in found["tables"]["operations"]}
    assert operations["platform"] == 273


def test_an_earlier_study_is_replaced_only_by_force(
    made: tuple[Path, str], tmp_path: Path, capfd: pytest.CaptureFixture[str], undrawn: None
) -> None:
    arguments = ["study", "lab-hexapod", "demo", "--step", "1", "-o"]
    assert main([*arguments, str(made[0])]) == ExitCode.INPUT
    assert "it holds a study already; --force replaces it" in capfd.readouterr().err
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("mine")
    for options in ([], ["--force"]):
        assert main([*arguments, str(mine), *options]) == ExitCode.INPUT
        assert "the folder holds something else" in capfd.readouterr().err
    assert (mine / "thesis.tex").read_text() == "mine"
    (mine / "thesis.tex").rename(tmp_path / "file")
    assert main([*arguments, str(mine)]) == 0  # an empty folder is nobody's
    before = (mine / "study.json").read_text()
    (mine / "tables" / "note.txt").write_text("old")
    assert main([*arguments, str(mine), "--force", "--friction", "none"]) == 0
    assert (mine / "study.json").read_text() != before
    assert not (mine / "tables" / "note.txt").exists()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        assert main([*arguments, str(place)]) == ExitCode.INPUT
        assert "file" in capfd.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "mine"]


def test_json_of_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str], undrawn: None) -> None:
    arguments = ["study", "lab-hexapod", "demo", "--step", "1", "-o", str(tmp_path / "out"), "--json"]
    assert main([*arguments, "--wrench", "0,0,-50,0,0,0", "--margin", "0.01,0.01,0.01,0.02,0.02,0.02"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["paths"]["page"] == str(tmp_path / "out" / "study.html")
    assert all(Path(path).is_file() for path in (*found["paths"]["tables"], *found["paths"]["figures"]))
    terms = {row["cause"]: row["rms"] for row in found["tables"]["terms"]}
    assert terms["external"] > 5.0
    ranges = {row["coordinate"]: row for row in found["tables"]["motion"]}
    for place, name in enumerate(("x", "y", "z", "rx", "ry", "rz")):
        margin = 0.01 if place < 3 else 0.02
        assert found["box"]["low"][place] == pytest.approx(ranges[name]["least"] - margin)
        assert found["box"]["high"][place] == pytest.approx(ranges[name]["greatest"] + margin)


def test_nothing_is_left_of_a_study_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = shipped("lab-hexapod")
    made = study_machine(lab, along(sway(lab), 0.1), poses=200)
    monkeypatch.setattr("rig.study.page.Drawer.figures", lambda _self: iter(()))

    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    write_study(made, tmp_path / "kept")
    before = sorted(path.name for path in (tmp_path / "kept").rglob("*"))
    monkeypatch.setattr("rig.study.page.write_numbers", failing)
    for place, force in (("new", False), ("kept", True)):
        with pytest.raises(InputError, match="No space left on device"):
            write_study(made, tmp_path / place, force=force)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]
    assert sorted(path.name for path in (tmp_path / "kept").rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--friction", "wet"], "--friction"),
        (["--step", "0"], "0 s must be above 0 s"),
        (["--step", "1e-6"], "at most 200000 samples"),
        (["--poses", "3"], "3 must be 100 to 1000000"),
        (["--margin", "1,2,3"], "--margin"),
        (["--margin", "1,1,1,1,1,-1"], "-1 must be at least 0"),
        (["--box-low", "0,0,0,0,0,0"], "--box-high"),
        (["--box-low", "0,0,0,0,0,0", "--box-high", "0,0,0,0,0,0"], "each end must be above its beginning"),
        (["--box-low", "0,0,0,0,0,0", "--box-high", "1,1,1,1,1,1", "--margin", "0,0,0,0,0,0"], "--margin"),
        (["--box-low", "0,0,9,0,0,0", "--box-high", "0,0,10,0,0,0"], "within the strokes and joint angles"),
        (["--wrench", "1,2,nan,0,0,0"], "--wrench"),
        (["--guess", "0,0,0,2,0,0,0"], "not 1 within"),
    ],
)
def test_invalid_options_are_refused_by_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    arguments = ["study", "lab-hexapod", "demo", "-o", str(tmp_path / "out")]
    assert main([*arguments, *options]) == ExitCode.INPUT
    printed = capfd.readouterr()
    assert words in " ".join(printed.err.replace("│", " ").split())
    assert "Traceback" not in printed.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("mechanism", "source"), [("gone.toml", "demo"), ("lab-hexapod", "gone.csv"),
                                                   ("lab-hexapod", "dmeo"), ("lab-hexapod", "gone.mcap")])  # fmt: skip
def test_missing_files_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], mechanism: str, source: str
) -> None:
    code = ExitCode.RECORDING if source.endswith("mcap") else ExitCode.INPUT
    assert main(["study", mechanism, source, "-o", str(tmp_path / "out")]) == code
    assert (mechanism if mechanism == "gone.toml" else source) in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_coarse_poses_is_sampled_between_them(tmp_path: Path, undrawn: None) -> None:
    lab = shipped("lab-hexapod")
    motion = along(sway(lab), 0.1)
    from rig.csvio import POSE, WRENCH, write_table

    path = tmp_path / "poses.csv"
    loads = np.column_stack([0.1 * np.arange(31), np.zeros((31, 5))])
    write_table(path, ("t", *POSE, *WRENCH), np.column_stack([motion.times, motion.motions[:, :7], loads]))
    found = study_service(StudyRequest("lab-hexapod", str(path), tmp_path / "out", poses=200)).study
    assert len(found.motion.times) == 601
    assert found.motion.wrenches is not None
    np.testing.assert_allclose(found.motion.wrenches[:, 0], found.motion.times, atol=1e-12)
    with pytest.raises(InputError, match=r"wrench: .* has a wrench of its own"):
        study_service(StudyRequest("lab-hexapod", str(path), tmp_path / "more", wrench=(1, 0, 0, 0, 0, 0)))


def test_a_machine_of_one_s_own(tmp_path: Path, undrawn: None) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(format_mechanism(tilted()))
    assert main(["study", str(path), "demo", "--step", "0.5", "-o", str(tmp_path / "out")]) == 0
    assert json.loads((tmp_path / "out" / "study.json").read_text())["mechanism"] == tilted().name


SCENES: dict[str, Callable[[], tuple[Mechanism, SampledMotion]]] = {
    "sway": lambda: (tilted(), along(sway(tilted()), 0.02, np.array([20.0, 0.0, 0.0, 0.0, 2.0, 0.0]))),
    "singular": lambda: (shipped("dasgupta-1998"), along(PATH_3, 0.05)),
    "at_home": lambda: (shipped("lab-hexapod"), at_home(shipped("lab-hexapod"))),
    "massless": lambda: (massless_legs(shipped("lab-hexapod")), along(sway(shipped("lab-hexapod")), 0.05)),
}


def figures_of(scene: str) -> tuple[list[str], list[Figure]]:
    """Titles and figures of a scene's study."""
    figures: list[Figure] = []

    def keep(figure: Figure) -> Drawing:
        figures.append(figure)
        return Drawing("", b"")

    machine, motion = SCENES[scene]()
    study = study_machine(machine, motion, poses=200)
    for _ in drawn(keep):
        titles = [picture.title for _, picture in Drawer(study).figures()]
    assert len(titles) == len(set(titles)) == len(figures)
    return titles, figures


def test_what_is_zero_is_not_drawn() -> None:
    still, bare = (figures_of(scene)[0] for scene in ("at_home", "massless"))
    assert not {"Rotation of the legs", "Speeds of the legs"} & set(still)
    assert "Dynamic fraction" in still
    assert not {"Dynamic fraction", "Reaction: guide force"} & set(bare)
    assert "Rotation of the legs" in bare


@pytest.mark.parametrize("scene", ["sway", "singular"])
def test_every_figure_is_fit_to_be_seen(scene: str) -> None:
    """Axes have labels with units, and data; no legend lies over a panel, and no label leaves the page."""
    for title, figure in zip(*figures_of(scene), strict=True):
        if not LONG and (len(figure.axes) == 6) is not (scene == "sway"):
            continue  # each kind of figure of one scene
        _lay_out(figure)
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        left = [axes for axes in figure.axes if (place := axes.get_subplotspec()) and place.is_first_col()]
        assert all(axes.get_ylabel() for axes in left), title
        assert all("," in axes.get_ylabel() or axes.get_ylabel() in UNITLESS for axes in left), title
        bottom = [axes for axes in figure.axes if (place := axes.get_subplotspec()) and place.is_last_row()]
        assert left and bottom, title
        assert all(axes.get_xlabel() or title == "RMS by cause" for axes in bottom), title
        for axes in figure.axes:
            lines = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines]
            assert axes.patches or axes.collections or any(np.isfinite(y).any() for y in lines), title
        whole = figure.get_window_extent(renderer)
        for legend in figure.legends:
            box = legend.get_window_extent(renderer)
            assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and box.y1 <= whole.y1 + 1.0, title
            assert not any(box.overlaps(axes.get_window_extent(renderer)) for axes in figure.axes), title
        for axes in left:
            assert axes.yaxis.label.get_window_extent(renderer).x0 >= whole.x0, title


UNITLESS = {r"$F_\mathrm{d}/F$", "condition number", "manipulability"}
"""Labels of quantities without a unit."""

"""Calibrating the geometry from the app: files looked into, the fit and its pictures, the file; the plan of poses."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fit_support import BUTTON, compute, looked, opened, save
from tracked_platform import built, reachable_poses

from calibration import GeometryNoise, load_parameters
from dynamics import load_mechanism
from gui.calibrate import CalibrateMenu
from gui.wizard import FitWizard
from rig.cli import main
from rig.csvio import POSE, per_leg, write_table
from rig.errors import ExitCode

LAB = load_mechanism("lab-hexapod")
COUNT = 24


def read_rows(path: Path) -> list[list[str]]:
    with path.open() as file:
        return list(csv.reader(file))


def write_rows(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture(scope="module")
def tracked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a tracker and the encoders say of a platform that is not as drawn."""
    random = np.random.default_rng(3)
    found = built(LAB.geometry, random).measured(reachable_poses(LAB, COUNT, random), random, GeometryNoise())
    assert found.poses is not None
    path = tmp_path_factory.mktemp("tracked") / "tracker.csv"
    write_table(path, (*POSE, *per_leg("l")), np.hstack([found.poses, found.lengths]))
    return path


@pytest.fixture
def measured(tracked: Path, tmp_path: Path) -> Path:
    path = tmp_path / tracked.name
    path.write_bytes(tracked.read_bytes())
    return path


@pytest.fixture
def wizard(menu: CalibrateMenu, measured: Path, qtbot: Any) -> FitWizard:
    return opened(menu.geometry, measured, qtbot)


def test_the_geometry_is_judged_before_it_is_saved_as_the_command_saves_it(
    wizard: FitWizard, measured: Path, qtbot: Any, tmp_path: Path
) -> None:
    page = wizard.request_page
    assert page.fault == "Reading the files …"
    steps: list[str] = []
    wizard.runner.stepped.connect(steps.append)
    said = compute(wizard, qtbot)
    assert page.content == f"lab-hexapod, {COUNT} rows, whole poses"
    assert said.startswith(f"{COUNT} poses fitted, reduced χ² ") and "Held-out poses: " in said
    assert len(steps) > 5 and steps[-1] == "geometry: 100 %"
    fit = wizard.results.shown
    assert fit.isVisible() and fit.table.accessibleName() == "Parameters"
    outcome = wizard.outcome
    assert outcome is not None
    held = outcome.result["holdout"]
    assert [each["row"] for each in held["poses"]] == [f"row {row}" for row in range(1, COUNT + 1)]
    errors = np.array([each["position_after_m"] for each in held["poses"]])
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(held["after"]["position_rms_m"])
    assert held["after"]["position_rms_m"] < 0.1 * held["before"]["position_rms_m"]
    assert fit.table.rowCount() == 42 and fit.table.item(6, 1).text() == "legs[0].length_offset"
    assert not list(tmp_path.glob("*.toml")), "nothing is written before Save"
    target = save(wizard, qtbot)
    assert target == tmp_path / "tracker-geometry.toml"
    command = ["calibrate", "geometry", "lab-hexapod", "--data", str(measured), "-o", str(tmp_path / "cli.toml")]
    assert main(command) == ExitCode.OK
    assert target.read_bytes() == (tmp_path / "cli.toml").read_bytes()
    assert load_parameters(target).kind == "geometry"
    assert wizard.save_page.naming.text().startswith("parameters = [")


def test_what_cannot_be_used_is_named_before_anything_is_computed(
    wizard: FitWizard, measured: Path, qtbot: Any
) -> None:
    page, following = wizard.request_page, wizard.button(BUTTON.NextButton)
    page["data"].choose(None)
    assert page.fault == "Choose the file of measured poses." and not following.isEnabled()
    assert "Choose the file" in wizard.compute_page.begin.obstacle
    page["data"].choose(measured.with_name("none.csv"))
    assert looked(wizard, qtbot) == f"cannot read {measured.with_name('none.csv')}: no such file"
    rows = read_rows(measured)
    write_rows(measured, [row[:-1] for row in rows])
    page["data"].choose(measured)
    assert "l6" in looked(wizard, qtbot) and str(measured) in page.fault
    write_rows(measured, rows[:9])
    page["note"].setText("again")
    page.edited.emit()
    assert "8 rows, at least 12 are needed" in looked(wizard, qtbot)


def test_exchanged_legs_are_refused_in_the_command_s_words(wizard: FitWizard, measured: Path, qtbot: Any) -> None:
    assert not looked(wizard, qtbot)
    rows = read_rows(measured)
    two, five = rows[0].index("l2"), rows[0].index("l5")
    for row in rows[1:]:
        row[two], row[five] = row[five], row[two]
    write_rows(measured, rows)
    said = compute(wizard, qtbot)
    assert said.startswith("✗ geometry refused, nothing written") and "columns l2 and l5 are exchanged" in said
    assert not wizard.results.isVisible() and not wizard.button(BUTTON.NextButton).isEnabled()
    assert wizard.save_page.save.obstacle == "nothing was computed yet" and not wizard.loss()


def test_what_poses_leave_open_is_drawn_and_cannot_be_saved(wizard: FitWizard, measured: Path, qtbot: Any) -> None:
    random = np.random.default_rng(3)
    level = reachable_poses(LAB, COUNT, random)
    level[:, 3:] = [1.0, 0.0, 0.0, 0.0]
    found = built(LAB.geometry, random).measured(level, random, GeometryNoise())
    assert found.poses is not None
    write_table(measured, (*POSE, *per_leg("l")), np.hstack([found.poses, found.lengths]))
    said = compute(wizard, qtbot)
    outcome = wizard.outcome
    assert outcome is not None, said
    assert "✗ " in said
    sigmas = outcome.result["direction_sigmas_m"]
    assert said.startswith("Pose uncertainty along its worst axis (one σ): ")
    assert f"{len(sigmas)} directions of the geometry, {sigmas.count(None)} of them unobservable." in said
    table = wizard.results.shown.table
    lines = [table.item(row, 0).text() for row in range(table.rowCount())]
    assert (
        table.isVisible()
        and table.columnCount() == 1
        and "cannot be told from these" in "".join(lines)
        and len(lines) > 3
    )
    assert wizard.save_page.save.obstacle == "Refused: nothing to save."


def test_poses_are_planned_and_written_as_a_table(
    wizard: FitWizard, measured: Path, qtbot: Any, tmp_path: Path
) -> None:
    page = wizard.request_page
    assert page["plan"].toolTip() == "nothing is planned" and not page["plan"].isEnabled()
    page["task"].setCurrentIndex(1)
    assert not page["homing"].isEnabled() and page["homing"].toolTip() == "poses are planned, nothing is calibrated"
    page["plan"].setValue(3)
    said = compute(wizard, qtbot)
    assert page.content == f"lab-hexapod, {COUNT} poses measured already"
    assert said.startswith("3 poses ") and f" {COUNT} measured" in said
    assert wizard.compute_page.begin.text() == "Plan" and wizard.results.isVisible()
    assert wizard.results.shown.table.rowCount() == 3
    target = save(wizard, qtbot)
    assert target == tmp_path / "tracker-poses.csv" and not wizard.save_page.use.isVisible()
    command = ["calibrate", "geometry", "lab-hexapod", "--data", str(measured), "--plan", "3"]
    assert main([*command, "-o", str(tmp_path / "cli.csv")]) == ExitCode.OK
    assert target.read_bytes() == (tmp_path / "cli.csv").read_bytes()

"""Calibrating the load cells on a bench from the app: the readings, the fit and its pictures, the file, and no file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench_cells import Bench, servos, write_config
from bench_readings import BIAS, write_table
from device_server import served
from fit_support import BUTTON, PATIENCE, begin, compute, looked, opened, save
from shell_support import FakeSession, press

from calibration import load_cell_calibration
from gui.calibrate import CalibrateMenu
from gui.models import Phase
from gui.wizard import FitWizard
from rig.cli import main
from rig.config.rig_config import load_config
from rig.errors import ExitCode


@pytest.fixture
def wizard(menu: CalibrateMenu, qtbot: Any, tmp_path: Path) -> FitWizard:
    write_table(tmp_path / "data.csv")
    return opened(menu.bench, tmp_path / "data.csv", qtbot)


def test_readings_become_the_command_s_file(wizard: FitWizard, qtbot: Any, tmp_path: Path) -> None:
    page = wizard.request_page
    page["serials"].setText("a,b,c,d,e,f")
    page["unit"].setText("mV")
    page.edited.emit()
    said = compute(wizard, qtbot)
    assert page.content == "7 readings of each cell at least, 50 and 50 unloaded"
    assert said.startswith("Readings in mV, masses in compression: residuals up to ")
    outcome = wizard.outcome
    assert outcome is not None
    for cell, zero in zip(outcome.result["cells"], BIAS, strict=True):
        residuals = [abs(each["residual_n"]) for each in cell["readings"]]
        assert max(residuals) == pytest.approx(cell["residual_max"]) and cell["offset"] == pytest.approx(zero, abs=0.1)
        assert cell["readings"][3]["force_n"] == pytest.approx(20.0 * 9.80665)
    assert wizard.results.shown.table.item(0, 7).text() == f"{outcome.result['cells'][0]['hysteresis']:.3f}"
    target = save(wizard, qtbot)
    command = ["calibrate", "cells", "--data", str(tmp_path / "data.csv"), "--unit", "mV", "--serials", "a,b,c,d,e,f"]
    assert main([*command, "-o", str(tmp_path / "cli.toml")]) == ExitCode.OK
    assert target.read_bytes() == (tmp_path / "cli.toml").read_bytes()
    assert wizard.save_page.naming.text() == f'calibration = "{target}"'


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"drift": 1.5}, "cell 3: the zero drifted by +1."), ({"bend": 4.0}, "cell 2: not linear: at ")],
    ids=["drifted", "bent"],
)
def test_what_fails_its_bounds_is_shown_and_cannot_be_saved(
    wizard: FitWizard, qtbot: Any, tmp_path: Path, changes: dict[str, float], why: str
) -> None:
    write_table(tmp_path / "data.csv", **changes)
    said = compute(wizard, qtbot)
    assert "✗ calibration refused, nothing written" in said and f"✗ {why}" in said
    assert wizard.results.isVisible() and wizard.results.shown.table.rowCount() == 6
    assert not wizard.button(BUTTON.NextButton).isEnabled() and not wizard.loss()
    assert wizard.compute_page.missing == wizard.save_page.save.obstacle == "Refused: nothing to save."


def test_faulty_readings_are_named_with_their_line(wizard: FitWizard, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text((tmp_path / "data.csv").read_text().replace("tare_after", "tare_later", 1))
    wizard.request_page["data"].choose(path)
    assert "phase must be one of tare_before, load, tare_after, got 'tare_later'" in looked(wizard, qtbot)
    assert not wizard.button(BUTTON.NextButton).isEnabled()
    wizard.request_page["data"].choose(None)
    assert wizard.request_page.fault == "Choose the file of readings."


@pytest.fixture
def cells() -> list[Bench]:
    return [Bench(leg) for leg in range(6)]


@pytest.fixture
def reading(
    session: FakeSession, menu: CalibrateMenu, cells: list[Bench], qtbot: Any, tmp_path: Path
) -> Iterator[FitWizard]:
    """The wizard of a rig whose cells are there to be read."""
    with served(servos(cells)) as ports:
        write_config(tmp_path / "bench.toml", ports)
        session.config = load_config(str(tmp_path / "bench.toml"))
        made = opened(menu.bench, None, qtbot)
        page = made.request_page
        assert page["data"].isEnabled() and not page["masses"].isEnabled()
        page["task"].setCurrentIndex(1)
        assert page["masses"].isEnabled() and not page["data"].isEnabled()
        yield made


def loaded_as_asked(wizard: FitWizard, cells: list[Bench], qtbot: Any) -> str:
    """What a person is asked for is done on the bench, and said to be; the question."""
    page = wizard.compute_page
    qtbot.waitUntil(lambda: page.continue_button.isVisible() or not wizard.runner.busy, timeout=PATIENCE)
    question: str = page.question.text() if page.continue_button.isVisible() else ""
    if question:
        words = question.split()
        loaded = int(words[1].rstrip(":")) if words[0] == "Cell" else 0
        mass = float(words[3]) if words[2:3] == ["Put"] else 0.0
        for leg, cell in enumerate(cells, start=1):
            cell.force = 9.80665 * mass if leg == loaded else 0.0
        press(page.continue_button)
    return question


def test_cells_of_the_rig_are_read_as_a_person_loads_them(reading: FitWizard, cells: list[Bench], qtbot: Any) -> None:
    page = reading.request_page
    page["masses"].lineEdit().setText("0; 5; 10")
    page["samples"].setValue(20)
    page.fields.edited.emit()
    begin(reading, qtbot)
    assert page.content == (
        "six cells of the rig bench in its drives, which stay off: 18 times a mass is to be changed by hand"
    )
    steps: list[str] = []
    reading.runner.stepped.connect(steps.append)
    asked = []
    while question := loaded_as_asked(reading, cells, qtbot):
        asked.append(question)
    assert [each for each in asked if each.startswith("Cell 2")] == [
        "Cell 2: take everything off.",
        "Cell 2: Put 5 kg on it, in all.",
        "Cell 2: Put 10 kg on it, in all.",
    ]
    assert len(asked) == 20 and asked[0] == asked[-1]
    assert steps[1] == "reading cell 1 under 0 kg: 5 %" and steps[-1].endswith(": 95 %")
    assert not any(cell.powered for cell in cells)
    calibration = load_cell_calibration(save(reading, qtbot))
    for bench, gain, cell in zip(cells, calibration.gain, calibration.cells, strict=True):
        assert abs(gain - 1.0 / bench.sensitivity) < 4.5 * cell.gain_standard_error
    assert calibration.provenance.source == "rig bench"


def test_serial_numbers_that_are_not_six_are_refused_by_name(reading: FitWizard, qtbot: Any) -> None:
    reading.request_page["serials"].setText("a, b")
    reading.request_page.fields.edited.emit()
    assert "serials" in looked(reading, qtbot) and not reading.button(BUTTON.NextButton).isEnabled()


def test_cells_that_are_being_loaded_can_be_given_up(
    reading: FitWizard, session: FakeSession, cells: list[Bench], qtbot: Any
) -> None:
    begin(reading, qtbot)
    assert loaded_as_asked(reading, cells, qtbot).startswith("Take everything off")
    press(reading.compute_page.cancel)
    assert not reading.runner.busy and not reading.compute_page.continue_button.isVisible()
    session.enter(Phase.UP)
    assert reading.request_page.fault == "The engine has the cells: disconnect first."

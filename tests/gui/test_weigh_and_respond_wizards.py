"""Weighing a payload and a frequency response from the app: recordings, pictures, and the commands' own files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calibrate_support import PAYLOAD
from fit_support import compute, looked, opened, recordings, save

from calibration import load_parameters
from gui.calibrate import CalibrateMenu
from gui.wizard import FitWizard
from rig.services import RespondRequest, WeighRequest, respond, weigh


@pytest.fixture
def weighing(menu: CalibrateMenu, loaded: Path, rested: Path, qtbot: Any, tmp_path: Path) -> FitWizard:
    for name, recording in (("loaded.mcap", loaded), ("bare.mcap", rested)):
        (tmp_path / name).write_bytes(recording.read_bytes())
    return opened(menu.weigh, tmp_path / "loaded.mcap", qtbot)


def test_a_payload_is_weighed_by_the_command_and_saved(weighing: FitWizard, qtbot: Any, tmp_path: Path) -> None:
    page, found, fit = weighing.request_page, recordings(weighing), weighing.results.shown
    found.choose([one.path.name for one in found.found].index("bare.mcap"), 1)
    page["without_span"].begin.set_si(0.0)
    page["without_span"].end.set_si(1.0)
    assert page.fault == "Without the payload: give a recording or a section of the first, not both."
    page["without_span"].begin.set_si(None)
    page["without_span"].end.set_si(None)
    page["at_rest"].setCurrentIndex(1)
    said = compute(weighing, qtbot)
    assert said.startswith("Payload: mass ") and "Poses at rest do not identify the inertia" in said
    outcome = weighing.outcome
    assert outcome is not None
    for each, true in zip(outcome.result["payload"], (PAYLOAD[0], *PAYLOAD[1]), strict=True):
        assert each["value"] == pytest.approx(true, abs=4.0 * each["sigma"])
    assert all(each["residual_after_n"] < 0.1 * each["residual_before_n"] for each in outcome.result["cells"])
    assert fit.table.item(0, 1).text() == "platform.mass" and fit.table.rowCount() == 4
    target = save(weighing, qtbot)
    assert target == tmp_path / "loaded-payload.toml" and load_parameters(target).kind == "payload"
    wanted = WeighRequest((tmp_path / "loaded.mcap",), tmp_path / "bare.mcap", at_rest=True, output=Path("f"))
    assert outcome.request.task.service is weigh and outcome.request.service_request(Path("f")) == wanted


def test_a_stretch_that_is_none_is_refused(weighing: FitWizard, qtbot: Any) -> None:
    during = weighing.request_page["during"]
    during.begin.set_si(5.0)
    assert "give both moments" in looked(weighing, qtbot)
    during.end.set_si(2.0)
    assert "the first moment, 5 s, must be before the last, 2 s" in looked(weighing, qtbot)
    assert weighing.compute_page.begin.obstacle and weighing.outcome is None
    during.end.set_si(7.5)
    assert weighing.request_page.request.service_request().during == (5.0, 7.5)


@pytest.fixture
def responding(menu: CalibrateMenu, excited: Path, rested: Path, qtbot: Any, tmp_path: Path) -> FitWizard:
    for name, recording in (("sines.mcap", excited), ("rests.mcap", rested)):
        (tmp_path / name).write_bytes(recording.read_bytes())
    return opened(menu.respond, tmp_path / "sines.mcap", qtbot)


def test_a_response_is_drawn_and_the_command_s_plots_are_saved(
    responding: FitWizard, qtbot: Any, tmp_path: Path
) -> None:
    page, found, fit = responding.request_page, recordings(responding), responding.results.shown
    assert not looked(responding, qtbot)
    row = [one.path.name for one in found.found].index("sines.mcap")
    assert found.table.item(row, 3).text().startswith("coordinate z, ")
    page["low"].set_si(1.0)
    assert page.fault == "Give both ends of the band, or neither."
    page["low"].set_si(None)
    said = compute(responding, qtbot)
    assert said.startswith("Coordinate z, ")
    outcome = responding.outcome
    assert outcome is not None
    assert np.abs(np.array(outcome.result["pose"]["magnitude"]) - 1.0).max() < 0.05
    assert [fit.table.item(row, 0).text() for row in range(fit.table.rowCount())] == ["pose", "force"]
    target = save(responding, qtbot)
    assert target == tmp_path / "sines-bode.svg" and not responding.save_page.use.isVisible()
    wanted = RespondRequest(tmp_path / "sines.mcap", output=Path("plots.svg"))
    assert outcome.request.task.service is respond and outcome.request.service_request(Path("plots.svg")) == wanted
    assert outcome.text is not None and target.read_bytes() == outcome.text.encode() and "</svg>" in outcome.text


def test_what_excites_nothing_is_named_by_the_first_page(responding: FitWizard, qtbot: Any) -> None:
    page = recordings(responding)
    page.choose([one.path.name for one in page.found].index("rests.mcap"))
    assert [path.name for path in page.chosen(0)] == ["rests.mcap"], "one recording at a time"
    fault = looked(responding, qtbot)
    assert fault.startswith("rests.mcap: ") and "a response is of one coordinate at a time" in fault

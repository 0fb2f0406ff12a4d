"""Published models laid over the measured forces, on a run of the virtual rig in lockstep."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from live_rows import MECHANISM, latest, live_rows
from live_views import value_of
from pyqtgraph.Qt import QtCore, QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import finite

from dynamics import DynamicsError
from dynamics.papers import MODELS, variant_cells
from gui.live import LiveView, RecordingsView
from gui.live.model_forces import UNKNOWN
from gui.live.plot_page import PlotPage
from gui.live.plot_panel import PlotPanel
from gui.models.live import MODEL_NAMES
from gui.models.timeline import Excerpt, Floats, History, Segment
from gui.session import Worker
from gui.widgets.theme import DARK
from rig.cell_models import model_differences, recorded_coulomb_speed
from rig.client.interruption import Interruption
from rig.client.lifecycle import run_motion
from rig.client.lockstep import LockstepRig
from rig.client.motions import prepare_motion
from rig.client.runs import demo_trajectory
from rig.config.rig_config import load_config
from rig.recording import Recording, open_recording
from rig.report import compare_models, summarize
from rig.report.summary import window_of
from rig.runtime import CallProcess, ChildDiedError
from rig.states import State

PUBLISHED = tuple(model for model in MODELS if model != "exact")
PEN = QtCore.Qt.PenStyle


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    config = load_config("virtual")
    table = prepare_motion(config, demo_trajectory(config.machine.geometry.home_pose, 4.0))
    path = tmp_path_factory.mktemp("models") / "run.mcap"
    with LockstepRig(config, path, Interruption()) as rig:
        run_motion(rig, table, "demo", lambda _progress: None)
    return open_recording(path)


@pytest.fixture
def view(live_view: Callable[[int, int], LiveView]) -> LiveView:
    view = live_view(1500, 760)  # of what there is in a test no row is left out of the curves
    view.set_mechanism(MECHANISM, load_config("virtual").control.coulomb_speed)
    return view


def _choose(view: LiveView, *models: str) -> None:
    for model in models:
        view.chooser.boxes[model].click()
    assert view.models.chosen == tuple(model for model in MODELS if model in models)


def _panels(view: LiveView) -> list[PlotPanel]:
    page = view.pages["Forces"]
    assert isinstance(page, PlotPage)
    return page.panels


def _drawn(panel: PlotPanel, model: str) -> list[tuple[Floats, Floats]]:
    """Times and values of a model's six curves."""
    index = [series.model for series in panel.panel.series].index(model)
    return [panel.curves[index].points(leg) for leg in range(6)]


def _wait(qtbot: QtBot, view: LiveView, timeline: History | Excerpt) -> None:
    """Until every row shown has its models."""

    def complete() -> bool:
        view.refresh(timeline)
        page = view.pages["Forces"]
        assert isinstance(page, PlotPage)
        shown = page.segment(timeline)
        finite = np.isfinite(shown.rows["reference"]).all(axis=1) & np.isfinite(shown.rows["force_model"]).all(axis=1)
        return all(np.isfinite(view.models.differences(model, shown)[finite]).all() for model in view.models.chosen)

    qtbot.waitUntil(complete, timeout=60_000)
    for _ in range(5):  # the numbers come five times slower than the curves
        view.refresh(timeline)


def _wait_for_table(view: LiveView, timeline: History | Excerpt) -> None:
    """Until every line of the table is of what is shown: one every sixth refresh."""
    for _ in range(6 * len(MODELS)):
        view.refresh(timeline)


def _expected(recording: Recording, rows: np.ndarray, model: str) -> Floats:
    """What a model at the load cells differs by from the exact one, which the recording holds."""
    assert not rows["terms"][:, 4].any()  # no external wrench was announced
    exact = rows["force_model"] - rows["force_held"]
    speed = recorded_coulomb_speed(recording.header)
    given = variant_cells(model, MECHANISM, rows["reference"], friction="same", coulomb_speed=speed)
    expected: Floats = given - exact
    return expected


def test_overlays_are_off_until_chosen(view: LiveView, recording: Recording) -> None:
    view.refresh(Excerpt(recording.rows))
    assert view.models.chosen == () and not view.chooser.table.isVisible()
    box = view.chooser.boxes["exact"]
    assert box.isChecked() and not box.isEnabled() and "always" in box.toolTip()
    for panel in _panels(view):
        for model in PUBLISHED:
            assert all(data[0] is None or not len(data[0]) for data in _drawn(panel, model))
    assert not view.models.preparing


def test_curves_are_what_the_models_say(qtbot: QtBot, view: LiveView, recording: Recording) -> None:
    running = recording.rows[recording.rows["state"] == State.RUNNING]
    timeline = Excerpt(running)
    timeline.seek(float(running["t"][900]))
    view.bar.window.setCurrentText("1 s")
    _choose(view, *PUBLISHED)
    _wait(qtbot, view, timeline)
    rows = latest(timeline, 1.0)
    forces, residuals = _panels(view)
    styles = []
    for model in PUBLISHED:
        difference = _expected(recording, rows, model)
        for leg in range(6):
            t, force = _drawn(forces, model)[leg]
            np.testing.assert_array_equal(t, rows["t"])
            np.testing.assert_allclose(force, rows["force_model"][:, leg] + difference[:, leg], atol=1e-9)
            residual = _drawn(residuals, model)[leg][1]
            np.testing.assert_allclose(residual, rows["force_measured"][:, leg] - force, atol=1e-9)
        index = [series.model for series in forces.panel.series].index(model)
        pens = forces.curves[index].pens
        assert {pen.width() for pen in pens} == {1}
        styles.append(pens[0].style())
    assert len({*styles, PEN.SolidLine, PEN.DashLine}) == 5


def test_table_says_what_the_report_says(qtbot: QtBot, view: LiveView, recording: Recording) -> None:
    summary = summarize(recording)
    timeline = Excerpt(recording.rows[window_of(recording.rows, 0, summary)])
    _choose(view, *PUBLISHED)
    _wait(qtbot, view, timeline)
    _wait_for_table(view, timeline)
    page = view.pages["Forces"]
    assert isinstance(page, PlotPage)
    assert len(page.segment(timeline)) == len(timeline)  # four seconds, in a window of ten
    for entry in compare_models(recording, summary):
        model, legs = entry["model"], np.array(entry["rms_residual_n"])
        expected = [*legs, np.sqrt(np.mean(legs**2))]
        np.testing.assert_allclose(view.models.rms_residuals(model, page.segment(timeline)), expected, rtol=1e-9)
        assert [label.text() for label in view.chooser.table.values[model]] == [f"{value:.2f}" for value in expected]
    rms = {model: float(view.chooser.table.values[model][6].text()) for model in MODELS}
    assert rms["exact"] < 1.0 < rms["pedrammehr-2012"] < rms["dasgupta-1998"] < 4.0 < rms["massless"]


def test_the_table_is_brought_up_to_date_a_line_at_a_time(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: LiveView, recording: Recording
) -> None:
    running = recording.rows[recording.rows["state"] == State.RUNNING]
    history = History(30_000)
    history.append(running[:500])
    _choose(view, *PUBLISHED)
    _wait(qtbot, view, history)
    _wait_for_table(view, history)
    counted: list[str] = []
    plain = view.models.rms_residuals

    def look(model: str, segment: Segment) -> Floats:
        counted.append(model)
        return plain(model, segment)

    monkeypatch.setattr(view.models, "rms_residuals", look)
    for row in range(500, 500 + 6 * len(MODELS)):
        history.append(running[row : row + 1])
        view.refresh(history)
    assert sorted(counted) == sorted(MODELS)
    _wait_for_table(view, history)
    counted.clear()
    _wait_for_table(view, history)
    assert counted == []  # nothing is new


def test_live_rows_are_computed_once_as_they_come(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: LiveView, recording: Recording
) -> None:
    computed: list[int] = []

    def count(
        _worker: Worker, _function: object, _mechanism: object, motions: Floats, models: tuple[str, ...], speed: float
    ) -> dict[str, Floats]:
        computed.append(len(motions))
        return model_differences(MECHANISM, motions, models, speed)

    monkeypatch.setattr(Worker, "compute", count)
    running = recording.rows[recording.rows["state"] == State.RUNNING]
    history = History(30_000)
    _choose(view, "massless")
    for start in range(0, 600, 100):
        history.append(running[start : start + 100])
        _wait(qtbot, view, history)
    assert sum(computed) == 600
    force = _drawn(_panels(view)[0], "massless")[3][1]
    expected = running["force_model"] + _expected(recording, running, "massless")
    np.testing.assert_allclose(force, expected[:600, 3], atol=1e-9)
    view.tabs.setCurrentWidget(view.pages["Terms"])
    history.append(running[600:700])
    for _ in range(9):
        view.refresh(history)
    assert sum(computed) == 600  # who does not see them does not pay for them


def test_freeze_holds_the_models_too(qtbot: QtBot, view: LiveView, recording: Recording) -> None:
    running = recording.rows[recording.rows["state"] == State.RUNNING]
    history = History(800)
    history.append(running[:700])
    view.refresh(history)
    _choose(view, "massless")
    view.bar.freeze.click()
    history.append(running[700:1500])  # more than are kept
    frozen = view._rows.present
    assert isinstance(frozen, Excerpt)
    _wait(qtbot, view, frozen)
    t, force = _drawn(_panels(view)[0], "massless")[0]
    expected = running["force_model"] + _expected(recording, running, "massless")
    assert t[-1] == running["t"][699]
    np.testing.assert_allclose(force, expected[:700, 0], atol=1e-9)
    view.bar.freeze.click()
    _wait(qtbot, view, history)
    assert _drawn(_panels(view)[0], "massless")[0][0][-1] == running["t"][1499]
    np.testing.assert_allclose(_drawn(_panels(view)[0], "massless")[0][1], expected[700:1500, 0], atol=1e-9)


def test_values_and_export_hold_the_chosen_models(
    qtbot: QtBot, view: LiveView, recording: Recording, tmp_path: Path
) -> None:
    running = recording.rows[recording.rows["state"] == State.RUNNING]
    timeline = Excerpt(running)
    _choose(view, "massless")
    view.refresh(timeline)
    view.export_table(tmp_path / "forces.csv")  # at once: rows that nobody has computed yet are computed for it
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved forces.csv", timeout=60_000)
    with open(tmp_path / "forces.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    force = running["force_model"] + _expected(recording, running, "massless")
    for name, expected in (
        ("Force at the load cell: massless leg 2 [N]", force[:, 1]),
        ("Residual: massless leg 2 [N]", running["force_measured"][:, 1] - force[:, 1]),
    ):
        np.testing.assert_allclose([float(row[name]) for row in table], expected, atol=1e-5)
    assert not any("Dasgupta" in name for name in table[0])
    _wait(qtbot, view, timeline)
    _panels(view)[0].hovered.emit(float(running["t"][500]))
    view.refresh(timeline)
    row = running[500]
    numbers = [f"{value:.1f}" for value in (row["force_measured"][1], row["force_model"][1], force[500, 1])]
    assert value_of("2", *numbers).replace("-", "−") in _panels(view)[0].header.text().replace("-", "−")
    tracking = view.pages["Tracking"]
    assert isinstance(tracking, PlotPage) and tracking.panels[0].models == ()  # the models are of forces
    view.chooser.boxes["massless"].click()
    assert view.models.chosen == ()
    view.export_table(tmp_path / "less.csv")
    qtbot.waitUntil(lambda: view.bar.note.text() == "Saved less.csv", timeout=60_000)
    assert "massless" not in (tmp_path / "less.csv").read_text(encoding="utf-8")


def test_the_newest_values_are_of_the_newest_row_that_all_models_have(qtbot: QtBot, view: LiveView) -> None:
    history = History(1000)
    history.append(live_rows(500))
    _choose(view, "massless")
    _wait(qtbot, view, history)
    numbers = _panels(view)[0].header.text()
    assert "–" not in numbers.split("<br>")[1]
    newer = live_rows(10, 500)
    newer["force_measured"] += 50.0
    history.append(newer)
    view._draw(texts=True)
    assert _panels(view)[0].header.text() == numbers and view.values.moment.text() == f"{history.times[499]:.3f} s"
    _wait(qtbot, view, history)
    view._draw(texts=True)
    assert _panels(view)[0].header.text() != numbers and view.values.moment.text() == f"{history.times[-1]:.3f} s"


def test_no_mechanism_no_models(qtbot: QtBot, view: LiveView) -> None:
    timeline = Excerpt(live_rows(500))
    _choose(view, "massless")
    _wait(qtbot, view, timeline)
    view.set_mechanism(None)
    for model in PUBLISHED:
        box = view.chooser.boxes[model]
        assert not box.isEnabled() and box.toolTip() == UNKNOWN
    assert view.models.chosen == () and not view.chooser.table.isVisible()
    view.refresh(timeline)
    view.set_mechanism(MECHANISM)
    assert view.models.chosen == ("massless",)  # what was chosen comes back with the mechanism
    _wait(qtbot, view, timeline)


def test_rows_that_are_no_motions_have_no_models(qtbot: QtBot, view: LiveView) -> None:
    rows = live_rows(400)
    rows["reference"][:100] = np.nan
    rows["reference"][100:200, 3:7] = 0.0
    timeline = Excerpt(rows)
    _choose(view, "massless")
    qtbot.waitUntil(lambda: _refreshed(view, timeline) and finite(_last(view, timeline)), timeout=60_000)
    known = np.isfinite(view.models.differences("massless", timeline.cut(0, 400))).all(axis=1)
    assert known.tolist() == [False] * 200 + [True] * 200


def test_a_row_without_the_exact_model_does_not_cost_the_others_theirs(qtbot: QtBot, view: LiveView) -> None:
    rows = live_rows(400)
    rows["reference"][100, :3] = [5.0, 0.0, 0.0]  # far out of reach: no leg forces are determined there
    rows["force_model"][100] = np.nan
    timeline = Excerpt(rows)
    _choose(view, "massless")
    qtbot.waitUntil(lambda: _refreshed(view, timeline) and finite(_last(view, timeline)), timeout=60_000)
    known = np.isfinite(view.models.differences("massless", timeline.cut(0, 400))).all(axis=1)
    assert np.flatnonzero(~known).tolist() == [100]


@pytest.mark.parametrize("kind", [DynamicsError, ZeroDivisionError])
def test_what_cannot_be_computed_is_said(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, view: LiveView, kind: type[Exception]
) -> None:
    asked: list[object] = []

    def fail(*args: object) -> dict[str, Floats]:
        asked.append(args)
        raise kind("sample 3: the platform is singular there")

    monkeypatch.setattr(Worker, "compute", fail)
    timeline = Excerpt(live_rows(50))
    _choose(view, "massless")
    for _ in range(3):
        view.refresh(timeline)
    assert view.chooser.note.text() == "preparing …"
    qtbot.waitUntil(lambda: view.chooser.note.text() == "sample 3: the platform is singular there", timeout=60_000)
    assert np.isnan(_last(view, timeline)).all()
    for _ in range(9):
        view.refresh(timeline)
    assert len(asked) == 1 and not view.models.preparing  # what has no answer is not asked for again


def test_without_its_process_no_table_is_saved_with_gaps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: QtBot, view: LiveView
) -> None:
    def die(*_arguments: object) -> dict[str, Floats]:
        raise ChildDiedError("the process of exported models has died")

    monkeypatch.setattr(Worker, "compute", die)
    monkeypatch.setattr(CallProcess, "call", die)
    _choose(view, "massless")
    view.refresh(Excerpt(live_rows(50)))
    view.export_table(tmp_path / "forces.csv")
    note = "Not saved: the process of exported models has died"
    qtbot.waitUntil(lambda: view.bar.note.text() == note, timeout=60_000)
    assert list(tmp_path.iterdir()) == []


def _refreshed(view: LiveView, timeline: Excerpt) -> bool:
    view.refresh(timeline)
    return True


def _last(view: LiveView, timeline: Excerpt) -> Floats:
    return view.models.differences("massless", timeline.cut(len(timeline) - 1, len(timeline)))


def test_models_of_a_recording_follow_its_replay(qtbot: QtBot, recording: Recording) -> None:
    view = RecordingsView(DARK)
    qtbot.addWidget(view)
    view.resize(1140, 760)
    try:
        with qtbot.waitExposed(view):
            view.show()
        view.open(recording.path)
        qtbot.waitUntil(lambda: view.opened is not None, timeout=60_000)
        assert view.replay is not None
        _choose(view.live, "dasgupta-1998")
        view.live.bar.window.setCurrentText("5 s")  # the last ones before the present
        rows = recording.rows
        for fraction in (0.9, 0.6):  # back as well as on
            view.replay.seek(float(rows["t"][int(fraction * len(rows))]))
            _wait(qtbot, view.live, view.replay.excerpt)
            t, force = _drawn(_panels(view.live)[0], "dasgupta-1998")[4]
            at = int(np.flatnonzero(rows["t"] == t[-1])[0])
            assert at == int(fraction * len(rows))
            expected = rows["force_model"][at, 4] + _expected(recording, rows[at : at + 1], "dasgupta-1998")[0, 4]
            assert expected == pytest.approx(force[-1], abs=1e-9) or expected == pytest.approx(force[-2], abs=1e-9)
    finally:
        view.close()
        view.close_worker()


def test_every_model_can_be_chosen_by_name(view: LiveView) -> None:
    assert tuple(MODEL_NAMES) == MODELS
    for box in view.chooser.findChildren(QtWidgets.QCheckBox):
        assert box.accessibleName()

"""Thresholds of a motion's own file in the app: whose each is, saved beside the motion, kept by the motion page."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from motion_support import HOME, looked
from pytestqt.qtbot import QtBot
from recorded_runs import make_runs
from shell_support import FakeSession, make_status

from gui.runs import VerdictCard
from gui.shell.main_window import MainWindow
from kinematics import Thresholds, load_trajectory
from rig.config import Validation
from rig.recording import MotionRecord
from rig.runs import Catalogue, judge_again
from rig.states import MotionKind, MotionOutcome, State

ENDED = MotionRecord(1, MotionKind.RUN, MotionOutcome.FINISHED, 0.0, 3.0, 3.0, 3.0, "sway 1", 0.5)


def _ends(session: FakeSession, motion: MotionRecord) -> None:
    """The engine tells that a motion is under way, then that it has ended."""
    begun = replace(motion, outcome=MotionOutcome.UNDERWAY, end=math.nan)
    session.take(make_status(State.RUNNING, last_motion=begun))
    session.take(make_status(State.ENGAGED, last_motion=motion))


def test_each_row_of_the_card_says_whose_threshold_it_is(qtbot: QtBot, tmp_path: Path) -> None:
    make_runs(tmp_path / "a.mcap", (0.0,), own=Thresholds(residual_rms=0.3, confidence=0.9).text)
    catalogue = Catalogue(tmp_path)
    catalogue.count(catalogue.runs())
    run = catalogue.runs()[0].described()
    card = VerdictCard("", "own.toml")
    qtbot.addWidget(card)
    card.show_run(run)
    captions = {name: label.text() for name, (label, _caption) in card.thresholds.captions.items()}
    assert captions["residual_rms"] == "Residual, RMS · the motion's" and captions["bias"] == "Bias"
    assert captions["confidence"] == "Confidence · the motion's"
    assert card.badge.text() == "✗ FAIL" and "(the motion's threshold)" in card.advice.text()
    rigs = judge_again(run["numbers"] | {"own": {}}, Validation(residual_rms=1.0, bias=0.5))
    card.show_run(run | {"numbers": rigs, "verdict": "pass"})
    assert card.thresholds.captions["bias"][0].text() == "Bias · the rig's"
    typed = judge_again(run["numbers"], Validation(residual_rms=1.0), alone=True)
    card.show_run(run | {"numbers": typed, "verdict": "pass"})
    assert card.thresholds.captions["residual_rms"][0].text() == "Residual, RMS · typed here"


def test_thresholds_are_saved_in_the_motions_own_file(
    window: MainWindow, session: FakeSession, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(window.runs.judge, "start", lambda _where, _runs, by: started.append(by))
    session.recording, row = tmp_path / "a.mcap", window.runs.card.thresholds
    _ends(session, ENDED)
    assert row.keep.obstacle == "the tab Motion shows another motion than the one that ran"
    path = tmp_path / "sway 1.toml"
    window.motion.begin_new()
    window.motion.save_file(path)
    path.write_text("# as agreed\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert not row.keep.obstacle
    row.saved_in_motion.emit(session.config.validation.model_copy(update={"bias": 0.25}))
    assert path.read_text(encoding="utf-8").startswith("# as agreed\n")
    assert load_trajectory(path, HOME).thresholds == Thresholds(bias=0.25)
    assert started[-1].thresholds.bias == 0.25
    panel = window.motion
    assert not panel.document.unsaved and panel.editor.judged_by.text() == "Judged by its own bias 0.25"

    # the table stays whatever is done to the motion, and can be taken back as any other change
    panel.amplitude.setValue(50.0)
    panel.edits.undo()
    assert panel.edits.undo_button.toolTip() == "Undo thresholds (Ctrl+Z)"
    panel.edits.undo()
    assert panel.document.unsaved and panel.document.thresholds == {} and panel.editor.judged_by.isHidden()
    panel.edits.redo()
    assert not panel.document.unsaved and panel.document.thresholds == {"bias": 0.25}
    panel.edits.redo()
    panel.save_file(tmp_path / "other.toml")
    assert load_trajectory(tmp_path / "other.toml", HOME).thresholds == Thresholds(bias=0.25)
    looked(panel, qtbot)
    assert panel.preview.table is not None and panel.preview.table.thresholds == Thresholds(bias=0.25)
    assert row.keep.obstacle == "the tab Motion shows another motion than the one that ran"

    # what the rig asks of every motion a motion cannot leave out; a later run is judged by what it recorded
    panel.save_file(path)
    strict = session.config.changed({"validation": {"lag": 0.001}})
    session.config = strict
    row.saved_in_motion.emit(Validation(bias=0.25))
    assert "lag: the rig's configuration sets 0.001 for every motion" in row.message.text()
    _ends(session, replace(ENDED, id=2))
    assert started[-1].thresholds is None

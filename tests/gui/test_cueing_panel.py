"""A vehicle is followed on the tab Follow, and the washout's tuning is changed on the page Cueing meanwhile."""

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyqtgraph.Qt import QtWidgets
from shell_support import VIRTUAL, FakeSession, make_status, press

from gui.models import tuning_entries, with_values
from gui.motion import FollowPanel
from gui.operate import CueingPanel
from gui.session import Mover
from kinematics import load_tuning
from rig.engine import FollowStream
from rig.runtime import TelemetryRing
from rig.states import State
from rig.streaming import VehicleSample, encode_vehicle

CUED = VIRTUAL.changed({"stream": {"cue": {"tuning": "lab-hexapod"}, "receiver": {"port": 0, "silence": 10.0}}})


class CuedSession(FakeSession):
    """One whose engine has a telemetry ring, and that writes down what is recorded of a tuning."""

    notes: list[str]
    engine_address: Any = None

    def note_tuning(self, text: str, at: float) -> None:
        self.notes.append(text)


@pytest.fixture
def follow(qtbot: Any, qapp: QtWidgets.QApplication, tmp_path: Path) -> Any:
    """The tab Follow alone, in view, of a rig with a washout."""
    session = CuedSession(CUED, tmp_path)
    session.notes = []
    mover = Mover(session)
    made = FollowPanel(session, mover)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close_receiver()
    mover.close()
    session.close()


@pytest.fixture
def panel(qtbot: Any, follow: FollowPanel) -> CueingPanel:
    made = CueingPanel(follow._session, follow.receiving)
    made.resize(980, 560)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_every_number_of_a_tuning_has_its_unit_and_bounds(panel: CueingPanel) -> None:
    tuning = load_tuning("lab-hexapod")
    for entry in tuning_entries():
        fields = panel.fields[entry.key]
        assert tuple(field.si() for field in fields) == entry.values(tuning)
        assert all(field.accessibleName() and " to " in field.toolTip() for field in fields)
    assert panel.fields["tilt.rate"][0].text() == "3.00 °/s"
    assert panel.fields["translation.frequency"][2].text() == "z 4.000 rad/s"
    with pytest.raises(ValueError, match="must be 0 to 2"):
        with_values(tuning, {"input.force_scale": (3.0, 1.0, 1.0)})


def test_without_a_vehicle_nothing_can_be_changed_and_the_page_says_why(panel: CueingPanel) -> None:
    assert not panel.apply.isEnabled() and not panel.fields["tilt.rate"][0].isEnabled()
    assert "press Listen on the tab Follow" in panel._reason.text()
    panel._receiving.tune(load_tuning("lab-hexapod"))
    assert "not listening: press Listen" in panel._reason.text()


def test_a_tuning_that_cannot_be_read_is_said_where_one_would_listen(qtbot: Any, tmp_path: Path) -> None:
    session = CuedSession(CUED.changed({"stream": {"cue": {"tuning": "missing.toml"}}}), tmp_path)
    mover = Mover(session)
    follow = FollowPanel(session, mover)
    made = CueingPanel(session, follow.receiving)
    for each in (follow, made):
        qtbot.addWidget(each)
    assert "missing.toml" in follow.listen.obstacle and "missing.toml" in made._reason.text()
    follow.close_receiver()
    mover.close()
    session.close()


def test_a_vehicle_is_followed_and_the_tuning_changed_and_saved(
    follow: FollowPanel, panel: CueingPanel, qtbot: Any, tmp_path: Path
) -> None:
    """With the receiver's own process, whose start takes most of the time."""
    session, receiving = follow._session, follow.receiving
    assert isinstance(session, CuedSession)
    assert "washout" in follow.things[0].caption and "144 bytes" in follow.receiver.text(1)
    assert not follow.frame.isVisible()  # a washout's poses are absolute
    with TelemetryRing.create(64) as ring:
        session.engine_address = SimpleNamespace(ring=ring.name)
        session.take(make_status(State.ENGAGED))
        press(follow.listen)
        qtbot.waitUntil(lambda: bool(receiving.address), timeout=200_000)
        port = int(receiving.address.rpartition(":")[2])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            level = VehicleSample(1, 0, 0, 5.0, 5.0, 0, (0.0, 0.0, 9.80665), (0.0, 0.0, 0.0))
            sender.sendto(encode_vehicle(level), ("127.0.0.1", port))
            qtbot.waitUntil(follow.start.isEnabled, timeout=10_000)
        assert "tuning lab-hexapod" in follow.washout.text(0)
        press(follow.start)
        (_what, command, _samples) = session.sent[-1]
        assert command == FollowStream("stream", receiving.ring, "base")
        assert "rotation.order 1" in session.notes[0] + session.notes[1]  # what it begins with
        session.take(make_status(State.RUNNING))
        field = panel.fields["input.force_scale"][0]
        assert field.isEnabled() and not panel.apply.isEnabled()
        field.lineEdit().setText("3")  # typed
        assert not panel.apply.isEnabled() and field.refusal
        field.setValue(0.8)
        with qtbot.waitSignal(receiving.tuned, timeout=10_000):
            press(panel.apply)
        assert session.notes[-1:] == ["input.force_scale [0.5, 0.5, 0.5] → [0.8, 0.5, 0.5]"]
        assert receiving.tuning.input.force_scale[0] == 0.8 and not panel.apply.isEnabled()
        panel.save_to(tmp_path / "mine.toml")
        saved = (tmp_path / "mine.toml").read_text(encoding="utf-8")
        assert load_tuning(tmp_path / "mine.toml") == receiving.tuning and "# m/s^2" in saved
        assert 'rate = "3 deg/s"' in saved
        session.take(make_status(State.ENGAGED))
        press(follow.listen)
        assert not receiving.on and not field.isEnabled()

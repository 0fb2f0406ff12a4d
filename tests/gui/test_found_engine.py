"""An engine that has the drives though the app has none of its own: said, stopped, taken over, ended; by real keys."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from configured import endpoints
from live_app import state_of, status_of
from shell_support import KEY, be_rid_of, key, make_settings, press

from gui.application import app_config
from gui.models.rules import Action, Phase
from gui.session.rig_session import RigSession
from gui.shell.main_window import MainWindow
from rig.client import on_free_ports
from rig.config.rig_config import RigConfig, load_config
from rig.engine import Shutdown, Stop
from rig.states import State

sys.path.append(str(Path(__file__).parent.parent / "rig"))
from engine_stand_in import StandIn

_PATIENCE = 20_000  # ms


@pytest.fixture
def config() -> RigConfig:
    return on_free_ports(load_config("virtual"))


@pytest.fixture
def orphan(config: RigConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """An engine whose app has died: it holds the platform, 22 s left."""
    with ExitStack() as stack:
        short = stack.enter_context(tempfile.TemporaryDirectory())  # a socket's path has little room
        monkeypatch.setattr("tempfile.tempdir", short)
        made = StandIn(config, tmp_path / "left.mcap", stack)
        made.owner.close()
        yield made


@pytest.fixture
def app(qtbot: Any, config: RigConfig, orphan: StandIn, tmp_path: Path) -> Iterator[MainWindow]:
    """The app of somebody who comes after."""
    made = MainWindow(RigSession(config, tmp_path), make_settings(tmp_path))
    made.views.building.stop()
    with qtbot.waitExposed(made):
        made.show()
    qtbot.waitUntil(lambda: made.session.found.holder is not None, timeout=_PATIENCE)
    yield made
    be_rid_of(made)


def test_it_is_said_with_the_time_left_and_stop_reaches_it(app: MainWindow, orphan: StandIn, qtbot: Any) -> None:
    assert app.banner.state_text == "In use"
    assert "has these drives: state Engaged" in app.banner.detail and "22 s left" in app.banner.detail
    assert "its app has ended, no client commands it" in app.banner.detail and "STOP reaches it" in app.banner.detail
    app.activateWindow()
    press(app.stop_button)
    assert orphan.block.take_stop() == 1
    key(KEY.Key_Escape, app)
    assert orphan.block.take_stop() == 1
    qtbot.waitUntil(lambda: sum(isinstance(each, Stop) for each in orphan.commands) == 2, timeout=_PATIENCE)
    qtbot.waitUntil(lambda: "state Parked" in app.banner.detail, timeout=_PATIENCE)
    stops = [entry.text for entry in app.views.log.model.entries if entry.text.startswith("stop, category 1")]
    assert len(stops) == 2 and all("sent to the engine that has the drives" in text for text in stops)


def test_it_is_ended_when_that_is_wanted(app: MainWindow, orphan: StandIn, qtbot: Any) -> None:
    end = app.operate.buttons[Action.DISCONNECT]
    assert end.text() == "&5  End the engine" and end.isEnabled()
    press(end)
    qtbot.waitUntil(lambda: app.session.found.holder is None, timeout=_PATIENCE)
    kinds = [type(each) for each in orphan.commands]
    assert Stop in kinds and kinds[-1] is Shutdown
    assert app.banner.state_text == "Off" and app.operate.buttons[Action.CONNECT].text() == "&1  Connect"


def test_it_is_taken_over_as_it_is(app: MainWindow, orphan: StandIn, qtbot: Any) -> None:
    take = app.operate.buttons[Action.CONNECT]
    assert take.text() == "&1  Take over" and take.isEnabled()
    press(take)
    qtbot.waitUntil(lambda: app.session.phase is Phase.UP and state_of(app) is not None, timeout=_PATIENCE)
    assert status_of(app).lease == "rig gui" and state_of(app) is State.ENGAGED
    assert app.session.engine_pid == os.getpid() and app.banner.state_text == "Engaged"
    assert orphan.block.take_stop() is None  # it is held as it was
    press(app.stop_button)
    assert orphan.block.take_stop() == 1


def test_another_that_commands_it_is_respected_by_all_but_stop(app: MainWindow, orphan: StandIn, qtbot: Any) -> None:
    assert app.session.found.engine is not None
    other = app.session.found.engine.client()
    try:
        other.acquire("rig operate")
        qtbot.waitUntil(lambda: "'rig operate' commands it" in app.banner.detail, timeout=_PATIENCE)
        for action in (Action.CONNECT, Action.DISCONNECT):
            assert app.operate.reason(action) == "'rig operate' commands it"
        press(app.stop_button)
        assert orphan.block.take_stop() == 1
        app.session.connect_rig()  # as it would be a moment before that was seen
        qtbot.waitUntil(lambda: "rig operate" in app.banner.notice.text(), timeout=_PATIENCE)
        assert app.session.phase is Phase.DOWN and "take over the engine" in app.banner.notice.text()
    finally:
        other.close()


def test_the_app_that_follows_has_the_virtual_rig_that_was_left(
    config: RigConfig, orphan: StandIn, tmp_path: Path
) -> None:
    ports = [*(port for _, port in endpoints(config)), 0]  # it has no amplifier
    settings = make_settings(tmp_path)
    settings.setValue("virtual ports", ",".join(map(str, ports)))
    followed = app_config("virtual", settings)
    assert [port for _, port in endpoints(followed)] == ports[:6]
    orphan.lock.close()  # it ends
    other = app_config("virtual", settings)
    assert not {port for _, port in endpoints(other)} & set(ports)
    kept = str(settings.value("virtual ports")).split(",")
    assert kept[:6] == [str(port) for _, port in endpoints(other)]

"""The tab Follow: what comes in before it is followed, what is sent, and what is said of it; without a rig."""

import math
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from foreign_units import foreign_vehicle
from own_packages import example, installed
from shell_support import VIRTUAL, FakeSession, make_event, make_status, press

from gui.models.follow import STREAM, UNIT, against_following, arrival_facts, following_facts, what_may_be_followed
from gui.motion.follow_panel import FollowPanel
from gui.session.mover import Mover
from rig.engine import FollowSource, FollowStream
from rig.engine.stream import StreamReport
from rig.findings import Code, Finding
from rig.runtime import TelemetryRing
from rig.states import State
from rig.streaming import SetPoint, StreamStatus, encode_set_point
from rig.streaming.sender_clock import ClockEstimate
from rig.telemetry import ROW

ENTRIES = """
[stewart_rig.references]
wave = my_references:WAVE
gone = nowhere:WAVE
bare = bare:BARE
odd = bare:ODD
bad = bare:BAD
"""
BARE = """
from typing import Literal
from rig.config import ExtensionSettings
from rig.engine import SourceDeclaration

class Odd(ExtensionSettings):
    count: int = -3
    plane: Literal["xy", "xz"] = "xz"
    mirrored: bool = False
    title: str = "a"
    sizes: tuple[float, ...] = (1.0, 2.0)

BARE = SourceDeclaration("bare", "Without settings", lambda settings, pose: None)
class Bad(ExtensionSettings):
    size: float

BAD = SourceDeclaration("bad", "A setting without a default", lambda settings, pose: None, Bad)
ODD = SourceDeclaration("odd", "Settings of many kinds", lambda settings, pose: None, Odd)
"""
SENDING = StreamStatus(
    received=520, taken=500, missing=3, reordered=2, dropped={"duplicate": 4, "invalid": 0}, sessions=1, active=True,
    sequence=505, origin="127.0.0.1:40000", silence=0.002, rate=200.0,
    clock=ClockEstimate(offset=12.5, offset_sigma=1e-4, drift=2e-5, drift_sigma=1e-6, spans=20, jitter=1.2e-3),
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    modules = {"my_references": example("class Wave:"), "bare": BARE}
    with installed(tmp_path_factory.mktemp("packages"), modules, ENTRIES):
        yield


@pytest.fixture
def panel(session: FakeSession, qtbot: Any) -> Iterator[FollowPanel]:
    """The panel alone, in view, on a free port."""
    session.config = session.config.changed({"stream": {"receiver": {"port": 0, "silence": 10.0}}})
    mover = Mover(session)
    made = FollowPanel(session, mover)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close_receiver()
    mover.close()


def text(facts: Any) -> str:
    return "\n".join(f"{fact.caption}: {fact.text}" for fact in facts)


def test_streams_and_references_are_in_one_list_also_a_broken_one() -> None:
    found = {each.key: each for each in what_may_be_followed(VIRTUAL)}
    assert list(found) == [STREAM, UNIT, "bad", "bare", "gone", "odd", "wave"]
    assert found["wave"].caption == "Regular wave"
    assert "have no defaults" in found["bad"].fault
    assert "nowhere" in found["gone"].refusal({}) and not found["wave"].refusal({"amplitude": 0.01})
    assert "amplitude" in found["wave"].refusal({"amplitude": -1.0})


def test_what_came_in_is_said_with_losses_and_clock() -> None:
    said = text(arrival_facts(SENDING))
    for part in ("127.0.0.1:40000, sending", "200 Hz", "number 505", "Taken: 500", "3, 2 overtaken", "4 duplicates",
                 "+20.0 ± 2.0 ppm", "1.2 ms"):  # fmt: skip
        assert part in said, part
    assert "not valid" not in said and text(arrival_facts(None)).count("–") == text(
        arrival_facts(StreamStatus())
    ).count("–")


def test_nothing_is_followed_before_set_points_come_in(session: FakeSession) -> None:
    (stream, *_) = what_may_be_followed(VIRTUAL)

    def against(status: StreamStatus | None) -> str:
        return against_following(stream, {}, "", session.situation, status)

    assert "connect" in against(SENDING).lower()
    session.take(make_status(State.PARKED))
    assert "engage first" in against(SENDING)
    session.take(make_status(State.ENGAGED))
    assert "press Listen" in against(None) and "start the sender" in against(StreamStatus()) and not against(SENDING)
    session.moving = True
    assert "under way" in against(SENDING)


def test_a_stream_is_seen_before_it_is_followed(panel: FollowPanel, session: FakeSession, qtbot: Any) -> None:
    session.take(make_status(State.ENGAGED))
    assert "closed" in panel.receiver.text(0) and "press Listen" in panel.start.obstacle
    press(panel.listen)
    qtbot.waitUntil(lambda: bool(panel.receiving.address), timeout=20_000)
    assert panel.receiver.text(0) == panel.receiving.address and panel.listen.text() == "Stop listening"
    port = int(panel.receiving.address.rpartition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        for number in range(40):
            pose = (0.0, 0.0, 0.0, 1.0, *[0.0] * 15)
            wire.sendto(
                encode_set_point(SetPoint(7, 0, number, number / 200, number / 200, 0, pose)), ("127.0.0.1", port)
            )
        qtbot.waitUntil(lambda: panel.start.isEnabled(), timeout=5_000)
    assert "sending" in panel.arrivals.text(0) and panel.arrivals.text(3) == "40"
    panel.frame.setCurrentIndex(panel.frame.findData("home"))
    press(panel.start)
    (what, command, _samples) = session.sent[-1]
    assert what == "follow" and command == FollowStream(STREAM, panel.receiving.ring, "home")
    session.take(make_status(State.RUNNING, stream=StreamReport("following", 0.0503, 900, 1, 2, 3, 40)))
    assert [panel.platform.text(row) for row in range(4)] == [
        "following", "50.3 ms, stated 50 ms", "900 used, 1 lost, 2 late, 3 not usable", "40 cycles",
    ]  # fmt: skip
    assert "stop it first" in panel.listen.obstacle and "already" in panel.start.obstacle
    press(panel.stop)
    assert session.stops == [(2, "hold")]
    session.take(make_status(State.ENGAGED))
    press(panel.listen)
    assert not panel.receiving.address and panel.listen.text() == "Listen"


def test_findings_come_with_what_to_do(panel: FollowPanel, session: FakeSession) -> None:
    lost = Finding(Code.STREAM_STARVED, 0, bound=0.05, details={"stream": "stream"})
    events = (make_event(lost), make_event("a remark on something else"))
    session.take(make_status(State.RUNNING, events=events))
    assert "delay of 0.05 s does not cover" in panel.findings.toPlainText()
    assert "Raise stream.delay" in panel.findings.toPlainText() and "remark" not in panel.findings.toPlainText()


def test_a_reference_is_followed_with_its_settings(panel: FollowPanel, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    panel.choose("wave")
    assert panel.form is not None and not panel.start.obstacle
    panel.form.fields["amplitude"].set_value(0.003)
    press(panel.start)
    assert session.sent[-1][1] == FollowSource("wave", {"amplitude": 0.003, "period": 2.0})
    box = panel.form.fields["amplitude"].box
    box.setFocus()
    box.lineEdit().setText("0.7")
    box.lineEdit().textEdited.emit("0.7")
    assert "amplitude" in panel.start.obstacle and "0.5" in panel.start.obstacle
    panel.choose("gone")
    assert "nowhere" in panel.start.obstacle
    panel.choose("bare")
    assert panel.form is None and not panel.start.obstacle


def test_an_fmu_is_chosen_by_its_file(panel: FollowPanel, session: FakeSession, tmp_path: Path) -> None:
    session.take(make_status(State.ENGAGED))
    panel.choose(UNIT)
    assert "choose the FMU's file" in panel.start.obstacle and panel.unit_settings.text(0) == "–"
    path = tmp_path / "vehicle.fmu"
    for there in (False, True):
        panel.file.set_value(str(path))
        panel.file.edited.emit()
        assert ("there is no file" in panel.start.obstacle) is not there
        path.touch()
    assert not panel.start.obstacle and panel.unit_settings.text(0) == "5 ms"


def test_an_fmu_is_followed_until_it_fails(
    panel: FollowPanel, session: FakeSession, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiled one in its own process, with an engine's telemetry of which only the ring is there."""
    ship = foreign_vehicle(3, tmp_path)
    reference = {"fmu": str(ship), "step": 0.006, "lead": 0.1, "connections": ["heave -> pose.z"],
                 "parameters": ["heave_size = 0.005", "trouble = 3", "trouble_at = 0.42"]}  # fmt: skip
    session.config = session.config.changed({"reference": reference, "stream": {"delay": 0.5, "watchdog": 5.0}})
    with TelemetryRing.create(64) as ring:
        row = np.zeros(1, ROW)
        row["pose"][0, 3] = 1.0
        ring.push(row)
        monkeypatch.setattr(FakeSession, "engine_address", SimpleNamespace(ring=ring.name))
        session.take(make_status(State.ENGAGED))
        panel.choose(UNIT)
        panel.file.set_value(str(ship))
        panel.file.edited.emit()
        panel.frame.setCurrentIndex(panel.frame.findData("home"))
        assert panel.frame.isVisible() and panel.unit_settings.text(0) == "6 ms"
        press(panel.start)
        assert "is started" in panel.unit_progress.text(0) and "is being started" in panel.start.obstacle
        qtbot.waitUntil(lambda: bool(session.sent), timeout=60_000)
        command = session.sent[-1][1]
        assert (command.name, command.frame) == ("ship3", "home") and command.ring
        assert panel.unit_progress.text(0) == "gives set-points" and "of 6 ms" in panel.unit_progress.text(2)
        session.take(make_status(State.RUNNING, stream=StreamReport("following", 0.5, 9, 0, 0, 0, 0)))
        qtbot.waitUntil(lambda: bool(session.stops), timeout=60_000)
    (failure,) = session.reported
    assert (failure.code, failure.details["log"]) == (Code.REFERENCE_FMU_FAILED, "a wave breaks at 0.42 s")
    assert session.stops == [(2, "FMU")] and panel.unit.phase == "off" and panel.unit_progress.text(0) == "has failed"
    session.take(make_status(State.ENGAGED, events=(make_event(failure),)))
    assert "a wave breaks at 0.42 s. Try the FMU alone" in panel.findings.toPlainText()


def test_settings_of_many_kinds_have_fields(panel: FollowPanel, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    panel.choose("odd")
    assert panel.form is not None and not panel.start.obstacle
    assert panel.form.values() == {"count": -3, "plane": "xz", "mirrored": False, "title": "a", "sizes": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": State.STOPPING}, "coming to rest"),
        ({"state": State.ENGAGED, "paused": True}, "holding, can be resumed"),
        ({"state": State.ENGAGED}, "nothing is followed"),
    ],
)
def test_the_state_is_said_in_words(session: FakeSession, changes: dict[str, Any], said: str) -> None:
    stream = StreamReport("fading out", 0.05, 1, 0, 0, 0, 0)
    status = make_status(**changes, stream=stream, path_duration=math.inf)
    assert following_facts(session.config, status)[0].text == said


def test_a_port_that_is_taken_is_said(panel: FollowPanel, session: FakeSession, qtbot: Any, tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        session.config = session.config.changed({"stream": {"receiver": {"port": taken.getsockname()[1]}}})
        refused: list[Any] = []
        session.refused.connect(lambda what, found: refused.append((what, found.text)))
        press(panel.listen)
        qtbot.waitUntil(lambda: bool(refused), timeout=20_000)
    assert "cannot listen on 127.0.0.1" in refused[0][1] and not panel.receiving.on and panel.listen.text() == "Listen"

"""Which tone is heard when, and that without an audio device nothing is amiss."""

import io
import wave
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyqtgraph.Qt import QtWidgets
from pytestqt.qtbot import QtBot
from shell_support import VIRTUAL, FakeSession, make_settings, make_status

from gui.models import Phase
from gui.shell.main_window import MainWindow
from gui.shell.sounds import Beeps, Player, Sounds, Tone, player_for, wav_of
from rig.recording import MotionRecord
from rig.states import MotionKind, MotionOutcome, State

RUN = MotionRecord(4, MotionKind.RUN, MotionOutcome.FINISHED, 0.0, 3.0, 3.0, 3.0, "up")


class Heard:
    """Writes down what it is asked to play."""

    lacks = ""

    def __init__(self) -> None:
        self.tones: list[str] = []

    def play(self, tone: Tone) -> None:
        self.tones.append(tone.name)

    def taken(self) -> list[str]:
        """What was heard since the last call."""
        tones, self.tones = self.tones, []
        return tones


@pytest.fixture
def session(qtbot: QtBot, tmp_path: Path) -> Iterator[FakeSession]:
    made = FakeSession(VIRTUAL, tmp_path)
    yield made
    made.close()


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def sounds(session: FakeSession, tmp_path: Path, heard: Heard) -> Iterator[Sounds]:
    made = Sounds(session, make_settings(tmp_path), player=lambda _folder: heard)
    made.switch(on=True)
    yield made
    made.close()


def _takes(session: FakeSession, *states: State) -> None:
    for state in states:
        session.take(make_status(state))


def test_torque_that_comes_is_heard_once(session: FakeSession, sounds: Sounds, heard: Heard) -> None:
    _takes(session, State.PARKED, State.ENGAGING, State.ENGAGED, State.ENGAGED)
    assert heard.taken() == ["TORQUE"]
    _takes(session, State.PARKING, State.PARKED)
    assert heard.taken() == []


def test_a_motion_that_came_to_its_end_is_heard_and_a_jog_is_not(
    session: FakeSession, sounds: Sounds, heard: Heard
) -> None:
    session.take(make_status(State.ENGAGED))
    session.take(make_status(State.RUNNING))
    for _ in range(2):
        session.take(make_status(State.ENGAGED, last_motion=RUN))
    assert heard.taken() == ["ENDED"]
    for other in (replace(RUN, id=5, kind=MotionKind.JOG), replace(RUN, id=6, outcome=MotionOutcome.ABANDONED)):
        session.take(make_status(State.ENGAGED, last_motion=other))
    assert heard.taken() == []


def test_what_was_so_before_anybody_looked_is_not_heard(session: FakeSession, sounds: Sounds, heard: Heard) -> None:
    session.take(make_status(State.ENGAGED, last_motion=RUN))
    assert heard.taken() == []


@pytest.mark.parametrize("asked", [True, False])
def test_a_stop_is_heard_once_whoever_asked_for_it(
    session: FakeSession, sounds: Sounds, heard: Heard, asked: bool
) -> None:
    _takes(session, State.ENGAGED, State.RUNNING)
    if asked:
        session.stop(1)
        assert heard.taken() == ["STOP"]  # at once
    _takes(session, State.STOPPING, State.STOPPING, State.PARKED)
    assert heard.taken() == ([] if asked else ["STOP"])
    session.stop(1)  # nothing moves, nothing is to be told
    assert heard.taken() == []
    _takes(session, State.ENGAGED, State.STOPPING)
    assert heard.taken() == ["TORQUE", "STOP"]


def test_a_fault_is_heard_again_until_it_is_acknowledged(session: FakeSession, sounds: Sounds, heard: Heard) -> None:
    assert sounds._again.interval() == 2000
    _takes(session, State.RUNNING)
    session.take(make_status(State.STOPPING, latched=True))
    _takes(session, State.FAULT, State.FAULT)
    assert heard.taken() == ["FAULT"] and sounds._again.isActive()
    sounds._again.timeout.emit()
    assert heard.taken() == ["FAULT"]
    session.refused.emit("reset", "the cause is still there")
    assert not sounds._again.isActive()
    _takes(session, State.FAULT, State.IDLE, State.FAULT)
    assert heard.taken() == ["FAULT"] and sounds._again.isActive()
    session.stop(1)
    assert not sounds._again.isActive()
    _takes(session, State.IDLE, State.FAULT, State.IDLE)
    assert heard.taken() == ["FAULT"] and not sounds._again.isActive()


def test_an_engine_that_dies_is_a_fault(session: FakeSession, sounds: Sounds, heard: Heard) -> None:
    _takes(session, State.ENGAGED)
    session.enter(Phase.DIED)
    assert heard.taken() == ["FAULT"] and sounds._again.isActive()
    session.enter(Phase.STARTING)
    assert not sounds._again.isActive()


def test_off_means_nothing_and_is_kept(session: FakeSession, tmp_path: Path, heard: Heard) -> None:
    settings, made = make_settings(tmp_path), list[Path]()

    def make(folder: Path) -> Player:
        made.append(folder)
        return heard

    sounds = Sounds(session, settings, player=make)
    _takes(session, State.PARKED, State.ENGAGED, State.STOPPING, State.FAULT)
    assert not sounds.on and made == [] and heard.taken() == [] and not sounds._again.isActive()
    sounds.switch(on=True)
    assert Sounds(session, settings, player=make).on and made == [tmp_path / "sounds"] * 2
    sounds.switch(on=False)
    assert not Sounds(session, settings, player=make).on


def test_without_audio_there_is_the_beep_and_the_reason(
    session: FakeSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beeps: list[bool] = []
    monkeypatch.setattr(QtWidgets.QApplication, "beep", lambda: beeps.append(True))

    def lacking(_folder: Path) -> Player:
        raise ImportError("libpulse.so.0: cannot open shared object file")

    player = player_for(tmp_path / "sounds", lacking)
    assert isinstance(player, Beeps) and not (tmp_path / "sounds").exists()
    sounds = Sounds(session, make_settings(tmp_path), player=lambda _folder: player)
    assert sounds.words == "Sou&nds"
    sounds.switch(on=True)
    assert sounds.words == "Sou&nds (only the system's beep: libpulse.so.0: cannot open shared object file)"
    _takes(session, State.PARKED, State.ENGAGED)
    assert beeps == [True]
    sounds.close()


def test_the_switch_is_in_the_menu(window: MainWindow) -> None:
    action = window.menus.view.sound
    assert action.isCheckable() and not action.isChecked() and not window.menus.view.sounds.on
    action.trigger()
    assert window.menus.view.sounds.on and action.text() == window.menus.view.sounds.words
    action.trigger()
    assert not window.menus.view.sounds.on and action.text() == "Sou&nds"


@pytest.mark.parametrize("tone", Tone)
def test_tones_are_short_and_do_not_click(tone: Tone) -> None:
    with wave.open(io.BytesIO(wav_of(tone))) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)
        rate, count = file.getframerate(), file.getnframes()
    frequencies, duration = tone.value
    assert 0.1 < count / rate < 0.6 and samples[0] == 0.0 and abs(samples[-1]) < 500 and np.abs(samples).max() < 14_000
    first = samples[: round(duration * rate)]
    peak = np.abs(np.fft.rfft(first)).argmax() / (len(first) / rate)
    assert peak == pytest.approx(frequencies[0], abs=10.0)

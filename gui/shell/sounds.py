"""Sounds: torque on, end of a motion, stop, fault; off by default."""

import io
import wave
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from pyqtgraph.Qt import QT_LIB, QtCore, QtWidgets

from gui.models import Phase
from gui.session import RigSession
from gui.texts import tr
from rig.engine import TORQUE_STATES, Snapshot
from rig.states import MotionKind, MotionOutcome, State

_RATE = 22_050  # Hz
_LOUD = 0.4  # of full scale
_FADE = 0.008  # s, so that a tone does not click


class Tone(Enum):
    """A tone: frequencies, Hz, one after the other, and the duration of each, s."""

    TORQUE = ((523.0, 784.0), 0.12)
    ENDED = ((784.0, 1047.0), 0.15)
    STOP = ((523.0, 349.0), 0.18)
    FAULT = ((880.0, 622.0, 880.0), 0.16)


def wav_of(tone: Tone) -> bytes:
    """Return a tone as a mono 16-bit WAV file."""
    frequencies, duration = tone.value
    t = np.arange(round(duration * _RATE)) / _RATE
    fade = np.minimum(1.0, np.minimum(t, duration - t) / _FADE)
    samples = np.concatenate([fade * np.sin(2.0 * np.pi * frequency * t) for frequency in frequencies])
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(_RATE)
        written.writeframes((_LOUD * 32767 * samples).astype("<i2").tobytes())
    return file.getvalue()


class Player(Protocol):
    """Plays tones; `lacks` is why they are only beeps, else empty."""

    lacks: str

    def play(self, tone: Tone) -> None:
        """Start a tone; returns at once."""


class Beeps:
    """The system beep in place of every tone, if there is one.

    Args:
        lacks: why there are no tones.
    """

    def __init__(self, lacks: str) -> None:
        self.lacks = lacks

    def play(self, _tone: Tone) -> None:
        """See `Player`."""
        QtWidgets.QApplication.beep()


class Effects:
    """Tones on the audio device, from files.

    Args:
        folder: of the files; created if missing.

    Raises:
        ImportError: Qt's audio library is incomplete.
        OSError: no audio device, or the files cannot be written.
    """

    lacks = ""

    def __init__(self, folder: Path) -> None:
        audio = import_module(f"{QT_LIB}.QtMultimedia")
        if not audio.QAudioDeviceInfo.availableDevices(audio.QAudio.AudioOutput):
            raise OSError(tr("no audio device"))
        folder.mkdir(parents=True, exist_ok=True)
        self._effects = {}
        for tone in Tone:
            path = folder / f"{tone.name.lower()}.wav"
            path.write_bytes(wav_of(tone))
            effect = self._effects[tone] = audio.QSoundEffect()
            effect.setSource(QtCore.QUrl.fromLocalFile(str(path)))

    def play(self, tone: Tone) -> None:
        """See `Player`."""
        self._effects[tone].play()


def player_for(folder: Path, effects: Callable[[Path], Player] = Effects) -> Player:
    """Return the player for this machine, with its files in a folder."""
    try:
        return effects(folder)
    except (ImportError, OSError) as error:
        return Beeps(str(error).splitlines()[0] if str(error) else tr("no audio"))


_AGAIN = 2000  # ms between tones of an unacknowledged fault
_KEY = "sounds"


class Sounds(QtCore.QObject):
    """Plays sounds for the rig's state. Signal `changed`: `words` has changed.

    A fault sounds repeatedly until acknowledged: by Reset, even if refused, or by STOP.

    Args:
        session: the rig.
        settings: store of the switch; the tones' files are next to them.
        player: creates the player, when first needed.
    """

    changed = QtCore.Signal()

    def __init__(
        self,
        session: RigSession,
        settings: QtCore.QSettings,
        parent: QtCore.QObject | None = None,
        player: Callable[[Path], Player] = player_for,
    ) -> None:
        super().__init__(parent)
        self._session, self._settings, self._make = session, settings, player
        self._player: Player | None = None
        self._state: State | None = None
        self._ended = 0
        """Last motion whose end was noticed."""
        self._faulty = self._stop_played = False
        self._again = QtCore.QTimer(self, interval=_AGAIN)
        self._again.timeout.connect(lambda: self._play(Tone.FAULT))
        session.statusChanged.connect(self._follow)
        session.changed.connect(self._check_fault)
        session.stopped.connect(self._stop_requested)
        session.accepted.connect(self._answered)
        session.refused.connect(lambda what, _reason: self._answered(what))
        if settings.value(_KEY, "false") in (True, "true"):
            self.switch(on=True)

    @property
    def on(self) -> bool:
        """Whether sounds are on."""
        return self._player is not None

    @property
    def words(self) -> str:
        """Text of the switch, with the reason if there are no tones."""
        lacks = "" if self._player is None else self._player.lacks
        return tr("Sou&nds (only the system's beep: {lacks})").format(lacks=lacks) if lacks else tr("Sou&nds")

    def switch(self, *, on: bool) -> None:
        """Switch sounds on or off, and save that."""
        folder = Path(self._settings.fileName()).with_name("sounds")
        self._player = self._make(folder) if on else None
        self._settings.setValue(_KEY, on)
        if not on:
            self._again.stop()
        self.changed.emit()

    def close(self) -> None:
        """Stop all sounds. May be called again."""
        self._again.stop()
        self._player = None

    def _play(self, tone: Tone) -> None:
        if self._player is not None:
            self._player.play(tone)

    def _follow(self, status: Snapshot) -> None:
        before, self._state = self._state, status.state
        motion = status.last_motion
        over = 0 if motion is None or motion.outcome == MotionOutcome.UNDERWAY else motion.id
        new, self._ended = over not in (0, self._ended), over or self._ended
        self._check_fault()
        if before is None or self._faulty:  # no change is known at first; a fault has its own tone
            return
        torque = status.state in TORQUE_STATES
        if torque and before not in TORQUE_STATES:
            self._play(Tone.TORQUE)
        if status.state is State.STOPPING and before is not State.STOPPING and not self._stop_played:
            self._play(Tone.STOP)
        elif new and motion is not None and motion.kind == MotionKind.RUN and motion.outcome == MotionOutcome.FINISHED:
            self._play(Tone.ENDED)
        self._stop_played = self._stop_played and torque and status.state is not State.ENGAGED

    def _stop_requested(self, _category: int) -> None:
        self._again.stop()  # STOP acknowledges
        if self._session.torque and not self._stop_played:
            self._stop_played = True
            self._play(Tone.STOP)

    def _answered(self, what: str) -> None:
        if what == "reset":
            self._again.stop()

    def _check_fault(self) -> None:
        status, phase = self._session.status, self._session.phase
        if phase is not Phase.UP:
            self._state = None
        latched = status is not None and (status.latched or status.state is State.FAULT)
        faulty = phase is Phase.DIED or (phase is Phase.UP and latched)
        if faulty and not self._faulty:
            self._play(Tone.FAULT)
            if self.on:
                self._again.start()
        elif not faulty:
            self._again.stop()
        self._faulty = faulty

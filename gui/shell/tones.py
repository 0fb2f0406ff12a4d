"""Short tones, made when they are needed, and what plays them: an audio device, or else the system's beep."""

import io
import wave
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from pyqtgraph.Qt import QT_LIB, QtCore, QtWidgets

from gui.texts import tr

_RATE = 22_050  # Hz
_LOUD = 0.4  # of full scale
_FADE = 0.008  # s, so that a tone does not click


class Tone(Enum):
    """What is told by a tone: frequencies, Hz, one after the other, and how long each is, s."""

    TORQUE = ((523.0, 784.0), 0.12)
    ENDED = ((784.0, 1047.0), 0.15)
    STOP = ((523.0, 349.0), 0.18)
    FAULT = ((880.0, 622.0, 880.0), 0.16)


def wav_of(tone: Tone) -> bytes:
    """A tone as a WAV file of one channel, 16 bits."""
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
    """Plays tones; `lacks` says why they are only beeps, empty when they are not."""

    lacks: str

    def play(self, tone: Tone) -> None:
        """Begin to play a tone; returns at once."""


class Beeps:
    """The system's own beep in place of every tone; silent where there is none.

    Args:
        lacks: why there are no tones.
    """

    def __init__(self, lacks: str) -> None:
        self.lacks = lacks

    def play(self, _tone: Tone) -> None:
        """See `Player`."""
        QtWidgets.QApplication.beep()


class Effects:
    """Tones on the audio device, from files that are written for it.

    Args:
        folder: where the files go; it is made.

    Raises:
        ImportError: Qt's audio library lacks something on this machine.
        OSError: there is no audio device, or the files cannot be written.
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
    """What plays tones on this machine, with files of its own in a folder."""
    try:
        return effects(folder)
    except (ImportError, OSError) as error:
        return Beeps(str(error).splitlines()[0] if str(error) else tr("no audio"))

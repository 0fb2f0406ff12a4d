"""The whole way of a stream: a sender in another process, packets, a live virtual rig, and what comes back."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomlkit
from live_bench import patient_config

from rig.cli import main
from rig.errors import ExitCode
from rig.recording import RecordingFile
from rig.runtime import ChildDiedError
from rig.services import Event, FollowRequest, FollowResult, Progress, follow_stream, following
from rig.states import State
from rig.streaming import StreamReceiver

GUIDE = Path(__file__).parents[2] / "docs" / "streaming.md"
HEIGHT = 0.01  # m, of the guide's motion


def _given(data: Any) -> Any:
    """A configuration's data as its file has it: what is not given is left out."""
    if isinstance(data, dict):
        return {key: _given(value) for key, value in data.items() if value is not None}
    return [_given(each) for each in data] if isinstance(data, list | tuple) else data


class Session:
    """A followed stream, and its sender, which begins once the rig listens."""

    def __init__(self, folder: Path, seconds: float) -> None:
        relaxed = {"frame": "home", "delay": 0.25, "watchdog": 2.0, "stop_after": 20.0, "receiver": {"port": 0}}
        config = patient_config().changed({"stream": relaxed})
        self.file = folder / "my-rig.toml"
        self.file.write_text(tomlkit.dumps(_given(config.resolved())), encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        (text,) = (text for text in blocks if "SRSP" in text)
        self._source = folder / "sender.py"
        self._source.write_text(text, encoding="utf-8")
        self._folder, self._seconds = folder, seconds
        self.sender: subprocess.Popen[str] | None = None
        self.interrupt = False
        self.at_work: Callable[[], None] | None = None
        """done once, while the stream is followed"""

    def follow(self) -> FollowResult:
        return follow_stream(FollowRequest(str(self.file), output=self._folder / "runs"), self._heard)

    def _heard(self, event: Event) -> None:
        if not isinstance(event, Progress):
            return
        if event.stage == "listening":
            port = event.values["place"].rpartition(":")[2]
            command = [sys.executable, "-I", str(self._source), port, str(self._seconds)]
            self.sender = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        elif event.stage == "following" and self.interrupt:
            self.interrupt = False
            signal.raise_signal(signal.SIGINT)
        elif event.stage == "following" and self.at_work is not None:
            self.at_work()
            self.at_work = None


@pytest.fixture
def session(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Session]:
    made = Session(tmp_path, request.param)
    yield made
    if made.sender is not None:
        made.sender.kill()
        made.sender.communicate()


@pytest.mark.parametrize("session", [4.0], indirect=True)
def test_a_stream_is_followed_from_a_standing_start_to_its_end(session: Session) -> None:
    result = session.follow()
    assert result.run.error is None
    stream, delay = result.stream, result.delay
    assert (stream.taken, stream.missing, stream.ended, stream.sessions) == (2000, 0, True, 1)
    assert sum(stream.dropped.values()) == 0
    assert delay is not None and delay.stated == 0.25
    assert delay.cycles > 50
    assert session.sender is not None
    said = session.sender.communicate(timeout=60)[0]
    assert 0.4 < float(said.split(":")[1].split()[0]) < 0.5  # m: it heard where the platform was
    rows = np.concatenate([block.copy() for block in RecordingFile(result.run.recording).blocks()])
    followed = np.isfinite(rows["stream_asked"][:, 0])
    lift = rows["reference"][followed, 2]
    assert 0.5 * HEIGHT < np.ptp(lift) < 1.2 * HEIGHT
    shown = json.loads(json.dumps(result.summary, allow_nan=False))["stream"]
    assert (shown["taken"], shown["delay"]["stated"], shown["address"]) == (2000, 0.25, result.address)


@pytest.mark.parametrize("session", [120.0], indirect=True)
def test_ctrl_c_ends_a_stream_and_parks_the_platform(session: Session) -> None:
    session.interrupt = True
    result = session.follow()
    assert result.run.error is None
    assert result.interrupted
    assert result.stream.taken > 0
    assert result.run.summary["recording"]["complete"]


@pytest.mark.parametrize("session", [120.0], indirect=True)
def test_a_receiver_that_dies_stops_the_rig_and_what_it_said_is_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[StreamReceiver] = []

    class Known(StreamReceiver):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            made.append(self)

    def kill() -> None:
        assert made[0].pid is not None
        os.kill(made[0].pid, signal.SIGKILL)

    monkeypatch.setattr(following, "StreamReceiver", Known)
    session.at_work = kill
    result = session.follow()
    assert isinstance(result.run.error, ChildDiedError)
    assert "the stream receiver has died" in str(result.run.error)
    assert result.stream.taken > 0
    states = np.concatenate([block["state"].copy() for block in RecordingFile(result.run.recording).blocks()])
    assert State.RUNNING in states and states[-1] == State.PARKED  # the stream faded out before
    assert not Path("/dev/shm", made[0].ring.name).exists()


def test_nothing_is_started_without_the_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = patient_config().changed({"stream": {"receiver": {"host": "0.0.0.0", "key_file": "stream.key"}}})
    file = tmp_path / "my-rig.toml"
    file.write_text(tomlkit.dumps(_given(config.resolved())), encoding="utf-8")
    assert main(["follow", str(file), "-o", str(tmp_path / "runs")]) == ExitCode.INPUT
    assert "stream.key: No such file" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()

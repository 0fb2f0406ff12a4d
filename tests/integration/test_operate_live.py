"""`rig operate` on real processes: somebody is there between two commands, and Ctrl-C stops the rig."""

import io
import os
import signal
import time
from pathlib import Path

import pytest
from live_bench import live_config
from lockstep_bench import causes
from waiting import eventually

from rig.cli.console import Console
from rig.client.interruption import Interruption
from rig.client.lifecycle import connect
from rig.client.live import LiveRig
from rig.client.lockstep import LockstepRig
from rig.client.runs import conduct
from rig.engine import Stop
from rig.errors import HardwareError, InterruptedRunError
from rig.recording import open_recording
from rig.states import FaultCode, State

_PATIENCE = 10.0  # s
UP = """frame = "home"
[[parts]]
type = "minimum-jerk"
start = [0, 0, 0, 0, 0, 0]
end = [0, 0, "20 mm", 0, 0, 0]
duration = 20
"""


class Thoughtful(io.StringIO):
    """A script whose author thinks for longer than a silent client is borne, and presses Ctrl-C at last."""

    def __init__(self, lines: str, pause: float) -> None:
        super().__init__(lines)
        self.pause = pause

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # the stub's bases differ in it
        line = super().readline()
        if line == "# thinks\n":
            end = time.monotonic() + self.pause
            eventually(lambda: time.monotonic() > end, "the thought")
        elif line == "^C\n":
            signal.raise_signal(signal.SIGINT)
        return line


def test_an_engine_that_has_died_is_not_waited_for(tmp_path: Path) -> None:
    with LiveRig(live_config(), tmp_path / "run.mcap", "test", Interruption()) as rig:
        connect(rig)
        pid = rig.engine.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        rig.engine.join(_PATIENCE)
        with pytest.raises(HardwareError, match="the engine has died"):
            rig.status()
        with pytest.raises(HardwareError, match="the engine has died"):
            rig.request(Stop())


def test_somebody_is_there_between_commands_and_ctrl_c_stops_the_rig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = live_config(speed=1.0)
    (tmp_path / "up.toml").write_text(UP)
    script = (
        "connect\nhome\n# thinks\nengage\njog z 2mm\nfaults\ninject payload --value 0\n"
        f"start {tmp_path / 'up.toml'}\n# thinks\nstatus\n^C\npark\n"
    )
    monkeypatch.setattr("sys.stdin", Thoughtful(script, 1.5 * config.safety.heartbeat))
    interruption = Interruption()

    def body(rig: LockstepRig | LiveRig) -> None:
        Console(rig, interruption, terminal=False).serve()

    result = conduct(
        config, body, "operate", tmp_path / "out", interruption, lockstep=False, report=lambda _progress: None
    )
    assert isinstance(result.error, InterruptedRunError) and result.report.exists()
    printed = capsys.readouterr()
    assert "state      RUNNING" in printed.out and "> park" not in printed.out
    assert printed.out.count("HOMING → PARKED") == 1
    recording = open_recording(result.recording)
    assert recording.complete and recording.rows["state"][-1] == State.PARKED
    assert causes(recording) == [FaultCode.OPERATOR_STOP]

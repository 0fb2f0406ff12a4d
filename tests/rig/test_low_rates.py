"""A rig at the lowest rates: the drives close the loop, and everything else holds as at any other."""

from pathlib import Path

import pytest

from rig.cli import main
from rig.config import LEAST_RATE, RigConfig, load_config
from rig.errors import ConfigError, ExitCode
from rig.recording import open_recording
from rig.states import State


def at(rate: float) -> RigConfig:
    """The virtual rig in mode position; its drives bear two and a half cycles without a command."""
    return load_config("virtual").changed({"rate": rate, "mode": "position", "drives": {"watchdog": 2.5 / rate}})


@pytest.mark.parametrize("rate", [LEAST_RATE, 20.0])
def test_a_motion_runs_and_the_model_explains_the_forces(here: Path, undrawn_reports: None, rate: float) -> None:
    text = load_config("virtual").path.read_text(encoding="utf-8")
    for old, new in (
        ('rate = "500 Hz"', f"rate = {rate}"),
        ('mode = "force"', 'mode = "position"'),
        ('watchdog = "50 ms"', f"watchdog = {2.5 / rate}"),
    ):
        assert old in text
        text = text.replace(old, new)
    (here / "slow.toml").write_text(text, encoding="utf-8")
    assert main(["run", "slow.toml", "demo", "--lockstep", "-o", "out"]) == ExitCode.OK
    (file,) = (here / "out").glob("*.mcap")
    recording = open_recording(file)
    running = recording.rows["state"] == State.RUNNING
    assert running.sum() > 2.0 * rate
    assert abs(recording.rows["force_residual"][running]).max() < 30.0
    assert recording.header["rate"] == rate


def test_what_cannot_be_at_a_low_rate_is_refused_with_its_bound() -> None:
    with pytest.raises(ConfigError, match=r"rate: .*5 Hz"):
        at(4.9)
    with pytest.raises(ConfigError, match=r"drives.watchdog: 0.3 s is less than two cycles \(0.4 s\)"):
        at(LEAST_RATE).changed({"drives": {"watchdog": 0.3}})
    with pytest.raises(ConfigError, match=r"safety.stale_time: 0.1 s, must be at least 0.2 s, a cycle at 5 Hz"):
        at(LEAST_RATE).changed({"safety": {"stale_time": 0.1}})

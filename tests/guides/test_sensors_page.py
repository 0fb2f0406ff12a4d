"""The examples of the page on sensors: the first run, the sender, and a reader of one's own."""

import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from configured import VIRTUAL
from own_packages import installed

from rig.config import SensorOptions
from rig.recording import READING
from rig.runtime import TelemetryRing
from rig.sensing import MachineTime, ReadingLoop, SensorIntake
from rig.testing import check_sensor

PAGE = (Path(__file__).parents[2] / "docs" / "sensors.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FIRST, SENDER, READER = PYTHON


def test_the_first_example_gives_readings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(FIRST, names)
    assert "imu: live, 500 Hz" in capsys.readouterr().out
    assert len(names["imu"].time) > 1000


def test_the_configuration_shown_is_a_valid_one() -> None:
    import tomllib

    block = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0]
    sensors = VIRTUAL.changed(tomllib.loads(block)).sensors
    assert [sensor.name for sensor in sensors] == ["imu", "cabinet"]


def test_the_sender_s_packets_are_taken() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = SensorOptions.model_validate(
        {"name": "motor", "kind": "scalar", "channels": [{"name": "t"}], "source": f"udp://127.0.0.1:{port}"}
    )
    intake = SensorIntake(0, options, None, MachineTime(time.monotonic() - 10.0))
    with TelemetryRing.create(64, row=READING) as ring:
        loop = ReadingLoop([intake], ring)
        try:
            subprocess.run([sys.executable, "-c", SENDER, str(port), "0.1"], check=True, timeout=60.0)
            loop.turn(1.0)
        finally:
            loop.close()
    report = intake.report()
    assert (report.taken, report.missing, report.dropped) == (10, 0, ())


def test_the_reader_passes_its_conformance(tmp_path: Path) -> None:
    entry = "[stewart_rig.sensors]\ncard = my_package:DECLARED\n"
    with installed(tmp_path, {"my_package": READER}, entry):
        options = SensorOptions.model_validate(
            {"name": "card", "kind": "scalar", "channels": [{"name": "u", "unit": "V"}], "source": "plugin://card",
             "clock": "machine", "settings": {"channel": 2}}
        )  # fmt: skip
        assert not check_sensor("card", options)

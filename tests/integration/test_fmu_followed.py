"""A foreign FMU followed by a live virtual rig: the whole way of the service, as `rig follow` goes it."""

import json
from pathlib import Path

import pytest
import tomlkit
from foreign_units import foreign_vehicle
from live_bench import patient_config
from test_stream_in import _given

from rig.errors import FieldError
from rig.services import Event, FollowRequest, Progress, follow_stream


def _file(folder: Path, **reference: object) -> Path:
    relaxed = {"frame": "home", "delay": 0.25, "watchdog": 2.0, "stop_after": 20.0}
    config = patient_config().changed({"stream": relaxed} | ({"reference": reference} if reference else {}))
    path = folder / "my-rig.toml"
    path.write_text(tomlkit.dumps(_given(config.resolved())), encoding="utf-8")
    return path


def test_a_live_rig_follows_an_fmu_to_its_end(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It starts engine, virtual rig and the FMU's process: most of its time."""
    ship = foreign_vehicle(3, tmp_path)
    connections = ["heave -> pose.z", "heave_speed -> velocity.z", "platform.pose.z -> height"]
    file = _file(tmp_path, fmu=ship.name, step=0.005, connections=connections, parameters=["heave_size = 0.005"])
    told: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, Progress) and event.stage == "following":
            told.append(event.values["what"])

    result = follow_stream(FollowRequest(str(file), duration=0.5, output=tmp_path / "runs"), hear)
    assert result.run.error is None
    assert result.unit is not None and result.unit.time == pytest.approx(0.5)
    assert 0.0 < result.unit.needed < 0.0025
    assert result.delay is not None and result.delay.cycles > 100
    assert json.loads(json.dumps(result.summary))["stream"]["fmu"]["path"] == str(ship)
    assert told and all("ship3.fmu" in text for text in told)
    assert "the ship is launched" not in capfd.readouterr().out


def test_what_goes_with_an_fmu_is_refused_without_one_and_the_other_way_round(tmp_path: Path) -> None:
    plain = str(_file(tmp_path))
    for request in (FollowRequest(plain, duration=1.0), FollowRequest(plain, lockstep=True)):
        with pytest.raises(FieldError, match=r"needs an FMU"):
            follow_stream(request)
    with pytest.raises(FieldError, match="needs a sender, and an FMU is followed"):
        FollowRequest(plain, fmu=Path("x.fmu"), port=0)
    with pytest.raises(FieldError, match="the FMU of the configuration"):
        follow_stream(FollowRequest(str(_file(tmp_path, fmu="x.fmu")), port=0))

"""`--real-time`: the virtual rig on the wall clock; what a busy machine cost without it stands in one line."""

from typing import Any

import pytest

from rig.cli import main
from rig.client import RunResult
from rig.config import RigConfig, in_real_time, load_config
from rig.engine.paced_ticker import PacedTicker, make_ticker
from rig.engine.pacer import Pacer, pace_path
from rig.runtime import MachineTicker


class _StartedError(Exception):
    pass


@pytest.mark.parametrize("arguments", [("demo",), ("run", "virtual", "demo"), ("operate", "virtual")])
@pytest.mark.parametrize("real_time", [False, True])
def test_commands_with_a_virtual_rig_take_it(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], real_time: bool
) -> None:
    started: list[RigConfig] = []

    def start(config: RigConfig, *_arguments: Any, **_options: Any) -> RunResult:
        started.append(config)
        raise _StartedError

    monkeypatch.setattr("rig.client.execute", start)
    monkeypatch.setattr("rig.client.conduct", start)
    main([*arguments, "--real-time"] if real_time else list(arguments))
    (config,) = started
    assert config.virtual is not None and config.virtual.real_time == real_time


def test_real_hardware_is_in_real_time_in_any_case() -> None:
    real = load_config().changed({"virtual": None})
    assert in_real_time(real) is real
    assert isinstance(make_ticker(real, None), MachineTicker)
    assert isinstance(make_ticker(load_config(), Pacer(pace_path(load_config()))), PacedTicker)

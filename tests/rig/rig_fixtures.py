"""A folder, a rig and an engine for a test of its own."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from engine_stand_in import StandIn
from engine_support import CONFIG, Bench, bench

from rig.client import on_free_ports
from rig.config.rig_config import RigConfig


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of the test's own, in which it runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def free_config() -> RigConfig:
    """The tests' virtual rig on ports of its own."""
    return on_free_ports(CONFIG)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Bench]:
    """The tests' virtual rig in lockstep, not connected yet."""
    with bench(tmp_path) as made:
        yield made


@pytest.fixture
def stand_in(free_config: RigConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A running engine of that rig's, in a runtime folder of the test's own."""
    with ExitStack() as stack:
        short = stack.enter_context(tempfile.TemporaryDirectory())  # a socket's path has little room
        monkeypatch.setattr("tempfile.tempdir", short)
        yield StandIn(free_config, tmp_path / "run.mcap", stack)

"""Who listens to a rig may stop listening at any time, from any thread: as the rig is closed, for one."""

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from rig.client import LiveRig
from rig.client.lockstep import _BatchSink
from rig.client.rig import News

told: list[Any] = []


def taken_away(name: str) -> property:
    """An attribute that holds a listener when it is looked at first, and nothing any more when it is again."""

    def look(self: Any) -> Callable[[Any], None] | None:
        before = self.__dict__.get(name, 0)
        self.__dict__[name] = before + 1
        return told.append if before == 0 else None

    return property(look, lambda _self, _value: None)


class FleetingNews(News):
    listener = taken_away("listener")


class FleetingSink(_BatchSink):
    listener = taken_away("listener")


class FleetingRig(LiveRig):
    _rows = taken_away("_rows")

    def __init__(self) -> None:
        self._reading = threading.Lock()
        self._reader: Any = SimpleNamespace(read_new=lambda: (np.zeros(3), 0))
        self._news = News()


def test_one_that_is_taken_away_as_it_is_told_is_told_once_and_breaks_nothing() -> None:
    told.clear()
    FleetingNews().notify("news")
    assert told == ["news"]
    told.clear()
    FleetingRig().refresh()
    assert [len(rows) for rows in told] == [3]
    told.clear()
    sink = FleetingSink(SimpleNamespace())  # type: ignore[arg-type]
    sink.push(np.zeros(1, sink._rows.dtype))
    sink.report()
    assert [len(rows) for rows in told] == [1]

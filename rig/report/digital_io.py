"""Digital inputs and outputs over a recording: their states at its ends, and each change."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.states import FaultCode, enum_name
from rig.telemetry import POINT_FLAGS, CycleFlag

_FAULTS = {"emergency_stop": FaultCode.EMERGENCY_STOP, "safe_torque_off": FaultCode.SAFE_TORQUE_OFF}
"""Input → fault that it makes when it opens."""
_LAMP, _LATCHED = POINT_FLAGS["lamp"].value, CycleFlag.LATCHED.value
_MOST_CHANGES = 1000  # that are kept, the first ones


class PointStates:
    """States of the points that a recording's configuration has.

    Args:
        header: of the recording.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._points = sorted(_points(header), key=lambda point: list(POINT_FLAGS).index(point[0]))
        self._mask = sum(POINT_FLAGS[name].value for name, _, _ in self._points)
        self._first: int | None = None
        """flags of the first row"""
        self._last = (0, int(FaultCode.NONE))
        """flags and fault of the last row"""
        self._changes: list[dict[str, Any]] = []
        self._counts = dict.fromkeys((name for name, _, _ in self._points), 0)

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """Add the following rows (n,) of dtype ROW."""
        if not (self._points and len(rows)):
            return
        flags, faults = rows["flags"], rows["fault"]
        if self._first is None:
            self._first = int(flags[0])
            self._last = self._first, int(faults[0])
        before = np.concatenate(([self._last[0]], flags[:-1])).astype(flags.dtype)
        faults_before = np.concatenate(([self._last[1]], faults[:-1]))
        changed = (before ^ flags) & self._mask
        flashing = (before & flags & _LATCHED) != 0
        changed[flashing] &= ~np.array(_LAMP, changed.dtype)
        for row in np.flatnonzero(changed).tolist():
            began = FaultCode.NONE if faults[row] == faults_before[row] else int(faults[row])
            self._change(float(rows["t"][row]), int(changed[row]), int(flags[row]), began)
        self._last = int(flags[-1]), int(faults[-1])

    def _change(self, t: float, changed: int, flags: int, began: int) -> None:
        """Note the points of these bits, which change at `t`, s; began: fault that begins there."""
        for name, _, _ in self._points:
            flag = POINT_FLAGS[name].value
            if not changed & flag:
                continue
            self._counts[name] += 1
            if len(self._changes) < _MOST_CHANGES:
                on = bool(flags & flag)
                made = not on and name in _FAULTS and began == _FAULTS[name]
                fault = enum_name(FaultCode, began) if made else None
                self._changes.append({"t_s": t, "point": name, "on": on, "fault": fault})

    def result(self) -> dict[str, Any] | None:
        """What `summarize` has of them: None without any.

        `points`: `name`, `kind` ("input" or "output"), `places` (each with `channel`, or with `leg` and `name`),
        `begin` and `end` (whether it is closed or on; `brake`: whether any brake is released), `changes` (how many).
        `changes`: the first ones, each with `t_s`, `point`, `on`, and the `fault` that it made or null. A lamp that
        flashes while a fault is latched does not count.
        """
        if not self._points or self._first is None:
            return None
        points = [
            {
                "name": name,
                "kind": kind,
                "places": places,
                "begin": bool(self._first & POINT_FLAGS[name].value),
                "end": bool(self._last[0] & POINT_FLAGS[name].value),
                "changes": self._counts[name],
            }
            for name, kind, places in self._points
        ]
        return {"points": points, "changes": self._changes}


def _points(header: Mapping[str, Any]) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Name, kind and places of the points of a recording's header, which may hold anything."""
    config = header.get("config")
    io = config.get("io") if isinstance(config, dict) else None
    if not isinstance(io, dict):
        return
    for kind in ("input", "output"):
        given = io.get(f"{kind}s")
        for key, value in given.items() if isinstance(given, dict) else ():
            name = "brake" if key == "brakes" else key
            points = [point for point in (value if isinstance(value, list) else [value]) if isinstance(point, dict)]
            if name not in POINT_FLAGS or not points:
                continue
            yield (
                name,
                kind,
                [
                    {field: point[field] for field in ("channel", "leg", "name") if point.get(field) is not None}
                    for point in points
                ],
            )


_STATES = {"input": ("open", "closed"), "output": ("off", "on"), "brake": ("closed", "released")}


def point_name(name: str) -> str:
    """Return what a point is called."""
    return "brakes" if name == "brake" else name.replace("_", " ")


def state_text(name: str, kind: str, on: bool) -> str:
    """Return the state of a point in a word."""
    return _STATES.get(name, _STATES[kind])[on]


def place_text(places: list[Mapping[str, Any]]) -> str:
    """Return where a point is."""
    channels = [str(place["channel"]) for place in places if "channel" in place]
    found = [f"channel{'s' * (len(channels) > 1)} {', '.join(channels)}"] if channels else []
    found += [f"{place.get('name')} of leg {place['leg']}" for place in places if "leg" in place]
    return ", ".join(found)

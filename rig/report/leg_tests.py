"""Tests of single legs, told from the rows alone: which leg was moved, how far, and how well it followed."""

from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode
from rig.states import State

Rows = npt.NDArray[np.void]


class LegTests:
    """Collects them; `found` are JSON-able, in SI units: `travel_m` is the farthest set-point from the first one."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        self._start = 0.0
        self._told = np.nan

    def add(self, rows: Rows) -> None:
        """Take in rows (n,) of dtype ROW that follow those before."""
        moving = (rows["mode"] == Mode.POSITION) & (rows["state"] == State.SINGLE_LEG)[:, np.newaxis]
        if self._open is None and not moving.any():
            return
        for row, mask in zip(rows, moving, strict=True):
            self._add(row, mask)

    def _add(self, row: np.void, moving: npt.NDArray[np.bool_]) -> None:
        if not moving.any():
            self._open = None
            return
        leg = int(np.argmax(moving))
        command = float(row["position_command"][leg])
        if self._open is None:
            self._start, self._told = command, np.nan
            self._open = {"leg": leg + 1, "begin_s": float(row["t"]), "travel_m": 0.0, "following_max_m": 0.0}
            self.found.append(self._open)
        test = self._open
        test["end_s"] = float(row["t"])
        if abs(command - self._start) > abs(test["travel_m"]):
            test["travel_m"] = command - self._start
        error = abs(float(row["length"][leg]) - self._told)  # the command of the row before acted meanwhile
        if test["travel_m"] and error > test["following_max_m"]:  # its drive has taken up the weight by then
            test["following_max_m"] = error
        self._told = command

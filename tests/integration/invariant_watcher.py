"""What must hold of every cycle that the engine reports, and of the torque that the plant really has."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode, Status
from dynamics import LegLimits
from kinematics import leg_kinematics
from rig.config.rig_config import RigConfig
from rig.engine.snapshot import Event
from rig.recording import MotionRecord
from rig.safety.machine import TORQUE_STATES
from rig.states import State, StopSeverity
from rig.telemetry import CycleFlag

_EDGE = 1.0 + 1e-6
_ON_WITHIN = 5  # cycles in which a drive may still do what it was told before its state ended
_OFF_WITHIN = 5  # cycles of FAULT until every drive that answers says that its torque is off

Flags = npt.NDArray[np.bool_]


class Watcher:
    """A sink that judges every row as it comes."""

    def __init__(self, config: RigConfig) -> None:
        self.fault = ""
        self.rows = self.recorded = self.dropped = 0
        self.room = math.inf
        self.lying: Flags = np.zeros(6, bool)
        """legs whose drive is made to report what is not so, or to disobey"""
        self._config = config
        self._before: npt.NDArray[np.void] | None = None
        self._in_fault = 0
        self._pending: list[npt.NDArray[np.void]] = []

    def event(self, event: Event) -> None:
        assert event.text

    def motion(self, motion: MotionRecord) -> None:
        assert motion.id

    def push(self, row: npt.NDArray[np.void]) -> None:
        now = row[0]
        state, stop, flags = State(now["state"]), StopSeverity(now["stop"]), CycleFlag(int(now["flags"]))
        enabled, fresh = now["drive_status"] & Status.ENABLED != 0, now["stale"] == 0
        honest = fresh & ~self.lying
        controlled = state in TORQUE_STATES and state is not State.HOMING and stop < StopSeverity.QUICK_STOP
        # 1: with a fault latched, force is commanded only to decelerate or to hold, and no drive that answers has any
        if CycleFlag.LATCHED in flags:
            assert state in (State.STOPPING, State.FAULT)
        assert (now["mode"] == Mode.FORCE).any() <= controlled
        if state not in TORQUE_STATES:
            assert (now["mode"] == Mode.OFF).all() and not now["force_command"].any()
        self._in_fault = self._in_fault + 1 if state is State.FAULT else 0
        if self._in_fault > _OFF_WITHIN:
            assert not (enabled & honest).any()
        # 6
        if state is State.RUNNING:
            assert CycleFlag.HOMED in flags and not self.fault
        # 7
        if CycleFlag.HOMED in flags:
            assert (now["drive_status"][fresh] & Status.HOMED != 0).all()
        if self._before is not None:
            self._compare(self._before[0], now, enabled, honest)
        self._before = row.copy()
        self.rows += 1
        if controlled:
            self._pending.append(row.copy())

    def _compare(self, before: Any, now: Any, enabled: Flags, honest: Flags) -> None:
        # 2
        if before["state"] == State.FAULT:
            assert now["state"] in (State.FAULT, State.IDLE, State.OFF)
        # 8
        if before["state"] == now["state"] == State.STOPPING:
            assert now["stop"] >= before["stop"]
        # 9: the cycle that finds the cause tells every leg
        if now["stop"] >= StopSeverity.QUICK_STOP > before["stop"] and before["state"] in TORQUE_STATES:
            stopping = now["drive_status"] & Status.QUICK_STOP != 0
            assert (stopping | ~enabled | ~honest).all()
        # 10
        elapsed = now["t"] - before["t"]
        if now["path_time"] > before["path_time"] and now["state"] == before["state"] == State.RUNNING:
            assert now["path_time"] - before["path_time"] <= elapsed * _EDGE
        # 14
        if before["flags"] & now["flags"] & CycleFlag.LATCHED:
            assert (now["fault"], now["fault_leg"]) == (before["fault"], before["fault_leg"])

    def judge_references(self) -> None:
        """4, 5 and 19 of the rows since the last look, the rig's own moves among them: only now, all at once."""
        if not self._pending:
            return
        rows = np.concatenate(self._pending)
        self._pending.clear()
        limits = self._config.machine.legs[0].limits or LegLimits()
        legs = leg_kinematics(self._config.machine.geometry, rows["reference"])
        assert limits.length and limits.velocity and limits.acceleration and limits.force
        assert np.isfinite(rows["reference"]).all() and np.isfinite(rows["force_command"]).all()
        assert limits.length[0] / _EDGE <= legs.length.min() and legs.length.max() <= limits.length[1] * _EDGE
        assert np.abs(legs.velocity).max() <= limits.velocity * _EDGE
        assert np.abs(legs.acceleration).max() <= limits.acceleration * _EDGE
        assert np.abs(rows["force_command"]).max() <= limits.force * _EDGE
        assert rows["condition"].max() <= self._config.safety.condition


class TorqueWatcher:
    """17: torque comes on at a leg only after an operator asked for it, and once for each time that one asked."""

    def __init__(self) -> None:
        self._on: Flags = np.zeros(6, bool)
        self._left = np.zeros(6, int)  # times that torque may still come on
        self._without = 0

    def begin(self, on: Flags) -> None:
        """Take up a rig on which these brakes are open."""
        self._on, self._left = on, np.zeros(6, int)

    def granted(self, leg: int | None = None, times: int = 1) -> None:
        """What was accepted lets every leg (Home, Engage), or one of 1…6, take torque, so many times."""
        legs = slice(None) if leg is None else leg - 1
        self._left[legs] = times - self._on[legs]

    def look(self, on: Flags, state: State, honest: Flags) -> None:
        """Judge which brakes of the plant are open, `on` (6,); `honest`: the legs that obey their drives."""
        came = on & ~self._on
        by_itself = np.flatnonzero(came & honest & (self._left == 0))
        assert not len(by_itself), f"torque by itself at leg {by_itself + 1}"
        self._without = 0 if state in TORQUE_STATES else self._without + 1
        if self._without > _ON_WITHIN:
            self._left[:] = 0
        self._left[came] = np.maximum(self._left[came] - 1, 0)
        self._on = on

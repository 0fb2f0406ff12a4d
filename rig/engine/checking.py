"""The check of a motion, outside the cycle.

It runs in its own process, so that its long array operations never block the interpreter of the cycle.
"""

import os
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection

import numpy as np
import numpy.typing as npt

from dynamics import DynamicsError
from kinematics import KinematicsError, MotionTable, Trajectory, pose_to_coordinates
from rig.config import RigConfig
from rig.errors import HardwareError, RefusedError
from rig.findings import Code, Finding
from rig.runtime import ChildDiedError, ChildLateError, ChildProcess, give_back_memory
from rig.safety import TrajectoryVerdict, check_slowing, check_trajectory

_READY_TIMEOUT = 120.0  # s; the first start on a machine compiles the kernels
CHECK_TIMEOUT = 60.0  # s; minutes of a motion take one second


def received_table(step: float, samples: npt.ArrayLike | None) -> MotionTable:
    """The motion table of samples received from outside.

    Raises:
        RefusedError: not numeric, not finite, not of shape (n, 18), or fewer than two rows.
    """
    try:
        array = np.asarray(np.zeros((0, 18)) if samples is None else samples, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RefusedError(Finding(Code.TABLE_NO_NUMBERS, details={"text": str(error)})) from None
    if not np.isfinite(array).all():
        place = ", ".join(map(str, np.argwhere(~np.isfinite(array))[0]))
        raise RefusedError(Finding(Code.TABLE_NOT_FINITE, details={"place": place}))
    if array.ndim != 2 or array.shape[1] != 18:
        raise RefusedError(Finding(Code.TABLE_SHAPE, details={"shape": str(array.shape)}))
    if len(array) < 2:
        raise RefusedError(Finding(Code.TABLE_TOO_SHORT))
    return MotionTable(step, array)


def motion_verdict(
    config: RigConfig, motion: Trajectory | MotionTable, rate: float, *, at_rest: bool = True, remedy: bool = True
) -> TrajectoryVerdict:
    """Judge a motion for a rig and its drives; see `check_trajectory`."""
    waits = config.command_waits
    ramps = config.drive_ramps
    return check_trajectory(
        config.machine, config.safety, motion, rate, at_rest=at_rest, remedy=remedy, waits=waits, ramps=ramps
    )


def check_motion(config: RigConfig, table: MotionTable, slowing: float | None = None) -> Finding | None:
    """Check whether the rig may follow `table`: None, or the finding with the largest scale that would pass.

    `slowing`: s, duration of a stop that may begin anywhere on it; None: only the table is checked.
    """
    try:
        found = motion_verdict(config, table, config.check_rate).finding
        if found is None and slowing is not None:
            found = check_slowing(config.machine, table, slowing)
    except (KinematicsError, DynamicsError) as error:
        return Finding(Code.MOTION_REFUSED, details={"text": str(error)})
    return found


def _serve(config: RigConfig, owner: Connection | None, connection: Connection) -> None:
    """Main function of the process: receives step, `slowing` and the samples' bytes of a table, sends the finding."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if owner is not None:
        owner.close()
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    rest = np.zeros((2, 18))
    rest[:, :6] = pose_to_coordinates(config.machine.geometry.home_pose)
    check_motion(config, MotionTable(2.0 * config.period, rest))  # compiles the kernels, or loads them
    with suppress(EOFError, OSError):  # the engine is gone
        connection.send(None)
        while True:
            step, slowing = connection.recv()
            connection.send(check_motion(config, _received(step, connection.recv_bytes()), slowing))
            give_back_memory()


def _received(step: float, samples: bytes) -> MotionTable:
    """Receive a table; no reference to it remains while the process waits for the next."""
    return MotionTable(step, np.frombuffer(samples, np.float64).reshape(-1, 18).copy())


class MotionChecker:
    """Owns the process that checks motions.

    Args:
        config: the rig.
        owner: the engine's pipe to its owner; the process closes its copy, so that it ends with the engine.
    """

    def __init__(self, config: RigConfig, owner: Connection | None = None) -> None:
        self._process = ChildProcess("the process that checks motions", _serve, config, owner, early=owner is not None)
        self._lock = threading.Lock()

    def wait_ready(self) -> None:
        """Wait until the kernels are compiled. Raises HardwareError when the process has died or takes too long."""
        self._receive(_READY_TIMEOUT)

    def check(self, table: MotionTable, slowing: float | None = None) -> Finding | None:
        """See `check_motion`; waits for the process, so not to be called from the cyclic thread.

        Raises HardwareError when the process has died or takes too long; it is then ended and every later
        motion refused, so that a late answer is never taken for that to another request.
        """
        samples: npt.NDArray[np.float64] = np.ascontiguousarray(table.samples)
        with self._lock:
            try:
                self._process.send((table.step, slowing))
                self._process.pipe.send_bytes(samples.data.cast("B"))
            except (OSError, ChildDiedError) as error:
                raise HardwareError(Finding(Code.CHECK_DIED)) from error
            return self._receive(CHECK_TIMEOUT)

    def close(self) -> None:
        """End the process. May be called again."""
        self._process.end(0.0)

    def _receive(self, timeout: float) -> Finding | None:
        try:
            answer: Finding | None = self._process.receive(timeout)
        except ChildLateError as error:
            self.close()
            raise HardwareError(Finding(Code.CHECK_LATE, bound=timeout)) from error
        except ChildDiedError as error:
            raise HardwareError(Finding(Code.CHECK_DIED)) from error
        return answer

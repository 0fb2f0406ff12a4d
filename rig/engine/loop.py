"""The real-time loop: absolute deadlines; a missed cycle is skipped and counted, never caught up."""

import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from actuators import COMMAND_STOP
from rig.engine.control_block import ControlBlock
from rig.engine.core import Engine
from rig.engine.link import LinkServer
from rig.engine.machine import TORQUE_STATES, Cause
from rig.engine.operator import Operator
from rig.engine.ports import Tick
from rig.states import FaultCode, State, StopCategory

_OWNER_POLL = 0.1  # s between two looks whether the owner is still there
_LAST_WORDS = 3  # times the drives are told to stop by themselves: one telling may be lost


@dataclass(slots=True)
class Watch:
    """Whether the client that holds the lease, and the process that owns the engine, are still there.

    A client that is lost, by its death or its silence, leaves the platform held where it comes to rest (category 2). An
    engine without owner goes on for a client that has the lease or takes it. Without either it holds the platform for
    `safety.unattended_hold`, then stops it (category 1: torque off, brakes on), closes the recording and ends.

    Args:
        engine, link, block, owner: what is watched, and on whose behalf.
    """

    engine: Engine
    link: LinkServer
    block: ControlBlock
    owner: Connection
    orphaned: bool = False
    """whether the owner is gone"""
    _alone_since: float | None = None
    _beat: int = -1
    _beat_at: float = 0.0
    _looked_at: float = 0.0

    def look(self, t: float) -> None:
        """Look at rig time `t` (s); a lost client holds the platform, a lost owner sets it down in the end."""
        if self.link.lease and not self.link.alive:
            self.link.drop_lease()
            self.engine.record("error", "the control link has failed", FaultCode.INTERNAL_ERROR)
        beat = self.block.heartbeat()
        if beat != self._beat or not self.link.lease:
            self._beat, self._beat_at = beat, t
        elif t - self._beat_at > self.engine.config.safety.heartbeat:
            text = f"client {self.link.lease!r} gave no sign of life for {t - self._beat_at:.2f} s"
            self.link.drop_lease()
            self.engine.trip(Cause(FaultCode.CLIENT_LOST, text, t), StopCategory.CATEGORY_2, latch=False)
        if self.engine.machine.state is State.RUNNING and not self.link.lease:
            text = "nobody holds the command lease any more"
            self.engine.trip(Cause(FaultCode.CLIENT_LOST, text, t), StopCategory.CATEGORY_2, latch=False)
        if t - self._looked_at < _OWNER_POLL:
            return
        self._looked_at = t
        hold = self.engine.config.safety.unattended_hold
        if not self.orphaned and owner_gone(self.owner):
            self.orphaned = True
            torque = self.engine.machine.state in TORQUE_STATES
            then = f"stops the platform in {hold:g} s and ends" if torque else "ends at once"
            text = f"the process that started the engine is gone: without a client it {then}"
            self.engine.record("warning", text)
        if not self._alone:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = t
        elif t - self._alone_since > hold:
            self.engine.stop(1, f"nobody has commanded the engine for {hold:g} s")

    @property
    def abandoned(self) -> bool:
        """Whether the engine has neither owner nor client, nor torque to mind."""
        return self._alone and self.engine.machine.state not in TORQUE_STATES

    @property
    def _alone(self) -> bool:
        return self.orphaned and not self.link.lease


def owner_gone(owner: Connection) -> bool:
    """Whether the process at the other end of the pipe has closed it or ended."""
    try:
        while owner.poll():
            owner.recv()
    except (EOFError, OSError):
        return True
    return False


def run_cycles(engine: Engine, operator: Operator, watch: Watch) -> None:
    """Run cycles until a client shuts the engine down, or owner and clients are gone and there is no torque.

    An error that leaves the cycle stops the drives by their own quick stop before it goes on its way.
    """
    period = engine.config.period
    origin = time.monotonic()
    deadline = origin + period
    begun_before = origin
    overruns = 0
    try:
        while not (operator.ended or watch.abandoned):
            while (remaining := deadline - time.monotonic()) > 0.0:
                time.sleep(remaining)
            begun = time.monotonic()
            skipped = int((begun - deadline) / period)
            overruns += skipped
            deadline += skipped * period
            t = deadline - origin
            operator.carry_out()
            if operator.reconnected:  # talking to the drives one by one took its time outside the cycle
                operator.reconnected = False
                begun_before = time.monotonic()
                deadline = begun_before + period
                continue
            requested = watch.block.take_stop()
            if requested is not None:
                engine.stop(requested, f"stop flag, category {requested}")
            watch.look(t)
            engine.step(Tick(t, begun - deadline, begun - begun_before, overruns))
            begun_before = begun
            deadline += period
    except BaseException as error:
        for _ in range(_LAST_WORDS):
            engine.bank.exchange([COMMAND_STOP] * 6, time.monotonic() + 0.05)
        if isinstance(error, SystemExit):
            engine.record("warning", "the engine was told to end at once")
        else:
            engine.record("error", f"the engine ends: {type(error).__name__}: {error}", FaultCode.INTERNAL_ERROR)
        raise

"""The loop of the engine's process: cycles by its ticker, and supervision of its clients and owner."""

import contextlib
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import FrameType

from actuators import COMMAND_OFF, COMMAND_STOP
from rig.engine.core import Engine
from rig.engine.lease import ClientWatchdog, Lease, Leases
from rig.engine.link import LinkServer
from rig.engine.operator import Operator
from rig.findings import Code, Finding, Value
from rig.runtime import Ticker
from rig.safety import TORQUE_STATES, Cause, Trip
from rig.states import State, StopSeverity

_MOVING = frozenset(
    {State.HOMING, State.ENGAGING, State.RUNNING, State.PARKING, State.SINGLE_LEG}
)  # at somebody's command
_OWNER_POLL = 0.1  # s between two looks whether the owner is still there
_LAST_WORDS = 3  # last exchanges of the same commands: one may be lost
_LAST_PATIENCE = 0.05  # s for their answers, each time, or the time of a cycle's where that is longer


@dataclass(slots=True)
class Watch:
    """Supervises the lease holder's sign of life, and the engine's owner process.

    If the lease holder is lost, by its death or silence, or releases the lease while the platform moves, the platform
    is stopped and held (category 2).

    Only the holder's own heartbeat keeps a lease. Other clients' requests do not prolong it, nor the time after it.
    `safety.unattended_hold` after the last sign of life the platform is stopped (category 1: torque off, brakes on),
    also if the owner lives but hangs. An engine without owner, lease and torque closes the recording and ends; while
    its owner hangs it stays, without torque, for any client. An engine that a signal ends first has the drives stop by
    themselves. No engine ends while a drive reports torque, in any state: that drive would be neither supervised nor
    recorded.

    Args:
        engine, operator, link, leases, owner: the supervised parts.
        speed: see `ClientWatchdog`.
    """

    engine: Engine
    operator: Operator
    link: LinkServer
    leases: Leases
    owner: Connection
    speed: float | None = None
    orphaned: bool = False
    """whether the owner has ended"""
    leaving: bool = False
    """whether the engine was asked to end by a signal"""
    _stopped: bool = False
    _lease: Lease | None = None
    _beats: int = 0
    _beat_at: float = 0.0
    _attended_at: float = 0.0
    _owner_checked_at: float = 0.0
    _watchdog: ClientWatchdog = field(init=False)

    def __post_init__(self) -> None:
        self._watchdog = ClientWatchdog(self.speed)

    def leave(self, _signal: int, _frame: FrameType | None) -> None:
        """Make the engine end once no drive reports torque; a signal handler."""
        self.leaving = True

    def look(self, t: float) -> None:
        """Check at rig time `t` (s): a lost client causes a hold, a longer absence of clients a stop."""
        lease = self._holder(t)
        if self.engine.machine.state in _MOVING:
            begun_under = self.operator.lease
            if lease is None:
                self._hold(Finding(Code.NO_COMMAND_LEASE), t)
            elif begun_under is not None and not begun_under.active:
                passed: dict[str, Value] = {"before": begun_under.client, "after": lease.client}
                self._hold(Finding(Code.LEASE_PASSED, details=passed), t)
        if self.leaving and not self._stopped:
            self._stopped = True
            self.engine.record("warning", Finding(Code.ENGINE_ENDS_WITHOUT_TORQUE))
            cause = Cause(Finding(Code.ENGINE_TOLD_TO_END), t)
            self.engine.trip(Trip(cause, StopSeverity.QUICK_STOP, latch=False))
        if t - self._owner_checked_at >= _OWNER_POLL:
            self._owner_checked_at = t
            self._check_unattended(t)

    def _holder(self, t: float) -> Lease | None:
        """The active lease; it is ended if its holder has given no sign of life for too long."""
        lease, bound = self.leases.holder, self.engine.config.safety.heartbeat
        if lease is not None and not self.link.alive:
            self.leases.end(lease)
            self.engine.record("error", Finding(Code.CONTROL_LINK_FAILED))
            lease = None
        if lease is None:
            if self._lease is not None:  # until now somebody commanded
                self._lease, self._attended_at = None, t
            return None
        beats = self.leases.block.heartbeat(lease.number)
        if lease is not self._lease or beats not in (0, self._beats):
            self._lease, self._beats, self._beat_at = lease, beats, t
        elif self._watchdog.lost(lease, t, t - self._beat_at, bound):
            self.leases.end(lease)
            self._lease, self._attended_at = None, max(self._beat_at, t - bound)
            silent = t - self._beat_at
            self._hold(Finding(Code.CLIENT_SILENT, 0, silent, bound, {"client": lease.client}), t)
            return None
        return lease

    def _check_unattended(self, t: float) -> None:
        hold = self.engine.config.safety.unattended_hold
        torque = self.engine.machine.state in TORQUE_STATES
        if not self.orphaned and owner_gone(self.owner):
            self.orphaned = True
            finding = Finding(Code.OWNER_GONE, bound=hold) if torque else Finding(Code.OWNER_GONE_AT_REST)
            self.engine.record("warning", finding)
        unattended = torque and self.leases.holder is None
        left = hold - (t - self._attended_at)
        self.engine.runtime_info.hold_left = max(left, 0.0) if unattended else None
        if unattended and left < 0.0:
            cause = Cause(Finding(Code.UNATTENDED, bound=hold), t)
            self.engine.trip(Trip(cause, StopSeverity.CATEGORY_1, latch=False))

    def _hold(self, found: Finding, t: float) -> None:
        self.engine.trip(Trip(Cause(found, t), StopSeverity.CATEGORY_2, latch=False))

    @property
    def abandoned(self) -> bool:
        """Whether the engine may end: it has no torque, and neither owner nor client, or a request to end."""
        if not (self._stopped or (self.orphaned and self.leases.holder is None)):
            return False
        now = self.engine.snapshot
        return not now.powered and (self._stopped or now.state not in TORQUE_STATES)


def owner_gone(owner: Connection) -> bool:
    """Whether the process at the other end of the pipe has closed it or ended."""
    try:
        while owner.poll():
            owner.recv()
    except (EOFError, OSError):
        return True
    return False


def _stop_drives(engine: Engine, ticker: Ticker) -> None:
    """Stop the drives with commanded torque by their own quick stop, keep the others off; then switch outputs off."""
    drives, config = engine.drives, engine.config
    stop = [COMMAND_STOP if had_torque else COMMAND_OFF for had_torque in drives.asked]  # which enables
    patience = max(_LAST_PATIENCE, config.drives.reply_deadline * config.period)

    def exchange() -> None:
        for _ in range(_LAST_WORDS):
            with contextlib.suppress(Exception):  # a device's own error may be what ends the engine
                drives.exchange(stop, ticker.now(), patience)

    exchange()
    if drives.io is not None:
        drives.io.off()
        exchange()


def run_cycles(engine: Engine, operator: Operator, watch: Watch, ticker: Ticker) -> None:
    """Run cycles until a client shuts the engine down, or owner and clients have gone and there is no torque.

    Before an exception leaves the cycle, see `_stop_drives`.
    """
    ticker.begin()
    try:
        while not (operator.ended or watch.abandoned):
            tick = ticker.next()
            operator.carry_out()
            if operator.reconnected:  # talking to the drives one by one took its time outside the cycle
                operator.reconnected = False
                ticker.begin()
                engine.drives.resume()
                continue
            requested = watch.leases.block.take_stop()
            if requested is not None:
                engine.stop(requested, Code.STOP_FLAG)
                operator.journal.given(f"stop, category {requested}, by the stop flag")
            watch.look(tick.t)
            engine.step(tick)
    except BaseException as error:
        _stop_drives(engine, ticker)
        if isinstance(error, SystemExit):
            engine.record("warning", Finding(Code.ENGINE_ENDS_AT_ONCE))
        else:
            details: dict[str, Value] = {"error": type(error).__name__, "text": str(error)}
            engine.record("error", Finding(Code.ENGINE_ENDS, details=details))
        raise

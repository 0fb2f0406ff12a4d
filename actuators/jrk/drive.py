"""Driver of a Jrk G2: targets of its own position loop, and what keeps its motor from running."""

import math
from collections import deque
from collections.abc import Sequence
from statistics import median

from actuators.interface import SEQUENCES, Capabilities, Command, Feedback, Identity, Mode, Status
from actuators.jrk.options import JrkOptions
from actuators.jrk.protocol import (
    CLEAR_ERRORS,
    CLEARED_LENGTH,
    COUNTS,
    ERROR_TEXTS,
    HALTING_LENGTH,
    LIFE_LENGTH,
    READ_HALTING,
    READ_LIFE,
    READ_VARIABLES,
    STOP,
    VARIABLES_LENGTH,
    Error,
    Variables,
    halting_of,
    life_of,
    target_command,
    variables_of,
)
from actuators.jrk.restart_detection import Life, LifeSigns
from actuators.jrk.setup import CycleSettings, Setup
from actuators.registers import RANGES
from actuators.speed import SpeedFromPositions
from actuators.station_drive import StationDrive

_ANY = RANGES["f32"][1]
_BEYOND = 1 << 16
"""Error of this driver's own: a length that no target means was commanded."""
_THERE = 8  # counts from home, within which a leg is there
_USUAL_PERIOD = 0.01  # s, of the position loop
_NO_SECOND = 0.25  # s, between two cycles of a search for home, beyond which its target starts anew
_LOOK, _TELL = 0, 1  # exchanges of the station
_ROUNDS = 1 << 16
"""Of the position loop, after which its count begins anew."""
_BETWEEN = 20  # at most, of them, between the two replies of a cycle
_ALLOWED = Error.AWAITING_COMMAND | Error.NO_POWER
"""What keeps the motor from running and is no fault."""
_BORNE = _ALLOWED | Error.SERIAL_TIMEOUT
"""The same of a motor that is not to run."""


class Jrk(StationDrive):
    """A Jrk G2 with analog or frequency feedback of a leg's length.

    A cycle asks what halts the motor and whether its position loop goes on, and only then sends a target and reads the
    variables: a target lets a motor run, also that of a controller which has just restarted. A stop is sent at once,
    and asks and reads in the same message. The controller is absolute: to home is to go to where the leg has its length
    at home, by a target that moves there. It has no brake: told to stop, its motor is braked or let go, as it is set; a
    spindle that holds by itself does the rest.

    Its time-out is a setting that cannot be written over serial: it must be that of the options. It is a fault only
    where the motor was to run. Replies have no checksum. One is believed where what it says twice agrees: target and
    input with each other and with what was sent, feedback with what it is scaled to, the errors before the command with
    themselves and with those after it; and where the counter of the position loop goes on. By that counter a restart
    shows as well, however many replies were lost meanwhile (`LifeSigns`).
    """

    def __init__(self, options: JrkOptions) -> None:
        """Make the drive without connecting. Raises ConfigurationError: watchdog time out of range."""
        self._metre = options.stroke / COUNTS
        can = Capabilities(
            modes=(Mode.OFF, Mode.POSITION, Mode.HOMING),
            force_feedback=False,
            homing=True,
            watchdog=True,
            force_limit=_ANY,
            position_limit=_ANY,
            velocity_limit=_ANY,
            resolution=self._metre,
            velocity_feedback=False,
            reach=(options.position_offset, options.position_offset + options.stroke),
        )
        super().__init__(options, can, options.line(options.framing), options.place, options.unit, 2)
        self._options = options
        self._head = bytes((options.unit,))
        self._setup = Setup(options, self._station)
        self._told: CycleSettings | None = None
        self._supplies: deque[float] = deque(maxlen=3)
        self._currents: deque[float] = deque(maxlen=3)
        self._forget()

    def _forget(self) -> None:
        """Nothing is known of the controller."""
        self._speed = SpeedFromPositions()
        self._armed = self._on = self._homed = False
        self._unjudged = False
        """whether the motor was to run since its errors were looked at last"""
        self._was_unjudged = False
        """the same before this cycle's command"""
        self._stale = False
        """whether there is a time-out of a time when it was not to run"""
        self._clear = self._clearing = False
        self._error = 0
        self._position = math.nan
        """m above the length at count 0"""
        self._searching: float | None = None
        """where the target is on its way home, in counts"""
        self._searched_at = -math.inf
        self._target: int | None = None
        self._cleared = False
        """whether errors are cleared in this cycle"""
        self._life = LifeSigns()
        self._sent = False
        self._wanted_target: int | None = None
        """what is to be sent once it is known that the controller goes on; None: nothing is waited for"""
        self._looked = b""
        """what the controller said before the target of the errors that halt it, and its count of rounds"""
        self._periods = 0
        self._life_said = Life.GOES_ON
        """what that says"""
        self._said = False
        """whether a target or a stop was sent in this cycle"""

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `Drive.exchanges`: a target and what is read; an error that is cleared comes on top, once."""
        frame = self._options.framing.frame
        look, tell = self._head + READ_LIFE, self._head + target_command(0) + READ_VARIABLES
        return [(len(frame(look)), LIFE_LENGTH), (len(frame(tell)), VARIABLES_LENGTH)]

    @property
    def auxiliary(self) -> dict[str, float]:
        """See `Drive.auxiliary`: supply in V and current in A, the middle ones of three."""
        if not self._supplies:
            return dict.fromkeys(("supply", "current"), math.nan)
        return {"supply": median(self._supplies), "current": median(self._currents)}

    def identify(self) -> Identity:
        """See `Drive.identify`: it only has to have its number."""
        return self._setup.identity(self._options.request_timeout)

    def configure(self) -> None:
        """See `Drive.configure`: nothing can be written; what it is set to must be what it is used for."""
        self._told = self._setup.read(self._options.request_timeout)

    def verify(self, timeout: float) -> Identity:
        """See `Drive.verify`."""
        return self._setup.verify(timeout)

    def observe(self, timeout: float) -> Feedback:
        """See `Drive.observe`."""
        message = self._head + READ_VARIABLES
        found = variables_of(self._station.request(message, VARIABLES_LENGTH, timeout, "read of variables"))
        faults = found.halting & ~_BORNE
        timed_out = Status.WATCHDOG if found.halting & Error.SERIAL_TIMEOUT else Status(0)
        return self._feedback(found, self._status(found.halting, faults) | timed_out, faults)

    def error_text(self, code: int) -> str:
        """See `Drive.error_text`: what each bit means."""
        if code == 0:
            return "no error"
        known = [text for bit, text in ERROR_TEXTS.items() if code & bit]
        known += ["a length beyond its stroke was commanded"] if code & _BEYOND else []
        rest = code & ~(sum(ERROR_TEXTS) | _BEYOND)
        return ", ".join([*known, *([f"error bits {rest:#x}, which are not explained"] if rest else [])])

    def _connect(self, timeout: float) -> None:
        self._forget()
        super()._connect(timeout)

    # -- a cycle -----------------------------------------------------------------------------------------------------

    def _begin(self, command: Command) -> None:
        self._sequence = (self._sequence + 1) % SEQUENCES
        self._wanted_target = wanted = self._wanted(command)
        self._looked, self._said = b"", False
        if wanted is None:
            self._sent = self._tell(None, urgent=Status.ENABLED in self._last.status)
        else:
            self._sent = self._station.ask(_LOOK, self._head + READ_LIFE, LIFE_LENGTH, answered=self._go_on)
        if self._sent:
            self.counters.sent += 1

    def _go_on(self, looked: bytes) -> None:
        """Send the target that is wanted, now that it is known how the controller is; a stop where it has restarted.

        Where what it says is damaged, or its counter is not where it should be, neither: the next cycle tells.
        """
        wanted, self._wanted_target = self._wanted_target, None
        self._periods, again, self._looked = life_of(looked)
        halted = halting_of(self._looked)
        damaged = halted != halting_of(self._looked[HALTING_LENGTH // 2 :])
        if wanted is None or damaged or (again - self._periods) % _ROUNDS > _BETWEEN:
            return
        self._life_said = self._judge(self._periods)
        if self._life_said not in (Life.GOES_ON, Life.RESTARTED):
            return
        if self._on and halted & _ALLOWED:  # it has lost its power, or was restarted: it must not go on by itself
            self._armed = False
        self._tell(wanted if self._armed else None, urgent=not self._armed)

    def _judge(self, periods: int) -> Life:
        """Whether the controller has gone on all the while, by the count of its position loop."""
        life = self._life.judge(self._now, periods, _USUAL_PERIOD if self._told is None else self._told.period)
        if life is Life.RESTARTED:  # it must not go on by itself, nor be taken for homed
            self._armed = self._homed = False
        return life

    def _tell(self, target: int | None, *, urgent: bool) -> bool:
        """Send a target, or a stop (None), and read what comes of it; whether it could be sent."""
        self._cleared = self._clearing or (target is not None and self._stale)
        message = self._head if self._looked else self._head + READ_HALTING
        message += bytes((STOP,)) if target is None else target_command(target)
        if self._cleared:  # once a target has ended the silence, which would be found again otherwise
            message += bytes((CLEAR_ERRORS,))
        self._target = target
        length = (0 if self._looked else HALTING_LENGTH) + CLEARED_LENGTH * self._cleared + VARIABLES_LENGTH
        sent = self._station.ask(_TELL, message + READ_VARIABLES, length, urgent=urgent, follows=bool(self._looked))
        if sent:
            self._on = target is not None
            self._was_unjudged, self._unjudged = self._unjudged, self._unjudged or self._on
            self._said = True
        return sent

    def _wanted(self, command: Command) -> int | None:
        """The target to send, None: a stop."""
        if command.clear and not self._clear:
            self._clearing, self._error = True, 0
        self._clear = command.clear
        if not command.enable:
            self._armed = not self._error
        elif command.quick_stop:
            self._armed = False
        elif self._armed and not self._error and command.mode is not Mode.OFF:
            return self._towards_home() if command.mode is Mode.HOMING else self._at(command)
        self._searching = None
        return None

    def _at(self, command: Command) -> int | None:
        """The target of a length, with the lead as far as the stroke goes."""
        self._searching = None
        counts = (command.position - self._options.position_offset) / self._metre
        if not -0.5 <= counts <= COUNTS + 0.5:
            self._fail(_BEYOND)
            return None
        ahead = counts + self._options.lead * command.velocity / self._metre
        return round(min(max(ahead, 0.0), float(COUNTS)))

    def _towards_home(self) -> int | None:
        """The next target on the way home, from where the leg stands."""
        home = float(self._options.home)
        if self._searching is None or self._now - self._searched_at > _NO_SECOND:
            if math.isnan(self._position):
                return None  # nobody knows where it stands
            self._homed, self._searching = False, self._position / self._metre
        else:
            most = self._options.homing_speed / self._metre * (self._now - self._searched_at)
            self._searching += min(max(home - self._searching, -most), most)
        self._searched_at = self._now
        return round(min(max(self._searching, 0.0), float(COUNTS)))

    def _finish(self, deadline: float) -> Feedback | None:
        if not self._sent:
            return None
        self._sent = False
        if self._wanted_target is not None or self._looked:
            looked = self._station.answer(_LOOK, deadline)
            self._wanted_target = None
            if looked is None:
                self.counters.late += 1
                return None
            if not self._said:
                self.counters.rejected += 1
                return None
        message = self._station.answer(_TELL, deadline)
        if message is None:
            self.counters.late += 1
            return None
        message = self._looked + message
        found = variables_of(message[-VARIABLES_LENGTH:])
        before, again = halting_of(message), halting_of(message[HALTING_LENGTH // 2 :])
        cleared = halting_of(message[HALTING_LENGTH:]) if self._cleared else None
        if not (before == again and self._agrees(found) and self._follows(before, cleared, found.halting)):
            self.counters.rejected += 1
            return None
        self._clearing = False
        self._note(found)
        self._position = math.nan if found.halting & Error.FEEDBACK_DISCONNECT else found.scaled * self._metre
        if self._searching is not None and self._target == self._options.home:
            self._homed = self._homed or abs(found.scaled - self._options.home) <= _THERE
        feedback = self._feedback(found, self._status(found.halting, self._error), self._error)
        offset = self._station.carried_after(self._now)
        return feedback._replace(velocity=self._speed.after(self._now + offset, feedback), offset=offset)

    def _agrees(self, found: Variables) -> bool:
        """Whether a reply is to be believed; see the class."""
        told = self._told
        if told is not None and not told.scales(found.feedback, found.scaled):
            return False
        if self._target is not None and (found.target != self._target or found.input != self._target):
            return False
        if not self._looked:
            return self._judge(found.periods) in (Life.GOES_ON, Life.RESTARTED)
        since = (found.periods - self._periods) % _ROUNDS
        return since <= _BETWEEN and self._life_said in (Life.GOES_ON, Life.RESTARTED)

    def _follows(self, before: int, cleared: int | None, after: int) -> bool:
        """Whether the errors after the command are what comes of those before it, and of clearing them."""
        told = before & ~Error.AWAITING_COMMAND | (Error.AWAITING_COMMAND if self._target is None else 0)
        return after == told if cleared is None else cleared == told and not after & ~told

    def _note(self, found: Variables) -> None:
        """What keeps the motor from running, and what follows from it."""
        self._supplies.append(found.supply * 1e-3)
        self._currents.append(found.current * 1e-3)
        risen = self._life.risen(found.occurred)
        if not self._unjudged:
            risen = 0  # its motor was not to run
        rested = self._stale or not self._was_unjudged
        self._stale = rested and bool(found.halting & Error.SERIAL_TIMEOUT)
        faults = found.halting & ~(_BORNE if rested else _ALLOWED) | risen & ~_BORNE
        if faults:
            self._fail(faults)
        self._unjudged = self._on
        if self._on and (found.halting | risen) & Error.NO_POWER:
            self._armed = False  # it has lost its power: it must not go on by itself

    def _fail(self, bits: int) -> None:
        self._error |= bits
        self._armed = False

    def _status(self, halting: int, error: int) -> Status:
        status = Status.FAULT if error else Status.READY
        if error & Error.SERIAL_TIMEOUT:
            status |= Status.WATCHDOG
        if not halting:
            status |= Status.ENABLED
        if self._homed:
            status |= Status.HOMED
        elif self._searching is not None:
            status |= Status.HOMING
        return status

    def _feedback(self, found: Variables, status: Status, error: int) -> Feedback:
        known = not found.halting & Error.FEEDBACK_DISCONNECT
        position = found.scaled * self._metre + self._options.position_offset if known else math.nan
        return Feedback(position, 0.0, math.nan, status, error, True, 0.0, -1)

"""Commands and feedback of a drive, independent of the protocol: leg lengths, speeds and forces in SI units."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import NamedTuple, overload

import numpy as np

SEQUENCES = 1 << 16
"""Commands are counted with 16 bits: after the last number comes 0."""


class Mode(IntEnum):
    """Which loop the drive closes."""

    OFF = 0
    FORCE = 1
    POSITION = 2
    HOMING = 3


class Status(IntFlag):
    """State of a drive, the same bits for every driver."""

    READY = 1
    """No fault is latched: the drive can be enabled."""
    ENABLED = 2
    """The power stage is on."""
    FAULT = 4
    """A fault is latched; `Feedback.error` says which."""
    HOMED = 8
    """The position is absolute."""
    HOMING = 16
    QUICK_STOP = 32
    """The drive is bringing the leg to rest by itself."""
    WATCHDOG = 64
    """The drive's own watchdog expired; latched with the fault."""
    BRAKE = 128
    """The holding brake is closed."""
    STANDSTILL = 256


class Command(NamedTuple):  # made for six legs a cycle, in a third of a frozen dataclass's time; so is Feedback
    """Command of one drive.

    force: N, pushing (extending) positive. position: m, leg length. velocity: m/s.
    enable: power stage on; after power-up, a fault or a quick stop it must be False first.
    quick_stop: stop by the drive's own deceleration. clear: its rising edge clears a latched fault.
    """

    mode: Mode
    force: float = 0.0
    position: float = 0.0
    velocity: float = 0.0
    enable: bool = False
    quick_stop: bool = False
    clear: bool = False

    @property
    def stops(self) -> bool:
        """Whether it ends motion and torque."""
        return self.quick_stop or not self.enable


class Commands(Sequence[Command]):
    """Commands of several drives in one mode, with torque.

    `values` (n, 7) has the fields of `Command` as columns. Their owner changes the set-points `force`, `position` and
    `velocity` (n,), views of it, in place.
    """

    def __init__(self, mode: Mode, count: int = 6) -> None:
        self.mode = mode
        self.values = np.zeros((count, 7))
        self.values[:, 0], self.values[:, 4] = mode, 1.0
        self.force, self.position, self.velocity = self.values[:, 1], self.values[:, 2], self.values[:, 3]

    def __len__(self) -> int:
        """Number of drives."""
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Command: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Command]: ...

    def __getitem__(self, index: int | slice) -> Command | Sequence[Command]:
        """Return the present command of a drive, or those of some."""
        return list(self)[index]

    def __iter__(self) -> Iterator[Command]:
        """Iterate over the present commands."""
        mode, points = self.mode, self.values[:, 1:4].tolist()
        return iter([Command(mode, force, position, velocity, enable=True) for force, position, velocity in points])


COMMAND_OFF = Command(Mode.OFF)
"""Torque off, brake closed."""
COMMAND_HOME = Command(Mode.HOMING, enable=True)
"""Search the reference."""
COMMAND_STOP = Command(Mode.OFF, enable=True, quick_stop=True)
"""The drive's own quick stop, then torque off."""
COMMAND_CLEAR = Command(Mode.OFF, clear=True)
"""Clear a latched fault (its edge does: send `COMMAND_OFF` before)."""


class Feedback(NamedTuple):
    """Feedback of one drive.

    position: m, leg length. velocity: m/s. force: N, raw force or load-cell feedback, compression positive. Each is
    NaN if the device reports no valid value, or before the first reply.
    error: the drive's own code. fresh: False = stale: the other values are those of the last good reply.
    age: s since they were received, by the time of the cycles; before the first reply, since the first request.
    sequence: the drive's echo of the command it acts on (`Drive.sequence`), -1 = none.
    lag: its age in commands; 0 without an echo; for a stale one that of the last good reply.
    offset: s from the cycle's time to the measurement and the command's arrival, as far as the bus shows.
    """

    position: float
    velocity: float
    force: float
    status: Status
    error: int
    fresh: bool
    age: float
    sequence: int
    lag: int = 0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a drive can do.

    force_limit (N), position_limit (m), velocity_limit (m/s): largest magnitudes of a command: the range of the wire's
    format, not the machine's limits. A set-point that the drive does not take may have any value, and is not sent.
    position_centre: m, from which position_limit counts; position 0 in another mode than POSITION is none, and need not
    be within. force_feedback: it reports a load cell's force; one that is computed from the motor's current is none.
    resolution: m, of the position; 0 if unknown. reach: m, the leg lengths that can be commanded. homing_ends_off:
    homing ends with the torque off; with other drives it stays on. velocity_feedback: it reports a measured speed;
    False where the driver differentiates positions (`actuators.drive`). force_feedforward: in mode POSITION it adds the
    commanded force to that of its own loop. velocity_feedforward: in mode POSITION it carries a commanded position on
    at the commanded velocity; else it waits there for the next one. extrapolates: in mode POSITION, if a command is
    missing, it goes on at the commanded velocity, or that between the last two positions. set_point_exchanges: those
    that a set-point takes at least; 2 where it takes each second one. speed_limit (m/s), ramp_limit (m/s²): greatest
    speed and acceleration with which it moves to a position by a ramp of its own.
    """

    modes: tuple[Mode, ...]
    force_feedback: bool
    homing: bool
    watchdog: bool
    force_limit: float
    position_limit: float
    velocity_limit: float
    position_centre: float = 0.0
    resolution: float = 0.0
    reach: tuple[float, float] = (-math.inf, math.inf)
    homing_ends_off: bool = False
    velocity_feedback: bool = True
    force_feedforward: bool = False
    velocity_feedforward: bool = True
    extrapolates: bool = False
    set_point_exchanges: int = 1
    speed_limit: float = math.inf
    ramp_limit: float = math.inf


@dataclass(frozen=True, slots=True)
class Identity:
    """Identification of a device."""

    vendor: str
    product: str
    serial: str
    firmware: str

    @property
    def described(self) -> str:
        """Text of the known fields."""
        name = " ".join(filter(None, (self.vendor, self.product)))
        rest = [f"{word} {value}" for word, value in (("serial", self.serial), ("firmware", self.firmware)) if value]
        return ", ".join([name, *rest])


@dataclass(slots=True)
class Counters:
    """Counters of one device's cyclic traffic since its creation.

    sent: requests handed to the wire. received: good replies. late: cycles without a reply at the deadline.
    rejected: replies of other cycles and frames that are no answer. exceptions: answers that report an exception;
    exception_code: the last one's code. crc: frames with a wrong checksum (none on TCP). mismatched: replies that
    echo a wrong command. lagging: good replies, of those received, to an earlier cycle's command.
    belated: of those rejected, replies to a request that was given up, as counted under late.
    """

    sent: int = 0
    received: int = 0
    late: int = 0
    rejected: int = 0
    exceptions: int = 0
    exception_code: int = 0
    crc: int = 0
    mismatched: int = 0
    lagging: int = 0
    belated: int = 0

    @property
    def foreign(self) -> int:
        """Frames that are no answer: noise, or another master's traffic, with no checksum to tell them apart."""
        return self.rejected - self.belated

    @property
    def unusable(self) -> int:
        """Bad replies and other unexpected bytes: of another cycle, no answer, refused, damaged, mismatched.

        Belated replies do not count: the host or the device was late, and the line is not disturbed.
        """
        return self.foreign + self.exceptions + self.crc + self.mismatched

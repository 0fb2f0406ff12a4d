"""The six drives and their load cells as one: opened together, exchanged with together, timed, read into arrays."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from actuators import (
    COMMAND_OFF,
    ActuatorError,
    BusPlan,
    CellSource,
    Command,
    Drive,
    Identity,
    Mode,
    Status,
    bus_plans,
    exchange_all,
)
from calibration import CellErrors, LoadCellCalibration
from rig.engine.snapshot import DriveReport
from rig.errors import HardwareError
from rig.findings import Code, Finding, Value
from rig.runtime import Clock, MonotonicClock
from rig.safety import Traffic

_ENABLED = Status.ENABLED.value
_SETTLING_EXCHANGES = 10
_SETTLING_TIMEOUT = 0.1  # s
_LOOK_PERIOD = 0.05  # s between two looks at a drive's watchdog


class DriveGroup:
    """Six drives and their load cells.

    Args:
        drives: legs 1 to 6.
        cells: what reads the load cells.
        calibration: turns raw readings into forces.
        modes: by leg, those without which its drive cannot be used.
        clock: of their wires, if not the machine's.
        length_offsets: (6,) m, what each drive reads beyond its leg's length; everything here is without them.
        cell_errors: what the cells read beyond their calibration; likewise.

    The arrays hold the last exchange: `length` m, `velocity` m/s, `force` N (calibrated, compression positive),
    `fresh` 1 or 0, `lag` by how many cycles the values are older than the last one, `offset` and `cells_offset` by how
    much later than the cycle's time they were measured, s, all (6,); the lists `age` (s since the values were
    received), `stale` (consecutive cycles without fresh ones), `status` and `error` the rest, `asked` who was told to
    have torque, `searching` who of them to search the reference. `cells_fresh`, `cells_age` (s) and `cells_stale` say
    the same of the load cells.
    """

    def __init__(
        self,
        drives: Sequence[Drive],
        cells: CellSource,
        calibration: LoadCellCalibration,
        modes: Sequence[Sequence[Mode]],
        clock: Clock | None = None,
        length_offsets: Sequence[float] = (0.0,) * 6,
        cell_errors: CellErrors | None = None,
    ) -> None:
        self._clock = MonotonicClock() if clock is None else clock
        self._drives = tuple(drives)
        self._modes = tuple(modes)
        self._cells = cells
        self._calibration = calibration
        self._cell_errors = CellErrors(np.zeros(6), np.eye(6)) if cell_errors is None else cell_errors
        self._length_offsets = list(length_offsets)
        self._shifted = any(self._length_offsets)
        self._identities = [Identity("", "", "", "")] * 6
        self.length = np.zeros(6)
        self.velocity = np.zeros(6)
        self.force = np.zeros(6)
        self.fresh = np.zeros(6)
        self.age = [0.0] * 6
        self.stale = [0] * 6
        self.status = [0] * 6
        self.error = [0] * 6
        self.asked = [False] * 6
        self.searching = [False] * 6
        self._looked_at, self._turn = -math.inf, 0
        self.lag = np.zeros(6)
        self.offset = np.zeros(6)
        self.cells_offset = np.zeros(6)
        self.cells_fresh = False
        self.cells_age = 0.0
        self.cells_stale = 0
        self.force_limit = np.array([drive.capabilities.force_limit for drive in self._drives])
        """(6,) N, the largest forces that can be commanded"""
        self.homing_ends_off = [drive.capabilities.homing_ends_off for drive in self._drives]
        """which drives take their torque off as they find their reference"""
        self.resolution = [drive.capabilities.resolution for drive in self._drives]
        """m, of each drive's position"""
        self.velocity_feedback = [drive.capabilities.velocity_feedback for drive in self._drives]
        """of each drive, whether it reports a measured speed"""
        self.force_feedforward = [drive.capabilities.force_feedforward for drive in self._drives]
        """of each drive, whether its own loop takes the model's force along"""
        self.reach = [
            tuple(end - offset for end in drive.capabilities.reach)
            for drive, offset in zip(self._drives, self._length_offsets, strict=True)
        ]
        """m, the leg lengths that each drive can be told"""

    @property
    def unwatched(self) -> Finding | None:
        """Which legs' drives have no watchdog, and what follows; None when none is without."""
        legs = [leg for leg, drive in enumerate(self._drives, start=1) if not drive.capabilities.watchdog]
        return Finding(Code.UNWATCHED, details={"legs": legs}) if legs else None

    @property
    def serials(self) -> list[str]:
        """The serial number that each drive said as it was connected to, "" where it says none."""
        return [identity.serial for identity in self._identities]

    @property
    def plans(self) -> list[BusPlan]:
        """What a cycle takes on each line that devices share."""
        return bus_plans([*self._drives, *self._cells.members])

    def lacking(self) -> dict[int, Finding]:
        """Legs (1…6) whose drive cannot be used for want of a mode, and which."""
        found = {}
        for leg, (drive, modes) in enumerate(zip(self._drives, self._modes, strict=True), start=1):
            lacking = [mode.name for mode in modes if mode not in drive.capabilities.modes]
            if lacking:
                found[leg] = Finding(Code.DRIVE_WITHOUT_MODE, leg, details={"modes": ", ".join(lacking)})
        return found

    def connect(self, timeout: float) -> list[Finding]:
        """Open, identify and configure every device; a finding for each that answered.

        Raises:
            HardwareError: a device is silent, not the one expected, has torque already or refuses its configuration;
                all are closed again, and where one is not to be used none was written to.
        """
        lacking = self.lacking()
        identified, faults = [], list(lacking.values())
        for leg, drive in enumerate(self._drives, start=1):
            if leg in lacking:
                continue
            try:
                drive.connect(timeout)
                identity = drive.identify()
                if drive.observe(timeout).status & Status.ENABLED:
                    faults.append(Finding(Code.DRIVE_COMMANDED, leg))
                self._identities[leg - 1] = identity
                identified.append(Finding(Code.DRIVE_IDENTIFIED, leg, details={"identity": identity.described}))
            except ActuatorError as error:
                faults.append(_failure(leg, error))
        try:
            self._cells.connect(timeout)
        except ActuatorError as error:
            faults.append(Finding(Code.CELLS_FAIL, details={"text": str(error)}))
        if not faults:  # nothing is written before every drive is known, and known to have no torque
            faults = self._unconfigured() or self._settle()
        if faults:
            self.close()
            raise HardwareError(_listed(faults))
        return identified

    def configure(self) -> None:
        """Set and read back again what every drive must know, its watchdog first: one may have restarted meanwhile.

        Raises:
            HardwareError: a drive is silent or refuses its configuration.
        """
        faults = self._unconfigured()
        if faults:
            raise HardwareError(_listed(faults))

    def verify(self, leg: int, timeout: float) -> None:
        """Ask the drive of a leg (index) whether it is the one connected to, and has kept what `configure` set.

        Args:
            leg: index.
            timeout: s, for each of two accesses.

        Raises:
            HardwareError: it is another, has restarted, has no or another watchdog time, or is silent.
        """
        known = self._identities[leg]
        try:
            identity = self._drives[leg].verify(timeout)
        except ActuatorError as error:
            raise HardwareError(_failure(leg + 1, error)) from error
        for field in fields(Identity):
            now, before = getattr(identity, field.name), getattr(known, field.name)
            if now != before:
                details: dict[str, Value] = {"field": field.name, "now": now, "before": before}
                raise HardwareError(Finding(Code.OTHER_DRIVE, leg + 1, details=details))

    def exchange(self, commands: Sequence[Command], now: float, timeout: float) -> None:
        """Send six commands at `now` (s, on the wires' clock), take replies within `timeout` s, and fill the arrays."""
        self._cells.begin(now)
        if self._shifted:
            commands = [
                command._replace(position=command.position + offset) if command.mode is Mode.POSITION else command
                for command, offset in zip(commands, self._length_offsets, strict=True)
            ]
        feedback = exchange_all(self._drives, commands, now, timeout, self._cells.lines)
        for leg, sample in enumerate(feedback):
            self.asked[leg] = asked = commands[leg].enable
            self.searching[leg] = asked and commands[leg].mode is Mode.HOMING
            self.fresh[leg] = sample.fresh
            self.length[leg] = sample.position - self._length_offsets[leg]
            self.velocity[leg] = sample.velocity
            self.age[leg] = sample.age
            self.stale[leg] = 0 if sample.fresh else self.stale[leg] + 1
            self.status[leg] = int(sample.status)
            self.error[leg] = sample.error
            self.lag[leg] = sample.lag
            self.offset[leg] = sample.offset
        if now - self._looked_at >= _LOOK_PERIOD:  # one drive, in its turn
            self._looked_at, self._turn = now, (self._turn + 1) % 6
            self._drives[self._turn].look()
        reading = self._cells.finish(feedback, now + timeout)
        self.cells_fresh, self.cells_age = reading.fresh, reading.age
        self.cells_stale = 0 if reading.fresh else self.cells_stale + 1
        self.cells_offset[:] = reading.offsets
        self.force[:] = self._cell_errors.corrected(self._calibration.apply(np.array(reading.forces)))

    def resume(self) -> None:
        """Go on with exchanges after a pause: nobody was silent in it."""
        for device in (*self._drives, *self._cells.members):
            device.resume()

    def overdue(self, leg: int) -> bool:
        """Whether the drive of a leg (index) gave no good reply when it was asked last.

        One that is slower than the cycle is not asked in every one; what it said last counts until it is again.
        """
        return self._drives[leg].overdue

    @property
    def cells_overdue(self) -> bool:
        """The same of the load cells, of any device that reads them."""
        return self._cells.overdue

    def error_text(self, leg: int) -> str:
        """The present error of a leg (index) in the drive's words."""
        return self._drives[leg].error_text(self.error[leg])

    def watchdog_fault(self, leg: int) -> str:
        """What is wrong with the watchdog of a leg's (index) drive; see `Drive.watchdog_fault`."""
        return self._drives[leg].watchdog_fault

    def auxiliary(self, leg: int) -> Mapping[str, float]:
        """What else the drive of a leg (index) says of itself; see `Drive.auxiliary`."""
        return self._drives[leg].auxiliary

    def report(self, leg: int) -> DriveReport:
        """What the drive of a leg (index) says of itself, and what has become of its replies."""
        drive, error = self._drives[leg], self.error[leg]
        counted = drive.counters
        return DriveReport(
            tuple(drive.auxiliary.items()), drive.error_text(error) if error else "", counted.late, counted.unusable
        )

    @property
    def traffic(self) -> list[Traffic]:
        """What was counted of each device so far."""
        found = [
            Traffic(f"leg {leg}", leg, drive.counters.sent, drive.counters.unusable)
            for leg, drive in enumerate(self._drives, start=1)
        ]
        return found + [
            Traffic(f"load cells, {device.name}", 0, device.counters.sent, device.counters.unusable)
            for device in self._cells.members
        ]

    @property
    def cells_rejected(self) -> int:
        """Replies of devices that read load cells alone that could not be used."""
        return sum(device.counters.unusable for device in self._cells.members)

    def silence(self, leg: int) -> str:
        """What is known of why a leg (index) has no fresh feedback; may be empty."""
        return self._drives[leg].silence

    def cells_silence(self) -> str:
        """What is known of why there is no fresh reading of the load cells; may be empty."""
        return self._cells.silence

    @property
    def lagging(self) -> list[int]:
        """How many good replies so far were to an earlier cycle's command, by leg."""
        return [drive.counters.lagging for drive in self._drives]

    @property
    def rejected(self) -> list[int]:
        """How often so far what came was no good reply, by leg."""
        return [drive.counters.unusable for drive in self._drives]

    @property
    def mismatched(self) -> list[int]:
        """How many replies so far were not believed for the command that they echo, by leg."""
        return [drive.counters.mismatched for drive in self._drives]

    def troubles(self) -> list[Finding]:
        """What is wrong with the last exchange: faults, silence, torque, values that are no numbers."""
        found = []
        for leg, status in enumerate(self.status):
            if self.overdue(leg):
                found.append(Finding(Code.LEG_SILENT, leg + 1, details={"silence": self.silence(leg)}))
            elif status & (Status.FAULT | Status.WATCHDOG):
                found.append(Finding(Code.DRIVE_SAYS, leg + 1, details={"text": self.error_text(leg)}))
            elif status & Status.ENABLED:
                found.append(Finding(Code.TORQUE_STILL_ON, leg + 1))
            elif not np.isfinite([self.length[leg], self.velocity[leg]]).all():
                values: dict[str, Value] = {"length": float(self.length[leg]), "speed": float(self.velocity[leg])}
                found.append(Finding(Code.NOT_FINITE, leg + 1, details=values))
            elif not np.isfinite(self.force[leg]):
                found.append(Finding(Code.CELL_NOT_FINITE, leg + 1, float(self.force[leg])))
        if self.cells_overdue:
            found.append(Finding(Code.CELLS_STILL_SILENT, details={"silence": self.cells_silence()}))
        return found

    def all(self, bit: Status) -> bool:
        """Whether every drive reports `bit`."""
        mask = int(bit)
        return all(status & mask for status in self.status)

    def any(self, bit: Status) -> bool:
        """Whether some drive reports `bit`."""
        mask = int(bit)
        return any(status & mask for status in self.status)

    def legs(self, bit: Status) -> list[int]:
        """Legs (1…6) whose drive reports `bit`."""
        mask = int(bit)
        return [leg for leg, status in enumerate(self.status, start=1) if status & mask]

    @property
    def connected(self) -> bool:
        """Whether every device's connection is open."""
        return self._cells.connected and all(drive.connected for drive in self._drives)

    def powered(self, within: float) -> tuple[int, ...]:
        """Legs (1…6) whose drive has reported torque in its last reply, which is no more than `within` s old."""
        pairs = zip(self.status, self.age, strict=True)
        return tuple([leg for leg, (bits, age) in enumerate(pairs, start=1) if bits & _ENABLED and age <= within])

    def close(self) -> None:
        """Close every device. May be called again."""
        for drive in self._drives:
            drive.close()
        self._cells.close()

    def _unconfigured(self) -> list[Finding]:
        """Set and read back what every drive must know; what went wrong, by leg."""
        faults = []
        for leg, drive in enumerate(self._drives, start=1):
            try:
                drive.configure()
            except ActuatorError as error:
                faults.append(_failure(leg, error))
        return faults

    def _settle(self) -> list[Finding]:
        """Exchange until every device has reported itself, so that the first cycle begins with real values."""
        heard, cells = np.zeros(6, bool), False
        for _ in range(_SETTLING_EXCHANGES):
            try:
                self.exchange([COMMAND_OFF] * 6, self._clock.now(), _SETTLING_TIMEOUT)
            except ActuatorError as error:
                return [Finding.of_text(str(error))]
            heard |= self.fresh > 0.0
            cells = cells or self.cells_fresh
            if heard.all() and cells:
                return []
        missing = [
            Finding(Code.DRIVE_NO_REPLY, leg + 1, details={"silence": self.silence(leg)})
            for leg in range(6)
            if not heard[leg]
        ]
        return missing or [Finding(Code.CELLS_NO_REPLY, details={"silence": self.cells_silence()})]


def _failure(leg: int, error: ActuatorError) -> Finding:
    """What the drive of a leg (1…6) says in its own words."""
    return Finding(Code.DRIVE_FAILS, leg, details={"text": str(error)})


def _listed(faults: Sequence[Finding]) -> Finding:
    """Faults in one: one as it is, several as a list."""
    if len(faults) == 1:
        return faults[0]
    return Finding(Code.DEVICES_UNUSABLE, details={"count": len(faults)}, within=tuple(faults))


class ExchangeTimes:
    """Makes the exchanges of cycles, and tells what passed of which the cycle knew nothing as it began.

    Args:
        drives: drives and cells.
        clock: of the exchanges' deadlines.
        reply_time: s for the replies.
    """

    def __init__(self, drives: DriveGroup, clock: Clock, reply_time: float) -> None:
        self._group, self._clock, self._reply_time = drives, clock, reply_time
        self._before: float | None = None
        self.between = 0.0
        """s since the exchange before"""
        self.held = 0.0
        """s of them, or within the exchange, for which the process stood still after its cycle had begun"""

    def make(self, commands: Sequence[Command], planned: float) -> None:
        """The exchange of a cycle; planned: s since the one before, by when the two cycles began."""
        begun = self._clock.now()
        self._group.exchange(commands, begun, self._reply_time)
        longer = self._clock.now() - begun - self._reply_time
        late = 0.0 if self._before is None else max(0.0, begun - self._before - planned)
        self.between, self.held, self._before = planned + late, max(late, longer), begun

    def repeat(self, commands: Sequence[Command]) -> None:
        """A second exchange of the same cycle, for a stop that it has found."""
        self._group.exchange(commands, self._clock.now(), self._reply_time)

    def forget(self) -> None:
        """The next exchange has none before it."""
        self._before = None

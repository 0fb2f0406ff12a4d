"""The six drives and their load cells as a group: connection, exchanges, timing and arrays of feedback."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from actuators import (
    COMMAND_OFF,
    ActuatorError,
    BusPlan,
    CellReading,
    CellSource,
    Command,
    Commands,
    Counters,
    Drive,
    DriveCells,
    Identity,
    Mode,
    Status,
    bus_plans,
    cycle_exchange,
    slowest_apart,
)
from calibration import CellErrors, LoadCellCalibration
from kinematics import Array, kernel
from rig.engine.digital_io import InputsOutputs
from rig.engine.snapshot import CellsReport, DriveReport, IoReport, ReplyCounts
from rig.errors import HardwareError
from rig.findings import Code, Finding, Value
from rig.runtime import Clock, MonotonicClock
from rig.safety import LEGS, Traffic

_ENABLED = Status.ENABLED.value
_SETTLING_EXCHANGES = 10
_SETTLING_TIMEOUT = 0.1  # s, or twice the time that the slowest line takes
_WATCHDOG_PERIOD = 0.05  # s between two looks at a drive's watchdog


_STANDSTILL_SPEED = 2e-3  # m/s
_FINITE, _STANDING = 1, 2


@kernel
def convert_kernel(
    position: Array, velocity: Array, length_offset: Array, raw: Array, cell_offset: Array, gain: Array, read: Array,
    length: Array, force: Array, cells_offset: Array,
) -> int:  # fmt: skip
    """Lengths, m, forces, N, and times of the cells' readings, s, of what drives and cells report; all (6,).

    Returns bits: whether all lengths are finite, and whether all legs stand by their `velocity`, m/s.
    """
    found = _FINITE | _STANDING
    for i in range(6):
        if not math.isfinite(position[i]):
            found &= ~_FINITE
        if not abs(velocity[i]) <= _STANDSTILL_SPEED:
            found &= ~_STANDING
        length[i] = position[i] - length_offset[i]
        force[i] = (raw[i] - cell_offset[i]) * gain[i]
        cells_offset[i] = read[i]
    return found


class DriveGroup:
    """Six drives and their load cells.

    Args:
        drives: legs 1 to 6.
        cells: readers of the load cells.
        calibration: converts raw readings to forces.
        modes: by leg, modes that its drive must have.
        clock: of their wires, if not the machine's.
        length_offsets: (6,) m, drive reading less leg length; all lengths here are corrected.
        cell_errors: errors of the cells beyond their calibration; all forces here are corrected.
        io: inputs and outputs, if there are some.

    The arrays hold the last exchange: `length` m, `velocity` m/s, `force` N (calibrated, compression positive),
    `fresh` 1 or 0, `lag` age of the values in cycles, `offset` and `cells_offset` delay of the measurement after the
    cycle's time, s, all (6,). The lists are `age` (s since the values were received), `stale` (consecutive cycles
    without fresh ones), `status`, `error`, `asked` (commanded to have torque) and `searching` (commanded to search the
    reference). `status_any` and `status_all` are the bits of `status` that any or all drives report; `prompt` is
    whether every reply is fresh and answers this cycle's command, `lengths_finite` whether every length is finite,
    `standstill` whether every leg is at rest. `cells_fresh`, `cells_age` (s) and `cells_stale` are the same for the
    load cells.
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
        io: InputsOutputs | None = None,
    ) -> None:
        self._clock = MonotonicClock() if clock is None else clock
        self._members = tuple(drives)
        self._exchange = cycle_exchange(self._members)
        self._modes = tuple(modes)
        self._cells = cells
        self.io = io
        self._block = None if io is None else io.device
        line = None if self._block is None else self._block.line
        self._lines = cells.lines if line is None else [*cells.lines, line]
        self._apart = False
        self._calibration = calibration
        self._cell_errors = CellErrors(np.zeros(6), np.eye(6)) if cell_errors is None else cell_errors
        self._corrects = bool(self._cell_errors)
        self._length_offsets = np.array(length_offsets)
        self._shifted = bool(self._length_offsets.any())
        self._identities = [Identity("", "", "", "")] * 6
        self.measured = np.zeros((2, 6))
        """`length` and `force` in one array"""
        self.length, self.force = self.measured
        self.velocity = self._exchange.velocity
        self.fresh = self._exchange.fresh
        self.age = [0.0] * 6
        self.stale = [0] * 6
        self.status = [0] * 6
        self.status_any = self.status_all = 0
        self.error = [0] * 6
        self.prompt = self.lengths_finite = self.standstill = False
        self.asked = [False] * 6
        self.searching = [False] * 6
        self._watchdog_asked_at, self._turn = -math.inf, 0
        self.lag = self._exchange.lag
        self.offset = self._exchange.offset
        self.cells_offset = np.zeros(6)
        self.cells_fresh = False
        self.cells_age = 0.0
        self.cells_stale = 0
        self.force_limit = np.array([drive.capabilities.force_limit for drive in self._drives])
        """(6,) N, the largest forces that can be commanded"""
        self.homing_ends_off = [drive.capabilities.homing_ends_off for drive in self._drives]
        """by drive, whether it switches its torque off when it finds its reference"""
        self.resolution = [drive.capabilities.resolution for drive in self._drives]
        """m, resolution of each drive's position"""
        self.velocity_feedback = [drive.capabilities.velocity_feedback for drive in self._drives]
        """by drive, whether it reports a measured speed"""
        self.extrapolates = [drive.capabilities.extrapolates for drive in self._drives]
        """by drive, whether it goes on at the commanded speed while commands are missing"""
        self.force_feedforward = [drive.capabilities.force_feedforward for drive in self._drives]
        """by drive, whether its own loop accepts the model's force"""
        self.velocity_feedforward = [drive.capabilities.velocity_feedforward for drive in self._drives]
        """by drive, whether its own loop accepts a speed"""
        self.reach = [
            tuple(end - offset for end in drive.capabilities.reach)
            for drive, offset in zip(self._drives, self._length_offsets, strict=True)
        ]
        """m, the leg lengths that each drive can be commanded"""

    @property
    def _drives(self) -> Sequence[Drive]:
        """The drives, up to date with the last exchange."""
        return [self._drive(leg) for leg in range(len(self._members))]

    @property
    def kernels(self) -> Sequence[str]:
        """Compiled functions of the exchange, with their modules."""
        return self._exchange.kernels

    def take_turns(self, period: float) -> None:
        """From now on ask slow cells apart from other slow devices on their line, if cycles of `period` s allow it."""
        slowest = slowest_apart(self._cells.members, [*self._members, *([] if self._block is None else [self._block])])
        self._apart = slowest > 0.0 and slowest >= period * (1.0 - 1e-9)

    def rehearse(self) -> None:
        """Compile what an exchange needs; nothing is sent."""
        self._exchange.rehearse()
        self._convert(CellReading(self.force, False, 0.0, self.cells_offset))

    def _drive(self, leg: int) -> Drive:
        """The drive of a leg (index), up to date with the last exchange."""
        self._exchange.sync(leg)
        return self._members[leg]

    def _used_alone(self, leg: int) -> Drive:
        """The same, to be used by itself before the next exchange."""
        self._exchange.interrupt(leg)
        return self._members[leg]

    @property
    def unwatched(self) -> Finding | None:
        """Text of legs whose drive has no watchdog, with the consequence; None if all have one."""
        legs = [leg for leg, drive in enumerate(self._drives, start=1) if not drive.capabilities.watchdog]
        return Finding(Code.UNWATCHED, details={"legs": legs}) if legs else None

    @property
    def serials(self) -> list[str]:
        """Serial number of each drive from its connection, "" if it has none."""
        return [identity.serial for identity in self._identities]

    @property
    def plans(self) -> list[BusPlan]:
        """Plan of a cycle on each shared line."""
        devices = [*self._drives, *self._cells.members, *([] if self._block is None else [self._block])]
        return bus_plans(devices, self._cells.members if self._apart else ())

    def lacking(self, *, cells: bool = True) -> dict[int, Finding]:
        """Legs (1…6) whose drive lacks a required mode, and the modes, or, if `cells`, the load cell it has to read."""
        found = {}
        for leg, (drive, modes) in enumerate(zip(self._drives, self._modes, strict=True), start=1):
            lacking = [mode.name for mode in modes if mode not in drive.capabilities.modes]
            if lacking:
                found[leg] = Finding(Code.DRIVE_WITHOUT_MODE, leg, details={"modes": ", ".join(lacking)})
            elif cells and isinstance(self._cells, DriveCells) and not drive.capabilities.force_feedback:
                found[leg] = Finding(Code.DRIVE_WITHOUT_CELL, leg)
        return found

    def connect(self, timeout: float) -> list[Finding]:
        """Open, identify and configure every device; a finding for each that answered.

        Raises:
            HardwareError: a device is silent, not the expected one, already has torque or refuses its configuration;
                all are closed again. Nothing is written to any device unless all can be used.
        """
        lacking = self.lacking()
        identified, faults = [], list(lacking.values())
        for leg in range(1, 7):
            if leg in lacking:
                continue
            drive = self._used_alone(leg - 1)
            try:
                drive.connect(timeout)
                identity = drive.identify()
                if drive.observe(timeout).status & Status.ENABLED:
                    ours = self.status[leg - 1] & _ENABLED  # it has no watchdog that would have switched it off
                    faults.append(Finding(Code.TORQUE_STAYS_ON if ours else Code.DRIVE_COMMANDED, leg))
                self._identities[leg - 1] = identity
                identified.append(Finding(Code.DRIVE_IDENTIFIED, leg, details={"identity": identity.described}))
            except ActuatorError as error:
                faults.append(_failure(leg, error))
        try:
            self._cells.connect(timeout)
        except ActuatorError as error:
            faults.append(Finding(Code.CELLS_FAIL, details={"text": str(error)}))
        if self.io is not None and (failed := self.io.connect(timeout)) is not None:
            faults.append(failed)
        if not faults:  # nothing is written before every drive is known, and known to have no torque
            faults = self._unconfigured() or self._settle()
        if faults:
            self.close()
            raise HardwareError(_listed(faults))
        return identified

    def configure(self) -> None:
        """Set and read back the settings of every drive again, the watchdog first, since a drive may have restarted.

        Raises:
            HardwareError: a drive is silent or refuses its configuration.
        """
        faults = self._unconfigured()
        if faults:
            raise HardwareError(_listed(faults))

    def verify(self, leg: int, timeout: float) -> None:
        """Check that the drive of a leg (index) is still the connected one, with the settings of `configure`.

        Args:
            leg: index.
            timeout: s, for each of two accesses.

        Raises:
            HardwareError: it is another, has restarted, has no or another watchdog time, or is silent.
        """
        known = self._identities[leg]
        try:
            identity = self._used_alone(leg).verify(timeout)
        except ActuatorError as error:
            raise HardwareError(_failure(leg + 1, error)) from error
        for field in fields(Identity):
            now, before = getattr(identity, field.name), getattr(known, field.name)
            if now != before:
                details: dict[str, Value] = {"field": field.name, "now": now, "before": before}
                raise HardwareError(Finding(Code.OTHER_DRIVE, leg + 1, details=details))

    def exchange(self, commands: Sequence[Command], now: float, timeout: float) -> None:
        """Send six commands at `now` (s, on the wires' clock), take replies within `timeout` s, and fill the arrays."""
        if self._apart:
            self._begin_apart(commands, now)
        else:
            self._cells.begin(now)
            if self.io is not None:
                self.io.begin(now)
        if self._shifted:
            commands = [
                command._replace(position=command.position + offset) if command.mode is Mode.POSITION else command
                for command, offset in zip(commands, self._length_offsets, strict=True)
            ]
        found = self._exchange
        found.exchange(commands, now, timeout, self._lines)
        if isinstance(commands, Commands):
            self.asked, self.searching = [True] * 6, [commands.mode is Mode.HOMING] * 6
        else:
            self.asked = [command.enable for command in commands]
            self.searching = [command.enable and command.mode is Mode.HOMING for command in commands]
        self.status, self.error, self.prompt = found.status, found.error, found.prompt
        one, two, three, four, five, six = found.status
        self.status_any, self.status_all = one | two | three | four | five | six, one & two & three & four & five & six
        if found.prompt:
            self.age, self.stale = [0.0] * 6, [0] * 6
        else:
            self.age = found.age.tolist()
            self.stale = [0 if one else count + 1 for one, count in zip(found.fresh.tolist(), self.stale, strict=True)]
        if now - self._watchdog_asked_at >= _WATCHDOG_PERIOD:  # one drive, in its turn
            self._watchdog_asked_at, self._turn = now, (self._turn + 1) % 6
            self._used_alone(self._turn).request_watchdog()
        if self.io is not None:
            self.io.finish(found, now + timeout)
        reading = self._cells.finish(found, now + timeout)
        self.cells_fresh, self.cells_age = reading.fresh, reading.age
        self.cells_stale = 0 if reading.fresh else self.cells_stale + 1
        self._convert(reading)
        if self._corrects:
            self.force[:] = self._cell_errors.corrected(self.force)

    def _begin_apart(self, commands: Sequence[Command], now: float) -> None:
        """Begin with cells that wait for a cycle in which nothing else with a sample period is asked."""
        if self.io is not None:
            self.io.begin(now)
        block = self._block
        busy = block is not None and block.sample_period > 0.0 and block.asked
        if not busy:
            pairs = zip(self._members, commands, strict=True)
            busy = any(drive.asks(command, now) for drive, command in pairs if drive.sample_period)
        for device in self._cells.members:
            device.give_way(busy)
        self._cells.begin(now)

    def _convert(self, reading: CellReading) -> None:
        """See `convert_kernel`."""
        found = convert_kernel(
            self._exchange.position, self.velocity, self._length_offsets, reading.forces, self._calibration.offset,
            self._calibration.gain, reading.offsets, self.length, self.force, self.cells_offset,
        )  # fmt: skip
        self.lengths_finite, self.standstill = bool(found & _FINITE), bool(found & _STANDING)

    def resume(self) -> None:
        """Continue exchanges after a pause, which does not count as silence."""
        for device in (*map(self._used_alone, range(6)), *self._cells.members):
            device.resume()
        if self.io is not None:
            self.io.resume()

    def overdue(self, leg: int) -> bool:
        """Whether the drive of a leg (index) gave no good reply when it was asked last.

        A drive that is slower than the cycle is not asked in every cycle; its last reply counts meanwhile.
        """
        return self._drive(leg).overdue

    @property
    def cells_overdue(self) -> bool:
        """The same for any device that reads load cells."""
        if self.cells_fresh:
            return False
        for leg in range(6):
            self._exchange.sync(leg)
        return self._cells.overdue

    def error_text(self, leg: int) -> str:
        """The text of the drive's present error of a leg (index)."""
        return self._drive(leg).error_text(self.error[leg])

    def watchdog_fault(self, leg: int) -> str:
        """What is wrong with the watchdog of a leg's (index) drive; see `Drive.watchdog_fault`."""
        return self._members[leg].watchdog_fault  # of answers outside the cycle

    def auxiliary(self, leg: int) -> Mapping[str, float]:
        """Auxiliary values of the drive of a leg (index); see `Drive.auxiliary`."""
        return self._exchange.auxiliary(leg)

    def report(self, leg: int, lately: tuple[int, float] = (0, 0.0)) -> DriveReport:
        """Report of the drive of a leg (index) with the counts of its replies; lately: see `TrafficCheck.lately`."""
        drive, error = self._drive(leg), self.error[leg]
        replies = replace(_counts(drive.counters), lately=lately[0], bound=lately[1])
        return DriveReport(tuple(drive.auxiliary.items()), drive.error_text(error) if error else "", replies)

    def cells_report(self, device: int, lately: tuple[int, float] = (0, 0.0)) -> CellsReport:
        """The same of a device (index) that only reads load cells, drives first."""
        cells = self._cells.members[device - len(self._members)]
        return CellsReport(cells.name, replace(_counts(cells.counters), lately=lately[0], bound=lately[1]))

    @property
    def replies(self) -> dict[str, ReplyCounts]:
        """Counts of the replies that were not taken, by the names of `traffic`."""
        counters = [(f"leg {leg + 1}", self._drive(leg).counters) for leg in range(len(self._members))]
        counters += [(f"load cells, {device.name}", device.counters) for device in self._cells.members]
        if self._block is not None:
            counters.append((self._block.name, self._block.counters))
        return {name: _counts(counted) for name, counted in counters}

    @property
    def devices(self) -> int:
        """Number of drives, of devices that only read load cells, and of the block of inputs and outputs."""
        return len(self._members) + self.cell_devices + (self._block is not None)

    @property
    def cell_devices(self) -> int:
        """Number of devices that only read load cells."""
        return len(self._cells.members)

    def traffic(self, device: int) -> Traffic:
        """The counters of a device (index), drives first."""
        if device < len(self._members):
            counted = self._drive(device).counters
            return Traffic(f"leg {device + 1}", device + 1, counted.sent, counted.unusable)
        place = device - len(self._members)
        if place == len(self._cells.members) and self._block is not None:
            return Traffic(self._block.name, 0, self._block.counters.sent, self._block.counters.unusable)
        cells = self._cells.members[place]
        return Traffic(f"load cells, {cells.name}", 0, cells.counters.sent, cells.counters.unusable)

    def io_report(self, lately: tuple[int, float] = (0, 0.0)) -> IoReport | None:
        """Report of the inputs and outputs, None without any; lately: of their block, see `report`."""
        if self.io is None:
            return None
        if self._block is None:
            return self.io.report(ReplyCounts())
        return self.io.report(replace(_counts(self._block.counters), lately=lately[0], bound=lately[1]))

    @property
    def io_rejected(self) -> int:
        """Number of unusable replies of the block of inputs and outputs."""
        return 0 if self._block is None else self._block.counters.unusable

    @property
    def cells_rejected(self) -> int:
        """Number of unusable replies of devices that only read load cells."""
        return sum(device.counters.unusable for device in self._cells.members)

    def silence(self, leg: int) -> str:
        """Known reason why a leg (index) has no fresh feedback; may be empty."""
        return self._drive(leg).silence

    def cells_silence(self) -> str:
        """Known reason why there is no fresh reading of the load cells; may be empty."""
        return self._cells.silence

    @property
    def lagging(self) -> list[int]:
        """Number of good replies to an earlier cycle's command, by leg."""
        return [drive.counters.lagging for drive in self._drives]

    @property
    def rejected(self) -> list[int]:
        """Number of rejected replies, by leg."""
        return [drive.counters.unusable for drive in self._drives]

    @property
    def mismatched(self) -> list[int]:
        """Number of replies with a wrong echo, by leg."""
        return [drive.counters.mismatched for drive in self._drives]

    def troubles(self) -> list[Finding]:
        """Faults of the last exchange: drive faults, silence, missing torque, values that are not finite."""
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
        if self.io is not None:
            found += self.io.troubles
        return found

    def all(self, bit: Status) -> bool:
        """Whether every drive reports `bit`."""
        return bool(self.status_all & int(bit))

    def any(self, bit: Status) -> bool:
        """Whether some drive reports `bit`."""
        return bool(self.status_any & int(bit))

    def legs(self, bit: Status) -> Sequence[int]:
        """Legs (1…6) whose drive reports `bit`."""
        mask = int(bit)
        if not self.status_any & mask or self.status_all & mask:
            return LEGS if self.status_all & mask else ()
        return [leg for leg, status in enumerate(self.status, start=1) if status & mask]

    @property
    def connected(self) -> bool:
        """Whether every device's connection is open."""
        own = self._cells.connected and (self.io is None or self.io.connected)
        return own and all(drive.connected for drive in self._drives)

    def powered(self, within: float) -> tuple[int, ...]:
        """Legs (1…6) whose drive reported torque in its last reply, at most `within` s ago."""
        pairs = zip(self.status, self.age, strict=True)
        return tuple([leg for leg, (bits, age) in enumerate(pairs, start=1) if bits & _ENABLED and age <= within])

    def close(self) -> None:
        """Switch outputs at drives off, as far as these answer, and close every device. May be called again.

        The drives have no torque, or have been commanded to stop.
        """
        if self.io is not None and self.io.on_at_drives:
            self.io.off()
            self.exchange([COMMAND_OFF] * 6, self._clock.now(), self._unhurried)
        for leg in range(6):
            self._used_alone(leg).close()
        self._cells.close()
        if self.io is not None:
            self.io.close()

    def _unconfigured(self) -> list[Finding]:
        """Set and read back the settings of every drive; faults by leg."""
        faults = []
        for leg in range(6):
            try:
                self._used_alone(leg).configure()
            except ActuatorError as error:
                faults.append(_failure(leg + 1, error))
        if self.io is not None and (failed := self.io.configure()) is not None:
            faults.append(failed)
        return faults

    @property
    def _unhurried(self) -> float:
        """Time for the replies to an exchange outside of a cycle, s."""
        return max(_SETTLING_TIMEOUT, *(2.0 * plan.time for plan in self.plans), 0.0)

    def _settle(self) -> list[Finding]:
        """Exchange until every device has replied, so that the first cycle has real values."""
        answered, cells = np.zeros(6, bool), False
        timeout = self._unhurried
        for _ in range(_SETTLING_EXCHANGES):
            try:
                self.exchange([COMMAND_OFF] * 6, self._clock.now(), timeout)
            except ActuatorError as error:
                return [Finding.of_text(str(error))]
            answered |= self.fresh > 0.0
            cells = cells or self.cells_fresh
            known = self.io is None or self.io.known
            if answered.all() and cells and known:
                return []
        missing = [
            Finding(Code.DRIVE_NO_REPLY, leg + 1, details={"silence": self.silence(leg)})
            for leg in range(6)
            if not answered[leg]
        ]
        if cells and not missing:
            return [Finding(Code.IO_UNKNOWN)]
        return missing or [Finding(Code.CELLS_NO_REPLY, details={"silence": self.cells_silence()})]


def _failure(leg: int, error: ActuatorError) -> Finding:
    """Text of the fault of a leg's (1…6) drive."""
    return Finding(Code.DRIVE_FAILS, leg, details={"text": str(error)})


def _listed(faults: Sequence[Finding]) -> Finding:
    """Join faults: one as it is, several as a list."""
    if len(faults) == 1:
        return faults[0]
    return Finding(Code.DEVICES_UNUSABLE, details={"count": len(faults)}, within=tuple(faults))


class ExchangeTimes:
    """Makes the exchanges of cycles, and measures unplanned time between them.

    Args:
        drives: drives and cells.
        clock: of the exchanges' deadlines.
        reply_time: s for the replies.
    """

    def __init__(self, drives: DriveGroup, clock: Clock, reply_time: float) -> None:
        self._group, self._clock, self._reply_time = drives, clock, reply_time
        self._before: float | None = None
        self.between = 0.0
        """s since the previous exchange"""
        self.held = 0.0
        """s, part of it, or of the exchange, for which the process was suspended after the cycle's begin"""

    def make(self, commands: Sequence[Command], planned: float) -> None:
        """The exchange of a cycle; planned: s between the begins of the two cycles."""
        begun = self._clock.now()
        self._group.exchange(commands, begun, self._reply_time)
        longer = self._clock.now() - begun - self._reply_time
        late = 0.0 if self._before is None else max(0.0, begun - self._before - planned)
        self.between, self.held, self._before = planned + late, max(late, longer), begun

    def repeat(self, commands: Sequence[Command]) -> None:
        """A second exchange in the same cycle, for a stop found in it."""
        self._group.exchange(commands, self._clock.now(), self._reply_time)

    def forget(self) -> None:
        """Treat the next exchange as the first."""
        self._before = None


def _counts(counted: Counters) -> ReplyCounts:
    return ReplyCounts(
        counted.late, counted.belated, counted.crc, counted.foreign, counted.exceptions, counted.mismatched
    )

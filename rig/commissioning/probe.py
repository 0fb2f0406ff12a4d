"""Query of the drives of a rig or a draft, each in its own thread with a timeout; what a search for drives found."""

from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from actuators import (
    ActuatorError,
    Answer,
    CanEndpoint,
    ConfigurationError,
    Drive,
    Feedback,
    Identity,
    Mode,
    SerialEndpoint,
    Status,
    create_drive,
    find_driver,
    open_wire,
)
from dynamics import DynamicsError, load_mechanism
from rig.commissioning.draft import FIRST_REPLY_TIMEOUT, Draft, DriveAddress, has_profile, speaks_modbus, usual_frame
from rig.config import LegDrive, RigConfig, config_faults, leg_section, relaxed_timing, resolve_name
from rig.engine import DRIVE_STATES, claim_addresses, loop_mode, virtual_port
from rig.errors import ConfigError, HardwareError
from rig.findings import Code, Finding, Value, statement
from rig.virtual import VirtualRigProcess


@contextmanager
def served(config: RigConfig) -> Iterator[RigConfig]:
    """Yield the configuration to reach the drives with; a virtual rig is served during the block.

    Raises:
        HardwareError: the virtual rig could not start: a port is in use.
    """
    if config.virtual is None:
        yield config
        return
    with VirtualRigProcess(config):
        yield relaxed_timing(config)


_UNITS = (*range(1, 9), 11)  # other unit ids to try if the configured one does not answer
_TRY_TIMEOUT = 0.25  # s, timeout of each
_FAR = 10.0  # times the mechanism's greatest length, beyond which no drive stands, with a reference or without
_UNKNOWN = Status(0)


@dataclass(frozen=True, slots=True)
class DriveKind:
    """Properties of a drive, usually equal for all six.

    Driver and its own settings, watchdog time (s), timeout of each answer (s), the required mode, whether it is
    virtual, with a pseudo-terminal instead of a serial port, and the least and greatest length of its leg, m, if known.
    """

    driver: str = "servo"
    settings: Mapping[str, Any] = field(default_factory=dict)
    watchdog: float = 0.05
    timeout: float = 2.0
    mode: Mode = Mode.FORCE
    virtual: bool = False
    lengths: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class LegProbe:
    """Result of querying one leg's drive. `fault` is None if it answered everything and accepted its configuration.

    position m (relative to power-up until homed), force N (raw, compression positive), NaN if there is none.
    `doubt`: what is unlikely in its values. `expected`: configured serial number, "" for any.
    """

    leg: int
    address: str
    fault: Finding | None = None
    identity: Identity | None = None
    expected: str = ""
    watchdog: float | None = None
    """s, as written and read back"""
    position: float = float("nan")
    force: float = float("nan")
    status: Status = _UNKNOWN
    doubt: Finding | None = None
    reply_delay: float | None = None
    """s from a request to the reply, as measured on a line; None on a wire of its own"""

    @property
    def answered(self) -> bool:
        """Return whether the drive was identified."""
        return self.identity is not None

    @property
    def states(self) -> tuple[Finding, ...]:
        """Return what the drive's status says."""
        return tuple(Finding(code) for bit, code in DRIVE_STATES if self.status & bit)

    @property
    def finding(self) -> Finding:
        """Return identity and state of the device, or identity and fault; the leg is that of the probe."""
        identity = () if self.identity is None else _identity(self.identity)
        if self.fault is not None:
            return Finding(Code.DRIVE_AND_FAULT, within=(*identity, replace(self.fault, leg=0)))
        read = [Finding(Code.POSITION_READ, value=self.position) if self.doubt is None else replace(self.doubt, leg=0)]
        if np.isfinite(self.force):
            read.append(Finding(Code.FORCE_READ, value=self.force))
        parts = [*identity, Finding(Code.IN_ORDER, within=self.states)] if self.states else [*identity]
        if self.reply_delay is not None:
            parts.append(Finding(Code.ANSWERS_AFTER, value=self.reply_delay))
        parts.append(Finding(Code.IN_ORDER, within=tuple(read)))
        return Finding(Code.LIST, within=tuple(parts))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        identity = None if self.identity is None else asdict(self.identity)
        return {
            "leg": self.leg,
            "address": self.address,
            "fault": "" if self.fault is None else statement(self.fault),
            "finding": None if self.fault is None else self.fault.as_dict(),
            "identity": identity,
            "expected_serial": self.expected,
            "watchdog_s": self.watchdog,
            "position_m": self.position if np.isfinite(self.position) else None,
            "force_n": self.force if np.isfinite(self.force) else None,
            "status": [state.text for state in self.states],
            "doubt": "" if self.doubt is None else self.doubt.text,
            "reply_delay_s": self.reply_delay,
        }


def _identity(identity: Identity) -> tuple[Finding, ...]:
    """Return who a drive is as one finding; none if it does not say."""
    name = " ".join(filter(None, (identity.vendor, identity.product)))
    parts = [Finding.of_text(name)] if name else []
    if identity.serial:
        parts.append(Finding(Code.DRIVE_SERIAL, details={"serial": identity.serial}))
    if identity.firmware:
        parts.append(Finding(Code.DRIVE_FIRMWARE, details={"firmware": identity.firmware}))
    return (Finding(Code.IN_ORDER, within=tuple(parts)),) if parts else ()


def answer_finding(answer: Answer) -> Finding:
    """Return who a device is that a search found; its place is that of the answer."""
    reply: dict[str, Value] = {"reply": answer.reply}
    if answer.identity is None:
        found = Finding(Code.ANSWER_UNKNOWN, details=reply)
    elif not answer.driver:
        return Finding(Code.ANSWER_WITHOUT_DRIVER, details=reply, within=_identity(answer.identity))
    else:
        sure = not answer.profile or answer.identity.vendor or answer.identity.serial
        who = _identity(answer.identity) if sure else (Finding(Code.REGISTERS_ALONE),)
        of: dict[str, Value] = {"driver": answer.driver, "profile": answer.profile}
        found = Finding(Code.ANSWER_OF_DRIVER, details=of, within=who)
    if answer.reply_delay is None:
        return found
    return Finding(Code.IN_ORDER, within=(found, Finding(Code.ANSWERS_AFTER, value=answer.reply_delay)))


@dataclass(frozen=True, slots=True)
class Probe:
    """Result of querying six drives. `findings`: faults across drives."""

    legs: tuple[LegProbe, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def faults(self) -> tuple[Finding, ...]:
        """Return the faults of the legs, then those across drives; none if every drive is the one expected."""
        return (*(leg.fault for leg in self.legs if leg.fault is not None), *self.findings)

    @property
    def passed(self) -> bool:
        """Return whether every drive answered and is the one expected."""
        return not self.faults

    @property
    def serials(self) -> dict[int, str]:
        """Return the serial numbers found, by leg 1 to 6, without those shared by several legs."""
        found = {leg.leg: leg.identity.serial for leg in self.legs if leg.identity and leg.identity.serial}
        numbers = list(found.values())
        return {leg: serial for leg, serial in found.items() if numbers.count(serial) == 1}

    @property
    def reply_delays(self) -> dict[int, float]:
        """Return the measured reply delays, s, by leg 1 to 6."""
        return {leg.leg: leg.reply_delay for leg in self.legs if leg.reply_delay is not None}

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {
            "passed": self.passed,
            "legs": [leg.as_dict() for leg in self.legs],
            "findings": [finding.as_dict() for finding in self.findings],
            "serials": {str(leg): serial for leg, serial in self.serials.items()},
        }


def probe_drive(leg: int, address: LegDrive, kind: DriveKind, others: Sequence[LegDrive] = ()) -> LegProbe:
    """Connect to a drive, identify and configure it (watchdog written and read back), read it, and close.

    Nothing is commanded. The drive is claimed meanwhile: one commanded by an engine is not accessed and reported as
    a fault. A drive that connects but does not answer is searched under other unit ids.

    Args:
        leg: 1 to 6.
        address: its address, with the expected serial number if any.
        kind: driver, profile, watchdog, timeout of each step.
        others: addresses of the other legs' drives, which the search leaves out.

    Raises:
        ConfigurationError: the driver or profile does not accept the configuration.
    """
    probe = LegProbe(leg, address.label, expected=address.serial or "")
    try:
        claim = claim_addresses({leg: address})
    except HardwareError as error:
        return replace(probe, fault=error.finding)
    with claim:
        with closing(_make(leg, address, kind)) as drive:
            try:
                drive.connect(kind.timeout)
            except ActuatorError as error:
                return replace(probe, fault=_failed(leg, error))
            try:
                probe = replace(probe, identity=drive.identify())
                drive.configure()
                read = drive.observe(kind.timeout)
                delay = drive.measure_reply_delay(kind.timeout) if "reply_delay" in address.given else None
                probe = replace(probe, watchdog=kind.watchdog, reply_delay=delay)
                return _judged(probe, drive, read, kind, address)
            except ActuatorError as error:
                probe = replace(probe, fault=_failed(leg, error))
        if probe.answered:
            return probe
        same = (other for other in (address, *others) if other.place == address.place)
        known = {other.unit for other in same}
        return _with_other_unit(probe, address, kind, known)


def _failed(leg: int, error: ActuatorError) -> Finding:
    """Return the error of a drive as a finding; its text is the driver's."""
    return Finding(Code.DRIVE_FAILS, leg, details={"text": str(error)})


def probe_drives(addresses: Sequence[LegDrive], kinds: Sequence[DriveKind]) -> Probe:
    """Query the drives of legs 1 to 6 in parallel, each of its kind; see `probe_drive`.

    Drives behind one host and port, or on one line, are queried one after the other.
    """
    groups: dict[str, list[int]] = {}
    for index, address in enumerate(addresses):
        groups.setdefault(address.place, []).append(index)

    def ask(indices: list[int]) -> list[LegProbe]:
        return [probe_drive(index + 1, addresses[index], kinds[index], addresses) for index in indices]

    with ThreadPoolExecutor(len(groups)) as pool:
        found = [probe for group in pool.map(ask, groups.values()) for probe in group]
    legs = tuple(sorted(found, key=lambda probe: probe.leg))
    return Probe(legs, (*compare(legs), *_same_drives(legs, addresses, kinds)))


def probe_rig(config: RigConfig) -> Probe:
    """Query the drives of a configuration; see `probe_drives`. A virtual rig must be served already."""
    drives = config.drives
    kinds = [
        DriveKind(
            drives.driver_of(leg),
            drives.settings_of(leg),
            drives.watchdog,
            drives.connect_timeout,
            loop_mode(own=own),
            config.virtual is not None,
            _lengths(config, leg),
        )
        for leg, own in enumerate(config.own_loops)
    ]
    return probe_drives(drives.legs, kinds)


def _lengths(config: RigConfig, leg: int) -> tuple[float, float] | None:
    limits = config.machine.legs[leg].limits
    return None if limits is None else limits.length


_NEVER_USED = (247, 231)
"""Unit ids that hardly any drive is given."""


def _same_drives(
    legs: Sequence[LegProbe], addresses: Sequence[LegDrive], kinds: Sequence[DriveKind]
) -> Iterator[Finding]:
    """Find drives without serial numbers that answer for several legs, as behind a gateway that ignores the unit id.

    A watchdog time that is written at one leg and read at another proves that one drive answers at both, and one that
    is not read there, that two do. Without that register, an answer under unit ids that no leg has shows that the id is
    ignored. What then answers under the legs' ids alone cannot be determined.
    """
    unnamed = [leg.leg - 1 for leg in legs if not leg.fault and leg.identity and not leg.identity.serial]
    known = {address.unit for address in addresses}
    same: dict[int, int] = {}  # by leg, the first one at which its drive answers too
    ignored: set[str] = set()
    for place, first in enumerate(unnamed):
        others = [leg for leg in unnamed[place + 1 :] if leg not in same]
        if first in same or not others:
            continue
        found = _written_at(first, others, addresses, kinds)
        same |= dict.fromkeys(found or (), first)
        where = addresses[first].place
        shared = any(addresses[leg].place == where for leg in others)
        if found is None and shared and where not in ignored and speaks_modbus(kinds[first].driver):
            units = [unit for unit in _NEVER_USED if unit not in known]
            if units and all(_answers(first + 1, addresses[first], kinds[first], unit) for unit in units):
                ignored.add(where)
                yield Finding(Code.UNIT_ID_IGNORED, details={"place": where, "units": units})
    for first in dict.fromkeys(same.values()):
        answered = [leg + 1 for leg in (first, *(leg for leg, one in same.items() if one == first))]
        yield Finding(Code.ONE_DRIVE_BY_WATCHDOG, details={"legs": answered, "first": first + 1})


def _written_at(
    first: int, others: Sequence[int], addresses: Sequence[LegDrive], kinds: Sequence[DriveKind]
) -> list[int] | None:
    """Legs of `others`, from 0, that read a watchdog time written at leg `first`; None if it cannot be decided."""
    found = []
    usual = kinds[first]
    other = replace(usual, watchdog=2.0 * usual.watchdog)
    try:
        with claim_addresses({leg + 1: addresses[leg] for leg in (first, *others)}):
            try:
                if not _set_watchdog(first, addresses[first], other):
                    return None
                for leg in others:
                    with closing(_make(leg + 1, addresses[leg], kinds[leg])) as drive:
                        drive.connect(usual.timeout)
                        try:
                            drive.verify(usual.timeout)
                        except ConfigurationError:
                            found.append(leg)
            finally:
                _set_watchdog(first, addresses[first], usual)
    except (ActuatorError, HardwareError):
        return None
    return found


def _set_watchdog(leg: int, address: LegDrive, kind: DriveKind) -> bool:
    """Write a drive's watchdog time; False if it has none to write."""
    with closing(_make(leg + 1, address, kind)) as drive:
        drive.connect(kind.timeout)
        if not drive.capabilities.watchdog:
            return False
        drive.configure()
    return True


def _answers(leg: int, address: LegDrive, kind: DriveKind, unit: int) -> bool:
    """Return whether a drive is identified under another unit id."""
    quick = replace(kind, timeout=_TRY_TIMEOUT)
    with closing(_make(leg, address.model_copy(update={"unit": unit}), quick)) as drive:
        try:
            drive.connect(_TRY_TIMEOUT)
            drive.identify()
            drive.observe(_TRY_TIMEOUT)
        except ActuatorError:
            return False
    return True


def compare(legs: Sequence[LegProbe]) -> list[Finding]:
    """Return faults across drives: one serial number at two addresses, or exchanged drives.

    Each pair is reported once.
    """
    findings = []
    serials = {probe.leg: probe.identity.serial for probe in legs if probe.identity and probe.identity.serial}
    for serial in dict.fromkeys(serials.values()):
        sharing = [leg for leg, number in serials.items() if number == serial]
        if len(sharing) > 1:
            findings.append(Finding(Code.ONE_DRIVE_BY_SERIAL, details={"legs": sharing, "serial": serial}))
    wanted = {probe.leg: probe.expected for probe in legs if probe.expected}
    places = {serial: leg for leg, serial in wanted.items()}
    for leg, serial in serials.items():
        other = places.get(serial, leg)
        if other == leg:
            continue
        if serials.get(other) != wanted.get(leg, ""):
            findings.append(Finding(Code.DRIVE_ELSEWHERE, leg, details={"other": other, "serial": serial}))
        elif other > leg:
            findings.append(Finding(Code.DRIVES_SWAPPED, details={"one": leg, "other": other}))
    return findings


def _make(leg: int, address: LegDrive, kind: DriveKind) -> Drive:
    options = {**kind.settings, "name": f"drive {leg}", "watchdog": kind.watchdog}
    if "reply_timeout" in find_driver(kind.driver).settings.model_fields:
        options["reply_timeout"] = max(_awaited(kind), FIRST_REPLY_TIMEOUT)
    place = address.given | {"serial": None}  # any drive may answer here
    endpoint = address.endpoint
    if kind.virtual and isinstance(endpoint, SerialEndpoint):
        port = virtual_port(endpoint)
        place["open_wire"] = lambda timeout: open_wire(port, timeout)
    return create_drive(kind.driver, options | place | {"request_timeout": kind.timeout})


def _awaited(kind: DriveKind) -> float:
    """Return for how long a reply is waited for on a line, s."""
    usual: float = find_driver(kind.driver).settings.model_fields["reply_timeout"].default
    return float(kind.settings.get("reply_timeout", usual))


def _judged(probe: LegProbe, drive: Drive, read: Feedback, kind: DriveKind, address: LegDrive) -> LegProbe:
    """Return the probe with the feedback and its faults."""
    lacking = [mode.name for mode in (kind.mode, Mode.HOMING) if mode not in drive.capabilities.modes]
    fault = partial(Finding, leg=probe.leg)
    found: Finding | None = None
    if probe.expected and probe.identity is not None and probe.identity.serial != probe.expected:
        found = fault(Code.UNEXPECTED_SERIAL, details={"expected": probe.expected})
    elif lacking:
        found = fault(Code.DRIVE_WITHOUT_MODE, details={"modes": ", ".join(lacking)})
    elif read.status & Status.FAULT:  # a timeout at rest is no fault
        found = fault(Code.FAULT_AT_DRIVE, details={"error": read.error, "text": drive.error_text(read.error)})
    elif not kind.virtual and probe.reply_delay is not None and probe.reply_delay >= (awaited := _awaited(kind)):
        found = fault(Code.REPLY_TOO_LATE, value=probe.reply_delay, bound=awaited)
    elif not np.isfinite([read.position, read.velocity]).all():
        found = fault(Code.ENCODER_INVALID, details={"position": read.position, "speed": read.velocity})
    elif read.status & Status.HOMED and kind.lengths is not None:
        found = _length_fault(probe.leg, read.position, kind.lengths, address.position_offset)
    doubt = None
    if found is None and kind.lengths is not None and _is_far(read.position, kind.lengths):
        doubt = fault(Code.POSITION_OF_NO_LEG, value=read.position)
    return replace(
        probe, fault=found, position=read.position, force=read.force, status=Status(read.status), doubt=doubt
    )


def _is_far(length: float, lengths: tuple[float, float]) -> bool:
    return abs(length) > _FAR * lengths[1]


def _length_fault(leg: int, length: float, lengths: tuple[float, float], offset: float) -> Finding | None:
    """Return a finding if the mechanism does not allow the length (m) of a homed leg."""
    low, high = lengths
    if low <= length <= high:
        return None
    if _is_far(length, lengths):
        return Finding(Code.POSITION_OF_NO_LEG, leg, length)
    zero = length - offset
    details: dict[str, Value] = {"low": low, "high": high, "offset": offset, "least": low - zero, "most": high - zero}
    return Finding(Code.LENGTH_NOT_OF_MECHANISM, leg, length, details=details)


def _with_other_unit(probe: LegProbe, address: LegDrive, kind: DriveKind, known: Container[int]) -> LegProbe:
    """Return the probe of a silent drive with the other unit id, not `known`, that answers at the same address."""
    assert probe.fault is not None
    quick = replace(kind, timeout=_TRY_TIMEOUT)
    for unit in _UNITS:
        if unit in known:
            continue
        with closing(_make(probe.leg, address.model_copy(update={"unit": unit}), quick)) as drive:
            try:
                drive.connect(_TRY_TIMEOUT)
            except ActuatorError:
                return probe
            try:
                within = _identity(drive.identify())
            except ActuatorError:
                continue
        details = probe.fault.details | {"unit": unit}
        return replace(probe, fault=Finding(Code.OTHER_UNIT_ANSWERS, probe.leg, details=details, within=within))
    return probe


def drafted_drive(draft: Draft, leg: int, path: Path) -> tuple[LegDrive, DriveKind]:
    """Return address and kind of the drive of leg 1 to 6, by the draft for the file `path`.

    Raises ConfigError: its driver cannot have one; with the faults.
    """
    entry = {key: value for key, value in draft.drives[leg - 1].entry.items() if value != ""}
    try:
        address = leg_section(draft.driver).model_validate(entry)
    except ValidationError as error:
        raise ConfigError(Finding(Code.ADDRESS_UNUSABLE, leg), config_faults(error)) from None
    profile = {"profile": str(resolve_name(path.parent, draft.profile))} if has_profile(draft.driver) else {}
    mode = loop_mode(own=draft.mode == "position")
    lengths = None
    with suppress(DynamicsError, OSError):  # the check of the draft reports what is wrong with the mechanism
        limits = load_mechanism(resolve_name(path.parent, draft.mechanism)).legs[leg - 1].limits
        lengths = None if limits is None else limits.length
    return address, DriveKind(
        draft.driver, {**draft.settings, **profile}, draft.watchdog, mode=mode, virtual=draft.virtual, lengths=lengths
    )


def with_found(draft: Draft, answers: Sequence[Answer]) -> tuple[Draft, list[Finding]]:
    """Return the draft with answers assigned to unassigned legs in order, and the reasons for unassigned ones.

    Where no leg has one, the driver is that of the answers. Only its drives are entered or, where it recognises none of
    them, those that no driver recognises. All serial ports have one frame format: that of the first leg with a port.
    """
    drives = list(draft.drives)
    free = [leg for leg, drive in enumerate(drives) if not (drive.host or drive.device)]
    named = {answer.driver for answer in answers} - {""}
    driver = named.pop() if len(free) == len(drives) and len(named) == 1 else draft.driver
    known = driver if any(answer.driver == driver for answer in answers) else ""
    frame = next((_frame(drive, driver) for drive in drives if drive.device), None)
    taken = {_place(drive) for drive in drives}
    left_out = []
    for answer in answers:
        found, place = _address(answer), answer.place
        if answer.driver != known:
            details: dict[str, Value] = {"place": place, "driver": driver}
            left_out.append(Finding(Code.FOUND_OF_OTHER_DRIVER, details=details, within=(answer_finding(answer),)))
        elif _place(found) in taken:
            continue
        elif found.device and frame not in (None, (found.parity, found.stop_bits)):
            left_out.append(Finding(Code.FOUND_OTHER_FORMAT, details={"place": place}))
        elif not free:
            left_out.append(Finding(Code.FOUND_TOO_MANY, details={"place": place}))
        else:
            leg = free.pop(0)
            drives[leg] = replace(found, serial=drives[leg].serial, position_offset=drives[leg].position_offset)
            frame = (found.parity, found.stop_bits) if found.device else frame
    return replace(draft, driver=driver, drives=tuple(drives)), left_out


def _address(answer: Answer) -> DriveAddress:
    end = answer.endpoint
    if isinstance(end, CanEndpoint):
        return DriveAddress(unit=answer.unit, device=end.device, baud=end.baud)
    if isinstance(end, SerialEndpoint):
        return DriveAddress(
            unit=answer.unit,
            device=end.device,
            baud=end.baud,
            parity=end.parity,
            stop_bits=end.stop_bits,
            reply_delay=answer.reply_delay or 0.0,
        )
    return DriveAddress(end.host, end.port, answer.unit)


def _place(drive: DriveAddress) -> tuple[str, int, int]:
    return drive.device or drive.host, drive.baud if drive.device else drive.port, drive.unit


def _frame(drive: DriveAddress, driver: str) -> tuple[str, int] | None:
    return (drive.parity, drive.stop_bits) if drive.parity else usual_frame(driver)

"""Query of the drives of a rig or a draft, each in its own thread with a timeout."""

from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from actuators import (
    ActuatorError,
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
from rig.commissioning.draft import Draft, has_profile, speaks_modbus
from rig.config import LegDrive, RigConfig, config_faults, leg_section, relaxed_timing, resolve_name
from rig.engine import claim_addresses, loop_mode, virtual_port
from rig.errors import ConfigError, HardwareError
from rig.findings import Code, Finding, statement
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
_REPLY_TIMEOUT = 0.25  # s, on a line: a drive that is slower than configured is still measured
_FAR = 10.0  # times the mechanism's greatest length, beyond which no drive stands, with a reference or without
_NOWHERE = "no leg stands there: compare address, type, scale and word_order of its position with the manual"
_WORDS = (
    (Status.WATCHDOG, "stopped by its watchdog"),
    (Status.FAULT, "fault"),
    (Status.QUICK_STOP, "quick stop"),
    (Status.HOMING, "homing"),
    (Status.ENABLED, "torque on"),
    (Status.BRAKE, "brake on"),
    (Status.HOMED, "homed"),
    (Status.STANDSTILL, "at rest"),
)


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
    """Result of querying one leg's drive. `fault` is empty if it answered everything and accepted its configuration.

    position m (relative to power-up until homed), force N (raw, compression positive), NaN if there is none.
    `words`: its status as text. `doubt`: what is unlikely in its values, "" if nothing. `expected`: configured serial
    number, "" for any.
    """

    leg: int
    address: str
    fault: str = ""
    identity: Identity | None = None
    expected: str = ""
    watchdog: float | None = None
    """s, as written and read back"""
    position: float = float("nan")
    force: float = float("nan")
    words: tuple[str, ...] = ()
    doubt: str = ""
    reply_delay: float | None = None
    """s from a request to the reply, as measured on a line; None on a wire of its own"""

    @property
    def answered(self) -> bool:
        """Return whether the drive was identified."""
        return self.identity is not None

    def describe(self) -> str:
        """Return one line of text: identity and state of the device, or the fault."""
        who = "" if self.identity is None else self.identity.described
        if self.fault:
            return f"{who}: {self.fault}" if who else self.fault
        force = f", force {self.force:.1f} N" if np.isfinite(self.force) else ""
        delay = "" if self.reply_delay is None else f"answers after {self.reply_delay * 1e3:.3g} ms"
        text = "; ".join(filter(None, (who, ", ".join(self.words), delay)))
        doubt = f"; {self.doubt}" if self.doubt else ""
        return f"{text}; position {self.position * 1e3:{'.3g' if doubt else '.3f'}} mm{force}{doubt}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        identity = None if self.identity is None else asdict(self.identity)
        return {
            "leg": self.leg,
            "address": self.address,
            "fault": self.fault,
            "identity": identity,
            "expected_serial": self.expected,
            "watchdog_s": self.watchdog,
            "position_m": self.position if np.isfinite(self.position) else None,
            "force_n": self.force if np.isfinite(self.force) else None,
            "status": list(self.words),
            "doubt": self.doubt,
            "reply_delay_s": self.reply_delay,
        }


@dataclass(frozen=True, slots=True)
class Probe:
    """Result of querying six drives. `findings`: faults across drives, one sentence each."""

    legs: tuple[LegProbe, ...]
    findings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return whether every drive answered and is the one expected."""
        return not self.findings and not any(leg.fault for leg in self.legs)

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
            "findings": list(self.findings),
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
    expected = address.serial or ""
    probe = LegProbe(leg, address.label, expected=expected)
    try:
        claim = claim_addresses({leg: address})
    except HardwareError as error:
        return replace(probe, fault=statement(error.finding))
    with claim:
        with closing(_make(leg, address, kind)) as drive:
            try:
                drive.connect(kind.timeout)
            except ActuatorError as error:
                return replace(probe, fault=str(error))
            try:
                probe = replace(probe, identity=drive.identify())
                drive.configure()
                read = drive.observe(kind.timeout)
                delay = drive.measure_reply_delay(kind.timeout) if "reply_delay" in address.given else None
                probe = replace(probe, watchdog=kind.watchdog, reply_delay=delay)
                return _judged(probe, drive, read, kind, address)
            except ActuatorError as error:
                probe = replace(probe, fault=str(error))
        if probe.answered:
            return probe
        same = (other for other in (address, *others) if other.place == address.place)
        known = {other.unit for other in same}
        return replace(probe, fault=probe.fault + _other_unit(leg, address, kind, known))


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


def _same_drives(legs: Sequence[LegProbe], addresses: Sequence[LegDrive], kinds: Sequence[DriveKind]) -> Iterator[str]:
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
                yield (
                    f"{where} answers under every unit id, also {' and '.join(map(str, units))}, which no leg has: its "
                    "legs cannot be distinguished; correct the gateway"
                )
    for first in dict.fromkeys(same.values()):
        names = " and ".join(str(leg + 1) for leg in [first, *(leg for leg, one in same.items() if one == first)])
        yield (
            f"legs {names} are answered by one and the same drive: a watchdog time that is written at leg {first + 1} "
            "is read at the others; correct an address, or a gateway that ignores the unit id"
        )


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


def compare(legs: Sequence[LegProbe]) -> list[str]:
    """Return faults across drives: one serial number at two addresses, or exchanged drives.

    Each pair is reported once.
    """
    findings = []
    serials = {probe.leg: probe.identity.serial for probe in legs if probe.identity and probe.identity.serial}
    for serial in dict.fromkeys(serials.values()):
        sharing = [leg for leg, number in serials.items() if number == serial]
        if len(sharing) > 1:
            names = " and ".join(map(str, sharing))
            findings.append(f"legs {names} are answered by one and the same drive, serial {serial}: correct an address")
    expected = {probe.expected: probe.leg for probe in legs if probe.expected}
    for leg, serial in serials.items():
        belongs = expected.get(serial, leg)
        if belongs == leg:
            continue
        if serials.get(belongs) == next(probe.expected for probe in legs if probe.leg == leg):
            if belongs > leg:
                findings.append(
                    f"the drives of legs {leg} and {belongs} have changed places: cables or unit ids swapped"
                )
        else:
            findings.append(f"the drive of leg {belongs} (serial {serial}) answers at leg {leg}'s address")
    return findings


def _make(leg: int, address: LegDrive, kind: DriveKind) -> Drive:
    options = {**kind.settings, "name": f"drive {leg}", "watchdog": kind.watchdog}
    if "reply_timeout" in find_driver(kind.driver).settings.model_fields:
        options["reply_timeout"] = max(_awaited(kind), _REPLY_TIMEOUT)
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
    words = tuple(text for bit, text in _WORDS if read.status & bit)
    lacking = [mode.name for mode in (kind.mode, Mode.HOMING) if mode not in drive.capabilities.modes]
    fault = ""
    if probe.expected and probe.identity is not None and probe.identity.serial != probe.expected:
        fault = f"another drive than expected, serial {probe.expected}"
    elif lacking:
        fault = f"the drive has no mode {', '.join(lacking)}"
    elif read.status & Status.FAULT:  # a timeout at rest is no fault
        fault = f"latched fault {read.error}, {drive.error_text(read.error)}"
    elif not kind.virtual and probe.reply_delay is not None and probe.reply_delay >= (awaited := _awaited(kind)):
        fault = f"it answers after {probe.reply_delay:g} s, and is waited for {awaited:g} s: raise reply_timeout"
    elif not np.isfinite([read.position, read.velocity]).all():
        fault = f"the encoder has no valid value (position {read.position:g} m, speed {read.velocity:g} m/s)"
    elif read.status & Status.HOMED and kind.lengths is not None:
        fault = _length_fault(read.position, kind.lengths, address.position_offset)
    doubt = _NOWHERE if not fault and kind.lengths is not None and _is_far(read.position, kind.lengths) else ""
    return replace(probe, fault=fault, position=read.position, force=read.force, words=words, doubt=doubt)


def _is_far(length: float, lengths: tuple[float, float]) -> bool:
    return abs(length) > _FAR * lengths[1]


def _length_fault(length: float, lengths: tuple[float, float], offset: float) -> str:
    """Describe the length (m) of a homed leg that the mechanism does not allow; empty if it does."""
    low, high = lengths
    if low <= length <= high:
        return ""
    if _is_far(length, lengths):
        return f"its length is {length:.3g} m: {_NOWHERE}"
    zero = length - offset
    return (
        f"its length {length * 1e3:.1f} mm is outside the mechanism's {low * 1e3:.1f} to {high * 1e3:.1f} mm: correct "
        f"its position_offset (now {offset * 1e3:g} mm, {(low - zero) * 1e3:.1f} to {(high - zero) * 1e3:.1f} mm would "
        "fit where it stands), the scale of its profile, or the mechanism"
    )


def _other_unit(leg: int, address: LegDrive, kind: DriveKind, known: Container[int]) -> str:
    """Describe which other unit id, not `known`, answers at the same address; empty if none does."""
    quick = replace(kind, timeout=_TRY_TIMEOUT)
    for unit in _UNITS:
        if unit in known:
            continue
        with closing(_make(leg, address.model_copy(update={"unit": unit}), quick)) as drive:
            try:
                drive.connect(_TRY_TIMEOUT)
            except ActuatorError:
                return ""
            try:
                identity = drive.identify()
            except ActuatorError:
                continue
        return f"; unit {unit} answers there: {identity.described}"
    return ""


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

"""Load of the serial lines in a cycle: whether each carries the rate, and what would let it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from actuators import ActuatorError, BusPlan, SerialEndpoint
from rig.config import LEAST_RATE, RigConfig, device_keys
from rig.engine.devices import make_drive_group
from rig.errors import ConfigError
from rig.findings import Code, Finding, Value
from rig.safety import check_loop

_LARGEST_SHARE = 0.9
"""Largest `drives.reply_deadline` that is suggested; the rest of a cycle is for the host."""
_SHARE_WITH_RESERVE = 0.75
"""Share of the highest rate that leaves a line time for replies that are later than measured."""


@dataclass(frozen=True)
class BusVerdict:
    """Verdict on the load of every line within the time for replies.

    config: the rig. plans: its lines. budget: s, `drives.reply_deadline` of a period. rate: Hz. carries: Hz, the
    highest rate that all lines carry; infinite without any.
    """

    config: RigConfig
    plans: tuple[BusPlan, ...]
    budget: float
    rate: float
    carries: float

    @property
    def passed(self) -> bool:
        """Whether every line carries the rate."""
        return self.rate <= self.carries

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """A finding for every line that does not carry the rate, with its remedies; empty if passed."""
        return tuple(self._slow(plan) for plan in self.plans if plan.time > self.budget)

    @cached_property
    def summary(self) -> tuple[Finding, ...]:
        """As `findings`, with one finding for all lines that differ in their delays alone: that of the slowest."""
        slow = [plan for plan in self.plans if plan.time > self.budget]
        alike: dict[tuple[object, ...], list[tuple[BusPlan, Finding]]] = {}
        for plan, found in zip(slow, self.findings, strict=True):
            alike.setdefault(_make_up(plan), []).append((plan, found))
        return tuple(_slowest(group) for group in alike.values())

    @property
    def message(self) -> str:
        """Text of the summary."""
        return "\n".join(found.text for found in self.summary)

    @property
    def shares(self) -> list[Finding]:
        """A finding for every line with its share of the time, and what the time consists of."""
        return [self._share(plan) for plan in self.plans]

    @property
    def described(self) -> list[str]:
        """Text of every line with its share of the time."""
        return [found.text for found in self.shares]

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able data; s and Hz."""
        return {
            "passed": self.passed,
            "message": self.message,
            "reply_time": self.budget,
            "highest_rate": self.carries if math.isfinite(self.carries) else None,
            "lines": [self._line(plan) for plan in self.plans],
            "findings": [found.as_dict() | {"remedies": _remedies(found)} for found in self.findings],
        }

    def _line(self, plan: BusPlan) -> dict[str, Any]:
        return {
            "place": plan.place,
            "devices": list(plan.devices),
            "bytes": plan.bytes,
            "exchanges": plan.exchanges,
            "time": plan.time,
            "usual_time": plan.usual_time(self.config.period),
            "load": plan.load(self.config.period),
            "reply_delays": plan.delays,
            "silences": plan.silences,
            "adapter_latency": plan.latency,
            "assumed": [member.name for member in plan.members if not member.measured],
            "seldom": [member.name for member in plan.seldom],
            "apart": [member.name for member in plan.apart],
        }

    def _share(self, plan: BusPlan) -> Finding:
        assumed = [member.name for member in plan.members if member.exchanges and not member.measured]
        details = self._details(plan) | {"share": 100.0 * plan.time / self.budget, "assumed": assumed}
        return Finding(Code.LINE_SHARE, 0, plan.time, self.budget, details)

    def _details(self, plan: BusPlan) -> dict[str, Value]:
        details: dict[str, Value] = {
            "line": plan.place,
            "devices": list(plan.devices),
            "bytes": plan.bytes,
            "exchanges": plan.exchanges,
            "carried": plan.bytes * plan.byte_time,
            "delays": plan.delays,
            "silences": plan.silences,
        }
        if plan.seldom:
            details |= {
                "seldom": [member.name for member in plan.seldom],
                "usual": plan.usual_time(self.config.period),
                "load": 100.0 * plan.load(self.config.period),
                "apart": [member.name for member in plan.apart],
            }
        return details

    def _slow(self, plan: BusPlan) -> Finding:
        details = self._details(plan) | {"rate": self.rate}
        return Finding(Code.LINE_SLOW, 0, plan.time, self.budget, details, tuple(self._ways_out(plan)))

    def _ways_out(self, plan: BusPlan) -> Iterator[Finding]:
        """Yield what would let the line carry the rate, each by itself, and the rate that all lines carry.

        Each has been tried: the configuration takes it, and the plan of its lines fits. The lower rate and the later
        deadline apply to all lines, so they are those of the slowest.
        """
        yield from self._lower_rate()
        yield from self._faster_line(plan)
        spare = self.budget - (plan.time - plan.bytes * plan.byte_time)
        if plan.byte_time > 0.0 and 0.5 * plan.bytes <= (most := math.floor(spare / plan.byte_time)):
            yield Finding(Code.LINE_FEWER_BYTES, value=plan.bytes, bound=most)
        quick = _rounded_down((self.budget - plan.bytes * plan.byte_time) / max(2 * plan.exchanges - 1, 1))
        if quick > 0.0 and _carried(self.config, plan, self.budget, {"turnaround": quick, "reply_delay": quick}):
            yield Finding(Code.LINE_QUICKER, value=max(plan.turnaround, plan.delays / plan.exchanges), bound=quick)
        share = math.ceil(100.0 * max(other.time for other in self.plans) / self.config.period - 1e-9) / 100.0
        if share <= _LARGEST_SHARE:
            yield Finding(Code.LINE_LATER_DEADLINE, value=share)
        if plan.seldom and not plan.apart:
            devices: dict[str, Value] = {"devices": [member.name for member in plan.seldom]}
            yield Finding(Code.LINE_SAMPLED_TOGETHER, details=devices)

    def _lower_rate(self) -> Iterator[Finding]:
        highest = math.floor(self.carries)
        if highest < LEAST_RATE:
            yield Finding(Code.LINE_NO_RATE, value=_rounded_down(self.carries), bound=LEAST_RATE)
            return
        refused = tuple(_rate_refusals(self.config, highest))
        if refused:
            yield Finding(Code.LINE_RATE_REFUSED, value=highest, within=refused)
            if _allowed_by_drives(self.config, highest):
                yield Finding(Code.LINE_RATE_BY_DRIVES, value=highest)
            return
        lower = math.floor(_SHARE_WITH_RESERVE * self.carries)
        usable = lower >= LEAST_RATE and not any(_rate_refusals(self.config, lower))
        yield Finding(Code.LINE_RATE, value=highest, bound=lower if usable else None)

    def _faster_line(self, plan: BusPlan) -> Iterator[Finding]:
        """Yield a higher baud, more lines, or both where neither is enough by itself."""
        endpoint = _endpoint(self.config, plan.place)
        present = 1 if endpoint is None else endpoint.baud
        bauds = [] if endpoint is None else sorted(baud for baud in endpoint.bauds if baud > present)
        counts = range(2, len(plan.members) + 1)

        def fits(baud: int, lines: int = 1) -> bool:
            if endpoint is None:
                return plan.time_at(present, baud, lines) <= self.budget
            return _carried(self.config, plan, self.budget, {"baud": baud}, lines)

        higher = next((baud for baud in bauds if fits(baud)), None)
        several = next((count for count in counts if fits(present, count)), None)
        if higher is not None:
            yield Finding(Code.LINE_BAUD, value=present, bound=higher, details={"count": 1})
        if several is not None:
            yield Finding(Code.LINE_SPLIT, value=present, bound=present, details={"count": several})
        if higher is None and several is None:
            pairs = ((baud, count) for count in counts for baud in bauds)
            likely = (pair for pair in pairs if plan.time_at(present, *pair) <= self.budget)
            for baud, count in islice((pair for pair in likely if fits(*pair)), 1):
                yield Finding(Code.LINE_BAUD_AND_SPLIT, value=present, bound=baud, details={"count": count})


def _make_up(plan: BusPlan) -> tuple[object, ...]:
    """What a line's time consists of, but for the delays of its devices."""
    return len(plan.members), len(plan.seldom), plan.bytes, plan.exchanges, plan.byte_time, plan.silences, plan.latency


def _slowest(lines: list[tuple[BusPlan, Finding]]) -> Finding:
    """Finding of the slowest of some lines, with the names of the others: what helps there is enough for them."""
    plan, found = max(lines, key=lambda line: line[0].time)
    others = [other.place for other, _found in lines if other is not plan]
    return replace(found, details={**found.details, "alike": others}) if others else found


def _remedies(found: Finding) -> list[dict[str, Any]]:
    return [remedy.as_dict() for remedy in found.within]


def _rate_refusals(config: RigConfig, rate: float) -> Iterator[Finding]:
    """Yield what else refuses a rate (Hz), empty if nothing does."""
    try:
        loop = check_loop(config.changed({"rate": rate}))
    except ConfigError as error:
        yield from (fault.located for fault in error.found)
        return
    if not loop.passed:
        yield Finding.of_text(loop.message)


def _allowed_by_drives(config: RigConfig, rate: float) -> bool:
    """Whether a rate (Hz) that is refused is accepted in mode position, whose loops the drives close."""
    if all(config.own_loops):
        return False
    try:
        other = config.changed({"mode": "position"})
        lacking = make_drive_group(other).lacking()
    except (ActuatorError, ConfigError):
        return False
    return not (lacking or any(_rate_refusals(other, rate)))


def _endpoint(config: RigConfig, place: str) -> SerialEndpoint | None:
    found = (address.endpoint for _key, address in device_keys(config) if address.place == place)
    return next((endpoint for endpoint in found if isinstance(endpoint, SerialEndpoint)), None)


def _rounded_down(value: float) -> float:
    """The value to three digits, as it is shown, and never more than it is."""
    if not value > 0.0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.floor(value / step * (1.0 + 1e-12)) * step:.3g}")


def _carried(config: RigConfig, plan: BusPlan, budget: float, changes: dict[str, float], lines: int = 1) -> bool:
    """Whether a configuration may have `changes` of a line's settings, and then its lines fit within `budget`, s.

    changes: `baud`, `turnaround`, `reply_delay`. Its devices are distributed among several such lines, the slowest
    first, each to the line that has least.
    """
    parts, place_of = [0.0] * lines, dict[str, int]()
    for member in sorted(plan.members, key=lambda member: member.time, reverse=True):
        place_of[member.name] = parts.index(min(parts))
        parts[place_of[member.name]] += member.time
    names = iter(member.name for member in plan.members)
    own, drives, devices = dict(changes), list[dict[str, Any]](), list[dict[str, Any]]()
    places = [plan.place, *(f"{plan.place}-{number}" for number in range(2, lines + 1))]
    turnaround = own.pop("turnaround", None)

    def moved(address: dict[str, Any], place: str) -> dict[str, Any]:
        if place != plan.place:
            return address
        new = {name: value for name, value in own.items() if name == "baud" or name in address}
        return address | new | {"device": places[place_of[next(names)]]}

    for leg in config.drives.legs:
        drives.append(moved(leg.model_dump(), leg.place))
    cells = config.load_cells
    for one in cells.places.values():
        devices.append(moved(one.model_dump(), one.place))
    settings = {} if turnaround is None else {"turnaround": turnaround}
    changed: dict[str, Any] = {"drives": {"legs": drives, **settings}}
    if cells.devices is not None:
        changed["load_cells"] = {"devices": devices}
    elif devices:
        changed["load_cells"] = {"amplifier": devices[0]}
    try:
        plans = make_drive_group(config.changed(changed)).plans
    except (ConfigError, ActuatorError):
        return False
    return all(one.time <= budget for one in plans if one.place in places)


def judge_buses(config: RigConfig, plans: Sequence[BusPlan]) -> BusVerdict:
    """Judge the plans of a configuration's lines at its rate."""
    share = config.drives.reply_deadline
    # at a lower rate devices might not be asked apart any more
    rates = [share / (plan.time if plan.time * config.rate <= share else plan.together) for plan in plans]
    carries = min(rates, default=math.inf)
    return BusVerdict(config, tuple(plans), share * config.period, config.rate, carries)


def check_buses(config: RigConfig) -> BusVerdict:
    """Judge a configuration's lines, without opening any.

    Raises:
        ConfigurationError: a driver or profile does not take what is configured.
        CalibrationError: the load cells' calibration cannot be used.
    """
    return judge_buses(config, make_drive_group(config).plans)

"""Remedies of lines that are too slow, on drawn rigs: each that is offered is applied, and accepted."""

import math
from random import Random
from typing import Any

import pytest
from exploration import LONG, seeds

from rig.config import RigConfig, load_config
from rig.engine import BusVerdict, check_buses
from rig.errors import ConfigError
from rig.findings import Code, Finding
from rig.safety import check_loop

DRAWS = seeds(2000) if LONG else range(24)
BAUDS_DRAWN = (9600, 19_200, 57_600, 115_200, 500_000, 1_000_000)
BASES = {name: load_config(name) for name in ("virtual-servo", "virtual-iai", "virtual-jrk-g2", "virtual-orca")}


def draw(random: Random) -> RigConfig | None:
    """A rig of drives on serial lines; None where what was drawn contradicts itself."""
    base = BASES[random.choice(sorted(BASES))]
    count = 6 if base.drives.driver == "orca" else random.choice([1, 1, 2, 2, 3, 6])
    most = 115_200 if base.drives.driver == "jrk-g2" else 1_000_000
    bauds = [random.choice([baud for baud in BAUDS_DRAWN if baud <= most]) for _line in range(count)]
    legs: list[dict[str, Any]] = []
    for place, leg in enumerate(base.drives.legs):
        line = place % count
        own: dict[str, Any] = leg.model_dump() | {"device": f"port-{line}", "baud": bauds[line]}
        if count < 6:
            own["unit"] = place + 1
        if random.random() < 0.3:
            own["reply_delay"] = random.choice([1e-4, 1e-3])
        legs.append(own)
    rate = random.choice([5.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0])
    drives: dict[str, Any] = {"legs": legs, "watchdog": random.choice([math.ceil(250.0 / rate) / 100.0, 0.05, 0.5])}
    drives["reply_deadline"] = random.choice([0.3, 0.6, 0.9])
    if random.random() < 0.5:
        drives["turnaround"] = random.choice([None, 1e-4, 2e-3])
    changes: dict[str, Any] = {"rate": rate, "drives": drives, "mode": random.choice(["position", base.mode])}
    reads = base.drives.driver in ("servo", "orca")  # the cells, too
    cells = random.choice(["drives", "amplifier", "devices"] if reads else ["drives"])
    line = random.randrange(count)
    if cells == "amplifier" and base.drives.driver == "servo":
        changes["load_cells"] = {
            "source": "amplifier",
            "amplifier": {"device": f"port-{line}", "baud": bauds[line], "unit": 20},
            "sample_period": random.choice([0.0, 0.5]),
        }
    elif cells != "drives":
        devices = [{"device": "cells", "baud": 115_200, "unit": 20 + leg} for leg in range(6)]
        changes["load_cells"] = {"source": "devices", "devices": devices, "sample_period": random.choice([0.0, 0.5])}
    try:
        return base.changed(changes)
    except ConfigError:
        return None


def placed(config: RigConfig, line: str, bauds: float | None, count: int) -> RigConfig:
    """The rig with the devices of a line on `count` lines, the slowest first, each where least is."""
    (plan,) = (one for one in check_buses(config).plans if one.place == line)
    load, chosen = [0.0] * count, dict[str, int]()
    for member in sorted(plan.members, key=lambda member: -member.time):
        chosen[member.name] = load.index(min(load))
        load[chosen[member.name]] += member.time
    names = iter(member.name for member in plan.members)

    def moved(address: Any) -> dict[str, Any]:
        own: dict[str, Any] = address.model_dump()
        if address.place == line:
            own["device"] = f"{line}+{chosen[next(names)]}"
            own["baud"] = own["baud"] if bauds is None else int(bauds)
        return own

    changes: dict[str, Any] = {"drives": {"legs": [moved(leg) for leg in config.drives.legs]}}
    cells = [moved(one) for one in config.load_cells.places.values()]
    if config.load_cells.devices is not None:
        changes["load_cells"] = {"devices": cells}
    elif cells:
        changes["load_cells"] = {"amplifier": cells[0]}
    return config.changed(changes)


def quicker(config: RigConfig, line: str, bound: float) -> RigConfig:
    """The rig with devices on a line that answer within `bound`, s."""
    legs = [leg.model_dump() | ({"reply_delay": bound} if leg.place == line else {}) for leg in config.drives.legs]
    changes: dict[str, Any] = {"drives": {"legs": legs, "turnaround": bound}}
    cells = [
        one.model_dump() | ({"reply_delay": bound} if one.place == line else {})
        for one in config.load_cells.places.values()
    ]
    if config.load_cells.devices is not None:
        changes["load_cells"] = {"devices": cells}
    elif cells:
        changes["load_cells"] = {"amplifier": cells[0]}
    return config.changed(changes)


def fits(verdict: BusVerdict, line: str) -> bool:
    """Whether a line, or those that its devices were put on, carry the rate."""
    found = [plan for plan in verdict.plans if plan.place.split("+")[0] == line]
    return bool(found) and all(plan.time <= verdict.budget for plan in found)


def holds(config: RigConfig, slow: Finding, remedy: Finding) -> bool:
    """Whether a remedy of a slow line, as it is shown, is accepted and helps."""
    line = str(slow.details["line"])
    if remedy.code is Code.LINE_RATE:
        assert remedy.value is not None
        changed = config.changed({"rate": remedy.value})
        return check_buses(changed).passed and check_loop(changed).passed
    if remedy.code is Code.LINE_LATER_DEADLINE:
        return check_buses(config.changed({"drives": {"reply_deadline": remedy.value}})).passed
    if remedy.code is Code.LINE_QUICKER:
        assert remedy.bound is not None
        return fits(check_buses(quicker(config, line, float(f"{remedy.bound:.3g}"))), line)
    if remedy.code is Code.LINE_FEWER_BYTES:
        assert remedy.bound is not None
        (plan,) = (one for one in check_buses(config).plans if one.place == line)
        saved = (plan.bytes - remedy.bound) * plan.byte_time
        return plan.time - saved <= check_buses(config).budget
    if remedy.code in (Code.LINE_BAUD, Code.LINE_SPLIT, Code.LINE_BAUD_AND_SPLIT):
        count = remedy.details["count"]
        assert isinstance(count, int)
        return fits(check_buses(placed(config, line, remedy.bound, count)), line)
    return True


@pytest.fixture(scope="module")
def rigs() -> list[tuple[int, RigConfig, BusVerdict]]:
    """Drawn rigs with a line that is too slow, by their seeds."""
    found = []
    for seed in DRAWS:
        config = draw(Random(seed))
        if config is not None and not (verdict := check_buses(config)).passed:
            found.append((seed, config, verdict))
    return found


Rigs = list[tuple[int, RigConfig, BusVerdict]]


def test_every_remedy_that_is_offered_is_accepted_and_helps(rigs: Rigs) -> None:
    offered = dict.fromkeys(
        (Code.LINE_RATE, Code.LINE_BAUD, Code.LINE_SPLIT, Code.LINE_BAUD_AND_SPLIT, Code.LINE_QUICKER), 0
    )
    for seed, config, verdict in rigs:
        for slow in verdict.findings:
            for remedy in slow.within:
                assert holds(config, slow, remedy), f"seed {seed}: {slow.text}: {remedy.text}"
                offered[remedy.code] = offered.get(remedy.code, 0) + 1
    assert all(offered.values()), offered


def test_every_line_that_is_too_slow_is_named_at_once(rigs: Rigs) -> None:
    several = 0
    for seed, _config, verdict in rigs:
        slow = {plan.place for plan in verdict.plans if plan.time > verdict.budget}
        assert {found.details["line"] for found in verdict.findings} == slow, f"seed {seed}"
        several += len(slow) > 1
    assert several


@pytest.mark.parametrize("baud", [9600, 57_600, 500_000])
def test_the_rate_that_is_offered_is_that_of_the_slowest_line(baud: int) -> None:
    base = BASES["virtual-servo"].changed({"mode": "position", "rate": 1000.0, "drives": {"watchdog": 1.0}})
    legs = [leg.model_dump() | ({"baud": baud} if leg.place == "line-b" else {}) for leg in base.drives.legs]
    config = base.changed({"drives": {"legs": legs}})
    verdict = check_buses(config)
    offers = {remedy.value for found in verdict.findings for remedy in found.within if remedy.code is Code.LINE_RATE}
    if verdict.carries >= 5.0:
        assert offers == {math.floor(verdict.carries)}
    else:
        assert not offers


def test_a_line_of_slow_devices_is_offered_the_delay_that_it_carries() -> None:
    base = BASES["virtual-servo"]
    legs = [leg.model_dump() | {"reply_delay": 1e-3} for leg in base.drives.legs]
    config = base.changed({"drives": {"legs": legs}})
    slow = check_buses(config).findings
    assert len(slow) == 2
    for found in slow:
        (quick,) = (remedy for remedy in found.within if remedy.code is Code.LINE_QUICKER)
        assert holds(config, found, quick)

"""CANopen: what a cycle has to have, when torque is taken, and what of a drive is believed."""

from breaks import Break

_TESTS = ("actuators/test_canopen.py",)
_SUITE = ("conformance/test_every_driver.py",)


def _drive(name: str, old: str, new: str, tests: tuple[str, ...] = _TESTS) -> Break:
    return Break(name, "actuators/canopen/drive.py", old, new, tests)


def _interpolation(
    name: str, old: str, new: str, tests: tuple[str, ...] = ("actuators/test_canopen_interpolation.py",)
) -> Break:
    return Break(name, "actuators/canopen/interpolation.py", old, new, tests)


CANOPEN_BREAKS = [
    _drive(
        "a CANopen drive hears of another mode before its stop",
        "if command.stops and self._power.flags",
        "if False and self._power.flags",
    ),
    _drive("a cycle is written in whole milliseconds", "for exponent in range(-3, -7, -1):", "for exponent in (-3,):"),
    Break(
        "drives interpolate over another cycle than the rig's",
        "rig/config/conflicts.py",
        "if interpolated and not math.isclose(interpolated, config.exchange_period, rel_tol=1e-6):",
        "if False:",
        ("rig/test_config_drivers.py",),
    ),
    _interpolation("a drive stands where a set-point is missing", "_EXTRAPOLATED = 1.0", "_EXTRAPOLATED = 0.0"),
    _interpolation(
        "a late SYNC is a jolt: a drive goes by the time between two of them",
        "        if fits and not self.synchronized:",
        "        if False:",
        ("integration/test_canopen_rig.py",),
    ),
    _interpolation(
        "a drive takes a target of the cycle before when two SYNCs in a row are half a cycle late",
        "_DISTANCE = 0.8",
        "_DISTANCE = 0.5",
        ("integration/test_canopen_rig.py",),
    ),
    _interpolation("a drive's cycles are not held to the SYNCs", "if heard and abs(late)", "if False and abs(late)"),
    _interpolation("a drive's cycles follow each SYNC", "math.copysign(_CORRECTION, late)", "late / self._period"),
    _interpolation(
        "a drive is held to SYNCs that do not come at its period",
        "self._unmatched > _MOST_UNMATCHED",
        "False",
    ),
    Break(
        "a CAN bus is scanned at several bit rates",
        "actuators/searching.py",
        "if bauds is not BAUDS and len(bauds) > 1:",
        "if False:",
        ("actuators/test_canopen_scan.py",),
    ),
    Break(
        "a node that refuses the question ends a scan",
        "actuators/canopen/scanning.py",
        "                yield unit, str(error), None, False\n                continue",
        "                return",
        ("actuators/test_canopen_scan.py",),
    ),
    Break(
        "a cycle on CAN has no heartbeat",
        "actuators/canopen/bus.py",
        "self.send([*batch, self._heartbeat, self._sync])",
        "self.send([*batch, self._sync])",
        _TESTS,
    ),
    Break(
        "TPDOs of the cycle before count",
        "actuators/canopen/bus.py",
        "        if place != len(before):",
        "        if False:",
        _SUITE,
    ),
    Break(
        "a late first TPDO is joined with the second of the present cycle",
        "actuators/canopen/bus.py",
        "            before.clear()",
        "            return",
        _TESTS,
    ),
    _interpolation("a twin stands still at long periods", "_LONGEST = 0.51", "_LONGEST = 0.1"),
    _drive(
        "torque is taken in another mode than is wanted", "ready = mode == self._mode or power.enabled", "ready = True"
    ),
    _drive("a restart of a CAN drive is not said", "if self._bus.node(self._unit).boots > self._boots:", "if False:"),
    _drive(
        "a CAN drive's options are not read back",
        "        self._verify(timeout)\n        if not again:",
        "        if not again:",
    ),
    _drive("drives lose their watchdogs while others are set up", "            bus.beat()", "            pass"),
    _drive("a lost heartbeat is no watchdog", "if status & Status.FAULT and error in WATCHDOG_ERRORS:", "if False:"),
    _drive(
        "a drive is homed as soon as it searches",
        "self._homed = bool(status & _ATTAINED)",
        "self._homed = True",
    ),
]

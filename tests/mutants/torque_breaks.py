"""Torque where it is needed, and nowhere else."""

from breaks import Break

_TORQUE = "integration/test_torque.py"
_RETURNS = "integration/test_torque_returns.py"
_LOST = f"{_TORQUE}::test_torque_that_is_lost_comes_back_by_a_new_engage_only"


def _check(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/safety/drive_checks.py", old, new, tests)


TORQUE_BREAKS = [
    _check("torque may be lost", "        if changed:\n", "        if False:\n", _LOST),
    _check(
        "a drive may give no torque",
        "        if late:\n",
        "        if False:\n",
        f"{_TORQUE}::test_torque_that_does_not_come_is_not_waited_for_for_long",
    ),
    _check(
        "torque at rest is not noticed",
        "return self._unexpected(t, changed + late) if at_rest else None",
        "return None",
        f"{_TORQUE}::test_torque_that_nobody_asked_for",
    ),
    _check(
        "a drive that keeps its torque is not noticed",
        "changed + late) if at_rest",
        "changed) if at_rest",
        f"{_TORQUE}::test_a_drive_that_does_not_switch_off_is_named",
    ),
    _check(
        "a leg whose turn to home has not come counts as late",
        "wanted = _ENABLED if asked[leg] and not ended else 0",
        "wanted = 0 if ended else _ENABLED",
        f"{_TORQUE}::test_torque_lost_while_homing",
        _TORQUE,
        "integration/test_measured_bounds.py",
    ),
    _check(
        "a leg that has found its reference may lose its torque",
        "searching[leg] and self._ends_off[leg] and status",
        "searching[leg] and status",
        f"{_TORQUE}::test_torque_lost_while_homing",
    ),
    _check(
        "a search that ends without torque is torque lost",
        "ended = searching[leg] and",
        "ended = False and",
        _RETURNS,
    ),
    _check(
        "torque may come when nobody expects it any more",
        "deadlines.enable if wanted",
        "deadlines.engage if wanted",
        f"{_RETURNS}::test_torque_comes_late_only_within_the_time_that_a_drive_needs",
    ),
    Break(
        "a drive whose search ended without torque is told to search on",
        "rig/engine/homing.py",
        "[begun and not ended for",
        "[begun for",
        (_RETURNS,),
    ),
    Break(
        "a watchdog that is cleared under torque is not noticed",
        "rig/engine/supervision.py",
        "if torque and (lost := drives.watchdog_fault(self._checked_leg)):",
        'if lost := "":',
        ("integration/test_verified_drives.py::test_a_watchdog_that_is_cleared_under_torque",),
    ),
    Break(
        "one damaged answer about a watchdog stops the rig",
        "actuators/modbus_servo.py",
        "self._watchdog_doubts > 1",
        "self._watchdog_doubts > 0",
        ("integration/test_verified_drives.py::test_one_damaged_answer_about_the_watchdog_is_none",),
    ),
    Break(
        "a quick stop enables drives that had no torque",
        "rig/engine/command_arbiter.py",
        "COMMAND_STOP if before.enable else COMMAND_OFF",
        "COMMAND_STOP",
        ("rig/test_commissioning_leg_stops.py",),
    ),
    Break(
        "what holds is wanted of drives that have no torque yet",
        "rig/safety/machine.py",
        "elif self.state is State.ENGAGING and category is StopSeverity.CATEGORY_2:",
        "elif False:",
        (
            "rig/test_engine_machine.py",
            f"{_TORQUE}::test_a_stop_that_holds_takes_the_torque_off_while_the_rig_is_engaging",
        ),
    ),
    Break(
        "a drive whose search ends without torque has lost it, while its leg is tested",
        "rig/safety/drive_checks.py",
        "ended = searching[leg] and",
        "ended = self._machine.state.name == 'HOMING' and searching[leg] and",
        ("conformance/test_commissioning.py",),
    ),
]

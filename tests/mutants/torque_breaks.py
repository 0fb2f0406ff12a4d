"""Torque where it is needed, and nowhere else."""

from breaks import Break

_TORQUE = "integration/test_torque.py"
_LOST = f"{_TORQUE}::test_torque_that_is_lost_comes_back_by_a_new_engage_only"


def _check(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/safety/torque_checks.py", old, new, tests)


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
        "elif self._needed and not asked[leg]:",
        "elif False:",
        f"{_TORQUE}::test_torque_lost_while_homing",
        _TORQUE,
        "integration/test_measured_bounds.py",
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
        "rig/safety/torque_checks.py",
        "if not self._searching[leg] or status[leg] & (_HOMED | _HOMING) != _HOMED:",
        "if self._machine.state is not State.HOMING or status[leg] & (_HOMED | _HOMING) != _HOMED:",
        ("conformance/test_commissioning.py",),
    ),
]

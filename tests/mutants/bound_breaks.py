"""Bounds on what is measured, brakes that must hold, and homing leg by leg."""

from breaks import Break

_BRAKES = "integration/test_brake_faults.py"
_BOUNDS = "integration/test_measured_bounds.py"


def _rest(name: str, old: str, new: str, test: str) -> Break:
    return Break(name, "rig/safety/brake_check.py", old, new, (f"{_BRAKES}::{test}", _BRAKES))


def _measured(name: str, old: str, new: str, test: str) -> Break:
    return Break(name, "rig/safety/measured_bounds.py", old, new, (f"{_BOUNDS}::{test}",))


def _homing(name: str, old: str, new: str, test: str) -> Break:
    return Break(name, "rig/engine/homing.py", old, new, (f"{_BOUNDS}::{test}",))


BOUND_BREAKS = [
    _rest(
        "a platform may sink on its brakes",
        "legs[_MOVED, i] = length[i] - legs[_REST, i]",
        "legs[_MOVED, i] = 0.0",
        "test_brakes_that_slip_while_parked_are_a_fault_that_keeps_the_homing",
    ),
    _rest(
        "a platform may fall as its torque goes off",
        "            gains = True",
        "            gains = False",
        "test_a_platform_that_falls_as_its_torque_goes_off_is_found_before_it_is_fast",
    ),
    _rest(
        "a reset does not ask whether the brakes hold now",
        "return Trip(Cause(found, t), StopSeverity.CATEGORY_0, self._still_moving)",
        "return Trip(Cause(found, t), StopSeverity.CATEGORY_0, lambda: None)",
        "test_a_reset_is_refused_while_the_brakes_slip",
    ),
    _rest(
        "another zero counts as movement",
        "known = way <= _CONTINUOUS if gap <= longest else homed",
        "known = gap > 0.0",
        "test_a_drive_that_counts_from_another_zero_has_not_moved",
    ),
    _rest(
        "brakes that slip are told again and again",
        "        self._reported = True\n",
        "",
        "test_brakes_that_slip_behind_another_fault_are_said_once_beside_it",
    ),
    _measured(
        "a leg may be faster than its limit",
        "leg = _beyond_kernel(fresh, velocity, self._speed, math.inf)",
        "leg = -1",
        "test_a_leg_faster_than_its_limit_is_a_quick_stop",
    ),
    _measured(
        "legs may be pushed beyond their limit while homing",
        "leg = _beyond_kernel(fresh, force, self._force, scale)",
        "leg = -1",
        "test_forces_while_homing_have_a_bound_of_their_own",
    ),
    _measured(
        "a drive may be hot",
        "and not temperature <= self._temperature",
        "and False",
        "test_a_hot_drive_or_a_bad_supply_is_a_controlled_stop",
    ),
    _measured(
        "a drive's supply may be bad",
        "and not low <= supply <= high",
        "and False",
        "test_a_hot_drive_or_a_bad_supply_is_a_controlled_stop",
    ),
    _homing(
        "all legs home at once",
        "self.begun[:] = [leg == 0 for leg in range(6)]",
        "self.begun[:] = [True] * 6",
        "test_motors_wired_to_each_others_drives_are_found_by_the_first_leg_that_moves",
    ),
    _homing(
        "another leg may home than the one that was told to",
        "if other > latest and abs(moved[other]) >= (self._slip if moves else _SIGNIFICANT):",
        "if False:",
        "test_motors_wired_to_each_others_drives_are_found_by_the_first_leg_that_moves",
    ),
    Break(
        "drives are connected to that have torque",
        "rig/engine/drive_group.py",
        "if drive.observe(timeout).status & Status.ENABLED:",
        "if False:",
        (f"{_BOUNDS}::test_a_drive_that_has_torque_already_is_not_connected_to",),
    ),
]

"""Checks of what drives, encoders and load cells report, and of the reference."""

from breaks import Break

_STEPS = "rig/test_reference_steps.py"
_PARTS = "rig/test_engine_parts.py"
_DOUBTS = "rig/test_engine_doubts.py"
_COARSE = "rig/test_coarse_cells.py"
_FAULTS = "integration/test_feedback_faults.py"
_FORCES = "integration/test_force_and_host_faults.py"
_OLD = "integration/test_old_feedback.py"
_LENGTHS = "rig/test_motion_checks.py"
_DRIVERS = "conformance/test_every_driver.py"


def _motion(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/safety/feedback.py", old, new, tests)


def _drive(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/safety/drive_checks.py", old, new, tests)


def _cell(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/safety/cell_checks.py", old, new, tests)


def _limit(name: str, old: str, new: str = "if False:") -> Break:
    return Break(name, "rig/safety/limits.py", old, new, (f"{_PARTS}::{_LIMITS[0]}", f"{_PARTS}::{_LIMITS[1]}", _PARTS))


_LIMITS = (
    "test_a_reference_at_its_limits_passes_and_beyond_them_does_not",
    "test_a_reference_that_is_no_number_never_passes",
)

FEEDBACK_BREAKS = [
    _drive(
        "noise between good replies is trusted",
        "if unusable > self._bound(sent)",
        "if False",
        f"{_FAULTS}::test_noise_between_good_replies_stops_the_rig",
    ),
    _drive(
        "noise within its bound is not said",
        "if self._counted(device.name)[1] > _FEW // 2",
        "if False and self._counted(device.name)[1] > _FEW // 2",
        f"{_FAULTS}::test_noise_between_good_replies_stops_the_rig",
    ),
    Break(
        "the noise of devices that read load cells is not counted",
        "rig/engine/drive_group.py",
        "        return len(self._members) + self.cell_devices + (self._block is not None)",
        "        return len(self._members)",
        (f"{_FAULTS}::test_noise_between_the_replies_of_an_amplifier_holds_the_rig",),
    ),
    Break(
        "the kinds of replies that were not taken are not recorded",
        "rig/engine/core.py",
        "for name, counts in self.drives.replies.items() if counts.kinds}",
        "for name, counts in self.drives.replies.items() if False}",
        (f"{_FAULTS}::test_noise_between_good_replies_stops_the_rig",),
    ),
    Break(
        "noise of the last second is not shown",
        "rig/safety/drive_checks.py",
        "        return unusable, self._bound(sent)",
        "        return 0, self._bound(sent)",
        (f"{_FAULTS}::test_noise_between_good_replies_stops_the_rig",),
    ),
    Break(
        "garbage of a TCP peer is not counted",
        "actuators/bus.py",
        "                counters.rejected += 1\n                places = (",
        "                places = (",
        (f"{_FAULTS}::test_a_peer_that_sends_garbage_alone_stops_all_six_and_is_followed_again_when_it_answers",),
    ),
    Break(
        "garbage before a frame of a TCP peer is the end of all frames",
        "actuators/bus.py",
        'self._input = self._input[ours:] if ours else b""',
        'self._input = self._input[:1] if ours else b""',
        (f"{_FAULTS}::test_noise_between_good_replies_stops_the_rig",),
    ),
    Break(
        "what was rejected is not recorded",
        "rig/engine/core.py",
        '            "rejected": self.drives.rejected,\n',
        "",
        (f"{_FAULTS}::test_noise_between_good_replies_stops_the_rig",),
    ),
    _motion(
        "a length that is no number is believed",
        "if fresh[i] != 0.0 and not (math.isfinite(length[i]) and math.isfinite(velocity[i])):",
        "if False:",
        _PARTS,
    ),
    _motion(
        "an absurd length is believed",
        "if homed[i] != 0.0 and not (bounds[_LOW] - _ABSURD <= length[i] <= bounds[_HIGH] + _ABSURD):",
        "if False:",
        _PARTS,
    ),
    _motion("an encoder may jump", "elif homed[i] != 0.0 and jump > bounds[_JUMPED]:", "elif False:", _PARTS),
    _motion("a leg must not have moved in a long silence", "if gap > bounds[_GAP]:", "if False:", _LENGTHS),
    _motion(
        "behind a lost reply a leg may stand anywhere", "if gap > bounds[_GAP]:", "if gap > bounds[_PERIOD]:", _LENGTHS
    ),
    _motion("the way since the last sample is not what its speeds explain", "- 0.5 * gap *", "- 0.0 *", _PARTS),
    _motion("an encoder may creep", "jump = max(jump, abs(departure))", "jump = max(jump, 0.0)", _LENGTHS),
    _motion(
        "a leg that stands is watched no longer than one that moves",
        "if moves else _WINDOW",
        "if True else _WINDOW",
        _LENGTHS,
    ),
    _motion(
        "a scale that drifts in motion is a creep",
        "if moves else _WINDOW",
        "if False else _WINDOW",
        f"{_FAULTS}::test_a_scale_that_drifts_is_a_controlled_stop",
    ),
    _motion(
        "a speed that is told late explains nothing",
        "slack = (0.5 * gap + _SPEED_DELAY) * abs(velocity - before)",
        "slack = 0.0",
        _LENGTHS,
    ),
    _motion("a reply that is a cycle old is taken for a new one", "(lag - legs[_LAG, i]) *", "0.0 *", _LENGTHS),
    _motion(
        "a coarse encoder is frozen as long as its leg moves by less than a step",
        "far = abs(length_reference[i] - legs[_WANTED, i]) >= _COARSE * drives[_RESOLUTION, i]",
        "far = True",
        _LENGTHS,
    ),
    _motion(
        "a moving encoder may repeat itself",
        "elif legs[_REPEATS, i] >= bounds[_REPEATED] and far and error >= bounds[_BEHIND]:",
        "elif False:",
        _PARTS,
    ),
    _motion(
        "a leg that friction holds as it begins to move counts as frozen",
        "and far and error >= bounds[_BEHIND]:",
        "and far:",
        _LENGTHS,
        f"{_FAULTS}::test_a_leg_that_sticks_as_it_begins_to_move_is_not_a_frozen_encoder",
    ),
    _motion(
        "a leg may run against its reference",
        "elif legs[_REVERSALS, i] >= _REVERSED_CYCLES:",
        "elif False:",
        f"{_FAULTS}::test_a_reversed_encoder_takes_the_torque_off",
        f"{_FAULTS}::test_a_reversed_sign_takes_the_torque_off_wherever_it_happens",
        _FAULTS,
    ),
    _motion(
        "a leg that swings is said to have a sign reversed",
        "found = _SWINGING if legs[_TURNED, i] > _TURNS else _AGAINST",
        "found = _AGAINST",
        _LENGTHS,
    ),
    _motion(
        "a leg that is pushed back counts as reversed",
        "opposed = opposed and (legs[_REVERSALS, i] > 0.0 or abs(speed + before) < _MIRRORED * abs(before))",
        "opposed = bool(opposed)",
        "integration/test_force_and_host_faults.py::test_a_force_the_model_does_not_know_is_a_controlled_stop",
        f"{_FORCES}",
    ),
    _motion("there is no runaway", "elif controlled[i] != 0.0 and error > bounds[_RAN]:", "elif False:", _PARTS),
    _motion(
        "there is no following error",
        "elif controlled[i] != 0.0 and error > bounds[_FOLLOWED] and not (repeated or opposed):",
        "elif False:",
        _PARTS,
    ),
    _motion(
        "a following error is told of an encoder in doubt",
        "error > bounds[_FOLLOWED] and not (repeated or opposed):",
        "error > bounds[_FOLLOWED]:",
        f"{_DOUBTS}::test_no_following_error_is_told_of_an_encoder_that_repeats_itself",
    ),
    _motion(
        "a jump leaves the rig homed",
        "return stop(found, StopSeverity.QUICK_STOP, unhome=True)",
        "return stop(found, StopSeverity.QUICK_STOP)",
        f"{_FAULTS}::test_an_encoder_that_jumps_takes_the_homing_with_it",
    ),
    Break(
        "a reply counts whatever command it echoes",
        "actuators/drive.py",
        "if lag == self._lag:\n            return True",
        "if True:\n            return True",
        (_DRIVERS, f"{_OLD}::test_a_hung_drive_that_goes_on_answering_is_as_one_that_is_gone"),
    ),
    Break(
        "replies may be old without a bound",
        "actuators/drive.py",
        "if lag == self._reply_lag and lag <= self._echo_lag:",
        "if lag == self._reply_lag:",
        (_DRIVERS, f"{_OLD}::test_replies_older_than_is_borne_are_as_none"),
    ),
    Break(
        "one reply tells that the replies have come to be old",
        "actuators/drive.py",
        "if lag == self._reply_lag and lag <= self._echo_lag:",
        "if lag <= self._echo_lag:",
        (_DRIVERS,),
    ),
    Break(
        "nobody is told that replies are old",
        "rig/engine/supervision.py",
        "if lag != self._lag:",
        "if False:",
        (f"{_OLD}::test_replies_that_are_a_cycle_old_for_good_are_borne_and_said",),
    ),
    Break(
        "an amplifier's counter may stand",
        "actuators/amplifier.py",
        "reading is not None and reading.sample == self._sample",
        "False",
        ("actuators/test_amplifier.py", f"{_OLD}::test_an_amplifier_whose_counter_stands_has_nothing_fresh"),
    ),
    Break(
        "a size without its sign is taken for a force",
        "actuators/amplifier.py",
        "value * (-scale if status & negative else scale)",
        "value * scale",
        ("conformance/test_every_cell_driver.py",),
    ),
    Break(
        "an amplifier that has no counter stands for ever",
        "actuators/amplifier.py",
        "reading.sample == self._sample >= 0",
        "reading.sample == self._sample",
        ("conformance/test_every_cell_driver.py",),
    ),
    Break(
        "an amplifier's status word is not looked at",
        "actuators/amplifier.py",
        "value == none or status & invalid",
        "value == none",
        (
            "actuators/test_amplifier.py",
            f"{_OLD}::test_a_channel_that_the_amplifier_calls_invalid_is_a_cell_without_a_value",
        ),
    ),
    Break(
        "an encoder's creep is a brake that slips",
        "rig/safety/brake_check.py",
        "np.abs(legs[_MOVED] - departure)",
        "np.abs(legs[_MOVED])",
        (f"{_FAULTS}::test_an_encoder_that_creeps_takes_the_homing_with_it",),
    ),
    _drive("a leg may be silent for ever", "        for leg in lost:", "        for leg in ():", _PARTS),
    _drive(
        "one late reply of a host that overslept is a lost connection",
        "stale[leg] >= self._fewest and age[leg] >= self._bound",
        "stale[leg] and age[leg] >= self._bound",
        _PARTS,
    ),
    _drive("a drive's watchdog is not noticed", "if status[leg] & _WATCHDOG:", "if False:", _PARTS),
    _drive(
        "a drive without a position is its own fault alone",
        "if not math.isfinite(drives.length[leg]):",
        "if False:",
        f"{_FAULTS}::test_an_absurd_position_is_a_quick_stop_at_once_and_homing_is_lost",
    ),
    _drive("a drive's fault is not noticed", "if status[leg] & _FAULT:", "if False:", _PARTS),
    _drive("a drive may lose its reference", "if homed and not status[leg] & _HOMED:", "if False:", _PARTS),
    _cell("the cells' readings may be old", "if stale >= self._fewest and age >= self._old:", "if False:", _DOUBTS),
    _cell(
        "old readings of the cells are judged",
        "if stale:\n            return None",
        "if False:\n            return None",
        _DOUBTS,
    ),
    _cell(
        "a cell without a value is not noticed",
        "if alive and missing >= 0 and counts[_MISSING, missing] >= self._most_missing:",
        "if False:",
        f"{_FORCES}::test_a_load_cell_without_a_value_holds_the_platform_on_the_model_alone",
    ),
    _cell(
        "a cell may repeat itself",
        "if silent >= 0 and counts[_SILENT, silent] >= self._bounds[3]:",
        "if False:",
        f"{_FORCES}::test_a_silent_load_cell_holds_the_platform_on_the_model_alone",
    ),
    Break(
        "a large machine has the defaults of a small one",
        "rig/config/rig_config.py",
        "config, scale_faults = with_scaled_defaults(config, nominal)",
        "scale_faults: list[str] = []",
        ("rig/test_sized_rigs.py::test_a_rig_homes_moves_and_parks_by_its_defaults",),
    ),
    Break(
        "a default that a machine cannot have is not refused",
        "rig/config/rig_config.py",
        "            if key in changes\n",
        "            if False\n",
        ("rig/test_sized_rigs.py::test_a_default_that_a_machine_cannot_have_is_asked_for_by_its_key",),
    ),
    Break(
        "a zero may drift by as much on a small machine as on a large one",
        "rig/commissioning/zero.py",
        "drift_limit=_DRIFT * machine_size(config.nominal).force,",
        "drift_limit=_DRIFT,",
        ("rig/test_sized_rigs.py::test_the_cells_of_a_rig_of_any_size_are_zeroed",),
    ),
    _cell(
        "a coarse cell that lives is taken for a frozen one",
        "stuck = cells[_HIGH, i] - cells[_LOW, i] > frozen_kernel(bounds[0], step, cells[_SILENT, i])",
        "stuck = cells[_HIGH, i] - cells[_LOW, i] > bounds[0]",
        f"{_COARSE}::test_a_coarse_cell_that_lives_is_never_taken_for_a_frozen_one",
    ),
    _cell(
        "noise is taken to hold a reading within its step for ever",
        "    left = left + repeats * math.log(alike) if alike > 0.0 else 0.0\n",
        "",
        f"{_COARSE}::test_a_frozen_cell_is_found_once_the_force_has_changed",
    ),
    _cell(
        "steps that nobody stated are not seen",
        "if 0.0 < change < cells[_LEAST, i]:",
        "if False:",
        f"{_COARSE}::test_steps_that_nobody_stated_show_in_the_readings",
    ),
    Break(
        "rounding to steps is no noise",
        "calibration/cell_measurements.py",
        "np.square(noise) + np.square(step) / 12.0",
        "np.square(noise) + 0.0 * np.square(step)",
        (f"{_COARSE}::test_rounding_is_among_the_noise_of_the_rig_and_of_its_recordings",),
    ),
    Break(
        "a weighing at rest averages rounding out",
        "rig/analysis/weighing.py",
        " + np.square(rounding),",
        ",",
        (f"{_COARSE}::test_a_mean_at_rest_is_no_surer_than_the_steps_of_its_readings",),
    ),
    Break(
        "a mean at rest averages rounding out",
        "calibration/cell_measurements.py",
        "np.hypot(whole.standard_error, rounding_of_mean(cell_noise, step))",
        "whole.standard_error",
        (f"{_COARSE}::test_cells_without_noise_that_are_coarse_can_be_zeroed_to_their_steps",),
    ),
    Break(
        "a coarse cell is taken to be at the end of its scale",
        "calibration/inertia/estimate.py",
        "if model is None or not _coarse(record, leg):",
        "if True:",
        ("calibration/test_identify.py::test_cells_in_coarse_steps_tell_the_truth_within_what_is_said",),
    ),
    _cell(
        "no force is off the model",
        "if beyond < 0 or counts[_BEYOND, beyond] < _RESIDUAL_CYCLES:",
        "if True:",
        _DOUBTS,
    ),
    _cell(
        "forces are held against the model of an encoder in doubt",
        "not (repeated or suspect):",
        "not repeated:",
        _DOUBTS,
    ),
    _cell(
        "a reset does not ask whether a cell is still at its end of scale",
        "return Trip(Cause(dead, t), StopSeverity.CATEGORY_2, partial(self._no_force, missing, force))",
        "return Trip(Cause(dead, t), StopSeverity.CATEGORY_2, no_recheck)",
        "integration/test_reset_causes.py",
    ),
    _limit(
        "a reference that is no number passes",
        "if not isfinite(legs[i, k]):",
    ),
    _limit("a reference beyond the stroke passes", "if not limits[i, 0] <= legs[i, 0] <= limits[i, 1]:"),
    _limit("a reference beyond the speed passes", "if abs(legs[i, 1]) > limits[i, 2]:"),
    _limit("a reference beyond the acceleration passes", "if abs(legs[i, 2]) > limits[i, 3]:"),
    _limit("a reference in a bad pose passes", "if not condition <= condition_bound:"),
    Break(
        "a reference may be elsewhere than its speed explains",
        "rig/safety/limits.py",
        "        if not departure <= bound:",
        "        if False:",
        (_STEPS,),
    ),
    Break(
        "the speed of a reference may step",
        "rig/safety/limits.py",
        "        if acceleration < inf and not abs(speed) <= acceleration * elapsed:",
        "        if False:",
        (_STEPS,),
    ),
    Break(
        "the load cells' zero takes what is no number",
        "rig/engine/tare.py",
        "if np.isfinite(residual).all():",
        "if True:",
        ("rig/test_engine_guards.py::test_one_bad_reading_does_not_spoil_the_zero",),
    ),
    Break(
        "an old reference is taken for a new one",
        "rig/engine/homing.py",
        "return all(self._sought) and all(",
        "return all(",
        (f"{_PARTS}::test_homing_is_done_when_every_leg_has_searched_and_found",),
    ),
    Break(
        "a drive without torque counts as one whose search is too short",
        "rig/engine/homing.py",
        "bits & (_HOMED | _HOMING | _ENABLED) == _HOMED | _ENABLED and at_home[leg]",
        "bits & (_HOMED | _HOMING) == _HOMED and at_home[leg]",
        (f"{_PARTS}::test_a_search_that_is_too_short_to_be_seen_counts_for_a_leg_at_home",),
    ),
    Break(
        "a leg that goes the other way by its speeds passes",
        "rig/engine/leg_move.py",
        "if by_speed / reached >= -_REVERSED_PART:",
        "if True:",
        ("rig/test_commissioning_leg.py::test_speeds_against_the_positions_are_a_wrong_sign",),
    ),
    Break(
        "a line that takes no more counts as lost",
        "actuators/wire.py",
        "        except BlockingIOError:\n            return False\n",
        "",
        ("actuators/test_wire.py::test_a_line_that_takes_no_more_makes_send_fail_without_waiting",),
    ),
    Break(
        "a port without bytes reads as one that was pulled out",
        "actuators/wire.py",
        "            _set_non_blocking_read(port.fileno())\n",
        "",
        ("actuators/test_wire.py",),
    ),
    Break(
        "a twin is given a fault that it cannot have",
        "rig/virtual/faults.py",
        "if known_as not in device.kinds:",
        "if False:",
        ("rig/test_config_cell_drivers.py::test_a_twin_is_only_asked_for_faults_that_it_can_have",),
    ),
    Break(
        "references may disagree",
        "rig/engine/homing.py",
        "if not off:",
        "if True:",
        (f"{_PARTS}::test_references_must_agree_with_the_forward_kinematics",),
    ),
    Break(
        "a belated reply counts as noise on the line",
        "actuators/bus.py",
        "counters.belated += found in self._given_up",
        "pass",
        ("actuators/test_virtual_faults.py::test_late_replies_are_rejected_when_they_come",),
    ),
    Break(
        "an encoder may jump where the speed is differentiated from positions",
        "rig/safety/feedback.py",
        "if drives[_DIFFERENTIATED, i] != 0.0:",
        "if False:",
        (f"{_FAULTS}::test_a_jump_where_the_speed_is_differentiated",),
    ),
    Break(
        "garbage on the line of a load cell is not shown",
        "rig/engine/snapshot.py",
        "named += [(report.name, report.replies) for report in self.cells]",
        "pass",
        (f"{_FAULTS}::test_garbage_on_one_cells_line_is_counted_for_that_cell",),
    ),
]

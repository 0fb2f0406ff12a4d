"""Breaks in motion cueing, the washout, its limiter, and what is told of both; and in motions from records."""

from breaks import Break

_LIMITER = "kinematics/cueing/limiter.py"
_WASHOUT = "kinematics/cueing/washout.py"
_TESTS = "kinematics/test_washout.py"
_STAGE = "rig/streaming/cueing.py"
_STREAM = "rig/test_vehicle_stream.py"
_BOUNDS = (
    f"{_TESTS}::test_no_motion_of_a_vehicle_leads_the_platform_out_of_its_bounds",
    f"{_TESTS}::test_bounds_are_met_by_these_motions",
)

CUEING_BREAKS = [
    Break(
        "what a leg does between two samples is taken to be nothing",
        _LIMITER,
        "        square = step * step\n",
        "        square = 0.0 * step\n",
        (f"{_TESTS}::test_what_a_leg_does_between_samples_is_within_the_bounds_of_its_interpolation",),
    ),
    Break(
        "lengths, speeds and angles are looked at in samples alone",
        _LIMITER,
        "    if least <= p <= greatest and least <= q <= greatest:",
        "    if least <= first <= greatest:",
        (f"{_TESTS}::test_a_cubic_is_within_a_range_if_all_of_it_is",),
    ),
    Break(
        "a state is let through from which the platform cannot brake",
        _LIMITER,
        "                if found >= 0:\n",
        "                if found >= -1:\n",
        _BOUNDS,
    ),
    Break(
        "a tilt is as fast as it likes",
        _WASHOUT,
        "    change = _clipped(change, numbers[3] * period)\n",
        "    change = state[1] - rate\n",
        (f"{_TESTS}::test_a_sustained_force_is_given_by_gravity_and_slowly",),
    ),
    Break(
        "a tilt swings past its greatest angle",
        _WASHOUT,
        "min(towards * _clipped(state[1], numbers[2]), fastest)",
        "(towards * _clipped(state[1], numbers[2]))",
        (f"{_TESTS}::test_a_tilt_does_not_pass_its_greatest_angle",),
    ),
    Break(
        "a number that is not finite goes into the filters",
        _WASHOUT,
        "        if not isfinite(sample[k]):\n            return -1 - k\n",
        "        if False:\n            return -1 - k\n",
        (f"{_TESTS}::test_a_number_that_is_not_finite_is_refused_and_moves_nothing",),
    ),
    Break(
        "axes with z down are taken for such with z up",
        _WASHOUT,
        'sign = -1.0 if tuning.axes == "z-down" else 1.0',
        "sign = 1.0",
        (f"{_TESTS}::test_axes_with_z_down_are_those_with_z_up_turned_over",),
    ),
    Break(
        "a rig's delay leaves out what its tilt gives",
        "rig/cueing/omct.py",
        "            added[0] -= size * changed[4]\n",
        "",
        ("rig/test_cueing.py::test_a_late_rig_is_as_late_in_every_response",),
    ),
    Break(
        "a machine whose gravity leans gets a washout",
        _STAGE,
        "if not (size > 0.0 and",
        "if False and not (size > 0.0 and",
        ("rig/test_cueing.py::test_a_machine_without_limits_or_not_level_is_refused",),
    ),
    Break(
        "a vehicle's sample that is overdue stops the washout",
        _STAGE,
        "            if t > due:\n                break\n",
        "            if True:\n                break\n",
        (f"{_STREAM}::test_a_silent_vehicle_is_held_falls_off_and_the_platform_comes_to_rest",),
    ),
    Break(
        "what is held never falls off",
        _STAGE,
        "fallen = math.exp(-max(0.0, silence - options.hold) / options.decay)",
        "fallen = 1.0",
        (f"{_STREAM}::test_a_silent_vehicle_is_held_falls_off_and_the_platform_comes_to_rest",),
    ),
    Break(
        "a silent vehicle moves the platform for ever",
        _STAGE,
        "if silence > options.rest_after:",
        "if False:",
        (f"{_STREAM}::test_a_silent_vehicle_is_held_falls_off_and_the_platform_comes_to_rest",),
    ),
    Break(
        "a vehicle's sample older than the newest one counts",
        _STAGE,
        "if t > self._newest:  # the vehicle's motion",
        "if True:  # the vehicle's motion",
        (f"{_STREAM}::test_a_late_sample_is_the_vehicles_motion_from_now_on",),
    ),
    Break(
        "a tuning jumps",
        _STAGE,
        "self._share + self._blend_every * self._period / BLENDING",
        "1.0",
        (f"{_STREAM}::test_a_tuning_changes_without_a_jump",),
    ),
    Break(
        "a vehicle's numbers that are not finite go into the washout",
        _STAGE,
        "if not (math.isfinite(t) and np.isfinite(vehicle).all() and np.abs(vehicle).max() <= _LARGEST):",
        "if False:",
        (f"{_STREAM}::test_what_is_no_number_of_a_vehicle_is_counted_and_not_used",),
    ),
    Break(
        "an acceleration is taken without the attitude that it needs",
        "rig/streaming/vehicle.py",
        "        if sample.given & KINEMATIC:\n",
        "        if False:\n",
        (f"{_STREAM}::test_what_is_no_sample_of_a_vehicle_is_refused_by_name",),
    ),
    Break(
        "gravity of axes with z down points up",
        "rig/streaming/vehicle.py",
        "-gravity if z_down else gravity",
        "gravity",
        (f"{_STREAM}::test_at_rest_with_the_nose_up_gravity_presses_into_the_seat",),
    ),
    Break(
        "a tuning that is refused is not told of",
        "rig/client/feeding.py",
        'changes = [f"refused, the one before stays: {error}"]',
        "changes = []",
        ("integration/test_stream_rig.py::test_a_vehicles_motion_is_cued_and_a_changed_tuning_is_used_and_recorded",),
    ),
    Break(
        "a record is integrated with the trend of its sensor",
        "kinematics/trajectories/records.py",
        "record.accelerations - line @ np.linalg.lstsq(line, record.accelerations, rcond=None)[0]",
        "record.accelerations",
        ("kinematics/test_records.py::test_a_record_whose_displacement_is_known_comes_back",),
    ),
    Break(
        "samples of a record may be at any times",
        "kinematics/trajectories/records.py",
        "if not (found > 0.0 and departure[worst] <= _UNEVEN * found):",
        "if not found > 0.0:",
        ("kinematics/test_records.py::test_a_file_that_cannot_be_used_is_refused",),
    ),
]

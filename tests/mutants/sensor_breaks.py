"""Readings of external sensors: keys, clocks, counts, staleness, and that the rig goes on."""

from breaks import Break

_PACKETS, _INTAKE = "rig/sensing/packets.py", "rig/sensing/intake.py"
_READER, _SOURCES, _TWINS = "rig/sensing/reader.py", "rig/sensing/sources.py", "rig/virtual/sensor_twins.py"
_TAKEN, _READ, _SIMULATED = "rig/test_sensor_intake.py", "rig/test_sensor_reader.py", "rig/test_sensor_twins.py"

SENSOR_BREAKS = [
    Break(
        "a reading of the future is recorded",
        _INTAKE,
        "if t - now > FUTURE:",
        "if False:",
        (f"{_TAKEN}::test_stamps_of_the_future_are_refused",),
    ),
    Break(
        "a damaged sequence number makes later readings old",
        _INTAKE,
        "if sequence > self._farthest(now):",
        "if False:",
        (f"{_TAKEN}::test_a_damaged_sequence_number_neither_counts_as_a_loss_nor_makes_later_readings_old",),
    ),
    Break(
        "a geometry calibration gets lengths less the loaded offsets",
        "rig/services/tracked_poses.py",
        'here["length"].mean(axis=0) + offsets',
        'here["length"].mean(axis=0) + 0.0 * offsets',
        ("rig/test_tracked_poses.py::test_the_offsets_of_a_machine_are_found_from_a_recording_with_other_ones_loaded",),
    ),
    Break(
        "a reading of any key is accepted",
        _PACKETS,
        "    check_tag(data[:-TAG_SIZE], data[-TAG_SIZE:], key)\n",
        "",
        (f"{_TAKEN}::test_another_packet_is_refused",),
    ),
    Break(
        "a line is accepted where a key is configured",
        _PACKETS,
        "        if key is not None:\n",
        "        if False:\n",
        (f"{_TAKEN}::test_another_packet_is_refused",),
    ),
    Break(
        "readings that are not finite are recorded",
        _INTAKE,
        "if not math.isfinite(value):",
        "if False:",
        (f"{_TAKEN}::test_numbers_that_are_not_finite_are_dropped_and_reported_with_their_count",),
    ),
    Break(
        "a stale sensor is not reported",
        _INTAKE,
        "if not self._stale and silence > self.options.silence:",
        "if False:",
        (f"{_TAKEN}::test_a_silent_sensor_is_stale_and_comes_back",),
    ),
    Break(
        "a second sender takes a sensor over",
        _INTAKE,
        "        elif identity != self._identity:\n",
        "        elif False:\n",
        (f"{_TAKEN}::test_another_sender_is_refused_until_the_first_is_silent",),
    ),
    Break(
        "the sender's clock is not modelled",
        _INTAKE,
        "t = self._clock.local(reading.time)",
        "t = now",
        (f"{_TAKEN}::test_stamps_of_a_clock_of_its_own_become_rig_time_within_a_millisecond",),
    ),
    Break(
        "a known delay stays in the time",
        _INTAKE,
        "t -= self.options.delay",
        "t -= 0.0",
        (f"{_TAKEN}::test_a_known_delay_is_taken_off",),
    ),
    Break(
        "the death of the sensors' process is not reported",
        _READER,
        "take((), [Finding(Code.SENSORS_DEAD,",
        "take((), [] and [Finding(Code.SENSORS_DEAD,",
        (f"{_READ}::test_a_process_reads_into_the_ring_and_a_kill_is_reported",),
    ),
    Break(
        "a hanging process of the sensors is not reported",
        _READER,
        "> _HANGING:",
        "> 1e9:",
        (f"{_READ}::test_a_hanging_reader_is_reported_and_recovers",),
    ),
    Break(
        "a sensor that floods is read without an end",
        _READER,
        "each.due = now + _TURN",
        "each.due = now",
        (f"{_READ}::test_a_flood_is_read_in_parts_and_holds_up_no_other_sensor",),
    ),
    Break(
        "the beginning of a line that was half sent is a reading",
        _SOURCES,
        '        self._begun = False\n        """whether',
        '        self._begun = True\n        """whether',
        (f"{_READ}::test_a_serial_line_gives_its_lines",),
    ),
    Break(
        "a device that comes late is left open",
        _SOURCES,
        "                device.close()",
        "                device.read",
        (f"{_READ}::test_a_device_that_hangs_does_not_hold_up_the_start_and_is_closed_when_it_comes",),
    ),
    Break(
        "a simulated IMU feels no gravity",
        _TWINS,
        "np.cross(rate, arm)) - gravity",
        "np.cross(rate, arm)) - 0.0 * gravity",
        (f"{_SIMULATED}::test_an_imu_measures_what_differences_of_the_pose_say",),
    ),
    Break(
        "a simulated IMU sits in the platform's origin",
        _TWINS,
        "arm = rotation @ position",
        "arm = 0.0 * rotation @ position",
        (f"{_SIMULATED}::test_an_imu_measures_what_differences_of_the_pose_say",),
    ),
]

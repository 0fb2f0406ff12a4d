"""Servos of any profile: what their driver confirms, their handover, and what their twin refuses."""

from breaks import Break

_MAP = "actuators/test_register_map.py"
_POWER = "actuators/test_power.py"

PROFILE_BREAKS = [
    Break(
        "torque goes on to the next step without the state of this one",
        "actuators/power.py",
        "        elif state is not None and state is steps[self._step].state:\n",
        "        else:\n",
        (f"{_POWER}::test_a_word_is_repeated_until_its_state_is_confirmed",),
    ),
    Break(
        "a step may take for ever",
        "actuators/power.py",
        "if now - self._since > step.timeout:",
        "if False:",
        (f"{_POWER}::test_a_step_that_is_not_confirmed_in_time_is_a_fault_until_it_is_cleared",),
    ),
    Break(
        "torque that a drive lost is taken again by itself",
        "actuators/power.py",
        "if state is not steps[-1].state:",
        "if False:",
        (f"{_POWER}::test_torque_that_the_drive_took_off_by_itself_does_not_come_back",),
    ),
    Break(
        "torque is taken without having been seen off",
        "actuators/power.py",
        "if not self._armed or self.failure is not None:",
        "if self.failure is not None:",
        (f"{_POWER}::test_enable_must_be_seen_clear_first",),
    ),
    Break(
        "two states may match the same status word",
        "actuators/power.py",
        "                if not (one.value ^ other.value) & one.mask & other.mask:",
        "                if False:",
        (f"{_POWER}::test_a_wrong_table_is_named",),
    ),
    Break(
        "the twin takes a step that comes too early",
        "actuators/virtual/power.py",
        " and place <= self._step + 1:",
        ":",
        (f"{_POWER}::test_a_drive_ignores_a_step_that_comes_too_early",),
    ),
    Break(
        "the twin's fault is cleared by a level",
        "actuators/virtual/power.py",
        "word & table.reset and not before & table.reset:",
        "word & table.reset:",
        (f"{_POWER}::test_a_fault_is_cleared_by_an_edge_and_torque_asked_for_anew",),
    ),
    Break(
        "torque goes on after a new connection",
        "actuators/modbus_servo.py",
        "        self._words.forget()\n",
        "",
        (f"{_MAP}::test_a_new_connection_begins_without_torque",),
    ),
    Break(
        "a start-up parameter that reads back otherwise is believed",
        "actuators/modbus_servo.py",
        "            if words != self._setting_words(setting):",
        "            if False:",
        (f"{_MAP}::test_parameters_are_written_read_back_and_verified",),
    ),
    Break(
        "another model is taken for the profile's",
        "actuators/modbus_servo.py",
        "if field.expect not in (None, value):",
        "if False:",
        (f"{_MAP}::test_another_model_is_refused_by_register_and_number",),
    ),
    Break(
        "an edge does not wait for its acknowledgement",
        "actuators/control_word.py",
        "handover.acknowledge is None or self._acknowledged == self._bit:",
        "True:",
        (f"{_MAP}::test_a_drive_that_does_not_acknowledge_is_given_no_next_set_point",),
    ),
    Break(
        "a set-point is handed over without torque",
        "actuators/control_word.py",
        "control |= self._hand_over(moves and mode in _FOLLOWING)",
        "control |= self._hand_over(True)",
        (f"{_MAP}::test_a_trigger_is_idle_but_where_a_set_point_is_followed",),
    ),
    Break(
        "the start of homing has no edge",
        "actuators/control_word.py",
        "        if moves and code is not None:\n",
        "        if code is not None:\n",
        (f"{_MAP}::test_torque_comes_by_one_step_an_exchange",),
    ),
    Break(
        "an old reference counts as a search",
        "actuators/control_word.py",
        "(self._searching <= 1 or Status.HOMED not in status)",
        "Status.HOMED not in status",
        (f"{_MAP}::test_a_drive_without_a_signal_of_homing_reports_its_search",),
    ),
    Break(
        "a reply that refuses one of several reads counts as feedback",
        "actuators/station.py",
        "if not isinstance(part, bytes):",
        "if part is None:",
        ("conformance/test_every_driver.py",),
    ),
    Break(
        "the control word is written before the set-points",
        "actuators/register_map.py",
        "return sorted(found, key=lambda one: one.rank)",
        "return sorted(found, key=lambda one: -one.rank)",
        (f"{_MAP}::test_a_cycle_is_written_before_it_is_read_and_the_control_word_last",),
    ),
    Break(
        "a coil that is active low is not",
        "actuators/control_word.py",
        ") ^ self._signals.low,",
        "),",
        (f"{_MAP}::test_coils_say_what_bits_say",),
    ),
    Break(
        "the twin takes a parameter while it runs",
        "actuators/virtual/mapped_servo.py",
        "                raise RegisterError(DEVICE_FAILURE)  # a started drive does not take a parameter",
        "                pass",
        (f"{_MAP}::test_somebody_elses_client_finds_the_drive_that_the_profile_describes",),
    ),
    Break(
        "bits that two entries have are not named",
        "actuators/profile.py",
        "            if not self._same_place(signal, status):",
        "            if False:",
        (f"{_MAP}::test_a_wrong_profile_is_named",),
    ),
]

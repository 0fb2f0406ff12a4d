"""Devices that are slower than the cycle."""

from breaks import Break

_SLOW = "rig/test_sampling.py"
_DRIVE = "actuators/test_servo_cycle.py"

SAMPLING_BREAKS = [
    Break(
        "a slow drive that is not asked counts as silent",
        "rig/engine/drive_group.py",
        "return self._drive(leg).overdue",
        "return self.fresh[leg] == 0.0",
        (f"{_SLOW}::test_a_silent_one_of_slow_drives_refuses_to_be_engaged",),
    ),
    Break(
        "what a slow drive has not heard waits for its time",
        "actuators/drive.py",
        "            self._answered_fields = self._urgent_fields\n",
        "",
        (f"{_DRIVE}::test_a_slow_drive_is_told_at_once_to_stop",),
    ),
    Break(
        "a lost stop is not said again",
        "actuators/drive.py",
        "urgent = self._urgent_fields != self._answered_fields",
        "urgent, self._answered_fields = self._urgent_fields != self._answered_fields, self._urgent_fields",
        (f"{_DRIVE}::test_a_slow_drive_is_told_again_in_the_next_cycle_what_it_has_not_answered",),
    ),
    Break(
        "late replies between the questions to six drives are added up",
        "rig/engine/operator.py",
        "            job.waited = 0",
        "            job.waited += 0",
        ("rig/test_engine_guards.py::test_late_replies_between_the_questions_to_six_drives_are_not_added_up",),
    ),
    Break(
        "the loop of slow drives is judged at the engine's rate",
        "rig/config/rig_config.py",
        "return max(self.period, self.drives.sample_period)",
        "return self.period",
        (f"{_SLOW}::test_a_drive_is_told_what_holds_until_it_is_asked_again",),
    ),
    Break(
        "slow drives that were not asked are silent beside one that is",
        "rig/safety/drive_checks.py",
        " and min(age) >= self._sample_period",
        "",
        (f"{_SLOW}::test_slow_drives_that_were_not_asked_are_not_counted_as_silent_beside_one_that_is",),
    ),
    Break(
        "a time without feedback may be shorter than the drives' own",
        "rig/config/conflicts.py",
        "if borne is not None and borne < least:",
        "if borne is not None and borne < config.period:",
        (f"{_SLOW}::test_the_bound_may_be_given_in_seconds_or_in_cycles",),
    ),
    Break(
        "a leg is off its path where its slow drive was not asked",
        "rig/engine/laws/single_leg.py",
        "if not self._drives.fresh[self._leg]:",
        "if False:",
        ("rig/test_commissioning_leg.py::test_a_leg_with_a_slow_drive_passes",),
    ),
]

"""Whether the drives are those that the rig means, and kept what they were told."""

from breaks import Break

_VERIFIED = "integration/test_verified_drives.py"
_EXCHANGED = "integration/test_exchanged_drives.py"

IDENTITY_BREAKS = [
    Break(
        "another drive in place of the one connected to is engaged",
        "rig/engine/bank.py",
        "if now != before:",
        "if False:",
        (f"{_VERIFIED}::test_another_drive_in_place_of_the_one_connected_to",),
    ),
    Break(
        "a watchdog that was changed meanwhile is engaged on",
        "actuators/servo.py",
        '        self._confirm_watchdog(timeout, "does no more have")\n',
        "",
        (f"{_VERIFIED}::test_a_watchdog_that_another_master_changed",),
    ),
    Break(
        "one drive is asked in place of six",
        "rig/engine/operator.py",
        "return job.verified == len(engine.bank.status)",
        "return True",
        (f"{_VERIFIED}::test_between_two_cycles_one_drive_is_asked", _VERIFIED),
    ),
    Break(
        "drives are asked faster than one a cycle",
        "rig/engine/operator.py",
        "if job.asked_in != engine.cycles:",
        "if True:",
        (f"{_VERIFIED}::test_between_two_cycles_one_drive_is_asked",),
    ),
    Break(
        "drives at each other's address are not told by the forces",
        "rig/safety/exchanged_drives.py",
        "if misfit[0] > _EXCLUDED and best <= _BORNE:",
        "if False:",
        (_EXCHANGED,),
    ),
]

"""Whether the drives are those that the rig means, and kept what they were told."""

from breaks import Break

_VERIFIED = "integration/test_verified_drives.py"
_PROVEN = "integration/test_proven_wiring.py"
_EXCHANGED = "integration/test_wiring_check.py"
_IN_MOTION = "integration/test_swap_detection.py"
_CROSSED = "integration/test_crossed_wiring.py"
_ASKED = "rig/test_commissioning_probe.py"
_COMMISSIONED = "conformance/test_commissioning.py"

IDENTITY_BREAKS = [
    Break(
        "another drive in place of the one connected to is engaged",
        "rig/engine/drive_group.py",
        "if now != before:",
        "if False:",
        (f"{_VERIFIED}::test_another_drive_in_place_of_the_one_connected_to",),
    ),
    Break(
        "a watchdog that was changed meanwhile is engaged on",
        "actuators/modbus_servo.py",
        '        self._confirm_watchdog(timeout, "does no more have")\n',
        "",
        (f"{_VERIFIED}::test_a_watchdog_that_another_master_changed",),
    ),
    Break(
        "one drive is asked in place of six",
        "rig/engine/operator.py",
        "return job.verified == len(engine.drives.status)",
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
        "rig/safety/wiring_check.py",
        "if misfit[0] > _EXCLUDED and best <= _ACCEPTED:",
        "if False:",
        (_EXCHANGED,),
    ),
    Break(
        "a leg's test counts for whatever drive answers now",
        "rig/engine/wiring.py",
        " or entry.serial != serial:",
        ":",
        (f"{_PROVEN}::test_a_leg_that_was_tested_and_seen_counts_as_long_as_it_is_wired_so",),
    ),
    Break(
        "a leg's test counts for every wiring",
        "rig/engine/wiring.py",
        " or entry.wiring != wirings[leg - 1]",
        "",
        (f"{_PROVEN}::test_a_leg_that_was_tested_and_seen_counts_as_long_as_it_is_wired_so",),
    ),
    Break(
        "a test that did not pass is put on record",
        "rig/engine/wiring.py",
        "if not result.passed:",
        "if False:",
        (f"{_PROVEN}::test_what_is_no_record_proves_nothing",),
    ),
    Break(
        "a virtual rig whose cables are crossed passes for one that is wired as it says",
        "rig/engine/wiring.py",
        "config.virtual is not None and not any(fault.fault in _CROSSING for fault in config.virtual.faults)",
        "config.virtual is not None",
        (f"{_PROVEN}::test_the_first_motion_asks_for_the_legs_tests_and_goes_on_the_operators_word",),
    ),
    Break(
        "what is proven is not looked at as the drives are connected",
        "rig/engine/operator.py",
        "engine.runtime_info.unproven = unproven(engine.config, engine.drives.serials)",
        "pass",
        (f"{_PROVEN}::test_the_first_motion_asks_for_the_legs_tests_and_goes_on_the_operators_word",),
    ),
    Break(
        "homing on the operator's word is not recorded",
        "rig/engine/operator.py",
        "if command.unproven and lacking is not None:",
        "if False:",
        (f"{_PROVEN}::test_the_first_motion_asks_for_the_legs_tests_and_goes_on_the_operators_word",),
    ),
    Break(
        "a fault in motion is not looked into for an exchange",
        "rig/engine/core.py",
        "self._search.begin(self._exchange.at_home)",
        "pass",
        (f"{_IN_MOTION}::test_run_on_the_operators_word_it_is_named_and_homing_refused",),
    ),
    Break(
        "a motion without a fault is not looked into for an exchange",
        "rig/engine/core.py",
        "if before in LAW_STATES and not self._proven_by_construction:",
        "if False:",
        (f"{_IN_MOTION}::test_after_a_small_motion_they_are_found_once_parked",),
    ),
    Break(
        "legs that are named are homed all the same",
        "rig/engine/core.py",
        "self.runtime_info.unproven = Unproven(tuple(legs), exchanged)",
        "pass",
        (f"{_IN_MOTION}::test_run_on_the_operators_word_it_is_named_and_homing_refused",),
    ),
    Break(
        "something is named whatever was measured",
        "rig/safety/wiring_check.py",
        "if not best <= min(_FITS * measured.size, _EXPLAINS * least, least - _BETTER):\n",
        "if True:\n            yield (found[0][1],)\n            return\n        if False:\n",
        (f"{_IN_MOTION}::test_what_else_is_wrong_is_nobodys_exchange",),
    ),
    Break(
        "load cells of an amplifier are taken to be wired to the drives",
        "rig/safety/wiring_check.py",
        "                yield None\n            if self._own_cells:",
        "                yield None\n            if True:",
        (f"{_IN_MOTION}::test_run_on_the_operators_word_it_is_named_and_homing_refused",),
    ),
    Break(
        "load cells that are exchanged are taken for drives at rest",
        "rig/safety/wiring_check.py",
        "((False, drives), (True, cells))",
        "((False, drives),)",
        (f"{_EXCHANGED}::test_load_cells_that_are_exchanged_are_not_taken_for_drives",),
    ),
    Break(
        "legs that home at each other's length are not named",
        "rig/engine/homing.py",
        "if len(off) == 2 and",
        "if False and",
        ("rig/test_engine_parts.py::test_references_must_agree_with_the_forward_kinematics",),
    ),
    Break(
        "cells that read each other's force at rest are not named",
        "rig/engine/tare.py",
        "return (one, other) if alike else None",
        "return None",
        (f"{_CROSSED}::test_two_legs_exchanged_are_found_before_the_first_motion_or_named",),
    ),
    Break(
        "tests of before an exchange stay on record",
        "rig/engine/core.py",
        "strike_from_record(self.config, *legs)",
        "pass",
        (f"{_CROSSED}::test_tests_of_before_an_exchange_are_taken_off_the_record",),
    ),
    Break(
        "a run that ends in a fault does not wait for who is exchanged",
        "rig/client/lifecycle.py",
        "lacking = _compared(rig).unproven",
        "lacking = rig.status().unproven",
        (f"{_CROSSED}::test_tests_of_before_an_exchange_are_taken_off_the_record",),
    ),
    Break(
        "a run without a fault does not wait for who is exchanged",
        "rig/client/lifecycle.py",
        "refuse_fault(_compared(rig))",
        "pass",
        (f"{_CROSSED}::test_two_legs_exchanged_are_found_before_the_first_motion_or_named",),
    ),
    Break(
        "one drive that answers for several legs is taken for several",
        "rig/commissioning/probe.py",
        "found.append(leg)",
        "pass",
        (f"{_ASKED}::test_a_drive_that_answers_under_every_unit_id_is_distinguished_from_six",),
    ),
    Break(
        "an answer under unit ids that no leg has is nothing",
        "rig/commissioning/probe.py",
        "if units and all(",
        "if False and all(",
        (f"{_ASKED}::test_without_a_watchdog_it_is_distinguished_by_unit_ids_that_no_leg_has",),
    ),
    Break(
        "a watchdog time that was written for the comparison stays",
        "rig/commissioning/probe.py",
        "                _set_watchdog(first, addresses[first], usual)",
        "                pass",
        (f"{_ASKED}::test_a_drive_that_answers_under_every_unit_id_is_distinguished_from_six",),
    ),
    Break(
        "a leg of an impossible length passes the set-up",
        "rig/commissioning/probe.py",
        "if low <= length <= high:",
        "if True:",
        (f"{_ASKED}::test_a_homed_leg_outside_the_mechanisms_range_is_named_with_what_would_fit",),
    ),
    Break(
        "a configuration is written whose loop is unstable",
        "rig/services/setting_up.py",
        "return replace(draft, gains=(stiffness, damping))",
        "return draft",
        (f"{_COMMISSIONED}::test_from_the_addresses_to_a_run_by_the_commands_alone",),
    ),
    Break(
        "bounds that a driver states are not taken",
        "rig/config/rig_config.py",
        "        config = _with_bounds_of_drives(config, given)\n",
        "",
        (f"{_COMMISSIONED}::test_from_the_addresses_to_a_run_by_the_commands_alone",),
    ),
    Break(
        "a profile is overwritten by the configuration that names it",
        "rig/services/setting_up.py",
        "if Path(given).exists() and output.exists() and output.samefile(given):",
        "if False:",
        ("rig/test_services.py::test_a_configuration_is_written_and_its_drives_are_asked",),
    ),
]

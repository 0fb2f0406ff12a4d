"""The guards of what operators ask for, and the last look at what the drives are told."""

from breaks import Break

_OPERATOR = "rig/test_engine_operator.py"
_GUARDS = "rig/test_engine_guards.py"
_DOUBTS = "rig/test_engine_doubts.py"
_LEASE = "rig/test_engine_lease.py"
_STATES = f"{_OPERATOR}::test_every_state_takes_its_own_commands_and_no_other"
_BAD = f"{_OPERATOR}::test_motions_outside_the_limits_are_refused"


def _guard(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/operator.py", old, new, tests)


def _command(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/command_arbiter.py", old, new, tests)


_LEG = "rig/test_commissioning_leg.py"
_STOPS = "rig/test_commissioning_leg_stops.py"


def _leg(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/laws/single_leg.py", old, new, tests)


_LAWS = "rig/test_engine_control.py"
_BEGINS = f"{_LAWS}::test_an_observer_begins_anew_with_each_command_and_bears_a_cycle_that_is_missing"


def _observer(name: str, old: str, new: str) -> Break:
    return Break(name, "rig/engine/laws/observer.py", old, new, (_BEGINS,))


COMMAND_BREAKS = [
    Break(
        "an observer sees a cycle twice",
        "rig/engine/laws/observer.py",
        "if self._observed != self._cycle:",
        "if True:",
        (f"{_LAWS}::test_an_observer_sees_a_cycle_once_that_is_computed_twice",),
    ),
    _observer("an observer keeps what it found before", "if self._observed != self._cycle - 1:", "if False:"),
    _observer("an observer takes a gap for a cycle", "elif cycle.elapsed > self._longest:", "elif False:"),
    _observer("an observer goes on without a model", "if status != 0:", "if False:"),
    Break(
        "an observer keeps forces that were not sent",
        "rig/engine/laws/observer.py",
        "note_command_kernel(cycle.set_points.force, self._memory)",
        "pass",
        (f"{_LAWS}::test_the_closed_loop_follows_and_returns_after_a_push",),
    ),
    Break(
        "an observer's margin is that of a right model",
        "rig/safety/stability.py",
        "_MASS_ERRORS = np.array([0.8, 1.0, 1.2])",
        "_MASS_ERRORS = np.array([1.0, 1.0, 1.0])",
        ("rig/test_stability.py::test_an_observer_is_judged_with_masses_that_the_model_does_not_have",),
    ),
    _leg(
        "a leg that strays goes on under its drive's quick stop",
        "following_error_stop = StopSeverity.CATEGORY_0",
        "following_error_stop = StopSeverity.CATEGORY_1",
        f"{_LEG}::test_a_leg_that_strays_on_its_way_or_where_it_is_held_loses_its_torque_at_once",
    ),
    Break(
        "a drive follows a length beyond its leg's limits",
        "rig/engine/supervision.py",
        "if not beyond.any():",
        "if True:",
        (f"{_LEG}::test_a_set_point_beyond_the_legs_limits_is_never_commanded",),
    ),
    Break(
        "forces that the drives make by themselves have no bound",
        "rig/engine/supervision.py",
        "elif self.controlled and any(self.law.own_loops):",
        "elif False:",
        (
            "rig/test_engine_control.py::test_a_measured_force_beyond_the_legs_limit_stops_drives_that_hold_the_position",
        ),
    ),
    Break(
        "drives that hold the position push on against a cell at its end of scale",
        "rig/engine/supervision.py",
        "scale = math.inf if self.law.platform else",
        "scale =",
        ("rig/test_engine_control.py::test_a_reading_beyond_the_cells_scale_stops_drives_that_hold_the_position",),
    ),
    Break(
        "a dead cell hides another leg's force",
        "rig/safety/measured_bounds.py",
        "< abs(value[i]) < end:",
        "< abs(value[i]):",
        ("rig/test_engine_control.py::test_a_dead_cell_does_not_hide_the_force_of_another_leg",),
    ),
    Break(
        "a cell at its end of scale is one to home with",
        "rig/engine/core.py",
        "force[leg], self._cell_range)",
        "force[leg], math.inf)",
        ("rig/test_engine_control.py::test_the_guard_says_what_a_cell_at_its_end_of_scale_reads",),
    ),
    _leg(
        "another leg may move along",
        "if self._others[other] > OTHER_MOVED:",
        "if False:",
        f"{_LEG}::test_another_legs_encoder_that_moves_along_stops_the_test",
    ),
    _leg(
        "a leg moved alone may leave its path",
        "if error > self._following_bound:",
        "if False:",
        f"{_LEG}::test_what_is_wrong_with_the_leg_is_said_and_it_is_stopped",
    ),
    _leg(
        "the encoder of a leg moved alone is not judged",
        "self.commanded[leg] = 1.0",
        "self.commanded[leg] = 0.0",
        f"{_LEG}::test_what_is_wrong_with_the_leg_is_said_and_it_is_stopped",
    ),
    Break(
        "a stop of one leg tells the others to stop",
        "rig/engine/command_arbiter.py",
        "COMMAND_STOP if before.enable else COMMAND_OFF for before",
        "COMMAND_STOP for before",
        (f"{_STOPS}::test_a_stop_brings_the_leg_to_rest_by_its_drive",),
    ),
    Break(
        "a leg without a reference is moved",
        "rig/engine/operator.py",
        "if not move.home:",
        "if False:",
        (f"{_LEG}::test_a_leg_without_a_reference_is_not_moved_unasked",),
    ),
    _guard("a job outlives its lease", "if job.lapsed:", "if False:", _LEASE),
    _guard(
        "a stop meanwhile does not keep a command from being carried out",
        "if job.moves and engine.machine.stops != job.stops:",
        "if False:",
        f"{_GUARDS}::test_engaging_waits_for_a_late_reply_but_not_for_long_nor_after_a_stop",
        "rig/test_engine_trouble.py::test_a_motion_is_not_begun_that_was_stopped_while_it_was_checked",
        _GUARDS,
    ),
    _guard(
        "a command waits for a reply for ever",
        "if found.passing and job.waited < self._patience(command):",
        "if found.passing:",
        f"{_GUARDS}::test_feedback_that_stays_incomplete_refuses_a_motion_after_the_cycles_that_are_borne",
        _GUARDS,
    ),
    Break(
        "the cells' zero may have shifted",
        "rig/engine/tare.py",
        "if abs(shift[leg]) <= bound:",
        "if True:",
        (f"{_GUARDS}::test_a_shifted_zero_of_a_cell_keeps_the_rig_from_engaging",),
    ),
    _guard(
        "home is engaged in place of the measured pose",
        "engine.reference.hold(engine.cycle_data.measurement.pose)",
        "engine.reference.hold(engine.config.machine.geometry.home_pose)",
        f"{_DOUBTS}::test_engaging_away_from_home_holds_the_pose_that_is_measured",
    ),
    Break("a motion of one row is followed", "rig/engine/checking.py", "if len(array) < 2:", "if False:", (_BAD,)),
    Break(
        "a table of another shape is followed",
        "rig/engine/checking.py",
        "if array.ndim != 2 or array.shape[1] != 18:",
        "if False:",
        (_BAD, "rig/test_engine_link.py::test_a_table_that_is_none_is_refused_before_it_is_sent"),
    ),
    _guard(
        "a motion is not checked",
        "        table = received_table(command.step, samples)\n        found = self._check(table)",
        "        table = received_table(command.step, samples)\n        found = None",
        _BAD,
    ),
    _guard("a motion may start elsewhere", "if not distance.max() <= START_DISTANCE:", "if False:", _BAD),
    _guard(
        "the way home is not checked",
        "        if found is not None:\n            raise RefusedError(Finding(Code.WAY_HOME",
        "        if False:\n            raise RefusedError(Finding(Code.WAY_HOME",
        "integration/test_own_moves.py",
    ),
    _guard(
        "a watchdog lost since connecting is not set again before homing",
        "        engine.drives.configure()\n        engine.enter(State.HOMING)",
        "        engine.enter(State.HOMING)",
        "integration/test_feedback_faults.py::test_a_drive_that_restarts_takes_the_homing_with_it_and_gets_its_watchdog_back",
    ),
    _command(
        "a force that is no number is sent",
        "if judged & _NOT_FINITE:",
        "if False:",
        f"{_DOUBTS}::test_a_force_that_is_no_number_is_never_sent",
    ),
    _command(
        "a force beyond its limit stops nothing",
        "if judged & _BEYOND:",
        "if False:",
        f"{_DOUBTS}::test_a_force_beyond_its_limit_is_held_to_it_and_stops_the_rig",
    ),
    _command(
        "a force beyond its limit is sent",
        "np.clip(force, -self._force_bound, self._force_bound, out=force)",
        "pass",
        f"{_DOUBTS}::test_a_force_beyond_its_limit_is_held_to_it_and_stops_the_rig",
    ),
    _command(
        "a quick stop is not commanded",
        "[COMMAND_STOP if before.enable else COMMAND_OFF for",
        "[COMMAND_OFF for",
        "rig/test_engine_resets.py::test_a_quick_stop_reaches_every_leg_in_the_cycle_of_its_cause",
    ),
    Break(
        "a fast way is taken beyond the legs' limits",
        "rig/engine/point_to_point.py",
        "return MotionTable(table.step * slowness, table.samples)",
        "return table",
        ("integration/test_own_moves.py",),
    ),
    Break(
        "drives are connected to without being configured",
        "rig/engine/drive_group.py",
        "faults = self._unconfigured() or self._settle()",
        "faults = self._settle()",
        (f"{_DOUBTS}::test_connecting_sets_every_drives_watchdog",),
    ),
    Break(
        "a drive that cannot take forces is connected to",
        "rig/engine/drive_group.py",
        "if leg in lacking:",
        "if False:",
        ("rig/test_engine_parts.py::test_a_drive_that_cannot_take_forces_is_refused",),
    ),
]

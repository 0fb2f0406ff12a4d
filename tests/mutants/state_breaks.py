"""States, stops and their causes; what stops the rig by itself; the loop that keeps the time."""

from breaks import Break

_MACHINE = "rig/test_engine_machine.py"
_RESETS = "rig/test_engine_resets.py"
_FAULTS = "integration/test_feedback_faults.py"
_FORCES = "integration/test_force_and_host_faults.py"
_LAST_GOOD = "integration/test_last_good_reference.py"
_SOURCES = "integration/test_reference_source.py"
_LOOP = "rig/test_engine_loop.py"
_WATCH = "rig/test_engine_watch.py"
_BRAKES = "            self._act(Trip(_of_source(cause, source), StopSeverity.CATEGORY_2))\n            braking.brake("


def _machine(name: str, old: str, new: str) -> Break:
    return Break(name, "rig/safety/machine.py", old, new, (_MACHINE,))


def _supervision(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/supervision.py", old, new, tests)


def _core(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/core.py", old, new, tests)


def _watch(name: str, old: str, new: str) -> Break:
    return Break(name, "rig/engine/loop.py", old, new, (_WATCH,))


def _loop(name: str, old: str, new: str) -> Break:
    return Break(name, "rig/engine/loop.py", old, new, (_LOOP,))


def _ticker(name: str, old: str, new: str) -> Break:
    return Break(name, "rig/runtime/ticker.py", old, new, (_LOOP,))


STATE_BREAKS = [
    _machine("a later cause takes the place of the first", "if latch and not self.latched:", "if latch:"),
    _machine("a stop may become milder", "if category > self.stop:", "if category != self.stop:"),
    _machine(
        "a stop while homing is not the drives' own",
        "if self.state in DRIVE_STATES and category is not StopSeverity.CATEGORY_0:",
        "if False:",
    ),
    _machine(
        "a latched cause without torque is no fault",
        "if changed and self.state is not State.FAULT:",
        "if False:",
    ),
    _machine(
        "what an operator's stop began hides a fault", "changed = True\n        else:", "changed = False\n        else:"
    ),
    _machine(
        "homing may take for ever",
        "if self.state is _HOMING and now.t - self._entered > self.deadlines.homing:",
        "if False:",
    ),
    _machine(
        "engaging may take for ever",
        "elif now.t - self._entered > self.deadlines.engage + self.deadlines.settle:",
        "elif False:",
    ),
    _machine(
        "the rig is engaged before every drive has torque",
        "if len(now.torque) == len(LEGS) and self._settled(now):",
        "if self._settled(now):",
    ),
    _machine(
        "the rig parks before it stands",
        "(not now.moving and self._settled(now))",
        "not now.moving",
    ),
    _machine(
        "a fault that holds is left by itself",
        "                if not self.latched:\n                    self.enter(State.ENGAGED",
        "                if True:\n                    self.enter(State.ENGAGED",
    ),
    _machine(
        "a category 2 stop may be late",
        "                return Cause(Finding(Code.STOP_2_OVERDUE, bound=self.deadlines.stop), now.t)",
        "                return None",
    ),
    _machine(
        "a category 1 stop may be late",
        "                return Cause(Finding(Code.STOP_1_OVERDUE, bound=self.deadlines.stop), now.t)",
        "                return None",
    ),
    _machine(
        "the drives' quick stop may be late",
        "                return Cause(Finding(Code.QUICK_STOP_OVERDUE, bound=self.deadlines.stop), now.t)",
        "                return None",
    ),
    _machine(
        "torque may stay on after a stop",
        "            return Cause(at_legs(Code.TORQUE_OFF_OVERDUE, now.torque,"
        " bound=self.deadlines.torque_off), now.t)",
        "            return None",
    ),
    _machine(
        "a quick stop ends with torque",
        "if not now.torque and self._settled(now):",
        "if self._settled(now):",
    ),
    _machine(
        "a stop for a fault ends parked",
        "        if self.latched:\n            self.enter(State.FAULT, t)",
        "        if False:\n            self.enter(State.FAULT, t)",
    ),
    _machine(
        "standing still for an instant counts as rest",
        "return now.t - self._rest_since >= self.deadlines.settle",
        "return True",
    ),
    _supervision(
        "a host that stood still goes on",
        "if missed * self._config.period > watchdog:",
        "if False:",
        f"{_FORCES}::test_a_host_that_stood_still_finds_the_plant_stopped_and_goes_to_fault",
    ),
    _supervision(
        "overruns may go on for ever",
        "elif self._overruns_in_a_row >= bound:",
        "elif False:",
        f"{_FORCES}::test_overruns_in_a_row_are_a_controlled_stop",
    ),
    _supervision(
        "single overruns add up",
        "            self._overruns_in_a_row = 0\n            return",
        "            return",
        f"{_FORCES}::test_single_overruns_are_skipped_and_counted",
    ),
    _supervision(
        "a restart behind another fault leaves the rig homed",
        "            self._machine.homed = False\n",
        "            pass\n",
        f"{_RESETS}::test_a_restart_clears_homed_even_behind_another_fault",
        f"{_RESETS}::test_a_drive_that_restarts_while_a_fault_is_latched_clears_homed",
        f"{_RESETS}::test_a_drive_without_a_reference_clears_homed_although_its_length_stays",
    ),
    _supervision(
        "lengths need belong to no pose",
        "if machine.homed and not self._cycle.measurement.pose_valid and drives.fresh.all():",
        "if False:",
        "rig/test_engine_doubts.py::test_lengths_that_belong_to_no_pose_are_a_quick_stop",
    ),
    _supervision(
        "the reference is not checked while it is followed",
        f"        if cause is not None:\n{_BRAKES}",
        f"        if False:\n{_BRAKES}",
        "rig/test_engine_doubts.py::test_a_reference_is_judged_in_every_cycle_that_follows_it",
        _LAST_GOOD,
    ),
    _supervision(
        "a reference that breaks a limit is followed on",
        "            braking.brake(source, t)\n            followed.evaluate(source, self._cycle.measurement)",
        "            pass",
        _LAST_GOOD,
    ),
    _supervision(
        "a reference ahead that breaks a limit is commanded",
        "            self._act(Trip(_of_source(cause, source), StopSeverity.CATEGORY_2))\n"
        "            self._braking.brake(source, t)",
        "            pass",
        _LAST_GOOD,
    ),
    Break(
        "a reference ahead that steps is commanded",
        "rig/engine/cycle_data.py",
        "data.legs_ahead[:], limits, condition, condition_bound, data.legs[:], allowed, elapsed",
        "data.legs_ahead[:], limits, condition, condition_bound, data.legs[:], allowed, -1.0",
        (f"{_SOURCES}::test_a_source_that_steps_is_left_at_its_last_good_reference",),
    ),
    Break(
        "a reference that does not follow on the one before is followed on",
        "rig/engine/braking.py",
        "t - self._since if self._known else -1.0",
        "-1.0",
        (f"{_SOURCES}::test_a_source_that_changes_its_mind_between_cycles_is_left_too",),
    ),
    _supervision(
        "a motion goes on without a recording",
        "if fault and self._machine.state is State.RUNNING:",
        "if False:",
        f"{_FORCES}::test_a_recording_that_fails_holds_the_platform_and_lets_it_park",
    ),
    _supervision(
        "a recording that fails is not said",
        "elif fault and not self._unrecorded:",
        "elif False:",
        "rig/test_engine_guards.py::test_a_recording_that_fails_is_said_once_in_every_state",
    ),
    _core(
        "a model without an answer stops nothing",
        "            self.trip(no_model(t, error))",
        "            pass",
        "rig/test_engine_doubts.py",
    ),
    _core(
        "forces are sent on in the cycle that finds a fault",
        "self._commander.passive()  # no force is sent any more, not even the one computed",
        "pass",
        "rig/test_engine_doubts.py::test_forces_computed_before_a_stop_are_not_sent_after_it",
    ),
    _core(
        "a quick stop waits for the next cycle",
        "if machine.stop > severity and machine.stop >= _QUICK_STOP:",
        "if False:",
        f"{_RESETS}::test_a_quick_stop_reaches_every_leg_in_the_cycle_of_its_cause",
    ),
    _core(
        "a controlled stop does not slow down",
        "self.reference.decelerate(self._stop_ramps)",
        "pass",
        "rig/test_engine_operator.py::test_a_stop_from_any_motion",
    ),
    _core(
        "a stop that is late becomes no harder one",
        "self.trip(Trip(overdue, StopSeverity.CATEGORY_0 if late else StopSeverity.CATEGORY_1))",
        "self.trip(Trip(overdue, StopSeverity.CATEGORY_1))",
        "rig/test_engine_doubts.py",
    ),
    _core(
        "references found are not compared with the forward kinematics",
        "            self.trip(Trip(cause, StopSeverity.QUICK_STOP))\n            return",
        "            pass",
        f"{_RESETS}::test_references_that_disagree_are_a_fault",
    ),
    _core(
        "what took the homing leaves the rig homed",
        "        if trip.unhome:\n            self.machine.homed = False",
        "        if False:\n            self.machine.homed = False",
        f"{_FAULTS}::test_an_encoder_that_jumps_takes_the_homing_with_it",
    ),
    _core(
        "a homing is kept over a reconnection",
        '"""The drives were connected: OFF → IDLE."""\n        self.machine.homed = False',
        '"""The drives were connected: OFF → IDLE."""',
        "rig/test_engine_doubts.py::test_a_homing_is_forgotten_when_the_drives_were_left",
    ),
    _core(
        "a new homing keeps the old one meanwhile",
        "            self.machine.homed = False\n        if state is State.HOMING:",
        "            pass\n        if state is State.HOMING:",
        f"{_RESETS}::test_homing_again_searches_again",
        _RESETS,
    ),
    Break(
        "a reset does not ask the causes",
        "rig/engine/fault_reset.py",
        "*(recheck() for recheck in self._causes.values())",
        "",
        ("integration/test_reset_causes.py",),
    ),
    Break(
        "a reset does not look at the drives",
        "rig/engine/fault_reset.py",
        "found = [*drives.troubles(), ",
        "found = [",
        ("rig/test_engine_doubts.py::test_no_reset_while_a_drive_is_silent",),
    ),
    Break(
        "a reset sends no clearing edge",
        "rig/engine/fault_reset.py",
        "return _CYCLES < self._left <= 2 * _CYCLES",
        "return False",
        (
            f"{_FAULTS}::test_when_writes_stop_the_drives_stop_by_their_own_watchdog",
            f"{_FAULTS}::test_the_link_returns_and_the_rig_stays_in_fault",
            _RESETS,
        ),
    ),
    _watch(
        "a silent client keeps the lease",
        "elif self._watchdog.lost(lease, t, t - self._beat_at, bound):",
        "elif False:",
    ),
    _watch("a link that failed keeps its lease", "if lease is not None and not self.link.alive:", "if False:"),
    _watch(
        "a motion goes on without a lease",
        "                self._hold(Finding(Code.NO_COMMAND_LEASE), t)",
        "                pass",
    ),
    Break(
        "a motion goes on under another's lease",
        "rig/engine/loop.py",
        "elif begun_under is not None and not begun_under.active:",
        "elif False:",
        ("rig/test_engine_lease.py", _WATCH),
    ),
    _watch("an unattended platform is held for ever", "if unattended and left < 0.0:", "if False:"),
    _watch("an engine outlives its owner", "if not self.orphaned and owner_gone(self.owner):", "if False:"),
    _watch(
        "an engine with torque ends with its owner",
        "return not now.powered and (self._stopped or now.state not in TORQUE_STATES)",
        "return True",
    ),
    _watch(
        "an engine ends while a drive that does not switch off has torque",
        "return not now.powered and (self._stopped or",
        "return (self._stopped or",
    ),
    _watch("an engine that is told to end leaves the drives as they are", "StopSeverity.QUICK_STOP, latch", "0, latch"),
    _ticker("skipped cycles are caught up in a burst", "self._deadline + skipped *", "self._deadline + 0.0 *"),
    _ticker("skipped cycles are not counted", "self._overruns += skipped", "self._overruns += 0"),
    _ticker(
        "the loop goes by the wall clock",
        "begun, begun_before = time.monotonic(), self._begun",
        "begun, begun_before = time.time(), self._begun",
    ),
    _loop("talking to the drives counts as overruns", "if operator.reconnected:", "if False:"),
    _loop("a pause in the cycles is the drives' silence", "engine.drives.resume()", "pass"),
    _loop(
        "an engine that fails enables drives without torque",
        "COMMAND_STOP if had_torque else COMMAND_OFF",
        "COMMAND_STOP",
    ),
    _loop("an engine that fails leaves the drives alone", "for _ in range(_LAST_WORDS):", "for _ in range(0):"),
    Break(
        "a command is a skipped cycle too old",
        "rig/engine/core.py",
        "if missed and severity < _QUICK_STOP:",
        "if False:",
        ("rig/test_skipped_cycles.py",),
    ),
    Break(
        "the model takes the command after a skipped cycle for an old one",
        "rig/engine/command_arbiter.py",
        "        self._cycle.model.zero_order_hold.skip(skipped, lengthened)\n",
        "",
        ("rig/test_skipped_cycles.py",),
    ),
    Break(
        "the model has a drive that takes no speed go on at the commanded one",
        "rig/engine/zero_order_hold.py",
        "if legs[_WAITING, i] != 0.0:",
        "if False:",
        ("rig/test_skipped_cycles.py",),
    ),
    Break(
        "the model takes a length that waited for skipped cycles for one of now",
        "rig/engine/zero_order_hold.py",
        "command[_BEYOND_REFERENCE, i] = lengthened[i] - moved",
        "command[_BEYOND_REFERENCE, i] = 0.0",
        ("rig/test_skipped_cycles.py",),
    ),
    Break(
        "a drive that makes up for skipped time by itself is sent a later length",
        "rig/engine/command_arbiter.py",
        "command.velocity if on and command.mode is Mode.POSITION else 0.0",
        "command.velocity if command.mode is Mode.POSITION else 0.0",
        ("rig/test_skipped_cycles.py",),
    ),
    _loop("an engine that fails leaves outputs at drives on", "        drives.io.off()", "        pass"),
    _loop(
        "a driver's own error keeps the last commands from the drives",
        "contextlib.suppress(Exception)",
        "contextlib.suppress()",
    ),
    Break(
        "the stop flag is not looked at",
        "rig/engine/loop.py",
        "if requested is not None:",
        "if False:",
        (_LOOP,),
    ),
    Break(
        "a reference that is lost while a stop is sent counts a cycle later",
        "rig/engine/core.py",
        "            supervision.references()\n",
        "",
        ("rig/test_engine_doubts.py::test_a_reference_that_is_lost_while_a_stop_is_sent_is_lost_in_that_cycle",),
    ),
]

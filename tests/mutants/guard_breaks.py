"""The guards, each taken from each command that has it, and the snapshot that they judge by."""

from breaks import Break

_GUARDS = "rig/engine/guards.py"
_OBSTACLES = "rig/test_engine_obstacles.py"
_SNAPSHOT = "rig/test_engine_snapshot.py"
_AMISS = f"{_OBSTACLES}::test_what_is_amiss_stands_against_a_command"
_APP = "gui/test_rules_and_engine.py"
_NEEDED = {
    "Disconnect": ("_torque_goes",),
    "Home": (
        "_circuits_closed", "_proven", "_carried", "_fresh", "_recorded", "_cells_fresh", "_cells_alive", "_torque_off",
    ),
    "MoveLeg": ("_circuits_closed", "_carried", "_fresh", "_recorded", "_torque_off"),
    "Engage": (
        "_circuits_closed", "_homed", "_stable", "_fresh", "_recorded", "_cells_fresh", "_cells_alive", "_tared",
        "_torque_off",
    ),
    "Follow": ("_recorded", "_nothing_paused", "_fresh"),
    "Resume": ("_paused", "_fresh", "_recorded", "_own_lease"),
    "Abandon": ("_paused",),
    "Reset": ("_no_reset_under_way",),
    "Shutdown": ("_torque_gone",),
}  # fmt: skip


def _without(command: str, guard: str) -> Break:
    guards = _NEEDED[command]
    left = [one for one in guards if one != guard]
    old, new = (f"{command}: ({', '.join(names)}{',' * (len(names) == 1)})" for names in (guards, left))
    return Break(f"{command} without {guard}", _GUARDS, old, new, (_AMISS,))


def _guard(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, _GUARDS, old, new, tests or (_OBSTACLES,))


def _core(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/core.py", old, new, tests)


GUARD_BREAKS = [
    *(_without(command, guard) for command, guards in _NEEDED.items() for guard in guards if guard != "_own_lease"),
    _guard("a command is taken in any state", "if state not in STATES_OF[type(command)]:", "if False:"),
    _guard(
        "a rig with torque is shut down", "Shutdown: frozenset(State) - TORQUE_STATES", "Shutdown: frozenset(State)"
    ),
    _guard(
        "only the first thing that is amiss is looked at",
        "        if found is not None:\n            return found\n    return None\n\n\ndef missing",
        "        return found\n    return None\n\n\ndef missing",
    ),
    Break(
        "the engine asks no guard",
        "rig/engine/operator.py",
        "found = obstacle(command, snapshot)",
        "found = None",
        ("rig/test_engine_operator.py::test_every_state_takes_its_own_commands_and_no_other",),
    ),
    Break(
        "the app asks no guard",
        "gui/models/rules.py",
        "return None if found is None or found.passing else found.finding",
        "return None",
        (_APP,),
    ),
    Break(
        "the app is stricter than the engine",
        "gui/models/rules.py",
        "return None if found is None or found.passing else found.finding",
        "return None if found is None else found.finding",
        (_APP,),
    ),
    Break(
        "a stop in answer to lost feedback is given as the reason",
        "rig/engine/operator.py",
        "Finding(Code.STOPPED_MEANWHILE) if lacking is None else",
        "Finding(Code.STOPPED_MEANWHILE) if True else",
        ("rig/test_engine_guards.py::test_without_fresh_feedback_nothing_begins",),
    ),
    _core(
        "a cycle is seen before its row is there",
        "        self.sink.push(cycle.row)\n        self.cycles += 1\n        self._end_cycle()",
        "        self._end_cycle()\n        self.sink.push(cycle.row)\n        self.cycles += 1",
        f"{_SNAPSHOT}::test_a_cycle_is_seen_once_its_row_is_there",
    ),
    _core(
        "without drives nothing is published",
        "            exchanges.forget()\n            self._end_cycle()\n            return",
        "            exchanges.forget()\n            return",
        f"{_SNAPSHOT}::test_without_drives_time_is_published_too",
    ),
    _core(
        "other threads see an old snapshot until something happens",
        "happened != self._happened or self.tick.t >= self._snapshot.t + _FRESH",
        "happened != self._happened",
        f"{_SNAPSHOT}::test_another_thread_sees_what_happens_at_once_and_all_else_soon",
    ),
    _core(
        "other threads see what happens some cycles later",
        "if self._answers or happened != self._happened or",
        "if self._answers or",
        f"{_SNAPSHOT}::test_another_thread_sees_what_happens_at_once_and_all_else_soon",
    ),
    _core(
        "commands are answered before what came of them can be seen",
        "        self._answers.append((reply, answer))",
        "        reply.set_result(answer)",
        f"{_SNAPSHOT}::test_who_has_the_answer_sees_what_came_of_it_in_snapshot_and_telemetry",
    ),
    Break(
        "every snapshot has a list of events of its own",
        "rig/engine/core.py",
        "events=self.events,",
        "events=tuple(list(self.events)),",
        (f"{_SNAPSHOT}::test_a_snapshot_never_changes_and_shares_what_did_not",),
    ),
]

"""Hold-to-run: each way in which a hold is lost, in the engine and at the button."""

from breaks import Break

_RIG = "rig/test_hold_to_run.py"
_HAND = "gui/test_jog_held.py"
_LOSES = f"{_HAND}::test_whatever_takes_it_from_the_hand_lets_go"


def _engine(name: str, old: str, new: str, test: str) -> Break:
    return Break(name, "rig/engine/hold_to_run.py", old, new, (f"{_RIG}::{test}",))


def _button(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "gui/operate/hold_button.py", old, new, tests or (_LOSES,))


HOLD_BREAKS = [
    _engine(
        "what nobody renews goes on",
        "elif t - self._seen_at > self._bound:",
        "elif False:",
        "test_a_hold_that_is_not_renewed_in_time_is_lost_and_said",
    ),
    _engine(
        "what is left of a slow path is taken for its seconds",
        "left > slowing * reference.path_rate:",
        "left > slowing:",
        "test_a_slow_run_that_is_let_go_near_its_end_stands_as_soon_as_any",
    ),
    _engine(
        "what is let go goes on until its deadline",
        "if self._lost or hold_count == 0:",
        "if self._lost:",
        "test_it_moves_while_it_is_held_and_stops_within_the_ramp_of_its_letting_go",
    ),
    _engine(
        "what was let go can be resumed while it slows down",
        "if self._lost and not reference.slowing and left > slowing * reference.path_rate:\n",
        "if self._lost and self._seen and left > slowing:\n                self._seen = 0\n",
        "test_a_let_go_cannot_be_resumed",
    ),
    _engine(
        "what is left of a way can be resumed",
        "            if state is State.ENGAGED and reference.paused:\n",
        "            if False:\n",
        "test_it_moves_while_it_is_held_and_stops_within_the_ramp_of_its_letting_go",
    ),
    _engine(
        "what nobody holds may begin",
        "        if not self._seen:\n",
        "        if False:\n",
        "test_a_motion_that_was_let_go_before_it_began_does_not",
    ),
    _engine(
        "a stop under power leaves the way to be resumed",
        "        elif state is not State.STOPPING:",
        "        else:",
        "test_what_ends_it_otherwise_leaves_nothing_to_be_taken_up",
    ),
    _engine(
        "a way comes to a stand faster than was checked",
        "engine.pause(slowing)",
        "engine.pause()",
        "test_a_longer_stand_is_taken_where_the_shortest_would_be_refused",
    ),
    _engine(
        "the last ramp is slowed down once more",
        " and left > slowing * reference.path_rate:",
        ":",
        "test_letting_go_in_the_last_ramp_leaves_it_as_it_is",
    ),
    Break(
        "standing still on the way of a motion is judged as moving there",
        "rig/safety/trajectory_check.py",
        "            stands[:, 7:] = 0.0\n",
        "",
        ("rig/test_checks.py::test_a_leg_that_inertia_takes_load_off_must_bear_it_standing_too",),
    ),
    Break(
        "a stand that the legs do not bear is not refused",
        "rig/engine/checking.py",
        "if found is None and slowing is not None:",
        "if False:",
        (f"{_RIG}::test_a_stand_that_the_legs_would_not_bear_is_refused_before_anything_moves",),
    ),
    Break(
        "nothing says that a motion is to be held",
        "rig/engine/operator.py",
        "            self._hold_to_run.begin(command.slowing)\n",
        "",
        (_RIG,),
    ),
    Break(
        "a hold is at any speed",
        "rig/client/hold_to_run.py",
        "    if not (math.isfinite(speed) and 0.0 < speed <= greatest):\n",
        "    if False:\n",
        (f"{_RIG}::test_a_speed_beyond_the_rigs_own_is_refused",),
    ),
    _button(
        "a pointer that leaves the button holds it on",
        "if self.holding and not self.rect().contains",
        "if False and not self.rect().contains",
    ),
    _button(
        "a dialog lets it be held",
        "isinstance(receiver, QtWidgets.QWidget) and receiver.isWindow()",
        "False",
        f"{_HAND}::test_a_window_that_is_taken_away_lets_go",
    ),
    _button("a window that is left is held on", "        _EVENTS.WindowDeactivate,\n", ""),
    _button("a focus that goes on holds on", "        _EVENTS.FocusOut,\n", ""),
    _button("a page that is scrolled is held on", "        _EVENTS.Wheel,\n", ""),
    _button(
        "the end of a hold is a click",
        "self.blockSignals(self._spent)",
        "self.blockSignals(False)",
        f"{_HAND}::test_a_pointer_that_comes_back_holds_nothing_and_clicks_nothing",
    ),
    _button(
        "a button behind another program's window is held on",
        "            and window.isActiveWindow()\n",
        "",
        f"{_HAND}::test_a_button_that_is_not_in_hand_any_more_is_not_renewed",
    ),
    _button(
        "a key that is up holds on",
        "        if key != self._key:\n            return False\n",
        "        return False\n",
        f"{_HAND}::test_return_on_a_button_clicks_or_holds",
    ),
    Break(
        "a button that is held no more is still told of",
        "gui/operate/jog_hold_to_run.py",
        "        self._session.signal_hold(False)\n",
        "",
        (_LOSES,),
    ),
    Break(
        "a way that was let go is sent",
        "gui/operate/jog_hold_to_run.py",
        "        self._mover.release()\n",
        "",
        (f"{_HAND}::test_what_is_let_go_while_it_is_looked_at_is_not_sent",),
    ),
    Break(
        "a way that has ended is held on",
        "gui/operate/jog_hold_to_run.py",
        "        mover.finished.connect(lambda _reason: self.end())\n",
        "",
        (f"{_HAND}::test_the_end_of_the_range_lets_go",),
    ),
]

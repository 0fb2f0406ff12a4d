"""Hold-to-run by a game pad: each way in which it lets go, and what keeps it from beginning by itself."""

from breaks import Break

_RIG = "rig/test_game_pad.py"
_HAND = "gui/test_jog_pad.py"


def _wish(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/client/game_pad.py", old, new, tuple(f"{_RIG}::{test}" for test in tests))


def _pad(name: str, old: str, new: str, test: str) -> Break:
    return Break(name, "rig/client/game_pad.py", old, new, (f"{_RIG}::{test}",))


def _page(name: str, old: str, new: str, test: str) -> Break:
    return Break(name, "gui/operate/pad_jog.py", old, new, (f"{_HAND}::{test}",))


PAD_BREAKS = [
    _wish(
        "a stick moves without the dead-man's button",
        "if not (self.ready and reading.dead_man) or",
        "if not self.ready or",
        "test_nothing_is_wished_without_the_dead_mans_button",
    ),
    _wish(
        "a dead-man's button that was up for a moment holds on",
        " or reading.dead_man_came_up:",
        ":",
        "test_nothing_is_wished_without_the_dead_mans_button",
    ),
    _wish(
        "a dead-man's button that is down at first will do",
        "if not (self.ready and reading.dead_man)",
        "if not reading.dead_man",
        "test_a_button_that_is_down_when_a_pad_appears_does_nothing_until_it_was_up",
    ),
    _wish(
        "a pad that says late that its button is down is believed to have been up",
        "self.ready or self._up >= _RESTING",
        "self.ready or self._up >= 1",
        "test_a_pad_that_says_late_that_its_button_is_down_does_nothing_either",
    ),
    _wish(
        "another pad is ready because the one before was",
        "if reading.pad is None or reading.pad != self._pad:",
        "if reading.pad is None:",
        "test_a_pad_that_says_late_that_its_button_is_down_does_nothing_either",
    ),
    _wish(
        "a stick has no dead zone",
        " if depth >= DEAD_ZONE else 0",
        "",
        "test_a_stick_near_its_middle_wishes_nothing",
    ),
    _pad(
        "a pad that is gone is read on",
        "if not sdl.SDL_GameControllerGetAttached(opened)]:",
        "if False]:",
        "test_a_pad_that_is_unplugged_is_gone_and_the_next_is_another",
    ),
    _pad(
        "a STOP that is pressed and let go between two looks is missed",
        "                    stop = True  # whichever pad is at hand\n",
        "                    stop = self._down(sdl.SDL_CONTROLLER_BUTTON_B)\n",
        "test_what_is_pressed_and_let_go_between_two_looks_is_not_missed",
    ),
    _page(
        "the pad's STOP does nothing",
        '            self._session.stop(1, "game pad")\n',
        "            pass\n",
        "test_stop_works_on_every_page_while_the_pad_is_on",
    ),
    _page(
        "what was ended by something else begins again by itself",
        '            self._spent = tr("it has ended")\n',
        "            pass\n",
        "test_what_takes_it_from_the_hand_lets_go_until_the_stick_was_back",
    ),
    _page(
        "a stick that is out already begins once it is possible",
        '                self._spent = button.obstacle or tr("its button cannot be held down now")\n',
        "                pass\n",
        "test_a_stick_that_is_out_already_does_not_begin_once_it_is_possible",
    ),
    _page(
        "a button whose stick is back stays down",
        "            self._release_input()\n            self._changing = True\n",
        "            self._changing = True\n",
        "test_a_lost_pad_lets_go_and_one_that_comes_back_must_be_let_up_first",
    ),
]

"""What is shown is what is done: what *Run* runs, and what can be pressed staying where it is."""

from breaks import Break

_TEMPLATES = "gui/test_motion_templates.py"
_RUNS = f"{_TEMPLATES}::test_run_names_what_it_runs_and_runs_nothing_while_a_template_is_shown"
_PRESSES = "gui/test_press_guard.py"
_STANDS = "gui/test_nothing_moves.py"

SCREEN_BREAKS = [
    Break(
        "a motion is run while a template is shown",
        "gui/motion/panel.py",
        'Create makes it one") if self._template_shown else ""',
        'Create makes it one") if False else ""',
        (_RUNS,),
    ),
    Break(
        "Run names the motion behind a template",
        "gui/motion/panel.py",
        "self._template if self._template_shown else (self.document.name, self.preview)",
        "(self.document.name, self.preview)",
        (_RUNS,),
    ),
    Break(
        "Run's time is that of full speed",
        "gui/motion/transport.py",
        "duration / self._pace",
        "duration",
        (_RUNS,),
    ),
    Break(
        "a motion that was made is dropped without a question",
        "gui/motion/document.py",
        "self._made = made",
        "self._made = False",
        (f"{_TEMPLATES}::test_a_motion_that_was_made_is_not_lost_without_a_question",),
    ),
    Break(
        "a press on a button that changed meanwhile acts",
        "gui/widgets/controls.py",
        "if _meaning(button) != before:",
        "if False:",
        (_PRESSES,),
    ),
    Break(
        "the app looks after no press",
        "gui/shell/main_window.py",
        "        self.press_guard = PressGuard(self)\n",
        "        self.press_guard = PressGuard(self)\n        self.press_guard.remove()\n",
        (f"{_PRESSES}::test_run_is_not_pressed_for_another_motion_than_it_named",),
    ),
    Break(
        "a text is as high as it is long",
        "gui/widgets/still.py",
        "self._lines * self._label.fontMetrics().lineSpacing()",
        "max(1, self._label.heightForWidth(self.width()))",
        (_STANDS,),
    ),
    Break(
        "a bar that comes moves aside what it scrolls",
        "gui/widgets/still.py",
        "self.width() - self.verticalScrollBar().sizeHint().width()",
        "self.width()",
        (_STANDS,),
    ),
    Break(
        "the button in the banner is as wide as its word",
        "gui/shell/banner.py",
        "        self.mend.setFixedWidth(room_for(self.mend, (_TAKE, _RESTART, _RESET)))\n",
        "",
        (_STANDS,),
    ),
]

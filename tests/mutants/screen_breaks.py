"""What is shown is what is done: what *Run* runs, and what can be pressed staying where it is."""

from breaks import Break

_TEMPLATES = "gui/test_motion_templates.py"
_RUNS = f"{_TEMPLATES}::test_run_names_what_it_runs_and_runs_nothing_while_a_template_is_shown"
_PRESSES = "gui/test_press_guard.py"
_STANDS = "gui/test_nothing_moves.py"
_PARTS = "gui/test_incremental_build.py"
_THEME = "gui/test_theme.py"
_WIZARDS = "gui/test_wizards_stand_still.py"

SCREEN_BREAKS = [
    Break(
        "a motion is run while a template is shown",
        "gui/models/motion.py",
        'press Create") if self.template else ""',
        'press Create") if False else ""',
        (_RUNS,),
    ),
    Break(
        "Run names the motion behind a template",
        "gui/models/motion.py",
        "self.template or (self.name, self.preview)",
        "(self.name, self.preview)",
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
        "path, made=made)\n        self.opened",
        "path, made=False)\n        self.opened",
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
        "        views.begin()\n",
        "        views.begin()\n        self.guards.press.remove()\n",
        (f"{_PRESSES}::test_run_is_not_pressed_for_another_motion_than_it_named",),
    ),
    Break(
        "a text is as high as it is long",
        "gui/widgets/fixed_size_label.py",
        "            self.verticalScrollBar().setValue(0)",
        "            self.setFixedHeight(max(1, self._label.heightForWidth(self.width())))",
        ("gui/test_fixed_size_label.py",),
    ),
    Break(
        "a bar that comes moves aside what it scrolls",
        "gui/widgets/fixed_size_label.py",
        "self.width() - self.verticalScrollBar().sizeHint().width()",
        "self.width()",
        ("gui/test_fixed_size_label.py",),
    ),
    Break(
        "the button in the banner is as wide as its word",
        "gui/shell/banner.py",
        "        self.remedy_button.setFixedWidth(room_for(self.remedy_button, REMEDY_TEXTS))\n",
        "",
        (_STANDS,),
    ),
    Break(
        "a page of plots is built in one block",
        "gui/live/plot_page.py",
        "            self.panels.append(plot)\n            yield\n",
        "            self.panels.append(plot)\n        yield\n",
        (f"{_PARTS}::test_no_part_makes_more_than_a_few_plots",),
    ),
    Break(
        "a job is done in one turn of the event loop",
        "gui/widgets/incremental_build.py",
        "            return  # the job continues\n",
        "            pass\n",
        (f"{_PARTS}::test_a_job_goes_on_once_in_each_turn_of_the_event_loop",),
    ),
    Break(
        "what is being built does not take another theme",
        "gui/shell/appearance.py",
        "        if theme is not self.theme:\n",
        "        if False:\n",
        (f"{_PARTS}::test_another_theme_meanwhile_is_taken_by_all",),
    ),
    Break(
        "a window that is closed while it builds leaves threads",
        "gui/shell/views.py",
        "        self._closers.append(self.recordings.close_worker)\n",
        "",
        (f"{_PARTS}::test_the_window_is_closed_while_it_builds",),
    ),
    Break(
        "another theme is given to all widgets in one block",
        "gui/shell/appearance.py",
        "_AT_ONCE = 300\n",
        "_AT_ONCE = 100_000\n",
        (f"{_THEME}::test_another_theme_styles_some_widgets_at_a_time_and_what_is_in_view_first",),
    ),
    Break(
        "hidden pages keep the theme before",
        "gui/shell/appearance.py",
        "rest = [widget for widget in widgets if not widget.isVisible()]",
        "rest: list[QtWidgets.QWidget] = []",
        (f"{_THEME}::test_another_theme_looks_as_if_it_had_been_there_from_the_beginning",),
    ),
    Break(
        "results of the legs' tests are as high as they are long",
        "gui/setup/motion_pages.py",
        "TextRoom(label, _LINES)",
        "label",
        (f"{_WIZARDS}::test_set_up_moves_nothing_by_itself",),
    ),
    Break(
        "fields of another task are in the request",
        "gui/wizard/request_page.py",
        "return part.only in (None, self._number)",
        "return True",
        ("gui/test_in_place_wizard.py::test_poses_are_planned_and_the_line_that_runs_them_is_told",),
    ),
    Break(
        "the address of an amplifier that there is not can be entered",
        "gui/setup/draft_pages.py",
        'setEnabled(widgets["amplifier"].value)',
        "setEnabled(True)",
        ("gui/test_setup_pages.py::test_next_says_what_is_missing",),
    ),
    Break(
        "a rehearsal's drives have the addresses of the real ones",
        "gui/setup/wizard.py",
        "        self.drives.set_rehearsal(rehearsal)\n",
        "",
        ("gui/test_setup_pages.py::test_going_back_and_forth_loses_nothing",),
    ),
    Break(
        "a field has nothing at first where the service has a value",
        "gui/steps/fields.py",
        "if each.default is not MISSING}",
        "if each.default is MISSING}",
        ("gui/test_design_wizards.py::test_a_coordinate_is_excited_as_the_command_does_it",),
    ),
    Break(
        "what comes of a fit has no room of its own",
        "gui/wizard/compute_page.py",
        "TextRoom(self.result, 4)",
        "self.result",
        (f"{_WIZARDS}::test_wizards_over_commands_move_nothing_by_themselves",),
    ),
    Break(
        "what comes and goes has no room meanwhile",
        "gui/widgets/fixed_size_label.py",
        "policy.setRetainSizeWhenHidden(True)",
        "policy.setRetainSizeWhenHidden(False)",
        (f"{_WIZARDS}::test_set_up_moves_nothing_by_itself",),
    ),
    Break(
        "the question to quit is as large as its words",
        "gui/shell/closing.py",
        "            words.setMinimumSize(words.sizeHint().expandedTo(words.minimumSize()))\n",
        "            pass\n",
        (f"{_WIZARDS}::test_the_question_to_quit_stays_where_it_is",),
    ),
    Break(
        "what is said of an export moves the curves",
        "gui/live/live_bar.py",
        '= ElidedLabel()\n        self.note.setAccessibleName(tr("Message"))\n        self.note.setFixedSize(_NOTE, ',
        '= QtWidgets.QLabel()\n        self.note.setAccessibleName(tr("Message"))\n        self.note.setMinimumHeight(',
        (f"{_STANDS}::test_no_page_of_curves_or_recordings_moves_by_itself",),
    ),
]

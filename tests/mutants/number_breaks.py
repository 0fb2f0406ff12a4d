"""How numbers are read, and what a field that has none stands against."""

from breaks import Break

_READ = "rig/test_numbers_read.py"
_FIELDS = "gui/test_number_fields.py"
_TYPED = f"{_FIELDS}::test_what_is_typed_with_keys_is_read_alike_in_every_locale"
_DISABLED = f"{_FIELDS}::test_what_is_no_number_disables_what_would_use_it"
_UNITS = "kinematics/inputs/units.py"
_FIELD = "gui/widgets/number_field.py"

NUMBER_BREAKS = [
    Break("a comma is dropped", _UNITS, '.replace(",", ".")', '.replace(",", "")', (_READ,)),
    Break("one per second ends a number", _UNITS, "(?<=\\s)1\\s*/", "1\\s*/", (_READ,)),
    Break(
        "cells of a table are what Python takes for numbers",
        _UNITS,
        'if _PLAIN.fullmatch(" ".join(texts)):',
        "if True:",
        (_READ,),
    ),
    Break("a list of another length passes", _UNITS, "count is not None and len(parts) != count", "False", (_READ,)),
    Break("options are Typer's to read", "rig/cli/help.py", "read_numbers_of(hint)", "pass", (_READ,)),
    Break("an option's bound is not looked at", "rig/cli/help.py", "if low or high:", "if False:", (_READ,)),
    Break("what no bound allows is a field's value", _FIELD, "self._beyond(self._live) or", '"" or', (_TYPED,)),
    Break(
        "a field with no value has the one before",
        _FIELD,
        "        if self.reason:\n            raise",
        "        if False:\n            raise",
        (_TYPED,),
    ),
    Break(
        "a field's number is known once it is left",
        _FIELD,
        'self._live, reason = self._read(), ""',
        'self._read()\n            reason = ""',
        (_TYPED,),
    ),
    Break(
        "a move does not look at its fields",
        "gui/operate/jog_panel.py",
        "field_refusal(*self._used_by(key))",
        '""',
        (_DISABLED,),
    ),
    Break(
        "Run does not look at the speed",
        "gui/motion/transport.py",
        "wrong = field_refusal(self.speed)",
        'wrong = ""',
        (_DISABLED,),
    ),
    Break(
        "Run does not look at how often it runs",
        "gui/motion/panel.py",
        "wrong = field_refusal(self.repeats)",
        'wrong = ""',
        (_DISABLED,),
    ),
    Break(
        "a motion runs that is not what its fields say",
        "gui/motion/panel.py",
        "wrong = self.editor.refusal",
        'wrong = ""',
        (_DISABLED,),
    ),
    Break(
        "a motion is saved that is not what its fields say",
        "gui/motion/document.py",
        "if refusal := self._editor.refusal:",
        'if refusal := "":',
        (f"{_FIELDS}::test_a_motion_with_a_wrong_number_is_not_saved_and_the_text_can_be_taken_back",),
    ),
    Break(
        "a wizard goes on with a field that has no value",
        "gui/wizard/request_page.py",
        "if wrong := field_refusal(self) or fields.span_fault(",
        "if wrong := fields.span_fault(",
        (f"{_FIELDS}::test_every_number_field_of_the_other_wizards",),
    ),
    Break(
        "a template is made of what was typed before",
        "gui/motion/template_page.py",
        "self.create.set_obstacle(field_refusal(self.form))",
        'self.create.set_obstacle("")',
        (f"{_FIELDS}::test_a_template_is_made_of_what_its_fields_say",),
    ),
]

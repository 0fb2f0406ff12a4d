"""The German that comes along: whole for what a person has to act on, that is findings, faults, states and steps."""

import gettext
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from catalogue import GUI, TEMPLATE, read, texts_in
from filled_findings import filled
from sinks import words_of

from gui.models import STATE_WORDS, Action, repair_of
from gui.texts import DOMAIN, fits
from rig.findings import Code, Finding, finding_texts, render
from rig.states import FaultCode, State, fault_name

_TESTS = GUI.parent / "tests"
_PO = TEMPLATE.parent / "de" / "LC_MESSAGES" / f"{DOMAIN}.po"
_PATIENCE = 120.0  # s
_FIELD, _NAME, _OPTIONAL = (re.compile(each) for each in (r"\{[^}]*\}", r"\{(\w+)", r"\[\[(.*?)\]\]"))
_ACTED_ON = (
    "models",
    "operate",
    "session",
    "shell/banner.py",
    "motion/transport.py",
    "widgets/two_step_button.py",
)
"""where the app says what can be done, and why not: modules and packages of `gui`"""


def _needed() -> Iterator[tuple[str, str | None]]:
    """Every text that must be there in German, with its context or None."""
    texts = [
        *finding_texts(),
        *(fault_name(code) for code in FaultCode if code),
        *(action.value for action in Action),
        *STATE_WORDS.values(),
        *(repair.text for code in Code if (repair := repair_of(Finding(code))) is not None),
    ]
    yield from ((text, None) for text in texts)
    yield from ((text if isinstance(text, str) else text[0], context) for text, context in texts_in(*_ACTED_ON))


@pytest.fixture(scope="module")
def german() -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, TEMPLATE.parent, ["de"])


def test_what_a_person_acts_on_is_german() -> None:
    catalogue = read(_PO)
    needed = set(_needed())
    assert len(needed) > 500
    for text, context in sorted(needed, key=str):
        message = catalogue.get(text, context)
        assert message is not None, text
        translations = (message.string,) if isinstance(message.string, str) else message.string or [""]
        assert all(translations), f"{text!r} has no German"
        original = message.id if isinstance(message.id, str) else message.id[-1]
        assert all(fits(original, translation) for translation in translations), text


@pytest.mark.parametrize("code", Code)
def test_no_english_template_is_left_in_a_finding(code: Code, german: gettext.NullTranslations) -> None:
    english = []

    def translate(template: str) -> str:
        found = german.gettext(template)
        if found == template and words_of(_FIELD.sub("", template)):
            english.append(template)
        return found

    whole = filled(code)
    optional = {name for part in _OPTIONAL.findall(code.text) for name in _NAME.findall(part)}
    least = replace(whole, details={name: value for name, value in whole.details.items() if name not in optional})
    for finding in (whole, least):
        rendered = render(finding, translate)
        assert rendered and not set("{}") & set(rendered) and "[[" not in rendered and "]]" not in rendered
    assert english == []


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the app says, by language."""
    return {language: _said(language, tmp_path_factory.mktemp(language)) for language in ("de", "C")}


def _said(language: str, folder: Path) -> dict[str, Any]:
    paths = os.pathsep.join(map(str, (GUI.parent, _TESTS, _TESTS / "gui")))
    environment = os.environ | {"LANGUAGE": language, "PYTHONPATH": paths, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("TEXTDOMAINDIR", None)
    program = [sys.executable, str(_TESTS / "gui" / "german_app.py"), str(folder)]
    ended = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=_PATIENCE)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_the_language_of_the_environment_is_that_of_the_app(said: dict[str, dict[str, Any]]) -> None:
    translated = {code.value for code in Code if code.text in finding_texts()}
    for subject in ("findings", "faults", "actions", "states", "steps"):
        english, german = said["C"][subject], said["de"][subject]
        same = [key for key, text in english.items() if text == german[key]]
        assert [key for key in same if subject != "findings" or key in translated] == [], subject
    assert said["C"]["findings"] == {code.value: filled(code).text for code in Code}


def test_states_are_called_the_same_in_findings(
    said: dict[str, dict[str, Any]], german: gettext.NullTranslations
) -> None:
    assert said["de"]["states"] == {state.name: german.gettext(state.name) for state in State}
    assert said["de"]["findings"]["state_changed"] == "Bein 3: Bereit → Referenzfahrt"


def test_a_fault_is_said_in_german_with_the_step_out_of_it(said: dict[str, dict[str, Any]]) -> None:
    assert said["de"]["cause"] == "Schleppfehler: Bein 3: Schleppfehler 12.30 mm (Grenze 10 mm)"
    state, detail, step = said["de"]["banner"]
    assert (state, step) == ("Störung", "Quittieren")
    assert detail.startswith("Schleppfehler: Bein 3: Schleppfehler 12.30 mm (Grenze 10 mm), bei 9.000 s.")
    assert detail.endswith("Weiter: Ursache beheben, dann Störung quittieren.")


def test_a_refusal_is_said_in_german_with_its_repair(said: dict[str, dict[str, Any]]) -> None:
    refusals = said["de"]["refusals"]
    assert refusals["connect_first"] == ["Referenzfahrt: Bein 3: erst verbinden", "Verbinden"]
    assert refusals["fault_latched"][1] == "Quittieren" and refusals["engage_first"][1] == "Zu „Einschalten“"
    assert refusals["pause_first"] == ["Referenzfahrt: Bein 3: '<motion>' läuft: erst anhalten", "Anhalten"]
    english = said["C"]["refusals"]
    for code in Code:
        assert bool(refusals[code.value][1]) is bool(english[code.value][1]) is (repair_of(filled(code)) is not None), (
            code
        )
        assert not refusals[code.value][1] or refusals[code.value][1] != english[code.value][1], code


def test_steps_and_stop_say_in_german_what_they_do(said: dict[str, dict[str, Any]]) -> None:
    assert said["de"]["stop"].startswith("Prüfstand anhalten: abbremsen, Bremsen ein, Drehmoment aus")
    assert said["de"]["steps"]["CONNECT"] == "&1  Verbinden" and "Freigeben" in said["de"]["steps"]["ARM"]
    assert set(said["de"]["hints"]).isdisjoint(said["C"]["hints"])

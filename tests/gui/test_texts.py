"""The app's texts: all in one catalogue, all shown in the language of the person, and none that could stop the app."""

import gettext
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import write_po
from catalogue import GUI, TEMPLATE, as_file, compiled, extracted, misfits, read, update_translations
from pseudo import LANGUAGE, translated, without_texts, write_pseudo
from sinks import bare_texts, hidden_texts, words_of

from actuators import drive_names
from gui.dashboard.signals import SIGNALS
from gui.models.motion import part_models
from gui.texts import catalogue as texts
from rig.client import TEMPLATES
from rig.commissioning import own_settings
from rig.telemetry import MEANING
from rig.virtual import FAULTS

ROOT = GUI.parent
_TESTS = ROOT / "tests"
_TOOLS = ("tour.py", "pilot.py")
"""of those who take pictures: nobody reads them in the app"""
_NO_TEXTS = {"CSV: t,x,y,z,qw,qx,qy,qz"}
"""columns of a file"""
_PATIENCE = 120.0  # s

# -- what the modules say ----------------------------------------------------------------------------------------------


def test_the_catalogue_is_what_the_code_says() -> None:
    assert as_file(extracted()) == TEMPLATE.read_text(encoding="utf-8"), "make texts writes it"


def test_nothing_is_given_to_a_person_untranslated() -> None:
    modules = [path for path in sorted(GUI.rglob("*.py")) if path.name not in _TOOLS]
    found = [(path.name, line, text) for path in modules for line, text in bare_texts(path)]
    assert [each for each in found if each[2] not in _NO_TEXTS] == []
    assert {each[2] for each in found} == _NO_TEXTS


def test_every_text_is_one_that_a_catalogue_can_have() -> None:
    assert [(path.name, *each) for path in sorted(GUI.rglob("*.py")) for each in hidden_texts(path)] == []


@pytest.mark.parametrize(
    ("code", "bare"),
    [
        ('QLabel("Two words")', ["Two words"]),
        ('button.setToolTip(f"leg {leg} stands")', ["leg  stands"]),
        ('button.setText("Pause" if plays else tr("Play"))', ["Pause"]),
        ('layout.addRow("Name", field)', ["Name"]),
        ('menu.addAction("&" + "Open")', ["Open"]),
        ('line_edit(tr("Name"), "file.toml", "hint")', ["hint"]),
        ('tabs.insertTab(0, page, "Runs")', ["Runs"]),
        ('label.setText(reason or "none")', ["none"]),
        ('QLabel(tr("Two words"))', []),
        ('label.setText(f"{x:.1f} mm")', []),
        ('QLabel(f"<b>{name}</b>&nbsp;")', []),
    ],
)
def test_what_is_untranslated_is_found(tmp_path: Path, code: str, bare: list[str]) -> None:
    path = tmp_path / "module.py"
    path.write_text(code, encoding="utf-8")
    assert [text for _line, text in bare_texts(path)] == bare


@pytest.mark.parametrize("code", ["""f"{tr('Next')} …\"""", 'tr(f"leg {leg}")', 'mark(f"{name} view")'])
def test_what_a_catalogue_cannot_have_is_found(tmp_path: Path, code: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(code, encoding="utf-8")
    assert len(list(hidden_texts(path))) == 1


# -- what is shown -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What the app tells that has been walked through in the language that nobody speaks."""
    folder = tmp_path_factory.mktemp("pseudo")
    write_pseudo(folder / "texts")
    (folder / "app").mkdir()
    paths = os.pathsep.join(map(str, (ROOT, _TESTS, _TESTS / "gui")))
    language = {"LANGUAGE": LANGUAGE, "TEXTDOMAINDIR": str(folder / "texts"), "PYTHONPATH": paths}
    program = [sys.executable, str(_TESTS / "gui" / "pseudo_app.py"), str(folder / "app")]
    ended = subprocess.run(program, env=os.environ | language, capture_output=True, text=True, timeout=_PATIENCE)
    assert ended.returncode == 0, ended.stderr
    told: dict[str, dict[str, str]] = json.loads(ended.stdout)
    return told


@pytest.fixture(scope="module")
def said(told: dict[str, dict[str, str]]) -> dict[str, str]:
    """What all of its widgets say, and where."""
    return told["said"]


_ENGINE = {
    "'demo' is paused: resume it, abandon it, or park",
    "'demo' is running: pause it first",
    "a fault is latched: reset first",
    "a motion is running",
    "engage first",
    "home first",
    "homed; disconnect to home again",
    "no motion is running",
    "nothing is paused",
    "park first",
    "the drives are connected",
    "the drives have no torque",
    "the drives have torque already",
    "the platform is parked",
    "there is no fault to reset",
    "✗ part 8, file: must not be empty",
}
"""What `rig` says itself: its words are those of recordings, commands and scripts."""
_QT = {"&Next >", "< &Back", "Cancel", "Commit", "OK", "Scroll Left", "Scroll Right"}
"""Qt has catalogues of its own."""
_NAMES = [
    *(
        "stewart-rig",
        "JONSWAP",
        "Pierson-Moskowitz",
        "virtual",
        "lab-hexapod",
        "my-rig.toml",
        "demo",
        "before_motion_records.mcap",
        "synthetic",
        "t,ax,ay,az",
        "AT2",
        "false",
    ),  # rigs, files, motions, numbers
    *("Dasgupta 1998", "Pedrammehr 2012", "dasgupta-1998", "pedrammehr-2012", "PlotJuggler", "Foxglove"),
    *("Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Y", "Home"),  # keys
    *("θx", "θy", "θz", "rx", "ry", "rz", "xy", "xz", "yz", "dB", "Δt", *_NO_TEXTS),
    *part_models(),
    *drive_names(),
]
_NAME = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in sorted(_NAMES, key=len, reverse=True)))
_FIELDS = {*MEANING, *SIGNALS, *FAULTS}
"""Names in files."""


_SETTINGS = {
    words
    for driver in drive_names()
    for setting in own_settings(driver)
    for words in (setting.name.replace("_", " "), setting.about)
    if words
}
"""Of drivers, which may come from elsewhere."""


def _untranslated(shown: str) -> list[str]:
    """Words that are in no text of the catalogue, and no name either."""
    if shown in _ENGINE | _QT or shown.startswith(tuple(_SETTINGS)):
        return []
    field = shown.split("\n")[-1].split(":")[0]  # of telemetry or a configuration
    if field in _FIELDS:
        shown = shown.replace(field, "")
    return words_of(_NAME.sub("", without_texts(shown)))


def test_every_page_speaks_the_language_of_the_person(said: dict[str, str]) -> None:
    assert [(shown, where) for shown, where in said.items() if _untranslated(shown)] == []


def test_the_whole_app_was_looked_at(said: dict[str, str]) -> None:
    looked_for = [
        "Motion",
        "Event log",
        "Load cells on a &bench …",
        "&User guide",
        "Dock back",
        "Nothing to undo",
        "ready",
    ]
    looked_for += ["cable{leg} unplugged".format(leg=" 3"), "Length of leg 2 at drive position zero", "Move &up"]
    looked_for += [template.title for template in TEMPLATES.values()]
    for text in looked_for:
        assert any(text in shown for shown in said), text


def test_what_is_kept_is_in_no_language(told: dict[str, dict[str, str]]) -> None:
    kept = told["kept"]
    assert kept["jog/folded"] == "Step in pose" and kept["windows/Live/torn"] == "no" and kept["tab"] == "Live"
    changed = [key for key, value in kept.items() if without_texts(key + value) != key + value]
    assert changed == ["dashboards/dashboard"]  # whose name a person may change


# -- translations ------------------------------------------------------------------------------------------------------


def _speak(monkeypatch: pytest.MonkeyPatch, **translations: str) -> None:
    """Have the texts be of a catalogue with these translations by text."""
    catalogue = Catalog(locale="de")
    catalogue.add(("{count} row", "{count} rows"), ("{count} Zeile", "{count} Zeilen"))
    for text, translation in translations.items():
        catalogue.add(text, translation)
    file = io.BytesIO()
    write_mo(file, catalogue)
    file.seek(0)
    monkeypatch.setattr(texts, "_CATALOGUE", gettext.GNUTranslations(file))


def test_texts_are_english_without_a_catalogue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("TEXTDOMAINDIR", str(tmp_path))
    assert type(texts._found()) is gettext.NullTranslations
    monkeypatch.setattr(texts, "_CATALOGUE", texts._found())
    assert texts.tr("Go") == "Go" and texts.tr("") == ""
    assert texts.trn("{count} row", "{count} rows", 1) == "{count} row"
    assert texts.trn("{count} row", "{count} rows", 2) == "{count} rows"


def test_a_text_has_another_translation_in_a_context(monkeypatch: pytest.MonkeyPatch) -> None:
    german = gettext.translation(texts.DOMAIN, TEMPLATE.parent, ["de"])
    monkeypatch.setattr(texts, "_CATALOGUE", german)
    assert texts.tr("Test") == "Testen" and texts.trc("heading", "Test") == "Test"
    assert texts.trc("heading", "a text of no catalogue") == "a text of no catalogue"


def test_a_catalogue_beside_the_app_or_where_the_environment_says_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_pseudo(tmp_path)
    monkeypatch.setenv("TEXTDOMAINDIR", str(tmp_path))
    for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LANG", LANGUAGE)
    assert texts._found().gettext("Go") == translated("Go")
    monkeypatch.setenv("LANGUAGE", f"xx:{LANGUAGE}")
    assert texts._found().gettext("Go") == translated("Go")


def test_a_catalogue_that_cannot_be_read_leaves_english_and_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pseudo(tmp_path)
    (file,) = tmp_path.rglob("*.mo")
    monkeypatch.setenv("LANGUAGE", LANGUAGE)
    monkeypatch.setenv("TEXTDOMAINDIR", str(tmp_path))
    for content in (b"", b"no catalogue at all", file.read_bytes()[:40]):
        file.write_bytes(content)
        assert texts._found().gettext("Go") == "Go"
        assert f"warning: a catalogue of texts in {tmp_path} cannot be read" in capsys.readouterr().err


def test_texts_and_plurals_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    _speak(monkeypatch, **{"Go": "Los", "leg {leg:.1f}": "{leg:.1f}. Bein"})
    assert texts.tr("Go") == "Los" and texts.tr("Query drive") == "Query drive" and texts.tr("") == ""
    assert texts.tr("leg {leg:.1f}").format(leg=3) == "3.0. Bein"
    assert [texts.trn("{count} row", "{count} rows", n).format(count=n) for n in (1, 2)] == ["1 Zeile", "2 Zeilen"]


@pytest.mark.parametrize("wrong", ["Bein {bein}", "Bein {leg", "Bein {leg:.3f}", "Bein {leg!r}", "Bein {}", "Bein {0}"])
def test_a_translation_whose_fields_do_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    _speak(monkeypatch, **{"leg {leg}": wrong})
    assert texts.tr("leg {leg}").format(leg=3) == "leg 3"
    catalogue = Catalog(locale="de")
    catalogue.add("leg {leg}", wrong)
    catalogue.add("Go", "Los")
    assert misfits(catalogue) == ["leg {leg}"]


@pytest.mark.parametrize(
    ("translation", "fitting"), [("{b}[[: {a}]]", True), ("[[{b} ]]{a}", False), ("{a}: {b}", False)]
)
def test_a_field_that_a_finding_may_lack_stays_optional(translation: str, fitting: bool) -> None:
    assert texts.fits("[[{a}: ]]{b}", translation) is fitting


def test_a_new_translation_is_brought_up_to_the_texts_and_compiled(tmp_path: Path) -> None:
    folder = tmp_path / "fr" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    catalogue = Catalog(locale="fr")
    catalogue.add("Go", "Aller")
    catalogue.add("a text that went", "un texte disparu")
    with (folder / "stewart-rig.po").open("wb") as file:
        write_po(file, catalogue)
    update_translations(tmp_path)
    written = read(folder / "stewart-rig.po")
    assert {str(message.id) for message in written} == {str(message.id) for message in read(TEMPLATE)}
    assert "-Date:" not in (folder / "stewart-rig.po").read_text(encoding="utf-8")
    french = gettext.translation("stewart-rig", tmp_path, ["fr"])
    assert french.gettext("Go") == "Aller" and french.gettext("Park") == "Park"
    assert french.ngettext("{count} row", "{count} rows", 2) == "{count} rows"


def test_the_catalogues_that_come_along_fit_and_are_compiled() -> None:
    assert misfits(read(TEMPLATE)) == []
    template = {str(message.id) for message in read(TEMPLATE)}
    paths = list(TEMPLATE.parent.rglob("*.po"))
    assert paths
    for path in paths:
        catalogue = read(path)
        assert {str(message.id) for message in catalogue} == template, f"make texts updates {path}"
        assert misfits(catalogue) == [] and not any(message.fuzzy for message in catalogue if message.id), path
        assert as_file(catalogue) == path.read_text(encoding="utf-8"), f"make texts updates {path}"
        assert compiled(catalogue) == path.with_suffix(".mo").read_bytes(), f"make texts compiles {path}"

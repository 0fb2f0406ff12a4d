"""The catalogue of the app's texts: what is to be translated, read from the code. As a program it writes the file, and
brings the translations that come along up to it."""

import inspect
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from pydantic import BaseModel

from actuators import drive_names
from gui.models.motion import part_models
from gui.motion.fields import about_part
from gui.texts import DOMAIN, fits
from kinematics import TrajectorySpec
from rig.acceptance import acceptance_texts
from rig.analysis import TERM_NAMES
from rig.client import PHASES, TEMPLATES
from rig.commissioning import own_settings
from rig.config import CRITERIA, FAULT_WORDS, Validation, usable_laws
from rig.engine import LegPhase
from rig.findings import finding_texts
from rig.services import stage_texts
from rig.states import FaultCode, fault_name
from rig.telemetry import MEANING
from rig.virtual import FAULTS

GUI = Path(__file__).parent.parent.parent / "gui"
TEMPLATE = GUI / "texts" / f"{DOMAIN}.pot"
_KEYWORDS: dict[str, Any] = {"tr": None, "trc": ((1, "c"), 2), "trn": (1, 2), "mark": None}
_COMMENT = "# The texts of the app, written by `make texts`. Translations of it: docs/adding-a-language.md."


class _Undated(Catalog):
    """A catalogue whose header has no dates: its files change with the texts alone."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        """Lines of the header."""
        language = self.locale_identifier
        own = [("Language", language), ("Plural-Forms", self.plural_forms)] if language else []
        return [
            ("Project-Id-Version", DOMAIN),
            *own,
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=UTF-8"),
            ("Content-Transfer-Encoding", "8bit"),
        ]


def texts_in(*places: str) -> Iterator[tuple[str | tuple[str, ...], str | None]]:
    """Every text of some modules or packages of `gui`, of all without any, with its context or None.

    Those with a plural are pairs.
    """
    for path, _line, text, _comments, context in extract_from_dir(GUI, [("**.py", "python")], keywords=_KEYWORDS):
        if not places or path.startswith(places):
            yield text, context


def extracted() -> Catalog:
    """Every text of `gui`, and of other packages those that the app shows as labels."""
    catalogue = Catalog(fuzzy=False)
    for text, context in texts_in():
        catalogue.add(text, context=context)
    for borrowed_text in borrowed():
        catalogue.add(borrowed_text)
    for message in catalogue:
        message.flags.discard("python-format")  # a per cent sign and a word is none
    return catalogue


def borrowed() -> Iterator[str]:
    """Texts that other packages hold as data: of templates, parts of motions, faults, acceptance tests, telemetry."""
    for template in TEMPLATES.values():
        yield from filter(None, (template.title, template.__doc__))
        yield from (info.title or name for name, info in template.model_fields.items())
        for info in template.model_fields.values():
            if get_origin(info.annotation) is Literal:
                yield from (word for word in get_args(info.annotation) if len(word) > 2 and word.islower())
    for kind, model in part_models().items():
        yield about_part(kind, model)
    filled_in: set[type[BaseModel]] = {*_models(TrajectorySpec), Validation}
    for each in filled_in:
        yield from (name.replace("_", " ") for name in each.model_fields)
    yield from (law.caption for law in usable_laws())
    yield from (fault.text for fault in FAULTS.values())
    yield from FAULT_WORDS.values()
    yield from finding_texts()
    yield from acceptance_texts()
    yield from TERM_NAMES.values()
    yield from (criterion.caption for criterion in CRITERIA.values())
    yield from (fault_name(code) for code in FaultCode if code)
    yield from MEANING.values()
    yield from stage_texts()
    yield from (*PHASES, *get_args(LegPhase))
    for driver in drive_names():
        for setting in own_settings(driver):
            yield from filter(None, (setting.name.replace("_", " "), setting.about))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models within a type, down to the last."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
        for info in annotation.model_fields.values():
            yield from _models(info.annotation)
    for argument in get_args(annotation):
        yield from _models(argument)


def as_file(catalogue: Catalog) -> str:
    """The catalogue as its file: sorted, without places and dates, so that it changes with the texts alone."""
    written = io.BytesIO()
    undated = _undated(catalogue)
    write_po(written, undated, no_location=True, omit_header=True, sort_output=True, width=0, ignore_obsolete=True)
    comment = catalogue.header_comment if catalogue.locale_identifier else _COMMENT
    header = "".join(f'"{name}: {value}\\n"\n' for name, value in undated.mime_headers)
    return f'{comment}\nmsgid ""\nmsgstr ""\n{header}\n{written.getvalue().decode("utf-8")}'


def compiled(catalogue: Catalog) -> bytes:
    """The translations of a catalogue as gettext reads them, its `.mo`."""
    written = io.BytesIO()
    write_mo(written, _undated(catalogue))
    return written.getvalue()


def _undated(catalogue: Catalog) -> _Undated:
    undated = _Undated(locale=catalogue.locale_identifier, fuzzy=False)
    for message in catalogue:
        if message.id:
            undated[message.id] = message
    return undated


def updated(catalogue: Catalog) -> Catalog:
    """A translation, its texts those of the code: new ones are empty, those that went are left out."""
    catalogue.update(extracted(), no_fuzzy_matching=True)
    return catalogue


def read(path: Path) -> Catalog:
    """A catalogue of a file."""
    with path.open("rb") as file:
        return read_po(file)


def misfits(catalogue: Catalog) -> list[str]:
    """Texts of a catalogue whose translation has a field that the text has not, or is no format: shown in English."""
    found = []
    for message in catalogue:
        texts = (message.id,) if isinstance(message.id, str) else message.id
        translations = (message.string,) if isinstance(message.string, str) else message.string or ()
        if message.id and any(each and not fits(texts[-1], each) for each in translations):
            found.append(texts[0])
    return found


def update_translations(folder: Path) -> None:
    """Bring every translation in a folder up to the texts, and compile it."""
    for path in sorted(folder.rglob("*.po")):
        translation = updated(read(path))
        path.write_text(as_file(translation), encoding="utf-8")
        path.with_suffix(".mo").write_bytes(compiled(translation))


if __name__ == "__main__":
    TEMPLATE.write_text(as_file(extracted()), encoding="utf-8")
    update_translations(TEMPLATE.parent)

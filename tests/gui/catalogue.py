"""The catalogue of the app's texts: what is to be translated, read from the code. As a program it writes the file."""

import inspect
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po
from pydantic import BaseModel

from gui.motion.fields import about_part
from gui.motion.specification import part_models
from gui.texts import DOMAIN, fits
from kinematics import TrajectorySpec
from rig.client import TEMPLATES
from rig.config import FAULT_WORDS, Validation
from rig.findings import finding_texts
from rig.states import FaultCode, fault_name
from rig.telemetry import MEANING
from rig.virtual import FAULTS

GUI = Path(__file__).parent.parent.parent / "gui"
TEMPLATE = GUI / "texts" / f"{DOMAIN}.pot"
_KEYWORDS: dict[str, Any] = {"tr": None, "trn": (1, 2), "mark": None}
_HEAD = """# The texts of the app, written by `make texts`. Translations of it: docs/adding-a-language.md.
msgid ""
msgstr ""
"Project-Id-Version: stewart-rig\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


def extracted() -> Catalog:
    """Every text of `gui`, and of other packages those that the app shows as labels."""
    found = extract_from_dir(GUI, [("**.py", "python")], keywords=_KEYWORDS)
    catalogue = Catalog(fuzzy=False)
    for _path, _line, text, _comments, _context in found:
        catalogue.add(text)
    for borrowed_text in borrowed():
        catalogue.add(borrowed_text)
    for message in catalogue:
        message.flags.discard("python-format")  # a per cent sign and a word is none
    return catalogue


def borrowed() -> Iterator[str]:
    """Titles and descriptions that other packages hold as data: templates, parts of motions, faults, telemetry."""
    for template in TEMPLATES.values():
        yield from filter(None, (template.title, template.__doc__))
        yield from (info.title or name for name, info in template.model_fields.items())
    for kind, model in part_models().items():
        yield about_part(kind, model)
    filled_in: set[type[BaseModel]] = {*_models(TrajectorySpec), Validation}
    for each in filled_in:
        yield from (name.replace("_", " ") for name in each.model_fields)
    yield from (fault.text for fault in FAULTS.values())
    yield from FAULT_WORDS.values()
    yield from finding_texts()
    yield from (fault_name(code) for code in FaultCode if code)
    yield from MEANING.values()


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
    write_po(written, catalogue, no_location=True, omit_header=True, sort_output=True, width=0)
    return _HEAD + written.getvalue().decode("utf-8")


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


if __name__ == "__main__":
    TEMPLATE.write_text(as_file(extracted()), encoding="utf-8")

"""What a person reads, in that person's language: the English of the code, or what a gettext catalogue has for it."""

import gettext
import os
import struct
import sys
from functools import cache
from pathlib import Path

DOMAIN = "stewart-rig"
_FOLDER = "TEXTDOMAINDIR"
"""says in the environment where catalogues are, in place of beside this module"""


def _found() -> gettext.NullTranslations:
    """The first catalogue for the languages that the environment asks for; an empty one where there is none."""
    folder = os.environ.get(_FOLDER) or str(Path(__file__).parent)
    try:
        return gettext.translation(DOMAIN, folder, fallback=True)
    except (OSError, ValueError, struct.error) as error:
        sys.stderr.write(f"warning: a catalogue of texts in {folder} cannot be read: {error}; the app is in English\n")
        return gettext.NullTranslations()


_CATALOGUE = _found()
LANGUAGE = _CATALOGUE.info().get("language", "")
"""that of the catalogue in use, as "de" or "pt_BR"; empty for English"""


def tr(text: str) -> str:
    """A text in the language of the person; English where the catalogue has nothing that fits."""
    found = _CATALOGUE.gettext(text) if text else text  # the empty one would be the catalogue's header
    return found if found == text else _fitting(text, found)


def trn(one: str, many: str, count: int) -> str:
    """The form of a text for so many; its fields are still to be filled in, {count} among them."""
    found = _CATALOGUE.ngettext(one, many, count)
    return found if found in (one, many) else _fitting(many, found)


def mark(text: str) -> str:
    """Have the catalogue contain a text that is a key as well: here it stays English, `tr` shows it."""
    return text


def fits(text: str, translation: str) -> bool:
    """Whether a translation can be filled in as the text is: it has fields of the text alone, each in the same form.

    A field that stands in `[[…]]`, which a finding may lack, stands so in the translation.
    """
    try:
        return _fields(translation) <= _fields(text) and _fields(_always(translation)) <= _fields(_always(text))
    except ValueError:  # braces that are no fields
        return False


def _always(text: str) -> str:
    """A text without what a finding leaves out where it lacks a field of it."""
    import re  # only where there is a catalogue

    return re.sub(r"\[\[.*?\]\]", "", text, flags=re.DOTALL)


def _fields(text: str) -> set[tuple[str, str, str]]:
    from string import Formatter  # only where there is a catalogue

    return {(name, form or "", turned or "") for _, name, form, turned in Formatter().parse(text) if name is not None}


@cache
def _fitting(text: str, found: str) -> str:
    """The translation, or the English text where filling in the translation's fields would fail."""
    return found if fits(text, found) else text

"""Translated texts: the English of the code, or its translation from a gettext catalogue."""

import gettext
import os
import struct
import sys
from functools import cache
from itertools import groupby
from pathlib import Path

DOMAIN = "stewart-rig"
_FOLDER = "TEXTDOMAINDIR"
"""Environment variable with the catalogue folder, in place of this module's."""


def _found() -> gettext.NullTranslations:
    """Return the first catalogue for the environment's languages; an empty one without."""
    folder = os.environ.get(_FOLDER) or str(Path(__file__).parent)
    try:
        return gettext.translation(DOMAIN, folder, fallback=True)
    except (OSError, ValueError, struct.error) as error:
        sys.stderr.write(f"warning: a catalogue of texts in {folder} cannot be read: {error}; the app is in English\n")
        return gettext.NullTranslations()


_CATALOGUE = _found()
LANGUAGE = _CATALOGUE.info().get("language", "")
"""Language of the catalogue, as "de" or "pt_BR"; empty for English."""


def tr(text: str) -> str:
    """Translate a text; English without a valid translation."""
    found = _CATALOGUE.gettext(text) if text else text  # gettext returns the catalogue's header for ""
    return found if found == text else _fitting(text, found)


def trc(context: str, text: str) -> str:
    """Translate a text that has another translation elsewhere; the context says what it is here."""
    found = _CATALOGUE.pgettext(context, text)
    return found if found == text else _fitting(text, found)


def trn(one: str, many: str, count: int) -> str:
    """Return the plural form of a text for a count; fields including {count} are still to be filled in."""
    found = _CATALOGUE.ngettext(one, many, count)
    return found if found in (one, many) else _fitting(many, found)


def mark(text: str) -> str:
    """Mark a text for the catalogue but keep it in English, as a key; `tr` translates it for display."""
    return text


def ranges(numbers: list[int]) -> str:
    """Return sorted integers as text, with runs of three or more as ranges: 1, 3–6."""
    parts: list[str] = []
    for _, run in groupby(enumerate(numbers), lambda entry: entry[1] - entry[0]):
        found = [str(number) for _, number in run]
        parts += found if len(found) < 3 else [f"{found[0]}–{found[-1]}"]
    return ", ".join(parts)


def fits(text: str, translation: str) -> bool:
    """Whether a translation has only fields of the text, in the same form.

    A field in `[[…]]`, which a finding may lack, must also be in `[[…]]` in the translation.
    """
    try:
        return _fields(translation) <= _fields(text) and _fields(_always(translation)) <= _fields(_always(text))
    except ValueError:  # braces that are no fields
        return False


def _always(text: str) -> str:
    """Return a text without its `[[…]]` parts, which are left out if a finding lacks their field."""
    import re  # only needed with a catalogue

    return re.sub(r"\[\[.*?\]\]", "", text, flags=re.DOTALL)


def _fields(text: str) -> set[tuple[str, str, str]]:
    from string import Formatter  # only needed with a catalogue

    return {(name, form or "", turned or "") for _, name, form, turned in Formatter().parse(text) if name is not None}


@cache
def _fitting(text: str, found: str) -> str:
    """Return the translation, or the English text if the translation's fields do not match."""
    return found if fits(text, found) else text

"""A language that nobody speaks: every text of the app in brackets, and longer, as translations are."""

import math
import re
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from catalogue import TEMPLATE, read

from gui.texts import DOMAIN

LANGUAGE = "qps"
_OPEN, _CLOSE = "⟦", "⟧"
_LONGER = 0.3
_TEXT = re.compile(f"{_OPEN}[^{_OPEN}{_CLOSE}]*{_CLOSE}")
_CUT = re.compile(f"{_OPEN}.*…$", re.DOTALL)
"""what was written as far as there was room"""


def translated(text: str) -> str:
    """A text in brackets, some 30 % longer."""
    return f"{_OPEN}{text}{'~' * math.ceil(_LONGER * len(text))}{_CLOSE}"


def write_pseudo(folder: Path) -> None:
    """Put the catalogue of the language into a folder for `TEXTDOMAINDIR`."""
    catalogue = Catalog(locale="en")
    for message in read(TEMPLATE):
        if message.id:
            catalogue.add(message.id, _both(message), flags=message.flags, context=message.context)
    path = folder / LANGUAGE / "LC_MESSAGES" / f"{DOMAIN}.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalogue)


def _both(message: Message) -> str | tuple[str, ...]:
    return translated(message.id) if isinstance(message.id, str) else tuple(map(translated, message.id))


def without_texts(shown: str) -> str:
    """What is left of what is shown once every text of the language is taken out, one in another as well."""
    while (less := _TEXT.sub("", shown)) != shown:
        shown = less
    return _CUT.sub("", shown)

"""How the signals of a plot look: a leg's colour is its own everywhere, and lines of one colour differ in pattern."""

from collections.abc import Sequence

from gui.dashboard.signals import SIGNALS, Quantity
from gui.widgets import DASHED, DASHES

_PATTERNS = ("", *DASHES)
_ALONE = ("text", "accent", "good", "warning", "error")
"""Fields of a theme for what is no leg's and no axis's."""


def line_styles_of(signals: Sequence[str]) -> list[tuple[Quantity, list[int], tuple[str, ...], str]]:
    """Quantities of the signals, by their names: the columns shown, their colours, and the pattern of their lines.

    Solid is measured, dashed is model or command, where that pattern is free. Raises ValueError, in words, where more
    lines would have one colour than there are patterns.
    """
    shown: dict[str, list[int]] = {}
    for key in signals:
        signal = SIGNALS[key]
        shown.setdefault(signal.quantity.keys[0], []).append(signal.column)
    taken: set[tuple[str, str]] = set()
    looks = []
    for first, columns in shown.items():
        quantity = SIGNALS[first].quantity
        columns.sort()
        for pattern in sorted(_PATTERNS, key=lambda one: one != (DASHED if quantity.told else "")):
            colours = tuple(quantity.colours[column] for column in columns)
            if colours == ("text",):  # alone of its kind: whichever is free
                colours = next(((each,) for each in _ALONE if (each, pattern) not in taken), colours)
            if not any((colour, pattern) in taken for colour in colours):
                taken |= {(colour, pattern) for colour in colours}
                looks.append((quantity, columns, colours, pattern))
                break
        else:
            raise ValueError(f"more than {len(_PATTERNS)} lines of one colour, which nobody could tell apart")
    return looks

"""The report's figures drawn by two processes side by side."""

import contextlib
import threading
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

from rig.report.curves import Curves
from rig.report.plots import FIGURES, draw, figure_names
from rig.runtime import ChildDiedError, ChildLateError, ChildProcess

_THEIRS = FIGURES[:4]  # either half takes about as long
_PATIENCE = 60.0  # s, for the other half, once ours is drawn


def figures(curves: Curves, summary: Mapping[str, Any]) -> dict[str, str]:
    """Every figure of the report by name, as SVG documents, the same however many processes draw them.

    A process with other threads cannot be forked, and draws them alone.

    Args:
        curves: of a recording.
        summary: what `summarize` gave of it.
    """
    names = figure_names(summary)
    if threading.active_count() > 1:
        return draw(curves, summary, names)
    helper = ChildProcess("the drawing", _draw, curves, summary, _THEIRS, early=True)
    try:
        ours = draw(curves, summary, [name for name in names if name not in _THEIRS])
        theirs: dict[str, str] = helper.receive(_PATIENCE, "draw")
    except (ChildDiedError, ChildLateError):
        theirs = draw(curves, summary, _THEIRS)
    finally:
        helper.end(0.0)
    return theirs | ours


def _draw(curves: Curves, summary: Mapping[str, Any], names: Sequence[str], connection: Connection) -> None:
    """Main function of the process that helps."""
    with contextlib.suppress(OSError):  # the owner is gone
        connection.send(draw(curves, summary, names))

"""Reports on recordings: the numbers as one JSON object, the plots as one HTML file."""

from typing import TYPE_CHECKING, Any

from rig.report.html import write_report
from rig.report.loop_figure import LoopTrace, write_loop_figure
from rig.report.pages import TITLE, WIDTH, Drawing, drawing, page_environment, panelled, styled
from rig.report.plots import LEG_COLORS, STYLE
from rig.report.summary import summarize

if TYPE_CHECKING:
    from rig.report.models import compare_models

__all__ = [
    "LEG_COLORS",
    "STYLE",
    "TITLE",
    "WIDTH",
    "Drawing",
    "LoopTrace",
    "compare_models",
    "drawing",
    "page_environment",
    "panelled",
    "styled",
    "summarize",
    "write_loop_figure",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """`compare_models` needs the dynamics and its compiled kernels; they are loaded only when it is asked for."""
    if name == "compare_models":
        from rig.report.models import compare_models

        return compare_models
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

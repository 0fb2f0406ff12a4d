"""Reports on recordings: the numbers as one JSON object, the plots as one HTML file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rig.report.provenance import machine_sha256, source_of
from rig.report.summary import summarize
from rig.report.text_summary import summary_lines

if TYPE_CHECKING:
    from rig.report.arm_page import write_arm_page
    from rig.report.comparison import compared, comparison_text, write_comparison, write_comparison_pdf
    from rig.report.figures import LEG_COLORS, STYLE, LoopTrace, write_figures, write_loop_figure
    from rig.report.html import write_report
    from rig.report.loops_page import write_loops_page
    from rig.report.models import compare_models
    from rig.report.pages import TITLE, WIDTH, Drawing, drawing, page_environment, panelled, styled
    from rig.report.pdf import write_pdf
    from rig.report.validation import judged, validate

__all__ = [
    "LEG_COLORS",
    "STYLE",
    "TITLE",
    "WIDTH",
    "Drawing",
    "LoopTrace",
    "compare_models",
    "compared",
    "comparison_text",
    "drawing",
    "judged",
    "machine_sha256",
    "page_environment",
    "panelled",
    "source_of",
    "styled",
    "summarize",
    "summary_lines",
    "validate",
    "write_arm_page",
    "write_comparison",
    "write_comparison_pdf",
    "write_figures",
    "write_loop_figure",
    "write_loops_page",
    "write_pdf",
    "write_report",
]


_DEFERRED = {
    "arm_page": ("write_arm_page",),
    "comparison": ("compared", "comparison_text", "write_comparison", "write_comparison_pdf"),
    "figures": ("LEG_COLORS", "STYLE", "LoopTrace", "write_figures", "write_loop_figure"),
    "html": ("write_report",),
    "loops_page": ("write_loops_page",),
    "models": ("compare_models",),
    "pages": ("TITLE", "WIDTH", "Drawing", "drawing", "page_environment", "panelled", "styled"),
    "pdf": ("write_pdf",),
    "validation": ("judged", "validate"),
}


def __getattr__(name: str) -> Any:
    """Load what needs matplotlib, the dynamics kernels or the PDF writer only when it is asked for."""
    for module, names in _DEFERRED.items():
        if name in names:
            return getattr(import_module(f"rig.report.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

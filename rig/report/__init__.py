"""Reports on recordings: the numbers as one JSON object, the plots as one HTML file."""

from typing import TYPE_CHECKING, Any

from rig.report.comparison import compared, comparison_text, write_comparison, write_comparison_pdf
from rig.report.figures import LEG_COLORS, STYLE, LoopTrace, write_figures, write_loop_figure
from rig.report.html import write_report
from rig.report.pages import TITLE, WIDTH, Drawing, drawing, page_environment, panelled, styled
from rig.report.provenance import machine_sha256, source_of
from rig.report.summary import summarize
from rig.report.text_summary import summary_lines

if TYPE_CHECKING:
    from rig.report.models import compare_models
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
    "write_comparison",
    "write_comparison_pdf",
    "write_figures",
    "write_loop_figure",
    "write_pdf",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Load what needs the dynamics kernels or the PDF writer only when it is asked for."""
    if name == "compare_models":
        from rig.report.models import compare_models

        return compare_models
    if name == "write_pdf":
        from rig.report.pdf import write_pdf

        return write_pdf
    if name in ("validate", "judged"):
        from rig.report import validation

        return getattr(validation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Reproduction of the studies of five papers: figures and tables next to ours, and verdicts on their claims."""

from rig.papers.catalogue import STUDIES, reproduce
from rig.papers.claims import Claim, Mended, Origin, Range, Verdict, number
from rig.papers.drawing import Curve, Rule, one_panel, series, six_panels
from rig.papers.page import mathematics, write_studies
from rig.papers.paths import crossings, force_error, rms
from rig.papers.study import Counts, Erratum, Numbers, Picture, Sheet, Study, count

__all__ = [
    "STUDIES",
    "Claim",
    "Counts",
    "Curve",
    "Erratum",
    "Mended",
    "Numbers",
    "Origin",
    "Picture",
    "Range",
    "Rule",
    "Sheet",
    "Study",
    "Verdict",
    "count",
    "crossings",
    "force_error",
    "mathematics",
    "number",
    "one_panel",
    "reproduce",
    "rms",
    "series",
    "six_panels",
    "write_studies",
]

"""Reproduction of the studies of five papers: figures and tables next to ours, and verdicts on their claims."""

from rig.papers.catalogue import STUDIES, reproduce
from rig.papers.claims import Claim, Mended, Origin, Range, Verdict, number
from rig.papers.dasgupta_singular import rank_correlation
from rig.papers.drawing import FRACTION, GREY, INK, Curve, Rule, one_panel, series, six_panels
from rig.papers.page import paper_environment, write_drawing, write_numbers, write_studies
from rig.papers.paths import crossings, force_error, rms
from rig.papers.spherical_ends import symmetric_legs
from rig.papers.study import Counts, Erratum, Numbers, Picture, Sheet, Study, count

__all__ = [
    "FRACTION",
    "GREY",
    "INK",
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
    "number",
    "one_panel",
    "paper_environment",
    "rank_correlation",
    "reproduce",
    "rms",
    "series",
    "six_panels",
    "symmetric_legs",
    "write_drawing",
    "write_numbers",
    "write_studies",
]

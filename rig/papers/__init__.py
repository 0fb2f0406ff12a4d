"""Reproduction of the studies of five papers: figures and tables next to ours, and verdicts on their claims."""

from rig.papers.catalogue import STUDIES, reproduce
from rig.papers.claims import Claim, Mended, Origin, Range, Verdict
from rig.papers.page import write_studies
from rig.papers.study import Counts, Erratum, Numbers, Picture, Sheet, Study, count

__all__ = [
    "STUDIES",
    "Claim",
    "Counts",
    "Erratum",
    "Mended",
    "Numbers",
    "Origin",
    "Picture",
    "Range",
    "Sheet",
    "Study",
    "Verdict",
    "count",
    "reproduce",
    "write_studies",
]

"""Reproduction of the studies of five papers: figures and tables next to ours, and verdicts on their claims."""

from rig.papers.catalogue import STUDIES, reproduce
from rig.papers.claims import Claim, Origin, Threshold, Verdict
from rig.papers.page import write_studies
from rig.papers.study import Numbers, Picture, Sheet, Study, total

__all__ = [
    "STUDIES",
    "Claim",
    "Numbers",
    "Origin",
    "Picture",
    "Sheet",
    "Study",
    "Threshold",
    "Verdict",
    "reproduce",
    "total",
    "write_studies",
]

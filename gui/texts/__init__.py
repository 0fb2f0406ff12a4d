"""Translated texts: the English of the code, or its translation from a gettext catalogue."""

from gui.texts.catalogue import DOMAIN, LANGUAGE, fits, mark, ranges, tr, trc, trn
from gui.texts.findings import (
    cause_text,
    config_fault_text,
    fault_text,
    finding_statement,
    finding_text,
    findings_text,
    sentence,
)

__all__ = [
    "DOMAIN",
    "LANGUAGE",
    "cause_text",
    "config_fault_text",
    "fault_text",
    "finding_statement",
    "finding_text",
    "findings_text",
    "fits",
    "mark",
    "ranges",
    "sentence",
    "tr",
    "trc",
    "trn",
]

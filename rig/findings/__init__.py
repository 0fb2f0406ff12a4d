"""Findings: a code with its values, from the check that reports it to the displayed text and remedy.

A finding is passed unchanged, from the engine over the link to recordings, command line and app. Its text is generated
from `codes` in one place (`finding`), in the reader's language.
"""

from rig.findings.codes import Code, Remedy, Severity
from rig.findings.finding import (
    Finding,
    Value,
    elided,
    finding_from_json,
    finding_texts,
    finding_to_json,
    render,
    statement,
    stop_cause,
)

__all__ = [
    "Code",
    "Finding",
    "Remedy",
    "Severity",
    "Value",
    "elided",
    "finding_from_json",
    "finding_texts",
    "finding_to_json",
    "render",
    "statement",
    "stop_cause",
]

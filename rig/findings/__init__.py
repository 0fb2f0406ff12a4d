"""Findings: a code with its numbers from the check that finds something to the text and the button that mends it.

A finding is passed as it is, from the engine over the link to recordings, command line and app. Its text is made from
`codes` alone, in one place (`finding`), in the language of whoever reads it.
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

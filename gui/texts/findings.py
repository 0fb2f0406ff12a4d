"""Findings in the person's language."""

from collections.abc import Iterable

from gui.texts.catalogue import tr
from rig.errors import ConfigFault
from rig.findings import Finding, render, statement, stop_cause
from rig.states import fault_name


def sentence(text: str) -> str:
    """A text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def finding_text(finding: Finding) -> str:
    """A finding in words."""
    return render(finding, tr)


def findings_text(findings: Iterable[Finding]) -> str:
    """Several findings in words, one after the other."""
    return ", ".join(map(finding_text, findings))


def finding_statement(finding: Finding) -> str:
    """A finding in words without the leg in front, for where that is said already."""
    return statement(finding, tr)


def config_fault_text(fault: ConfigFault) -> str:
    """What is wrong with a configuration, with its key in front."""
    return render(fault.located, tr)


def fault_text(code: int) -> str:
    """A kind of fault, a `FaultCode`; "" for none."""
    return tr(fault_name(code)) if code else ""


def cause_text(finding: Finding | None) -> str:
    """Why the rig stopped: the kind of fault, and what was found; "" for nothing."""
    return "" if finding is None else finding_text(stop_cause(finding))

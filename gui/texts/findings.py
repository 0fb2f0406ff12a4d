"""Translated findings."""

from collections.abc import Iterable

from gui.texts.catalogue import tr
from rig.errors import ConfigFault
from rig.findings import Finding, render, statement, stop_cause
from rig.states import fault_name


def sentence(text: str) -> str:
    """Capitalise the first letter."""
    return text[:1].upper() + text[1:]


def finding_text(finding: Finding) -> str:
    """Return a finding as text."""
    return render(finding, tr)


def findings_text(findings: Iterable[Finding]) -> str:
    """Return several findings as text."""
    return ", ".join(map(finding_text, findings))


def finding_statement(finding: Finding) -> str:
    """Return a finding as text without its leg, for use after a leg's name."""
    return statement(finding, tr)


def config_fault_text(fault: ConfigFault) -> str:
    """Return a configuration fault as text, with its key in front."""
    return render(fault.located, tr)


def fault_text(code: int) -> str:
    """Return the text of a `FaultCode`; "" for none."""
    return tr(fault_name(code)) if code else ""


def cause_text(finding: Finding | None) -> str:
    """Return why the rig stopped: the kind of fault and the finding; "" for nothing."""
    return "" if finding is None else finding_text(stop_cause(finding))

"""Checks whether this computer can run a rig, with remedies."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rig.services.finding import Finding
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request


@request
class DoctorRequest:
    """The rig to be run."""

    config: str = "virtual"
    """a configuration's file, or the name of a shipped one"""


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """Findings, those on the machine first."""

    findings: tuple[Finding, ...]

    @property
    def failed(self) -> frozenset[str]:
        """Return the names of the failed checks."""
        return frozenset(finding.name for finding in self.findings if finding.status == "fail")


def doctor(request: DoctorRequest, progress: OnEvent = no_progress) -> DoctorResult:
    """Check this computer and a rig's configuration, drives and folders. Nothing is changed.

    Events: `looking` after each finding, with the value `finding`.
    """
    from rig.services import machine_probes, rig_probes

    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        machine_probes.all_findings,
        lambda: rig_probes.all_findings(request.config),
    )
    findings: list[Finding] = []
    for check in checks:
        for finding in check():
            findings.append(finding)
            progress(Progress("looking", len(findings), values={"finding": finding}))
    return DoctorResult(tuple(findings))

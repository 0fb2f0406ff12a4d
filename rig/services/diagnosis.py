"""Whether this machine can run a rig, and what to do where it cannot."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rig.services.finding import Finding
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request


@request
class DoctorRequest:
    """The rig that the machine is to run."""

    config: str = "virtual"
    """a configuration's file, or the name of a shipped one"""


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """What was found, of the machine first."""

    findings: tuple[Finding, ...]

    @property
    def failed(self) -> frozenset[str]:
        """Names of what will not work."""
        return frozenset(finding.name for finding in self.findings if finding.status == "fail")


def doctor(request: DoctorRequest, progress: OnEvent = no_progress) -> DoctorResult:
    """Look at this machine and at a rig's configuration, drives and folders. Nothing is changed.

    Events: `looking` after each finding, whose value `finding` it is.
    """
    from rig.services import machine_probes, rig_probes

    looks: tuple[Callable[[], Iterator[Finding]], ...] = (
        machine_probes.all_findings,
        lambda: rig_probes.all_findings(request.config),
    )
    findings: list[Finding] = []
    for look in looks:
        for finding in look():
            findings.append(finding)
            progress(Progress("looking", len(findings), values={"finding": finding}))
    return DoctorResult(tuple(findings))

"""Check of a configuration, its mechanism and a trajectory before any motion."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from rig.config import RigConfig
from rig.engine import BusVerdict
from rig.safety import LawBandwidth, LoopVerdict, TrajectoryVerdict
from rig.services.job import Notice, OnEvent, no_progress
from rig.services.request import request


@request
class CheckRequest:
    """Request for the check."""

    config: str = "virtual"
    """a configuration's file, or the name of a shipped one"""
    trajectory: str | None = None
    """a trajectory (TOML, or CSV of poses), or "demo"; None: the configuration alone"""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of the service.

    config: as read. warnings: notices, with codes `mechanism`, `unidentified` (drives), `unwatched`
    (drives) and `sag`. loop: the control loop. bandwidth: of its law, None where the drives close it. buses: the serial
    lines. verdict: of the trajectory, None without one.
    """

    config: RigConfig
    warnings: tuple[Notice, ...]
    loop: LoopVerdict
    bandwidth: LawBandwidth | None
    buses: BusVerdict
    verdict: TrajectoryVerdict | None

    @property
    def faults(self) -> tuple[Notice, ...]:
        """Return the faults, or empty: codes `loop`, `buses` and `trajectory`."""
        texts = [("buses", found.text) for found in self.buses.summary]
        if not self.loop.passed:
            texts.insert(0, ("loop", self.loop.message))
        if self.verdict is not None and not self.verdict.passed:
            texts.append(("trajectory", self.verdict.message))
        return tuple(Notice(code, text, serious=True) for code, text in texts)

    @property
    def passed(self) -> bool:
        """Return whether loop, lines and trajectory pass."""
        return not self.faults

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI, without the trajectory's name."""
        fields = {
            "config": str(self.config.path),
            "mechanism": self.config.machine.name,
            "warnings": [warning.text for warning in self.warnings],
            "checks_off": list(self.config.safety.off),
            "control_loop": self.loop.as_dict(),
            "bandwidth": None if self.bandwidth is None else self.bandwidth.as_dict(),
            "buses": self.buses.as_dict(),
        }
        return fields if self.verdict is None else fields | {"verdict": self.verdict.as_dict()}


def check(request: CheckRequest, progress: OnEvent = no_progress) -> CheckResult:
    """Check a configuration with its mechanism and control loop, and whether the rig may run a trajectory.

    Raises:
        InputError: an invalid file, including that of a virtual plant.
    """
    from rig.client import check_unit
    from rig.commissioning import check_devices
    from rig.config import load_config
    from rig.engine import judge_buses, make_drive_group, motion_verdict
    from rig.motions import read_trajectory
    from rig.safety import check_loop, judge_sag, law_bandwidth
    from rig.virtual import VirtualRig, payload_of

    del progress  # no stages
    rig = load_config(request.config)
    check_devices(rig)
    drives = make_drive_group(rig)
    if rig.virtual is not None:
        with payload_of(rig) or nullcontext() as payload:
            VirtualRig(rig, payload=payload)  # its own plant may be invalid
    if rig.reference is not None:
        check_unit(rig, rig.reference)
    loop, buses = check_loop(rig), judge_buses(rig, drives.plans)
    warnings = [Notice("mechanism", text) for text in rig.machine.warnings]
    unwatched = "" if drives.unwatched is None else drives.unwatched.text
    found = {"unidentified": rig.drives.unidentified, "unwatched": unwatched, "sag": judge_sag(rig).message}
    warnings += [Notice(code, text) for code, text in found.items() if text]
    verdict = None
    if request.trajectory is not None:
        path = read_trajectory(request.trajectory, rig.machine.geometry)
        verdict = motion_verdict(rig, path, rig.check_rate)
    bandwidth = law_bandwidth(rig, rig.mode) if loop.at_host else None
    return CheckResult(rig, tuple(warnings), loop, bandwidth, buses, verdict)

"""Checks of what the drives and load cells report, every cycle, before anything is computed from it."""

from collections.abc import Sequence

from rig.config import RigConfig
from rig.safety.cell_checks import CellChecks
from rig.safety.drive_checks import DriveChecks
from rig.safety.motion_checks import MotionChecks


class FeedbackMonitor:
    """The checks of one rig: `check_drives`, then `check_motion`, then `check_forces`, which bears in mind the motion.

    Args:
        config: gives the bounds.
        resolution: m, of each drive's position.
        velocity_feedback: whether each drive reports a measured speed.
    """

    def __init__(self, config: RigConfig, resolution: Sequence[float], velocity_feedback: Sequence[bool]) -> None:
        borne = max(config.stale_time, config.drives.watchdog)
        self._motion = MotionChecks(config.machine, config.safety, config.period, borne, resolution, velocity_feedback)
        self._cells = CellChecks(config, self._motion.suspicion)
        self.departure = self._motion.departure
        self.check_drives = DriveChecks(config.period, config.stale_time, config.drives.sample_period).check
        self.check_motion = self._motion.check
        self.check_forces = self._cells.check

    def forget(self) -> None:
        """Begin anew: the next samples are compared with none before them."""
        self._motion.forget()
        self._cells.forget()

"""Checks of what the drives and load cells report, every cycle, before anything is computed from it."""

from dynamics import Mechanism
from rig.engine.cell_checks import CellChecks
from rig.engine.drive_checks import DriveChecks
from rig.engine.motion_checks import MotionChecks
from rig.schema import LoadCells, Safety


class FeedbackMonitor:
    """The checks of one rig: `check_drives`, then `check_motion`, then `check_forces`, which bears in mind the motion.

    Args:
        mechanism: gives the legs' length limits.
        safety: bounds of the configuration.
        cells: what is expected of the load cells.
    """

    def __init__(self, mechanism: Mechanism, safety: Safety, cells: LoadCells) -> None:
        self._motion = MotionChecks(mechanism, safety)
        self._cells = CellChecks(safety, cells, self._motion.suspicion)
        self.check_drives = DriveChecks(safety).check
        self.check_motion = self._motion.check
        self.check_forces = self._cells.check

    def forget(self) -> None:
        """Begin anew: the next samples are compared with none before them."""
        self._motion.forget()
        self._cells.forget()

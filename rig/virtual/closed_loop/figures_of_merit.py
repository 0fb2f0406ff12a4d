"""Numbers by which controllers are compared: how well they track, and what that takes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinematics import leg_kinematics
from rig.virtual.arrays import Array
from rig.virtual.closed_loop.result import LoopRun


@dataclass(frozen=True, slots=True, eq=False)
class Merit:
    """Of one run; RMS over all cycles, peaks are the largest. SI units, (6,) by leg.

    position, rotation: RMS and peak of the platform's distance, m, and angle, rad, from its reference.
    leg_rms, leg_peak: of the legs' lengths from those of the reference, m.
    force_rms, force_peak: of the motors, N. share (6,): the peak's of what drive and leg may give.
    saturated (6,): share of the cycles with the leg's force bounded. stopped: legs, 1…6, that reached an end stop.
    end: why the run ended early, or "".
    """

    controller: str
    plant: str
    duration: float
    position: tuple[float, float]
    rotation: tuple[float, float]
    leg_rms: Array
    leg_peak: Array
    force_rms: Array
    force_peak: Array
    share: Array
    saturated: Array
    stopped: tuple[int, ...]
    end: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON, the units in the names."""
        return {
            "controller": self.controller,
            "plant": self.plant,
            "duration_s": self.duration,
            "position_rms_mm": 1e3 * self.position[0],
            "position_peak_mm": 1e3 * self.position[1],
            "rotation_rms_mrad": 1e3 * self.rotation[0],
            "rotation_peak_mrad": 1e3 * self.rotation[1],
            "leg_rms_mm": (1e3 * self.leg_rms).tolist(),
            "leg_peak_mm": (1e3 * self.leg_peak).tolist(),
            "force_rms_n": self.force_rms.tolist(),
            "force_peak_n": self.force_peak.tolist(),
            "share_of_limit": self.share.tolist(),
            "saturated_share": self.saturated.tolist(),
            "legs_at_stop": list(self.stopped),
            "end": self.end or None,
        }


def merit(run: LoopRun, plant: str, bounds: Array) -> Merit:
    """The numbers of a run on a plant of that name; bounds (6,): what a leg's force may be, N."""
    wanted = leg_kinematics(run.config.machine.geometry, run.reference).length
    off, forces = run.lengths - wanted, np.abs(run.motors)
    peak = forces.max(axis=0)
    return Merit(
        run.controller,
        plant,
        float(run.times[-1] - run.times[0]),
        _size(run.error[:, :3]),
        _size(run.error[:, 3:]),
        np.sqrt((off**2).mean(axis=0)),
        np.abs(off).max(axis=0),
        np.sqrt((forces**2).mean(axis=0)),
        peak,
        peak / np.minimum(bounds, run.virtual.drive.force_limit),
        run.saturated,
        run.stopped,
        run.end,
    )


def _size(vectors: Array) -> tuple[float, float]:
    """RMS and peak of the vectors' lengths."""
    squares = (vectors**2).sum(axis=1)
    return float(np.sqrt(squares.mean())), float(np.sqrt(squares.max()))

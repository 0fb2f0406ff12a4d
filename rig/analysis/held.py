"""What a force that is held from command to command is more at the instant of a reading than on average about it.

Encoders tell the mean of an acceleration over a period, cells are read at once. Between the two lies what the drives
give beyond their mean, and what Coulomb friction takes more than on average, since a leg turns round within a cycle.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode
from dynamics import Mechanism, switched_friction
from rig.analysis.smoothing import Floats
from rig.recording import RecordingError

LEAD = 4
"""rows from which on the forces do not rest on what was before the first one, at the dead times and lags of drives"""
TRAIL = 1
"""rows at the end that would need the next one to know what friction did after them"""

_SUBSTEPS = 20  # of a period
_PLACES = (np.arange(_SUBSTEPS) + 0.5) / _SUBSTEPS


def held_excess(
    rows: npt.NDArray[np.void], mechanism: Mechanism, coulomb_speed: float, rate: float, drives: Mapping[str, Any]
) -> Floats:
    """What accelerates the platform at the instant of telemetry rows (n) beyond the mean about it, (n, 6) N by leg.

    Of legs whose drive was given forces; 0 for the others. See `drive_forces`, which raises as well, and
    `dynamics.switched_friction`.
    """
    commanded = np.all(rows["mode"] == Mode.FORCE, axis=0) & np.isfinite(rows["force_command"]).all(axis=0)
    if not commanded.any():
        return np.zeros((len(rows), 6))
    commands = np.where(commanded, rows["force_command"], 0.0)
    _, excess = drive_forces(commands, 1.0 / rate, drives)
    friction = np.array([leg.friction.coulomb for leg in mechanism.legs])
    return np.where(commanded, excess - friction * switched_friction(rows["velocity"], coulomb_speed), 0.0)


def drive_forces(commands: Floats, period: float, drives: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Forces (n, 6) N that drives give about the times when commands (n, 6) are computed, `period` s apart.

    The first is their mean over the periods before and after, weighted as a second difference of lengths weighs
    accelerations; the other what they are more at the instant itself. A command goes out with the exchange of the next
    cycle, takes effect after the drives' dead time, and is reached with the lag of their force loop.

    drives: the configuration's, of which `delay`, s, and `force_bandwidth`, Hz, are taken.
    Raises RecordingError where they are not there.
    """
    delay, bandwidth = drives.get("delay"), drives.get("force_bandwidth")
    if not isinstance(delay, int | float) or not isinstance(bandwidth, int | float) or not bandwidth > 0:
        raise RecordingError("the recording does not say the drives' delay and force_bandwidth")
    whole = int(delay // period)
    early = delay - whole * period  # of a period, while the command before still counts
    lag = 1.0 / (2.0 * math.pi * bandwidth)
    newer = _earlier(commands, 1 + whole)  # what takes effect in the period that begins with a row
    older = _earlier(commands, 2 + whole)
    kept, late = math.exp(-early / lag), math.exp(-(period - early) / lag)
    # f(k+1) = newer + (middle − newer) late, middle = older + (f(k) − older) kept
    steps = older * (1.0 - kept) * late + newer * (1.0 - late)
    forces = np.empty_like(commands)
    forces[0] = commands[0]
    from scipy.signal import lfilter  # takes long to import, and few need it

    forces[1:] = lfilter([1.0], [1.0, -kept * late], steps[:-1], axis=0, zi=(kept * late * commands[0])[np.newaxis])[0]
    middle = older + (forces - older) * kept
    rising, falling = np.zeros_like(commands), np.zeros_like(commands)  # over the period that begins with a row
    for place in _PLACES:
        since = place * period
        if since < early:
            here = older + (forces - older) * math.exp(-since / lag)
        else:
            here = newer + (middle - newer) * math.exp(-(since - early) / lag)
        rising += place * here / _SUBSTEPS
        falling += (1.0 - place) * here / _SUBSTEPS
    mean = falling + np.vstack([rising[:1], rising[:-1]])
    return mean, forces - mean


def _earlier(values: Floats, rows: int) -> Floats:
    """Each row's value so many rows before, the first where there is none."""
    return np.vstack([np.repeat(values[:1], rows, axis=0), values[:-rows]])

"""What identification from a recording's own motions would leave of its forces: for its report."""

from typing import Any

from calibration import CalibrationError
from dynamics import DynamicsError
from rig.errors import InputError
from rig.recording import Recorded


def identifiability_of(recording: Recorded) -> dict[str, Any]:
    """Identify from the first three quarters of a recording's motions, and judge by the last one.

    Nothing of it is kept but how well it would do. What cannot be identified is no error here.

    Returns:
        `holdout`: `residual_before_n`, `residual_after_n` and `noise_n`, N RMS of all legs over the last quarter, or
        None; `told` of how many `combinations` of parameters the forces tell; `consistent`, whether the bodies found
        can exist; `why` it cannot be told, or None; `text`, all that in a sentence.
    """
    from rig.analysis import identify_recordings  # takes long to import, and few need it

    try:
        found = identify_recordings([recording])
    except (CalibrationError, DynamicsError, InputError) as error:
        faults = getattr(error, "faults", ()) or (str(error),)
        why = "; ".join(fault.removeprefix(f"{recording.path}: ").strip() for fault in faults)
        return {"holdout": None, "told": None, "combinations": None, "consistent": None, "why": why} | {
            "text": f"nothing can be identified from this motion: {why}"
        }
    held, told = found.held_out, found.result.told
    return {
        "holdout": {"residual_before_n": held.before, "residual_after_n": held.after, "noise_n": held.noise},
        "told": int(told.sum()),
        "combinations": len(told),
        "consistent": bool(found.result.consistent),
        "why": None,
        "text": f"the model as configured leaves {held.before:.2f} N of the last quarter; with parameters identified "
        f"from the rest it would leave {held.after:.2f} N, noise is {held.noise:.2f} N",
    }

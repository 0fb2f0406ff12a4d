"""Residual that an identification from a recording's own motions would have, for its report."""

from typing import Any

from calibration import CalibrationError
from dynamics import DynamicsError
from rig.errors import InputError
from rig.recording import Recorded


def identifiability_of(recording: Recorded) -> dict[str, Any]:
    """Identify from the first three quarters of a recording's motions, and judge by the last one.

    Only the quality is returned. A failed identification is no error here.

    Returns:
        `holdout`: `residual_before_n`, `residual_after_n` and `noise_n`, N RMS of all legs over the last quarter, or
        None; `told`: how many of the `combinations` of parameters are identifiable; `consistent`: whether the bodies
        are physically consistent; `why`: reason of a failure, or None; `text`: the result as a sentence.
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
    hold_out, identifiable = found.held_out, found.result.identifiable
    return {
        "holdout": {
            "residual_before_n": hold_out.before,
            "residual_after_n": hold_out.after,
            "noise_n": hold_out.noise,
        },
        "told": int(identifiable.sum()),
        "combinations": len(identifiable),
        "consistent": bool(found.result.consistent),
        "why": None,
        "text": f"the model as configured leaves {hold_out.before:.2f} N of the last quarter; with parameters "
        f"identified from the rest it would leave {hold_out.after:.2f} N, noise is {hold_out.noise:.2f} N",
    }

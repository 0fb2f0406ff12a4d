"""Checks of output files before the work begins."""

from pathlib import Path

from rig.csvio import check_output
from rig.errors import InputError


def check_new_file(path: Path) -> None:
    """Refuse an output path for a new calibration file before any measurement.

    Raises:
        CalibrationFileError: it exists already, or its folder does not.
        InputError: its folder is not writable.
    """
    from calibration import CalibrationFileError  # not needed for other files

    if path.exists():
        raise CalibrationFileError(str(path), "exists already and calibrations are never overwritten; name another: -o")
    if not path.parent.is_dir():
        raise CalibrationFileError(str(path), f"there is no folder {path.parent}")
    check_output(path)


def check_made_of(recording: Path, output: Path) -> None:
    """Refuse an output that cannot be written, or would overwrite its source recording.

    Raises:
        InputError: with the reason.
    """
    check_output(output)
    if recording.exists() and output.exists() and output.samefile(recording):
        raise InputError(f"cannot write {output}: it is the recording itself")

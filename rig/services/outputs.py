"""Files that services write: refused before the work begins where they cannot be written."""

from pathlib import Path

from rig.csvio import check_output
from rig.errors import InputError


def check_new_file(path: Path) -> None:
    """Refuse a calibration's file that cannot become a new one, before anything is measured.

    Raises:
        CalibrationFileError: it is there already, or its folder is not.
        InputError: its folder cannot be written to.
    """
    from calibration import CalibrationFileError  # who writes other files need not load it

    if path.exists():
        raise CalibrationFileError(str(path), "exists already and calibrations are never overwritten; name another: -o")
    if not path.parent.is_dir():
        raise CalibrationFileError(str(path), f"there is no folder {path.parent}")
    check_output(path)


def check_made_of(recording: Path, output: Path) -> None:
    """Refuse an output that cannot be written, or would take the place of the recording that it is made of.

    Raises:
        InputError: saying why.
    """
    check_output(output)
    if recording.exists() and output.exists() and output.samefile(recording):
        raise InputError(f"cannot write {output}: it is the recording itself")

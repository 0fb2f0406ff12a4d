"""A designed motion as a trajectory file."""

from pathlib import Path

import tomlkit

from calibration import Excitation
from kinematics import toml_item
from rig.errors import InputError


def write_excitation(path: Path, motion: Excitation) -> None:
    """Write a motion as a trajectory file that `rig run` takes. Raises InputError where it cannot be written."""
    document = tomlkit.document()
    document.add(tomlkit.comment("A motion that tells a rig's inertias and frictions, designed by `rig excite`."))
    document.add("frame", toml_item("home"))
    part = tomlkit.table()
    part.add("type", toml_item("harmonic"))
    part.add("duration", toml_item(motion.duration))
    part.add("fade", toml_item(motion.fade))
    terms = tomlkit.array()
    terms.extend(
        toml_item({"dof": t.dof, "amplitude": t.amplitude, "frequency": t.frequency, "phase": t.phase})
        for t in motion.terms
    )
    part.add("terms", terms.multiline(True))
    parts = tomlkit.aot()
    parts.append(part)
    document.add("parts", parts)
    try:
        path.write_text(tomlkit.dumps(document), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error

"""The lines that make a rig's configuration use a file."""

from pathlib import Path

import tomlkit

from calibration import parameters_line
from gui.fitting.store_page import Use
from gui.texts import tr
from rig.config import RigConfig

_LABEL = tr("For the configuration")


def parameters_use(config: RigConfig, mechanism: str, target: Path) -> Use:
    """The line for a file of parameters, with the files that the configuration names already before it.

    mechanism: name of the one that the parameters are of; of another than the configuration's, the line names the file
    alone.
    """
    own = mechanism == config.nominal.name
    line = parameters_line([target.name])
    if own:
        name = _named(config, target)
        line = parameters_line([*(each for each in config.parameters if each != name), name])
    about = tr(
        "Put this line into {file}, above its first section: engine, checks and reports then compute with these "
        "parameters. The mechanism's own file stays as it was drawn."
    ).format(file=_where(config, own))
    return Use(_LABEL, line, about)


def cells_use(config: RigConfig, own: bool, target: Path) -> Use:
    """The line for a calibration of the load cells; `own`: of this configuration's rig."""
    name = _named(config, target) if own else target.name
    about = tr(
        "Put this line into the section [load_cells] of {file}: engine, checks and reports then read the cells by "
        "this calibration."
    ).format(file=_where(config, own))
    return Use(_LABEL, tomlkit.dumps({"calibration": name}).strip(), about)


def _named(config: RigConfig, target: Path) -> str:
    place, folder = target.resolve(), config.folder.resolve()
    return str(place.relative_to(folder)) if place.is_relative_to(folder) else str(place)


def _where(config: RigConfig, own: bool) -> str:
    if not own:
        return tr("the rig's configuration")
    return (
        tr("a copy of {name}, which is the project's").format(name=config.path.name)
        if config.shipped
        else config.path.name
    )

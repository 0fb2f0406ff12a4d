"""The owner's shapes as meshes."""

from pathlib import Path

import numpy as np

from gui.scene.figure import Shapes
from gui.scene.meshes import Mesh, smooth_mesh
from gui.texts import tr
from rig.config import RigConfig, read_shape
from rig.errors import InputError

_CREASE = np.radians(35.0)
"""angle from which on two triangles meet in an edge"""


def shapes_of(config: RigConfig) -> tuple[Shapes, list[str]]:
    """The shapes that a configuration names, and why some of them cannot be shown, in words."""
    faults: list[str] = []

    def read(name: str | None) -> Mesh | None:
        if name is None:
            return None
        try:
            shape = read_shape(Path(config.folder, name), config.picture.unit)
        except InputError as error:
            faults.append(tr("the machine is shown with a plate instead: {error}").format(error=error))
            return None
        return smooth_mesh(shape.points, shape.faces, _CREASE)

    return Shapes(platform=read(config.picture.platform), base=read(config.picture.base)), faults

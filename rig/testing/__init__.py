"""What a part of another distribution must do: conformance suites for its tests.

Of laws, references and readers of sensors by `check_law`, `check_source`, `check_sensor`; of drivers by `check_driver`,
`check_cell_driver`, `check_io_driver`, or `pytest --rig-driver NAME` (`rig.testing.plugin`). Each name is loaded at its
first use, as pytest loads the plug-in wherever this distribution is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rig.testing.benches import BenchLeg as BenchLeg
    from rig.testing.benches import CellBench as CellBench
    from rig.testing.benches import DriveBench as DriveBench
    from rig.testing.benches import IoBench as IoBench
    from rig.testing.benches import cell_benches as cell_benches
    from rig.testing.benches import drive_benches as drive_benches
    from rig.testing.benches import io_benches as io_benches
    from rig.testing.cell_drivers import CELL_CHECKS as CELL_CHECKS
    from rig.testing.cell_drivers import check_cell_driver as check_cell_driver
    from rig.testing.drivers import DRIVE_CHECKS as DRIVE_CHECKS
    from rig.testing.drivers import check_driver as check_driver
    from rig.testing.failure import Failure as Failure
    from rig.testing.io_drivers import IO_CHECKS as IO_CHECKS
    from rig.testing.io_drivers import check_io_driver as check_io_driver
    from rig.testing.laws import LAW_CHECKS as LAW_CHECKS
    from rig.testing.laws import check_law as check_law
    from rig.testing.references import SOURCE_CHECKS as SOURCE_CHECKS
    from rig.testing.references import check_source as check_source
    from rig.testing.sensors import SENSOR_CHECKS as SENSOR_CHECKS
    from rig.testing.sensors import check_sensor as check_sensor

_NAMES = {
    "benches": ("BenchLeg", "CellBench", "DriveBench", "IoBench", "cell_benches", "drive_benches", "io_benches"),
    "cell_drivers": ("CELL_CHECKS", "check_cell_driver"),
    "drivers": ("DRIVE_CHECKS", "check_driver"),
    "failure": ("Failure",),
    "io_drivers": ("IO_CHECKS", "check_io_driver"),
    "laws": ("LAW_CHECKS", "check_law"),
    "references": ("SOURCE_CHECKS", "check_source"),
    "sensors": ("SENSOR_CHECKS", "check_sensor"),
}
"""Exported names by module of this package."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(_MODULES)

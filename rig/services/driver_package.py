"""A package of one's own for a driver, filled with the worked example."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rig.errors import InputError
from rig.services.job import OnEvent, no_progress
from rig.services.request import request

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
dependencies = [{requires}]

[project.entry-points."stewart_rig.drivers"]
{name} = "{module}:DRIVER"

[tool.setuptools]
py-modules = ["{module}"]
"""
_BENCH = """from rig.testing import DriveBench


class Bench(DriveBench):
    lacks = {{"feedforward", "brake", "one set-point", "transaction"}}
    takes = 6
    arrives = 2
    force_step = 0.5

    def __init__(self, **options):
        super().__init__("{name}", {{"device": "ethercat://memory", "unit": 3, **options}})


def pytest_rig_drive_benches(driver):
    return {{"{name}": Bench}} if driver == "{name}" else None
"""
Example = Literal["ascii", "ethercat"]


@request
class DriverPackageRequest:
    """A package for a driver, to be changed to the drive's own protocol."""

    name: str
    """of the driver, as in a configuration: small letters, digits, - and _"""
    folder: Path | None = None
    """to write it to, which must not exist; None: one of its name, here"""
    example: Example = "ascii"
    """what it is filled with: frames of a made-up protocol, or CiA 402 on EtherCAT"""


@dataclass(frozen=True, slots=True)
class DriverPackageResult:
    """Result: the files, that of the package's project first."""

    files: tuple[Path, ...]


def write_driver_package(request: DriverPackageRequest, progress: OnEvent = no_progress) -> DriverPackageResult:
    """Write a package with a driver that passes the conformance suite: the worked example, under its own name.

    Raises:
        InputError: the name is that of a driver or module that there is, or cannot be one; the folder exists, or cannot
            be written.
    """
    from actuators import drive_names

    del progress  # no stages
    name = request.name
    module = name.replace("-", "_")
    if not _NAME.fullmatch(name):
        raise InputError(f"driver {name!r}: must be small letters, digits, - and _, beginning with a letter")
    if name in drive_names() or module in sys.stdlib_module_names:
        raise InputError(f"driver {name!r}: there is one, or a module, of that name")
    folder = request.folder or Path(name)
    ethercat = request.example == "ethercat"
    requires = '"stewart-rig", "pysoem"' if ethercat else '"stewart-rig"'
    source = Path(__file__).parent.parent / "testing" / ("example_ethercat.py" if ethercat else "example_driver.py")
    files = {
        "pyproject.toml": _PROJECT.format(name=name, module=module, requires=requires),
        f"{module}.py": source.read_text("utf-8"),
    }
    if ethercat:
        files["conftest.py"] = _BENCH.format(name=name)
    try:
        folder.mkdir(parents=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return DriverPackageResult(tuple(folder / file for file in files))

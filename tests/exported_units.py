"""Exported co-simulation units, run by FMPy: the same calls for FMI 2.0 and 3.0."""

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from fmpy import read_model_description
from fmpy.fmi2 import FMU2Slave, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
from fmpy.fmi3 import FMU3Slave

from kinematics import Array
from rig.fmu import FmiVersion, Unit, build_unit


def exported(unit: Unit, version: FmiVersion, folder: Path) -> Path:
    """The unit as a file in a folder."""
    path = folder / f"{unit.identifier}-{version}.fmu"
    with path.open("wb") as file:
        build_unit(unit, version, file)
    return path


class Running:
    """An instance of a unit, in simulation; `log` has its messages, with their statuses.

    begun: False leaves it before initialization. token: in place of the description's. experiment: startTime, stopTime.
    """

    log: list[tuple[int, str]]

    def __init__(self, path: Path, begun: bool = True, token: str = "", **experiment: float) -> None:
        self.folder = path.with_suffix("")
        if not self.folder.exists():
            with zipfile.ZipFile(path) as archive:
                archive.extractall(self.folder)
        description = read_model_description(str(path))
        self.references = {each.name: each.valueReference for each in description.modelVariables}
        self.third = description.fmiVersion == "3.0"
        self.log = []
        self.time = experiment.get("startTime", 0.0)
        arguments = {
            "guid": token or description.guid,
            "unzipDirectory": str(self.folder),
            "modelIdentifier": description.coSimulation.modelIdentifier,
            "instanceName": "tested",
        }
        self.fmu: Any = FMU3Slave(**arguments) if self.third else FMU2Slave(**arguments)
        if self.third:
            self.fmu.instantiate(logMessage=self._log_3)
        else:
            callbacks = fmi2CallbackFunctions()
            callbacks.logger = fmi2CallbackLoggerTYPE(self._log_2)
            self.fmu.instantiate(callbacks=callbacks)
        if begun:
            self.begin({}, **experiment)

    def _log_3(self, _place: object, status: int, _category: bytes, text: bytes) -> None:
        self.log.append((status, text.decode()))

    def _log_2(self, _place: object, _name: bytes, status: int, _category: bytes, text: bytes) -> None:
        self.log.append((status, text.decode()))

    def begin(self, start: dict[str, float], **experiment: float) -> None:
        if not self.third:
            self.fmu.setupExperiment(**experiment)
        self.set(start)
        self.fmu.enterInitializationMode(**(experiment if self.third else {}))
        self.fmu.exitInitializationMode()

    def set(self, values: dict[str, float]) -> None:
        if values:
            put = self.fmu.setFloat64 if self.third else self.fmu.setReal
            put([self.references[name] for name in values], list(values.values()))

    def get(self, first: str, count: int = 1) -> Array:
        """The values of `count` variables from one on, in the order of the description."""
        take = self.fmu.getFloat64 if self.third else self.fmu.getReal
        return np.array(take([self.references[first] + k for k in range(count)]))

    def put(self, first: str, values: Iterable[float]) -> None:
        given = [float(value) for value in values]
        put = self.fmu.setFloat64 if self.third else self.fmu.setReal
        put([self.references[first] + k for k in range(len(given))], given)

    def step(self, duration: float) -> None:
        self.fmu.doStep(self.time, duration)
        self.time += duration

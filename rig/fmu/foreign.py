"""A foreign FMU for co-simulation, FMI 2.0 or 3.0, stepped by its owner in the owner's process through FMPy."""

import ctypes
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from kinematics import Array
from rig.errors import HardwareError, InputError


class FmuError(HardwareError):
    """An FMU refuses to begin or to go on, or gives a number that is not finite."""


class ForeignUnit:
    """An instance of an FMU: `begin` at time 0 of its own, then equal steps; a context manager that frees it.

    Args:
        path: the FMU.
        inputs, outputs: names of the variables that `step` takes and gives, in this order.
        start: values by name, set before it begins; of parameters, inputs or start values.
        step: duration of each step, s.

    Raises:
        InputError: FMPy is missing; the file cannot be read, is no FMU for co-simulation on this machine, or lacks a
            variable; the message lists those that there are.
        FmuError: it cannot be loaded, or refuses a value.
    """

    def __init__(
        self, path: Path, inputs: Sequence[str], outputs: Sequence[str], start: Mapping[str, float], step: float
    ) -> None:
        self.path = path
        self._step = step
        self._steps = 0
        self._log: list[str] = []
        self._outputs = tuple(outputs)
        self._fmu: Any = None
        description = read_description(path)
        self._third = description.fmiVersion.startswith("3")
        real = {each.name: each for each in description.modelVariables if each.type in ("Real", "Float64")}
        faults = [
            *_unfit(inputs, {name for name, each in real.items() if each.causality == "input"}, "real input"),
            *_unfit(outputs, {name for name, each in real.items() if each.causality in ("output", "local")}, "output"),
            *_unfit(start, {name for name, each in real.items() if each.start is not None}, "start value or parameter"),
            *(f"{name}: an array, must be a scalar" for name in (*inputs, *outputs) if _is_array(real.get(name))),
        ]
        if faults:
            raise InputError(f"{path}: its variables do not fit", faults)
        self._inputs = _Values([real[name].valueReference for name in inputs])
        self._results = _Values([real[name].valueReference for name in outputs])
        beginning = _Values([real[name].valueReference for name in start])
        beginning.values[:] = list(start.values())
        self._folder = tempfile.TemporaryDirectory(prefix="rig-fmu-")
        try:
            self._instantiate(description)
            self._set(beginning)
        except BaseException:
            self.close()
            raise

    def _instantiate(self, description: Any) -> None:
        from fmpy import extract
        from fmpy.fmi2 import FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
        from fmpy.fmi3 import FMU3Slave

        extract(str(self.path), self._folder.name)
        arguments = {
            "guid": description.guid,
            "unzipDirectory": self._folder.name,
            "modelIdentifier": description.coSimulation.modelIdentifier,
            "instanceName": self.path.stem,
        }
        try:
            if self._third:
                fmu = FMU3Slave(**arguments)
                fmu.instantiate(logMessage=lambda _place, _status, _category, text: self._note(text))
            else:
                fmu = FMU2Slave(**arguments)
                self._callbacks = fmi2CallbackFunctions()
                self._callbacks.logger = fmi2CallbackLoggerTYPE(
                    lambda _place, _name, _status, _category, text: self._note(text)
                )
                self._callbacks.allocateMemory = defaultCallbacks.allocateMemory
                self._callbacks.freeMemory = defaultCallbacks.freeMemory
                fmu.instantiate(callbacks=self._callbacks)
        except Exception as error:  # FMPy raises its own and plain ones
            raise self._failed(error) from error
        self._fmu = fmu

    def begin(self, inputs: Array) -> Array:
        """Initialize with these inputs, and return the outputs; valid until the next step. Raises FmuError."""
        self._inputs.values[:] = inputs
        self._set(self._inputs)
        try:
            if not self._third:
                self._fmu.setupExperiment(startTime=0.0)
            self._fmu.enterInitializationMode()
            self._fmu.exitInitializationMode()
        except Exception as error:
            raise self._failed(error) from error
        return self._get()

    def step(self, inputs: Array) -> Array:
        """Do a step with these inputs, and return the outputs at its end; valid until the next step.

        Raises FmuError.
        """
        self._inputs.values[:] = inputs
        self._set(self._inputs)
        try:
            ended = self._fmu.doStep(self._steps * self._step, self._step)
        except Exception as error:
            raise self._failed(error) from error
        self._steps += 1
        if self._third and (ended[1] or ended[2]):
            raise FmuError(f"{self.path}: it ended at {ended[3]:g} s of its time")
        return self._get()

    def _get(self) -> Array:
        results = self._results
        try:
            if self._third:
                self._fmu.fmi3GetFloat64(
                    self._fmu.component, results.references, results.count, results.place, results.count
                )
            else:
                self._fmu.fmi2GetReal(self._fmu.component, results.references, results.count, results.place)
        except Exception as error:
            raise self._failed(error) from error
        if not math.isfinite(results.values.sum()):
            name = self._outputs[int(np.argmin(np.isfinite(results.values)))]
            raise FmuError(f"{self.path}: {name} is not finite at {self._steps * self._step:g} s of its time")
        return results.values

    def _set(self, given: "_Values") -> None:
        if not given.count:
            return
        try:
            if self._third:
                self._fmu.fmi3SetFloat64(self._fmu.component, given.references, given.count, given.place, given.count)
            else:
                self._fmu.fmi2SetReal(self._fmu.component, given.references, given.count, given.place)
        except Exception as error:
            raise self._failed(error) from error

    def _note(self, text: bytes | None) -> None:
        self._log = [*self._log[-4:], (text or b"").decode(errors="replace")]

    def _failed(self, error: Exception) -> FmuError:
        said = f": {self._log[-1]}" if self._log else ""
        return FmuError(f"{self.path}: {error}{said}")

    def close(self) -> None:
        """Free the instance and what was unpacked. May be called again."""
        if self._fmu is not None:
            fmu, self._fmu = self._fmu, None
            fmu.freeInstance()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class _Values:
    """Value references and values, as arrays that C reads and writes."""

    def __init__(self, references: Sequence[int]) -> None:
        self.count = len(references)
        self.references = (ctypes.c_uint * self.count)(*references)
        self.values: Array = np.zeros(self.count)
        self.place = self.values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def read_description(path: Path) -> Any:
    """Read an FMU's description, as FMPy's object. Raises InputError, see `ForeignUnit`."""
    try:
        from fmpy import read_model_description, supported_platforms
    except ImportError as error:
        raise InputError(f"{path} needs FMPy, which is not installed: pip install 'stewart-rig[fmi]'") from error
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        description = read_model_description(str(path))
        platforms = supported_platforms(str(path))
    except Exception as error:
        raise InputError(f"{path}: cannot be read as an FMU: {error}") from error
    if description.coSimulation is None or not description.fmiVersion.startswith(("2", "3")):
        raise InputError(f"{path}: must be an FMU for co-simulation of FMI 2.0 or 3.0")
    if not {"linux64", "x86_64-linux"} & set(platforms):
        raise InputError(f"{path}: has no binary for x86-64 Linux, only for {', '.join(platforms) or 'no system'}")
    return description


def _unfit(wanted: Iterable[str], there: set[str], what: str) -> list[str]:
    names = ", ".join(sorted(there)) or "none"
    return [f"{name}: is no {what} of it; those are: {names}" for name in wanted if name not in there]


def _is_array(variable: Any) -> bool:
    return variable is not None and bool(variable.dimensions)

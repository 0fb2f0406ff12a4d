"""A foreign FMU for co-simulation, FMI 2.0 or 3.0, stepped by its owner in the owner's process through FMPy."""

import contextlib
import ctypes
import fcntl
import math
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from kinematics import Array, NumberTextError, read_quantity
from rig.config import Connection
from rig.errors import HardwareError, InputError

_UNPACKED = "rig-unit-"
"""Prefix of the folders that units are unpacked into."""
_OWNER = "owner"
"""File in such a folder that its process holds locked."""
_DISCARD, _FATAL = 2, 4
_TERMINATED = 3  # fmi2Terminated
_TRIED = 50
"""Steps that are timed."""
_DIMENSIONS: dict[str, dict[str, int]] = {
    "": {}, "m": {"m": 1}, "m/s": {"m": 1, "s": -1}, "m/s^2": {"m": 1, "s": -2}, "rad": {}, "rad/s": {"s": -1},
    "rad/s^2": {"s": -2}, "N": {"kg": 1, "m": 1, "s": -2}, "N*m": {"kg": 1, "m": 2, "s": -2},
}  # fmt: skip
"""Exponents of the SI base units by unit; the radian is left out, as tools disagree about it."""
_BASE = ("kg", "m", "s", "A", "K", "mol", "cd")


class FmuError(HardwareError):
    """An FMU refuses to begin or to go on, or gives a number that is not finite."""


class FmuEndedError(FmuError):
    """An FMU asks for the end of the simulation, which is no failure."""


class ForeignUnit:
    """An instance of an FMU: `begin` at time 0 of its own, then equal steps; a context manager that frees it.

    Values are SI: they are converted by the unit that a connection gives, else by the one that the FMU declares; a
    variable without either is taken as SI.

    Args:
        path: the FMU.
        inputs, outputs: what `step` takes and gives, in this order.
        start: values by name, in the FMU's own units, set before it begins; of parameters, inputs or start values.
        step: duration of each step, s.

    Raises:
        InputError: FMPy is missing; the file cannot be read, is no FMU for co-simulation on this machine, or lacks a
            variable; the message lists those that there are. Or a unit has another dimension, or is unknown.
        FmuError: it cannot be loaded, or refuses a value.
    """

    def __init__(
        self,
        path: Path,
        inputs: Sequence[Connection],
        outputs: Sequence[Connection],
        start: Mapping[str, float],
        step: float,
    ) -> None:
        self.path = path
        self._step = step
        self._steps = 0
        self._log: list[str] = []
        self._outputs = tuple(each.variable for each in outputs)
        self._fmu: Any = None
        self._stepping = False
        fitted = fit(path, inputs, outputs, start)
        self._third = fitted.description.fmiVersion.startswith("3")
        self._inputs, self._results = fitted.inputs, fitted.outputs
        with contextlib.ExitStack() as resources:
            self.folder = resources.enter_context(_unpacked(path))
            """where it is unpacked"""
            resources.callback(self._free)
            self._instantiate(fitted.description)
            for variable, value in fitted.start:
                self._set_start(variable, value)
            self._resources = resources.pop_all()

    def _instantiate(self, description: Any) -> None:
        from fmpy.fmi2 import FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE
        from fmpy.fmi3 import FMU3Slave
        from fmpy.logging import addLoggerProxy

        arguments = {
            "guid": description.guid,
            "unzipDirectory": str(self.folder),
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
                addLoggerProxy(ctypes.byref(self._callbacks))  # formats its messages
                fmu.instantiate(callbacks=self._callbacks)
        except Exception as error:  # FMPy raises its own and plain ones
            raise self._failed(error) from error
        self._fmu = fmu

    def begin(self, inputs: Array) -> Array:
        """Initialize with these inputs, and return the outputs; valid until the next step. Raises FmuError."""
        self._inputs.fill(inputs)
        self._set()
        try:
            if not self._third:
                self._fmu.setupExperiment(startTime=0.0)
            self._fmu.enterInitializationMode()
            self._fmu.exitInitializationMode()
        except Exception as error:
            raise self._failed(error) from error
        self._stepping = True
        return self._get()

    def step(self, inputs: Array) -> Array:
        """Do a step with these inputs, and return the outputs at its end; valid until the next step.

        Raises:
            FmuEndedError: it asks for the end.
            FmuError: it fails.
        """
        if self._log:
            self._log = []
        self._inputs.fill(inputs)
        self._set()
        try:
            ended = self._fmu.doStep(self._steps * self._step, self._step)
        except Exception as error:
            failed = self._failed(error)
            if getattr(error, "status", None) == _DISCARD and not self._third and self._has_ended():
                raise FmuEndedError(f"{self.path}: it ended at {self.time:g} s of its time") from error
            raise failed from error
        if self._third and ended[1]:
            raise FmuEndedError(f"{self.path}: it ended at {ended[3]:g} s of its time")
        if self._third and ended[2]:
            raise FmuError(f"{self.path}: it returned early, at {ended[3]:g} s of its time, which it was not allowed")
        self._steps += 1
        return self._get()

    @property
    def time(self) -> float:
        """Its time, s."""
        return self._steps * self._step

    def _has_ended(self) -> bool:
        try:
            return bool(self._fmu.getBooleanStatus(_TERMINATED))
        except Exception:  # it does not say
            return False

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
            raise FmuError(f"{self.path}: {name} is not finite at {self.time:g} s of its time")
        return results.read()

    def _set(self) -> None:
        given = self._inputs
        if not given.count:
            return
        try:
            if self._third:
                self._fmu.fmi3SetFloat64(self._fmu.component, given.references, given.count, given.place, given.count)
            else:
                self._fmu.fmi2SetReal(self._fmu.component, given.references, given.count, given.place)
        except Exception as error:
            raise self._failed(error) from error

    def _set_start(self, variable: Any, value: float) -> None:
        kind = {"Enumeration": "Int64" if self._third else "Integer"}.get(variable.type, variable.type)
        given = value if _is_real(variable) else int(value)
        try:
            getattr(self._fmu, f"set{kind}")([variable.valueReference], [given])
        except Exception as error:
            raise self._failed(error) from error

    def _note(self, text: bytes | None) -> None:
        self._log = [*self._log[-4:], (text or b"").decode(errors="replace")]

    def _failed(self, error: Exception) -> FmuError:
        if getattr(error, "status", None) == _FATAL:
            self._fmu = None  # after which none of its functions may be called
        self._stepping = False
        said = f": {self._log[-1]}" if self._log else ""
        return FmuError(f"{self.path}: {str(error).rstrip('.')}{said}")

    def _free(self) -> None:
        fmu, self._fmu = self._fmu, None
        if fmu is None:
            return
        if self._stepping:
            with contextlib.suppress(Exception):  # what it says then changes nothing
                fmu.terminate()
        fmu.freeInstance()

    def close(self) -> None:
        """Free the instance and what was unpacked. May be called again."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Fitted:
    """An FMU's description, and the variables of it that are wanted."""

    description: Any
    inputs: "_Values"
    outputs: "_Values"
    start: list[tuple[Any, float]]


def fit(path: Path, inputs: Sequence[Connection], outputs: Sequence[Connection], start: Mapping[str, float]) -> Fitted:
    """Find the variables in an FMU's description, without loading it. Raises InputError as `ForeignUnit`."""
    description = read_description(path)
    there = {each.name: each for each in description.modelVariables}
    real = {name: each for name, each in there.items() if each.type in ("Real", "Float64") and not each.dimensions}
    settable = {name: each for name, each in there.items() if _is_settable(each)}
    gives = {name for name, each in real.items() if each.causality in ("output", "local")}
    takes = {name for name, each in real.items() if each.causality == "input"}
    faults = [
        *_unfit([each.variable for each in inputs], takes, "real input"),
        *_unfit([each.variable for each in outputs], gives, "output"),
        *_unfit(start, set(settable), "start value or parameter"),
        *(
            f"{name}: {value:g}, must be a whole number"
            for name, value in start.items()
            if name in settable and not _is_real(settable[name]) and value != round(value)
        ),
    ]
    if faults:
        raise InputError(f"{path}: its variables do not fit", faults)
    try:
        taken, given = _Values(inputs, real, description), _Values(outputs, real, description)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    return Fitted(description, taken, given, [(settable[name], value) for name, value in start.items()])


def step_time(unit: ForeignUnit, inputs: Array) -> float:
    """Begin an instance that is not needed otherwise, and return what a step takes, s: the median of 50.

    Raises FmuError.
    """
    unit.begin(inputs)
    durations = []
    with contextlib.suppress(FmuEndedError):
        for _ in range(_TRIED):
            began = time.perf_counter()
            unit.step(inputs)
            durations.append(time.perf_counter() - began)
    return sorted(durations)[len(durations) // 2] if durations else 0.0


class _Values:
    """Value references and values, as arrays that C reads and writes, in the FMU's units."""

    def __init__(self, connections: Sequence[Connection], variables: Mapping[str, Any], description: Any) -> None:
        """Raises ValueError for a unit that does not fit."""
        self.count = len(connections)
        self.references = (ctypes.c_uint * self.count)(
            *(variables[each.variable].valueReference for each in connections)
        )
        self.values: Array = np.zeros(self.count)
        self.place = self.values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        scales = [_scale(each, variables[each.variable], description) for each in connections]
        self._factor, self._offset = np.array(scales).reshape(-1, 2).T
        self._si = bool((self._factor == 1.0).all() and (self._offset == 0.0).all())
        self._read: Array = self.values if self._si else np.zeros(self.count)

    def fill(self, values: Array) -> None:
        """Take values in SI units."""
        self.values[:] = values
        if not self._si:
            self.values -= self._offset
            self.values /= self._factor

    def read(self) -> Array:
        """The values in SI units, valid until they are read again."""
        if not self._si:
            np.multiply(self.values, self._factor, out=self._read)
            self._read += self._offset
        return self._read


def _scale(connection: Connection, variable: Any, description: Any) -> tuple[float, float]:
    """Factor and offset from a variable's value to SI. Raises ValueError."""
    wanted, given = connection.unit, connection.factor
    name = variable.unit or (None if variable.declaredType is None else variable.declaredType.unit)
    if not name:
        return (1.0 if math.isnan(given) else given), 0.0
    must = f"must be one of {wanted or 'a number'}"
    base = next((each.baseUnit for each in description.unitDefinitions if each.name == name), None)
    if base is None:
        try:
            declared = read_quantity(f"1 {name}", (wanted,)) if name != "1" else 1.0
        except NumberTextError as error:
            if error.code == "dimension" or math.isnan(given):
                why = must if error.code == "dimension" else f"which it does not define; {must}"
                raise ValueError(f"{connection.variable}: its unit is {name}, {why}") from None
            return given, 0.0
        offset = 0.0
    else:
        found = {each: getattr(base, each) for each in _BASE if getattr(base, each)}
        if found != _DIMENSIONS[wanted]:
            raise ValueError(f"{connection.variable}: its unit is {name}, {must}")
        declared, offset = base.factor, base.offset
    if not (math.isnan(given) or math.isclose(given, declared, rel_tol=1e-6)):
        raise ValueError(f"{connection.variable}: its unit is {name}, the connection says another one")
    return declared, offset


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


def same_names(path: Path, given: Iterable[str], taken: Iterable[str]) -> tuple[list[Connection], list[Connection]]:
    """Inputs and outputs of an FMU that have the names of quantities. Raises InputError.

    Args:
        path: the FMU.
        given: quantities that it may be given.
        taken: quantities that may be taken from it.
    """
    causality = {each.name: each.causality for each in read_description(path).modelVariables}
    inputs = [Connection(name, name) for name in given if causality.get(name) == "input"]
    return inputs, [Connection(name, name) for name in taken if causality.get(name) in ("output", "local")]


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """A folder with the FMU's files, locked as long as it is needed; what dead processes left is removed.

    Raises InputError.
    """
    from fmpy import extract

    root = Path(tempfile.gettempdir())
    remove_remains()
    with contextlib.ExitStack() as resources:
        made = Path(tempfile.mkdtemp(prefix=f".{_UNPACKED}", dir=root))
        lock = os.open(made / _OWNER, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        resources.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        place = made.rename(root / made.name.removeprefix("."))  # with its lock
        resources.callback(shutil.rmtree, place, ignore_errors=True)
        try:
            extract(str(path), str(place))
        except Exception as error:
            raise InputError(f"{path}: cannot be unpacked: {error}") from error
        yield place


def remove_remains() -> None:
    """Remove folders that units of dead processes of this user were unpacked into."""
    for left in Path(tempfile.gettempdir()).glob(f"{_UNPACKED}*"):
        with contextlib.suppress(OSError):
            lock = os.open(left / _OWNER, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                if os.fstat(lock).st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(lock)


def _unfit(wanted: Iterable[str], there: set[str], what: str) -> list[str]:
    names = ", ".join(sorted(there)) or "none"
    return [f"{name}: is no {what} of it; those are: {names}" for name in wanted if name not in there]


def _is_settable(variable: Any) -> bool:
    """Whether a variable is a scalar number with a start value that may be set."""
    return (
        variable.start is not None
        and not variable.dimensions
        and variable.type not in ("String", "Binary", "Clock")
        and variable.variability != "constant"
        and variable.causality not in ("structuralParameter", "independent")
    )


def _is_real(variable: Any) -> bool:
    return variable.type in ("Real", "Float64", "Float32")

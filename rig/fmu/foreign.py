"""A foreign FMU for co-simulation, FMI 2.0 or 3.0, stepped by its owner in the owner's process through FMPy."""

import contextlib
import ctypes
import difflib
import fcntl
import math
import os
import re
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
from rig.findings import Code, Finding, Value

_UNPACKED = "rig-unit-"
"""Prefix of the folders that units are unpacked into."""
_OWNER = "owner"
"""File in such a folder that its process holds locked."""
_DISCARD, _FATAL = 2, 4
_TERMINATED = 3  # fmi2Terminated
_TRIED = 50
"""Steps that are timed."""
_LISTED = 20
"""Most variables that a message lists."""
_KINDS: dict[str, tuple[Any, Any]] = {
    "Real": (np.float64, ctypes.c_double), "Float64": (np.float64, ctypes.c_double),
    "Float32": (np.float32, ctypes.c_float),
}  # fmt: skip
"""Types of numbers that may be connected."""
_ELEMENT = re.compile(r"(?P<array>.+)\[(?P<indices>\d+(?:\s*,\s*\d+)*)\]")
_SHOWN = ("logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")
"""Categories of its log, by the standard's names, that are asked for."""
_DIMENSIONS: dict[str, dict[str, int]] = {
    "": {}, "m": {"m": 1}, "m/s": {"m": 1, "s": -1}, "m/s^2": {"m": 1, "s": -2}, "rad": {}, "rad/s": {"s": -1},
    "rad/s^2": {"s": -2}, "N": {"kg": 1, "m": 1, "s": -2}, "N*m": {"kg": 1, "m": 2, "s": -2},
}  # fmt: skip
"""Exponents of the SI base units by unit; the radian is left out, as tools disagree about it."""
_BASE = ("kg", "m", "s", "A", "K", "mol", "cd")


class FmuError(HardwareError):
    """An FMU refuses to begin or to go on, or gives a number that is not finite."""


def failure_of(code: Code, error: FmuError, time: float) -> Finding:
    """Why an FMU beside the engine has failed, with what `FMU_FAILED` has of it, at `time`, s of its own."""
    return Finding(code, details={**error.finding.details, "time": time}, within=(error.finding,))


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
        self._log: list[tuple[int, str]] = []
        self._outputs = tuple(each.variable for each in outputs)
        self._fmu: Any = None
        self._stepping = False
        fitted = fit(path, inputs, outputs, start, step)
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
                fmu.instantiate(logMessage=lambda _place, status, _category, text: self._note(status, text))
            else:
                fmu = FMU2Slave(**arguments)
                self._callbacks = fmi2CallbackFunctions()
                self._callbacks.logger = fmi2CallbackLoggerTYPE(
                    lambda _place, _name, status, _category, text: self._note(status, text)
                )
                self._callbacks.allocateMemory = defaultCallbacks.allocateMemory
                self._callbacks.freeMemory = defaultCallbacks.freeMemory
                addLoggerProxy(ctypes.byref(self._callbacks))  # formats its messages
                fmu.instantiate(callbacks=self._callbacks)
        except Exception as error:  # FMPy raises its own and plain ones
            raise self._failed(error) from error
        self._fmu = fmu
        if shown := [each.name.encode() for each in description.logCategories if each.name in _SHOWN]:
            names = (ctypes.c_char_p * len(shown))(*shown)
            with contextlib.suppress(Exception):  # then errors are reported without their reason
                getattr(fmu, f"fmi{3 if self._third else 2}SetDebugLogging")(fmu.component, True, len(shown), names)

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
        try:
            values = self._results.get(self._fmu)
        except Exception as error:
            raise self._failed(error) from error
        if not math.isfinite(values.sum()):
            name = self._outputs[int(np.argmin(np.isfinite(values)))]
            raise FmuError(f"{self.path}: {name} is not finite at {self.time:g} s of its time")
        return values

    def _set(self) -> None:
        try:
            self._inputs.set(self._fmu)
        except Exception as error:
            raise self._failed(error) from error

    def _set_start(self, variable: Any, value: float) -> None:
        kind = {"Enumeration": "Int64" if self._third else "Integer"}.get(variable.type, variable.type)
        given = value if _is_real(variable) else int(value)
        try:
            getattr(self._fmu, f"set{kind}")([variable.valueReference], [given])
        except Exception as error:
            raise self._failed(error) from error

    def _note(self, status: int, text: bytes | None) -> None:
        self._log = [*self._log[-9:], (status, " ".join((text or b"").decode(errors="replace").split()))]

    def _failed(self, error: Exception) -> FmuError:
        if getattr(error, "status", None) == _FATAL:
            self._fmu = None  # after which none of its functions may be called
        self._stepping = False
        worst = max((status for status, _text in self._log), default=0)
        said = next((text for status, text in reversed(self._log) if status == worst), "")
        details: dict[str, Value] = {"fmu": str(self.path), "text": str(error).rstrip("."), "log": said}
        for name in ("function", "status"):
            if hasattr(error, name):
                details[name] = getattr(error, name)
        return FmuError(Finding(Code.FMU_FAILED, details=details))

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


def fit(
    path: Path, inputs: Sequence[Connection], outputs: Sequence[Connection], start: Mapping[str, float], step: float
) -> Fitted:
    """Find the variables in an FMU's description, without loading it. Raises InputError as `ForeignUnit`."""
    description = read_description(path)
    there = {each.name: each for each in description.modelVariables}
    own = float(description.coSimulation.fixedInternalStepSize or 0.0)
    if own and description.derivatives and abs(step / own - max(1, round(step / own))) > 1e-6:
        raise InputError(
            f"{path}: its states advance in steps of {own:g} s: its step, {step:g} s, must be a multiple of that"
        )
    faults: list[str] = []
    taken = _elements([each.variable for each in inputs], there, ("input",), "input", faults)
    given = _elements([each.variable for each in outputs], there, ("output", "local"), "output", faults)
    settable = {name: each for name, each in there.items() if _is_settable(each)}
    for name, value in start.items():
        if name not in settable:
            faults.append(_missing(name, list(settable), "start value or parameter"))
        elif fault := _out_of_range(settable[name], value):
            faults.append(f"{name}: {value:g}, {fault}")
    if faults:
        raise InputError(f"{path}: its variables do not fit", faults)
    try:
        values = _Values(inputs, taken, description), _Values(outputs, given, description)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    return Fitted(description, *values, [(settable[name], value) for name, value in start.items()])


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


class _Part:
    """Values of one type, as arrays that C reads and writes: whole variables, of which some elements are wanted."""

    def __init__(self, kind: str, wanted: Sequence[tuple[int, Any, int]]) -> None:
        """wanted: place among all values, variable, and element of it."""
        number, self._c_number = _KINDS[kind]
        self._third, self._kind = kind != "Real", kind
        variables = {variable.valueReference: variable for _place, variable, _element in wanted}
        sizes = [math.prod(each.shape) for each in variables.values()]
        begins = dict(zip(variables, np.cumsum([0, *sizes]), strict=False))
        self._references = (ctypes.c_uint * len(variables))(*variables)
        self._values = np.concatenate(
            [_start(each, size) for each, size in zip(variables.values(), sizes, strict=True)]
        )
        self._values = self._values.astype(number)
        self._place = self._values.ctypes.data_as(ctypes.POINTER(self._c_number))
        self._places = np.array([place for place, _variable, _element in wanted])
        self._elements = np.array([begins[each.valueReference] + element for _place, each, element in wanted])

    def get(self, fmu: Any, values: Array) -> None:
        """Ask for them, and put those that are wanted at their places."""
        self._call(fmu, "Get")
        values[self._places] = self._values[self._elements]

    def set(self, fmu: Any, values: Array) -> None:
        """Hand them over, with those that are given."""
        self._values[self._elements] = values[self._places]
        self._call(fmu, "Set")

    def _call(self, fmu: Any, verb: str) -> None:
        arguments = fmu.component, self._references, len(self._references), self._place
        if self._third:
            getattr(fmu, f"fmi3{verb}{self._kind}")(*arguments, len(self._values))
        else:
            getattr(fmu, f"fmi2{verb}Real")(*arguments)


class _Values:
    """What is connected, in SI units here and in the FMU's own there."""

    def __init__(
        self, connections: Sequence[Connection], elements: Sequence[tuple[Any, int]], description: Any
    ) -> None:
        """elements: variable and place in it for each connection. Raises ValueError for a unit that does not fit."""
        by_kind: dict[str, list[tuple[int, Any, int]]] = {}
        for place, (variable, element) in enumerate(elements):
            by_kind.setdefault(variable.type, []).append((place, variable, element))
        self._parts = [_Part(kind, wanted) for kind, wanted in by_kind.items()]
        scales = [
            _scale(each, variable, description) for each, (variable, _) in zip(connections, elements, strict=True)
        ]
        self._factor, self._offset = np.array(scales).reshape(-1, 2).T
        self._values: Array = np.zeros(len(scales))

    def fill(self, values: Array) -> None:
        """Take values in SI units."""
        np.subtract(values, self._offset, out=self._values)
        self._values /= self._factor

    def set(self, fmu: Any) -> None:
        """Hand them to an FMU."""
        for part in self._parts:
            part.set(fmu, self._values)

    def get(self, fmu: Any) -> Array:
        """Those of an FMU in SI units, valid until they are asked for again."""
        for part in self._parts:
            part.get(fmu, self._values)
        self._values *= self._factor
        self._values += self._offset
        return self._values


def _start(variable: Any, size: int) -> Array:
    """Start values of all elements, zero where there is none."""
    given = np.array([float(each) for each in (variable.start or "0").split()])
    return np.resize(given, size)


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


def _elements(
    names: Iterable[str], there: Mapping[str, Any], causalities: Sequence[str], what: str, faults: list[str]
) -> list[tuple[Any, int]]:
    """Variable and place in it, 0 in a scalar, of each name; what is wrong is added to the faults."""
    fit = [each for each in there.values() if each.causality in causalities]
    fit.sort(key=lambda each: (causalities.index(each.causality), each.name))
    found = []
    for name in names:
        match = None if name in there else _ELEMENT.fullmatch(name)
        indices = [] if match is None else [int(each) for each in match["indices"].split(",")]
        variable = there.get(name if match is None else match["array"])
        if variable is None or variable.causality not in causalities:
            faults.append(_missing(name, [each.name for each in fit if each.type in _KINDS], what))
        elif variable.type not in _KINDS:
            faults.append(f"{name}: is of type {variable.type}, must be of Real, Float64 or Float32")
        elif len(indices) != len(variable.shape) or not all(
            1 <= index <= size for index, size in zip(indices, variable.shape, strict=True)
        ):
            sizes = " x ".join(map(str, variable.shape))
            first = ",".join("1" for _ in variable.shape)
            faults.append(
                f"{name}: must be one of its {sizes} elements, the first of which is {variable.name}[{first}]"
                if variable.shape
                else f"{name}: {variable.name} is no array"
            )
        else:
            shape = variable.shape
            found.append((variable, int(np.ravel_multi_index([i - 1 for i in indices], shape)) if shape else 0))
    return found


def _missing(name: str, there: Sequence[str], what: str) -> str:
    """That there is no such variable, and which there are; of many those with the most similar names."""
    listed, more = there, ""
    if len(there) > _LISTED:
        listed = difflib.get_close_matches(name, there, _LISTED, 0.0)
        more = f" and {len(there) - _LISTED} more"
    return f"{name}: is no {what} of it; those are: {', '.join(listed) or 'none'}{more}"


_WHOLE = re.compile(r"(?P<unsigned>U?)Int(?P<bits>\d+)")


def _out_of_range(variable: Any, value: float) -> str:
    """Which numbers a variable takes, if this is none of them; else empty."""
    kind, declared = variable.type, variable.declaredType
    if kind == "Enumeration" and declared is not None and declared.items:
        numbers = [int(each.value or place) for place, each in enumerate(declared.items, start=1)]
        listed = ", ".join(f"{number} ({each.name})" for number, each in zip(numbers, declared.items, strict=True))
        return "" if value in numbers else f"must be one of {listed}"
    least, most = -math.inf, math.inf
    if kind == "Boolean":
        least, most = 0.0, 1.0
    elif kind == "Integer":
        least, most = -(2.0**31), 2.0**31 - 1.0
    elif match := _WHOLE.fullmatch(kind):
        bits = int(match["bits"])
        least, most = (0.0, 2.0**bits - 1.0) if match["unsigned"] else (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1.0)
    if not _is_real(variable) and value != round(value):
        return "must be a whole number"
    stated = [each for each in (variable, declared) if each is not None]  # its own bounds are before its type's
    lower = next((each.min for each in stated if each.min is not None), least)
    upper = next((each.max for each in stated if each.max is not None), most)
    least, most = max(least, float(lower)), min(most, float(upper))
    return "" if least <= value <= most else f"must be {least:g} to {most:g}"


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

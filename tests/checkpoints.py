"""Lockstep rigs brought to a state once: whoever starts from the very same state later is taken there at once.

A lockstep rig is deterministic, and it is all in this process: what a way through its states ends in depends on
nothing but the state it begins in. `go` looks up that state, down to the last bit, with all that hangs on it: plant,
drives, engine, recording, faults injected, what the test has put in. Only where it is known, nothing is computed again.
"""

import copyreg
import fcntl
import hashlib
import io
import os
import pickle
import queue
import stat
import struct
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable, Iterator
from pathlib import Path
from types import CellType, CodeType, FunctionType, GeneratorType, ModuleType
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from actuators.bus import Bus, Exchange
from kinematics import Kernel
from rig.client.lockstep import LockstepRig

_OURS = {"rig", "actuators", "kinematics", "dynamics", "calibration"}
_MOST = 24
"""states kept; tests of one module begin in few"""
_BUFFER = 256 * 1024

_kept: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
_shared: list[object] = []
_numbers: dict[Hashable, int] = {}
_models: dict[int, tuple[BaseModel, int]] = {}
"""kept, so that none gets the address of another"""
_open: list[tuple[object, Path]] = []
_test: list[list[pytest.MonkeyPatch]] = []


class _UnfitError(Exception):
    """Something hangs on the rig that cannot be taken along."""


def go(owner: object, rig: LockstepRig, way: tuple[object, ...], walk: Callable[[], object]) -> None:
    """Do `walk`, or put `owner` into the state that it led to from the very same state before.

    Args:
        owner: whose attributes hold everything: `rig` itself, or what has made it. It stays the same object; what
            hangs on it becomes another.
        rig: its rig, with a recording in a folder of its own.
        way: what tells this walk from others from the same state.
        walk: depends on the state and `way` alone.
    """
    begin = None if _patched() else _state(owner, rig)
    if begin is None:
        walk()
        return
    key = (type(owner), way, hashlib.sha256(begin).digest())
    if key in _kept:
        _kept.move_to_end(key)
        assert rig._writer is not None
        rig._writer.abandon()
        rig.recording.unlink()
        _restore(owner, rig.recording.parent, _kept[key])
        return
    walk()
    end = _state(owner, rig)
    if end is not None:
        _kept[key] = end
        if len(_kept) > _MOST:
            _kept.popitem(last=False)


@pytest.fixture(autouse=True)
def checkpoints(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a test puts something else in place of a part of the program, nothing is taken from other tests."""
    _test.append([request.getfixturevalue("monkeypatch")] if "monkeypatch" in request.fixturenames else [])
    yield
    _test.pop()


def _patched() -> bool:
    """Whether a module or class of the program is not as it is written, as far as is known."""
    return not _test or any(
        isinstance(target, ModuleType | type) and _root(target) in _OURS
        for patch in _test[-1]
        for target, _name, _value in patch._setattr
    )


def _root(target: ModuleType | type) -> str:
    return (target.__name__ if isinstance(target, ModuleType) else target.__module__).split(".")[0]


def _state(owner: object, rig: LockstepRig) -> bytes | None:
    """Everything that hangs on `owner`, None where something cannot be taken along."""
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, owner, rig.recording.parent).dump(vars(owner))
    except _UnfitError:
        return None
    return buffer.getvalue()


def _restore(owner: object, folder: Path, state: bytes) -> None:
    _open.append((owner, folder))
    try:
        found = pickle.loads(state)
    finally:
        _open.pop()
    vars(owner).clear()
    vars(owner).update(found)


class _Pickler(pickle.Pickler):
    """Takes along what can change, and refers to what cannot: code, and configurations."""

    def __init__(self, file: IO[bytes], owner: object, folder: Path) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._owner, self._folder = owner, folder

    def reducer_override(self, found: Any) -> Any:
        """See `pickle.Pickler`."""
        if found is self._owner:
            return _the_owner, ()
        kind = type(found)
        try:
            way = _ways[kind]
        except KeyError:
            way = _ways[kind] = _way_of(kind)
        return NotImplemented if way is None else way(self, found)

    def _path(self, found: Path) -> Any:
        if found.is_relative_to(self._folder):
            return _place, (str(found.relative_to(self._folder)),)
        return NotImplemented

    def _file(self, found: io.BufferedWriter | io.BufferedRandom) -> Any:
        found.flush()
        end = found.tell()
        if isinstance(found.name, int):  # one without a name
            found.seek(0)
            content = found.read(end)
            return _nameless, (content,)
        content = Path(found.name).read_bytes()
        if len(content) != end:
            _unfit(found)
        return _recording, (Path(found.name), content, os.fstat(found.fileno()).st_mode, type(found.raw))


_ways: dict[type, Callable[[_Pickler, Any], Any] | None] = {}
"""By kind, how something is taken along; None: as pickle does it."""


def _way_of(kind: type) -> Callable[[_Pickler, Any], Any] | None:
    if kind in _WAYS:
        return _WAYS[kind]
    if kind.__module__.startswith("numba."):
        return _WAYS[Kernel]
    families = (BaseModel, Path, io.BufferedWriter, io.BufferedRandom, Bus)
    return next((_WAYS[family] for family in families if issubclass(kind, family)), None)


class _Members:
    """The set of a bus's exchanges as it is taken along: in an order that memory has no part in."""

    def __init__(self, members: set[Exchange]) -> None:
        self._members = members

    def __reduce__(self) -> tuple[type[set[Exchange]], tuple[list[Exchange]]]:
        return set, (sorted(self._members, key=lambda one: (one.unit, one.reply_length, one.transaction)),)


_LOCKS = {type(make()): make for make in (threading.Lock, threading.RLock)}


def _unfit(found: object) -> Any:
    raise _UnfitError(repr(found))


def _model(found: BaseModel) -> Any:
    """One that says the same serves as well: nobody changes it."""
    if id(found) not in _models:
        try:
            number = _number(found, (type(found), found.model_dump_json()))
        except PydanticSerializationError:  # it holds a function
            return NotImplemented
        _models[id(found)] = (found, number)
    return _common, (_models[id(found)][1],)


def _number(found: object, key: Hashable) -> int:
    """Of something that is taken along as it is; of the first of those that have one key."""
    if key not in _numbers:
        _numbers[key] = len(_shared)
        _shared.append(found)
    return _numbers[key]


def _array(found: npt.NDArray[Any]) -> Any:
    """An array that looks into another one's numbers does so afterwards too."""
    base = found
    while isinstance(base.base, np.ndarray | memoryview):
        base = base.base if isinstance(base.base, np.ndarray) else base.base.obj
        if not isinstance(base, np.ndarray):
            return _unfit(found)
    if base is found:
        if found.base is not None:
            return _unfit(found)
        if found.dtype.hasobject or not found.flags.forc:
            return NotImplemented
        order = "C" if found.flags.c_contiguous else "F"
        return _owner_of, (found.tobytes("A"), found.dtype, found.shape, order, found.flags.writeable)
    if not base.flags.forc:
        return _unfit(found)
    offset = found.ctypes.data - base.ctypes.data
    return _view, (base, offset, found.shape, found.strides, found.dtype, found.flags.writeable)


def _function(found: FunctionType) -> Any:
    """The program's own functions, and those of modules that a test shares with others."""
    if found.__module__.split(".")[0].startswith("test_"):
        return _unfit(found)  # it may look at, or write into, anything of the test's
    if getattr(sys.modules.get(found.__module__), found.__name__, None) is found:
        return NotImplemented  # by its name
    return _closure, (found.__code__, found.__module__, found.__name__, found.__defaults__, found.__closure__)


_WAYS: dict[type, Callable[[_Pickler, Any], Any]] = {
    np.ndarray: lambda _pickler, found: _array(found),
    memoryview: lambda _pickler, found: (_memory, (found.obj, found.format)) if found.c_contiguous else _unfit(found),
    FunctionType: lambda _pickler, found: _function(found),
    CellType: lambda _pickler, found: (_cell, (), found.cell_contents, None, None, _fill),
    CodeType: lambda _pickler, found: (_common, (_number(found, id(found)),)),
    Kernel: lambda _pickler, found: (_common, (_number(found, id(found)),)),
    BaseModel: lambda _pickler, found: _model(found),
    struct.Struct: lambda _pickler, found: (struct.Struct, (found.format,)),
    **{kind: lambda _pickler, found: (_LOCKS[type(found)], ()) for kind in _LOCKS},
    queue.SimpleQueue: lambda _pickler, found: (queue.SimpleQueue, ()) if found.empty() else _unfit(found),
    GeneratorType: lambda _pickler, found: (_spent, ()) if found.gi_frame is None else _unfit(found),
    Path: _Pickler._path,
    io.BufferedWriter: _Pickler._file,
    io.BufferedRandom: _Pickler._file,
    Bus: lambda _pickler, found: _bus(found),
}


def _bus(found: Bus) -> Any:
    state = vars(found) | {"_members": _Members(found._members)}
    return copyreg.__newobj__, (type(found),), state  # type: ignore[attr-defined]


# -- what a state is put together from again; found by name ------------------------------------------------------------


def _the_owner() -> object:
    return _open[-1][0]


def _place(name: str) -> Path:
    return _open[-1][1] / name


def _common(number: int) -> object:
    return _shared[number]


def _owner_of(content: bytes, dtype: Any, shape: tuple[int, ...], order: Any, writeable: bool) -> npt.NDArray[Any]:
    """An array of its own numbers: NumPy's own way gives one that looks into the pickle's, which is unfit itself."""
    made = np.frombuffer(content, dtype).reshape(shape, order=order).copy(order)
    made.flags.writeable = writeable
    return made


def _view(
    base: npt.NDArray[Any], offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, writeable: bool
) -> npt.NDArray[Any]:
    numbers = base if base.flags.c_contiguous else base.T
    made: npt.NDArray[Any] = np.ndarray(shape, dtype, numbers, offset, strides)
    made.flags.writeable = writeable
    return made


def _memory(base: Any, form: str) -> memoryview:
    return memoryview(base).cast("B").cast(form)  # type: ignore[call-overload, no-any-return]


def _closure(code: CodeType, module: str, name: str, defaults: Any, closure: tuple[CellType, ...]) -> FunctionType:
    return FunctionType(code, vars(sys.modules[module]), name, defaults, closure)


def _cell() -> CellType:
    return CellType()


def _fill(cell: CellType, content: object) -> None:
    cell.cell_contents = content


def _spent() -> Generator[None]:
    made: Generator[None] = (None for _ in ())
    next(made, None)
    return made


def _nameless(content: bytes) -> IO[bytes]:
    made = tempfile.TemporaryFile(dir=_open[-1][1])  # noqa: SIM115  closed by whoever writes
    made.write(content)
    return made


def _recording(path: Path, content: bytes, mode: int, kind: type[io.FileIO]) -> IO[bytes]:
    made = io.BufferedWriter(kind(path, "xb"), _BUFFER)  # closed by whoever writes
    os.fchmod(made.fileno(), stat.S_IMODE(mode))
    fcntl.flock(made, fcntl.LOCK_EX | fcntl.LOCK_NB)
    made.write(content)
    made.flush()
    return made

"""Runtime folders shared by the processes of one engine: locks, and removal of remains of dead processes."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from rig.errors import HardwareError
from rig.runtime.shared_memory import unlink_shared_memory


def wait_until(done: Callable[[], bool], timeout: float, poll: float = 0.01) -> bool:
    """Poll `done` every `poll` s, for the last time after `timeout` s; whether it became true."""
    deadline = time.monotonic() + timeout
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(poll)
    return True


Role = Literal["owner", "engine"]
Block = Literal["control", "ring", "recorder", "sensors"]

_ROLES: tuple[Role, ...] = ("owner", "engine")
_BLOCKS: tuple[Block, ...] = ("control", "ring", "recorder", "sensors")
_PREFIX = "engine-"
_PROCESS = "p-"  # short: a socket's path is bounded
_PATIENCE = 5.0  # s for a lock that others hold for an instant
_POLL = 0.005  # s
_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LONGEST_ROOT = 74  # bytes: a system takes 103 of a socket's path, of which 29 are names in the folder


def runtime_root(*, make: bool = False) -> Path:
    """The user's folder, made on request.

    Raises:
        HardwareError: its path is accessible to other users, or belongs to another user.
    """
    root = _root()
    try:
        if make:
            with contextlib.suppress(FileExistsError):
                root.mkdir(mode=stat.S_IRWXU)
        found = root.lstat()
    except FileNotFoundError:
        return root
    except OSError as error:
        raise HardwareError(f"runtime folder {root}: {error.strerror or error}") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & _OF_OTHERS:
        raise HardwareError(
            f"runtime folder {root}: it is not a folder of this user's alone (user {found.st_uid}, mode "
            f"{stat.filemode(found.st_mode)}): have it removed, or name another place by TMPDIR"
        )
    return root


def sockets_fit() -> bool:
    """Whether the paths of the sockets in the user's folder are within the system's limit."""
    return len(os.fsencode(_root())) <= _LONGEST_ROOT


def check_socket_paths() -> None:
    """Refuse to start processes that could not talk to each other. Raises HardwareError."""
    if not sockets_fit():
        length = len(os.fsencode(_root()))
        raise HardwareError(
            f"runtime folder {_root()}: its path has {length} bytes, must be at most {_LONGEST_ROOT}, for the sockets "
            "in it: name a shorter place by TMPDIR"
        )


def _root() -> Path:
    return Path(tempfile.gettempdir()) / f"stewart-rig-{os.getuid()}"


class RuntimeFolder:
    """The runtime folder of one engine.

    Args:
        path: of the folder; see `create` for a new one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, holds: contextlib.ExitStack) -> "RuntimeFolder":
        """A new folder, locked as its owner until `holds` is closed; remains of dead processes are removed first.

        Raises:
            HardwareError: it cannot be made.
        """
        root = runtime_root(make=True)
        with _locked(root / "lock"):  # nobody takes a folder for a dead one's before it is held
            for folder in _folders(root):
                if not folder.in_use:
                    folder.remove()
            try:
                made = cls(Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root)))
            except OSError as error:
                raise HardwareError(f"runtime folder in {root}: {error.strerror or error}") from error
            holds.enter_context(made.hold("owner"))
        return made

    @contextlib.contextmanager
    def hold(self, role: Role) -> Iterator[None]:
        """Lock the folder as one of its processes. Raises HardwareError if it is missing, or locked so already."""
        with _locked(self.path / role):
            yield

    def held(self, role: Role) -> bool:
        """Whether the process that holds the folder in that role lives."""
        try:
            file = os.open(self.path / role, os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # two who look do not see each other
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False

    @property
    def in_use(self) -> bool:
        """Whether a process that needs the folder lives."""
        return any(self.held(role) for role in _ROLES)

    def shared(self, block: Block) -> str:
        """Name of one of the engine's blocks of shared memory."""
        return f"stewart-rig-{self.path.name.removeprefix(_PREFIX)}-{block}"

    def remove(self) -> None:
        """Remove the folder and the shared memory that belongs to it. May be called again."""
        for block in _BLOCKS:
            unlink_shared_memory(self.shared(block))
        shutil.rmtree(self.path, ignore_errors=True)


def hold_process_folder(holds: contextlib.ExitStack) -> Path:
    """A new folder for this process's own sockets, locked until `holds` is closed; remains of dead ones are removed.

    Raises:
        HardwareError: there is no place for it.
    """
    root = runtime_root(make=True)
    with _locked(root / "lock"):  # nobody takes a folder for a dead one's before it is held
        for path in root.glob(f"{_PROCESS}*"):
            if not RuntimeFolder(path).held("owner"):
                shutil.rmtree(path, ignore_errors=True)
        try:
            made = Path(tempfile.mkdtemp(prefix=_PROCESS, dir=root))
        except OSError as error:
            raise HardwareError(f"runtime folder in {root}: {error.strerror or error}") from error
        holds.callback(shutil.rmtree, made, ignore_errors=True)
        holds.enter_context(_locked(made / "owner"))
    return made


def folders() -> list[RuntimeFolder]:
    """This user's runtime folders, of the living and the dead. Raises HardwareError as `runtime_root`."""
    return list(_folders(runtime_root()))


def _folders(root: Path) -> Iterator[RuntimeFolder]:
    for path in sorted(root.glob(f"{_PREFIX}*")):
        if path.is_dir() and not path.is_symlink():
            yield RuntimeFolder(path)


def _taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, stat.S_IRUSR | stat.S_IWUSR)
    except OSError as error:
        raise HardwareError(f"lock {path}: {error.strerror}") from error
    try:
        if not wait_until(lambda: _taken(file), _PATIENCE, _POLL):
            raise HardwareError(f"lock {path}: another process holds it")
        yield
    finally:
        os.close(file)

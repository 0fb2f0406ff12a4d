"""Which processes there are below one."""

from pathlib import Path

COMPUTING = "rig: process of"
"""Begin of the command of those in which the app's threads compute; they end with the app, or after a minute."""
_HELPERS = (b"multiprocessing.resource_tracker", b"multiprocessing.forkserver")
"""What Python keeps until it ends: see `_is_helper`."""


def offspring(pid: int) -> dict[int, str]:
    """Children of a process, theirs and so on, but for Python's own helpers: number and command of each."""
    found: dict[int, str] = {}
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in children:
            try:
                command = Path(f"/proc/{child}/cmdline").read_bytes()
                own_name = Path(f"/proc/{child}/comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if not _is_helper(command, own_name):
                found[child] = f"{own_name} {' '.join(command.decode().split(chr(0)))}".strip()
            found |= offspring(child)
    return found


def _is_helper(command: bytes, own_name: str) -> bool:
    """What the server forked has its command, but a name of its own."""
    return any(helper in command for helper in _HELPERS) and not own_name.startswith("rig: ")

"""What a wizard asks of a `rig` command, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A command, without the options that say where its file goes and how it answers.

    command: its name, such as ("calibrate", "geometry"). options: each with its value. files: that it works on; where
    they are options, `options` has them too. saved: name of a file beside which what it writes is offered to be saved,
    with the end of its name. planning: whether it plans what is to be measured, instead of working on it. writes: the
    option that names the file.
    """

    command: tuple[str, ...]
    options: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    saved: Path = Path()
    planning: bool = False
    writes: str = "-o"

    def arguments(self, output: Path) -> list[str]:
        """Those of `rig` that write the file `output`, and tell steps and result as a program reads them."""
        return [
            *self.command,
            "--progress",
            "--json",
            self.writes,
            str(output),
            *self.options,
            "--",
            *map(str, self.files),
        ]

    def looking(self) -> list[str]:
        """Those of `rig` that only look into the files."""
        return [*self.command, "--look", "--json", *self.options, "--", *map(str, self.files)]


def options_of(**values: object) -> tuple[str, ...]:
    """Options by their names, `mass_sigma` for --mass-sigma; those are left out whose value is None or empty."""
    given = {name.replace("_", "-"): value for name, value in values.items() if value is not None and value != ""}
    return tuple(part for name, value in given.items() for part in (f"--{name}", str(value)))


def unless(value: float, usual: float) -> float | None:
    """A value, None where it is the usual one: the command then takes its own."""
    return None if value == usual else value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    asked: for it. told: the object that the command printed. text: of the file that it wrote, None where it refused to
    write one. refusal: why, in its words. warnings: that it gave.
    """

    asked: JobRequest
    told: Mapping[str, Any]
    text: str | None
    refusal: str = ""
    warnings: tuple[str, ...] = ()

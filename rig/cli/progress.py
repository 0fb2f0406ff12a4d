"""Progress of a command: a bar on a terminal, lines for whoever asks for them, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from rig.cli.options import table_console

if TYPE_CHECKING:
    from rig.client import Progress
    from rig.engine import Compiling


def print_step(step: str) -> None:
    """Say on the error stream what begins now, as `--progress` promises."""
    typer.echo(f"… {step}", err=True)


def ask_question(question: str) -> None:
    """Ask on the error stream for something to be done, in a line; that it is done, a line of standard input says."""
    typer.echo(f"? {question}", err=True)


@contextmanager
def progress_display(lines: bool = False) -> Iterator["Callable[[Progress], None]"]:
    """Give a callable that shows progress on the error stream while the block lasts.

    lines: say every per cent in a line of `print_step`, on a terminal and elsewhere.
    """
    if lines:
        yield _line_by_line()
        return
    if not sys.stderr.isatty():
        yield lambda _progress: None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description:20}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    with Bar(*columns, TimeElapsedColumn(), console=table_console(err=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def show(progress: "Progress") -> None:
            bar.update(task, description=progress.phase, completed=progress.fraction)

        yield show


def compile_progress_lines() -> "Callable[[Compiling], None]":
    """What says on a terminal's error stream how far a start is that has to compile the model, at every tenth of it."""
    told: set[tuple[str, int]] = set()

    def tell(now: "Compiling") -> None:
        part = now.what, 10 * now.done // now.total  # the last one is that it is finished
        if sys.stderr.isatty() and part not in told:
            told.add(part)
            print_step(now.words)

    return tell


def _line_by_line() -> "Callable[[Progress], None]":
    told = ""

    def tell(progress: "Progress") -> None:
        nonlocal told
        step = f"{progress.phase}: {100.0 * progress.fraction:.0f} %"
        if step != told:
            told = step
            print_step(step)

    return tell

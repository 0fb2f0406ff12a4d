"""Progress of a command: a bar on a terminal, lines on request, otherwise nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import typer

from rig.cli.options import print_error, print_warning, table_console

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from rig.client import Progress
    from rig.engine import Compiling
    from rig.services import Event, Notice, OnEvent


@contextmanager
def service_events(lines: bool = False, *, bars: bool = True) -> Iterator["OnEvent"]:
    """Yield a callback that shows a service's events on the error stream during the block.

    Notices are printed. On a terminal, stages of known length have a bar.

    Args:
        lines: print every stage and per cent as a line of `print_step`, on a terminal and elsewhere.
        bars: False if the user is prompted in the meantime.
    """
    from rig.services import Notice, stage_name, stage_text

    last = ""
    bar: Any = None

    def show(event: "Event") -> None:
        nonlocal last, bar
        if isinstance(event, Notice):
            print_notice(event)
        elif event.waits:
            ask_question(stage_text(event)) if lines else _prompt(stage_text(event))
            wait_for_enter()
        elif lines:
            if (text := stage_text(event)) != last:
                last = text
                print_step(text)
        elif bars and event.fraction is not None and sys.stderr.isatty():
            bar = bar or stack.enter_context(_bar())
            bar.update(bar.task_ids[0], description=stage_name(event), completed=event.fraction)

    with ExitStack() as stack:
        yield show


def print_notice(notice: "Notice") -> None:
    """Print a notice on standard error."""
    show = print_error if notice.serious else print_warning
    show(f"{notice.source}: {notice.text}" if notice.source else notice.text)


def wait_for_enter() -> None:
    """Wait for a line of standard input. Raises InputError at its end."""
    from rig.errors import InputError

    if not sys.stdin.readline():
        raise InputError("standard input ended before the calibration did; nothing written")


def _prompt(text: str) -> None:
    typer.echo(f"{text} Press Enter when everything is at rest … ", nl=False, err=True)


def show_notices(event: "Event") -> None:
    """Print the notices of a service but not its progress."""
    from rig.services import Notice

    if isinstance(event, Notice):
        print_notice(event)


def print_step(step: str) -> None:
    """Print the beginning of a step on the error stream, for `--progress`."""
    typer.echo(f"… {step}", err=True)


def ask_question(question: str) -> None:
    """Print an instruction as a line on the error stream; a line of standard input confirms it."""
    typer.echo(f"? {question}", err=True)


@contextmanager
def progress_display(lines: bool = False) -> Iterator["Callable[[Progress], None]"]:
    """Yield a callback that shows progress on the error stream during the block.

    lines: print every per cent as a line of `print_step`, on a terminal and elsewhere.
    """
    if lines:
        yield _line_by_line()
        return
    if not sys.stderr.isatty():
        yield lambda _progress: None
        return
    with _bar() as bar:

        def show(progress: "Progress") -> None:
            bar.update(bar.task_ids[0], description=progress.phase, completed=progress.fraction)

        yield show


def _bar() -> "Bar":
    """Return a bar of one task, from 0 to 1."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description:20}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    made = Bar(*columns, TimeElapsedColumn(), console=table_console(err=True), transient=True)
    made.add_task("starting", total=1.0)
    return made


def compile_progress_lines() -> "Callable[[Compiling], None]":
    """Return a callback that prints every tenth of the model's compilation on a terminal's error stream."""
    shown: set[tuple[str, int]] = set()

    def report(now: "Compiling") -> None:
        part = now.what, 10 * now.done // now.total  # includes the final state
        if sys.stderr.isatty() and part not in shown:
            shown.add(part)
            print_step(now.words)

    return report


def _line_by_line() -> "Callable[[Progress], None]":
    shown = ""

    def report(progress: "Progress") -> None:
        nonlocal shown
        step = f"{progress.phase}: {100.0 * progress.fraction:.0f} %"
        if step != shown:
            shown = step
            print_step(step)

    return report

"""Progress of a command: a bar on a terminal, lines for whoever asks for them, nothing elsewhere."""

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
    """Give what shows the events of a service on the error stream while the block lasts.

    Notices are printed. Of stages whose end is known a terminal has a bar.

    Args:
        lines: say every stage, and every per cent, in a line of `print_step`, on a terminal and elsewhere.
        bars: False where a person is asked for something meanwhile.
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
    """Say on standard error what whoever reads a result must know."""
    show = print_error if notice.serious else print_warning
    show(f"{notice.source}: {notice.text}" if notice.source else notice.text)


def wait_for_enter() -> None:
    """Wait for a line of standard input. Raises InputError where it has ended."""
    from rig.errors import InputError

    if not sys.stdin.readline():
        raise InputError("standard input ended before the calibration did; nothing written")


def _prompt(text: str) -> None:
    typer.echo(f"{text} Press Enter when all is still … ", nl=False, err=True)


def show_notices(event: "Event") -> None:
    """Print the notices among the events of a service, and nothing of its progress."""
    from rig.services import Notice

    if isinstance(event, Notice):
        print_notice(event)


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
    with _bar() as bar:

        def show(progress: "Progress") -> None:
            bar.update(bar.task_ids[0], description=progress.phase, completed=progress.fraction)

        yield show


def _bar() -> "Bar":
    """A bar of one task, from 0 to 1."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description:20}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    made = Bar(*columns, TimeElapsedColumn(), console=table_console(err=True), transient=True)
    made.add_task("starting", total=1.0)
    return made


def compile_progress_lines() -> "Callable[[Compiling], None]":
    """What says on a terminal's error stream how far a start is that has to compile the model, at every tenth of it."""
    shown: set[tuple[str, int]] = set()

    def report(now: "Compiling") -> None:
        part = now.what, 10 * now.done // now.total  # the last one is that it is finished
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

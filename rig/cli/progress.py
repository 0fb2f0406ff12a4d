"""Progress of a run: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rig.client import Progress


@contextmanager
def progress_display() -> Iterator[Callable[[Progress], None]]:
    """Give a callable that shows progress on the error stream while the block lasts."""
    if not sys.stderr.isatty():
        yield lambda _progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description:20}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    with Bar(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def show(progress: Progress) -> None:
            bar.update(task, description=progress.phase, completed=progress.fraction)

        yield show

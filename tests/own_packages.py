"""Packages of somebody's own, installed in a folder as a distribution would be, and the guide's examples."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "laws-and-references.md"


def example(words: str) -> str:
    """The block of the guide in which `words` stand."""
    blocks = re.findall(r"```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (text,) = (block for block in blocks if words in block)
    return str(text)


@contextmanager
def installed(folder: Path, modules: Mapping[str, str], entry_points: str) -> Iterator[None]:
    """Within a `with` block, `modules` (text by name) can be imported, and their `entry_points` are found."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    info = folder / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in modules:
            sys.modules.pop(name, None)

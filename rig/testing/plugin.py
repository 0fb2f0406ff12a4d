"""Plug-in of pytest: `--rig-driver`, `--rig-cell-driver` and `--rig-io-driver NAME` add the suite of installed drivers.

A conftest.py may define how a driver's benches are made, if its address alone does not:
`pytest_rig_drive_benches(driver)`, `pytest_rig_cell_benches(driver)` and `pytest_rig_io_benches(driver)` return them by
name, or None.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from rig.testing.failure import ConformanceError, on_every_bench

Check = Callable[[], Iterator[str]]


class BenchHooks:
    """What a package's conftest.py may define."""

    @pytest.hookspec(firstresult=True)
    def pytest_rig_drive_benches(self, driver: str) -> Mapping[str, Callable[..., Any]] | None:
        """What makes the benches of a driver of drives, by name: a `rig.testing.DriveBench`, called with options."""

    @pytest.hookspec(firstresult=True)
    def pytest_rig_cell_benches(self, driver: str) -> Mapping[str, Callable[..., Any]] | None:
        """The same of a driver of load cells: a `rig.testing.CellBench`."""

    @pytest.hookspec(firstresult=True)
    def pytest_rig_io_benches(self, driver: str) -> Mapping[str, Callable[..., Any]] | None:
        """The same of a driver of inputs and outputs: a `rig.testing.IoBench`."""


class ConformanceItem(pytest.Item):
    """One check on one bench."""

    def __init__(self, *, check: Check, **keywords: Any) -> None:
        """check: yields what is wrong."""
        super().__init__(**keywords)
        self._check = check

    def runtest(self) -> None:
        """Run the check up to the first thing that it finds."""
        text = next(self._check(), None)
        if text is not None:
            raise ConformanceError(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *arguments: Any, **keywords: Any) -> Any:
        """What is wrong, in a sentence; of an exception of the driver its traceback."""
        if isinstance(excinfo.value, ConformanceError):
            return f"{self.name}: {excinfo.value}\nWhat a driver must do: docs/adding-a-device.md"
        return super().repr_failure(excinfo, *arguments, **keywords)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """See `pytest.Item.reportinfo`."""
        return self.path, None, self.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("rig", "conformance of drivers of stewart-rig")
    for option, what in (("--rig-driver", "drives"), ("--rig-cell-driver", "load cells"), ("--rig-io-driver", "I/O")):
        group.addoption(
            option, action="append", default=[], metavar="NAME", help=f"Check an installed driver of {what}."
        )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks."""
    pluginmanager.add_hookspecs(BenchHooks)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add an item for each check of each bench."""
    drivers, cells = config.getoption("--rig-driver"), config.getoption("--rig-cell-driver")
    blocks = config.getoption("--rig-io-driver")
    if not (drivers or cells or blocks):
        return
    from actuators import ConfigurationError
    from rig.testing import CELL_CHECKS, DRIVE_CHECKS, IO_CHECKS, cell_benches, drive_benches, io_benches

    hook = config.hook
    kinds: tuple[tuple[list[str], Any, Any, Any], ...] = (
        (drivers, hook.pytest_rig_drive_benches, drive_benches, DRIVE_CHECKS),
        (cells, hook.pytest_rig_cell_benches, cell_benches, CELL_CHECKS),
        (blocks, hook.pytest_rig_io_benches, io_benches, IO_CHECKS),
    )
    for names, declared, usual, checks in kinds:
        for name in names:
            try:
                benches = declared(driver=name) or usual(name)
            except ConfigurationError as error:
                raise pytest.UsageError(str(error)) from error
            for title, check in on_every_bench(checks, benches).items():
                items.append(ConformanceItem.from_parent(session, name=title, check=check))

"""Dashboards kept by their names, in a small file that a person may edit, written whole or not at all."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pyqtgraph.Qt import QtCore

from gui.dashboard.layout import MOST_PLOTS, Dashboard, PlotOf, Row, plot_fault
from gui.texts import tr
from kinematics import toml_item
from rig.client import NamedStore, text_fault
from rig.errors import InputError

_LONGEST = 60  # characters of a name
_MOST = 100  # dashboards
_HEAD = (
    "# Dashboards of the app: rows of plots. A share is a part of the height, or of the width of its row, beside the\n"
    "# others'. Signals have the names that the app's tree of signals tells.\n"
)
_Share = Annotated[float, Field(gt=0.0, le=1e6, allow_inf_nan=False)]


class _Plot(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    signals: list[str]
    share: _Share = 1.0


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    plots: Annotated[list[_Plot], Field(min_length=1)]
    share: _Share = 1.0


class _Dashboard(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    rows: list[_Row] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    dashboard: Annotated[list[_Dashboard], Field(max_length=_MOST)] = []


class Dashboards(QtCore.QObject):
    """The dashboards of a file, which is read anew each time: a person may edit it, and another app write it.

    A file that cannot be used is named with what is wrong in it, and never written over. Signal `changed`: it was
    written from here.

    Args:
        path: of the file, which need not be there yet.

    Every method raises InputError where the file cannot be used or written, or what is asked for is not possible.
    """

    changed = QtCore.Signal()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.file = NamedStore(path, "dashboards")

    def all(self) -> dict[str, Dashboard]:
        """By their names, in the file's order."""
        read = self.file.read(_File)
        kept = [] if read is None else [_dashboard(each) for each in read.dashboard]
        self.file.check([fault for each in kept for fault in _faults(each)], [each.name for each in kept])
        return {each.name: each for each in kept}

    def add(self, dashboard: Dashboard) -> None:
        """Keep one of a new name."""
        kept = self.all()
        _check_new(kept, dashboard.name)
        self.file.check_room(len(kept), _MOST)
        self._write([*kept.values(), dashboard])

    def replace(self, name: str, dashboard: Dashboard) -> None:
        """Keep one in the place of another, whose name it may change."""
        kept = self.all()
        _named(kept, name)
        if dashboard.name != name:
            _check_new(kept, dashboard.name)
        self._write([dashboard if each == name else one for each, one in kept.items()])

    def delete(self, name: str) -> None:
        """Forget one."""
        kept = self.all()
        _named(kept, name)
        self._write([one for each, one in kept.items() if each != name])

    def _write(self, dashboards: Sequence[Dashboard]) -> None:
        self.file.write(_HEAD + "".join(map(_text, dashboards)))
        self.changed.emit()


def _dashboard(kept: _Dashboard) -> Dashboard:
    rows = [Row(tuple(PlotOf(tuple(plot.signals), plot.share) for plot in row.plots), row.share) for row in kept.rows]
    return Dashboard(kept.name, tuple(rows))


def _faults(dashboard: Dashboard) -> list[str]:
    faults = [fault for place in dashboard.places if (fault := plot_fault(dashboard.plot(place).signals))]
    if len(dashboard.places) > MOST_PLOTS:
        faults.append(
            tr("{count} plots, must be at most {most} on a dashboard").format(
                count=len(dashboard.places), most=MOST_PLOTS
            )
        )
    return [f"{dashboard.name!r}: {fault}" for fault in (text_fault(dashboard.name, _LONGEST), *faults) if fault]


def _check_new(kept: dict[str, Dashboard], name: str) -> None:
    fault = text_fault(name, _LONGEST) or (
        tr("there is a dashboard {name!r} already").format(name=name) if name in kept else ""
    )
    if fault:
        raise InputError(fault)


def _named(kept: dict[str, Dashboard], name: str) -> None:
    if name not in kept:
        raise InputError(
            tr("there is no dashboard {name!r}; there are: {names}").format(
                name=name, names=", ".join(map(repr, kept)) or tr("none")
            )
        )


def _text(dashboard: Dashboard) -> str:
    """As TOML, a line for each plot."""
    text = f"\n[[dashboard]]\nname = {_item(dashboard.name)}\n"
    for row in dashboard.rows:
        text += f"\n[[dashboard.rows]]\nshare = {_item(row.share)}\nplots = [\n"
        for plot in row.plots:
            text += f"    {{ share = {_item(plot.share)}, signals = {_item(plot.signals)} }},\n"
        text += "]\n"
    return text


def _item(value: object) -> str:
    return str(toml_item(value).as_string())

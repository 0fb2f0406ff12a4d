"""Published models of the leg forces: computed in a thread, selected in a bar, and compared with measurement."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.live.plot import swatch
from gui.models import EXACT, LEGS, MODEL_DASHES, MODEL_NAMES, Differences, Floats, Segment, Timeline, number_text
from gui.session import Worker
from gui.texts import tr
from gui.widgets import LEG_COLOURS, FixedSize, Theme
from rig.cell_models import comparable_rows, model_differences
from rig.errors import HardwareError
from rig.runtime import CallProcess

Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_CHUNK = 4096
"""Rows per job of the thread, about 0.1 s of work."""
_PATIENCE = 5.0  # s to finish rows on close
_COMPUTED_WITHIN = 60.0  # s, a chunk; the first may compile


class _RowCache:
    """Ring buffer of values (6,) by row number; each row overwrites the one `capacity` earlier."""

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self._numbers = np.full(self._capacity, -1)
        self._values = np.empty((self._capacity, 6))

    def missing(self, first: int, count: int) -> Mask:
        """Return which rows from number `first` on are missing, (count,)."""
        numbers = np.arange(first, first + count)
        lacks: Mask = self._numbers[numbers % self._capacity] != numbers
        return lacks

    def put(self, numbers: Indices, values: Floats) -> None:
        """Store values (k, 6) of rows by number."""
        places = numbers % self._capacity
        self._numbers[places], self._values[places] = numbers, values

    def get(self, first: int, count: int) -> Floats:
        """Return values (count, 6) of the rows from number `first` on; NaN if missing."""
        values = self._values[np.arange(first, first + count) % self._capacity]
        values[self.missing(first, count)] = np.nan
        return values


class ModelForces(QtCore.QObject):
    """Computes the selected published models for a timeline's rows. Signal `changed`: new values, or a fault.

    `fault` says why values are missing; `close` ends the thread, which starts with the first model selected.
    """

    changed = QtCore.Signal()

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self.chosen: tuple[str, ...] = ()
        """Published models to compute, of `dynamics.MODELS`."""
        self.fault = ""
        self._mechanism: Mechanism | None = None
        self._coulomb_speed = 0.0
        self._timeline: Timeline | None = None
        self._cache: dict[str, _RowCache] = {}
        self._worker: Worker | None = None
        self._closed = False
        self._pending = False
        self._generation = 0

    def set_mechanism(self, mechanism: Mechanism | None, coulomb_speed: float) -> None:
        """Set the mechanism and the speed, m/s, of the Coulomb friction model; discard all values."""
        self._mechanism, self._coulomb_speed = mechanism, coulomb_speed
        self._discard()

    def follow(self, timeline: Timeline) -> None:
        """Number rows as this timeline does; discard values of another one."""
        if timeline is not self._timeline:
            self._timeline = timeline
            self._discard()

    def choose(self, models: Collection[str]) -> None:
        """Select the published models to compute."""
        self.chosen = tuple(model for model in MODEL_NAMES if model in models and model != EXACT)
        self.fault = ""

    @property
    def preparing(self) -> bool:
        """Whether a selected model has no value yet: the first ones take time if its kernel is not compiled."""
        return self._pending and any(model not in self._cache for model in self.chosen)

    def differences(self, model: str, segment: Segment) -> Floats:
        """Return a model's forces at the load cells minus the exact one's, (n, 6) N; NaN in rows not computed yet."""
        if model == EXACT:
            return np.zeros((len(segment), 6))
        cache = self._cache.get(model)
        return np.full((len(segment), 6), np.nan) if cache is None else cache.get(segment.first, len(segment))

    def newest(self, segment: Segment) -> Segment:
        """Return the newest row, alone, that all selected models have computed; the newest of all without any."""
        known = np.arange(len(segment))
        if self.chosen:
            differences = np.hstack([self.differences(model, segment) for model in self.chosen])
            computed = np.flatnonzero(np.isfinite(differences).all(axis=1))
            known = computed if len(computed) else known
        last = int(known[-1]) if len(known) else 0
        return segment.part(last, last + 1)

    def rms_residuals(self, model: str, segment: Segment) -> Floats:
        """Return the RMS residual of a model over the computed rows: six legs and all, (7,) N."""
        usable = comparable_rows(segment.rows)
        residual = segment.rows["force_residual"][usable] - self.differences(model, segment)[usable]
        squares = residual[np.isfinite(residual).all(axis=1)] ** 2
        if not len(squares):
            return np.full(7, np.nan)
        legs = squares.mean(axis=0)
        rms: Floats = np.sqrt(np.append(legs, legs.mean()))
        return rms

    def compute(self, segment: Segment) -> None:
        """Queue the missing rows of a segment, newest first. Returns at once."""
        if self._pending or self._closed or (wanted := self._missing_rows(segment)) is None:
            return
        if self._worker is None:
            self._worker = Worker("models", self)
        self._pending = True
        job, generation = self._job(segment, *wanted), self._generation
        self._worker.submit(job, lambda computed, _failure: self._store(generation, computed))
        if self.preparing:
            self.changed.emit()

    def completion(self, segment: Segment) -> Callable[[], Differences]:
        """Return a job that computes the missing rows of a segment, in any thread, and returns all differences.

        The segment must not change any more. Rows that a model cannot compute are NaN; the job raises HardwareError if
        the process that computes them fails.
        """
        mechanism, speed = self._mechanism, self._coulomb_speed
        values = {model: self.differences(model, segment) for model in self.chosen}
        lacking = {model: np.flatnonzero(self._lacking(model, segment)) for model in self.chosen}

        def complete() -> Differences:
            if mechanism is None:
                return lambda model, _segment: values[model]
            with CallProcess("the process of exported models") as process:
                compute = partial(process.call, _COMPUTED_WITHIN)
                for model, indices in lacking.items():
                    for chunk in range(0, len(indices), _CHUNK):
                        at = indices[chunk : chunk + _CHUNK]
                        computed = _compute(compute, mechanism, speed, (model,), at, _motions(segment, at))
                        if isinstance(computed.failure, HardwareError):
                            raise computed.failure
                        values[model][at] = computed.values[model]
            return lambda model, _segment: values[model]

        return complete

    def close(self) -> None:
        """End the thread. May be called again."""
        self._closed = True
        if self._worker is not None:
            self._worker.finish()
            self._worker.join(_PATIENCE)

    def _discard(self) -> None:
        self._cache.clear()
        self._generation += 1
        self.fault = ""

    def _missing_rows(self, segment: Segment) -> tuple[tuple[str, ...], Indices] | None:
        """Return the models with missing rows, and the newest of those rows, as indices into the segment."""
        if self._mechanism is None or not len(segment):
            return None
        lacking: Mask = np.zeros(len(segment), np.bool_)
        models = []
        for model in self.chosen:
            lacks = self._lacking(model, segment)
            if lacks.any():
                models.append(model)
                lacking |= lacks
        return (tuple(models), np.flatnonzero(lacking)[-_CHUNK:]) if models else None

    def _lacking(self, model: str, segment: Segment) -> Mask:
        """Return which rows of a segment a model has not computed, (n,)."""
        cache = self._cache.get(model)
        return np.ones(len(segment), np.bool_) if cache is None else cache.missing(segment.first, len(segment))

    def _job(self, segment: Segment, models: Collection[str], indices: Indices) -> Callable[[], "_Computed"]:
        mechanism, speed, numbers = self._mechanism, self._coulomb_speed, segment.first + indices
        assert mechanism is not None
        motions = _motions(segment, indices)
        assert self._worker is not None
        compute = self._worker.compute
        return lambda: _compute(compute, mechanism, speed, models, numbers, motions)

    def _store(self, generation: int, computed: "_Computed") -> None:
        self._pending = False
        if generation != self._generation:
            return
        assert self._timeline is not None
        self.fault = computed.fault or self.fault  # stays until models are selected anew: further rows do not fix it
        for model, values in computed.values.items():
            self._cache.setdefault(model, _RowCache(self._timeline.capacity)).put(computed.numbers, values)
        self.changed.emit()


@dataclass(frozen=True, slots=True, eq=False)
class _Computed:
    """Differences (k, 6) by model of the rows with these numbers; NaN after a `failure`."""

    numbers: Indices
    values: dict[str, Floats]
    failure: Exception | None = None

    @property
    def fault(self) -> str:
        """Why they are NaN, in one line."""
        failure = self.failure
        return "" if failure is None else (str(failure) or type(failure).__name__).splitlines()[0]


def _motions(segment: Segment, indices: Indices) -> Floats:
    """Return a copy of the motions (k, 19) of some rows: the timeline changes meanwhile.

    NaN where the exact model failed: one row must not fail the whole chunk.
    """
    motions: Floats = segment.rows["reference"][indices]
    motions[~np.isfinite(segment.rows["force_model"][indices]).all(axis=1)] = np.nan
    return motions


def _compute(
    compute: Callable[..., dict[str, Floats]],
    mechanism: Mechanism,
    coulomb_speed: float,
    models: Collection[str],
    numbers: Indices,
    motions: Floats,
) -> _Computed:
    usable = np.isfinite(motions).all(axis=1) & (np.abs(np.linalg.norm(motions[:, 3:7], axis=1) - 1.0) < 1e-6)
    values = {model: np.full((len(motions), 6), np.nan) for model in models}
    try:
        computed = compute(model_differences, mechanism, motions[usable], models, coulomb_speed)
        for model, differences in computed.items():
            values[model][usable] = differences
    except Exception as error:  # whatever the error, mark these rows as failed and do not retry
        return _Computed(numbers, values, error)
    return _Computed(numbers, values)


UNKNOWN = tr("The mechanism is not known, the models cannot be computed")
_COLUMNS = (*LEGS, tr("all"))


class ModelsBar(QtWidgets.QWidget):
    """Check list of the models and, while a published one is selected, the RMS residual of each.

    Signal `changed(tuple of names)`: the selected published models, of `dynamics.MODELS`.
    """

    changed = QtCore.Signal(tuple)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr("Models of the leg forces"))
        self.setStyleSheet("font-size: 11px")
        self.boxes: dict[str, QtWidgets.QCheckBox] = {}
        self._stale: list[str] = []
        row = QtWidgets.QHBoxLayout()
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(5)
        row.addWidget(QtWidgets.QLabel(tr("Models")))
        for model, name in MODEL_NAMES.items():
            box = QtWidgets.QCheckBox(tr(name))
            box.setAccessibleName(tr("Show model {name}").format(name=tr(name)))
            box.toggled.connect(self._toggled)
            row.addWidget(box)
            self.boxes[model] = box
        self.note = QtWidgets.QLabel()
        self.note.setAccessibleName(tr("State of the models"))
        self.note.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred)
        row.addWidget(self.note, 1)
        self.table = _Residuals(theme)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(row)
        self._fixed_table = FixedSize(self.table)
        layout.addWidget(self._fixed_table)
        self.boxes[EXACT].setChecked(True)
        self.boxes[EXACT].setEnabled(False)
        self.boxes[EXACT].setToolTip(tr("The model that controls the rig; always shown"))
        self.set_available(False)
        self._toggled()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Selected published models, names of `dynamics.MODELS`; none while they cannot be computed."""
        return tuple(name for name, box in self.boxes.items() if name != EXACT and box.isEnabled() and box.isChecked())

    def set_available(self, known: bool) -> None:
        """Set whether there is a mechanism to compute the models of."""
        for model, box in self.boxes.items():
            if model != EXACT:
                box.setEnabled(known)
                box.setToolTip(
                    tr("Overlay it on the measured forces: {dashes}").format(dashes=MODEL_DASHES[model])
                    if known
                    else UNKNOWN
                )
        self._toggled()

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Save the selected models under a name."""
        ticked = [model for model, box in self.boxes.items() if model != EXACT and box.isChecked()]
        settings.setValue(f"{name}/models", " ".join(ticked))

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Restore the models saved under a name."""
        saved = str(settings.value(f"{name}/models", "")).split()
        for model, box in self.boxes.items():
            if model != EXACT:
                box.setChecked(model in saved)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self.table.set_theme(theme)

    def make_stale(self) -> None:
        """Mark every line of the table as stale."""
        self._stale += [model for model in (EXACT, *self.chosen) if model not in self._stale]

    def show_next(self, residuals: Callable[[str], Floats]) -> None:
        """Update the line that has been stale the longest with its model's RMS residuals (7,) N."""
        if self._stale:
            model = self._stale.pop(0)
            self.table.show_residuals(model, residuals(model))

    def set_message(self, text: str) -> None:
        """Show the state or fault of the models."""
        self.note.setText(text)
        self.note.setToolTip(text)

    def _toggled(self) -> None:
        self._stale.clear()
        self.table.set_models((EXACT, *self.chosen))
        self._fixed_table.fit()
        self._fixed_table.setVisible(bool(self.chosen))
        self.changed.emit(self.chosen)


class _Residuals(QtWidgets.QWidget):
    """Table of the RMS residual of every model, by leg and over all legs, N."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr("RMS residual of the models over the window shown, N"))
        right = QtCore.Qt.AlignmentFlag.AlignRight
        grid = QtWidgets.QGridLayout(self)
        grid.setContentsMargins(4, 0, 4, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(0)
        title = QtWidgets.QLabel(tr("RMS residual, N"))
        title.setToolTip(tr("RMS of measured − model over the window shown; updated once a second"))
        grid.addWidget(title, 0, 0, 1, 2)
        heads = [swatch(colour, leg) for leg, colour in zip(LEGS, LEG_COLOURS, strict=True)]
        for column, head in enumerate((*heads, f"<b>{_COLUMNS[-1]}</b>")):
            grid.addWidget(QtWidgets.QLabel(head), 0, 2 + column, right)
        self._samples: dict[str, _Line] = {}
        self._names: dict[str, QtWidgets.QLabel] = {}
        self.values: dict[str, list[QtWidgets.QLabel]] = {}
        """Labels by model: six legs and all."""
        for row, (model, name) in enumerate(MODEL_NAMES.items(), 1):
            self._samples[model], self._names[model] = _Line(model, theme), QtWidgets.QLabel(tr(name))
            grid.addWidget(self._samples[model], row, 0)
            grid.addWidget(self._names[model], row, 1)
            self.values[model] = []
            for column, what in enumerate(_COLUMNS):
                value = QtWidgets.QLabel("–")
                value.setMinimumWidth(36)
                value.setAlignment(right)
                of = tr("leg {leg}").format(leg=what) if what in LEGS else tr("all legs")
                value.setAccessibleName(tr("RMS residual of {model}, {legs}, N").format(model=tr(name), legs=of))
                grid.addWidget(value, row, 2 + column)
                self.values[model].append(value)
        grid.setColumnStretch(2 + len(_COLUMNS), 1)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        for sample in self._samples.values():
            sample.set_theme(theme)

    def set_models(self, models: tuple[str, ...]) -> None:
        """Show a row for each of these models."""
        for model in MODEL_NAMES:
            for widget in (self._samples[model], self._names[model], *self.values[model]):
                widget.setVisible(model in models)

    def show_residuals(self, model: str, residuals: Floats) -> None:
        """Show RMS residuals (7,) N: six legs and all."""
        for value, residual in zip(self.values[model], residuals, strict=True):
            value.setText(number_text(float(residual), 2 if math.isnan(residual) or residual < 99.995 else 1))


class _Line(QtWidgets.QWidget):
    """A sample of a model's line pattern."""

    def __init__(self, model: str, theme: Theme) -> None:
        super().__init__()
        self._model, self._theme = model, theme
        self.setFixedSize(30, 14)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self)
        painter.setPen(self._theme.pen(self._theme.text, dashed=MODEL_DASHES[self._model]))
        painter.drawLine(0, 7, 29, 7)
        painter.end()

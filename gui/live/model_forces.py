"""Published models of the leg forces beside what is measured: computed in a thread, chosen in a bar, and compared."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.live.plot import swatch
from gui.models import EXACT, LEGS, MODEL_DASHES, MODEL_NAMES, Differences, Floats, Stretch, Timeline, number_text
from gui.session import Worker
from gui.texts import tr
from gui.widgets import LEG_COLOURS, FixedSize, Theme
from rig.cell_models import comparable_rows, model_differences

Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_CHUNK = 4096
"""rows that the thread is given at a time: some 0.1 s of its work"""
_PATIENCE = 5.0  # s for rows that are being computed


class _Kept:
    """Values (6,) of rows by their number; a row's place is taken over by the one `capacity` later."""

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self._numbers = np.full(self._capacity, -1)
        self._values = np.empty((self._capacity, 6))

    def missing(self, first: int, count: int) -> Mask:
        """Which of the rows numbered from `first` are not kept, (count,)."""
        numbers = np.arange(first, first + count)
        lacks: Mask = self._numbers[numbers % self._capacity] != numbers
        return lacks

    def put(self, numbers: Indices, values: Floats) -> None:
        """Keep values (k, 6) of the rows with these numbers."""
        places = numbers % self._capacity
        self._numbers[places], self._values[places] = numbers, values

    def get(self, first: int, count: int) -> Floats:
        """Values (count, 6) of the rows numbered from `first`; not numbers where they are not kept."""
        values = self._values[np.arange(first, first + count) % self._capacity]
        values[self.missing(first, count)] = np.nan
        return values


class ModelForces(QtCore.QObject):
    """What the chosen published models say of a timeline's rows. Signal `changed`: there are new values, or a fault.

    `fault` says why values are missing; `close` ends the thread, which begins with the first model chosen.
    """

    changed = QtCore.Signal()

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self.chosen: tuple[str, ...] = ()
        """published models to compute, of `dynamics.MODELS`"""
        self.fault = ""
        self._mechanism: Mechanism | None = None
        self._coulomb_speed = 0.0
        self._timeline: Timeline | None = None
        self._kept: dict[str, _Kept] = {}
        self._worker: Worker | None = None
        self._closed = False
        self._pending = False
        self._generation = 0

    def set_mechanism(self, mechanism: Mechanism | None, coulomb_speed: float) -> None:
        """Compute with this mechanism and this speed, m/s, of the control's Coulomb friction; forget all values."""
        self._mechanism, self._coulomb_speed = mechanism, coulomb_speed
        self._forget()

    def follow(self, timeline: Timeline) -> None:
        """Number rows as this timeline does; values of another one are forgotten."""
        if timeline is not self._timeline:
            self._timeline = timeline
            self._forget()

    def choose(self, models: Collection[str]) -> None:
        """Compute these of the published models."""
        self.chosen = tuple(model for model in MODEL_NAMES if model in models and model != EXACT)
        self.fault = ""

    @property
    def preparing(self) -> bool:
        """Whether a chosen model has no value yet: its first ones take a while where no kernel is compiled."""
        return self._pending and any(model not in self._kept for model in self.chosen)

    def differences(self, model: str, stretch: Stretch) -> Floats:
        """Forces of a model at the load cells less those of the exact one, (n, 6) N; NaN in rows not computed yet."""
        if model == EXACT:
            return np.zeros((len(stretch), 6))
        kept = self._kept.get(model)
        return np.full((len(stretch), 6), np.nan) if kept is None else kept.get(stretch.first, len(stretch))

    def newest(self, stretch: Stretch) -> Stretch:
        """The newest row that all chosen models have come to, alone; the newest one where there is none of these."""
        known = np.arange(len(stretch))
        if self.chosen:
            differences = np.hstack([self.differences(model, stretch) for model in self.chosen])
            computed = np.flatnonzero(np.isfinite(differences).all(axis=1))
            known = computed if len(computed) else known
        last = int(known[-1]) if len(known) else 0
        return stretch.part(last, last + 1)

    def rms_residuals(self, model: str, stretch: Stretch) -> Floats:
        """RMS residual of a model over the rows of a stretch that are computed: six legs and all of them, (7,) N."""
        usable = comparable_rows(stretch.rows)
        residual = stretch.rows["force_residual"][usable] - self.differences(model, stretch)[usable]
        squares = residual[np.isfinite(residual).all(axis=1)] ** 2
        if not len(squares):
            return np.full(7, np.nan)
        legs = squares.mean(axis=0)
        rms: Floats = np.sqrt(np.append(legs, legs.mean()))
        return rms

    def compute(self, stretch: Stretch) -> None:
        """Have the rows of a stretch computed that are not yet, the newest first. Returns at once."""
        if self._pending or self._closed or (wanted := self._wanted(stretch)) is None:
            return
        if self._worker is None:
            self._worker = Worker("models", self)
        self._pending = True
        job, generation = self._job(stretch, *wanted), self._generation
        self._worker.submit(job, lambda computed, _failure: self._take(generation, computed))
        if self.preparing:
            self.changed.emit()

    def completion(self, stretch: Stretch) -> Callable[[], Differences]:
        """What computes, in any thread, the rows of a stretch that are not yet, and then knows all of its differences.

        The stretch must be one that does not change any more; what has no answer is not a number.
        """
        mechanism, speed = self._mechanism, self._coulomb_speed
        values = {model: self.differences(model, stretch) for model in self.chosen}
        lacking = {model: np.flatnonzero(self._lacking(model, stretch)) for model in self.chosen}

        def complete() -> Differences:
            if mechanism is None:
                return lambda model, _stretch: values[model]
            for model, indices in lacking.items():
                for chunk in range(0, len(indices), _CHUNK):
                    at = indices[chunk : chunk + _CHUNK]
                    computed = _compute(mechanism, speed, (model,), at, _motions(stretch, at))
                    values[model][at] = computed.values[model]
            return lambda model, _stretch: values[model]

        return complete

    def close(self) -> None:
        """End the thread. May be called again."""
        self._closed = True
        if self._worker is not None:
            self._worker.finish()
            self._worker.join(_PATIENCE)

    def _forget(self) -> None:
        self._kept.clear()
        self._generation += 1
        self.fault = ""

    def _wanted(self, stretch: Stretch) -> tuple[tuple[str, ...], Indices] | None:
        """Models that lack rows of a stretch, and the newest of those rows, as indices into it."""
        if self._mechanism is None or not len(stretch):
            return None
        lacking: Mask = np.zeros(len(stretch), np.bool_)
        models = []
        for model in self.chosen:
            lacks = self._lacking(model, stretch)
            if lacks.any():
                models.append(model)
                lacking |= lacks
        return (tuple(models), np.flatnonzero(lacking)[-_CHUNK:]) if models else None

    def _lacking(self, model: str, stretch: Stretch) -> Mask:
        """Which rows of a stretch a model has not been computed of, (n,)."""
        kept = self._kept.get(model)
        return np.ones(len(stretch), np.bool_) if kept is None else kept.missing(stretch.first, len(stretch))

    def _job(self, stretch: Stretch, models: Collection[str], indices: Indices) -> Callable[[], "_Computed"]:
        mechanism, speed, numbers = self._mechanism, self._coulomb_speed, stretch.first + indices
        assert mechanism is not None
        motions = _motions(stretch, indices)
        return lambda: _compute(mechanism, speed, models, numbers, motions)

    def _take(self, generation: int, computed: "_Computed") -> None:
        self._pending = False
        if generation != self._generation:
            return
        assert self._timeline is not None
        self.fault = computed.fault or self.fault  # said until models are chosen anew: the next rows do not mend it
        for model, values in computed.values.items():
            self._kept.setdefault(model, _Kept(self._timeline.capacity)).put(computed.numbers, values)
        self.changed.emit()


@dataclass(frozen=True, slots=True, eq=False)
class _Computed:
    """Differences (k, 6) by model of the rows with these numbers; `fault` says why they are not numbers."""

    numbers: Indices
    values: dict[str, Floats]
    fault: str = ""


def _motions(stretch: Stretch, indices: Indices) -> Floats:
    """Motions (k, 19) of some rows, a copy: the timeline moves on meanwhile.

    No numbers where the exact model had no answer: nothing is laid over it, and one row must not fail for thousands.
    """
    motions: Floats = stretch.rows["reference"][indices]
    motions[~np.isfinite(stretch.rows["force_model"][indices]).all(axis=1)] = np.nan
    return motions


def _compute(
    mechanism: Mechanism, coulomb_speed: float, models: Collection[str], numbers: Indices, motions: Floats
) -> _Computed:
    usable = np.isfinite(motions).all(axis=1) & (np.abs(np.linalg.norm(motions[:, 3:7], axis=1) - 1.0) < 1e-6)
    values = {model: np.full((len(motions), 6), np.nan) for model in models}
    try:
        for model, differences in model_differences(mechanism, motions[usable], models, coulomb_speed).items():
            values[model][usable] = differences
    except Exception as error:  # whatever it is, these rows have no answer and must not be asked for again
        return _Computed(numbers, values, (str(error) or type(error).__name__).splitlines()[0])
    return _Computed(numbers, values)


UNKNOWN = tr("The mechanism is not known, the models cannot be computed")
_COLUMNS = (*LEGS, tr("all"))


class ModelsBar(QtWidgets.QWidget):
    """Check list of the models, and below it, while a published one is chosen, the RMS residual of each.

    Signal `changed(tuple of names)`: the published models chosen, of `dynamics.MODELS`.
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
        self._still = FixedSize(self.table)
        layout.addWidget(self._still)
        self.boxes[EXACT].setChecked(True)
        self.boxes[EXACT].setEnabled(False)
        self.boxes[EXACT].setToolTip(tr("The model that controls the rig; always shown"))
        self.set_available(False)
        self._toggled()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Published models chosen, names of `dynamics.MODELS`; none while they cannot be computed."""
        return tuple(name for name, box in self.boxes.items() if name != EXACT and box.isEnabled() and box.isChecked())

    def set_available(self, known: bool) -> None:
        """Whether there is a mechanism to compute the models of."""
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
        """Keep under a name which models are chosen."""
        ticked = [model for model, box in self.boxes.items() if model != EXACT and box.isChecked()]
        settings.setValue(f"{name}/models", " ".join(ticked))

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Take up what was kept under a name."""
        kept = str(settings.value(f"{name}/models", "")).split()
        for model, box in self.boxes.items():
            if model != EXACT:
                box.setChecked(model in kept)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self.table.set_theme(theme)

    def make_stale(self) -> None:
        """The picture is another one: every line of the table is older."""
        self._stale += [model for model in (EXACT, *self.chosen) if model not in self._stale]

    def show_next(self, residuals: Callable[[str], Floats]) -> None:
        """Bring the line up to date that has been stale the longest, by its model's RMS residuals (7,) N."""
        if self._stale:
            model = self._stale.pop(0)
            self.table.show_residuals(model, residuals(model))

    def say(self, text: str) -> None:
        """Say what the models are at, or what is wrong with them."""
        self.note.setText(text)
        self.note.setToolTip(text)

    def _toggled(self) -> None:
        self._stale.clear()
        self.table.set_models((EXACT, *self.chosen))
        self._still.fit()
        self._still.setVisible(bool(self.chosen))
        self.changed.emit(self.chosen)


class _Residuals(QtWidgets.QWidget):
    """RMS residual of every model, by leg and over all legs, N."""

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
        """texts by model: six legs and all"""
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
        """Have a row for each of these models."""
        for model in MODEL_NAMES:
            for widget in (self._samples[model], self._names[model], *self.values[model]):
                widget.setVisible(model in models)

    def show_residuals(self, model: str, residuals: Floats) -> None:
        """Show RMS residuals (7,) N: six legs and all."""
        for value, residual in zip(self.values[model], residuals, strict=True):
            value.setText(number_text(float(residual), 2 if math.isnan(residual) or residual < 99.995 else 1))


class _Line(QtWidgets.QWidget):
    """A piece of a model's line."""

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

"""Which models of the leg forces are laid over the measured ones, and how much each leaves unexplained."""

import math
from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.live.numbers import number_text
from gui.live.plot_labels import swatch
from gui.live.series import EXACT, LEGS, MODEL_DASHES, MODEL_NAMES
from gui.session import Floats
from gui.texts import tr
from gui.widgets import LEG_COLOURS, FixedSize, Theme

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
                    tr("Lay it over the measured forces: {dashes}").format(dashes=MODEL_DASHES[model])
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
        title.setToolTip(tr("Of measured − model, over the rows in the window shown; brought up to date once a second"))
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

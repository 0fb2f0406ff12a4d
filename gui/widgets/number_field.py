"""Number fields: the same syntax in every locale; invalid text is red, with the reason.

A field's value is what its text says now, whether or not it was left with Tab: actions use `si`, which raises on
invalid text. `field_refusal` tells which field of a form is invalid.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import tr
from kinematics import NumberTextError, common_units, read_number, read_quantity


class DisplayUnit(NamedTuple):
    """Displayed unit of a quantity: name, factor from SI, and minimum number of decimals."""

    unit: str
    factor: float
    decimals: int


_DISPLAY = {
    "m": DisplayUnit("mm", 1e3, 3),
    "m/s": DisplayUnit("mm/s", 1e3, 2),
    "rad": DisplayUnit("°", 180.0 / math.pi, 3),
    "rad/s": DisplayUnit("°/s", 180.0 / math.pi, 2),
    "s": DisplayUnit("s", 1.0, 3),
    "Hz": DisplayUnit("Hz", 1.0, 3),
    "%": DisplayUnit("%", 1.0, 1),
}
"""By SI unit."""

_LARGEST = 1e6  # of the unit shown
_MOST_DECIMALS = 9
_ROUGH, _CONVERTED, _TYPED = 0.01, 1e-6, 1e-9
"""Relative rounding allowed for a set number, one typed in another unit, and one typed in the displayed unit."""
_LONGEST = 60  # characters of a text
_WIDEST = 18  # characters of a number that fit in a field
_EDGE = 2  # px, Qt's margin before a line's first letter
_REASON_WIDTH = 300  # px
_SELECTED_BY = (QtCore.Qt.FocusReason.TabFocusReason, QtCore.Qt.FocusReason.BacktabFocusReason)


def display_unit(unit: str) -> DisplayUnit:
    """Return how a quantity of the SI `unit` is displayed."""
    return _DISPLAY.get(unit, DisplayUnit(unit, 1.0, 3))


class NumberField(QtWidgets.QAbstractSpinBox):
    """A number field with unit: SI in the code, displayed in common units (mm, °).

    The text is rounded; the set value stays exact until the user types a number, optionally with another unit, and with
    a decimal comma or point in any locale.

    Signals: `valueChanged(number)`, in the displayed unit, when a number is committed: by Enter, focus loss, an arrow,
    or `set_si`. `changed`: also with every key.

    Args:
        name: accessible name.
        unit: SI unit.
        value, minimum, maximum: SI.
        shown: default: by `display_unit`.
        whole: whether it has no decimals.
        optional: whether it may be empty, with the value None.
        exact: whether to show all digits of a set value.
        largest: limit of the bounds, in the displayed unit.
        judge: returns why else a value, SI, is invalid; empty if valid.
    """

    valueChanged = QtCore.Signal(float)
    changed = QtCore.Signal()
    reason = ""
    """Why the text is invalid, empty if it is valid."""
    _bubble: "_Reason | None" = None
    _live: float | None = None
    """SI, value of the text; None above because Qt calls overrides during construction."""

    def __init__(
        self,
        name: str,
        unit: str = "",
        value: float | None = 0.0,
        minimum: float = -math.inf,
        maximum: float = math.inf,
        parent: QtWidgets.QWidget | None = None,
        *,
        shown: DisplayUnit | None = None,
        whole: bool = False,
        optional: bool = False,
        exact: bool = False,
        largest: float = _LARGEST,
        judge: Callable[[float], str] = lambda _value: "",
    ) -> None:
        super().__init__(parent)
        self._judge, self._largest = judge, largest
        self._given = _TYPED if exact else _ROUGH
        self._line = _NumberLine()
        self.setLineEdit(self._line)
        self._line.setMaxLength(_LONGEST)
        self.setProperty("plain", True)  # without buttons the style sheet may draw its frame
        self.setButtonSymbols(QtWidgets.QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.StrongFocus)
        self._name, self._minimum, self._maximum = name, minimum, maximum
        self._whole, self._optional = whole, optional
        self._value = self._live = value  # SI: committed value, and value of the text
        self._editing = self._writing = False
        self._decimals_shown = 0
        self._measure(unit, shown)
        self._commit(value, self._given)
        self._line.textChanged.connect(self._text_changed)
        self.editingFinished.connect(self.interpretText)

    # -- value -------------------------------------------------------------------------------------------------------

    @property
    def editing(self) -> bool:
        """Whether the text was changed by the user and is not committed, or cannot be."""
        return self._editing

    @property
    def refusal(self) -> str:
        """Name of the field and why its text is invalid; empty if valid, or if the field is not editable."""
        return f"{self._name}: {self.reason}" if self.reason and self.isEnabled() else ""

    def entered(self) -> float | None:
        """Return the text's value, SI: exact if set, or as typed.

        None if an optional field is empty. Raises ValueError with the reason if the text is invalid.
        """
        if self.reason:
            raise ValueError(f"{self._name}: {self.reason}")
        return self._live

    def si(self) -> float:
        """Same as `entered`, for fields that are never empty."""
        value = self.entered()
        if value is None:
            raise ValueError(tr("{name}: a number is missing").format(name=self._name))
        return value

    def known(self) -> float:
        """Same as `si`, or the last committed value if the text is invalid: for display only."""
        return (self._value or 0.0) if self.reason else self.si()

    def value(self) -> float:
        """Same as `si`, in the displayed unit."""
        return self.si() * self._shown.factor

    def set_si(self, value: float | None) -> None:
        """Set a value in SI. Raises ValueError if `fault` refuses it."""
        if fault := self.fault(value):
            raise ValueError(fault)
        self._commit(value if value is None else float(value), self._given)

    def setValue(self, number: float) -> None:
        """Set a number in the displayed unit. Raises as `set_si`."""
        self.set_si(number / self._shown.factor)

    def revert(self) -> None:
        """Discard typed text and show the committed value."""
        if self._editing:
            self._commit(self._value, _TYPED)

    def interpretText(self) -> None:
        """Commit the text if valid; otherwise it stays, red."""
        if self._editing and not self.reason:
            self._commit(self._live, _TYPED if self._in_own_unit() else _CONVERTED)

    def fault(self, value: float | None) -> str:
        """Why a value, SI, is not allowed in this field; empty if it is."""
        if value is None:
            return "" if self._optional else tr("{name}: a number is missing").format(name=self._name)
        if not math.isfinite(value):
            return tr("{name}: {value:g}, must be finite").format(name=self._name, value=value)
        if self._whole and value != round(value):
            return tr("{name}: {value:g}, must be a whole number").format(name=self._name, value=value)
        bound = self._beyond(value)
        number = f"{value * self._shown.factor:g} {self._shown.unit}".rstrip()
        return f"{self._name}: {number}, {bound}" if bound else ""

    def _beyond(self, value: float) -> str:
        """Return which bound a finite value, SI, exceeds."""
        unit, factor, _decimals = self._shown
        largest = self._largest / factor
        least, most = max(self._minimum, -largest), min(self._maximum, largest)
        if value < least:
            return tr("must be at least {least:g}").format(least=least * factor) + f" {unit}".rstrip()
        return tr("must be at most {most:g}").format(most=most * factor) + f" {unit}".rstrip() if value > most else ""

    # -- text --------------------------------------------------------------------------------------------------------

    def setPlaceholderText(self, text: str) -> None:
        """Set the text of the empty field."""
        self._line.setPlaceholderText(text)

    def text(self) -> str:
        """Prefix, number and unit."""
        return f"{self._line.prefix}{self._line.text()}{self._line.behind}"

    def prefix(self) -> str:
        """The text before the number."""
        return self._line.prefix

    def setPrefix(self, text: str) -> None:
        """Set the text before the number."""
        self._line.surround(text, self._line.suffix)
        self.updateGeometry()

    def suffix(self) -> str:
        """The text after the number: a space and the unit."""
        return self._line.suffix

    def setSuffix(self, text: str) -> None:
        """Set the text after the number."""
        self._line.surround(self._line.prefix, text)
        self.updateGeometry()

    def decimals(self) -> int:
        """The number of displayed decimals."""
        return self._decimals_shown

    def minimum(self) -> float:
        """The minimum, in the displayed unit."""
        return max(self._minimum * self._shown.factor, -self._largest)

    def maximum(self) -> float:
        """The maximum, in the displayed unit."""
        return min(self._maximum * self._shown.factor, self._largest)

    def set_unit(self, unit: str, shown: DisplayUnit | None = None) -> None:
        """Change the SI `unit`; the displayed number stays. Raises ValueError if it is then out of bounds."""
        self.interpretText()
        number = None if self._value is None else self._value * self._shown.factor
        self._measure(unit, shown)
        self.set_si(None if number is None else number / self._shown.factor)

    def _measure(self, unit: str, shown: DisplayUnit | None) -> None:
        self._unit, self._shown = unit, display_unit(unit) if shown is None else shown
        unit_shown = self._shown.unit
        self.setSuffix(f" {unit_shown}" if unit_shown else "")
        self.setAccessibleName(f"{self._name}, {unit_shown}" if unit_shown else self._name)
        low, high = math.isfinite(self._minimum), math.isfinite(self._maximum)
        bounds = tr("at least {least:g} and at most {most:g}") if high else tr("at least {least:g}")
        bounds = (bounds if low else tr("at most {most:g}")).format(least=self.minimum(), most=self.maximum())
        inside = tr("{name} in {unit}").format(name=self._name, unit=unit_shown) if unit_shown else self._name
        self.setToolTip(f"{self._name}: {bounds} {unit_shown}".rstrip() if low or high else inside)

    def set_range(self, minimum: float, maximum: float) -> None:
        """Set new bounds, SI; set a value within them afterwards."""
        self._minimum, self._maximum = minimum, maximum
        self._measure(self._unit, self._shown)

    def _commit(self, value: float | None, rough: float) -> None:
        before, was_editing, self._value = self._value, self._editing, value
        self._live, self._editing = value, False
        text = self._text_of(value, rough)
        if text != self._line.text():
            self._writing = True
            self._line.setText(text)
            self._writing = False
            if self.hasFocus():
                self.selectAll()
        self._set_reason("")
        if value != before:
            self._emit_value()
        if value != before or was_editing:
            self.changed.emit()

    def _text_of(self, value: float | None, rough: float) -> str:
        if value is None:
            return ""
        number = value * self._shown.factor
        decimals = self._decimals_shown = 0 if self._whole else _decimals(number, self._shown.decimals, rough)
        return f"{float(f'{number:.{decimals}f}') + 0.0:.{decimals}f}"

    def _emit_value(self) -> None:
        self.valueChanged.emit(math.nan if self._value is None else self._value * self._shown.factor)

    def _text_changed(self, _text: str) -> None:
        if self._writing:
            return
        self._editing = True
        try:
            self._live, reason = self._read(), ""
        except NumberTextError as error:
            reason = self._words(error)
        self._set_reason(reason or self._judged())
        self.changed.emit()

    def _judged(self) -> str:
        """Return why the text's number is invalid."""
        if self._live is None:
            return ""
        if self._whole and self._live != round(self._live):
            return tr("must be a whole number")
        return self._beyond(self._live) or self._judge(self._live)

    def _read(self) -> float | None:
        text = self._line.text()
        if self._optional and not text.strip():
            return None
        return read_quantity(text, (self._unit,), self._line.suffix.strip(), self._shown.factor, common=True)

    def _in_own_unit(self) -> bool:
        text = self._line.text().strip()
        return bool(text[-1:].isdigit() or text.endswith((".", ",", self._line.suffix.strip() or ".")))

    def _words(self, error: NumberTextError) -> str:
        unit = self._shown.unit
        if error.code == "empty":
            return tr("a number is missing")
        if error.code == "grouped":
            return tr("{text}: digits have one decimal mark and no other, as 1000.5 or 1000,5").format(text=error.text)
        if error.code == "not finite":
            return tr("{text}: must be finite").format(text=error.text)
        if error.code == "no number":
            return tr("{text}: no number").format(text=error.text)
        others = ", ".join(dict.fromkeys([each for each in (unit, *common_units(self._unit)) if each]))
        if not others:
            return tr("{text}: must have no unit").format(text=error.text)
        return tr("{text}: the unit must be one of {units}").format(text=error.text, units=others)

    # -- display -----------------------------------------------------------------------------------------------------

    def _set_reason(self, reason: str) -> None:
        """Show the text as invalid with a reason; empty: as valid."""
        if bool(reason) != bool(self.reason):
            self.setProperty("wrong", bool(reason))
            self.style().unpolish(self)
            self.style().polish(self)
        if reason != self.reason:
            self.reason = reason
            self.setAccessibleDescription(reason)
        self._show_reason()

    def _show_reason(self) -> None:
        if self.reason and self.isVisible() and self.isEnabled():
            if self._bubble is None:
                self._bubble = _Reason(self)
            self._bubble.show_text(self.reason)
        elif self._bubble is not None:
            self._bubble.leave()
            self._bubble = None

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Show the reason again."""
        super().showEvent(event)
        self._show_reason()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        """Hide the reason with the field."""
        super().hideEvent(event)
        self._show_reason()

    def changeEvent(self, event: QtCore.QEvent) -> None:
        """A disabled field is not invalid; update on changes."""
        super().changeEvent(event)
        if event.type() == QtCore.QEvent.Type.EnabledChange and self.reason:
            self._show_reason()
            self.changed.emit()

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:
        """Hide the reason, which may cover the focused widget."""
        super().focusOutEvent(event)
        if self._bubble is not None:
            self._bubble.place()

    def sizeHint(self) -> QtCore.QSize:
        """Room for every number within the bounds, with prefix and unit."""
        return self._room(self._line.prefix + self._line.suffix)

    def minimumSizeHint(self) -> QtCore.QSize:
        """Same without the unit."""
        return self._room(self._line.prefix)

    def _room(self, affix: str) -> QtCore.QSize:
        self.ensurePolished()
        metrics, decimals = self.fontMetrics(), 0 if self._whole else self._shown.decimals
        numbers = (f"{number:.{decimals}f}"[:_WIDEST] for number in (self.minimum(), self.maximum()))
        width = max(metrics.horizontalAdvance(f"{number}{affix} ") for number in numbers) + _EDGE
        option = QtWidgets.QStyleOptionSpinBox()
        self.initStyleOption(option)
        kind = QtWidgets.QStyle.ContentsType.CT_SpinBox
        size = QtCore.QSize(width, self._line.sizeHint().height())
        return self.style().sizeFromContents(kind, option, size, self)

    # -- steps -------------------------------------------------------------------------------------------------------

    def stepEnabled(self) -> "QtWidgets.QAbstractSpinBox.StepEnabled":
        """Up and down, unless the text is invalid or at the bound."""
        enabled = QtWidgets.QAbstractSpinBox.StepEnabled()
        if not self.reason and self._live is not None:
            number = self._live * self._shown.factor
            if number < self.maximum():
                enabled |= QtWidgets.QAbstractSpinBox.StepEnabledFlag.StepUpEnabled
            if number > self.minimum():
                enabled |= QtWidgets.QAbstractSpinBox.StepEnabledFlag.StepDownEnabled
        return enabled

    def stepBy(self, steps: int) -> None:
        """Step up, or down if negative, as far as the bound; each changes the second digit by one."""
        if self.reason or self._live is None:
            return
        number = self._live * self._shown.factor
        step = 1.0 if self._whole else _step(number, steps, self._decimals_shown)
        number = min(max(number + steps * step, self.minimum()), self.maximum())
        number = float(f"{number:.{self._decimals_shown}f}")
        if not self._beyond(number / self._shown.factor):
            self._commit(number / self._shown.factor, _TYPED)
            self.selectAll()

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """The wheel acts only with focus: scrolling past must not change values."""
        if may_turn(self, event):
            super().wheelEvent(event)


class QuantityBox(NumberField):
    """A number with unit that is never empty, of usual width."""

    def __init__(
        self,
        name: str,
        unit: str,
        value: float = 0.0,
        minimum: float = -math.inf,
        maximum: float = math.inf,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(name, unit, value, minimum, maximum, parent)
        if fault := self.fault(value):
            raise ValueError(fault)
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance(f"-000.000 {self.suffix()}") + 16)


class WholeNumber(NumberField):
    """An integer from `least` to `most`.

    Args:
        name: accessible name.
        value, least, most: counts.
    """

    valueChanged = QtCore.Signal(int)

    def __init__(self, name: str, value: int, least: int, most: int, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(name, "", value, least, most, parent, shown=DisplayUnit("", 1.0, 0), whole=True)
        self.setToolTip(tr("{name}: {least} to {most}").format(name=name, least=least, most=most))

    def value(self) -> int:
        """Return the text's value. Raises ValueError if it is no integer within the bounds."""
        return round(self.si())

    def _beyond(self, value: float) -> str:
        if value < self._minimum:
            return tr("must be at least {least}").format(least=round(self._minimum))
        return tr("must be at most {most}").format(most=round(self._maximum)) if value > self._maximum else ""

    def minimum(self) -> int:
        """The minimum."""
        return round(self._minimum)

    def maximum(self) -> int:
        """The maximum."""
        return round(self._maximum)

    def _emit_value(self) -> None:
        self.valueChanged.emit(round(self._value or 0.0))


class NumberList(NumberField):
    """Several numbers separated by semicolons, as a comma is a decimal mark.

    Args:
        name: accessible name.
        values: initial ones.
        minimum, maximum: of each.
    """

    def __init__(
        self,
        name: str,
        values: Sequence[float],
        minimum: float = -math.inf,
        maximum: float = math.inf,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(name, "", None, minimum, maximum, parent, optional=True)
        self.setToolTip(tr("{name}; semicolons between the numbers").format(name=name))
        self._line.setText("; ".join(f"{value:g}" for value in values))
        self.interpretText()

    def numbers(self) -> list[float]:
        """Return the text's numbers. Raises ValueError with the reason if a part is invalid."""
        self.entered()
        return self._listed()

    def _listed(self) -> list[float]:
        return [read_number(part) for part in self._line.text().split(";")]

    def _read(self) -> None:
        for number in self._listed():
            if fault := self._beyond(number):
                self._fault = f"{number:g}, {fault}"
                return
        self._fault = ""

    def _judged(self) -> str:
        return self._fault

    def _words(self, error: NumberTextError) -> str:
        if error.code == "grouped":
            return tr("{text}: semicolons go between numbers, a comma or point before decimals").format(text=error.text)
        return super()._words(error)

    def _text_of(self, value: float | None, rough: float) -> str:
        return str(self._line.text())

    def stepEnabled(self) -> "QtWidgets.QAbstractSpinBox.StepEnabled":
        """None."""
        return QtWidgets.QAbstractSpinBox.StepEnabled()


def number_fields(*roots: QtWidgets.QWidget) -> Iterator[NumberField]:
    """Return the number fields among some widgets and their children."""
    for root in roots:
        if isinstance(root, NumberField):
            yield root
        else:
            yield from root.findChildren(NumberField)


def field_refusal(*roots: QtWidgets.QWidget) -> str:
    """Return name and fault of the first invalid field of some widgets; empty without."""
    return next((field.refusal for field in number_fields(*roots) if field.refusal), "")


def may_turn(field: QtWidgets.QWidget, event: QtGui.QWheelEvent) -> bool:
    """Whether the wheel acts on a field: only with focus, as scrolling past must not change values."""
    if not field.hasFocus():
        event.ignore()
    return bool(field.hasFocus())


class _NumberLine(QtWidgets.QLineEdit):
    """Line edit of the number, between prefix and suffix, which are not editable."""

    prefix = suffix = ""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("number")

    def surround(self, prefix: str, suffix: str) -> None:
        """Set prefix and suffix."""
        self.prefix, self.suffix = prefix, suffix
        metrics = self.fontMetrics()
        before, behind = (metrics.horizontalAdvance(text) for text in (prefix, suffix))
        if (before, behind) != (self.textMargins().left(), self.textMargins().right()):
            self.setTextMargins(before, 0, behind, 0)
        self.update()

    @property
    def behind(self) -> str:
        """Return the displayed suffix: empty while a unit is typed, or with a placeholder."""
        text = self.text().strip()
        if not text:
            return "" if self.placeholderText() else self.suffix
        return self.suffix if text[-1].isdigit() or text[-1] in ".,;+-" else ""

    def changeEvent(self, event: QtCore.QEvent) -> None:
        """Update the margins for a new font."""
        super().changeEvent(event)
        if event.type() in (QtCore.QEvent.Type.FontChange, QtCore.QEvent.Type.StyleChange):
            self.surround(self.prefix, self.suffix)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Draw the number, prefix and suffix."""
        super().paintEvent(event)
        if not self.prefix and not self.suffix:
            return
        painter = QtGui.QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(QtGui.QPalette.ColorRole.Text))
        option = QtWidgets.QStyleOptionFrame()
        self.initStyleOption(option)
        room = self.style().subElementRect(QtWidgets.QStyle.SubElement.SE_LineEditContents, option, self)
        room.adjust(_EDGE, 0, -_EDGE, 0)
        metrics, middle = self.fontMetrics(), QtCore.Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, int(middle), self.prefix)
        number = metrics.horizontalAdvance(f"{self.prefix}{self.text()}")
        behind = min(number, room.width() - metrics.horizontalAdvance(self.suffix))
        painter.drawText(room.adjusted(behind, 0, 0, 0), int(middle), self.behind)


class _Reason(QtWidgets.QLabel):
    """Overlay with the reason why a field's text is invalid; nothing moves when it appears.

    It is placed where it covers fewest buttons and fields, never the field itself or the focus widget. A click on it
    focuses the field, and does not reach widgets below.
    """

    def __init__(self, field: NumberField) -> None:
        super().__init__(_ground(field))
        self._field = field
        self.setObjectName("fieldReason")
        self.setAccessibleName(tr("Error of the number"))
        self._watched: list[QtWidgets.QWidget] = []
        parent = self.parentWidget()
        each: QtWidgets.QWidget | None = field
        while each is not None:
            each.installEventFilter(self)
            self._watched.append(each)
            each = None if each is parent else each.parentWidget()

    def show_text(self, text: str) -> None:
        """Show a reason."""
        if text != self.text() or self.isHidden():
            self.setText(text)
            self.place()
            self.show()
            self.raise_()

    def leave(self) -> None:
        """Hide."""
        for each in self._watched:
            each.removeEventFilter(self)
        self.hide()
        self.deleteLater()

    def place(self) -> None:
        """Place it below, above, left or right of the field."""
        ground, field = self.parentWidget(), self._field
        self.ensurePolished()
        self.setWordWrap(self.fontMetrics().horizontalAdvance(self.text()) > _REASON_WIDTH)
        size = QtCore.QSize(_REASON_WIDTH, self.heightForWidth(_REASON_WIDTH)) if self.wordWrap() else self.sizeHint()
        width = size.width()
        own = QtCore.QRect(field.mapTo(ground, QtCore.QPoint()), field.size())
        seen = ground.visibleRegion().boundingRect() if ground.isVisible() else ground.rect()
        lefts = (own.left(), own.right() + 1 - width)
        places = [
            QtCore.QRect(QtCore.QPoint(min(max(left, seen.left()), seen.right() + 1 - width), top), size)
            for top in (own.bottom() + 2, own.top() - size.height() - 1)
            for left in lefts
        ]
        neighbours, focused = self._neighbours(ground), QtWidgets.QApplication.focusWidget()

        def cost(place: QtCore.QRect) -> int:
            """Cost of a place: out of view, covers the focus widget, covers buttons and fields."""
            hidden = [other for other, area in neighbours if area.intersects(place)]
            return (0 if seen.contains(place) else 1000) + sum(100 if other is focused else 1 for other in hidden)

        self.setGeometry(min(places, key=cost))

    def _neighbours(self, ground: QtWidgets.QWidget) -> list[tuple[QtWidgets.QWidget, QtCore.QRect]]:
        """Return the visible buttons and fields to avoid, with their areas on the ground, px."""
        kinds = (QtWidgets.QAbstractButton, QtWidgets.QAbstractSpinBox, QtWidgets.QComboBox)
        return [
            (other, QtCore.QRect(other.mapTo(ground, QtCore.QPoint()), other.size()))
            for other in ground.findChildren(kinds)
            if other is not self._field and other.isVisible()
        ]

    def eventFilter(self, _receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Follow the field."""
        if event.type() in (QtCore.QEvent.Type.Move, QtCore.QEvent.Type.Resize) and not self.isHidden():
            self.place()
        return False

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Focus the field."""
        self._field.setFocus()
        event.accept()


def _ground(field: QtWidgets.QWidget) -> QtWidgets.QWidget:
    """Return the parent of a reason: the page that scrolls with the field, else its window."""
    each = field
    while not each.isWindow():
        above = each.parentWidget()
        area = above.parentWidget() if above is not None else None
        if isinstance(area, QtWidgets.QScrollArea) and area.widget() is each:
            return each
        each = above
    return each


def _decimals(number: float, least: int, rough: float) -> int:
    """Return the decimals that show a number up to a relative error `rough`; a small one not as zero."""
    for decimals in range(least, _MOST_DECIMALS + 1):
        if abs(float(f"{number:.{decimals}f}") - number) <= rough * abs(number):
            return decimals
    return least if rough == _ROUGH else _MOST_DECIMALS


def _step(number: float, steps: int, decimals: int) -> float:
    """Return a number after a step of a tenth of its leading digit's power of ten; steps are reversible."""
    least = 10.0**-decimals
    size = abs(number)
    if size < least:
        return least
    if (number < 0.0) != (steps < 0):
        size /= 1.01
    shift = 10.0 ** (1 - math.floor(math.log10(size)))
    size = round(size * shift) / shift
    return max(least, 10.0 ** (math.floor(math.log10(size)) - 1))

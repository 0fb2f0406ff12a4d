"""The wizard's first page: what the rig is called, what mechanism it has, and whether this is a rehearsal."""

from dataclasses import replace
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from dynamics import mechanism_names
from gui.setup.page import SetupPage
from gui.steps import browse_button, line_edit
from gui.texts import tr
from gui.widgets import Choice, QuantityBox
from rig.commissioning import Draft
from rig.config import declared_laws


class StartPage(SetupPage):
    """Name, mechanism, control law and rate. `kindChanged` when it becomes a rehearsal or real."""

    kindChanged = QtCore.Signal(bool)

    def __init__(self) -> None:
        super().__init__(
            tr("Mechanism and name"),
            tr(
                "What the rig is called, and the file that says where its joints are, what it weighs and what it may "
                "do."
            ),
            ("name", "mechanism", "mode", "rate"),
        )
        draft = Draft()
        self.name = line_edit(tr("Name of the rig"), "", tr("for example my-rig"))
        self.mechanism = Choice(tr("Mechanism: a shipped one's name, or a TOML file"))
        self.mechanism.setEditable(True)
        self.mechanism.setInsertPolicy(QtWidgets.QComboBox.InsertPolicy.NoInsert)
        self.mechanism.addItems(mechanism_names())
        self.mechanism.setCurrentText(draft.mechanism)
        self.mode = Choice(
            tr("Control law"),
            [
                (tr("Force, with the exact feedforward"), "force"),
                (tr("Computed torque"), "computed-torque"),
                (tr("Force, with a disturbance observer"), "observer"),
                (tr("Position, closed by the drives"), "position"),
                *((name, name) for name in declared_laws()),
            ],
        )
        self.rate = QuantityBox(tr("Cycles per second"), "Hz", draft.rate, 1.0, 1e4)
        self.real = QtWidgets.QRadioButton(tr("Real drives"))
        self.rehearsal = QtWidgets.QRadioButton(tr("Rehearsal: virtual drives on this machine, no hardware needed"))
        self.real.setChecked(True)
        form = QtWidgets.QFormLayout()
        form.addRow(tr("Name"), self.name)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.mechanism, 1)
        row.addWidget(browse_button(tr("Choose a mechanism file"), self._browse))
        form.addRow(tr("Mechanism"), row)
        form.addRow(tr("Control"), self.mode)
        form.addRow(tr("Rate"), self.rate)
        form.addRow(tr("Drives"), self.real)
        form.addRow("", self.rehearsal)
        self.column.addLayout(form)
        self.close_form()
        self.name.textEdited.connect(lambda _text: self.edited.emit())
        self.mechanism.currentTextChanged.connect(lambda _text: self.edited.emit())
        self.mode.currentIndexChanged.connect(lambda _index: self.edited.emit())
        self.rate.changed.connect(self.edited)
        self.rehearsal.toggled.connect(self._kind_changed)

    def fill(self, draft: Draft) -> Draft:
        """See `SetupPage`."""
        return replace(
            draft,
            name=self.name.text().strip(),
            mechanism=self.mechanism.currentText().strip(),
            mode=self.mode.currentData(),
            rate=self.rate.si(),
            virtual=self.rehearsal.isChecked(),
        )

    def own_faults(self, faults: tuple[str, ...]) -> list[str]:
        """See `SetupPage`; an empty name is said in a person's words."""
        found = super().own_faults(faults)
        return [tr("Give the rig a name.") if fault.startswith("name:") else fault for fault in found]

    def _kind_changed(self, rehearsal: bool) -> None:
        self.kindChanged.emit(rehearsal)
        self.edited.emit()

    def _browse(self) -> None:
        given = Path(self.mechanism.currentText())
        start = str(given.parent) if given.suffix == ".toml" else ""
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, tr("Mechanism"), start, tr("Mechanisms (*.toml)"))
        if name:
            self.mechanism.setCurrentText(name)

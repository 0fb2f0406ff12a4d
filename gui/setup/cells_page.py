"""The wizard's third page: what reads the load cells, and where recordings go."""

from dataclasses import replace

from pyqtgraph.Qt import QtWidgets

from gui.setup.page import LOCAL, SetupPage
from gui.steps import browse_button, line_edit
from gui.texts import tr
from gui.widgets import QuantityBox, WholeNumber
from rig.client import free_ports
from rig.commissioning import CellAmplifier, Draft

_NOISE, _RANGE = 0.5, 800.0  # N, that the fields begin with where the draft has none


class CellsPage(SetupPage):
    """Source, noise and range of the load cells; the folder of recordings."""

    def __init__(self) -> None:
        super().__init__(
            tr("Load cells and recordings"),
            tr("What reads the six cells, what is expected of them, and where recordings go."),
            ("load_cells", "recording"),
        )
        draft, amplifier = Draft(), CellAmplifier()
        self.drives = QtWidgets.QRadioButton(tr("The drives report their legs' cells"))
        self.own = QtWidgets.QRadioButton(tr("A six-channel amplifier of its own"))
        self.drives.setChecked(True)
        self.host = line_edit(tr("Host of the amplifier"), "", tr("name or address"))
        self.port = WholeNumber(tr("Port of the amplifier"), amplifier.port, 1, 65535)
        self.unit = WholeNumber(tr("Unit id of the amplifier"), amplifier.unit, 0, 255)
        self.profile = line_edit(
            tr("Register map of the amplifier: a shipped one's name, or a TOML file"), amplifier.profile
        )
        self.noise = QuantityBox(tr("Noise to expect, standard deviation"), "N", draft.noise or _NOISE, 0.0, 1e5)
        self.range = QuantityBox(tr("End of scale of a cell"), "N", draft.range or _RANGE, 0.0, 1e6)
        self.folder = line_edit(tr("Folder of recordings"), draft.recording)
        self._address = QtWidgets.QWidget()
        row = QtWidgets.QHBoxLayout(self._address)
        row.setContentsMargins(20, 0, 0, 0)
        for text, widget in (
            (tr("host"), self.host),
            (tr("port"), self.port),
            (tr("unit id"), self.unit),
            (tr("map"), self.profile),
        ):
            row.addWidget(QtWidgets.QLabel(text))
            row.addWidget(widget, 1)
        self._address.setEnabled(False)
        form = QtWidgets.QFormLayout()
        form.addRow(tr("Read by"), self.drives)
        form.addRow("", self.own)
        form.addRow("", self._address)
        form.addRow(tr("Noise"), self.noise)
        form.addRow(tr("Range"), self.range)
        places = QtWidgets.QHBoxLayout()
        places.addWidget(self.folder, 1)
        places.addWidget(browse_button(tr("Choose the folder of recordings"), self._browse))
        form.addRow(tr("Recordings"), places)
        self.column.addLayout(form)
        self.close_form()
        self.own.toggled.connect(self._source_changed)
        for edit in (self.host, self.profile, self.folder):
            edit.textEdited.connect(lambda _text: self.edited.emit())
        for box in (self.port, self.unit, self.noise, self.range):
            box.changed.connect(self.edited)

    def fill(self, draft: Draft) -> Draft:
        """See `SetupPage`."""
        amplifier = None
        if self.own.isChecked():
            address = (self.host.text().strip(), self.port.value(), self.unit.value())
            amplifier = CellAmplifier(*address, self.profile.text().strip())
        return replace(
            draft,
            amplifier=amplifier,
            noise=self.noise.si(),
            range=self.range.si(),
            recording=self.folder.text().strip(),
        )

    def set_rehearsal(self, rehearsal: bool) -> None:
        """Offer an address of this machine for the amplifier of a rehearsal."""
        if rehearsal and not self.host.text():
            self.host.setText(LOCAL)
            self.port.setValue(free_ports(1)[0])

    def _source_changed(self, own: bool) -> None:
        self._address.setEnabled(own)
        self.edited.emit()

    def _browse(self) -> None:
        name = QtWidgets.QFileDialog.getExistingDirectory(self, tr("Recordings"), self.folder.text())
        if name:
            self.folder.setText(name)
            self.edited.emit()

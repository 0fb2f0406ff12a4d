"""The first step of the cells on a bench: the readings, how the masses loaded the cells, and what is accepted."""

from datetime import date

from calibration import STANDARD_GRAVITY, Limits, calibration_file_name
from gui.fitting import FieldGrid, JobRequest, ProbedPage, ProbeFunction, permit, unless, values_of
from gui.session import Phase, RigSession
from gui.texts import tr
from rig.services import CellsRequest, calibrate_cells, cells_contents

_USUAL = Limits()
_MASSES, _SAMPLES = [0.0, 5.0, 10.0, 20.0, 10.0, 5.0, 0.0], 200


class BenchPage(ProbedPage):
    """Readings of the six cells under known masses: of a file, or of the rig's cells as a person loads them.

    Args:
        session: whose rig it is; its folder takes what is saved while no file is named.
        look: see `ProbeFunction`.
    """

    verb = tr("Calibrate")

    def __init__(self, session: RigSession, look: ProbeFunction) -> None:
        super().__init__(
            tr("Readings"),
            tr("Readings of the six cells, free of legs and platform: unloaded, under known masses, unloaded again."),
            look,
        )
        self._session = session
        self._target = session.folder / calibration_file_name(date.today())
        fields = self.fields = FieldGrid()
        self.source = fields.choice(
            tr("Read"),
            tr("Where the readings come from"),
            [
                (tr("from a file"), False),
                (tr("now, from the cells of the rig {name}").format(name=session.config.name), True),
            ],
            whole=True,
        )
        self.data = fields.file(
            tr("Readings"), tr("Readings of the cells"), tr("Tables (*.csv)"), tr("CSV: cell,mass,reading,phase")
        )
        self.load = fields.choice(
            tr("Masses"),
            tr("How the masses load the cells"),
            [(tr("placed on the cell"), "compression"), (tr("hung from it"), "tension")],
        )
        self.unit = fields.text(tr("Unit read"), tr("Unit of the readings"), "N")
        self.masses = fields.numbers(tr("Masses, kg"), tr("Masses for each cell, kg, in order"), _MASSES, 0.0, 1e5)
        self.samples = fields.count(tr("Samples"), tr("Samples that a reading is the mean of"), _SAMPLES, 2, 1_000_000)
        self.gravity = fields.quantity(tr("Gravity"), tr("Local gravity"), "m/s²", STANDARD_GRAVITY, 1.0, 30.0)
        self.drift = fields.quantity(
            tr("Drift up to"), tr("Drift of the zero that is accepted"), "N", _USUAL.drift, 0.0, 1e4
        )
        self.bend = fields.quantity(
            tr("Not linear up to"),
            tr("Residual beyond the noise that is accepted, of the force range"),
            "%",
            _USUAL.nonlinearity,
            1e-3,
            100.0,
        )
        self.serials = fields.text(
            tr("Serial numbers"), tr("Serial numbers of the six cells"), tr("S1,…,S6; kept in the file")
        )
        self.weights = fields.text(
            tr("Which masses"), tr("Which masses, as by their certificate"), tr("kept in the file")
        )
        self.place = fields.text(tr("Place"), tr("Where"), tr("kept in the file"))
        self.operator = fields.text(tr("Operator"), tr("Who calibrates"), tr("kept in the file"))
        self.note = fields.text(tr("Note"), tr("Note"), tr("kept in the file"))
        self.column.addWidget(fields)
        self.close_form()
        fields.edited.connect(self.edited)
        fields.edited.connect(self._permit)
        self._permit()

    @property
    def lacking(self) -> str:
        """See `ProbedPage`."""
        return "" if self._live or self.data.path is not None else tr("Choose the file of readings.")

    @property
    def fault(self) -> str:
        """See `AskPage`."""
        real = self._session.config.virtual is None
        if self._live and real and self._session.situation.phase not in (Phase.DOWN, Phase.DIED):
            return tr("The engine has the cells: disconnect first.")
        return super().fault

    @property
    def findings(self) -> str:
        """See `ProbedPage`."""
        return tr("There are {holds}.").format(holds=self.holds) if self._live and self.holds else super().findings

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        live, data, config = self._live, self.data.path, self._session.config
        serials = self.serials.text().strip()
        texts = {name: getattr(self, name).text().strip() for name in ("operator", "place", "weights", "note")}
        values = values_of(
            config=str(config.path) if live else None,
            data=None if live else data,
            unit=None if live else self.unit.text().strip(),
            masses=tuple(self.masses.numbers()) if live else None,
            samples=unless(self.samples.value(), _SAMPLES) if live else None,
            load=self.load.currentData(),
            gravity=unless(self.gravity.si(), STANDARD_GRAVITY),
            drift_limit=unless(self.drift.si(), _USUAL.drift),
            nonlinearity_limit=unless(self.bend.si(), _USUAL.nonlinearity),
            serials=tuple(name.strip() for name in serials.split(",")) if serials else None,
            **texts,
        )
        beside = data if data is not None else self._session.folder / "rig.csv"
        return JobRequest(
            calibrate_cells,
            CellsRequest,
            values,
            contents=cells_contents,
            files=(config.path,) if live else (),
            saved=self._target if live else beside.with_name(f"{beside.stem}-cells.toml"),
        )

    @property
    def _live(self) -> bool:
        """Whether the rig's cells are read."""
        return bool(self.source.currentData())

    def _permit(self) -> None:
        """Enable what counts for where the readings come from."""
        for field in (self.data, self.unit):
            permit(field, tr("the rig's cells are read") if self._live else "")
        for field in (self.masses, self.samples):
            permit(field, "" if self._live else tr("the file says it"))

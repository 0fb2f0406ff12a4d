"""The first step of the cells on a bench: the readings, how the masses loaded the cells, and what is accepted."""

from pathlib import Path

from calibration import STANDARD_GRAVITY, Limits
from gui.fitting import Asked, FieldGrid, Look, LookedPage, options_of, unless

_USUAL = Limits()


class BenchPage(LookedPage):
    """Readings of the six cells under known masses.

    Args:
        folder: for what is saved while no file is named.
        look: see `Look`.
    """

    verb = "Calibrate"

    def __init__(self, folder: Path, look: Look) -> None:
        super().__init__(
            "Readings",
            "Readings of the six cells, free of the rig: unloaded, under known masses, unloaded again. `rig calibrate "
            "cells CONFIG` reads cells that are connected.",
            look,
        )
        self._folder = folder
        fields = self.fields = FieldGrid()
        self.data = fields.file("Readings", "Readings of the cells", "Tables (*.csv)", "CSV: cell,mass,reading,phase")
        self.load = fields.choice(
            "Masses",
            "How the masses load the cells",
            [("placed on the cell", "compression"), ("hung from it", "tension")],
        )
        self.unit = fields.text("Unit read", "Unit of the readings", "N")
        self.gravity = fields.quantity("Gravity", "Local gravity", "m/s²", STANDARD_GRAVITY, 1.0, 30.0)
        self.drift = fields.quantity("Drift up to", "Drift of the zero that is accepted", "N", _USUAL.drift, 0.0, 1e4)
        self.bend = fields.quantity(
            "Not linear up to",
            "Residual beyond the noise that is accepted, of the force range",
            "%",
            _USUAL.nonlinearity,
            1e-3,
            100.0,
        )
        self.serials = fields.text("Serial numbers", "Serial numbers of the six cells", "S1,…,S6; kept in the file")
        self.weights = fields.text("Which masses", "Which masses, as by their certificate", "kept in the file")
        self.place = fields.text("Place", "Where", "kept in the file")
        self.operator = fields.text("Operator", "Who calibrates", "kept in the file")
        self.note = fields.text("Note", "Note", "kept in the file")
        self.column.addWidget(fields)
        self.close_form()
        fields.edited.connect(self.edited)

    @property
    def lacking(self) -> str:
        """See `LookedPage`."""
        return "" if self.data.path is not None else "Choose the file of readings."

    @property
    def asked(self) -> Asked:
        """See `AskPage`."""
        data = self.data.path
        texts = {
            name: getattr(self, name).text().strip()
            for name in ("unit", "serials", "operator", "place", "weights", "note")
        }
        options = options_of(
            data=data,
            load=self.load.currentData(),
            gravity=unless(self.gravity.si(), STANDARD_GRAVITY),
            drift_limit=unless(self.drift.si(), _USUAL.drift),
            nonlinearity_limit=unless(self.bend.si(), _USUAL.nonlinearity),
            **texts,
        )
        beside = data if data is not None else self._folder / "rig.csv"
        return Asked(("calibrate", "cells"), options, (), beside.with_name(f"{beside.stem}-cells.toml"))

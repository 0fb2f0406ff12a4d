"""The first step of the cells in place: recordings of rests, and how well the weight is known; or a plan of poses."""

from pathlib import Path

from calibration import FEWEST_RESTS, Limits, WeightSigmas
from gui.fitting import JobRequest, ProbeFunction, RecordingsPage, Role, permit, unless, values_of
from gui.texts import tr
from rig.services import (
    CellsInPlaceRequest,
    PlanCellsRequest,
    calibrate_cells_in_place,
    cells_in_place_contents,
    plan_cells_in_place,
)

_GAIN_LIMIT = 1.0  # %
_WEIGHTS = WeightSigmas()
_HOLD = 1.5  # s
_POSES = 30


class InPlacePage(RecordingsPage):
    """Recordings of one rig at rest in many poses, or how many poses are to be planned.

    Args:
        config: file of the rig to plan for.
        look: looks into a recording.
    """

    def __init__(self, config: Path, look: ProbeFunction) -> None:
        super().__init__(
            tr("Recordings"),
            tr(
                "Choose recordings of one rig at rest in 30 poses or so, under power: its known weight loads the "
                "cells. Or plan such poses for the open configuration, run them, and come back with the recording."
            ),
            (Role(tr("Use"), tr("Choose a recording.")),),
            look,
            lambda path: JobRequest(
                calibrate_cells_in_place,
                CellsInPlaceRequest,
                {"recordings": (path,)},
                contents=cells_in_place_contents,
                files=(path,),
            ),
        )
        self._config = config
        fields = self.fields
        self.what = fields.choice(
            tr("To do"),
            tr("What to do"),
            [(tr("calibrate from recordings"), False), (tr("plan the poses"), True)],
            whole=True,
        )
        self.mass = fields.quantity(
            tr("σ of the mass"), tr("Standard uncertainty of the platform's mass"), "kg", 0.0, 0.0, 1e3
        )
        self.center = fields.quantity(
            tr("σ of its centre"), tr("The same of its centre of mass, each axis"), "m", 0.0, 0.0, 1.0
        )
        self.leg_mass = fields.quantity(
            tr("σ of leg masses, part"),
            tr("Standard uncertainty of the mass of each body of a leg"),
            "",
            _WEIGHTS.leg_mass,
            0.0,
            10.0,
        )
        self.leg_center = fields.quantity(
            tr("σ of their centres"),
            tr("The same of their centres of mass, each axis"),
            "m",
            _WEIGHTS.leg_center,
            0.0,
            1.0,
        )
        self.gains = fields.quantity(
            tr("Gains known to"), tr("Greatest uncertainty of a gain that is accepted"), "%", _GAIN_LIMIT, 1e-3, 100.0
        )
        self.drift = fields.quantity(
            tr("Drift up to"), tr("Drift of the zero that is accepted"), "N", Limits().drift, 0.0, 1e4
        )
        self.count = fields.count(tr("Poses to plan"), tr("How many poses are planned"), _POSES, FEWEST_RESTS, 400)
        self.hold = fields.quantity(tr("Time at each"), tr("Planned time at each pose"), "s", _HOLD, 0.5, 60.0)
        self.operator = fields.text(tr("Operator"), tr("Who calibrates"), tr("kept in the file"))
        self.note = fields.text(tr("Note"), tr("Note"), tr("kept in the file"))
        fields.edited.connect(self._allow)
        self._allow()

    @property
    def planning(self) -> bool:
        """Whether poses are to be planned."""
        return bool(self.what.currentData())

    @property
    def verb(self) -> str:
        """See `AskPage`."""
        return tr("Plan") if self.planning else tr("Calibrate")

    @property
    def fault(self) -> str:
        """See `AskPage`."""
        return "" if self.planning else super().fault

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        if self.planning:
            planned = values_of(config=str(self._config), poses=self.count.value(), hold=unless(self.hold.si(), _HOLD))
            saved = self.folder / "weight-poses.toml"
            return JobRequest(plan_cells_in_place, PlanCellsRequest, planned, saved=saved, planning=True)
        used = self.chosen(0)
        values = values_of(
            recordings=used,
            mass_sigma=unless(self.mass.si(), 0.0),
            center_sigma=unless(self.center.si(), 0.0),
            leg_mass_sigma=unless(self.leg_mass.si(), _WEIGHTS.leg_mass),
            leg_center_sigma=unless(self.leg_center.si(), _WEIGHTS.leg_center),
            gain_limit=unless(self.gains.si(), _GAIN_LIMIT),
            drift_limit=unless(self.drift.si(), Limits().drift),
            operator=self.operator.text().strip(),
            note=self.note.text().strip(),
        )
        first = used[0] if used else self.folder / "rig.mcap"
        saved = first.with_name(f"{first.stem}-cells.toml")
        return JobRequest(calibrate_cells_in_place, CellsInPlaceRequest, values, files=used, saved=saved)

    def _allow(self) -> None:
        calibrating = tr("poses are planned, nothing is calibrated") if self.planning else ""
        for field in (
            self.table,
            self.browse,
            self.mass,
            self.center,
            self.leg_mass,
            self.leg_center,
            self.gains,
            self.drift,
            self.operator,
            self.note,
        ):
            permit(field, calibrating)
        for field in (self.count, self.hold):
            permit(field, "" if self.planning else tr("nothing is planned"))

"""The first step of the geometry: the files that were measured, and how well."""

from pathlib import Path

from calibration import GeometryLimits, GeometryNoise, GeometryPrior
from gui.fitting import FieldGrid, JobRequest, ProbedPage, ProbeFunction, permit, unless, values_of
from gui.texts import tr
from rig.services import GeometryRequest, calibrate_geometry, geometry_contents, plan_geometry

_CSV = tr("Tables (*.csv)")
_HELD = 0.2
_USUAL, _DRAWN, _LIMITS = GeometryNoise(), GeometryPrior(), GeometryLimits()
_SIGMAS = (1e-9, 0.1)  # m or rad, least and greatest
_FRAMES = [
    (tr("neither frame is known"), "none"),
    (tr("poses are in the base's frame"), "base"),
    (tr("poses are of the platform's own frame"), "platform"),
    (tr("both"), "both"),
]


class GeometryPage(ProbedPage):
    """Measured poses and leg lengths, and what else is known of them; or how many poses are to be planned.

    Args:
        mechanism: name of the nominal one, or its file.
        name: it is called by.
        folder: for what is saved while no file is named.
        look: see `ProbeFunction`.
    """

    def __init__(self, mechanism: str, name: str, folder: Path, look: ProbeFunction) -> None:
        super().__init__(
            tr("Measurements"),
            tr(
                "Of {name}, the mechanism of the open configuration: poses at rest that a tracker, targets or a "
                "level tell, and the legs' lengths by the encoders."
            ).format(name=name),
            look,
        )
        self._mechanism, self._folder = mechanism, folder
        fields = self.fields = FieldGrid()
        self.what = fields.choice(
            tr("To do"),
            tr("What to do"),
            [(tr("calibrate from measured poses"), False), (tr("plan the poses to measure next"), True)],
            whole=True,
        )
        self.data = fields.file(
            tr("Poses"), tr("Measured poses and leg lengths"), _CSV, tr("CSV: l1…l6 with x,y,z,qw,qx,qy,qz …")
        )
        self.targets = fields.file(
            tr("Targets"), tr("Places of the targets in the platform's frame"), _CSV, tr("if known: x,y,z")
        )
        self.homing = fields.file(
            tr("Homings"), tr("Lengths at one pose after several homings"), _CSV, tr("if measured: l1…l6")
        )
        self.position = fields.quantity(
            tr("σ of positions"), tr("One position's standard deviation"), "m", _USUAL.position, 1e-9, 0.1
        )
        self.rotation = fields.quantity(
            tr("σ of angles"), tr("One orientation's standard deviation"), "rad", _USUAL.rotation, *_SIGMAS
        )
        self.length = fields.quantity(
            tr("σ of lengths"), tr("One length's standard deviation"), "m", _USUAL.length, 1e-9, 0.1
        )
        self.joints = fields.quantity(
            tr("σ of joints"),
            tr("Standard deviation of a joint's place about the drawing"),
            "m",
            _DRAWN.joints,
            *_SIGMAS,
        )
        self.offsets = fields.quantity(
            tr("σ of offsets"), tr("Standard deviation of a length offset"), "m", _DRAWN.offsets, *_SIGMAS
        )
        self.scale = fields.quantity(
            tr("σ of the scale"), tr("Standard deviation of the tracker's scale"), "", _DRAWN.scale, 1e-9, 0.1
        )
        self.most_position = fields.quantity(
            tr("Positions to within"), tr("Greatest σ of a pose's position"), "m", _LIMITS.position, *_SIGMAS
        )
        self.most_rotation = fields.quantity(
            tr("Angles to within"), tr("Greatest σ of a pose's rotation"), "rad", _LIMITS.rotation, *_SIGMAS
        )
        self.held = fields.quantity(
            tr("Held out at a time"), tr("Part of the rows held out at a time"), "", _HELD, 0.01, 0.5
        )
        self.frames = fields.choice(tr("Frames"), tr("Frames that are known"), _FRAMES)
        self.count = fields.count(tr("Poses to plan"), tr("How many poses are planned"), 20, 1, 1000)
        self.operator = fields.text(tr("Operator"), tr("Who calibrates"), tr("kept in the file"))
        self.note = fields.text(tr("Note"), tr("Note"), tr("kept in the file"))
        self.column.addWidget(fields)
        self.close_form()
        fields.edited.connect(self._allow)
        fields.edited.connect(self.edited)
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
    def lacking(self) -> str:
        """See `ProbedPage`."""
        return "" if self.planning or self.data.path is not None else tr("Choose the file of measured poses.")

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        data = self.data.path
        values = values_of(
            mechanism=self._mechanism,
            data=data,
            position_sigma=unless(self.position.si(), _USUAL.position),
            rotation_sigma=unless(self.rotation.si(), _USUAL.rotation),
            length_sigma=unless(self.length.si(), _USUAL.length),
            joint_tolerance=unless(self.joints.si(), _DRAWN.joints),
            offset_tolerance=unless(self.offsets.si(), _DRAWN.offsets),
            scale_sigma=unless(self.scale.si(), _DRAWN.scale),
            frames=self.frames.currentData(),
        )
        beside = data if data is not None else self._folder / "rig.csv"
        if self.planning:
            values |= values_of(plan=self.count.value())
            saved = beside.with_name(f"{beside.stem}-poses.csv")
        else:
            values |= values_of(
                targets=self.targets.path,
                homing=self.homing.path,
                most_position_sigma=unless(self.most_position.si(), _LIMITS.position),
                most_rotation_sigma=unless(self.most_rotation.si(), _LIMITS.rotation),
                hold_out=unless(self.held.si(), _HELD),
                operator=self.operator.text().strip(),
                note=self.note.text().strip(),
            )
            saved = beside.with_name(f"{beside.stem}-geometry.toml")
        return JobRequest(
            plan_geometry if self.planning else calibrate_geometry,
            GeometryRequest,
            values,
            contents=geometry_contents,
            files=(Path(self._mechanism),),
            saved=saved,
            planning=self.planning,
        )

    def _allow(self) -> None:
        calibrating = tr("poses are planned, nothing is calibrated") if self.planning else ""
        fields = self.targets, self.homing, self.most_position, self.most_rotation, self.held, self.operator, self.note
        for field in fields:
            permit(field, calibrating)
        permit(self.count, "" if self.planning else tr("nothing is planned"))

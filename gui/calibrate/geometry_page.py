"""The first step of the geometry: the files that were measured, and how well."""

from pathlib import Path

from calibration import GeometryNoise
from gui.fitting import Asked, FieldGrid, Look, LookedPage, options_of, permit, unless

_CSV = "Tables (*.csv)"
_HELD = 0.2
_USUAL = GeometryNoise()
_SIGMAS = (1e-9, 0.1)  # m or rad, least and greatest
_FRAMES = [
    ("neither frame is known", "none"),
    ("poses are in the base's frame", "base"),
    ("poses are of the platform's own frame", "platform"),
    ("both", "both"),
]


class GeometryPage(LookedPage):
    """Measured poses and leg lengths, and what else is known of them; or how many poses are to be planned.

    Args:
        mechanism: name of the nominal one, or its file.
        name: it is called by.
        folder: for what is saved while no file is named.
        look: see `Look`.
    """

    def __init__(self, mechanism: str, name: str, folder: Path, look: Look) -> None:
        super().__init__(
            "Measurements",
            f"Of {name}, the mechanism of the open configuration: poses at rest that a tracker, targets or a level "
            "tell, and the legs' lengths by the encoders.",
            look,
        )
        self._mechanism, self._folder = mechanism, folder
        fields = self.fields = FieldGrid()
        self.what = fields.choice(
            "To do",
            "What to do",
            [("calibrate from measured poses", False), ("plan the poses to measure next", True)],
            whole=True,
        )
        self.data = fields.file("Poses", "Measured poses and leg lengths", _CSV, "CSV: l1…l6 with x,y,z,qw,qx,qy,qz …")
        self.targets = fields.file("Targets", "Places of the targets in the platform's frame", _CSV, "if known: x,y,z")
        self.homing = fields.file("Homings", "Lengths at one pose after several homings", _CSV, "if measured: l1…l6")
        self.position = fields.quantity(
            "σ of positions", "One position's standard deviation", "m", _USUAL.position, 1e-9, 0.1
        )
        self.rotation = fields.quantity(
            "σ of angles", "One orientation's standard deviation", "rad", _USUAL.rotation, *_SIGMAS
        )
        self.length = fields.quantity("σ of lengths", "One length's standard deviation", "m", _USUAL.length, 1e-9, 0.1)
        self.held = fields.quantity("Held out at a time", "Part of the rows held out at a time", "", _HELD, 0.01, 0.5)
        self.frames = fields.choice("Frames", "Frames that are known", _FRAMES)
        self.count = fields.count("Poses to plan", "How many poses are planned", 20, 1, 1000)
        self.operator = fields.text("Operator", "Who calibrates", "kept in the file")
        self.note = fields.text("Note", "Note", "kept in the file")
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
        return "Plan" if self.planning else "Calibrate"

    @property
    def lacking(self) -> str:
        """See `LookedPage`."""
        return "" if self.planning or self.data.path is not None else "Choose the file of measured poses."

    @property
    def asked(self) -> Asked:
        """See `AskPage`."""
        data = self.data.path
        options = options_of(
            data=data,
            position_sigma=unless(self.position.si(), _USUAL.position),
            rotation_sigma=unless(self.rotation.si(), _USUAL.rotation),
            length_sigma=unless(self.length.si(), _USUAL.length),
            frames=self.frames.currentData(),
        )
        beside = data if data is not None else self._folder / "rig.csv"
        if self.planning:
            options += options_of(plan=self.count.value())
            saved = beside.with_name(f"{beside.stem}-poses.csv")
        else:
            options += options_of(
                targets=self.targets.path,
                homing=self.homing.path,
                hold_out=unless(self.held.si(), _HELD),
                operator=self.operator.text().strip(),
                note=self.note.text().strip(),
            )
            saved = beside.with_name(f"{beside.stem}-geometry.toml")
        return Asked(("calibrate", "geometry"), options, (Path(self._mechanism),), saved, self.planning)

    def _allow(self) -> None:
        calibrating = "poses are planned, nothing is calibrated" if self.planning else ""
        for field in (self.targets, self.homing, self.held, self.operator, self.note):
            permit(field, calibrating)
        permit(self.count, "" if self.planning else "nothing is planned")

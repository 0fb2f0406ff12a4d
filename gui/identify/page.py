"""The first step: what is fitted, what is held out to judge by, and what is known before."""

from calibration import Accuracy
from gui.fitting import Asked, Look, RecordingsPage, Role, options_of, unless

_FIT, _HOLD = 0, 1
_USUAL = Accuracy()
_PARTS = (1e-6, 10.0)
_PLACES = (1e-9, 0.1)  # m
_KNOWN = (
    ("Masses, part", "mass", "How well masses are known before, one sigma", "", _PARTS),
    ("Inertias, part", "inertia", "How well moments of inertia are known before", "", _PARTS),
    ("Frictions, part", "friction", "How well frictions are known before", "", _PARTS),
    ("Centres", "center", "How well centres of mass are known before, each axis", "m", _PLACES),
    ("Cells' gains, part", "gain", "How well the load cells' gains are known", "", _PARTS),
    ("Cross-talk, part", "cross_talk", "Part of a neighbouring leg's force that a cell may read", "", _PARTS),
    ("Joints' places", "joints", "How well the joints' places are known, each axis", "m", _PLACES),
)
"""label, name as the option has it, words, unit, bounds: of what is known before, one standard deviation each"""


class IdentifyPage(RecordingsPage):
    """Recordings to fit on, others to judge by, how well things are known before, and a note.

    Args:
        look: looks into a recording.
    """

    verb = "Identify"

    def __init__(self, look: Look) -> None:
        super().__init__(
            "Recordings",
            "Choose recordings of one rig in motion. Those held out are not fitted, they judge the result; without any "
            "that is the last quarter of every motion. The fields say how well things are known before, one σ each.",
            (Role("Fit on", "Choose a recording to fit on."), Role("Hold out")),
            look,
            lambda path: Asked(("identify",), files=(path,)),
        )
        self.known = {
            name: self.fields.quantity(label, words, unit, getattr(_USUAL, name), *bounds)
            for label, name, words, unit, bounds in _KNOWN
        }
        self.note = self.fields.text("Note", "Note", "kept in the file, as: after the new payload plate", whole=True)

    @property
    def asked(self) -> Asked:
        """See `AskPage`."""
        fitted = self.chosen(_FIT)
        held = tuple(part for path in self.chosen(_HOLD) for part in ("--hold-out", str(path)))
        known = options_of(**{name: unless(field.si(), getattr(_USUAL, name)) for name, field in self.known.items()})
        first = fitted[0] if fitted else self.folder / "rig.mcap"
        return Asked(
            ("identify",),
            (*held, *known, *options_of(note=self.note.text().strip())),
            fitted,
            first.with_name(f"{first.stem}-inertia.toml"),
        )

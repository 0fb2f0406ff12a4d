"""The first step: what is fitted, what is held out to judge by, and what is known before."""

from calibration import Accuracy
from gui.fitting import JobRequest, ProbeFunction, RecordingsPage, Role, unless, values_of
from gui.texts import tr
from rig.services import IdentifyRequest, identify, identify_contents

_FIT, _HOLD = 0, 1
_USUAL = Accuracy()
_PARTS = (1e-6, 10.0)
_PLACES = (1e-9, 0.1)  # m
_KNOWN = (
    (tr("Masses, part"), "mass", tr("How well masses are known before, one sigma"), "", _PARTS),
    (tr("Inertias, part"), "inertia", tr("How well moments of inertia are known before"), "", _PARTS),
    (tr("Frictions, part"), "friction", tr("How well frictions are known before"), "", _PARTS),
    (tr("Centres"), "center", tr("How well centres of mass are known before, each axis"), "m", _PLACES),
    (
        tr("Cells' gains, part"),
        "gain",
        tr("How well the load cells' gains are known; as it stands, by their calibration where there is one"),
        "",
        _PARTS,
    ),
    (tr("Cross-talk, part"), "cross_talk", tr("Part of a neighbouring leg's force that a cell may read"), "", _PARTS),
    (
        tr("Joints' places"),
        "joints",
        tr("How well the joints' places are known, each axis; as it stands, by a calibrated geometry if there is one"),
        "m",
        _PLACES,
    ),
)
"""label, name as the request has it, words, unit, bounds: of what is known before, one standard deviation each"""


class IdentifyPage(RecordingsPage):
    """Recordings to fit on, others to judge by, how well things are known before, and a note.

    Args:
        look: looks into a recording.
    """

    verb = tr("Identify")

    def __init__(self, look: ProbeFunction) -> None:
        super().__init__(
            tr("Recordings"),
            tr(
                "Choose recordings of one rig in motion. Those held out are not fitted, they judge the result; "
                "without any that is the last quarter of every motion. The fields say how well things are known "
                "before, one σ each."
            ),
            (Role(tr("Fit on"), tr("Choose a recording to fit on.")), Role(tr("Hold out"))),
            look,
            lambda path: JobRequest(
                identify, IdentifyRequest, {"recordings": (path,)}, contents=identify_contents, files=(path,)
            ),
        )
        self.known = {
            name: self.fields.quantity(label, words, unit, getattr(_USUAL, name), *bounds)
            for label, name, words, unit, bounds in _KNOWN
        }
        self.note = self.fields.text(
            tr("Note"), tr("Note"), tr("kept in the file, as: after the new payload plate"), whole=True
        )

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        fitted = self.chosen(_FIT)
        known = {name: unless(field.si(), getattr(_USUAL, name)) for name, field in self.known.items()}
        values = values_of(recordings=fitted, hold_out=self.chosen(_HOLD), note=self.note.text().strip(), **known)
        first = fitted[0] if fitted else self.folder / "rig.mcap"
        saved = first.with_name(f"{first.stem}-inertia.toml")
        return JobRequest(identify, IdentifyRequest, values, files=fitted, saved=saved)

"""The first step of a frequency response: the recording of an excitation, and what is asked of it."""

from gui.fitting import Asked, Look, RecordingsPage, Role, options_of
from gui.texts import tr
from kinematics import COORDINATES


class RespondPage(RecordingsPage):
    """One recording, the coordinate, and the band that must be excited.

    Args:
        look: looks into a recording.
    """

    verb = tr("Compute")

    def __init__(self, look: Look) -> None:
        super().__init__(
            tr("Recording"),
            tr(
                "Choose the recording of a motion that excites one coordinate, such as one that `rig multisine` makes: "
                "commanded to measured pose, and force."
            ),
            (Role(tr("Use"), tr("Choose a recording."), several=False),),
            look,
            lambda path: Asked(("respond",), files=(path,)),
        )
        fields = self.fields
        named = [(name, name) for name in COORDINATES]
        self.dof = fields.choice(
            tr("Coordinate"), tr("The coordinate"), [(tr("the excited one"), ""), *named], whole=True
        )
        self.low = fields.text(tr("From, Hz"), tr("Lowest frequency that is asked for"), tr("empty: what is excited"))
        self.high = fields.text(tr("To, Hz"), tr("Highest frequency that is asked for"), tr("empty: what is excited"))

    @property
    def fault(self) -> str:
        """See `AskPage`."""
        if bool(self.low.text().strip()) != bool(self.high.text().strip()):
            return tr("Give both ends of the band, or neither.")
        return super().fault

    @property
    def asked(self) -> Asked:
        """See `AskPage`."""
        used = self.chosen(0)
        options = options_of(dof=self.dof.currentData())
        for name, field in (("--from", self.low), ("--to", self.high)):
            if text := field.text().strip():
                options += (name, text)
        first = used[0] if used else self.folder / "rig.mcap"
        return Asked(("respond",), options, used, first.with_name(f"{first.stem}-bode.svg"))

"""The first step of a frequency response: the recording of an excitation, and what is asked of it."""

from gui.fitting import JobRequest, ProbeFunction, RecordingsPage, Role, values_of
from gui.texts import tr
from gui.widgets import field_refusal
from kinematics import COORDINATES
from rig.services import RespondRequest, respond, respond_contents


class RespondPage(RecordingsPage):
    """One recording, the coordinate, and the band that must be excited.

    Args:
        look: looks into a recording.
    """

    verb = tr("Compute")

    def __init__(self, look: ProbeFunction) -> None:
        super().__init__(
            tr("Recording"),
            tr(
                "Choose the recording of a motion that excites one coordinate, such as one that `rig multisine` makes: "
                "commanded to measured pose, and force."
            ),
            (Role(tr("Use"), tr("Choose a recording."), several=False),),
            look,
            lambda path: JobRequest(
                respond, RespondRequest, {"recording": path}, contents=respond_contents, files=(path,)
            ),
        )
        fields = self.fields
        named = [(name, name) for name in COORDINATES]
        self.dof = fields.choice(
            tr("Coordinate"), tr("The coordinate"), [(tr("the excited one"), ""), *named], whole=True
        )
        hint = tr("empty: what is excited")
        self.low = fields.optional(tr("From"), tr("Lowest frequency that is asked for"), "Hz", 1e-6, 1e5, hint)
        self.high = fields.optional(tr("To"), tr("Highest frequency that is asked for"), "Hz", 1e-6, 1e5, hint)

    @property
    def fault(self) -> str:
        """See `AskPage`."""
        if wrong := field_refusal(self):
            return wrong
        low, high = self.low.entered(), self.high.entered()
        if (low is None) != (high is None):
            return tr("Give both ends of the band, or neither.")
        if low is not None and high is not None and low >= high:
            return tr("The lowest frequency, {low:g} Hz, must be below the highest, {high:g} Hz.").format(
                low=low, high=high
            )
        return super().fault

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        used = self.chosen(0)
        low, high = self.low.entered(), self.high.entered()
        first = used[0] if used else self.folder / "rig.mcap"
        values = values_of(
            recording=first,
            dof=self.dof.currentData(),
            band=None if low is None or high is None else (low, high),
        )
        saved = first.with_name(f"{first.stem}-bode.svg")
        return JobRequest(respond, RespondRequest, values, files=used, saved=saved)

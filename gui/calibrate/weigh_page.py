"""The first step of weighing: recordings with the payload, and what tells the rig without it."""

from gui.fitting import JobRequest, ProbeFunction, RecordingsPage, Role, unless, values_of
from gui.texts import tr
from gui.widgets import field_refusal
from rig.services import WeighRequest, weigh, weigh_contents

_WITH, _WITHOUT = 0, 1
_BANDWIDTH = 10.0  # Hz


class WeighPage(RecordingsPage):
    """Recordings with the payload, and one without.

    Args:
        look: looks into a recording.
    """

    verb = tr("Weigh")

    def __init__(self, look: ProbeFunction) -> None:
        super().__init__(
            tr("Recordings"),
            tr(
                "Choose recordings with the payload on the platform: poses at rest tell mass and centre of mass, a "
                "motion its inertia. One without it tells what the rig has beyond its model, in the same poses or "
                "others. A rig that is not identified needs it."
            ),
            (Role(tr("With it"), tr("Choose a recording with the payload.")), Role(tr("Without"), several=False)),
            look,
            lambda path: JobRequest(
                weigh, WeighRequest, {"recordings": (path,)}, contents=weigh_contents, files=(path,)
            ),
        )
        fields = self.fields
        self.before = fields.span(
            tr("Without, from–to"), tr("Stretch of the first without the payload"), (tr("none"), tr("none"))
        )
        self.during = fields.span(
            tr("With it, from–to"), tr("Stretch of all with the payload"), (tr("begin"), tr("end"))
        )
        self.rest = fields.choice(
            tr("Used"), tr("What is used"), [(tr("rests and motion"), False), (tr("poses at rest only"), True)]
        )
        self.bandwidth = fields.quantity(
            tr("Bandwidth"), tr("Of the low-pass on cells and model"), "Hz", _BANDWIDTH, 0.1, 1e3
        )

    @property
    def fault(self) -> str:
        """See `AskPage`."""
        if wrong := field_refusal(self):
            return wrong
        if wrong := self.before.fault or self.during.fault:
            return wrong
        if self.before.span is not None and self.chosen(_WITHOUT):
            return tr("Without the payload: give a recording or a stretch of the first, not both.")
        return super().fault

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        loaded, bare = self.chosen(_WITH), self.chosen(_WITHOUT)
        first = loaded[0] if loaded else self.folder / "rig.mcap"
        values = values_of(
            recordings=loaded,
            without=bare[0] if bare else None,
            without_span=None if bare else self.before.span,
            during=self.during.span,
            at_rest=self.rest.currentData(),
            bandwidth=unless(self.bandwidth.si(), _BANDWIDTH),
        )
        saved = first.with_name(f"{first.stem}-payload.toml")
        return JobRequest(weigh, WeighRequest, values, files=loaded, saved=saved)

"""The first step: what is fitted, what is held out to judge by, and what is known before."""

from gui.fitting import Asked, Look, RecordingsPage, Role, options_of

_FIT, _HOLD = 0, 1


class IdentifyPage(RecordingsPage):
    """Recordings to fit on, others to judge by, and a note.

    Args:
        look: looks into a recording.
    """

    verb = "Identify"

    def __init__(self, look: Look) -> None:
        super().__init__(
            "Recordings",
            "Choose recordings of one rig in motion. Those held out are not fitted, they judge the result; without any "
            "that is the last quarter of every motion.",
            (Role("Fit on", "Choose a recording to fit on."), Role("Hold out")),
            look,
            lambda path: Asked(("identify",), files=(path,)),
        )
        self.note = self.fields.text("Note", "Note", "kept in the file, as: after the new payload plate", whole=True)

    @property
    def asked(self) -> Asked:
        """See `AskPage`."""
        fitted = self.chosen(_FIT)
        held = tuple(part for path in self.chosen(_HOLD) for part in ("--hold-out", str(path)))
        first = fitted[0] if fitted else self.folder / "rig.mcap"
        return Asked(
            ("identify",),
            (*held, *options_of(note=self.note.text().strip())),
            fitted,
            first.with_name(f"{first.stem}-inertia.toml"),
        )

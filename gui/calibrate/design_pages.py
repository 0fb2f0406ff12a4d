"""The first steps of motions that are designed: one that tells parameters, one that excites a coordinate."""

from pathlib import Path

from gui.fitting import AskPage, FieldGrid, JobRequest, unless, values_of
from gui.texts import tr
from gui.widgets import field_refusal
from kinematics import COORDINATES
from rig.services import ExciteRequest, MultisineRequest, excite, multisine

_DURATION, _FASTEST, _MARGIN, _CANDIDATES, _STEPS = 60.0, 2.0, 0.75, 40, 300
_LOW, _HIGH, _PERIOD, _PERIODS, _REALIZATIONS = 0.5, 30.0, 4.0, 2, 6


class DesignPage(AskPage):
    """What is asked of a motion for the open configuration.

    Args:
        title, subtitle: said on top.
        config: the rig's file.
        folder: for the motion's file.
    """

    verb = tr("Design")

    def __init__(self, title: str, subtitle: str, config: Path, folder: Path) -> None:
        super().__init__(title, subtitle)
        self.config = config
        self.folder = folder if folder.is_dir() else Path.cwd()  # the first recording makes it
        self.fields = FieldGrid()
        self.column.addWidget(self.fields)
        self.close_form()
        self.fields.edited.connect(self.edited)

    @property
    def fault(self) -> str:
        """See `AskPage`."""
        return ""


class ExcitePage(DesignPage):
    """How long and how fast a motion may be that tells masses, inertias and frictions; arguments as `DesignPage`."""

    def __init__(self, config: Path, folder: Path) -> None:
        super().__init__(
            tr("Motion"),
            tr(
                "A motion whose forces tell masses, inertias and frictions of the open configuration's machine: sines "
                "in all six axes, as large as its limits permit. Run it, then identify from its recording."
            ),
            config,
            folder,
        )
        fields = self.fields
        self.duration = fields.quantity(tr("Length"), tr("Length of the motion"), "s", _DURATION, 10.0, 3600.0)
        self.fastest = fields.quantity(tr("Fastest sine"), tr("Fastest of its sines"), "Hz", _FASTEST, 0.2, 20.0)
        self.margin = fields.quantity(
            tr("Part of every limit"), tr("Part of every limit that it may use"), "", _MARGIN, 0.05, 1.0
        )
        self.candidates = fields.count(
            tr("Random motions"), tr("Random motions; the search starts from the best"), _CANDIDATES, 1, 10_000
        )
        self.steps = fields.count(tr("Steps"), tr("Evaluations of the gradient, at most"), _STEPS, 0, 100_000)
        self.seed = fields.count(tr("Seed"), tr("Seed of their random phases"), 0, 0, 1_000_000)

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        values = values_of(
            config=str(self.config),
            duration=unless(self.duration.si(), _DURATION),
            fastest=unless(self.fastest.si(), _FASTEST),
            margin=unless(self.margin.si(), _MARGIN),
            candidates=unless(self.candidates.value(), _CANDIDATES),
            steps=unless(self.steps.value(), _STEPS),
            seed=unless(self.seed.value(), 0),
        )
        return JobRequest(excite, ExciteRequest, values, saved=self.folder / "excitation.toml")


class MultisinePage(DesignPage):
    """Which coordinate is excited, in which band; arguments as `DesignPage`."""

    def __init__(self, config: Path, folder: Path) -> None:
        super().__init__(
            tr("Motion"),
            tr(
                "A motion about home that excites one coordinate at many frequencies at once, checked against the open "
                "configuration's limits. Run it, then look at the frequency response of its recording."
            ),
            config,
            folder,
        )
        fields = self.fields
        self.dof = fields.choice(tr("Coordinate"), tr("The coordinate"), [(name, name) for name in COORDINATES])
        self.dof.setCurrentIndex(COORDINATES.index("z"))
        self.amplitude = fields.optional(
            tr("Amplitude"), tr("Amplitude of the whole"), "m", 1e-9, 10.0, tr("empty: as limits allow")
        )
        self.dof.currentIndexChanged.connect(lambda _index: self._measure())
        self.low = fields.quantity(tr("From"), tr("Lowest frequency"), "Hz", _LOW, 1e-3, 1e3)
        self.high = fields.quantity(tr("To"), tr("Highest frequency"), "Hz", _HIGH, 1e-3, 1e3)
        self.period = fields.quantity(tr("Period"), tr("Period of the excitation"), "s", _PERIOD, 0.1, 1e3)
        self.periods = fields.count(
            tr("Periods"), tr("Periods of each realisation, beside its fades"), _PERIODS, 2, 1000
        )
        self.realizations = fields.count(
            tr("Realisations"), tr("Realisations of random phases, which tell distortion"), _REALIZATIONS, 1, 1000
        )
        self.seed = fields.count(tr("Seed"), tr("Seed of phases and of the multiples left out"), 0, 0, 1_000_000)

    @property
    def fault(self) -> str:
        """See `AskPage`."""
        if wrong := field_refusal(self):
            return wrong
        low, high = self.low.si(), self.high.si()
        return (
            ""
            if low < high
            else tr("The lowest frequency, {low:g} Hz, must be below the highest, {high:g} Hz.").format(
                low=low, high=high
            )
        )

    def _measure(self) -> None:
        """Take the amplitude in the unit of the coordinate; one that was of the other is nobody's wish."""
        self.amplitude.set_si(None)
        self.amplitude.set_unit("rad" if self.dof.currentData().startswith("r") else "m")

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        dof = self.dof.currentData()
        values = values_of(
            config=str(self.config),
            dof=dof,
            low=unless(self.low.si(), _LOW),
            amplitude=self.amplitude.entered(),
            high=unless(self.high.si(), _HIGH),
            period=unless(self.period.si(), _PERIOD),
            periods=unless(self.periods.value(), _PERIODS),
            realizations=unless(self.realizations.value(), _REALIZATIONS),
            seed=unless(self.seed.value(), 0),
        )
        return JobRequest(multisine, MultisineRequest, values, saved=self.folder / f"multisine-{dof}.toml")

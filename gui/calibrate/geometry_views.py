"""What came of a calibration of the geometry, and of a plan of poses."""

from dataclasses import replace
from typing import Any

import numpy as np

from calibration import parse_parameters
from gui.fitting import NumberTable, Outcome, ParameterTable, PointPicture, Points, ResultView, outcome_text
from gui.live import swatch
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme
from kinematics import pose_to_coordinates

_BY_LEG = 7  # parameters of a leg
_MM = 1e3
_UM = 1e6


class GeometryView(ResultView):
    """Errors of poses that were not fitted, every joint's change, and how well each direction is told.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.held = PointPicture(tr("Errors of held-out poses"), theme, "mm", tr("row of the file"), log_y=True)
        self.changes = PointPicture(tr("Change of every joint and offset"), theme, "mm", tr("row of the table"))
        self.directions = PointPicture(
            tr("How well each direction is told"), theme, "σ, mm", tr("direction"), log_y=True
        )
        self.table = ParameterTable(theme)
        legend = tr("Held-out poses: {nominal} {calibrated} {noise}").format(
            nominal=swatch(theme.muted, tr("nominal")),
            calibrated=swatch(theme.accent, tr("calibrated")),
            noise=swatch(theme.warning, tr("noise")),
        )
        numbers = " ".join(swatch(colour, str(leg)) for leg, colour in enumerate(LEG_COLOURS, 1))
        legs = tr("Changes ± σ, leg {legs}").format(legs=numbers)
        told = tr("Directions of the geometry: {sigma} {bound}").format(
            sigma=swatch(theme.accent, "σ"), bound=swatch(theme.warning, tr("of the drawing"))
        )
        self.add_pictures(((legend, self.held), (legs, self.changes), (told, self.directions)))
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        assert outcome.text is not None  # `UnobservableView` shows what is refused
        told, theme = outcome.result, self._theme
        _show_directions(self.directions, told, theme)
        parameters = parse_parameters(outcome.text).parameters
        changes = np.array([each.value - each.nominal for each in parameters]) * _MM
        sigma = np.array([each.sigma for each in parameters]) * _MM
        rows = np.arange(1, len(parameters) + 1)
        legs = [slice(first, first + _BY_LEG) for first in range(0, len(parameters), _BY_LEG)]
        self.changes.show_points(
            [
                Points(rows[leg].tolist(), changes[leg].tolist(), colour, sigma[leg].tolist())
                for leg, colour in zip(legs, LEG_COLOURS, strict=True)
            ],
            [(0.0, theme.muted)],
        )
        self._show_held(told["holdout"])
        self.table.show_parameters(parameters)
        return outcome_text(outcome, _lines(told), told["warnings"])

    def _show_held(self, held: dict[str, Any] | None) -> None:
        if held is None:
            self.held.show_points([])
            return
        rows = range(1, len(held["poses"]) + 1)
        groups = [
            Points(rows, [np.nan if each[key] is None else _MM * each[key] for each in held["poses"]], colour)
            for key, colour in (("position_before_m", self._theme.muted), ("position_after_m", self._theme.accent))
        ]
        self.held.show_points(groups, [(_MM * held["position_noise_m"], self._theme.warning)])


def _lines(told: Any) -> list[str]:
    held, scale = told["holdout"], told["tracker_scale"]
    lines = [
        tr(
            "{count} poses fitted, reduced χ² {chi_square:.2f}. {drawn} of {all} directions are mostly the drawing's."
        ).format(
            count=told["rows_fitted"],
            chi_square=told["reduced_chi_square"],
            drawn=told["directions_from_drawing"],
            all=len(told["direction_sigmas_m"]),
        ),
        _pose_line(told),
    ]
    if scale is not None:
        lines.append(
            tr("The tracker reads {value:+.0f} µm/m ± {sigma:.0f}, known before to ± {before:.0f}.").format(
                value=_UM * scale["value"], sigma=_UM * scale["sigma"], before=_UM * scale["prior_sigma"]
            )
        )
    if held is None:
        lines.append(tr("Nothing is held out, as only part of each pose was measured."))
    else:
        before, after = held["before"]["position_rms_m"], held["after"]["position_rms_m"]
        lines.append(
            tr("Poses held out: {before} RMS → {after}, the tracker's noise {noise}.").format(
                before=_rms(before), after=_rms(after), noise=_rms(held["position_noise_m"])
            )
        )
    lines += [
        tr("Left out: {row}, {reason}.").format(row=each["row"], reason=each["reason"])
        for each in told["rows_left_out"]
    ]
    if told["homing"] is not None:
        spread = max(told["homing"]["standard_deviation_m"])
        lines.append(tr("A homing repeats to {spread} or better, one standard deviation.").format(spread=_rms(spread)))
    return lines


def _pose_line(told: Any) -> str:
    return tr("A pose is told to {position}, {rotation:.0f} µrad along its worst axis (one σ), at most {most}.").format(
        position=_rms(told["pose_position_sigma_m"]),
        rotation=_UM * told["pose_rotation_sigma_rad"],
        most=f"{_rms(told['pose_position_sigma_limit_m'])}, {_UM * told['pose_rotation_sigma_limit_rad']:.0f} µrad",
    )


def _rms(value: float | None) -> str:
    return tr("no pose") if value is None else f"{_UM * value:.1f} µm"


def _show_directions(picture: PointPicture, told: Any, theme: Theme) -> None:
    sigmas = [np.nan if sigma is None else _MM * sigma for sigma in told["direction_sigmas_m"]]
    rows = range(1, len(sigmas) + 1)
    drawn = [_MM * sigma for sigma in told["direction_tolerances_m"]]
    picture.show_points([Points(rows, drawn, theme.warning), Points(rows, sigmas, theme.accent)])


class UnobservableView(ResultView):
    """How well each direction is told by poses that leave some open, and what is not told, in words.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.directions = PointPicture(
            tr("How well each direction is told"), theme, "σ, mm", tr("direction"), log_y=True
        )
        self.table = NumberTable(
            tr("What the poses do not tell"), (tr("What the poses do not tell"),), words=(0,), wide=0
        )
        told = tr("Directions of the geometry: {sigma} {bound}").format(
            sigma=swatch(theme.accent, "σ"), bound=swatch(theme.warning, tr("of the drawing"))
        )
        self.add_pictures(((told, self.directions),))
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        _show_directions(self.directions, outcome.result, self._theme)
        first, *lines = (line.strip() for line in outcome.refusal.splitlines())
        self.table.fill([(line,) for line in lines])
        sigmas = outcome.result["direction_sigmas_m"]
        open_ones = tr("{count} directions of the geometry, {untold} of them not told at all.").format(
            count=len(sigmas), untold=sigmas.count(None)
        )
        return outcome_text(replace(outcome, refusal=first), [_pose_line(outcome.result), open_ones])


class PosePlanView(ResultView):
    """The poses to measure next: how they lie, and as a table.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.places = PointPicture(tr("Places of the poses"), theme, "mm", tr("pose"))
        self.turns = PointPicture(tr("Turns of the poses"), theme, "°", tr("pose"))
        x, y, z = theme.axis_colours()
        axes = f"{swatch(x, 'x')} {swatch(y, 'y')} {swatch(z, 'z')}"
        self.table = NumberTable(
            tr("Poses to measure"),
            (tr("Pose"), "x mm", "y mm", "z mm", "rx °", "ry °", "rz °"),
            words=(),
            wide=None,
        )
        self.add_pictures(
            (
                (tr("Place {axes}").format(axes=axes), self.places),
                (tr("Turn about {axes}").format(axes=axes), self.turns),
            )
        )
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        told = outcome.result
        coordinates = pose_to_coordinates(np.array(told["poses"]))
        shown = np.hstack([_MM * coordinates[:, :3], np.degrees(coordinates[:, 3:])])
        numbers = range(1, len(shown) + 1)
        for picture, first in ((self.places, 0), (self.turns, 3)):
            picture.show_points(
                [
                    Points(numbers, shown[:, first + axis].tolist(), colour)
                    for axis, colour in enumerate(self._theme.axis_colours())
                ]
            )
        self.table.fill([(str(number), *(f"{value:.2f}" for value in row)) for number, row in enumerate(shown, 1)])
        before, after = (_rms(told[f"pose_position_sigma_{when}_m"]) for when in ("before", "after"))
        return outcome_text(
            outcome,
            [
                tr(
                    "{count} poses beside {measured} measured, best first. Position along its worst axis, one "
                    "standard deviation: {before} now, {after} with them."
                ).format(count=len(shown), measured=told["measured"], before=before, after=after)
            ],
        )

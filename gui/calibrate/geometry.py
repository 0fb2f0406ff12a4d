"""Calibrate the geometry of the open configuration's mechanism, and plan the poses to measure for it."""

from pathlib import Path
from typing import Any

import numpy as np

from calibration import parse_parameters
from gui.session import RigSession
from gui.steps import fields
from gui.texts import tr
from gui.widgets import AXIS_COLOURS, LEG_COLOURS, Theme
from gui.wizard import Description, DisplayedResult, Outcome, Result, Table, Task, pictures, results, save_page
from kinematics import pose_to_coordinates
from rig.config import resolve_name
from rig.services import GeometryRequest, calibrate_geometry, geometry_contents, plan_geometry

_CSV = tr("Tables (*.csv)")
_SIGMAS = (1e-9, 0.1)  # m or rad, bounds
_CALIBRATE, _PLAN = 0, 1
_BY_LEG = 7  # parameters per leg
_MM = 1e3
_UM = 1e6


def describe(session: RigSession) -> Description:
    """Describe the wizard: measured poses and leg lengths with prior knowledge, or the number of poses to plan."""
    config = session.config
    mechanism = str(resolve_name(config.folder, config.mechanism))

    def task(verb: str, service: Any, **own: Any) -> Task:
        return Task(
            verb,
            service,
            GeometryRequest,
            contents=geometry_contents,
            values=lambda _entered: {"mechanism": mechanism},
            files=(Path(mechanism),),
            **own,
        )

    return Description(
        title=tr("Calibrate the geometry"),
        request_heading=(
            tr("Measurements"),
            tr(
                "For {name}, the mechanism of the open configuration: poses at rest measured by a tracker, "
                "targets or a level, and the leg lengths by the encoders."
            ).format(name=config.nominal.name),
        ),
        compute_heading=(
            tr("Geometry"),
            tr("Nothing is saved before the next step. Each pose held out is predicted by a fit to the others."),
        ),
        file_kind="parameters",
        tasks=(
            task(
                tr("Calibrate"),
                calibrate_geometry,
                saved=lambda entered: entered.named_after("-geometry.toml"),
                result=_GEOMETRY,
                refused=_UNOBSERVABLE,
                use=lambda _outcome, target: save_page.parameters_use(session.config, config.nominal.name, target),
                lacking=tr("Choose the file of measured poses."),
                choice=tr("calibrate from measured poses"),
                others=tr("nothing is planned"),
            ),
            task(
                tr("Plan"),
                plan_geometry,
                saved=lambda entered: entered.named_after("-poses.csv"),
                result=_PLANNED,
                choice=tr("plan the poses to measure next"),
                others=tr("poses are planned, nothing is calibrated"),
            ),
        ),
        fields=_FIELDS,
    )


def _sigma(name: str, label: str, words: str, unit: str) -> fields.Field:
    return fields.quantity(name, label, words, unit, _SIGMAS)


_FIELDS = (
    fields.file(
        "data", tr("Poses"), tr("Measured poses and leg lengths"), _CSV, tr("CSV: l1…l6 with x,y,z,qw,qx,qy,qz …")
    ),
    *fields.of_task(
        _CALIBRATE,
        fields.file(
            "targets", tr("Targets"), tr("Positions of the targets in the platform frame"), _CSV, tr("if known: x,y,z")
        ),
        fields.file(
            "homing", tr("Homings"), tr("Lengths at one pose after several homings"), _CSV, tr("if measured: l1…l6")
        ),
    ),
    _sigma("position_sigma", tr("σ of positions"), tr("Standard deviation of one position"), "m"),
    _sigma("rotation_sigma", tr("σ of angles"), tr("Standard deviation of one orientation"), "rad"),
    _sigma("length_sigma", tr("σ of lengths"), tr("Standard deviation of one length"), "m"),
    _sigma("joint_tolerance", tr("σ of joints"), tr("Standard deviation of a joint position from the drawing"), "m"),
    _sigma("offset_tolerance", tr("σ of offsets"), tr("Standard deviation of a length offset"), "m"),
    _sigma("scale_sigma", tr("σ of the scale"), tr("Standard deviation of the tracker's scale"), ""),
    *fields.of_task(
        _CALIBRATE,
        _sigma("most_position_sigma", tr("Positions to within"), tr("Largest σ of a pose's position"), "m"),
        _sigma("most_rotation_sigma", tr("Angles to within"), tr("Largest σ of a pose's rotation"), "rad"),
        fields.quantity("hold_out", tr("Held out per fold"), tr("Share of rows held out per fold"), "", (0.01, 0.5)),
    ),
    fields.choice(
        "frames",
        tr("Frames"),
        tr("Frames that are known"),
        [
            (tr("neither frame is known"), "none"),
            (tr("poses are in the base's frame"), "base"),
            (tr("poses are of the platform's own frame"), "platform"),
            (tr("both"), "both"),
        ],
    ),
    fields.count(
        "plan", tr("Poses to plan"), tr("Number of planned poses"), (1, 1000), usual=20, only=_PLAN, convert=int
    ),
    fields.text(
        "operator", tr("Operator"), tr("Operator of the calibration"), tr("stored in the file"), only=_CALIBRATE
    ),
    fields.text("note", tr("Note"), tr("Note"), tr("stored in the file"), only=_CALIBRATE),
)


def _pictures(theme: Theme) -> pictures.Pictures:
    """Plot errors of held-out poses, the change of every joint and the observability of each direction."""
    return (
        (
            pictures.legend(
                theme,
                tr("Held-out poses: {nominal} {calibrated} {noise}"),
                nominal=("muted", tr("nominal")),
                calibrated=("accent", tr("calibrated")),
                noise=("warning", tr("noise")),
            ),
            pictures.PointPicture(tr("Errors of held-out poses"), theme, "mm", tr("row of the file"), log_y=True),
        ),
        (
            tr("Changes ± σ, leg {legs}").format(legs=pictures.leg_swatches()),
            pictures.PointPicture(tr("Change of every joint and offset"), theme, "mm", tr("row of the table")),
        ),
        *_direction_picture(theme),
    )


def _direction_picture(theme: Theme) -> pictures.Pictures:
    legend = pictures.legend(
        theme,
        tr("Directions of the geometry: {sigma} {bound}"),
        sigma=("accent", "σ"),
        bound=("warning", tr("from the drawing")),
    )
    name = tr("Uncertainty of each direction")
    return ((legend, pictures.PointPicture(name, theme, "σ, mm", tr("direction"), log_y=True)),)


def _show(outcome: Outcome) -> DisplayedResult:
    assert outcome.text is not None  # a refusal without a text is rendered by `_UNOBSERVABLE`
    found = outcome.result
    parameters = parse_parameters(outcome.text).parameters
    changes = np.array([each.value - each.nominal for each in parameters]) * _MM
    sigma = np.array([each.sigma for each in parameters]) * _MM
    rows = np.arange(1, len(parameters) + 1)
    legs = [slice(first, first + _BY_LEG) for first in range(0, len(parameters), _BY_LEG)]
    by_leg = [
        pictures.Points(rows[leg].tolist(), changes[leg].tolist(), colour, sigma[leg].tolist())
        for leg, colour in zip(legs, LEG_COLOURS, strict=True)
    ]
    return DisplayedResult(
        drawn=(_errors(found["holdout"]), pictures.Scatter(by_leg, [(0.0, "muted")]), _directions(found)),
        rows=results.parameter_rows(parameters),
        lines=_lines(found),
        warnings=found["warnings"],
    )


def _errors(holdout: Any) -> pictures.Scatter:
    if holdout is None:
        return pictures.Scatter([])
    rows = range(1, len(holdout["poses"]) + 1)
    groups = [
        pictures.Points(rows, [np.nan if each[key] is None else _MM * each[key] for each in holdout["poses"]], colour)
        for key, colour in (("position_before_m", "muted"), ("position_after_m", "accent"))
    ]
    return pictures.Scatter(groups, [(_MM * holdout["position_noise_m"], "warning")])


def _directions(found: Any) -> pictures.Scatter:
    sigmas = [np.nan if sigma is None else _MM * sigma for sigma in found["direction_sigmas_m"]]
    drawn = [_MM * sigma for sigma in found["direction_tolerances_m"]]
    rows = range(1, len(sigmas) + 1)
    return pictures.Scatter([pictures.Points(rows, drawn, "warning"), pictures.Points(rows, sigmas, "accent")])


def _lines(found: Any) -> list[str]:
    holdout, scale = found["holdout"], found["tracker_scale"]
    lines = [
        tr(
            "{count} poses fitted, reduced χ² {chi_square:.2f}. {drawn} of {all} directions are mostly the drawing's."
        ).format(
            count=found["rows_fitted"],
            chi_square=found["reduced_chi_square"],
            drawn=found["directions_from_drawing"],
            all=len(found["direction_sigmas_m"]),
        ),
        _pose_line(found),
    ]
    if scale is not None:
        lines.append(
            tr("Scale error of the tracker: {value:+.0f} µm/m ± {sigma:.0f}, prior ± {before:.0f}.").format(
                value=_UM * scale["value"], sigma=_UM * scale["sigma"], before=_UM * scale["prior_sigma"]
            )
        )
    if holdout is None:
        lines.append(tr("Nothing is held out because only part of each pose was measured."))
    else:
        before, after = holdout["before"]["position_rms_m"], holdout["after"]["position_rms_m"]
        lines.append(
            tr("Held-out poses: {before} RMS → {after}, tracker noise {noise}.").format(
                before=_rms(before), after=_rms(after), noise=_rms(holdout["position_noise_m"])
            )
        )
    lines += [
        tr("Left out: {row}, {reason}.").format(row=each["row"], reason=each["reason"])
        for each in found["rows_left_out"]
    ]
    if found["homing"] is not None:
        spread = max(found["homing"]["standard_deviation_m"])
        lines.append(
            tr("Homing repeatability: {spread} or better, one standard deviation.").format(spread=_rms(spread))
        )
    return lines


def _pose_line(found: Any) -> str:
    return tr(
        "Pose uncertainty along its worst axis (one σ): {position}, {rotation:.0f} µrad; allowed: {most}."
    ).format(
        position=_rms(found["pose_position_sigma_m"]),
        rotation=_UM * found["pose_rotation_sigma_rad"],
        most=f"{_rms(found['pose_position_sigma_limit_m'])}, {_UM * found['pose_rotation_sigma_limit_rad']:.0f} µrad",
    )


def _rms(value: float | None) -> str:
    return tr("no pose") if value is None else f"{_UM * value:.1f} µm"


def _show_unobservable(outcome: Outcome) -> DisplayedResult:
    """Show the observability of each direction for poses that leave some open, and list the unobservable ones."""
    sigmas = outcome.result["direction_sigmas_m"]
    return DisplayedResult(
        drawn=[_directions(outcome.result)],
        rows=[(reason,) for reason in outcome.result["reasons"]],
        lines=[
            _pose_line(outcome.result),
            tr("{count} directions of the geometry, {untold} of them unobservable.").format(
                count=len(sigmas), untold=sigmas.count(None)
            ),
        ],
        refusal=tr("Refused: the poses leave directions of the geometry unobservable. Nothing was written."),
    )


def _plan_pictures(theme: Theme) -> pictures.Pictures:
    """Plot the poses to measure next."""
    axes = pictures.swatches(theme, *zip(AXIS_COLOURS, "xyz", strict=True))
    return (
        (
            tr("Position {axes}").format(axes=axes),
            pictures.PointPicture(tr("Positions of the poses"), theme, "mm", tr("pose")),
        ),
        (
            tr("Turn about {axes}").format(axes=axes),
            pictures.PointPicture(tr("Turns of the poses"), theme, "°", tr("pose")),
        ),
    )


def _show_plan(outcome: Outcome) -> DisplayedResult:
    found = outcome.result
    coordinates = pose_to_coordinates(np.array(found["poses"]))
    shown = np.hstack([_MM * coordinates[:, :3], np.degrees(coordinates[:, 3:])])
    numbers = range(1, len(shown) + 1)
    before, after = (_rms(found[f"pose_position_sigma_{when}_m"]) for when in ("before", "after"))
    return DisplayedResult(
        drawn=[
            pictures.Scatter(
                [
                    pictures.Points(numbers, shown[:, first + axis].tolist(), each)
                    for axis, each in enumerate(AXIS_COLOURS)
                ]
            )
            for first in (0, 3)
        ],
        rows=[(str(number), *(f"{value:.2f}" for value in row)) for number, row in enumerate(shown, 1)],
        lines=[
            tr(
                "{count} poses in addition to {measured} measured ones, best first. Position along its worst "
                "axis, one standard deviation: {before} now, {after} with them."
            ).format(count=len(shown), measured=found["measured"], before=before, after=after)
        ],
    )


_GEOMETRY = Result(_pictures, results.PARAMETERS, _show)
_UNOBSERVABLE = Result(
    _direction_picture,
    Table(tr("Unobservable directions"), (tr("Unobservable directions"),), words=(0,), wide=0),
    _show_unobservable,
)
_PLANNED = Result(
    _plan_pictures,
    Table(tr("Poses to measure"), (tr("Pose"), "x mm", "y mm", "z mm", "rx °", "ry °", "rz °")),
    _show_plan,
)

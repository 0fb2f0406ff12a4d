"""Calibrate the load cells in place: the platform's weight at rest, and poses planned for it."""

from typing import Any

from calibration import FEWEST_RESTS, Limits, WeightSigmas
from gui.calibrate.bench import CELL_HEADINGS, cell_texts
from gui.session import RigSession
from gui.steps import fields
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme
from gui.wizard import Description, DisplayedResult, Outcome, Result, Role, Table, Task, pictures, save_page
from rig.services import (
    CellsInPlaceRequest,
    PlanCellsRequest,
    calibrate_cells_in_place,
    cells_in_place_contents,
    plan_cells_in_place,
)

_WEIGHTS = WeightSigmas()
_CALIBRATE, _PLAN = 0, 1


def describe(session: RigSession) -> Description:
    """Describe the wizard: recordings of one rig at rest in many poses, or the number of poses to plan."""
    return Description(
        title=tr("Calibrate the load cells in place"),
        request_heading=(
            tr("Recordings"),
            tr(
                "Choose recordings of one rig at rest in about 30 poses, under power: its known weight loads "
                "the cells. Or plan such poses for the open configuration, run them, and return with the "
                "recording."
            ),
        ),
        compute_heading=(
            tr("Load cells"),
            tr("Nothing is saved before the next step. A calibration that fails its bounds is shown, but not saved."),
        ),
        file_kind="calibration",
        roles=(Role("recordings", tr("Use"), tr("Choose a recording."), only=_CALIBRATE),),
        tasks=(
            Task(
                tr("Calibrate"),
                calibrate_cells_in_place,
                CellsInPlaceRequest,
                saved=lambda entered: entered.named_after("-cells.toml"),
                result=_CELLS,
                contents=cells_in_place_contents,
                use=lambda outcome, target: save_page.cells_use(
                    session.config, outcome.result["mechanism"] == session.config.nominal.name, target
                ),
                choice=tr("calibrate from recordings"),
                others=tr("nothing is planned"),
            ),
            Task(
                tr("Plan"),
                plan_cells_in_place,
                PlanCellsRequest,
                saved=lambda entered: entered.folder / "weight-poses.toml",
                result=_PLANNED,
                values=lambda _entered: {"config": str(session.config.path)},
                use=lambda _outcome, target: save_page.run_use(
                    session.config,
                    target,
                    tr(
                        "Run it by this command, or open it in the tab Motion, and come back with the recording. A rig "
                        "with a reversed cell is not engaged: widen safety.tare_shift and safety.force_residual for "
                        "this one run."
                    ),
                ),
                choice=tr("plan the poses"),
                others=tr("poses are planned, nothing is calibrated"),
            ),
        ),
        fields=_FIELDS,
    )


_FIELDS = (
    *fields.of_task(
        _CALIBRATE,
        fields.quantity(
            "mass_sigma", tr("σ of the mass"), tr("Standard uncertainty of the platform's mass"), "kg", (0.0, 1e3)
        ),
        fields.quantity(
            "center_sigma", tr("σ of its centre"), tr("The same for its centre of mass, each axis"), "m", (0.0, 1.0)
        ),
        fields.quantity(
            "leg_mass_sigma",
            tr("σ of leg masses, part"),
            tr("Standard uncertainty of the mass of each body of a leg"),
            "",
            (0.0, 10.0),
        ),
        fields.quantity(
            "leg_center_sigma",
            tr("σ of their centres"),
            tr("The same for their centres of mass, each axis"),
            "m",
            (0.0, 1.0),
            usual=_WEIGHTS.leg_center,
        ),
        fields.quantity(
            "gain_limit",
            tr("Uncertainty of the gains"),
            tr("Largest accepted uncertainty of a gain"),
            "%",
            (1e-3, 100.0),
        ),
        fields.quantity(
            "drift_limit",
            tr("Drift up to"),
            tr("Accepted drift of the zero"),
            "N",
            (0.0, 1e4),
            usual=Limits().drift,
        ),
    ),
    *fields.of_task(
        _PLAN,
        fields.count(
            "poses", tr("Poses to plan"), tr("Number of planned poses"), (FEWEST_RESTS, 400), usual=30, convert=int
        ),
        fields.quantity("hold", tr("Time at each"), tr("Planned time at each pose"), "s", (0.5, 60.0)),
    ),
    *fields.of_task(
        _CALIBRATE,
        fields.text("operator", tr("Operator"), tr("Operator of the calibration"), tr("stored in the file")),
        fields.text("note", tr("Note"), tr("Note"), tr("stored in the file")),
    ),
)


def _cell_pictures(theme: Theme) -> pictures.Pictures:
    """Plot gains and offsets next to the previous ones, and residuals by pose."""
    return (
        (
            tr("Gains, from those of the recording, ± σ"),
            pictures.PointPicture(tr("Change of each gain"), theme, "%", places=pictures.LEGS),
        ),
        (
            tr("Offsets, from those of the recording, ± σ"),
            pictures.PointPicture(tr("Change of each offset"), theme, tr("units read"), places=pictures.LEGS),
        ),
        (
            tr("Residual at each rest, leg {legs}").format(legs=pictures.leg_swatches()),
            pictures.PointPicture(tr("Residuals by rest"), theme, "N", tr("rest")),
        ),
    )


def _show_cells(outcome: Outcome) -> DisplayedResult:
    found = outcome.result
    cells = found["cells"]
    used = [each for each in found["rests"] if each["used"]]
    residuals = [
        pictures.Points([each["rest"] for each in used], [each["residuals_n"][leg] for each in used], colour)
        for leg, colour in enumerate(LEG_COLOURS)
    ]
    return DisplayedResult(
        drawn=(
            _changes(
                [100.0 * (each["gain"] / each["gain_before"] - 1.0) for each in cells],
                [100.0 * each["gain_standard_error"] / each["gain_before"] for each in cells],
            ),
            _changes(
                [each["offset"] - each["offset_before"] for each in cells],
                [each["offset_standard_error"] for each in cells],
            ),
            pictures.Scatter(residuals, [(0.0, "muted")]),
        ),
        rows=[(*cell_texts(each), f"{each['hold_out_n']:.3g}", f"{each['noise_n']:.3g}") for each in cells],
        lines=[
            tr(
                "{mechanism}: {count} rests fitted, reduced χ² {chi_square:.2f}; those not fitted are predicted "
                "to {residual:.3g} N RMS or better."
            ).format(
                mechanism=found["mechanism"],
                count=len(used),
                chi_square=found["chi_square"],
                residual=max(each["hold_out_n"] for each in cells),
            )
        ],
    )


def _changes(values: list[float], sigmas: list[float]) -> pictures.Scatter:
    legs = enumerate(zip(values, sigmas, LEG_COLOURS, strict=True))
    return pictures.Scatter(
        [pictures.Points([leg], [value], colour, [sigma]) for leg, (value, sigma, colour) in legs], [(0.0, "muted")]
    )


def _plan_pictures(theme: Theme) -> pictures.Pictures:
    """Plot how differently the planned poses load each cell."""
    legend = pictures.legend(
        theme,
        tr("Force on each cell: {least} {greatest}"),
        least=("muted", tr("least")),
        greatest=("accent", tr("greatest")),
    )
    return ((legend, pictures.BarPicture(tr("Forces on each cell"), theme, "N", pictures.LEGS)),)


def _show_plan(outcome: Outcome) -> DisplayedResult:
    found: Any = outcome.result
    least, greatest = found["forces_n"]["least"], found["forces_n"]["greatest"]
    return DisplayedResult(
        drawn=[pictures.Bars(((least, "muted"), (greatest, "accent")))],
        rows=[
            (str(leg), f"{low:+.1f}", f"{high:+.1f}")
            for leg, (low, high) in enumerate(zip(least, greatest, strict=True), 1)
        ],
        lines=[
            tr("{poses} poses within the limits, a motion of {duration:.1f} s.").format(
                poses=found["poses"], duration=found["duration_s"]
            )
        ],
    )


_CELLS = Result(_cell_pictures, Table(tr("Cells"), (*CELL_HEADINGS, tr("Not fitted\nN"), tr("Noise\nN"))), _show_cells)
_PLANNED = Result(_plan_pictures, Table(tr("Forces"), (tr("Leg"), tr("Minimum, N"), tr("Maximum, N"))), _show_plan)

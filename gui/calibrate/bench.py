"""Calibrate load cells on a bench: readings under known masses, from a file or from guided loading."""

from datetime import date
from typing import Any

from calibration import STANDARD_GRAVITY, Limits, calibration_file_name
from gui.session import Phase, RigSession
from gui.steps import fields
from gui.texts import tr
from gui.widgets import LEG_COLOURS, Theme
from gui.wizard import Description, DisplayedResult, Entered, Outcome, Result, Table, Task, pictures, save_page
from rig.services import CellsRequest, calibrate_cells, cells_contents

_USUAL = Limits()
_IN_FILE = tr("stored in the file")
_FILE, _LIVE = 0, 1


def describe(session: RigSession) -> Description:
    """Describe the bench wizard: readings of the six cells under known masses."""
    target = session.folder / calibration_file_name(date.today())

    def check(entered: Entered) -> str:
        real = session.config.virtual is None
        engine = session.situation.phase not in (Phase.DOWN, Phase.DIED)
        return tr("The engine has the cells: disconnect first.") if entered.task == _LIVE and real and engine else ""

    def task(**own: Any) -> Task:
        return Task(
            tr("Calibrate"),
            calibrate_cells,
            CellsRequest,
            result=_RESULT,
            contents=cells_contents,
            use=lambda _outcome, path: save_page.cells_use(session.config, True, path),
            **own,
        )

    return Description(
        title=tr("Calibrate the load cells on a bench"),
        request_heading=(
            tr("Readings"),
            tr(
                "Readings of the six cells, detached from legs and platform: unloaded, under known masses, "
                "unloaded again."
            ),
        ),
        compute_heading=(
            tr("Load cells"),
            tr("Nothing is saved before the next step. A calibration that fails its bounds is shown, but not saved."),
        ),
        file_kind="calibration",
        choice=(tr("Read"), tr("Where the readings come from")),
        tasks=(
            task(
                choice=tr("from a file"),
                saved=lambda entered: entered.named_after("-cells.toml"),
                lacking=tr("Choose the file of readings."),
                others=tr("as in the file"),
            ),
            task(
                choice=tr("now, from the cells of the rig {name}").format(name=session.config.name),
                saved=lambda _entered: target,
                values=lambda _entered: {"config": str(session.config.path)},
                files=(session.config.path,),
                content_text=tr("Contents: {holds}."),
                others=tr("the rig's cells are read"),
            ),
        ),
        check=check,
        fields=_FIELDS,
    )


_FIELDS = (
    fields.file(
        "data",
        tr("Readings"),
        tr("Readings of the cells"),
        tr("Tables (*.csv)"),
        tr("CSV: cell,mass,reading,phase"),
        only=_FILE,
    ),
    fields.choice(
        "load",
        tr("Masses"),
        tr("Load direction of the masses"),
        [(tr("placed on the cell"), "compression"), (tr("hung from the cell"), "tension")],
    ),
    fields.text("unit", tr("Unit read"), tr("Unit of the readings"), "N", only=_FILE),
    fields.numbers("masses", tr("Masses, kg"), tr("Masses for each cell, kg, in order"), (0.0, 1e5), only=_LIVE),
    fields.count("samples", tr("Samples"), tr("Samples averaged per reading"), (2, 1_000_000), only=_LIVE),
    fields.quantity("gravity", tr("Gravity"), tr("Local gravity"), "m/s²", (1.0, 30.0), usual=STANDARD_GRAVITY),
    fields.quantity(
        "drift_limit", tr("Drift up to"), tr("Accepted drift of the zero"), "N", (0.0, 1e4), usual=_USUAL.drift
    ),
    fields.quantity(
        "nonlinearity_limit",
        tr("Not linear up to"),
        tr("Accepted residual beyond the noise, share of the force range"),
        "%",
        (1e-3, 100.0),
    ),
    fields.text(
        "serials",
        tr("Serial numbers"),
        tr("Serial numbers of the six cells"),
        tr("S1,…,S6; stored in the file"),
        convert=lambda text: tuple(name.strip() for name in text.split(",")) if text else None,
    ),
    fields.text("weights", tr("Masses used"), tr("Masses used, by their certificate"), _IN_FILE),
    fields.text("place", tr("Place"), tr("Where"), _IN_FILE),
    fields.text("operator", tr("Operator"), tr("Operator of the calibration"), _IN_FILE),
    fields.text("note", tr("Note"), tr("Note"), _IN_FILE),
)


def _pictures(theme: Theme) -> pictures.Pictures:
    """Plot residuals over force in loading order, which shows hysteresis as a loop, and drift next to its bound."""
    return (
        (
            tr("Residual as loaded, joined in time, leg {legs}").format(legs=pictures.leg_swatches()),
            pictures.PointPicture(tr("Residuals over the force"), theme, tr("residual, N"), tr("force, N")),
        ),
        (
            pictures.legend(
                theme,
                tr("Drift of the zero: {found} {accepted}"),
                found=("accent", tr("found")),
                accepted=("warning", tr("accepted")),
            ),
            pictures.BarPicture(tr("Drift of each zero"), theme, "N", pictures.LEGS),
        ),
    )


def _show(outcome: Outcome) -> DisplayedResult:
    found = outcome.result
    cells = found["cells"]
    residuals = [
        pictures.Points(
            [each["force_n"] for each in cell["readings"]],
            [each["residual_n"] for each in cell["readings"]],
            colour,
            joined=True,
        )
        for cell, colour in zip(cells, LEG_COLOURS, strict=True)
    ]
    drifts = [abs(cell["drift_n"]) for cell in cells]
    worst = max(cells, key=lambda cell: float(cell["residual_max"]))
    return DisplayedResult(
        drawn=(
            pictures.Scatter(residuals, [(0.0, "muted")]),
            pictures.Bars(((drifts, "accent"),), [cell["drift_bound_n"] for cell in cells]),
        ),
        rows=[_row(cell) for cell in cells],
        lines=[
            tr(
                "Readings in {unit}, masses in {load}: residuals up to {residual:.3g} N, at leg {leg}; the "
                "zeros drifted by {drift:.3g} N at most."
            ).format(
                unit=found["unit"],
                load=found["load"],
                residual=worst["residual_max"],
                leg=worst["leg"],
                drift=max(drifts),
            )
        ],
    )


def _row(cell: dict[str, Any]) -> tuple[str, ...]:
    parts = (
        "–" if cell[name] is None else f"{cell[name]:.3f}" for name in ("nonlinearity", "hysteresis", "repeatability")
    )
    return (*cell_texts(cell), *parts)


def cell_texts(cell: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of a cell for the columns `CELL_HEADINGS`."""
    return (
        str(cell["leg"]),
        f"{cell['gain']:.6g}",
        f"{cell['gain_standard_error']:.2g}",
        f"{cell['offset']:.5g}",
        f"{cell['offset_standard_error']:.2g}",
        f"{cell['polarity']:+d}",
    )


CELL_HEADINGS = (tr("Leg"), tr("Gain\nN/unit"), "± σ", tr("Offset"), "± σ", tr("Sign"))
_RESULT = Result(
    _pictures,
    Table(tr("Cells"), (*CELL_HEADINGS, tr("Not linear\n%"), tr("Hysteresis\n%"), tr("Repeats to\n%"))),
    _show,
)

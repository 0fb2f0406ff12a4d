"""Identify masses, inertias and frictions from recordings, validated on held-out recordings."""

from calibration import Accuracy, parse_parameters
from gui.session import RigSession
from gui.steps import fields
from gui.texts import tr
from gui.widgets import Theme
from gui.wizard import Description, DisplayedResult, Outcome, Result, Role, Task, pictures, results, save_page
from rig.analysis import TERM_NAMES
from rig.services import IdentifyRequest, identify, identify_contents

_USUAL = Accuracy()
_PARTS = (1e-6, 10.0)
_PLACES = (1e-9, 0.1)  # m
_KNOWN = (
    (tr("Masses, part"), "mass", tr("Prior uncertainty of the masses, one sigma"), "", _PARTS),
    (tr("Inertias, part"), "inertia", tr("Prior uncertainty of the moments of inertia"), "", _PARTS),
    (tr("Frictions, part"), "friction", tr("Prior uncertainty of the frictions"), "", _PARTS),
    (tr("Centres"), "center", tr("Prior uncertainty of the centres of mass, each axis"), "m", _PLACES),
    (
        tr("Cells' gains, part"),
        "gain",
        tr("Uncertainty of the load cell gains; unchanged: that of their calibration, if there is one"),
        "",
        _PARTS,
    ),
    (
        tr("Cross-talk, part"),
        "cross_talk",
        tr("Cross-talk: share of a neighbouring leg's force in a cell's reading"),
        "",
        _PARTS,
    ),
    (
        tr("Joint positions"),
        "joints",
        tr("Uncertainty of the joint positions, each axis; unchanged: that of a calibrated geometry, if there is one"),
        "m",
        _PLACES,
    ),
)
"""Prior standard deviations: label, name in the request, accessible name, unit, bounds."""


def describe(session: RigSession) -> Description:
    """Describe the wizard: recordings to fit on and to validate on, prior uncertainties, and a note."""
    return Description(
        title=tr("Identify parameters"),
        request_heading=(
            tr("Recordings"),
            tr(
                "Choose recordings of one rig in motion. Those held out are not fitted; they validate the "
                "result. Without any, the last quarter of every motion is held out. The fields give the prior "
                "uncertainty, one σ each."
            ),
        ),
        compute_heading=(
            tr("Identify"),
            tr("Nothing is saved before the next step. This page validates with data that were not fitted."),
        ),
        file_kind="parameters",
        roles=(Role("recordings", tr("Fit on"), tr("Choose a recording to fit on.")), Role("hold_out", tr("Hold out"))),
        tasks=(
            Task(
                tr("Identify"),
                identify,
                IdentifyRequest,
                saved=lambda entered: entered.named_after("-inertia.toml"),
                result=Result(_pictures, results.PARAMETERS, _show),
                contents=identify_contents,
                use=lambda outcome, target: save_page.parameters_use(
                    session.config, outcome.result["mechanism"], target
                ),
            ),
        ),
        fields=(
            *(
                fields.quantity(name, label, words, unit, bounds, usual=getattr(_USUAL, name))
                for label, name, words, unit, bounds in _KNOWN
            ),
            fields.text(
                "note",
                tr("Note"),
                tr("Note"),
                tr("stored in the file, for example: after the new payload plate"),
                whole=True,
            ),
        ),
    )


def _pictures(theme: Theme) -> pictures.Pictures:
    """Plot the unexplained forces and the change of each parameter."""
    legend = pictures.legend(
        theme,
        tr("Residual held out: {nominal} {identified} {noise}"),
        nominal=("muted", tr("nominal")),
        identified=("accent", tr("identified")),
        noise=("warning", tr("noise")),
    )
    residuals = pictures.BarPicture(
        tr("Residual before and after, by leg"), theme, tr("N RMS"), (*pictures.LEGS, tr("all"))
    )
    return ((legend, residuals), (results.CHANGES, pictures.ChangePicture(theme)))


def _show(outcome: Outcome) -> DisplayedResult:
    """Show the parameters, sorted by change in standard deviations, largest first."""
    assert outcome.text is not None  # the service raises before it has a result
    found = outcome.result
    holdout, base = found["holdout"], found["base_parameters"]
    before, after, noise = (
        (*(float(leg[name]) for leg in holdout["legs"]), float(holdout[name]))
        for name in ("residual_before_n", "residual_after_n", "noise_n")
    )
    parameters = sorted(parse_parameters(outcome.text).parameters, key=lambda each: -abs(results.change(each)))
    line = tr(
        "{mechanism}: residual {before:.2f} N → {after:.2f} N, noise {noise:.2f} N. The uncertainty of "
        "{told} of the {combinations} identifiable base parameters was reduced by a factor of 2 or "
        "more."
    ).format(
        mechanism=found["mechanism"],
        before=before[-1],
        after=after[-1],
        noise=noise[-1],
        told=sum(each["told"] for each in base),
        combinations=len(base),
    )
    fit = {
        "pass": tr("Fit: pass, the residual is the noise of the cells."),
        "undecided": tr("Fit: undecided, the noise of the cells cannot be separated from the motion."),
    }.get(found["verdict"])
    return DisplayedResult(
        drawn=(
            pictures.Bars(((before, "muted"), (after, "accent")), noise),
            [results.change(each) for each in parameters],
        ),
        rows=results.parameter_rows(parameters),
        lines=[line, *([] if fit is None else [fit])],
        warnings=_warnings(outcome),
    )


def _warnings(outcome: Outcome) -> list[str]:
    found, warnings = outcome.result, []
    if codes := dict.fromkeys(each["code"] for each in found["terms"]):
        names = ", ".join(tr(TERM_NAMES[code]) for code in codes)
        warnings.append(
            tr("The data show effects beyond the model: {names}. They were estimated too.").format(names=names)
        )
    if found["verdict"] == "lack_of_fit":
        warnings.append(
            tr("Lack of fit: the residual is more than the cells' noise. Values may be less accurate than stated.")
        )
    if not found["consistent"]:
        warnings.append(tr("These parameters are not physically consistent."))
    if not found["drives_used"]:
        warnings.append(tr("The drives' forces are not known here: friction below the load cells was not identified."))
    return warnings

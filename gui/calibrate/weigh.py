"""Weigh a payload on the platform."""

from calibration import Parameter, parse_parameters
from gui.session import RigSession
from gui.steps import fields
from gui.texts import tr
from gui.widgets import Theme
from gui.wizard import (
    Description,
    DisplayedResult,
    Entered,
    Outcome,
    Result,
    Role,
    Task,
    pictures,
    results,
    save_page,
)
from rig.services import WeighRequest, weigh, weigh_contents


def describe(session: RigSession) -> Description:
    """Describe the wizard: recordings with the payload, and one without."""
    return Description(
        title=tr("Weigh a payload"),
        request_heading=(
            tr("Recordings"),
            tr(
                "Choose recordings with the payload on the platform. Poses at rest give mass and centre of "
                "mass, a motion gives the inertia. A recording without the payload, in the same poses or "
                "others, gives the model error of the rig; a rig that is not identified needs one."
            ),
        ),
        compute_heading=(
            tr("Payload"),
            tr(
                "Nothing is saved before the next step. Parameters that the data do not identify are refused, "
                "with the data that would identify them."
            ),
        ),
        file_kind="parameters",
        roles=(
            Role("recordings", tr("With it"), tr("Choose a recording with the payload.")),
            Role("without", tr("Without"), several=False),
        ),
        tasks=(
            Task(
                tr("Weigh"),
                weigh,
                WeighRequest,
                saved=lambda entered: entered.named_after("-payload.toml"),
                result=Result(_pictures, results.PARAMETERS, _show),
                contents=weigh_contents,
                use=lambda outcome, target: save_page.parameters_use(
                    session.config, outcome.result["mechanism"], target
                ),
            ),
        ),
        check=_check,
        fields=(
            fields.time_span(
                "without_span",
                tr("Without, from–to"),
                tr("Section without the payload, of the first recording"),
                (tr("none"), tr("none")),
            ),
            fields.time_span(
                "during",
                tr("With it, from–to"),
                tr("Section with the payload, of all recordings"),
                (tr("begin"), tr("end")),
            ),
            fields.choice(
                "at_rest",
                tr("Used"),
                tr("What is used"),
                [(tr("rests and motion"), False), (tr("poses at rest only"), True)],
            ),
            fields.quantity(
                "bandwidth",
                tr("Bandwidth"),
                tr("Corner frequency of the low-pass on cells and model"),
                "Hz",
                (0.1, 1e3),
            ),
        ),
    )


def _check(entered: Entered) -> str:
    if entered["without_span"] is not None and entered["without"] is not None:
        return tr("Without the payload: give a recording or a section of the first, not both.")
    return ""


def _pictures(theme: Theme) -> pictures.Pictures:
    """Plot cell readings minus model without payload, with it, and with the payload in the model."""
    legend = pictures.legend(
        theme,
        tr("Residual by a model {without} {with_it}"),
        without=("muted", tr("without the payload")),
        with_it=("accent", tr("with it")),
    )
    return (
        (legend, pictures.BarPicture(tr("Residual without and with the payload"), theme, tr("N RMS"), pictures.LEGS)),
        (tr("Platform with payload. {changes}").format(changes=results.CHANGES), pictures.ChangePicture(theme)),
    )


def _show(outcome: Outcome) -> DisplayedResult:
    assert outcome.text is not None  # the service raises before it has a result
    found, file = outcome.result, parse_parameters(outcome.text)
    source = (
        tr(
            "From {poses} poses at rest and {samples} samples in motion, reduced χ² {chi_square:.2f}; "
            "platform known {platform}."
        )
        if found["inertia"]
        else tr("From {poses} poses at rest, reduced χ² {chi_square:.2f}; the platform known {platform}.")
    )
    lines = [
        tr("Payload: {parameters}.").format(parameters=", ".join(map(_words, file.nuisance))),
        source.format(
            poses=found["poses"],
            samples=found["samples_in_motion"],
            chi_square=found["chi_square"],
            platform=file.provenance["platform"],
        ),
    ]
    if not found["inertia"]:
        lines.append(tr("Poses at rest do not identify the inertia: the platform keeps that of its mechanism."))
    residuals = [
        ([each[key] for each in found["cells"]], colour)
        for key, colour in (("residual_before_n", "muted"), ("residual_after_n", "accent"))
    ]
    return DisplayedResult(
        drawn=(pictures.Bars(residuals), [results.change(each) for each in file.parameters]),
        rows=results.parameter_rows(file.parameters),
        lines=lines,
    )


def _words(each: Parameter) -> str:
    return f"{each.name.removeprefix('payload.')} {each.value:.4g} ± {each.sigma:.2g} {each.unit}"

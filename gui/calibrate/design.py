"""Design motions: one that identifies parameters, one that excites a coordinate."""

from collections.abc import Callable, Mapping
from typing import Any

from gui.calibrate.respond import band_fault
from gui.session import RigSession
from gui.steps import fields
from gui.texts import tr
from gui.widgets import Theme, display_unit
from gui.wizard import Description, DisplayedResult, Entered, Outcome, Result, Table, Task, pictures, save_page
from kinematics import COORDINATES
from rig.services import ExciteRequest, MultisineRequest, excite, multisine

_JUDGED = tr("Nothing is saved before the next step. The motion respects every limit, as checked by `rig check`.")
_ENDS = tr("speed at")


def _task(session: RigSession, line: Callable[[Any], str], following: str, **own: Any) -> Task:
    """Task that saves and runs a motion; `line` labels it, `following` says what its recording is for."""
    about = tr("Run it by this command, or in the tab Motion. {following}").format(following=following)
    return Task(
        tr("Design"),
        result=Result(_pictures, _LIMITS, lambda outcome: _show(outcome, line(outcome.result))),
        values=lambda _entered: {"config": str(session.config.path)},
        use=lambda _outcome, target: save_page.run_use(session.config, target, about),
        **own,
    )


def describe_excitation(session: RigSession) -> Description:
    """Describe the wizard for identification motions: duration and speed limits."""
    return Description(
        title=tr("Excitation motion"),
        request_heading=(
            tr("Motion"),
            tr(
                "A motion for identifying masses, inertias and frictions of the open configuration's machine: "
                "sines in all six axes, as large as its limits permit. Run it, then identify from its "
                "recording."
            ),
        ),
        compute_heading=(tr("Motion"), _JUDGED),
        file_kind="motion",
        tasks=(
            _task(
                session,
                _excited,
                tr("Then identify masses, inertias and frictions from its recording."),
                service=excite,
                kind=ExciteRequest,
                saved=lambda entered: entered.folder / "excitation.toml",
            ),
        ),
        fields=(
            fields.quantity("duration", tr("Length"), tr("Length of the motion"), "s", (10.0, 3600.0)),
            fields.quantity("fastest", tr("Fastest sine"), tr("Fastest of its sines"), "Hz", (0.2, 20.0)),
            fields.quantity("margin", tr("Share of every limit"), tr("Usable share of every limit"), "", (0.05, 1.0)),
            fields.count(
                "candidates",
                tr("Random motions"),
                tr("Number of random motions; the search starts from the best"),
                (1, 10_000),
            ),
            fields.count("steps", tr("Steps"), tr("Maximum number of gradient evaluations"), (0, 100_000)),
            fields.count("seed", tr("Seed"), tr("Seed of their random phases"), (0, 1_000_000)),
        ),
    )


def describe_multisine(session: RigSession) -> Description:
    """Describe the multisine wizard: the excited coordinate and its band."""
    return Description(
        title=tr("Multisine"),
        request_heading=(
            tr("Motion"),
            tr(
                "A motion about home that excites one coordinate at many frequencies at once, checked against the open "
                "configuration's limits. Run it, then look at the frequency response of its recording."
            ),
        ),
        compute_heading=(tr("Motion"), _JUDGED),
        file_kind="motion",
        tasks=(
            _task(
                session,
                _sines,
                tr("Then look at the frequency response of its recording."),
                service=multisine,
                kind=MultisineRequest,
                saved=lambda entered: entered.folder / f"multisine-{entered['dof']}.toml",
            ),
        ),
        check=_check,
        link=_link,
        fields=(
            fields.choice("dof", tr("Coordinate"), tr("The coordinate"), [(name, name) for name in COORDINATES]),
            fields.optional(
                "amplitude",
                tr("Amplitude"),
                tr("Amplitude of the whole"),
                "m",
                (1e-9, 10.0),
                hint=tr("empty: as limits allow"),
            ),
            fields.quantity("low", tr("From"), tr("Lowest frequency"), "Hz", (1e-3, 1e3)),
            fields.quantity("high", tr("To"), tr("Highest frequency"), "Hz", (1e-3, 1e3)),
            fields.quantity("period", tr("Period"), tr("Period of the excitation"), "s", (0.1, 1e3)),
            fields.count("periods", tr("Periods"), tr("Periods of each realisation, without fades"), (2, 1000)),
            fields.count(
                "realizations",
                tr("Realisations"),
                tr("Realisations of random phases, for estimating distortion"),
                (1, 1000),
            ),
            fields.count("seed", tr("Seed"), tr("Seed of the phases and of the omitted harmonics"), (0, 1_000_000)),
        ),
    )


def _check(entered: Entered) -> str:
    low, high = entered["low"], entered["high"]
    return "" if low < high else band_fault(low, high)


def _link(fields: Mapping[str, Any]) -> None:
    """Follow the coordinate's unit. An amplitude entered in the other unit is discarded."""
    dof, amplitude = fields["dof"], fields["amplitude"]

    def measure() -> None:
        amplitude.set_si(None)
        amplitude.set_unit(_unit(dof.currentData()))

    dof.currentIndexChanged.connect(lambda _index: measure())


def _unit(dof: str) -> str:
    return "rad" if dof[0] == "r" else "m"


def _pictures(theme: Theme) -> pictures.Pictures:
    """Plot the use of each limit as bars, in table order."""
    colours = pictures.swatches(theme, ("accent", tr("used")), ("warning", tr("the limit itself")))
    legend = tr("Share of every limit, by table row: {colours}").format(colours=colours)
    return ((legend, pictures.BarPicture(tr("Used share of every limit"), theme, "%")),)


def _show(outcome: Outcome, line: str) -> DisplayedResult:
    """Show how much of every limit a motion uses, and where."""
    checks = [each for each in outcome.result["checks"] if not each["name"].startswith(_ENDS)]
    parts = [100.0 * _used(each) for each in checks]
    lines = [line]
    if checks:
        most = max(range(len(parts)), key=parts.__getitem__)
        nearest = (
            tr("Nearest to its limit: {limit}, {part:.0f} % of it.")
            if checks[most]["leg"] is None
            else tr("Nearest to its limit: {limit} of leg {leg}, {part:.0f} % of it.")
        )
        lines.append(nearest.format(limit=checks[most]["name"], leg=checks[most]["leg"], part=parts[most]))
    places = [str(row) for row in range(1, len(checks) + 1)]
    return DisplayedResult(
        drawn=[pictures.Bars(((parts, "accent"),), [100.0] * len(checks), places)],
        rows=[_row(number, *each) for number, each in enumerate(zip(checks, parts, strict=True), 1)],
        lines=lines,
    )


def _excited(found: Any) -> str:
    return tr(
        "{duration:g} s: average information on the base parameters {information:.2f} nepers, best of "
        "{candidates} random motions {drawn:.2f}; condition {condition:.3g}."
    ).format(
        duration=found["duration_s"],
        candidates=found["candidates"],
        information=found["information_nepers"],
        drawn=found["random_information_nepers"],
        condition=found["condition"],
    )


def _sines(found: Any) -> str:
    tones = found["frequency_hz"]
    unit, factor, _ = display_unit(_unit(found["dof"]))
    return tr(
        "Coordinate {dof}: {count} frequencies from {low:.3g} to {high:.3g} Hz, amplitude {amplitude:.3g} "
        "{unit}, {duration:g} s."
    ).format(
        dof=found["dof"],
        count=len(tones),
        low=tones[0],
        high=tones[-1],
        amplitude=factor * found["amplitude"],
        unit=unit,
        duration=found["duration_s"],
    )


def _used(check: Any) -> float:
    """Return the used fraction of a limit from a check of `rig.safety` as JSON; inverted for a lower bound."""
    value, bound = check["value"], check["bound"]
    return float(bound / value if check["is_minimum"] else value / bound)


def _row(number: int, check: Any, part: float) -> tuple[str, ...]:
    unit, factor, decimals = display_unit(check["unit"])
    unit = unit.replace("^2", "²")
    value, bound = (f"{factor * check[key]:.{decimals}f}".rstrip("0").rstrip(".") for key in ("value", "bound"))
    leg = tr("all") if check["leg"] is None else str(check["leg"])
    at = f"{check['time']:.3f}"
    return str(number), f"{check['name']}, {unit}" if unit else check["name"], leg, value, bound, at, f"{part:.0f}"


_LIMITS = Table(
    tr("Limits"),
    ("", tr("Limit"), tr("Leg"), tr("Worst sample"), tr("Bound"), tr("At, s"), tr("Used, %")),
    words=(1,),
    wide=1,
)

"""The report as one self-contained HTML file, with plots that can be zoomed and read out.

The script `templates/zoom.js` draws the plots from JSON.
"""

import base64
import json
from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from dynamics import MechanismError, parse_mechanism
from rig.config import VirtualPlant
from rig.csvio import check_output, whole_file
from rig.recording import EventLevel, MotionPart, Recorded, caveats, imported_from, injection, part_name
from rig.report.digital_io import place_text, point_name, state_text
from rig.report.figures import AXIS_COLORS, LEG_COLORS, TERM_COLORS, Curve, Curves, darker, figures
from rig.report.pages import fixed, scripted_page
from rig.report.provenance import source_of
from rig.report.streaming import Floats
from rig.report.text_summary import (
    cause_text,
    detectable_errors_text,
    in_unit,
    lag_text,
    model_text,
    probability_text,
    unfinished_text,
    verdict_text,
)
from rig.runtime import slowdown_text
from rig.states import FaultCode, fault_name
from rig.telemetry import TERMS

MISSING = 65535
"""Code of a missing value; other values are integers below it, scaled from a curve's minimum to its maximum."""
_DARK = "#3A424A"
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
"""Characters that could end a script element or one of its lines."""
_GRID = 200
"""Points at which curves with few samples are interpolated"""
_SHOWN = "Shown are the rows that the numbers are computed from; a double click shows all recorded under power."
ONE_SCALE = ("forces", "residuals", "terms")
"""Figures whose panels, one per leg, share a scale for comparison"""


def curves_json(curves: Curves, summary: Mapping[str, Any], names: Container[str]) -> str | None:
    """Return the panels of the named figures as JSON, safe inside a script element; None without data.

    Curves are interval minima and maxima of two bytes each: to 1/65534 of the curve's range.
    """
    plots = {name: panels for name, panels in _plots(curves, summary).items() if name in names}
    times = {"powered": curves.fine("condition")[0], "cycles": curves.fine_timing(0)[0]}
    times = {name: one[::2] if _paired(one) else one for name, one in times.items()}
    known = {name: np.round(one, 5).tolist() for name, one in times.items() if _growing(one)}
    for name, (axes, plot) in _of_validation(summary).items():
        if name in names:
            known |= {axis: one.tolist() for axis, one in axes.items()}
            plots[name] = plot
    plots = {name: plot for name, plot in plots.items() if plot["times"] in known}
    if not plots:
        return None
    window = summary["window"]
    return plots_json(known, plots, _SHOWN, [window["begin_s"], window["end_s"]] if window["rows"] else None)


def plots_json(
    times: Mapping[str, list[float]], plots: Mapping[str, Any], shown: str, window: list[float] | None = None
) -> str:
    """Return `plots` by name over `times` as JSON for the page's script, safe inside a script element.

    Args:
        times: s, by name.
        plots: by name: `times` (their name), `beside` (the printed figure stays visible), `one_scale`, `panels` (see
            `panel`; one that is not over time has its own `times`, and `axis`: its `unit`, and `log`: whether its
            values are decimal logarithms), and `shown` where it differs from the common one.
        shown: a sentence on what is shown before zooming.
        window: begin and end, s, of the initial view; None: all.
    """
    data = {"times": times, "window": window, "shown": shown, "plots": plots}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def _plots(curves: Curves, summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the panels of every figure by its name, as in the printed ones."""
    fine, noise = curves.fine, summary["force"]["noise_n"]
    legs = list(enumerate(LEG_COLORS))
    forces = [
        panel(f"Leg {leg + 1}", "N", [
            curve("measured", color, fine("measured", leg)), curve("model", darker(color), fine("model", leg), True)
        ])
        for leg, color in legs
    ]  # fmt: skip
    levels = [0.0] if not noise else [-noise, 0.0, noise]
    residuals = [
        panel(f"Leg {leg + 1}", "N", [curve("residual", color, fine("residual", leg))], levels) for leg, color in legs
    ]
    tracking = [
        panel("Position error", "µm", _each("xyz", AXIS_COLORS, curves, "position error")),
        panel("Rotation error", "µrad", _each("xyz", AXIS_COLORS, curves, "rotation error")),
        panel("Leg length error", "µm", _each("123456", LEG_COLORS, curves, "length error")),
        panel("Condition number of H", "", [curve("", _DARK, fine("condition"))]),
    ]
    pose = [
        panel(name, unit, [
            curve("measured", color, fine("measured place", column)),
            curve("command", darker(color), fine("commanded place", column), True),
        ])
        for axis, color in enumerate(AXIS_COLORS)
        for name, unit, column in (("xyz"[axis], "mm", axis), ("θ" + "xyz"[axis], "deg", 3 + axis))
    ]  # fmt: skip
    terms = [
        panel(f"Leg {leg + 1}", "N", [
            curve(name, color, fine("terms", 6 * term + leg))
            for term, (name, color) in enumerate(zip(TERMS, TERM_COLORS, strict=True))
        ])
        for leg in range(6)
    ]  # fmt: skip
    durations = [
        curve(name, color, curves.fine_timing(1 + index))
        for index, (name, color) in enumerate(zip(curves.durations, ("#0072B2", "#E69F00", "#009E73"), strict=True))
    ]
    timing = [
        panel("Period error", "µs", [curve("", "#0072B2", curves.fine_timing(0))]),
        panel("Durations", "µs", durations),
    ]
    powered = {"forces": forces, "residuals": residuals, "tracking": tracking, "pose": pose, "terms": terms}
    return {
        name: {"times": "powered", "beside": False, "one_scale": name in ONE_SCALE, "panels": panels}
        for name, panels in powered.items()
    } | {"timing": {"times": "cycles", "beside": True, "one_scale": False, "panels": timing}}


_Axes = dict[str, Floats]
_OF_ALL = "Shown: everything."


def _of_validation(summary: Mapping[str, Any]) -> dict[str, tuple[_Axes, dict[str, Any]]]:
    """Return the plots that are not over time, by name: their axes by name, and the panels over these."""
    found = summary.get("validation") or {}
    made: dict[str, tuple[_Axes, dict[str, Any]]] = {}
    if found.get("spectrum"):
        made["spectrum"] = _spectrum(found["spectrum"], summary["force"]["noise_n"], summary["cycle"]["rate_hz"])
    if found.get("dependence"):
        made["dependence"] = _dependence(found["dependence"], summary["force"]["noise_n"])
    return {name: (axes, plot) for name, (axes, plot) in made.items() if all(map(_growing, axes.values()))}


def _spectrum(spectrum: Mapping[str, Any], noise: float | None, rate: float | None) -> tuple[_Axes, dict[str, Any]]:
    """Return density in dB re 1 N/√Hz and coherence over the decimal logarithm of the frequency in Hz."""
    frequency = np.log10(np.array(spectrum["frequency_hz"]))
    with np.errstate(divide="ignore"):
        densities = [10.0 * np.log10(np.array(leg["residual_n2_per_hz"])) for leg in spectrum["legs"]]
        white = [float(10.0 * np.log10(2.0 * noise**2 / rate))] if noise and rate else []
    legs = list(zip(spectrum["legs"], LEG_COLORS, strict=True))
    density = [
        curve(str(leg["leg"]), color, (frequency, values)) for (leg, color), values in zip(legs, densities, strict=True)
    ]
    coherence = [
        curve(str(leg["leg"]), color, (frequency, np.array(leg["coherence"], dtype=np.float64))) for leg, color in legs
    ]
    unrelated = curve("unrelated, 95 %", _DARK, (frequency, np.array(spectrum["coherence_level"])), True)
    axis = {"times": "frequency", "axis": {"unit": "Hz", "log": True}}
    panels = [
        panel("Residual", "dB re 1 N/√Hz", density, white) | axis,
        panel("Coherence of model and measurement", "", [*coherence, unrelated]) | axis,
    ]
    return {"frequency": frequency}, _plot("frequency", panels, one_scale=False)


def _dependence(dependence: Mapping[str, Any], noise: float | None) -> tuple[_Axes, dict[str, Any]]:
    """Return mean residuals over speed and acceleration, interpolated between each leg's bins."""
    axes, panels = {}, []
    levels = [0.0] if not noise else [-noise, 0.0, noise]
    for name, unit in (("speed", "m/s"), ("acceleration", "m/s²")):
        legs = [leg for leg in dependence[name]["legs"] if leg["at"]]
        ends = [place for leg in legs for place in (leg["at"][0], leg["at"][-1])]
        axes[name] = grid = np.linspace(min(ends, default=0.0), max(ends, default=0.0), _GRID)
        curves = [
            curve(
                str(leg["leg"]),
                LEG_COLORS[leg["leg"] - 1],
                (grid, np.interp(grid, leg["at"], leg["mean_n"], left=np.nan, right=np.nan)),
            )
            for leg in legs
        ]
        panels.append(
            panel(f"Over {name}", "N", curves, levels) | {"times": name, "axis": {"unit": unit, "log": False}}
        )
    return axes, _plot("speed", panels, one_scale=True)


def _plot(times: str, panels: list[dict[str, Any]], *, one_scale: bool) -> dict[str, Any]:
    return {"times": times, "beside": False, "one_scale": one_scale, "panels": panels, "shown": _OF_ALL}


def _each(names: str, colors: Sequence[str], curves: Curves, quantity: str) -> list[dict[str, Any]]:
    return [
        curve(name, color, curves.fine(quantity, column))
        for column, (name, color) in enumerate(zip(names, colors, strict=True))
    ]


def panel(title: str, unit: str, curves: list[dict[str, Any]], levels: Sequence[float] = ()) -> dict[str, Any]:
    """Return a panel of curves, see `curve`; levels: horizontal lines, dashed except the one at 0."""
    return {"title": title, "unit": unit, "curves": curves, "levels": list(levels)}


def curve(name: str, color: str, of: Curve, dash: bool = False) -> dict[str, Any]:
    """Return a curve for the script; times that occur twice have the minimum and maximum of an interval."""
    t, values = of
    known = np.isfinite(values)
    low, high = (float(values[known].min()), float(values[known].max())) if known.any() else (0.0, 0.0)
    return {
        "name": name,
        "color": color,
        "dash": dash,
        "per": 2 if _paired(t) else 1,
        "low": low,
        "high": high,
        "values": base64.b64encode(_whole(values, low, high)).decode(),
    }


def _whole(values: Floats, low: float, high: float) -> bytes:
    span = high - low if high > low else 1.0
    share = np.where(np.isfinite(values), (values - low) / span, 0.0)
    counts = np.round(share * (MISSING - 1)).astype("<u2")
    counts[~np.isfinite(values)] = MISSING
    return counts.tobytes()


def _paired(t: Floats) -> bool:
    """Return whether every time occurs twice, for minimum and maximum of its interval."""
    return len(t) > 1 and len(t) % 2 == 0 and bool(np.array_equal(t[::2], t[1::2]))


def _growing(t: Floats) -> bool:
    return len(t) > 1 and bool(np.isfinite(t).all() and (np.diff(t) > 0.0).all())


_OVERRUNS = 0.01
"""Fraction of skipped cycles above which the report's card turns amber."""
_LONGEST_JSON = 200_000
"""Maximum number of characters shown of a header value."""
_MOST_EVENTS = 5000
_MOST_CHANGES = 200  # of inputs and outputs
"""Maximum number of events listed, the first ones."""
_MOST_MOTIONS = 500
"""Maximum number of motions listed, the first ones."""
_NOISE_RATIO = 1.3
"""Residual over configured noise up to which model and measurement agree."""

_CAPTIONS = {
    "timeline": "State of the rig over the recording. Triangles mark warnings and faults, strokes an operator's "
    "commands, diamonds faults injected into a virtual rig.",
    "forces": "Measured (solid) and modelled (dashed) force of every leg.",
    "residuals": "Measured minus modelled force; dashed: ± the load cells' configured noise (1 σ); in print with "
    "distribution.",
    "tracking": "Measured minus commanded position, rotation (in the platform's axes) and leg length; condition "
    "number of H.",
    "pose": "Measured (solid) and commanded (dashed) pose of the platform in the base frame, R = Rz·Ry·Rx.",
    "terms": "Modelled actuator force of every leg by term.",
    "spectrum": "Left: spectral density of the residual; dashed: the cells' noise if white. Right: coherence "
    "of model and measurement: share of the measured force's power explained by the model.",
    "dependence": "Mean of the residual over speed and acceleration of the leg; dashed: ± the load cells' configured "
    "noise (1 σ). A step at speed 0 or a slope on the left looks like friction, a slope on the right like mass.",
    "timing": "Period error of the cycles, and the durations of their parts.",
}


_NO_CHANGE = ("tolerance", "expected_residual")
"""Keys of virtual.plant by which the plant does not differ from the model."""
_IN_POSITION_MODE = (
    " In position mode the drives close the loop and no force is commanded: the difference is that between machine "
    "and model along the actual motion, plus the forces of the drives' own loops between two set-points."
)
_OWN_LOOPS = (
    " The drive of leg {} closes its own loop and no force is commanded there: the difference includes the loop's "
    "force between two set-points, at the other legs its part transmitted by the platform."
)


def _virtual_note(recording: Recorded, summary: Mapping[str, Any]) -> str:
    """Return what agrees by construction on a virtual rig, and what its residual consists of."""
    header = recording.header
    virtual = header.get("config", {}).get("virtual") or {}
    plant, exact = virtual.get("plant", {}), VirtualPlant().model_dump(mode="json", exclude=set(_NO_CHANGE))
    changed = [key for key, value in exact.items() if _differs(plant.get(key, value), value)]
    if changed:
        keys = ", ".join(f"virtual.plant.{key}" for key in changed)
        same = f"Its plant differs from the model by {keys}: parameters do not agree, and the residual contains that"
    else:
        same = (
            "Its plant has the model's equations, geometry, masses and friction: these agree by construction. The "
            "residual contains"
        )
    between = ["sampling", "communication", "drives", "load cells", "calibration", "timing"]
    own = _own_loops(header)
    between += ["the forces of the drives' own loops between two set-points"] if own else []
    injected = [found for event in recording.events if (found := injection(event)) is not None and found.action]
    between += ["injected faults"] if injected else []
    expected = (summary.get("validation") or {}).get("expected_n")
    bound = "" if expected is None else f" Up to {expected:.2f} N RMS of a leg are expected."
    listed = ", ".join(between[:-1]) + f" and {between[-1]}"
    return (
        f"The rig was virtual. {same} {'and ' if changed else 'only '}what lies between: {listed}.{bound} It does not "
        "validate the model of a real machine."
    )


def _differs(value: Any, usual: Any) -> bool:
    """Return whether a value differs from the default in a key that it has."""
    if isinstance(value, Mapping) and isinstance(usual, Mapping):
        return any(_differs(part, usual[key]) for key, part in value.items() if key in usual)
    return bool(value != usual)


def _own_loops(header: Mapping[str, Any]) -> list[str]:
    """Return the legs whose drives close their own loops, as far as the header says; all in mode position."""
    config = header.get("config", {})
    legs = config.get("drives", {}).get("legs", [])
    every = config.get("mode") == "position"
    return [str(leg) for leg, drive in enumerate(legs, start=1) if every or drive.get("mode") == "position"]


def _captions(header: Mapping[str, Any]) -> dict[str, str]:
    captions = _CAPTIONS | {"terms": _CAPTIONS["terms"] + _of_drives(header.get("mechanism"))}
    if imported_from(header) is not None:
        return captions
    own = _own_loops(header)
    if header.get("config", {}).get("mode") == "position":
        more = _IN_POSITION_MODE
    elif own:
        more = _OWN_LOOPS.format(", ".join(own))
    else:
        return captions
    return captions | {"residuals": captions["residuals"] + more}


def _of_drives(mechanism: object) -> str:
    """Return a sentence on the drives' own inertia, by the text of a mechanism's file; empty where it gives none."""
    try:
        legs = parse_mechanism(mechanism, evaluate_only=True).legs if isinstance(mechanism, str) else ()
    except MechanismError:
        return ""
    masses = [leg.drive.mass for leg in legs]
    if not any(masses):
        return ""
    each = f"{min(masses):.3g}" if min(masses) == max(masses) else f"{min(masses):.3g} to {max(masses):.3g}"
    reading = [str(leg) for leg, part in enumerate(legs, start=1) if part.load_cell.location == "motor"]
    read = f"only the forces of the motors {', '.join(reading)} include it" if reading else "no load cell reads it"
    return f" Leg inertia and friction include the drives' own, {each} kg at the rod of a leg and its friction; {read}."


def write_report(recording: Recorded, path: Path | str, *, summary: Mapping[str, Any]) -> None:
    """Write the report on a recording to an HTML file; `summary` is the result of `summarize`.

    The file is written atomically, replaces one of the same name, and depends on the arguments alone.
    Raises InputError when it cannot be written.
    """
    path = Path(path)
    check_output(path)
    curves = Curves(recording, summary) if recording.count > 1 else None
    images = {} if curves is None else figures(curves, summary)
    zoomable = None if curves is None else curves_json(curves, summary, images)
    with whole_file(path) as file:
        file.write(report_page(recording, summary, images, zoomable))


def report_page(
    recording: Recorded, summary: Mapping[str, Any], images: Mapping[str, str], zoomable: str | None = None
) -> str:
    """Return the page as HTML.

    Args:
        recording: the recording.
        summary: result of `summarize`.
        images: SVG figures by name.
        zoomable: result of `curves_json`; None: no zooming.
    """
    return scripted_page(
        "report.html.j2",
        title=_title(recording, summary),
        origin=_origin(recording),
        virtual=bool(recording.header.get("virtual")),
        virtual_note=_virtual_note(recording, summary),
        summary=summary,
        validation=_validation(summary),
        outlook=summary.get("identification"),
        provenance=_origins((summary.get("provenance") or source_of(recording)) | _motion_fields(recording, summary)),
        verdict=_verdict(recording, summary),
        caveats=caveats(recording),
        cards=_cards(summary),
        images={name: base64.b64encode(svg.encode()).decode() for name, svg in images.items()},
        captions=_captions(recording.header),
        zoomable=zoomable,
        model_text=model_text,
        probability_text=probability_text,
        in_unit=in_unit,
        motions=[_motion(motion, _labels_of(summary, motion["id"])) for motion in summary["motions"][:_MOST_MOTIONS]],
        colors=LEG_COLORS,
        io=_io(summary),
        events=[_event(event) for event in summary["events"][:_MOST_EVENTS]],
        header=[(key, _pretty(value)) for key, value in sorted(recording.header.items())],
        closing=_pretty(recording.closing),
    )


KINDS = {"pass": "good", "fail": "bad", "undecided": "warn", "expected": "meant", None: "neutral"}
"""Style class of each verdict."""


def _validation(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a validation as the template shows it; None without one."""
    found = summary.get("validation")
    if found is None:
        return None
    return {
        **found,
        "kind": KINDS[found["verdict"]],
        "said": verdict_text(found),
        "lag_text": lag_text(found),
        "detectable_errors_text": detectable_errors_text(found["noticed"]),
        "unfinished_text": unfinished_text(found["unfinished"]),
        "no_band": cause_text({**found["band"], "code": found["band"]["why"]} if found["band"]["why"] else None),
        "undecidable": [cause_text(cause) for cause in found["undecidable"]],
    }


def _io(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return inputs and outputs as the template shows them; None without any."""
    found = summary.get("io")
    if found is None:
        return None
    kinds = {point["name"]: point["kind"] for point in found["points"]}

    def state(name: str, on: bool) -> str:
        return state_text(name, kinds[name], on)

    points = [
        {
            **point,
            "called": point_name(point["name"]),
            "where": place_text(point["places"]),
            **{end: state(point["name"], point[end]) for end in ("begin", "end")},
        }
        for point in found["points"]
    ]
    changes = [
        {
            **change,
            "called": point_name(change["point"]),
            "state": state(change["point"], change["on"]),
            "fault": change["fault"] and fault_name(FaultCode[change["fault"]]),
        }
        for change in found["changes"][:_MOST_CHANGES]
    ]
    left_out = sum(point["changes"] for point in found["points"]) - len(changes)
    return {"points": points, "changes": changes, "left_out": left_out}


def _origins(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the known provenance as table rows."""
    return [(key.replace("_", " "), _pretty(value)) for key, value in found.items() if value not in (None, [], {})]


def _labels_of(summary: Mapping[str, Any], motion: int) -> Mapping[str, Any]:
    """Return the user's labels of a run: `name`, `note`, `starred`; empty without any."""
    found: Mapping[str, Any] = summary.get("annotations", {}).get(str(motion), {})
    return found


def _title(recording: Recorded, summary: Mapping[str, Any]) -> str:
    """Return the configuration's name; for a report on one motion preceded by that motion's name."""
    rig = str(recording.header.get("config", {}).get("name", recording.path.stem))
    return f"{run_name(recording, summary)} · {rig}" if isinstance(recording, MotionPart) else rig


def run_name(recording: Recorded, summary: Mapping[str, Any]) -> str:
    """Return a motion's user-given or recorded name; for a whole recording its file name."""
    if not isinstance(recording, MotionPart):
        return recording.path.name
    motion = recording.motion
    return _labels_of(summary, motion.id).get("name") or motion.name or part_name(recording.path.name, motion.id)


def _motion_fields(recording: Recorded, summary: Mapping[str, Any]) -> dict[str, Any]:
    """For a report on one motion, return its number and its note, which precedes the recording's."""
    if not isinstance(recording, MotionPart):
        return {}
    note = _labels_of(summary, recording.motion.id).get("note")
    return {"motion": recording.motion.id} | ({} if note is None else {"note": note})


def _origin(recording: Recorded) -> str:
    """Return where and when the recording was made, as far as its header says."""
    header = recording.header
    config = header.get("config", {})
    wall = header.get("clock", {}).get("wall_ns", 0)
    when = datetime.fromtimestamp(wall / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if wall else "on a simulated clock"
    name, motion = recording.path.name, recording.motion if isinstance(recording, MotionPart) else None
    imported = imported_from(header)
    if imported is not None:
        when, mode = f"imported from {imported}", ""
    else:
        when, mode = f"recorded {when}", f"{config['mode']} mode" if "mode" in config else ""
    parts = [
        "virtual rig" if header.get("virtual") else "",
        f"mechanism {config['mechanism']}" if "mechanism" in config else "",
        mode,
        when,
        name if motion is None else part_name(name, motion.id),
    ]
    return " · ".join(part for part in parts if part)


def _verdict(recording: Recorded, summary: Mapping[str, Any]) -> tuple[str, str]:
    """Return kind (good, neutral, warn, bad) and sentence."""
    if recording.doubts:
        return "bad", "The recording is damaged: its data may be wrong or incomplete"
    motion = summary["motion"]
    if motion is not None and motion["cause"]:
        asked = motion["cause_code"] == FaultCode.OPERATOR_STOP.name
        return "warn" if asked else "bad", f"The motion {motion['name']!r} was stopped: {motion['cause']}"
    if summary["faults"]:
        fault = summary["faults"][0]
        at = f"at {fault['t_s']:.3f} s: {fault['cause']}"
        if motion is not None and motion["outcome"] == "finished" and fault["t_s"] < motion["end_s"]:
            return "warn", f"The motion {motion['name']!r} finished; before that the rig stopped {at}"
        return "warn" if fault["fault"] == FaultCode.OPERATOR_STOP.name else "bad", f"Stopped {at}"
    if recording.underway:
        return "warn", "No fault so far; the recording goes on: this covers the data written so far"
    if not recording.complete:
        return "warn", "No fault, but the recording is incomplete: this covers the data written"
    if summary["leg_tests"] and not summary["motion"]:
        legs = ", ".join(str(test["leg"]) for test in summary["leg_tests"])
        return "neutral", f"No fault; legs were moved one at a time: {legs}"
    if not summary["motion"] and summary["motion_begin_s"] is None:
        return "warn", "No fault, but no trajectory ran"
    if motion is None:
        return "neutral", "No fault; only jogs and moves were run"
    if motion["outcome"] == "finished":
        return "good", "The trajectory ran without a fault"
    place = f"{motion['reached_s']:.3f}"
    if motion["outcome"] == "abandoned":
        whole = "" if motion["duration_s"] is None else f" of {motion['duration_s']:.3f}"
        return "neutral", f"The motion {motion['name']!r} was abandoned at {place}{whole} s"
    return "neutral", f"No fault, but the motion did not finish: it reached {place} s of its path"


def _cards(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    cycle, tracking, force, recording = (summary[key] for key in ("cycle", "tracking", "force", "recording"))
    share = cycle["overruns"] / max(1, cycle["cycles"] + cycle["overruns"])
    ratio = force["noise_ratio_max"]
    residuals = [leg["rms_residual_n"] for leg in force["legs"] if leg["rms_residual_n"] is not None]
    peaks = [leg["peak_measured_n"] for leg in force["legs"] if leg["peak_measured_n"] is not None]
    dropped = recording["dropped"]
    return [
        _card(
            "Force residual",
            fixed(max(residuals, default=None), 2),
            "N RMS",
            f"worst leg, {fixed(ratio, 2)} × the cells' noise" if ratio is not None else "worst leg",
            "" if ratio is None else "good" if ratio <= _NOISE_RATIO else "warn",
        ),
        _card("Peak force", fixed(max(peaks, default=None), 0), "N", "largest measured, of six legs"),
        _card(
            "Position", fixed(tracking["position_rms_m"], 1, 1e6), "µm RMS",
            f"largest {fixed(tracking['position_max_m'], 1, 1e6)} µm",
        ),
        _card(
            "Rotation", fixed(tracking["rotation_rms_rad"], 1, 1e6), "µrad RMS",
            f"largest {fixed(tracking['rotation_max_rad'], 1, 1e6)} µrad",
        ),
        _card("Conditioning", fixed(summary["condition"]["max"], 1), "largest", "condition number of H"),
        _card(
            "Cycle",
            fixed(cycle["rate_hz"], 0),
            "Hz",
            slowdown_text(cycle["slower"]) or f"{cycle['overruns']} cycles skipped ({100 * share:.2f} %)",
            "good" if share < _OVERRUNS else "warn",
        ),
        _card(
            "Period error",
            fixed(cycle["period_error_p99_us"], 0),
            "µs, 99 % are below",
            f"largest {fixed(cycle['period_error_max_us'], 0)} µs",
        ),
        _card(
            "Recorded",
            f"{recording['rows']}",
            "rows",
            "none dropped" if not dropped else f"{dropped} dropped",
            "good" if not dropped else "warn",
        ),
    ]  # fmt: skip


def _motion(motion: Mapping[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
    """Return a motion's table row, with its user labels."""
    legs = motion["force"]["legs"] if motion["force"] else []
    worst = {
        key: max((leg[key] for leg in legs if leg[key] is not None), default=None)
        for key in ("rms_residual_n", "peak_residual_n", "peak_measured_n")
    }
    tracking = motion["tracking"] or {"position_rms_m": None, "rotation_rms_rad": None}
    since = {
        "name": f"{labels['name']} ({motion['name']})" if labels.get("name") else motion["name"],
        "note": labels.get("note") or "",
    }
    return {**motion, **since, **worst, **{key: tracking[key] for key in ("position_rms_m", "rotation_rms_rad")}}


def _card(name: str, value: str, unit: str, note: str, kind: str = "") -> dict[str, str]:
    return {"name": name, "value": value, "unit": unit, "note": note, "kind": kind}


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    level = EventLevel(event["level"]).name.lower() if event["level"] in set(EventLevel) else str(event["level"])
    text = event["text"].removeprefix(f"{event['kind']}: ")
    return {**event, "level": level, "kind": event["kind"] or level, "text": text}


def _pretty(value: Any) -> str:
    """Format a header value: files unchanged, also inside a table, the rest as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        files = {key: text for key, text in value.items() if isinstance(text, str) and "\n" in text}
        rest = {key: item for key, item in value.items() if key not in files}
        parts = [_dumped(rest)] if rest or not files else []
        return "\n\n".join([*parts, *(f"{key}:\n\n{text}" for key, text in files.items())])
    return _dumped(value)


def _dumped(value: Any) -> str:
    """Format as readable JSON, truncated if too long."""
    text = ""
    try:
        for piece in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
            text += piece
            if len(text) > _LONGEST_JSON:
                return f"{text[:_LONGEST_JSON]} …"
    except RecursionError:
        return "nested too deeply to be shown"
    return text

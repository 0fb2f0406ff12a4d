"""The report: one HTML file that needs nothing else."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rig.csvio import check_output, whole_file
from rig.recording import EventLevel, MotionPart, Recorded, caveats, imported_from, part_name
from rig.report.curves import Curves
from rig.report.pages import fixed, scripted_page
from rig.report.parallel_figures import figures
from rig.report.plots import LEG_COLORS
from rig.report.provenance import source_of
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
from rig.report.zoomable import curves_json
from rig.runtime import slowdown_text
from rig.states import FaultCode

_OVERRUNS = 0.01
"""Part of the cycles that may be skipped before the report's card turns amber."""
_LONGEST_JSON = 200_000
"""Characters of a header's value that are shown."""
_MOST_EVENTS = 5000
"""Events that are listed, the first ones."""
_MOST_MOTIONS = 500
"""Motions that are listed, the first ones."""
_NOISE_RATIO = 1.3
"""Residual over configured noise up to which model and measurement count as agreeing."""

_CAPTIONS = {
    "timeline": "State of the rig over the recording; above it triangles mark warnings and faults, strokes "
    "an operator's commands, diamonds what was injected into a virtual rig.",
    "forces": "Measured (solid) and modelled (dashed) force of every leg.",
    "residuals": "Measured minus modelled force; dashed: ± the load cells' configured noise (1 σ); as printed with its "
    "distribution.",
    "tracking": "Measured minus commanded position, rotation (in the platform's axes) and leg length, and how well "
    "conditioned the legs' matrix is along the way.",
    "pose": "Measured (solid) and commanded (dashed) pose of the platform in the base frame, R = Rz·Ry·Rx.",
    "terms": "Modelled actuator force of every leg by its cause.",
    "spectrum": "Left: spectral density of the residual; dashed: the cells' noise if it were white. Right: share of "
    "the measured force's power at each frequency that the model's goes with.",
    "dependence": "Mean of the residual over speed and acceleration of the leg; dashed: ± the load cells' configured "
    "noise (1 σ). A step at speed 0 or a slope on the left looks like friction, a slope on the right like mass.",
    "timing": "How punctual the cycles were, and what they spent their time on.",
}


_IN_POSITION_MODE = (
    " In position mode the drives close the loop and no force is commanded: the difference is that of machine and "
    "model along the motion as the drives follow it, with what their own loops add between two set-points."
)
_OWN_LOOPS = (
    " The drive of leg {} closes its own loop and no force is commanded there: in the difference is what that loop "
    "adds between two set-points, at the other legs what reaches them of it through the platform."
)


def _captions(header: Mapping[str, Any]) -> dict[str, str]:
    if imported_from(header) is not None:
        return _CAPTIONS
    config = header.get("config", {})
    legs = config.get("drives", {}).get("legs", [])
    own = [str(leg) for leg, drive in enumerate(legs, start=1) if drive.get("mode") == "position"]
    if config.get("mode") == "position":
        more = _IN_POSITION_MODE
    elif own:
        more = _OWN_LOOPS.format(", ".join(own))
    else:
        return _CAPTIONS
    return _CAPTIONS | {"residuals": _CAPTIONS["residuals"] + more}


def write_report(recording: Recorded, path: Path | str, *, summary: Mapping[str, Any]) -> None:
    """Write the report on a recording to an HTML file; `summary` is what `summarize` gave.

    The file appears whole or not at all, replaces one of the same name, and depends on the arguments alone.
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
    """The page as HTML.

    Args:
        recording: what it is about.
        summary: what `summarize` gave of it.
        images: figures by name, SVG documents.
        zoomable: what `curves_json` gave; None: nothing can be zoomed into.
    """
    return scripted_page(
        "report.html.j2",
        title=_title(recording, summary),
        origin=_origin(recording),
        virtual=bool(recording.header.get("virtual")),
        summary=summary,
        validation=_validation(summary),
        outlook=summary.get("identification"),
        provenance=_origins((summary.get("provenance") or source_of(recording)) | _since(recording, summary)),
        verdict=_verdict(recording, summary),
        caveats=caveats(recording),
        cards=_cards(summary),
        images={name: base64.b64encode(svg.encode()).decode() for name, svg in images.items()},
        captions=_captions(recording.header),
        zoomable=zoomable,
        model_text=model_text,
        probability_text=probability_text,
        in_unit=in_unit,
        motions=[_motion(motion, _said_of(summary, motion["id"])) for motion in summary["motions"][:_MOST_MOTIONS]],
        colors=LEG_COLORS,
        events=[_event(event) for event in summary["events"][:_MOST_EVENTS]],
        header=[(key, _pretty(value)) for key, value in sorted(recording.header.items())],
        closing=_pretty(recording.closing),
    )


KINDS = {"pass": "good", "fail": "bad", "undecided": "warn", "expected": "meant", None: "neutral"}
"""How a verdict is shown."""


def _validation(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """A validation as the page shows it; None of a summary without."""
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


def _origins(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Provenance as lines of a table, without what is not known."""
    return [(key.replace("_", " "), _pretty(value)) for key, value in found.items() if value not in (None, [], {})]


def _said_of(summary: Mapping[str, Any], motion: int) -> Mapping[str, Any]:
    """What people said of a run since: `name`, `note`, `starred`; of some nothing."""
    found: Mapping[str, Any] = summary.get("said", {}).get(str(motion), {})
    return found


def _title(recording: Recorded, summary: Mapping[str, Any]) -> str:
    """Name of the configuration; of a report on one motion its name, as somebody called it, before that."""
    rig = str(recording.header.get("config", {}).get("name", recording.path.stem))
    return f"{run_name(recording, summary)} · {rig}" if isinstance(recording, MotionPart) else rig


def run_name(recording: Recorded, summary: Mapping[str, Any]) -> str:
    """Name of one motion as somebody called it, or as it is called; of a whole recording that of its file."""
    if not isinstance(recording, MotionPart):
        return recording.path.name
    motion = recording.motion
    return _said_of(summary, motion.id).get("name") or motion.name or part_name(recording.path.name, motion.id)


def _since(recording: Recorded, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Of a report on one motion: which it is, and its note, which goes before the recording's."""
    if not isinstance(recording, MotionPart):
        return {}
    note = _said_of(summary, recording.motion.id).get("note")
    return {"motion": recording.motion.id} | ({} if note is None else {"note": note})


def _origin(recording: Recorded) -> str:
    """Where and when the recording was made, as far as its header says."""
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
    """Kind (good, neutral, warn, bad) and sentence."""
    if recording.doubts:
        return "bad", "The recording is damaged: what it says may be wrong or incomplete"
    motion = summary["motion"]
    if motion is not None and motion["cause"]:
        asked = motion["cause_code"] == FaultCode.OPERATOR_STOP.name
        return "warn" if asked else "bad", f"The motion {motion['name']!r} was stopped: {motion['cause']}"
    if summary["faults"]:
        fault = summary["faults"][0]
        at = f"at {fault['t_s']:.3f} s: {fault['cause']}"
        if motion is not None and motion["outcome"] == "finished" and fault["t_s"] < motion["end_s"]:
            return "warn", f"The motion {motion['name']!r} ran to its end; before that the rig stopped {at}"
        return "warn" if fault["fault"] == FaultCode.OPERATOR_STOP.name else "bad", f"Stopped {at}"
    if recording.underway:
        return "warn", "No fault so far; the recording goes on: this covers what has reached the disk"
    if not recording.complete:
        return "warn", "No fault, but the recording was cut off: it covers what reached the disk"
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
    return "neutral", f"No fault, but the motion did not come to its end: it reached {place} s of its path"


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


def _motion(motion: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """A motion as its line in the table shows it, with what was said of it since."""
    legs = motion["force"]["legs"] if motion["force"] else []
    worst = {
        key: max((leg[key] for leg in legs if leg[key] is not None), default=None)
        for key in ("rms_residual_n", "peak_residual_n", "peak_measured_n")
    }
    tracking = motion["tracking"] or {"position_rms_m": None, "rotation_rms_rad": None}
    since = {
        "name": f"{said['name']} ({motion['name']})" if said.get("name") else motion["name"],
        "note": said.get("note") or "",
    }
    return {**motion, **since, **worst, **{key: tracking[key] for key in ("position_rms_m", "rotation_rms_rad")}}


def _card(name: str, value: str, unit: str, note: str, kind: str = "") -> dict[str, str]:
    return {"name": name, "value": value, "unit": unit, "note": note, "kind": kind}


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    level = EventLevel(event["level"]).name.lower() if event["level"] in set(EventLevel) else str(event["level"])
    text = event["text"].removeprefix(f"{event['kind']}: ")
    return {**event, "level": level, "kind": event["kind"] or level, "text": text}


def _pretty(value: Any) -> str:
    """Text of a header's value: files as they are, also inside a table, the rest as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        files = {key: text for key, text in value.items() if isinstance(text, str) and "\n" in text}
        rest = {key: item for key, item in value.items() if key not in files}
        parts = [_dumped(rest)] if rest or not files else []
        return "\n\n".join([*parts, *(f"{key}:\n\n{text}" for key, text in files.items())])
    return _dumped(value)


def _dumped(value: Any) -> str:
    """JSON for a person; where it is longer than anybody reads, its beginning."""
    text = ""
    try:
        for piece in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
            text += piece
            if len(text) > _LONGEST_JSON:
                return f"{text[:_LONGEST_JSON]} …"
    except RecursionError:
        return "nested too deep to be shown"
    return text

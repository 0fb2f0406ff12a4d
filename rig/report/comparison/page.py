"""The comparison of several runs as an HTML page or a PDF file."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from rig.csvio import check_output, whole_file
from rig.recording import MotionPart, Recorded, part_name
from rig.report.comparison.differences import compared
from rig.report.comparison.overlay import PLOTS, Overlay
from rig.report.figures import STYLE
from rig.report.html import KINDS, run_name
from rig.report.pages import fixed, scripted_page, styled, svg_text
from rig.report.text_summary import verdict_text

COLORS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB", "#1D242B")
"""Colours of the runs: Paul Tol's bright palette, distinct from the legs' colours."""
_MAX_NAME = 60  # characters of a name in a column head
_CAPTIONS = {
    "forces": "Measured force of every leg.",
    "residuals": "Measured minus modelled force of every leg.",
    "tracking": "Distance and angle between measured and commanded pose, and the length error of the worst leg.",
}
_NUMBERS: tuple[tuple[str, str, str, float, int], ...] = (
    ("Residual, RMS of all legs", "N", "rms_n", 1.0, 3),
    ("Bias, worst leg", "N", "bias_n", 1.0, 3),
    ("R²", "", "r_squared", 1.0, 4),
    ("Inside the band", "%", "inside_band", 1e2, 1),
    ("Lag beyond the hold", "ms", "lag_beyond_hold_s", 1e3, 3),
)
"""Caption, unit, key of `compared`, factor from SI to the unit, decimals."""


def write_comparison(recordings: Sequence[Recorded], path: Path, *, summaries: Sequence[Mapping[str, Any]]) -> None:
    """Write the comparison of several runs to a self-contained HTML file, atomically.

    Args:
        recordings: the runs, two to `MAX_COMPARED`; the first is the reference.
        path: path of the file.
        summaries: result of `summarize` for each, with `validation`, `provenance` and `paths`.

    Raises:
        InputError: the file cannot be written.
        RecordingError: a file changed meanwhile.
    """
    check_output(path)
    overlay = _overlay(recordings, summaries)
    images = {}
    for name, figure in _figures(overlay):
        images[name] = svg_text(figure)
    with whole_file(path) as file:
        file.write(_page(recordings, summaries, images, overlay.json))


def write_comparison_pdf(recordings: Sequence[Recorded], path: Path, *, summaries: Sequence[Mapping[str, Any]]) -> None:
    """Write the comparison as a PDF file, see `write_pdf`."""
    from rig.report.pdf import write_document  # loads reportlab, which pages do not need

    overlay = _overlay(recordings, summaries)
    page = _page(recordings, summaries, dict.fromkeys(PLOTS, ""), None)
    foot = ", ".join(_names(recordings, summaries))
    write_document(path, page, _figures(overlay), title=f"{len(recordings)} runs side by side", foot=foot)


def _overlay(recordings: Sequence[Recorded], summaries: Sequence[Mapping[str, Any]]) -> Overlay:
    names = _names(recordings, summaries)
    return Overlay(recordings, summaries, names, COLORS[: len(names)])


def _names(recordings: Sequence[Recorded], summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the runs; equal names get their folder added."""
    names = [_shortened(run_name(*one)) for one in zip(recordings, summaries, strict=True)]
    return [
        f"{name} ({_file(recording)})" if names.count(name) > 1 and name != _file(recording) else name
        for name, recording in zip(names, recordings, strict=True)
    ]


def _shortened(name: str) -> str:
    text = name.encode(errors="replace").decode()  # a file name may not be valid Unicode
    return text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 1]}…"


def _file(recording: Recorded) -> str:
    name = recording.path.name
    return part_name(name, recording.motion.id) if isinstance(recording, MotionPart) else name


def _figures(overlay: Overlay) -> Iterator[tuple[str, Figure]]:
    for name in PLOTS:
        with styled(STYLE):
            yield name, overlay.figure(name)


def _page(
    recordings: Sequence[Recorded], summaries: Sequence[Mapping[str, Any]], images: Mapping[str, str], json: str | None
) -> str:
    entries = compared(summaries)
    verdicts = [summary["validation"] for summary in summaries]
    return scripted_page(
        "beside.html.j2",
        runs=[
            _run(*one)
            for one in zip(recordings, summaries, entries, _names(recordings, summaries), COLORS, strict=False)
        ],
        numbers=[*_estimates(entries), *_counts(summaries)],
        criteria=_criteria(verdicts),
        legs=[
            (leg, [(one["force"]["legs"][leg]["rms_residual_n"], one["force"]["legs"][leg]["peak_measured_n"])
                   for one in summaries])
            for leg in range(6)
        ],
        images={name: base64.b64encode(svg.encode()).decode() for name, svg in images.items()},
        captions=_CAPTIONS,
        zoomable=json,
    )  # fmt: skip


def _run(
    recording: Recorded, summary: Mapping[str, Any], entry: Mapping[str, Any], name: str, color: str
) -> dict[str, Any]:
    """Return the origin of a run for its column."""
    origin, motion = summary["provenance"], summary["motion"]
    labels = (
        summary.get("annotations", {}).get(str(recording.motion.id), {}) if isinstance(recording, MotionPart) else {}
    )
    validation = summary["validation"]
    faults = [fault["fault"].replace("_", " ").lower() for fault in summary["faults"][:1]]
    return {
        "color": color,
        "name": name,
        "file": _file(recording),
        "kind": KINDS[validation["verdict"]],
        "verdict": verdict_text(validation),
        "same": [key for key in ("config", "mechanism") if not entry[f"same_{key}"]],
        "lines": [
            ("Recorded", origin["recorded"] or "on a simulated clock"),
            ("Rig", ("virtual: " if origin["virtual"] else "") + str(origin["config"] or "–")),
            ("Mechanism", str(origin["mechanism"] or "–")),
            ("Operator", str(origin["operator"] or "–")),
            ("Note", str(labels.get("note") or origin["note"] or "–")),
            ("Covers", summary["window"]["covers"]),
            ("Outcome", "–" if motion is None else motion["outcome"] + "".join(f": {fault}" for fault in faults)),
            ("Amplitude", "–" if motion is None or motion["amplitude"] is None else f"{100 * motion['amplitude']:g} %"),
            ("Speed", "–" if summary["window"]["speed"] is None else f"{100 * summary['window']['speed']:.0f} %"),
            ("sha256", str(origin["sha256"] or "–")),
        ],
    }


def _estimates(entries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """Yield rows of uncertain numbers: caption, and for each run its text and whether it differs from the first."""
    for caption, unit, key, scale, digits in _NUMBERS:
        cells = []
        for place, entry in enumerate(entries):
            number = entry[key]
            text = fixed(number["value"], digits, scale)
            if number["sigma"] is not None and number["value"] is not None:
                text += f" ± {fixed(number['sigma'], digits, scale)}"
            if place and number["difference"] is not None:
                text += f" ({scale * number['difference']:+.{digits}f}{'*' if number['differs'] else ''})"
            cells.append((text, bool(number["differs"])))
        yield f"{caption}, {unit}".rstrip(", "), cells


def _counts(summaries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """Yield rows of exact numbers, in the form of `_estimates`; none of them differs significantly."""

    def row(caption: str, values: Sequence[float | None], digits: int, scale: float = 1.0) -> Any:
        first, cells = values[0], []
        for place, value in enumerate(values):
            text = fixed(value, digits, scale)
            if place and value is not None and first is not None:
                text += f" ({scale * (value - first):+.{digits}f})"
            cells.append((text, False))
        return caption, cells

    tracking = [one["tracking"] for one in summaries]
    yield row("Position, RMS, µm", [one["position_rms_m"] for one in tracking], 1, 1e6)
    yield row("Position, largest, µm", [one["position_max_m"] for one in tracking], 1, 1e6)
    yield row("Rotation, RMS, µrad", [one["rotation_rms_rad"] for one in tracking], 1, 1e6)
    yield row("Rotation, largest, µrad", [one["rotation_max_rad"] for one in tracking], 1, 1e6)
    yield row("Peak force, N", [_peak(one, "peak_measured_n") for one in summaries], 1)
    yield row("Peak residual, N", [_peak(one, "peak_residual_n") for one in summaries], 2)
    yield row("Period error, 99 %, µs", [one["window"]["period_error_p99_s"] for one in summaries], 0, 1e6)
    yield row("Cycles skipped", [one["window"]["overruns"] for one in summaries], 0)
    yield row("Cycles", [one["window"]["rows"] for one in summaries], 0)
    yield row("Condition number, largest", [one["condition"]["max"] for one in summaries], 1)


def _peak(summary: Mapping[str, Any], key: str) -> float | None:
    return max((leg[key] for leg in summary["force"]["legs"] if leg[key] is not None), default=None)


def _criteria(verdicts: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return thresholds by name, with each run's verdict and reason; a dash where it is not judged by one."""
    by_name = [{one["name"]: one for one in verdict["criteria"]} for verdict in verdicts]
    names = list(dict.fromkeys(name for found in by_name for name in found))
    return [
        (name, [(one[name]["verdict"], one[name]["why"]) if name in one else ("–", "") for one in by_name])
        for name in names
    ]

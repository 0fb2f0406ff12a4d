"""The plots that a report's page draws itself: what it is told to draw, that nothing gets out of it, and its script."""

import base64
import hashlib
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PyQt5 import QtCore, QtQml
from synthetic_rows import make_header, make_rows

from rig.recording import Recording
from rig.report import summarize, write_report
from rig.report.figures import Curves, figure_names, figure_pages
from rig.report.html import MISSING, ONE_SCALE, curves_json

RATE = 500.0
HOSTILE = "</script><script>alert(1)</script>\u2028"


def recorded(seconds: float) -> Recording:
    rows = make_rows(seconds, RATE)
    rows["force_measured"][700, 2] = np.nan
    return Recording(Path("run.mcap"), make_header(RATE), rows, (), 0, complete=True, closing={})


@pytest.mark.parametrize("seconds", [1.5, 12.0], ids=["every cycle", "stretches"])
def test_curves_hold_what_was_recorded(seconds: float) -> None:
    recording = recorded(seconds)
    summary = summarize(recording)
    text = curves_json(Curves(recording, summary), summary, ("forces", "timing"))
    assert text is not None and len(text) < 400_000
    data = json.loads(text)
    assert list(data["plots"]) == ["forces", "timing"]
    first, count = summary["powered"]["first_row"], summary["powered"]["rows"]
    rows = recording.rows[first : first + count]
    times = data["times"]["powered"]
    for leg, panel in enumerate(data["plots"]["forces"]["panels"]):
        curve = panel["curves"][0]
        values = np.frombuffer(base64.b64decode(curve["values"]), "<u2")
        assert len(values) == curve["per"] * len(times)
        assert ((values == MISSING).sum() > 0) == (curve["per"] == 1 and leg == 2 and first <= 700 < first + count)
        known = np.where(values == MISSING, np.nan, curve["low"] + values * (curve["high"] - curve["low"]) / 65534)
        measured, step = rows["force_measured"][:, leg], (curve["high"] - curve["low"]) / 65534
        if curve["per"] == 1:
            np.testing.assert_allclose(known, measured, atol=step)
            continue
        low, high = known[::2], known[1::2]
        stretch = np.searchsorted(times, rows["t"] + 1e-6, "right") - 1
        there = np.isfinite(measured)
        assert (measured >= low[stretch] - step)[there].all() and (measured <= high[stretch] + step)[there].all()
        assert np.nanmax(measured) == pytest.approx(np.nanmax(high), abs=step)  # no peak is lost


def test_no_name_gets_out_of_the_page_and_its_own_script_alone_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rig.report.html.figures", lambda *_: {"terms": "<svg></svg>"})
    monkeypatch.setattr("rig.report.html.TERMS", (HOSTILE, "b", "c", "d", "e"))
    recording = recorded(2.0)
    header = recording.header | {"config": recording.header["config"] | {"name": HOSTILE}}
    recording = Recording(recording.path, header, recording.rows, (), 0, complete=True, closing={})
    write_report(recording, tmp_path / "page.html", summary=summarize(recording))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    told, script = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert json.loads(told)["plots"]["terms"]["panels"][0]["curves"][0]["name"] == HOSTILE
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert "http" not in policy


def _values(curve: dict[str, Any]) -> Any:
    whole = np.frombuffer(base64.b64decode(curve["values"]), "<u2")
    return np.where(whole == MISSING, np.nan, curve["low"] + whole * (curve["high"] - curve["low"]) / (MISSING - 1))


def test_spectrum_and_what_the_residual_goes_with_are_read_out_too() -> None:
    recording = recorded(6.0)
    summary = summarize(recording)
    at: dict[str, Any] = {"leg": 1, "at": [-0.2, 0.0, 0.1], "mean_n": [-1.0, 0.0, 3.0], "spread_n": [0.1] * 3}
    other = {"leg": 4, "at": [0.0, 0.3], "mean_n": [2.0, 2.0], "spread_n": [0.1] * 2}
    spectrum = {
        "frequency_hz": [1.0, 10.0, 100.0],
        "coherence_level": [0.3, 0.2, 0.1],
        "legs": [
            {"leg": leg, "residual_n2_per_hz": [1.0, 0.1, 0.01 * leg], "coherence": [0.9, None, 0.1]}
            for leg in range(1, 7)
        ],
    }
    over = {"legs": [at, other, *({"leg": leg, "at": [], "mean_n": [], "spread_n": []} for leg in (2, 3, 5, 6))]}
    summary["validation"] = {"spectrum": spectrum, "dependence": {"speed": over, "acceleration": over}}
    text = curves_json(Curves(recording, summary), summary, ("forces", "spectrum", "dependence"))
    data = json.loads(text or "")
    assert data["times"]["frequency"] == pytest.approx([0.0, 1.0, 2.0])
    density, coherence = data["plots"]["spectrum"]["panels"]
    assert density["axis"] == {"unit": "Hz", "log": True} and density["times"] == "frequency"
    assert _values(density["curves"][1]) == pytest.approx([0.0, -10.0, 10.0 * np.log10(0.02)], abs=1e-3)
    assert density["levels"] == pytest.approx([10.0 * np.log10(2 * 0.5**2 / RATE)])
    assert np.isnan(_values(coherence["curves"][0])[1]) and coherence["curves"][-1]["dash"]
    speed, _acceleration = data["plots"]["dependence"]["panels"]
    grid = np.array(data["times"]["speed"])
    assert (grid[0], grid[-1]) == (-0.2, 0.3) and [one["name"] for one in speed["curves"]] == ["1", "4"]
    first = _values(speed["curves"][0])
    assert np.isnan(first[grid > 0.1001]).all()
    np.testing.assert_allclose(first[grid <= 0.1], np.interp(grid[grid <= 0.1], at["at"], at["mean_n"]), atol=1e-3)
    assert speed["levels"] == [-0.5, 0.0, 0.5] and "axis" not in data["plots"]["forces"]["panels"][0]


def test_there_is_nothing_to_zoom_where_times_do_not_grow() -> None:
    recording = recorded(1.5)
    recording.rows["t"][:] = 1.0
    summary = summarize(recording)
    assert curves_json(Curves(recording, summary), summary, ("forces", "timing")) is None


EXPRESSIONS: list[tuple[str, Any]] = [
    ("decoded('\\x00\\x00\\xfe\\xff\\xff\\xff\\xff\\x7f', -1, 1)", [-1, 1, None, pytest.approx(0.0, abs=2e-5)]),
    ("indexAt([0, 1, 2], 1.5)", 1),
    ("indexAt([0, 1, 2], 1)", 1),
    ("indexAt([0, 1, 2], -3)", 0),
    ("indexAt([0, 1, 2], 9)", 2),
    ("extent([1, 2, NaN, NaN, 5, 0], 2, 0, 2)", [0, 5]),
    ("extent([1, 2, NaN, NaN, 5, 0], 2, 1, 1)", None),
    ("padded(3, 3)", [pytest.approx(2.7), pytest.approx(3.3)]),
    ("padded(0, 0)", [-1, 1]),
    ("ticks(-0.13, 0.31, 4)", pytest.approx([0.0, 0.2])),
    ("ticks(0, 10, 5)", pytest.approx([0, 2, 4, 6, 8, 10])),
    ("ticks(1, 1, 5)", []),
    ("[tickText(0.25, 0.05), tickText(3, 1), tickText(200, 100), tickText(1e-17, 1)]", ["0.25", "3", "200", "0"]),
    ("reading([1, 2, 3, 3], 2, 0)", "1.000 … 2.000"),
    ("reading([1, 2, 3, 3], 2, 1)", "3.000"),
    ("reading([NaN], 1, 0)", "–"),
    ("zoomed([0, 10], [0, 10], 2, 0.5)", [1, 6]),
    ("logTicks(0, 1.1, 4)", pytest.approx([0.0, 0.30103, 0.69897, 1.0], abs=1e-5)),
    ("logTicks(0.1, 0.2, 4).length > 1", True),
    ("[plainly(0.1 + 0.2), plainly(1234567), plainly(0)]", ["0.3", "1230000", "0"]),
    ("[placeText(null, 1.23456), placeText({unit: 'Hz', log: true}, 2)]", ["1.235 s", "100 Hz"]),
    ("placeText({unit: 'm/s', log: false}, 0.0521)", "0.0521 m/s"),
    ("zoomed([1, 6], [0, 10], 2, 2.5)", None),
    ("zoomed([8, 10], [0, 10], 10, 2)", [6, 10]),
    ("within([-2, 1], [0, 10])", [0, 3]),
    ("within([9, 12], [0, 10])", [7, 10]),
]


_TWO = (
    "{times: [0, 1, 2], whole: [0, 2], levels: [], curves: [{per: 1, values: [0, 1, 2]}]},"
    "{times: [0, 1, 2], whole: [0, 2], levels: [], curves: [{per: 1, values: [-8, 0, 2]}]}"
)
_HEIGHTS = (
    "((page, own) => {{ own.forEach((one) => {{ one.alike = {alike}; }}); "
    "return own.map((one) => heightsOf(page, one)); }})"
)
EXPRESSIONS += [
    (f"{_HEIGHTS.format(alike='own')}({{view: null}}, [{_TWO}])", [pytest.approx([-8.5, 2.5], abs=0.5)] * 2),
    (f"{_HEIGHTS.format(alike='[one]')}({{view: null}}, [{_TWO}])[0]", pytest.approx([0.0, 2.0], abs=0.2)),
    (f"{_HEIGHTS.format(alike='own')}({{view: [1, 2]}}, [{_TWO}])", [pytest.approx([0.0, 2.0], abs=0.2)] * 2),
]


def test_forces_of_the_legs_have_one_scale() -> None:
    recording = recorded(1.5)
    recording.rows["force_measured"][:, 4] *= 3.0
    summary = summarize(recording)
    curves = Curves(recording, summary)
    text = curves_json(curves, summary, ("forces", "residuals", "terms", "pose"))
    assert text is not None
    scales = {name: plot["one_scale"] for name, plot in json.loads(text)["plots"].items()}
    assert scales == {"forces": True, "residuals": True, "terms": True, "pose": False}
    for name, figure in zip(figure_names(summary), figure_pages(curves, summary), strict=True):
        legs = [axes for axes in figure.axes if re.fullmatch(r"Leg \d", axes.get_title("left"))]
        if name in ONE_SCALE:
            assert len(legs) == 6 and len({axes.get_ylim() for axes in legs}) == 1, name


def test_the_script_by_its_functions() -> None:
    owner = QtCore.QCoreApplication.instance() or QtCore.QCoreApplication([])
    engine = QtQml.QJSEngine(owner)
    script = (resources.files("rig.report") / "templates" / "zoom.js").read_text(encoding="utf-8")
    loaded = engine.evaluate(script, "zoom.js")
    assert not loaded.isError(), loaded.toString()
    for expression, wanted in EXPRESSIONS:
        found = engine.evaluate(f"JSON.stringify({expression})")
        assert not found.isError(), found.toString()
        assert json.loads(found.toString()) == wanted, expression

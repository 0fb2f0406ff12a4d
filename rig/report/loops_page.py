"""The page on a comparison of controllers: one self-contained HTML file in the form of the report on a recording."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from rig.csvio import check_output, whole_file
from rig.report.figures import LEG_COLORS, STYLE, LoopTrace, largest
from rig.report.pages import TITLE, page_environment, panelled, styled, svg_text
from rig.version import __version__

_POINTS = 500  # of a curve, the largest of each interval
_PANEL = 1.9  # inches
_FLOOR = 1e-5  # mm, mrad: lower end of the logarithmic axes
_SAME = 1e-6  # relative difference of two equal frequencies
_TASK, _LEGS = "computed-torque", "force"
_QUANTITIES = (
    ("position", "Position", "RMS of the platform's distance from its reference, mm", "position_rms_mm"),
    ("rotation", "Rotation", "RMS of the platform's angle from its reference, mrad", "rotation_rms_mrad"),
)
_WITHOUT_MODEL = "pd"
_EQUAL = {"slowest": "slowest direction", "margin": "gain margin"}


def write_loops_page(summary: Mapping[str, Any], traces: Sequence[LoopTrace], path: Path) -> None:
    """Write the page on a comparison; it appears only when complete, and replaces one of the same name.

    summary: the comparison as a JSON object, see `rig.services.LoopsResult`. traces: of its runs, in their order.
    Raises InputError if it cannot be written.
    """
    check_output(path)
    text = render(summary, traces)
    with whole_file(path) as file:
        file.write(text)


def render(summary: Mapping[str, Any], traces: Sequence[LoopTrace]) -> str:
    """The page as text."""
    laws = [loop["controller"] for loop in summary["bandwidths"]]
    shown = [trace for trace in traces if trace.controller in laws]
    picture = None
    if shown:
        with styled(STYLE):
            picture = svg_text(errors_figure(shown))
    environment = page_environment("rig.report")
    environment.filters["rounded"] = _rounded
    compared = Compared(summary, traces)
    return environment.get_template("loops.html.j2").render(
        summary=summary,
        compared=compared,
        picture=picture,
        quantities=_QUANTITIES,
        name=Path(summary["config"]).name,
        rows=[_gains(loop) for loop in summary["bandwidths"]],
        version=__version__,
    )


class Compared:
    """What the numbers of a comparison mean: all sentences of the page that depend on them."""

    def __init__(self, summary: Mapping[str, Any], traces: Sequence[LoopTrace]) -> None:
        self._loops = {loop["controller"]: loop for loop in summary["bandwidths"]}
        self._equal_loops = summary["equal_loops"]
        self.laws = list(dict.fromkeys(run["controller"] for run in summary["runs"]))
        self.plants = list(dict.fromkeys(run["plant"] for run in summary["runs"]))
        self.runs = {(run["controller"], run["plant"]): run for run in summary["runs"]}
        named = [(trace.plant, trace.mujoco) for trace in traces]
        of_plant = dict(zip((run["plant"] for run in summary["runs"]), named, strict=True))
        self.exact = [plant for plant in self.plants if not of_plant[plant][1]]
        self._pairs = [
            (exact, mujoco)
            for exact in self.exact
            for mujoco in self.plants
            if of_plant[mujoco] == (of_plant[exact][0], True)
        ]
        self.nominal, self.wrong = self.exact[0], self.exact[1:]
        self._closed = [law for law in self.laws if law in self._loops and not self._ended(law)]

    def _ended(self, law: str) -> bool:
        return any(self.runs[law, plant]["end"] for plant in self.plants)

    def _error(self, law: str, plant: str) -> float:
        return float(self.runs[law, plant]["position_rms_mm"])

    @property
    def open(self) -> bool:
        """Whether a law is compared that closes no loop."""
        return not set(self.laws) <= self._loops.keys()

    def worst(self, law: str) -> float:
        """Largest position RMS of a law on the plants with other masses, mm; on the first one if there are none."""
        return max(self._error(law, plant) for plant in self.wrong or [self.nominal])

    @property
    def alike(self) -> bool:
        """Whether all laws have one natural frequency in their fastest direction."""
        fastest = [loop["fastest_hz"] for loop in self._loops.values()]
        return max(fastest, default=0.0) <= (1.0 + _SAME) * min(fastest, default=0.0)

    @property
    def verdict(self) -> tuple[str, str]:
        """Whether the laws have one bandwidth, as text, and its kind; no text where there are not two."""
        if len(self._loops) < 2:
            return "", "neutral"
        return ("at the same bandwidth", "good") if self.alike else ("not at the same bandwidth", "warn")

    @property
    def bandwidths(self) -> str:
        """What the laws have alike, with numbers."""
        fastest = [loop["fastest_hz"] for loop in self._loops.values()]
        if not fastest:
            return "No law closes a loop."
        if len(fastest) == 1:
            return "One law closes a loop: nothing is made equal."
        if self.alike:
            return (
                f"Every law has a natural frequency of {fastest[0]:.3g} Hz in its fastest direction at home. None is "
                "behind another because lower gains were chosen for it; what is left between them is the form of the "
                f"law, and its damping ratio, which is that of the configuration{self._ratios()}."
            )
        return (
            f"The laws have natural frequencies of {min(fastest):.3g} to {max(fastest):.3g} Hz in their fastest "
            "directions: a law may be ahead only because its gains are larger. One bandwidth for all is --bandwidth."
        )

    def _ratios(self) -> str:
        ratios = [loop["damping_ratio"] for loop in self._loops.values() if loop["damping_ratio"] is not None]
        return f" ({min(ratios):.3g} to {max(ratios):.3g} in the fastest direction)" if ratios else ""

    @property
    def cards(self) -> list[dict[str, str]]:
        """Cards at the head of the page."""
        fastest = [loop["fastest_hz"] for loop in self._loops.values()]
        cards = []
        if fastest:
            span = f"{fastest[0]:.3g}" if self.alike else f"{min(fastest):.3g} to {max(fastest):.3g}"
            note = "natural frequency" if len(fastest) == 1 else self.verdict[0]
            cards.append(_card("Fastest direction", span, "Hz", note, self.verdict[1]))
        off = "other masses, worst plant" if self.wrong else self.nominal
        if self._closed:
            best = min(self._closed, key=self.worst)
            cards.append(_card(f"Least error: {best}", f"{self.worst(best):.3g}", "mm RMS", off))
        for law, other in ((_TASK, _LEGS), (_LEGS, _TASK)):
            if {law, other} <= set(self._closed):
                margin = self._loops[law]["gain_margin"]
                note = off if margin is None else f"{off}; gain margin {margin:.3g}"
                cards.append(_card(law, f"{self.worst(law):.3g}", "mm RMS", note))
        return cards

    @property
    def meaning(self) -> list[str]:
        """What the differences mean, in sentences."""
        texts = (self._modelled(), self._masses(), self._directions(), self._mujoco())
        return [text.strip() for text in texts if text]

    def _modelled(self) -> str:
        modelled = [law for law in self._closed if law != _WITHOUT_MODEL]
        texts = []
        if modelled:
            most = max(self._error(law, self.nominal) for law in modelled)
            verb = "stays" if len(modelled) == 1 else "stay"
            texts.append(
                f"{self.nominal.capitalize()}, {_listed(modelled)} {verb} within {most:.3g} mm (RMS) of the reference."
            )
        if _WITHOUT_MODEL in self._closed:
            left = self._error(_WITHOUT_MODEL, self.nominal)
            texts.append(f"{_WITHOUT_MODEL}, which has no model, is {left:.3g} mm off.")
        return " ".join(texts)

    def _masses(self) -> str:
        if not self.wrong or not self._closed:
            return ""
        ranked = ", ".join(f"{law} {self.worst(law):.3g} mm" for law in sorted(self._closed, key=self.worst))
        return f"With other masses ({', '.join(self.wrong)}) the worst plant leaves, position RMS: {ranked}."

    def _directions(self) -> str:
        if not {_TASK, _LEGS} <= set(self._closed):
            return ""
        task, legs = self._loops[_TASK], self._loops[_LEGS]
        ratio = self.worst(_TASK) / self.worst(_LEGS)
        text = f"The error of {_TASK} is {ratio:.2g} times that of {_LEGS}."
        if self.alike and legs["slowest_hz"] < (1.0 - _SAME) * task["slowest_hz"]:
            text += (
                f" {_LEGS} has the common frequency in its fastest direction only, and {legs['slowest_hz']:.3g} Hz in "
                f"its slowest; {_TASK} has at least {task['slowest_hz']:.3g} Hz in all. A wrong mass leaves the more, "
                "the lower the frequency is in the direction in which it pushes."
            )
        return text

    def _order(self, plant: str) -> list[str]:
        return sorted(self._closed, key=lambda law: self._error(law, plant))

    def _mujoco(self) -> str:
        if not self._pairs or not self._closed:
            return ""
        text = ""
        off = [(exact, mujoco) for exact, mujoco in self._pairs if exact != self.nominal]
        if off:
            most = max(abs(self._error(law, b) / self._error(law, a) - 1.0) for law in self._closed for a, b in off)
            same = all(self._order(a) == self._order(b) for a, b in off)
            text = (
                f"On plants that MuJoCo moves the errors with other masses differ by at most {100.0 * most:.2g} %, and "
                f"the order of the laws is {'the same' if same else 'another'}. "
            )
        nominal = [pair for pair in self._pairs if pair[0] == self.nominal]
        left = max(self._error(law, b) - self._error(law, a) for law in self._closed for a, b in nominal)
        return text + (
            f"{self.nominal.capitalize()}, MuJoCo's plant adds up to {max(left, 0.0):.2g} mm; its friction has another "
            "shape where legs turn round."
        )

    @property
    def otherwise(self) -> list[str]:
        """What could have come out otherwise, in sentences."""
        texts = [self.bandwidths]
        if self._equal_loops and {_TASK, _LEGS} <= set(self._closed):
            other = self.worst(_LEGS)
            ahead = {self.worst(_TASK) < other, *(_worst(each) < other for each in self._equal_loops)}
            texts.append(
                f"Which of {_TASK} and {_LEGS} is ahead depends on what is made equal, as further runs show: the order "
                "does not follow from the laws' form alone."
                if len(ahead) == 2
                else f"{_TASK if True in ahead else _LEGS} is ahead by every definition of the same bandwidth tried."
            )
            for each in self._equal_loops:
                place = "ahead of" if _worst(each) < other else "behind"
                texts.append(
                    f"At the same {_EQUAL[each['equal']]} {_TASK} has {each['bandwidth']['fastest_hz']:.3g} Hz. It is "
                    f"{_worst(each):.3g} mm off, and {_LEGS} {other:.3g} mm: it is {place} {_LEGS}."
                )
        return texts

    @property
    def equalities(self) -> list[dict[str, Any]]:
        """Rows of the table of what may be made equal: `equal`, `slowest_hz`, `fastest_hz`, `gain_margin`, `errors`."""
        if not self._equal_loops:
            return []

        def row(equal: str, loop: Mapping[str, Any], errors: list[float]) -> dict[str, Any]:
            return {"equal": equal, "errors": errors} | {
                name: loop[name] for name in ("slowest_hz", "fastest_hz", "gain_margin")
            }

        def own(law: str) -> list[float]:
            return [self._error(law, plant) for plant in self.exact]

        return [
            row(_LEGS, self._loops[_LEGS], own(_LEGS)),
            row(f"{_TASK}, same fastest direction", self._loops[_TASK], own(_TASK)),
            *(
                row(
                    f"{_TASK}, same {_EQUAL[each['equal']]}",
                    each["bandwidth"],
                    [run["position_rms_mm"] for run in each["runs"]],
                )
                for each in self._equal_loops
            ),
        ]

    @property
    def remarks(self) -> list[str]:
        """Runs that ended early, at bounded forces or at an end stop."""
        texts = []
        lost = [law for law in self.laws if all(self.runs[law, plant]["end"] for plant in self.plants)]
        texts += [f"{law}: ended on every plant; {self.nominal}: {self.runs[law, self.nominal]['end']}" for law in lost]
        for (law, plant), run in self.runs.items():
            if law in lost:
                continue
            name, bounded = f"{law}, {plant}", 100.0 * max(run["saturated_share"])
            if run["end"]:
                texts.append(f"{name}: ended, {run['end']}")
            if run["legs_at_stop"]:
                texts.append(f"{name}: end stop reached, leg {', '.join(map(str, run['legs_at_stop']))}")
            if bounded > 0.0:
                texts.append(f"{name}: force bounded in up to {bounded:.2g} % of the cycles; a rig stops")
        return texts


def _worst(equal_loop: Mapping[str, Any]) -> float:
    """Largest position RMS of such a loop, as `Compared.worst`, mm."""
    return max(float(run["position_rms_mm"]) for run in equal_loop["runs"][1:] or equal_loop["runs"])


def errors_figure(traces: Sequence[LoopTrace]) -> Figure:
    """Position and rotation errors over time: a row for each plant; solid the exact equations, dashed MuJoCo's."""
    plants = list(dict.fromkeys(trace.plant for trace in traces))
    laws = list(dict.fromkeys(trace.controller for trace in traces))
    rows = len(plants)
    figure = panelled(rows * (_PANEL + TITLE) + 0.5, rows, above=TITLE + 0.25)
    panels = figure.subplots(rows, 2, sharex=True, squeeze=False)
    for row, plant in zip(panels, plants, strict=True):
        for axes, title, unit in zip(row, ("position", "rotation"), ("mm", "mrad"), strict=True):
            axes.set_title(f"{plant}: {title} error")
            axes.set_ylabel(unit)
            axes.set_yscale("log")
    for trace in traces:
        style: Any = {
            "color": LEG_COLORS[laws.index(trace.controller) % len(LEG_COLORS)],
            "linewidth": 0.8 if trace.mujoco else 1.0,
            "linestyle": "--" if trace.mujoco else "-",
        }
        row = panels[plants.index(trace.plant)]
        for axes, values in zip(row, (1e3 * trace.position, 1e3 * trace.rotation), strict=True):
            axes.plot(*largest(trace.times, values, _POINTS), label="" if trace.mujoco else trace.controller, **style)
    for axes in figure.axes:
        axes.set_ylim(bottom=max(_FLOOR, axes.get_ylim()[0]))
    for axes in panels[-1]:
        axes.set_xlabel("time, s")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=len(laws))
    return figure


def _gains(loop: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table of gains: `law`, `stiffness` and `damping` as text with units, and the loop's numbers."""
    of_task = "stiffness_per_s2" in loop
    units = ("1/s²", "1/s") if of_task else ("N/m", "N s/m")
    names = ("stiffness_per_s2", "damping_per_s") if of_task else ("stiffness_n_per_m", "damping_n_s_per_m")
    texts = [
        "6 × 6 matrix, " + unit if isinstance(loop[name], list) else f"{loop[name]:.4g} {unit}"
        for name, unit in zip(names, units, strict=True)
    ]
    return {"law": loop["controller"], "stiffness": texts[0], "damping": texts[1], "loop": loop}


def _card(name: str, value: str, unit: str, note: str, kind: str = "neutral") -> dict[str, str]:
    return {"name": name, "value": value, "unit": unit, "note": note, "kind": kind}


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rounded(value: float | None) -> str:
    """Three significant digits without an exponent, None as a dash."""
    if value is None:
        return "–"
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if abs(value) >= 1e-4 else f"{value:.1e}"

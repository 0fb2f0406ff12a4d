"""The figures of a study, each with its numbers; what is zero throughout is not drawn."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kinematics import COORDINATES, Array, pose_to_coordinates
from rig.csvio import per_leg
from rig.papers import FRACTION, GREY, INK, Curve, Numbers, Picture, Rule, one_panel, rms, series, six_panels
from rig.report import LEG_COLORS, STYLE, WIDTH, drawing, styled
from rig.study.forces import JOINTS, MODELS, TERMS
from rig.study.measures import NEAR_SINGULAR
from rig.study.study import MachineStudy

TERM_COLORS = ("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#D55E00")
AXES = (("x", LEG_COLORS[4]), ("y", LEG_COLORS[2]), ("z", LEG_COLORS[3]))
VIOLET = "#5B3A8C"
NAMES = {
    "massless": "legs without mass",
    "dasgupta-1998": "1998 as printed",
    "dasgupta-1998-mended": "1998, inertia counted once",
    "pedrammehr-2012": "2012 as printed",
    "pedrammehr-2012-mended": "2012, inertia counted once",
    "without-spin": "exact but for the legs' spin",
    "moment-along-leg": "exact but for the joint's moment, along the leg",
}
"""Names of the models on the page."""
_MOST_DRAWN = 3000  # samples of a curve
_MOST_POLES = 6  # of a leg, that are marked
_ZERO = 1e-9  # relative to the quantity's own scale: rounding
_NEAR = Rule(near=0.0045)  # near a singularity; as in the figures of 1998
_MOST_FRACTION = 1.5
_PREFIXES = ((1e4, 1e-3, "k"), (0.05, 1.0, ""), (5e-5, 1e3, "m"), (5e-8, 1e6, "µ"), (0.0, 1e9, "n"))
"""Least force of the weakest leg, N, factor and prefix of the unit of a figure."""
_MOST_SHOWN = 2e4  # in the unit of a figure
_RANGE = 20.0  # of a measure, above which its axis is logarithmic


class Drawer:
    """Draws the figures of a study, one after the other."""

    def __init__(self, study: MachineStudy) -> None:
        self._study = study
        stride = -(-len(study.motion.times) // _MOST_DRAWN)
        self._rows = slice(None, None, stride)
        self._times = study.motion.times[self._rows]
        self._singular = tuple(one.time for one in study.measures.singularities if one.crossed)

    def figures(self) -> Iterator[tuple[str, Picture]]:
        """Yield each figure with the name of its section, in the order of the page."""
        for section, make in (
            ("motion", self._path),
            ("forces", self._forces),
            ("fraction", self._fraction),
            ("models", self._models),
            ("ends", self._ends),
            ("reactions", self._reactions),
            ("conditioning", self._conditioning),
        ):
            for picture in make():
                yield section, picture

    # -- the motion --------------------------------------------------------------------------------------------------

    def _path(self) -> Iterator[Picture]:
        study = self._study
        coordinates = pose_to_coordinates(study.motion.motions[:, :7])
        coordinates[:, 3:] = np.unwrap(coordinates[:, 3:], axis=0)
        legs = study.forces.legs
        x, y, z = coordinates[0, :3]
        yield self._by_axis(
            "position",
            "Position of the platform",
            f"Of the platform's origin from the place where it begins, x = {x:.4g}, y = {y:.4g}, z = {z:.4g} m in the "
            "base frame.",
            coordinates[:, :3],
            COORDINATES[:3],
            "displacement, m",
            start=coordinates[0, :3],
        )
        angles = "Angles of R = Rz(rz) Ry(ry) Rx(rx)."
        yield self._by_axis(
            "angles", "Orientation of the platform", angles, coordinates[:, 3:], COORDINATES[3:], "angle, rad"
        )
        yield self._by_leg("leg-lengths", "Lengths of the legs", legs.length, "length, m", "l")
        if np.abs(legs.velocity).max():
            yield self._by_leg("leg-speeds", "Speeds of the legs", legs.velocity, "speed, m/s", "v")

    def _by_axis(
        self,
        name: str,
        title: str,
        caption: str,
        values: Array,
        labels: Sequence[str],
        unit: str,
        *,
        start: Array | float = 0.0,
    ) -> Picture:
        """Draw three components (n, 3) over time, less those of the `start`."""
        shown = (values - start)[self._rows]
        curves = [
            Curve(axis, shown[:, place], color, width=1.4)
            for place, (axis, (_, color)) in enumerate(zip(labels, AXES, strict=True))
        ]
        picture = one_panel(self._times, curves, unit)
        columns = [f"{name.replace('-', '_')}_{axis}" if axis in "xyz" else axis for axis in labels]
        return Picture(title, caption, picture, self._series(name, columns, values))

    def _by_leg(
        self, name: str, title: str, values: Array, unit: str, prefix: str, caption: str = "", *, pole: bool = False
    ) -> Picture:
        """Draw one quantity (n, 6) of the legs in one panel; with a `pole` it has no bound at a singularity."""
        poles = (self._singular,) if pole else ()
        curves = [
            Curve(f"leg {leg + 1}", values[self._rows, leg], LEG_COLORS[leg], width=1.2, poles=poles)
            for leg in range(6)
        ]
        cut = pole and bool(self._singular)
        picture = one_panel(self._times, curves, unit, log=cut, rule=_NEAR if cut else None)
        columns = per_leg(prefix)
        return Picture(title, caption or "Of each leg.", picture, self._series(name, columns, values))

    def _series(self, name: str, columns: Sequence[str], table: Array) -> Numbers:
        return series(name, "t", self._study.motion.times, columns, table)

    # -- forces ------------------------------------------------------------------------------------------------------

    def _panels(
        self, name: str, title: str, caption: str, curves: Sequence[tuple[str, str, Array, dict[str, Any]]]
    ) -> Picture:
        """Draw forces (n, 6) with a panel for each leg: label, prefix of the columns, values, style."""
        poles = (self._singular,) * 6
        scale, prefix = self._unit(np.abs(np.concatenate([values for _, _, values, _ in curves])))
        unit = f"force, {prefix}N"
        drawn = [Curve(label, scale * values[self._rows], **style, poles=poles) for label, _, values, style in curves]
        if self._singular:
            middle = float(np.median(np.abs(curves[0][2]))) * scale
            linear = 10.0 ** round(math.log10(middle)) if middle else 1.0
            picture = six_panels(self._times, drawn, unit, linear=linear, rule=_NEAR, pole="singularity")
            caption += f" Logarithmic beyond ±{linear:g} {prefix}N, and cut at the singularity."
        else:
            picture = six_panels(self._times, drawn, unit)
        columns = [name for _, prefix, _, _ in curves for name in per_leg(prefix)]
        return Picture(title, caption, picture, self._series(name, columns, np.hstack([one[2] for one in curves])))

    def _unit(self, sizes: Array) -> tuple[float, str]:
        """Return factor and prefix of the unit of forces (n, 6) that keep every panel's labels short."""
        by_leg = np.quantile(sizes, 0.9, axis=0) if self._singular else sizes.max(axis=0)
        fitting = [one for one in _PREFIXES if by_leg.max() * one[1] < _MOST_SHOWN] or [_PREFIXES[0]]
        _, scale, prefix = next((one for one in fitting if by_leg.min() >= one[0]), fitting[-1])
        return scale, prefix

    def _forces(self) -> Iterator[Picture]:
        forces = self._study.forces
        yield self._panels(
            "forces",
            "Actuator forces",
            "Actuator forces of the six legs by the exact model, pushing positive: in total, with legs that have "
            "neither mass nor friction (F_0, eq. 41 of 1998), and their difference, the dynamic force F_d.",
            (
                ("total $F$", "f", forces.exact, {"width": 2.0}),
                (r"massless legs $F_0$", "massless", forces.massless, {"color": INK, "dash": "--", "width": 0.9}),
                (r"difference $F_\mathrm{d}$", "dynamic", forces.dynamic, {"color": GREY, "width": 1.1}),
            ),
        )
        largest = float(np.abs(forces.exact).max())
        shown = [
            (name, name.replace("'", "").replace(" ", "_") + "_", term, {"color": color, "width": 1.2})
            for name, term, color in zip(TERMS, forces.terms, TERM_COLORS, strict=True)
            if np.abs(term).max() > _ZERO * largest
        ]
        yield self._panels(
            "terms",
            "Actuator forces by cause",
            "The parts of the actuator forces that are due to the weight and to the inertia of platform and legs, to "
            "friction and to the external wrench. They add up to the total.",
            shown,
        )
        yield self._bars()

    def _bars(self) -> Picture:
        """RMS of each cause by leg."""
        forces = self._study.forces
        sizes = np.sqrt(np.mean(forces.terms**2, axis=1))
        places = np.flatnonzero(sizes.max(axis=1) > _ZERO * sizes.max())
        with styled(STYLE):
            figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
            axes = figure.subplots()
            wide = 0.84 / max(len(places), 1)
            for order, place in enumerate(places):
                left = np.arange(6) - 0.42 + (order + 0.5) * wide
                axes.bar(left, sizes[place], 0.92 * wide, color=TERM_COLORS[place], label=TERMS[place], zorder=2)
            axes.set_xticks(range(6), per_leg("leg "))
            axes.grid(visible=False, axis="x")
            axes.set_ylabel("RMS over the motion, N")
            figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(places))
            picture = drawing(figure)
        rows = [(name, *values, rms(term)) for name, values, term in
                zip(TERMS, sizes.tolist(), forces.terms, strict=True)]  # fmt: skip
        columns = ("cause", *per_leg("leg"), "all")
        return Picture(
            "RMS by cause", "RMS of each cause over the motion.", picture, Numbers("terms-rms", columns, tuple(rows))
        )

    def _fraction(self) -> Iterator[Picture]:
        if not self._study.dynamic:
            return
        fraction = self._study.forces.fraction
        zeros = self._study.zeros
        marked = max(map(len, zeros)) <= _MOST_POLES
        drawn = fraction[self._rows].copy()
        if not marked:
            drawn[np.abs(drawn) > _MOST_FRACTION] = np.nan
        curve = Curve(FRACTION, drawn, width=1.4, poles=zeros if marked else ())
        any_pole = any(zeros)
        pole = "pole: $F$ is zero" if marked and any_pole else ""
        caption = "Fraction of the actuator force that is due to the legs' mass and to friction. " + (
            f"It has a pole where the total force is zero; what is beyond ±{_MOST_FRACTION:g} is left out."
            if any_pole
            else ""
        )
        rule = Rule(near=0.02, most=_MOST_FRACTION) if any_pole else None
        picture = six_panels(self._times, (curve,), FRACTION, rule=rule, pole=pole)
        numbers = self._series("fraction", per_leg("fraction"), fraction)
        yield Picture("Dynamic fraction", caption.strip(), picture, numbers)

    # -- models ------------------------------------------------------------------------------------------------------

    def _models(self) -> Iterator[Picture]:
        forces = self._study.forces
        styles: dict[str, dict[str, Any]] = {
            "massless": {"color": GREY, "dash": "-", "width": 0.9},
            "dasgupta-1998": {"color": INK, "dash": "--", "width": 0.9},
            "pedrammehr-2012": {"color": VIOLET, "dash": ":", "width": 1.3},
        }
        yield self._panels(
            "models",
            "Actuator forces by model",
            "Actuator forces by the exact model and by the published ones.",
            (
                ("exact", "exact", forces.exact, {"width": 1.8}),
                *((NAMES[model], f"{model}_", forces.models[model], style) for model, style in styles.items()),
            ),
        )
        errors = {model: forces.models[model] - forces.exact for model in MODELS}
        scale = float(np.abs(forces.exact).max())
        differing: dict[str, dict[str, Any]] = {
            "dasgupta-1998": {"width": 1.4},
            "dasgupta-1998-mended": {"color": GREY, "dash": ":", "width": 1.6},
            "pedrammehr-2012": {"color": INK, "dash": "--", "width": 1.0},
        }
        shown = [
            (NAMES[model], f"{model}_", errors[model], style)
            for model, style in differing.items()
            if np.abs(errors[model]).max() > _ZERO * scale
        ]
        if shown:
            yield self._panels(
                "model-errors",
                "Differences from the exact model",
                "Forces of the published formulations less the exact ones. The formulation of 2012 with every inertia "
                "counted once is the exact model and not drawn.",
                shown,
            )

    # -- spin and spherical ends -------------------------------------------------------------------------------------

    def _ends(self) -> Iterator[Picture]:
        forces = self._study.forces
        legs = forces.legs
        size, simple = (np.linalg.norm(values, axis=-1) for values in (legs.angular_velocity, forces.turning))
        if size.max():
            curves = [
                Curve("with spin", size[self._rows], width=1.8),
                Curve("without spin (1998)", simple[self._rows], INK, "--", 0.9),
                Curve("spin about the leg", np.abs(legs.spin)[self._rows], GREY, "-", 1.0),
            ]
            columns = [*per_leg("angular_velocity"), *per_leg("without_spin"), *per_leg("spin")]
            yield Picture(
                "Rotation of the legs",
                "Size of the legs' angular velocity with the spin that the universal joints force, without it, and the "
                "spin alone.",
                six_panels(self._times, curves, "W, rad/s"),
                self._series("leg-rotation", columns, np.hstack([size, simple, legs.spin])),
            )
        change = forces.ends.spherical - forces.ends.universal
        if np.abs(change).max() > _ZERO * np.abs(forces.ends.universal).max():
            yield self._panels(
                "spherical-ends",
                "Spherical against universal ends",
                "Actuator force with spherical joints at both ends less that with universal joints at the base"
                + (", of legs made symmetric." if forces.ends.faults else "."),
                (("spherical − universal", "difference", change, {"width": 1.4}),),
            )

    # -- reactions ---------------------------------------------------------------------------------------------------

    def _reactions(self) -> Iterator[Picture]:
        forces = self._study.forces
        for name in JOINTS:
            values = forces.joint(name)
            if not values.max():
                continue
            unit = "N m" if name.endswith("moment") else "N"
            size = "moment" if unit == "N m" else "force"
            yield self._by_leg(
                name.replace(" ", "-"),
                f"Reaction: {name}",
                values,
                f"{size}, {unit}",
                name.replace(" ", "_"),
                _REACTIONS[name],
                pole=name in ("spherical force", "universal force"),
            )
        for values, unit in ((forces.base_force, "N"), (forces.base_moment, "N m")):
            size = "moment" if unit == "N m" else "force"
            caption = "What the six legs put on the base, base axes" + (
                ", about the origin of the base frame." if unit == "N m" else "."
            )
            title, labels = f"Load on the base: {size}", [axis for axis, _ in AXES]
            yield self._by_axis(f"base-{size}", title, caption, values, labels, f"{size}, {unit}")

    # -- conditioning ------------------------------------------------------------------------------------------------

    def _conditioning(self) -> Iterator[Picture]:
        measures = self._study.measures
        yield self._measure(
            "condition",
            "Condition number of H",
            f"σmax/σmin with moments in N m, as in the papers, and with moments divided by {measures.length:.3g} m.",
            (
                ("moments in N m", "condition", measures.condition, INK),
                (f"moments over {measures.length:.3g} m", "scaled", measures.scaled, LEG_COLORS[3]),
            ),
            "condition number",
        )
        yield self._measure(
            "determinant",
            "Determinant of H",
            "Moments in N m. It changes its sign where the motion passes a singularity.",
            (("det H", "determinant", measures.determinant, INK),),
            "det H, m³",
            signed=True,
        )
        yield self._measure(
            "manipulability",
            "Manipulability",
            f"√det(H Hᵀ) with moments over {measures.length:.3g} m. For six legs it is the size of the determinant.",
            (("manipulability", "manipulability", measures.manipulability, INK),),
            "manipulability",
        )
        yield self._measure(
            "amplification",
            "Leg forces of a unit load",
            f"Norm of the leg forces, at worst, of a load of 1 N, or of 1 N at {measures.length:.3g} m: 1/σmin.",
            (("leg forces", "amplification", measures.amplification, INK),),
            "leg forces, N/N",
        )
        yield self._scatter()

    def _measure(
        self,
        name: str,
        title: str,
        caption: str,
        curves: Sequence[tuple[str, str, Array, str]],
        unit: str,
        *,
        signed: bool = False,
    ) -> Picture:
        values = np.concatenate([one[2] for one in curves])
        log = not signed and values.min() > 0.0 and values.max() > _RANGE * values.min()
        poles = () if signed or name == "manipulability" else (self._singular,)
        drawn = [Curve(label, table[self._rows], color, width=1.4, poles=poles) for label, _, table, color in curves]
        marks = tuple((time, f"singularity at t = {time:.4g} s") for time in self._singular[:1])
        rule = _NEAR if poles and self._singular else None
        picture = one_panel(self._times, drawn, unit, log=log, marks=marks, rule=rule)
        columns = [column for _, column, _, _ in curves]
        table = np.column_stack([one[2] for one in curves])
        return Picture(title, caption, picture, self._series(name, columns, table))

    def _scatter(self) -> Picture:
        """Condition number against largest leg force: static poses of the box, and the motion."""
        study, box = self._study, self._study.box
        with styled(STYLE):
            figure = Figure(figsize=(WIDTH, 4.0), layout="constrained")
            axes = figure.subplots()
            axes.set(xlabel="condition number of H", ylabel="largest leg force, N")
            both = (box.condition, study.measures.condition), (box.forces, study.forces.peak)
            for scale, values in zip((axes.set_xscale, axes.set_yscale), map(np.concatenate, both), strict=True):
                if values.min() > 0.0 and values.max() > _RANGE * values.min():
                    scale("log")
            axes.scatter(
                box.condition, box.forces, s=5, color=LEG_COLORS[1], alpha=0.6, linewidths=0, rasterized=True,
                label="static poses of the box", zorder=2,
            )  # fmt: skip
            axes.plot(
                study.measures.condition[self._rows], study.forces.peak[self._rows], ".", color=INK, markersize=2.5,
                label="the motion", rasterized=True, zorder=3,
            )  # fmt: skip
            if axes.get_xlim()[1] > NEAR_SINGULAR:
                axes.axvline(NEAR_SINGULAR, color=GREY, linestyle=(0, (4, 3)), linewidth=0.9, zorder=1)
                axes.annotate(
                    "near-singular (§5.2 of 1998)", (NEAR_SINGULAR, 0.97), xycoords=("data", "axes fraction"),
                    xytext=(4, 0), textcoords="offset points", fontsize=8, color=GREY, va="top",
                )  # fmt: skip
            figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2, markerscale=2.5)
            picture = drawing(figure)
        rows = np.column_stack([box.coordinates, box.condition, box.forces, box.by_1998]).tolist()
        columns = (*COORDINATES, "condition", "largest_force", "largest_force_1998")
        return Picture(
            "Condition number and forces",
            "Each static pose of the box with its largest leg force, and the samples of the motion.",
            picture,
            Numbers("box", columns, tuple(map(tuple, rows))),
        )


_REACTIONS = {
    "spherical force": "Size of the force of the platform on the leg's top.",
    "universal force": "Size of the force of the base on the leg's foot.",
    "universal moment": "Size of the moment of the base on the leg about the axis that the universal joint blocks.",
    "guide force": "Size of the force across the leg that the prismatic joint bears.",
    "prismatic moment": "Size of the moment that the prismatic joint bears, about the base point.",
}

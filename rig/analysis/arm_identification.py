"""Result of an arm's identification: its numbers as one JSON object, its dated parameters, and the arm's own file."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import tomlkit

from calibration import ArmHoldOut, ArmIdentification, Formulation, Parameter, ParameterFile
from dynamics import serial
from kinematics import Array, add_toml_entry
from rig.version import __version__

MISFIT_RESIDUAL = 0.5
"""Relative residual of a held-out joint force in motion above which a model does not predict it."""
_AGREEMENT_ROWS = 20
_COLLINEAR = 1e-12

FORMULATION_NAMES = {
    "ordinary": "Ordinary least squares (by singular values)",
    "weighted": "Weighted, with the prior",
    "consistent": "Robust, bodies that can exist",
    "chosen": "As identified",
    "without-rotors": "Without rotor inertias",
    "without-coupling": "Without couplings of the motors",
    "without-friction": "Without friction",
    "with-asymmetry": "With friction that differs by direction",
    "with-power": "With friction √|v|",
    "with-stribeck": "With Stribeck friction",
    "with-load": "With friction that grows with the load",
}
"""Names of models and estimators, by code."""
SPLIT_NAMES = {"last-third": "last third", "blocks": "blocks", "trajectory": "last record"}
"""Names of splits, by code."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmIdentified:
    """An identification with its sources: names of the files of each record, as given."""

    result: ArmIdentification
    sources: tuple[str, ...]

    @property
    def misfits(self) -> tuple[tuple[str, int, float], ...]:
        """Split, joint (from 0) and relative residual of joint forces above `MISFIT_RESIDUAL` in motion."""
        return tuple(
            (each.split, j, float(value))
            for each in self.result.formulation("chosen").hold_outs
            for j, value in enumerate(each.moving)
            if value > MISFIT_RESIDUAL
        )

    def split_name(self, code: str) -> str:
        """Name of a split, see `SPLIT_NAMES`."""
        return SPLIT_NAMES[code]

    def agreement(self) -> dict[str, float]:
        """Largest difference of the arm's forces by each formulation from the compiled one, over their largest."""
        arm, samples = self.result.identified, self.result.samples
        rows = np.linspace(0, len(samples.t) - 1, _AGREEMENT_ROWS).astype(int)
        states = samples.q[rows], samples.qd[rows], samples.qdd[rows]
        names = serial.formulation_names(arm)
        forces = {name: serial.arm_forces(arm, name, *states) for name in names}
        first = forces[names[0]]
        largest = float(np.abs(first).max())
        return {name: float(np.abs(forces[name] - first).max()) / largest for name in names[1:]}

    def file(self, day: date, note: str = "") -> ParameterFile:
        """The result as a dated parameter file, with the covariance."""
        parameters, covariance = self.result.physical()
        provenance = {"data": "; ".join(self.sources), "software": f"stewart-rig {__version__}"}
        if note:
            provenance["note"] = note
        judged = self.result.formulation("chosen").hold_outs
        return ParameterFile(
            kind="arm",
            date=day,
            mechanism=self.result.arm.name,
            parameters=parameters,
            nuisance=self.gain_parameters(),
            covariance=covariance,
            provenance=provenance,
            findings={f"residual_{each.split.replace('-', '_')}": _mean(each.held_out) for each in judged}
            | {"consistent": self.result.fit.consistent, "fits": not self.misfits},
        )

    def gain_parameters(self) -> tuple[Parameter, ...]:
        """The gains that were estimated, over the stated ones."""
        return tuple(
            Parameter(f"drives[{k}].gain", "1", 1.0, float(gain), float(sigma))
            for k, (gain, sigma) in enumerate(zip(self.result.gains, self.result.gain_sigma, strict=True))
            if sigma > 0.0
        )

    def arm_text(self, day: date) -> str:
        """The identified arm as the text of an arm's file, with one σ beside each number that was estimated."""
        result = self.result
        sigmas = {each.name: each.sigma for each in result.physical()[0]}
        lines = [
            f"Identified on {day.isoformat()} from {'; '.join(self.sources)}",
            f"with stewart-rig {__version__}. ± is one standard deviation. In the fit Coulomb friction is smoothed",
            f"over {result.smoothing:g} of each RMS speed.",
        ]
        if result.terms:
            names = ", ".join(result.terms)
            lines.append(f"Friction ({names}) is not in this file: Coulomb and viscous friction are fitted anew.")
        return format_arm(result.identified, lines, {} if result.terms else sigmas)

    def summary(self) -> dict[str, Any]:
        """The result as a JSON object, SI."""
        result, fit = self.result, self.result.fit
        samples, base, white = result.samples, result.base, result.whiteness
        names = [joint.name for joint in result.arm.joints]
        ratio = result.stated_over_bootstrap
        before = base.matrix @ fit.before
        return {
            "arm": result.arm.name,
            "joints": names,
            "sources": list(self.sources),
            "data": {
                "rows": len(samples.t),
                "rate_hz": samples.rate,
                "cutoff_hz": samples.cutoff,
                "duration_s": float(len(samples.t) / samples.rate),
                "records": int(samples.record.max()) + 1,
                "loaded": bool(samples.known.any()),
            },
            "friction": {"terms": list(result.terms), "smoothing": result.smoothing},
            "parameters": [_parameter(each) for each in (*result.physical()[0], *self.gain_parameters())],
            "base_parameters": [
                {
                    "name": base.names[r],
                    "unit": base.units[r],
                    "nominal": float(before[r]),
                    "value": float(result.base_after[r]),
                    "sigma": float(result.base_sigma[r]),
                    "determined": bool(result.determined[r]),
                    "combination": base.combination(r),
                }
                for r in range(len(base.pivots))
            ],
            "condition": float(result.singular[0] / max(result.singular[-1], 1e-300)),
            "effective_unknowns": float(fit.effective),
            "unknowns": len(fit.model),
            "consistent": fit.consistent,
            "constrained": fit.moved,
            "stated_over_bootstrap": {
                "lower_quartile": float(np.quantile(ratio, 0.25)) if len(ratio) else None,
                "median": float(np.median(ratio)) if len(ratio) else None,
                "upper_quartile": float(np.quantile(ratio, 0.75)) if len(ratio) else None,
            },
            "residual": {
                "sigma": fit.sigma.tolist(),
                "white": white.white.tolist(),
                "probability": white.probability.tolist(),
                "correlation_time_s": white.correlation_time.tolist(),
            },
            "models": [_model(each) for each in result.formulations],
            "formulations": self.agreement(),
            "verdict": "misfit" if self.misfits else "predicts",
            "misfits": [{"split": split, "joint": j + 1, "relative_residual": left} for split, j, left in self.misfits],
        }


def _mean(values: Array) -> float:
    return float(np.nanmean(values))


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {name: getattr(parameter, name) for name in ("name", "unit", "nominal", "value", "sigma")}


def _model(formulation: Formulation) -> dict[str, Any]:
    return {
        "code": formulation.code,
        "unknowns": formulation.unknowns,
        "hold_outs": [_hold_out(each) for each in formulation.hold_outs],
    }


def _hold_out(held: ArmHoldOut) -> dict[str, Any]:
    return {
        "split": held.split,
        "fitted": _numbers(held.fitted),
        "held_out": _numbers(held.held_out),
        "held_out_in_motion": _numbers(held.moving),
    }


def _numbers(values: Array) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def format_arm(arm: serial.Arm, header: list[str], sigmas: dict[str, float]) -> str:
    """Text of an arm's file with joints by position and angles; `sigmas` by the parameters' names are comments."""
    document = tomlkit.document()
    for line in header:
        document.add(tomlkit.comment(line))
    document.add("name", tomlkit.item(arm.name))
    document.add("frames", tomlkit.item("placements"))
    if arm.unphysical:
        document.add("allow_unphysical", tomlkit.item(True))
    document.add("gravity", tomlkit.item(_rounded(arm.gravity)))
    joints = tomlkit.aot()
    geared = arm.transmission is not None
    ratios = np.asarray(arm.motor_ratios)
    for i, joint in enumerate(arm.joints):
        table = tomlkit.table()
        place = f"joints[{i}]"
        entries: dict[str, Any] = {
            "name": joint.name,
            "kind": joint.kind,
            "position": _rounded(joint.position),
            "angles": angles_of(np.asarray(joint.rotation)),
            "mass": _rounded([joint.mass])[0],
            "center_of_mass": _rounded(joint.center),
            "inertia": [_rounded(row) for row in np.asarray(joint.inertia)],
        }
        entries |= {
            name: _rounded([getattr(joint, name)])[0] for name in ("motor_inertia", "viscous", "coulomb", "offset")
        }
        for name, value in entries.items():
            table.add(name, tomlkit.item(value))
            if note := _note(sigmas, f"{place}.{name}"):
                table[name].comment(note)
        if geared:
            motor = tomlkit.table()
            for name, value in {
                "gear_ratio": ratios[i, i],
                "rotor_inertia": 0.0 if arm.rotor_inertia is None else arm.rotor_inertia[i],
                "viscous": 0.0 if arm.motor_viscous is None else arm.motor_viscous[i],
                "coulomb": 0.0 if arm.motor_coulomb is None else arm.motor_coulomb[i],
            }.items():
                motor.add(name, tomlkit.item(_rounded([value])[0]))
                if note := _note(sigmas, f"{place}.motor.{name}"):
                    motor[name].comment(note)
            table.add("motor", motor)
        limits = {
            name: list(value) if isinstance(value, tuple) else value
            for name in ("position", "velocity", "acceleration", "force")
            if (value := getattr(joint.limits, name)) is not None
        }
        if limits:
            inner = tomlkit.table()
            for name, value in limits.items():
                inner.add(name, tomlkit.item(value))
            table.add("limits", inner)
        joints.append(table)
    document.add("joints", joints)
    couplings = [(k, j) for k, j in zip(*np.nonzero(ratios), strict=True) if k != j]
    if couplings:
        pairs = tomlkit.aot()
        for k, j in couplings:
            pair = tomlkit.table()
            for name, value in {"motor": int(k) + 1, "joint": int(j) + 1, "ratio": float(ratios[k, j])}.items():
                pair.add(name, tomlkit.item(value))
            pairs.append(pair)
        document.add("coupling", pairs)
    tip = tomlkit.table()
    add_toml_entry(tip, "position", _rounded(arm.tip_position))
    add_toml_entry(tip, "angles", angles_of(np.asarray(arm.tip_rotation)))
    document.add("tip", tip)
    text = tomlkit.dumps(document)
    serial.parse_arm(text, source=arm.name)
    return text


def _rounded(values: Iterable[float]) -> list[float]:
    """Numbers to ten digits, which is more than any of them is known to, without a minus sign before zero."""
    return [float(f"{value:.10g}") + 0.0 for value in values]


def _note(sigmas: dict[str, float], name: str) -> str:
    """The standard deviations of a number, or of a list's, as a comment; empty if none was estimated."""
    if name in sigmas:
        return f"± {sigmas[name]:.2g}"
    within = [value for each, value in sigmas.items() if each.startswith(f"{name}[")]
    return (
        f"± {', '.join(f'{value:.2g}' for value in within)}" + (" (xx, yy, zz, xy, xz, yz)" if len(within) == 6 else "")
        if within
        else ""
    )


def angles_of(rotation: Array) -> list[float]:
    """Angles rx, ry, rz of R = Rz Ry Rx, rad; with ry at ±90° rz is 0."""
    sine, cosine = -rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0])
    if cosine < _COLLINEAR:
        ry = float(np.copysign(0.5 * np.pi, sine))
        return [float(np.arctan2(np.sign(sine) * rotation[0, 1], rotation[1, 1])) + 0.0, ry, 0.0]
    ry = float(np.arctan2(sine, cosine))
    rx = float(np.arctan2(rotation[2, 1], rotation[2, 2]))
    return [rx + 0.0, ry + 0.0, float(np.arctan2(rotation[1, 0], rotation[0, 0])) + 0.0]

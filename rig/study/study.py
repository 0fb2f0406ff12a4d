"""The study of a mechanism on a motion: forces, measures and counts, and what is found in them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dynamics import Drive, Mechanism, ReactionPeak, papers, reaction_peaks
from kinematics import Array
from rig.motions import SampledMotion
from rig.papers import crossings, rank_correlation, rms
from rig.study.forces import TERMS, ModelError, PathForces, path_forces, regular_samples
from rig.study.measures import (
    NEAR_SINGULAR,
    Box,
    Decade,
    Exceeded,
    PathMeasures,
    by_decade,
    exceeded_limits,
    path_box,
    path_measures,
    static_poses,
)
from rig.study.statements import Statement, Value, statement

MOST_SAMPLES = 20_000
"""Samples of a table or a recording that are evaluated; of more, evenly spaced ones."""
ROUNDING = 1e-9
"""Percent of the forces, below which an error is rounding."""
_SAME = 1e-9  # N, relative to the largest force: rounding
_NO_SPIN = 1e-9  # relative to the legs' angular velocity: rounding

Report = Callable[[str, float], None]
"""Receives the name of the current step and the progress, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Operations of one evaluation of the inverse dynamics.

    rows: of 1998's §4.5, of its printed equations and of the exact model, see `dynamics.papers.platform_table`.
    structural: by part, of the exact model where zeros and ones of the mechanism cost nothing.
    """

    rows: tuple[papers.PlatformRow, ...]
    structural: dict[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class MachineStudy:
    """What the papers do to their machine, done to a mechanism on a motion; SI units.

    motion: with `left_out` (k,), times of samples at which the platform is exactly singular, left out.  rows: of the
    file, before it was thinned.
    decades: the samples by condition number, with their largest leg force.  box: static poses around the motion.
    statements: by section of the page.
    """

    mechanism: Mechanism
    motion: SampledMotion
    rows: int
    left_out: Array
    friction: papers.FrictionChoice
    forces: PathForces
    measures: PathMeasures
    decades: tuple[Decade, ...]
    box: Box
    peaks: tuple[ReactionPeak, ...]
    exceeded: tuple[Exceeded, ...]
    counts: Counts
    statements: dict[str, tuple[Statement, ...]]

    @property
    def zeros(self) -> tuple[tuple[float, ...], ...]:
        """Times, s, at which each leg's force passes zero, and not infinity at a singularity."""
        times, singular = self.motion.times, [one.time for one in self.measures.singularities if one.crossed]
        jumps = set(np.searchsorted(times, singular).tolist())
        return tuple(
            tuple(
                time
                for time in crossings(times, self.forces.exact[:, leg])
                if int(np.searchsorted(times, time)) not in jumps
            )
            for leg in range(6)
        )

    @property
    def dynamic(self) -> bool:
        """Whether the legs' mass or friction makes any force."""
        return bool(np.abs(self.forces.dynamic).max() > _SAME * np.abs(self.forces.exact).max())


def study_machine(
    mechanism: Mechanism,
    motion: SampledMotion,
    *,
    friction: papers.FrictionChoice = "same",
    box: tuple[Array, Array] | None = None,
    poses: int = 4000,
    seed: int = 0,
    report: Report = lambda _what, _fraction: None,
) -> MachineStudy:
    """Study a mechanism on a motion (`rig.motions.read_motion`), without drawing anything.

    friction: "same", the mechanism's in every model; "printed", that of each model's paper; "none".
    box: least and greatest coordinates (6,), m and rad in the base frame, of the static poses; None for a box around
        the motion, see `path_box`.  poses, seed: their number, and the seed of the draw.

    Raises:
        FieldError: a box without a pose that the mechanism's limits allow.
        InputError, KinematicsError, DynamicsError: a motion or mechanism that cannot be evaluated.
    """
    motion.check_times()
    rows = len(motion.times)
    if motion.trajectory is None:
        motion = motion.thinned(MOST_SAMPLES)
    motion, left_out = regular_samples(mechanism, motion)
    report("forces", 0.0)
    forces = path_forces(mechanism, motion, friction)
    machine = forces.mechanism
    report("conditioning", 0.4)
    measures = path_measures(machine.geometry, motion)
    low, high = path_box(machine, motion.motions) if box is None else box
    static = static_poses(machine, low, high, motion.motions[0, :7], count=poses, seed=seed)
    report("operations", 0.8)
    wrench = None if motion.wrenches is None else motion.wrenches[0]
    middle = motion.motions[int(np.abs(motion.motions[:, 7:]).sum(axis=1).argmax())]
    structural = papers.platform_operations(machine, middle, wrench, general=False)
    counts = Counts(
        papers.platform_table(machine, middle, wrench), {part: found.total for part, found in structural.items()}
    )
    made = MachineStudy(
        mechanism=machine,
        motion=motion,
        rows=rows,
        left_out=left_out,
        friction=friction,
        forces=forces,
        measures=measures,
        decades=by_decade(measures.condition, forces.peak),
        box=static,
        peaks=reaction_peaks(machine, motion.motions, motion.wrenches, times=motion.times),
        exceeded=exceeded_limits(machine, motion, forces.exact),
        counts=counts,
        statements={},
    )
    sections = {
        "motion": _motion,
        "forces": _forces,
        "fraction": _fraction,
        "models": _models,
        "ends": _ends,
        "reactions": _reactions,
        "conditioning": _conditioning,
        "operations": _operations,
    }
    made.statements.update({name: tuple(find(made)) for name, find in sections.items()})
    return made


def _legs(chosen: Array) -> tuple[int, ...]:
    return tuple(int(leg) + 1 for leg in np.flatnonzero(chosen))


def _motion(study: MachineStudy) -> Iterator[Statement]:
    machine, motion, legs = study.mechanism, study.motion, study.forces.legs
    weight = machine.mass * float(np.linalg.norm(machine.gravity))
    heavy = sum(leg.lower.mass + leg.upper.mass for leg in machine.legs)
    known: dict[str, Value] = {"name": machine.name, "mass": float(machine.mass), "weight": weight}
    if heavy:
        yield statement("machine", **known, legs=float(heavy), ratio=float(machine.mass / heavy * 6.0))
    else:
        yield statement("machine-massless-legs", **known)
    reflected = [leg.drive.mass for leg in machine.legs]
    if any(reflected):
        if min(reflected) == max(reflected):
            yield statement("drives", mass=float(reflected[0]))
        else:
            yield statement("drives-unlike", least=float(min(reflected)), greatest=float(max(reflected)))
    duration = float(motion.times[-1] - motion.times[0])
    yield statement("motion", source=motion.source, duration=duration, samples=len(motion.times))
    if motion.trajectory is None and study.rows > len(motion.times) + len(study.left_out):
        yield statement("thinned", rows=study.rows, stride=-(-study.rows // MOST_SAMPLES))
    if motion.kind == "recording":
        yield statement("commanded")
    elif motion.kind == "lengths":
        yield statement("derived-lengths")
    if motion.kind != "trajectory" and motion.trajectory is not None:
        yield statement("derived-poses")
    elif motion.kind == "poses":
        yield statement("derived-accelerations")
    if len(study.left_out):
        yield statement("left-out", count=len(study.left_out), time=float(study.left_out[0]))
    yield statement(
        "legs",
        least=float(legs.length.min()),
        greatest=float(legs.length.max()),
        speed=float(np.abs(legs.velocity).max()),
    )
    if motion.wrenches is not None:
        force, moment = (np.linalg.norm(part, axis=1).max() for part in np.split(motion.wrenches, 2, axis=1))
        yield statement("wrench", force=float(force), moment=float(moment))
    for one in study.exceeded:
        code = f"exceeded-{one.limit.replace(' ', '-')}"
        yield statement(code, leg=one.leg, value=one.value, time=one.time, bound=one.bound)


def _forces(study: MachineStudy) -> Iterator[Statement]:
    machine, forces = study.mechanism, study.forces
    sample, leg = divmod(int(np.abs(forces.exact).argmax()), 6)
    peak, weight = float(abs(forces.exact[sample, leg])), machine.mass * float(np.linalg.norm(machine.gravity))
    where = {"peak": peak, "leg": leg + 1, "time": float(study.motion.times[sample])}
    if weight:
        yield statement("peak-force", **where, times=peak / weight)
    else:
        yield statement("peak-force-weightless", **where)
    low, high = forces.exact.min(axis=0), forces.exact.max(axis=0)
    for code, chosen in (("pushing", low >= 0.0), ("pulling", high < 0.0), ("crossing", (low < 0.0) & (high >= 0.0))):
        if chosen.any():
            yield statement(code, legs=_legs(chosen))
    sizes = {name: rms(term) for name, term in zip(TERMS, forces.terms, strict=True)}
    (first, first_rms), (second, second_rms), *_ = sorted(sizes.items(), key=lambda item: -item[1])
    yield statement("dominant", first=first, first_rms=first_rms, second=second, second_rms=second_rms)
    weights = rms(forces.terms[0] + forces.terms[2])
    moving = rms(forces.terms[1] + forces.terms[3] + forces.terms[4] + forces.terms[5])
    yield statement("weight-and-motion", weight=weights, moving=moving, total=rms(forces.exact))
    if study.friction == "none":
        yield statement("friction-none")
    elif not sizes["friction"]:
        yield statement("no-friction")


def _fraction(study: MachineStudy) -> Iterator[Statement]:
    forces = study.forces
    if not study.dynamic:
        yield statement("no-dynamic")
        return
    size = np.abs(forces.fraction)
    medians = np.nanmedian(size, axis=0)
    least, greatest = int(medians.argmin()), int(medians.argmax())
    yield statement(
        "fraction",
        median=100.0 * float(np.nanmedian(size)),
        least=100.0 * float(medians[least]),
        least_leg=least + 1,
        greatest=100.0 * float(medians[greatest]),
        greatest_leg=greatest + 1,
    )
    low, high = 100.0 * float(np.mean(size < 0.2)), 100.0 * float(np.mean(size > 0.5))
    yield statement("fraction-range", low=low, middle=100.0 - low - high, high=high)
    gravity, inertia, friction = (rms(forces.terms[place]) for place in (2, 3, 4))
    yield statement("fraction-parts", gravity=gravity, inertia=inertia, friction=friction)
    crossing = np.array([bool(times) for times in study.zeros])
    if crossing.any():
        yield statement("fraction-poles", legs=_legs(crossing))


def _models(study: MachineStudy) -> Iterator[Statement]:
    if study.friction != "none":
        yield statement(f"friction-{study.friction}")
    if any(leg.drive != Drive() for leg in study.mechanism.legs):
        yield statement("drives-same")
    errors: dict[str, ModelError] = {error.model: error for error in study.forces.errors}
    bare, old, new = errors["massless"], errors["dasgupta-1998"], errors["pedrammehr-2012"]
    once, mended = errors["dasgupta-1998-mended"], errors["pedrammehr-2012-mended"]
    yield statement("massless", rms=bare.rms, peak=bare.peak)
    rounding = _SAME * float(np.abs(study.forces.exact).max())
    if max(old.peak, new.peak) <= rounding:
        yield statement("no-error", left=max(old.peak, new.peak))
        return
    better, by_peak = new.rms < old.rms, new.peak < old.peak
    rates = {"ours": new.rms, "theirs": old.rms}
    if better:
        yield statement("improved", factor=old.rms / max(new.rms, 1e-12), **rates)
    else:
        yield statement("not-improved", **rates)
    code = f"{'improved' if better else 'not-improved'}-peak{'' if by_peak else '-not'}"
    yield statement(code, ours=new.peak, theirs=old.peak)
    ours, theirs = (0.0 if one.at_rest < ROUNDING else one.at_rest for one in (new, old))
    if ours or theirs:
        yield statement("at-rest", ours=ours, theirs=theirs)
    else:
        yield statement("at-rest-exact")
    yield statement("counted-once" if once.rms < 0.5 * old.rms else "counted-once-little", left=once.rms)
    if mended.peak <= rounding:
        yield statement("mended", left=mended.peak)


def _ends(study: MachineStudy) -> Iterator[Statement]:
    legs = study.forces.legs
    turning = np.linalg.norm(legs.angular_velocity, axis=-1).max(axis=0)
    spin = np.abs(legs.spin).max(axis=0)
    if not turning.any():
        yield statement("no-turning")
    else:
        most = int(spin.argmax())
        share = 100.0 * float(spin[most] / turning[most]) if turning[most] else 0.0
        still = spin <= _NO_SPIN * turning.max()
        if not still.all():
            yield statement("spin", spin=float(spin[most]), leg=most + 1, share=share)
        if still.any():
            yield statement("no-spin", legs=_legs(still))
    errors = {error.model: error for error in study.forces.errors}
    spin_error, moment = errors["without-spin"], errors["moment-along-leg"]
    if max(spin_error.rms, moment.rms) > ROUNDING:
        yield statement(
            "without-spin",
            spin=spin_error.rms,
            spin_peak=spin_error.peak,
            moment=moment.rms,
            moment_peak=moment.peak,
        )
    ends = study.forces.ends
    if ends.faults:
        yield statement("ends-symmetric", reason=ends.faults[0])
    change = ends.spherical - ends.universal
    yield statement("ends", rms=100.0 * rms(change) / rms(ends.universal), peak=float(np.abs(change).max()))


def _greatest_peaks(study: MachineStudy) -> dict[str, ReactionPeak]:
    """Return the greatest of the six legs' peaks of every reaction, and those of the base."""
    found: dict[str, ReactionPeak] = {}
    for peak in study.peaks:
        if peak.reaction not in found or peak.magnitude > found[peak.reaction].magnitude:
            found[peak.reaction] = peak
    return found


def _reactions(study: MachineStudy) -> Iterator[Statement]:
    greatest = _greatest_peaks(study)
    for name in ("spherical force", "universal force", "guide force", "prismatic moment"):
        peak = greatest[name]
        yield statement(
            "reaction",
            reaction=name,
            peak=peak.magnitude,
            unit=peak.unit,
            leg=peak.leg or 0,
            time=float(study.motion.times[peak.sample]),
        )
    yield statement("base", force=greatest["base force"].magnitude, moment=greatest["base moment"].magnitude)


def _conditioning(study: MachineStudy) -> Iterator[Statement]:
    measures, times = study.measures, study.motion.times
    worst = int(measures.condition.argmax())
    yield statement(
        "condition",
        least=float(measures.condition.min()),
        greatest=float(measures.condition.max()),
        time=float(times[worst]),
        length=measures.length,
        scaled_least=float(measures.scaled.min()),
        scaled_greatest=float(measures.scaled.max()),
    )
    yield statement("amplification", most=float(measures.amplification.max()))
    near = measures.condition >= NEAR_SINGULAR
    if near.any():
        yield statement("near-singular", share=100.0 * float(near.mean()), peak=float(study.forces.peak[near].max()))
    else:
        yield statement("regular")
    crossed: Sequence[float] = [one.time for one in measures.singularities if one.crossed]
    if len(crossed) > 1:
        yield statement("crosses", count=len(crossed), time=crossed[0])
    elif crossed:
        yield statement("crosses-one", time=crossed[0])
    else:
        yield statement("no-crossing")
    if len(times) > 2:
        yield statement("path-correlation", correlation=rank_correlation(measures.condition, study.forces.peak))
    box = study.box
    yield statement(
        "box",
        drawn=box.drawn,
        kept=len(box.forces),
        near=100.0 * float(np.mean(box.condition >= NEAR_SINGULAR)),
        across=100.0 * box.across,
    )
    if box.correlation is not None:
        yield statement("box-correlation", correlation=box.correlation)
    regular, decade = box.forces[box.condition < NEAR_SINGULAR], box.decades[2]
    if decade.median is not None and len(regular):
        yield statement("box-forces", median=decade.median, times=decade.median / float(np.median(regular)))


def _operations(study: MachineStudy) -> Iterator[Statement]:
    total = study.counts.rows[3]
    yield statement("operations", exact=total.counted, printed=total.as_printed)
    structural = study.counts.structural["total"]
    if structural < total.counted:
        yield statement("operations-structure", structural=structural, exact=total.counted)
    else:
        yield statement("operations-general")

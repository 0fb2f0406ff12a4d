"""What a study finds, as codes with values, and their text in one place.

A text names each value in braces, with its unit: {peak:N}. Values are SI; % is of a value in percent already.
"""

import math
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rig.papers import number

Value = float | int | str | tuple[int, ...]

_TEXTS: dict[str, str] = {
    # the machine and the motion
    "machine": "The platform of {name} has a mass of {mass:kg} and weighs {weight:N}. Its six legs have {legs:kg} "
    "together. The platform is {ratio:} times as heavy as a leg.",
    "machine-massless-legs": "The platform of {name} has a mass of {mass:kg} and weighs {weight:N}. Its legs have no "
    "mass.",
    "drives": "Rotors, gears and screws of the drives resist as {mass:kg} at each rod. Here they count as inertia of "
    "the legs, and the drives' friction as friction, also in the dynamic force F_d.",
    "drives-unlike": "Rotors, gears and screws of the drives resist as {least:kg} to {greatest:kg} at the rods. Here "
    "they count as inertia of the legs, and the drives' friction as friction, also in the dynamic force F_d.",
    "motion": "The motion of {source} lasts {duration:s} and is evaluated at {samples:} times.",
    "legs": "The legs are {least:m} to {greatest:m} long and move at up to {speed:m/s}.",
    "derived-poses": "The file gives poses alone. Speeds and accelerations are those of a smooth motion through them, "
    "at rest at both ends.",
    "derived-accelerations": "The file gives poses and twists. Accelerations are the slopes of a spline of the twists.",
    "derived-lengths": "The file gives leg lengths. Poses follow from them by forward kinematics.",
    "commanded": "The file is a recording. The motion is the commanded one.",
    "thinned": "Of {rows:} rows every {stride:}th is evaluated.",
    "left-out": "At {count:} samples the platform is exactly singular, first at t = {time:s}. They are left out.",
    "wrench": "An external wrench acts on the platform: up to {force:N} and {moment:N m}.",
    "exceeded-length": "The motion exceeds the stroke of leg {leg:}: {value:m} at t = {time:s}, allowed {bound:m}.",
    "exceeded-velocity": "Leg {leg:} is too fast: {value:m/s} at t = {time:s}, allowed {bound:m/s}.",
    "exceeded-acceleration": "Leg {leg:} accelerates too much: {value:m/s²} at t = {time:s}, allowed {bound:m/s²}.",
    "exceeded-force": "The force of leg {leg:} exceeds its limit: {value:N} at t = {time:s}, allowed {bound:N}.",
    "exceeded-universal-angle": "An angle of a universal joint exceeds its limit: {value:rad} at t = {time:s}, allowed "
    "{bound:rad}.",
    "exceeded-spherical-angle": "An angle of a spherical joint exceeds its limit: {value:rad} at t = {time:s}, allowed "
    "{bound:rad}.",
    # forces
    "peak-force": "The largest force is {peak:N}, in leg {leg:} at t = {time:s}. This is {times:} times the platform's "
    "weight.",
    "peak-force-weightless": "The largest force is {peak:N}, in leg {leg:} at t = {time:s}.",
    "pushing": "Pushing throughout: {legs:legs}.",
    "pulling": "Pulling throughout: {legs:legs}.",
    "crossing": "The force changes its sign in {legs:legs}.",
    "dominant": "Of the six causes, {first:} is the largest with {first_rms:N} RMS over all legs, followed by "
    "{second:} with {second_rms:N}.",
    "weight-and-motion": "The weights of platform and legs alone make {weight:N} RMS, all other causes {moving:N}. The "
    "total is {total:N} RMS.",
    "friction-none": "Nothing has friction in this study.",
    "no-friction": "The mechanism has no friction.",
    # dynamic fraction
    "no-dynamic": "The legs have neither mass nor friction here: the dynamic force F_d is zero.",
    "fraction": "The median of |F_d/F| over all legs and samples is {median:%}. By leg it is {least:%} (leg "
    "{least_leg:}) to {greatest:%} (leg {greatest_leg:}).",
    "fraction-range": "Of all legs and samples {low:%} are below 20 %, {middle:%} from 20 to 50 %, {high:%} above. For "
    "their manipulator, whose platform is 10 times as heavy as a leg, the authors of 1998 call 20 to 50 % usual.",
    "fraction-parts": "F_d is {gravity:N} RMS of the legs' gravity, {inertia:N} of their inertia and {friction:N} of "
    "friction.",
    "fraction-poles": "It has poles where the total force passes zero: in {legs:legs}.",
    # models
    "friction-same": "Every model has all of the mechanism's friction, so that the differences are due to masses and "
    "to how the legs turn.",
    "friction-printed": "Each model has the friction of its paper: no Coulomb friction in 1998 and 2012, none at all "
    "with legs without mass. Their differences from the exact model include that.",
    "drives-same": "The drives' part of the motors' forces is the same in every model, also where the legs have no "
    "mass.",
    "massless": "Without the legs' mass the forces are {rms:%} off RMS, {peak:N} at most.",
    "improved": "The equations of 2012 improve on those of 1998 by a factor of {factor:} on this machine: {ours:%} "
    "against {theirs:%} RMS.",
    "not-improved": "The equations of 2012 are not more accurate than those of 1998 on this machine: {ours:%} against "
    "{theirs:%} RMS.",
    "improved-peak": "By the largest error they are better too: {ours:N} against {theirs:N}.",
    "improved-peak-not": "By the largest error they are not better: {ours:N} against {theirs:N}.",
    "not-improved-peak": "By the largest error they are better: {ours:N} against {theirs:N}.",
    "not-improved-peak-not": "By the largest error they are not better either: {ours:N} against {theirs:N}.",
    "at-rest": "At rest in the same poses the errors are {ours:%} (2012) and {theirs:%} (1998): the remaining error of "
    "1998 is the direction of the universal joint's moment, which 2012 has right.",
    "at-rest-exact": "At rest in the same poses all published formulations give the exact forces.",
    "counted-once": "Most of the error of 1998 is eq. 16, which counts the upper part's inertia twice: counted once, "
    "{left:%} are left, due to the spin and the universal joint's moment.",
    "counted-once-little": "With the upper part's inertia counted once in eq. 16 the equations of 1998 are {left:%} "
    "off: most of their error is the spin and the universal joint's moment, which they leave out.",
    "mended": "With every inertia counted once the equations of 2012 are exact: {left:N} are left at most.",
    "no-error": "On this machine all published models give the exact forces to {left:N}.",
    # spin and ends
    "spin": "The universal joints make the legs spin about their own axes by up to {spin:rad/s} (leg {leg:}), "
    "{share:%} of the greatest angular velocity of that leg.",
    "no-spin": "Without spin: {legs:legs}. Each turns about one axis of its universal joint, or not at all.",
    "no-turning": "The legs do not turn.",
    "without-spin": "Without the spin alone the forces change by {spin:%} RMS, {spin_peak:N} at most. With the "
    "universal joint's moment along the leg, in place of u×v, they change by {moment:%}, {moment_peak:N} at most.",
    "ends": "Spherical joints at both ends change the forces by {rms:%} RMS, {peak:N} at most.",
    "ends-symmetric": "The legs of this mechanism are not symmetric about their axes, as spherical joints at both ends "
    "need it: {reason:}. So both are computed with legs made symmetric.",
    # reactions
    "reaction": "The greatest {reaction:} is {peak:} {unit:}, at leg {leg:} and t = {time:s}.",
    "base": "The base carries up to {force:N} and {moment:N m} about its origin.",
    # conditioning
    "condition": "The condition number of H, with moments in N m, is {least:} to {greatest:}; it is greatest at t = "
    "{time:s}. With moments divided by {length:m}, the radius of the platform's joints, it is {scaled_least:} to "
    "{scaled_greatest:}.",
    "amplification": "A load of 1 N on the platform, at worst, takes leg forces with this norm: {most:N}.",
    "regular": "No sample is near-singular: the condition number stays below 100.",
    "near-singular": "Of the samples {share:%} are near-singular by §5.2 of 1998: the condition number is 100 or more. "
    "The largest leg force there is {peak:N}.",
    "crosses": "The motion passes through {count:} singularities, first at t = {time:s}. The forces have no bound "
    "there, and those of the samples depend on how near they are.",
    "crosses-one": "The motion passes through a singularity at t = {time:s}. The forces have no bound there, and those "
    "of the samples depend on how near they are.",
    "no-crossing": "det H does not change its sign: the motion passes no singularity.",
    "path-correlation": "Along the motion the rank correlation of condition number and largest leg force is "
    "{correlation:}.",
    "box": "Of {drawn:} static poses drawn evenly from a box around the motion, {kept:} are within the mechanism's "
    "limits. {near:%} of them are near-singular, {across:%} lie beyond a singularity.",
    "box-correlation": "Over these poses the rank correlation of condition number and largest leg force is "
    "{correlation:}.",
    "box-forces": "From 100 to 1000 the median of their largest force is {median:N}, {times:} times that of poses "
    "below 100.",
    # operations
    "operations": "One evaluation of the exact inverse dynamics takes {exact:} operations, the equations of 1998 as "
    "printed {printed:}.",
    "operations-structure": "Where the zeros and ones of this mechanism cost nothing, {structural:} of the {exact:} "
    "are left.",
    "operations-general": "This mechanism has no zeros that would save any of them.",
}
"""Text of every statement by code."""


class _Units(string.Formatter):
    """Formats a number with the unit that its field names, and a tuple as the legs of these numbers."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format one value."""
        if isinstance(value, str):
            return value
        if isinstance(value, tuple):
            return f"{'legs' if len(value) > 1 else 'leg'} {', '.join(map(str, value))}"
        if isinstance(value, int):
            return str(value)
        return number(value, format_spec) if math.isfinite(value) else "without bound"


_FORMATTER = _Units()


@dataclass(frozen=True, slots=True)
class Statement:
    """One finding: its code and its values, SI."""

    code: str
    values: Mapping[str, Value]

    @property
    def text(self) -> str:
        """The sentence."""
        return _FORMATTER.vformat(_TEXTS[self.code], (), self.values)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as a JSON object; a value without bound is null."""
        values = {name: None if isinstance(value, float) and not math.isfinite(value) else value
                  for name, value in self.values.items()}  # fmt: skip
        return {"code": self.code, "values": values, "text": self.text}


def statement(code: str, **values: Value) -> Statement:
    """Make a statement of values by name."""
    return Statement(code, values)

"""The conformance suites of laws and references: what is shipped and the guide's pass, a broken one is named."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from own_packages import example, installed

from kinematics import Array, MotionTable, pose_to_coordinates
from rig.config import law_names
from rig.engine.reference import TableSource
from rig.testing import LAW_CHECKS, SOURCE_CHECKS, check_law, check_source

BROKEN_LAWS = """
import random
import numpy as np
from rig.config import LawDeclaration
from rig.engine import ForceLaw, LawFault
from my_laws import IntegralLaw, feedback

def law(name, compute, commands=None, **declared):
    def of(cls, config, dynamics):
        return cls(config.control)
    members = {"name": name, "compute": compute, "of": classmethod(of)}
    if commands is not None:
        members["commands"] = commands
    return LawDeclaration(name, name, type(name, (ForceLaw,), members), **declared)

def force(self, cycle, by=0.0):
    ForceLaw.compute(self, cycle)
    cycle.set_points.force += by

def remembers(self, cycle):
    self.sum = getattr(self, "sum", np.zeros(6)) + cycle.reference.length_error
    force(self, cycle, 100.0 * self.sum)

KEPT = []
def keeps(self, cycle):
    force(self, cycle)
    KEPT.append(cycle.set_points.force.copy())

RANDOM = law("random", lambda self, cycle: force(self, cycle, random.random()))
BOUNDLESS = law("boundless", lambda self, cycle: force(self, cycle, 1e6 * cycle.reference.length_error * 1e3))
LAZY = law("lazy", lambda self, cycle: cycle.set_points.force.__setitem__(slice(None), 0.0))
BIASED = law("biased", lambda self, cycle: force(self, cycle, 20.0))
FIVE = law("five", force, lambda self, cycle: list(ForceLaw.commands(self, cycle))[:5])
REMEMBERING = law("remembering", remembers)
UNTRUE = law("untrue", lambda self, cycle: force(self, cycle, 3e4 * cycle.reference.length_error))
KEEPING = law("keeping", keeps)
RAISING = law("raising", lambda self, cycle: 1 / 0)
"""
LAWS = {
    "random": "deterministic",
    "boundless": "bounded",
    "lazy": "follows",
    "biased": "at rest",
    "five": "commands",
    "remembering": "begins anew",
    "untrue": "declared feedback",
    "keeping": "memory",
    "raising": "commands",
}
"""A law that lacks one thing, and the check that says so."""


@pytest.fixture(scope="module", autouse=True)
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    modules = {
        name: example(words) for name, words in (("my_laws", "class IntegralLaw"), ("my_references", "class Wave:"))
    }
    broken = "".join(f"{name} = broken_laws:{name.upper()}\n" for name in LAWS)
    entries = f"[stewart_rig.control_laws]\nintegral = my_laws:LAW\n{broken}"
    with installed(tmp_path_factory.mktemp("packages"), modules | {"broken_laws": BROKEN_LAWS}, entries):
        yield


@pytest.mark.parametrize("name", [*law_names(), "integral"])
def test_a_law_that_is_right_passes(name: str) -> None:
    assert check_law(name) == ()


@pytest.mark.parametrize("name", LAWS)
def test_a_law_that_is_broken_is_named(name: str) -> None:
    failed = {one.check: one.text for one in check_law(name)}
    assert LAWS[name] in failed, failed
    assert name != "raising" or "ZeroDivisionError" in failed["commands"]


def test_each_check_of_a_law_fails_for_something() -> None:
    assert set(LAWS.values()) | {"computed twice"} == set(LAW_CHECKS)
    assert "computed twice" in {one.check for one in check_law("remembering")}


def wave(pose: Array) -> Any:
    from my_references import Wave, WaveSettings  # type: ignore[import-not-found]

    return Wave(WaveSettings(), pose)


def table(pose: Array) -> TableSource:
    samples = np.zeros((2, 18))
    samples[:, :6] = pose_to_coordinates(pose)
    samples[1, :3] += 0.01
    return TableSource(MotionTable(5.0, samples), "table")


@pytest.mark.parametrize("make", [wave, table])
def test_a_reference_that_is_right_passes(make: Any) -> None:
    assert check_source(make) == ()


def without(member: str) -> Any:
    """The wave, with one member of its own that is not right."""

    def made(pose: Array) -> Any:
        source = wave(pose)
        kind, right = type(source), type(source).evaluate

        def evaluate(self: Any, ahead: float, motion: Array) -> bool:
            right(self, ahead, motion)
            t = self.path_time + ahead
            if member == "elsewhere":
                motion[0] += 0.001
            elif member == "impure":
                self._settings = self._settings.model_copy(update={"amplitude": self._settings.amplitude * 1.001})
            elif member == "forgetful" and ahead > 0.0:
                kind.evaluate(self, 0.0, motion)
            elif member == "random":
                motion[1] += 1e-4 * np.random.random()
            elif member == "jumping" and t > 1.0:
                motion[2] += 0.05
            elif member == "bending" and t > 1.0:
                motion[13:16] *= 0.5
            elif member == "infinite" and t > 1.0:
                motion[5] = np.inf
            return member != "undefined" or t < 1.0

        members: dict[str, Any] = {"evaluate": evaluate}
        if member == "restless":
            members["decelerate"] = lambda self, durations: None
        elif member == "abrupt":
            members["decelerate"] = lambda self, durations: self.__dict__.update(_slowed=self.path_time, _ramp=0.0)
            members["moving"] = property(lambda self: self._slowed == np.inf)
        elif member == "two-faced":
            members["paused"] = property(lambda self: True)
        elif member == "final":
            members["resume"] = lambda self, durations: None
        elif member == "raising":
            members["path_time"] = property(lambda self: 1 / 0, lambda self, value: None)
        source.__class__ = type("Other", (kind,), members)
        return source

    return made


@pytest.mark.parametrize(
    ("member", "check"),
    [
        ("elsewhere", "begins"),
        ("impure", "pure"),
        ("forgetful", "foretells"),
        ("random", "deterministic"),
        ("jumping", "continuous"),
        ("bending", "continuous"),
        ("infinite", "continuous"),
        ("undefined", "continuous"),
        ("abrupt", "continuous"),
        ("restless", "comes to rest"),
        ("two-faced", "phases"),
        ("final", "resumes"),
        ("raising", "phases"),
    ],
)
def test_a_reference_that_is_broken_is_named(member: str, check: str) -> None:
    failed = {one.check: one.text for one in check_source(without(member))}
    assert check in failed, failed


def test_every_check_of_a_reference_is_there() -> None:
    named = {"begins", "pure", "foretells", "deterministic", "continuous", "comes to rest", "phases", "resumes"}
    assert named == set(SOURCE_CHECKS)

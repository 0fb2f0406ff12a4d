"""Control laws by name: what a distribution declares, and that everybody reads it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from configured import SHIPPED
from own_packages import example, installed

from kinematics import MotionTable, pose_to_coordinates
from rig.commissioning.draft import Draft, draft_text
from rig.config import (
    ExtensionSettings,
    LawDeclaration,
    LegFeedback,
    RigConfig,
    control_laws,
    find_law,
    law_names,
    load_config,
)
from rig.engine import make_law
from rig.engine.cycle_data import CycleData
from rig.engine.laws import MixedLaw, law_of
from rig.engine.laws.law import GuardedLaw
from rig.engine.warmup import kernels_of
from rig.errors import ConfigError
from rig.safety import check_loop, judge_sag, law_bandwidth, with_bandwidth
from rig.virtual.closed_loop import controllers, on_reference, run_loop
from rig.virtual.plant import scaled_mechanism

BROKEN = """
import numpy
import numpy as np
from my_laws import IntegralLaw
from rig.config import LawDeclaration, LegFeedback
from rig.engine import ForceLaw
from rig.engine.laws import PositionLaw
OTHER = LawDeclaration("another", "Another", ForceLaw)
LATER = LawDeclaration("later", "Later", "nowhere:Law")
NUMBER = LawDeclaration("number", "A number", "numpy:pi")
UNJUDGED = LawDeclaration("unjudged", "Not judged", ForceLaw, feedback=lambda config: 1.0 / 0.0)
UNSHAPED = LawDeclaration("unshaped", "No feedback", ForceLaw, feedback=lambda config: "stiff")

class Damped(ForceLaw):
    def close_loop(self, cycle):  # the force law, in words of its own
        super().close_loop(cycle)

def in_memory(config):
    control = config.control
    return LegFeedback(control.stiffness, 0.0, np.zeros((1, 1)), np.array([[0.0, 1.0]]), np.array([control.damping]))

DAMPED = LawDeclaration("damped", "Damped by what it remembers", Damped, feedback=in_memory, mixed=True)

class Lengths(PositionLaw):
    pass

LENGTHS = LawDeclaration("lengths", "Lengths", Lengths, drives="position")
BOTH = LawDeclaration("both", "Both", IntegralLaw, mixed=True)
UNTRUE = LawDeclaration("untrue", "Commands lengths, it says", ForceLaw, drives="position")
"""
ENTRIES = """
[stewart_rig.control_laws]
integral = my_laws:LAW
absent = nothing_there:LAW
number = broken:NUMBER
misnamed = broken:OTHER
later = broken:LATER
unjudged = broken:UNJUDGED
unshaped = broken:UNSHAPED
no-law = broken:numpy
damped = broken:DAMPED
lengths = broken:LENGTHS
both = broken:BOTH
untrue = broken:UNTRUE
[stewart_rig.laws]
former = my_laws:IntegralLaw
"""


@pytest.fixture(scope="module", autouse=True)
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    modules = {"my_laws": example("class IntegralLaw"), "broken": BROKEN}
    with installed(tmp_path_factory.mktemp("packages"), modules, ENTRIES):
        yield


def integral(gain: float = 2e4, **control: float) -> RigConfig:
    return SHIPPED.changed({"mode": "integral", "laws": {"integral": {"gain": gain}}, "control": control})


# -- the registry ------------------------------------------------------------------------------------------------------


def test_whoever_asks_for_laws_finds_a_declared_one() -> None:
    assert law_names()[:4] == ("force", "computed-torque", "observer", "position") and "integral" in law_names()
    assert find_law("integral").caption == "Force, with an integral of the length error"
    assert '"integral"' in draft_text(Draft()) and {"integral", "former"} < set(controllers())
    config = integral(3e4)
    assert config.law_settings("integral").gain == 3e4 and SHIPPED.law_settings("integral").gain == 2e4
    assert RigConfig.model_validate(config.model_dump()).laws == config.laws
    assert hash(config) == hash(integral(3e4)) != hash(integral(4e4))
    assert config.changed({"rate": 400.0}).law_settings("integral").gain == 3e4
    assert law_of("integral").name == "integral"
    assert "rig.engine.laws.kernels.leg_feedback_kernel" in kernels_of(config)


def test_settings_are_judged_where_the_file_has_them() -> None:
    with pytest.raises(ConfigError) as caught:
        SHIPPED.changed({"laws": {"integral": {"gain": -1.0, "gian": 2.0}}})
    text = str(caught.value)
    assert "laws.integral.gain" in text and "laws.integral.gian" in text and "-1" in text
    for laws, why in (
        ({"force": {"gain": 1.0}}, "control law 'force' has no settings of its own"),
        ({"integrall": {}}, "no control law 'integrall'; known control laws: .*force, .*integral"),
        ({"integral": {"gain": float("nan")}}, "gain"),
        (3.0, "must be a table of tables"),
    ):
        with pytest.raises(ConfigError, match=why):
            SHIPPED.changed({"laws": laws})


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("integrall", "no control law 'integrall'; known control laws: .*force, .*integral"),
        ("absent", r"'absent' \(nothing_there:LAW\) cannot be loaded: ModuleNotFoundError"),
        ("misnamed", r"'misnamed' \(broken:OTHER\) declares the name 'another'"),
        ("no-law", r"'no-law' \(broken:numpy\) must be a LawDeclaration, got"),
    ],
)
def test_a_declaration_that_is_none_is_refused_when_the_file_is_read(mode: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        SHIPPED.changed({"mode": mode})
    assert [fault.key for fault in caught.value.found] == [("mode",)]


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("later", "'later' .*cannot be loaded: ModuleNotFoundError"),
        ("number", "'number' .*must be a class derived from ControlLaw, got 3.14"),
        ("unjudged", "'unjudged': its feedback cannot be computed: float division by zero"),
        ("unshaped", "'unshaped': its feedback is 'stiff', no LegFeedback or TaskFeedback"),
    ],
)
def test_a_declaration_that_cannot_be_used_is_refused_by_name(mode: str, why: str) -> None:
    config = SHIPPED.changed({"mode": mode})
    with pytest.raises(ConfigError, match=why):
        check_loop(config)
        law_of(mode)


def test_two_laws_of_one_name_are_refused(tmp_path: Path) -> None:
    with (
        installed(tmp_path, {}, "[stewart_rig.control_laws]\nforce = my_laws:LAW\n"),
        pytest.raises(ConfigError, match="two control laws are called 'force'"),
    ):
        law_names()
    assert "integral" in law_names()


def test_a_class_alone_is_judged_by_the_gains_of_control() -> None:
    former, force = (check_loop(SHIPPED.changed({"mode": mode})) for mode in ("former", "force"))
    assert (former.gain_margin, former.lowest_rate) == (force.gain_margin, force.lowest_rate)


# -- how it is judged --------------------------------------------------------------------------------------------------


def test_without_a_gain_it_is_judged_as_the_force_law() -> None:
    assert replace(check_loop(integral(0.0)), mode="force") == check_loop(SHIPPED)
    assert check_loop(integral(0.0)).lowest_rate == check_loop(SHIPPED).lowest_rate
    assert judge_sag(integral(0.0)).sag == judge_sag(SHIPPED).sag
    assert judge_sag(integral()).sag is None


def test_an_integral_that_is_too_strong_is_what_the_remedy_names() -> None:
    message = check_loop(integral(5e5)).message
    assert "is unstable" in message and message.endswith("; weaken what the law adds of the past ([laws.integral])")


@pytest.mark.parametrize("viscous", [None, 0.0])
def test_damping_in_the_memory_counts_as_damping(viscous: float | None) -> None:
    """A filter that passes at once what it gets is no filter: the same margin, also where nothing else damps."""
    config = SHIPPED
    if viscous is not None:
        legs = tuple(replace(leg, friction=replace(leg.friction, prismatic=viscous)) for leg in config.machine.legs)
        config = config.model_copy(update={"machine": replace(config.machine, legs=legs)})
    damped, force = (check_loop(config.model_copy(update={"mode": mode})) for mode in ("damped", "force"))
    assert damped.gain_margin == pytest.approx(force.gain_margin, rel=2e-3) and force.gain_margin > 1.5
    bandwidth = law_bandwidth(config, "damped")
    assert bandwidth.damping_ratio is None and law_bandwidth(config, "force").damping_ratio is not None
    weak = check_loop(config.changed({"mode": "damped", "control": {"stiffness": 2e5}})).message
    assert "damping 0 N s/m, and what it remembers, at" in weak and "multiply all gains of the law by" in weak


def test_a_law_that_commands_lengths_is_the_one_that_commands() -> None:
    config = SHIPPED.changed({"mode": "lengths"})
    law = make_law(config, CycleData(config).model.dynamics)
    assert isinstance(law, GuardedLaw) and type(law.law).__name__ == "Lengths" and all(law.own_loops)


def test_a_law_is_the_one_that_it_declares_to_be() -> None:
    dynamics = CycleData(SHIPPED).model.dynamics
    with pytest.raises(ConfigError, match=r"'untrue' cannot be made: .* drives = 'position' is declared"):
        make_law(SHIPPED.changed({"mode": "untrue"}), dynamics)
    some = load_config("virtual-mixed")
    with pytest.raises(ConfigError, match="'both': it is declared mixed and overrides compute"):
        make_law(some.changed({"mode": "both"}), dynamics)
    assert isinstance(make_law(some.changed({"mode": "damped"}), dynamics), MixedLaw)


def swing(gain: float) -> float:
    """How much an error grows within 0.6 s at home, after a twist that the legs' Coulomb friction does not hold."""
    config = integral(gain)
    samples = np.zeros((2, 18))
    samples[:, :6] = pose_to_coordinates(config.machine.geometry.home_pose)
    table = MotionTable(2.0, samples)
    run = run_loop(config, table, "integral", start=on_reference(config, table, np.full(6, 0.3)))
    size = np.abs(run.error[:, :3]).max(axis=1)
    return float(size[600:900].max() / size[300:600].max())


@pytest.mark.parametrize(("gain", "stable"), [(3.3e5, True), (3.7e5, False)])
def test_where_the_judged_loop_becomes_unstable_the_simulated_one_does(gain: float, stable: bool) -> None:
    """Near K_i = K_p K_d / m = 3.5·10⁵ N/(m s), the limit of the continuous loop in its heaviest direction, 51 kg."""
    assert (check_loop(integral(gain)).model_margin > 1.0) == stable
    assert (swing(gain) < 0.95) if stable else (swing(gain) > 1.2)


def test_a_bandwidth_scales_the_settings_too() -> None:
    before = law_bandwidth(SHIPPED, "integral").fastest
    config = with_bandwidth(SHIPPED, 0.5 * before)
    assert law_bandwidth(config, "integral").fastest == pytest.approx(0.5 * before)
    assert config.law_settings("integral").gain == pytest.approx(2e4 / 8.0, rel=1e-6)


# -- offline -----------------------------------------------------------------------------------------------------------


def lift() -> MotionTable:
    samples = np.zeros((2, 18))
    samples[:, :6] = pose_to_coordinates(SHIPPED.machine.geometry.home_pose)
    samples[1, 2] += 0.02
    return MotionTable(1.0, samples)


@pytest.mark.parametrize("name", ["force", "computed-torque", "observer", "position"])
def test_a_law_itself_does_offline_what_its_compiled_branch_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways to the same numbers: the engine's law on the data of its cycle, and `control_kernel`."""
    compiled = run_loop(SHIPPED, lift(), name, plant=scaled_mechanism(SHIPPED.machine, 1.1))
    itself = replace(find_law(name), compiled="")
    monkeypatch.setattr("rig.virtual.closed_loop.simulation.find_law", lambda _name: itself)
    computed = run_loop(SHIPPED, lift(), name, plant=scaled_mechanism(SHIPPED.machine, 1.1))
    np.testing.assert_allclose(computed.states[:, :3], compiled.states[:, :3], atol=1e-6)
    assert len(computed.states) == len(compiled.states) and not computed.end


def test_offline_the_integral_takes_the_sag_away() -> None:
    plant = scaled_mechanism(SHIPPED.machine, 1.2)
    sag = {name: np.abs(run_loop(SHIPPED, lift(), name, plant=plant).error[-1, 2]) for name in ("force", "integral")}
    strong = run_loop(integral(2e5), lift(), "integral", plant=plant).error[-1, 2]
    assert sag["integral"] < 0.7 * sag["force"] and abs(strong) < 0.1 * sag["force"]


def test_the_law_begins_anew_where_it_did_not_command() -> None:
    config = integral()
    law, data = make_law(config, CycleData(config).model.dynamics), CycleData(config)
    data.reference.length_error[:] = 1e-3
    forces = []
    for active in (True, True, True, False, True):
        law.refer(data)
        if active:
            data.reference.ahead[:7] = config.machine.geometry.home_pose
            law.compute(data)
            forces.append(data.set_points.force.copy())
    assert (forces[1] - forces[0] == pytest.approx(2e4 * 2e-3 * 1e-3)) and forces[3] == pytest.approx(forces[0])


@pytest.mark.parametrize("shapes", [((1, 1), (1, 2), (2,)), ((1, 1), (1, 1), (1,)), ((2, 1), (1, 2), (1,))])
def test_what_is_remembered_must_fit_together(shapes: tuple[tuple[int, ...], ...]) -> None:
    A, B, C = map(np.zeros, shapes)
    with pytest.raises(ValueError, match=r"must be \(n, n\), \(n, 2\), \(n,\)"):
        LegFeedback(1.0, 1.0, A, B, C)


def test_no_more_is_remembered_than_the_cycle_has_room_for() -> None:
    LegFeedback(1.0, 1.0, np.zeros((8, 8)), np.zeros((8, 2)), np.zeros(8))
    with pytest.raises(ValueError, match="9 numbers are remembered of each leg, at most 8"):
        LegFeedback(1.0, 1.0, np.zeros((9, 9)), np.zeros((9, 2)), np.zeros(9))


def test_the_declarations_of_this_program_are_whole() -> None:
    for law in control_laws.usable_laws()[:4]:
        assert isinstance(law, LawDeclaration) and law.compiled == law.name and law.settings is ExtensionSettings
        assert law_of(law.name).name == law.name
        assert all(law_of(law.name).own_loops) == law.own_loops

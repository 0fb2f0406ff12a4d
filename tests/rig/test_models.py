"""What models differ by at the load cells: what every comparison with measurements is made of."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from dynamics import Dynamics, Mechanism, load_mechanism
from dynamics.papers import MODELS, variant_cells
from kinematics import leg_kinematics, load_trajectory
from rig.cell_models import Floats, model_differences
from rig.config.rig_config import load_config

PUBLISHED = MODELS[1:]
ROOT = Path(__file__).parents[2]
LAB_HEXAPOD = load_mechanism("lab-hexapod")

Location = Literal["actuator", "rod_end", "base"]
LOCATIONS: tuple[Location, ...] = ("actuator", "rod_end", "base")


def demo_motion(begin: float, end: float) -> Floats:
    """The demo motion at 500 Hz, without noise."""
    trajectory = load_trajectory("demo", LAB_HEXAPOD.geometry.home)
    return trajectory.motion(np.arange(500.0 * begin, 500.0 * end + 1.0) / 500.0)


def at(location: Location, *, smooth: bool = False) -> Mechanism:
    """The lab-hexapod with its cells there; `smooth`, without the friction of its prismatic joints."""
    legs = []
    for leg in LAB_HEXAPOD.legs:
        friction = replace(leg.friction, prismatic=0.0, coulomb=0.0) if smooth else leg.friction
        legs.append(replace(leg, friction=friction, load_cell=replace(leg.load_cell, location=location)))
    return replace(LAB_HEXAPOD, legs=tuple(legs))


@pytest.mark.parametrize(
    ("location", "begin", "end", "expected"),
    [
        ("rod_end", 3.0, 17.0, ("2.54", "0.96", "6.44")),
        ("rod_end", 0.0, 20.0, ("2.32", "0.88", "6.11")),
        ("base", 3.0, 17.0, ("2.54", "0.96", "33.47")),
        ("actuator", 3.0, 17.0, ("2.54", "0.96", "12.82")),
    ],
)
def test_differences_on_the_demo_motion(
    location: Location, begin: float, end: float, expected: tuple[str, ...]
) -> None:
    """RMS over legs and samples, N: at full swing, from 3 to 17 s, and with the fades at both ends."""
    differences = model_differences(at(location), demo_motion(begin, end), PUBLISHED)
    assert tuple(f"{np.sqrt(np.mean(differences[model] ** 2)):.2f}" for model in PUBLISHED) == expected


def test_the_guide_gives_these_figures() -> None:
    """What the models differ by on the whole demonstration and at full speed, without the cells' noise."""
    whole, full = (
        [f"{np.sqrt(np.mean(found[model] ** 2)):.2f}" for model in PUBLISHED]
        for found in (model_differences(LAB_HEXAPOD, demo_motion(*span), PUBLISHED) for span in ((0, 20), (3, 17)))
    )
    guide = " ".join((ROOT / "docs" / "researcher.md").read_text().split())
    assert (
        f"`dasgupta-1998` differs from the exact model by {whole[0]} N, `pedrammehr-2012` by {whole[1]} N and "
        f"`massless` by {whole[2]} N RMS"
    ) in guide
    assert f"At full speed, from 3 to 17 s, it is {full[0]}, {full[1]} and {full[2]} N." in guide
    noise = load_config("virtual").load_cells.noise
    assert f"cells' noise, {noise:g} N" in guide


@pytest.mark.parametrize("location", LOCATIONS)
def test_friction_is_charged_where_a_cell_reads_it(location: Location) -> None:
    """At the actuator alone, with the control's own smoothing: as printed, to the models that leave it out."""
    motions, smoothing = demo_motion(8.0, 9.0), 0.01
    speeds = leg_kinematics(LAB_HEXAPOD.geometry, motions).velocity
    coulomb, viscous = 4.0 * np.tanh(speeds / smoothing), 35.0 * speeds
    left_out = {
        "exact": np.zeros(6),
        "dasgupta-1998": coulomb,
        "pedrammehr-2012": coulomb,
        "massless": coulomb + viscous,
    }
    for friction in ("printed", "same"):
        rough = model_differences(at(location), motions, MODELS, smoothing, friction)
        smooth = model_differences(at(location, smooth=True), motions, MODELS, smoothing, friction)
        for model in MODELS:
            charged = location == "actuator" and friction == "printed"
            change = -left_out[model] if charged else np.zeros(6)
            np.testing.assert_allclose(rough[model] - smooth[model], np.broadcast_to(change, (501, 6)), atol=1e-10)


@pytest.mark.parametrize("location", LOCATIONS)
def test_a_difference_is_the_model_at_the_cell_less_the_exact_one_there(location: Location) -> None:
    motions = demo_motion(8.0, 8.1)
    exact = Dynamics(at(location), 0.001).cells(motions)
    differences = model_differences(at(location), motions, MODELS, 0.001)
    assert tuple(differences) == MODELS
    assert not differences["exact"].any()
    for model in PUBLISHED:
        given = variant_cells(model, at(location), motions, friction="same", coulomb_speed=0.001)
        np.testing.assert_array_equal(differences[model], given - exact)

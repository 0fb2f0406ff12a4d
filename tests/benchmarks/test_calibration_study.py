"""Geometry and load cells calibrated on many machines that the estimators never see: `make bench`.

What is printed could come out otherwise: errors, noise and poses are drawn anew for each seed.
"""

import numpy as np
from tracked_platform import built, estimates, in_gauge, reachable_poses

from calibration import GeometryNoise, Rests, calibrate_geometry, calibrate_in_place, plan_weight_poses
from dynamics import Dynamics, load_mechanism
from kinematics import Placement

LAB = load_mechanism("lab-hexapod")
GEOMETRIES, CELLS = range(1000, 1100), range(2000, 2200)
CELL_NOISE, READINGS, POSES = 0.5, 500, 30


def test_geometries() -> None:
    """Joints and lengths 2 mm off, 60 poses, a tracker of 20 um."""
    reduced, held, inside = [], [], []
    for seed in GEOMETRIES:
        random = np.random.default_rng(seed)
        platform = built(LAB.geometry, random)
        result = calibrate_geometry(
            LAB.geometry, platform.measured(reachable_poses(LAB, 60, random), random, GeometryNoise())
        )
        values, sigmas = estimates(result)
        inside.append(np.abs(values - in_gauge(platform, LAB.geometry)) < 2.0 * sigmas)
        reduced.append(result.reduced_chi_square)
        assert result.hold_out is not None
        held.append(result.hold_out.after.position_rms)
    print(f"\n{len(held)} geometries, 60 poses each: held-out poses {np.mean(held) * 1e6:.1f} um RMS (mean),")
    print(f"  {np.max(held) * 1e6:.1f} um (worst); reduced chi-square {np.min(reduced):.3f} to {np.max(reduced):.3f};")
    print(f"  {100 * np.mean(inside):.1f} % of the numbers within 2 sigma")
    assert np.max(held) < 50e-6
    assert np.min(reduced) > 0.8 and np.max(reduced) < 1.2
    assert 0.93 < np.mean(inside) < 0.975


def test_cells_in_place() -> None:
    """Gains 1 % and offsets 3 N off, one cell of each machine reversed, 30 planned poses."""
    plan = plan_weight_poses(LAB, POSES, candidates=400)
    points = plan.way_points[plan.holds]
    placement = Placement("home", home=LAB.geometry.home_pose)
    motions = placement.to_motion(points, np.zeros_like(points), np.zeros_like(points))
    forces = Dynamics(LAB).cells(motions)
    gains, offsets, reversed_found = [], [], 0
    for seed in CELLS:
        random = np.random.default_rng(seed)
        gain, offset = 1.0 + random.normal(0.0, 0.01, 6), random.normal(0.0, 3.0, 6)
        turned = int(random.integers(6))
        gain[turned] *= -1.0
        noise = CELL_NOISE / np.abs(gain)
        readings = offset + forces / gain + random.normal(size=forces.shape) * noise / np.sqrt(READINGS)
        counts = np.full(POSES, float(READINGS))
        found = calibrate_in_place(LAB, Rests(motions[:, :7], readings, np.tile(noise, (POSES, 1)), counts))
        gains.append(found.gain / gain - 1.0)
        offsets.append(found.offset - offset)
        reversed_found += found.reversed == (turned + 1,)
    least = CELL_NOISE / np.sqrt(READINGS * POSES)
    worst, spread = np.abs(gains).max(), np.std(offsets) / least
    print(f"\n{len(gains)} machines, {POSES} rests each: gains to {100 * worst:.4f} % at most, offsets to {spread:.2f}")
    print(f"  times the noise of their mean; the reversed cell found {reversed_found} times")
    assert worst < 1e-3 and spread < 1.5
    assert reversed_found == len(gains)

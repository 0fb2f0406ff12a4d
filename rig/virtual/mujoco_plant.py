"""The simulated machine with MuJoCo's equations of motion: its MJCF model, and the plant."""

from typing import Any

import numpy as np

from dynamics import Body, Mechanism
from kinematics import leg_lengths, stepped_pose
from rig.config import Virtual
from rig.errors import ConfigError
from rig.virtual import mujoco_kernel as kernels
from rig.virtual import plant_kernel as rows
from rig.virtual.arrays import Array
from rig.virtual.plant import Plant

SOLVER_STEPS = 2.0
"""Time constant of a joint constraint's error, in steps: MuJoCo's minimum."""
IMPEDANCE = 0.9999
"""Constraint impedance, MuJoCo's maximum; the rest is compliance of the constraint."""


def mjcf(mechanism: Mechanism, step: float) -> str:
    """Return the mechanism as MJCF, with joint zeros at home. SI units, axes of the base.

    Leg i has the joints 3i, 3i + 1 (hinges, u fixed in the base and then v) and 3i + 2 (slide along the leg) and the
    bodies 1 + 2i (lower part, frame D) and 2 + 2i (upper part, frame U); body 13 is the platform on a free joint. The
    site `cell<i>` is at the mass between the leg's load cell and its joint. The spherical joints are `connect`
    constraints without friction.

    Args:
        mechanism: any with realisable bodies. step: of integration, s.
    """
    geometry = mechanism.geometry
    home = geometry.home_pose
    soft = f"{_text((SOLVER_STEPS * step, 1.0))}", f"{_text((IMPEDANCE, IMPEDANCE, 0.001))}"
    legs, connects = [], []
    frames = leg_frames(mechanism)
    lengths = leg_lengths(geometry, home)
    for index, (leg, frame, length) in enumerate(zip(mechanism.legs, frames, lengths, strict=True)):
        friction, cell = leg.friction, leg.load_cell
        site = f'<site name="cell{index}" pos="{_text(cell.place)}"/>'
        below, above = (site, "") if cell.location == "base" else ("", site)
        hinge = f'<joint type="hinge" damping="{friction.universal!r}"'
        legs.append(
            f'<body name="lower{index}" pos="{_text(geometry.base_points[index])}" quat="{_quaternion(frame)}">'
            f'{hinge} axis="{_text(frame.T @ geometry.universal_axes[index])}"/>{hinge} axis="0 1 0"/>'
            f"{_inertial(leg.lower)}{below}"
            f'<body name="upper{index}" pos="{float(length)!r} 0 0">'
            f'<joint name="slide{index}" type="slide" axis="1 0 0" damping="{leg.viscous!r}" '
            f'frictionloss="{leg.coulomb!r}" armature="{leg.drive.mass!r}"/>'
            f"{_inertial(leg.upper)}{above}</body></body>"
        )
        connects.append(
            f'<connect body1="upper{index}" body2="platform" anchor="0 0 0" solref="{soft[0]}" solimp="{soft[1]}"/>'
        )
    platform = Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia)
    return (
        f'<mujoco><option integrator="Euler" timestep="{step!r}" gravity="{_text(mechanism.gravity)}" '
        'solver="Newton" tolerance="1e-14" jacobian="dense"><flag contact="disable" eulerdamp="disable" '
        'autoreset="disable"/></option>'
        f'<worldbody>{"".join(legs)}<body name="platform" pos="{_text(home[:3])}" quat="{_text(home[3:])}"><freejoint/>'
        f"{_inertial(platform)}</body></worldbody><equality>{''.join(connects)}</equality></mujoco>"
    )


def smooth_friction(model: Any, speed: float) -> None:
    """Let the Coulomb friction of a compiled `mjcf` reach its full value over a speed (m/s) of its slides.

    MuJoCo's friction is f = −(b v + a)/R up to its bound, R = A (1 − d)/d, with A of the joint alone: b avoids a
    lag, and the impedance d gives the slope.
    """
    rate = 0.5 / model.opt.timestep
    for dof in range(2, 18, 3):
        stiffness = model.dof_frictionloss[dof] * model.dof_invweight0[dof] / (speed * rate)
        impedance = min(max(stiffness / (1.0 + stiffness), 1.0 - IMPEDANCE), IMPEDANCE)
        model.dof_solimp[dof, :2] = impedance
        model.dof_solref[dof] = -1.0, -rate * impedance


def leg_frames(mechanism: Mechanism) -> Array:
    """Axes of the legs' frames at home, as columns [s, v, s×v], base axes, (6, 3, 3)."""
    geometry = mechanism.geometry
    home = geometry.home_pose
    s = geometry.platform_points @ _rotation(home[3:]).T + home[:3] - geometry.base_points
    s /= np.linalg.norm(s, axis=1, keepdims=True)
    v = np.cross(geometry.universal_axes, s)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return np.stack([s, v, np.cross(s, v)], axis=2)


def joint_positions(mechanism: Mechanism, pose: Array) -> Array:
    """Return MuJoCo's qpos (25,) of a pose (7,): rad and m of the legs' joints from home, then the pose itself."""
    geometry = mechanism.geometry
    S = geometry.platform_points @ _rotation(pose[3:]).T + pose[:3] - geometry.base_points
    lengths = np.linalg.norm(S, axis=1)
    s = S / lengths[:, None]
    u = geometry.universal_axes
    frames = leg_frames(mechanism)
    v = frames[:, :, 1]
    across = np.cross(v, u)  # direction of the leg at home, perpendicular to u

    def along(a: Array, b: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->i", a, b))

    positions = np.empty(25)
    positions[0:18:3] = np.arctan2(along(s, v), along(s, across))
    # a positive rotation about v moves the leg away from u
    positions[1:18:3] = np.arcsin(along(frames[:, :, 0], u)) - np.arcsin(along(s, u))
    positions[2:18:3] = lengths - leg_lengths(geometry, geometry.home_pose)
    positions[18:] = pose
    return positions


def _rotation(quaternion: Array) -> Array:
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion(matrix: Array) -> str:
    """Format the unit quaternion of a rotation, w first."""
    # from the largest of the four squares, to avoid division by small numbers
    trace = float(np.trace(matrix))
    squares = np.array([1.0 + trace, *(1.0 - trace + 2.0 * np.diag(matrix))])
    k = int(np.argmax(squares))
    skew = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    full = np.empty((4, 4))
    full[0, 0], full[0, 1:], full[1:, 0] = squares[0], skew, skew
    full[1:, 1:] = matrix + matrix.T
    full[1:, 1:][np.diag_indices(3)] = squares[1:]
    return _text(full[k] / np.linalg.norm(full[k]))


def _inertial(body: Body) -> str:
    full = np.asarray(body.inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return f'<inertial pos="{_text(body.center_of_mass)}" mass="{body.mass!r}" fullinertia="{_text(full)}"/>'


def _text(values: object) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(np.asarray(values)))


STEP = 1.25e-4
"""Longest step, s: MuJoCo's integrator is first order. Half the step gives no visible change at a cell."""
_INSTANT = 1e-5  # s, for the speeds of the legs' joints by differences
_AXIAL = 3  # index of the force or acceleration along x in MuJoCo's six numbers of a body
_UPPER, _LOWER = slice(2, 13, 2), slice(1, 13, 2)  # rows of the bodies


class MujocoPlant(Plant):
    """Six drives on MuJoCo's model of a mechanism; drives, brakes and end stops as in `Plant`.

    Motion and load-cell readings are MuJoCo's: masses and universal joints in its tree, spherical joints as slightly
    compliant constraints, the prismatic joints' Coulomb friction as a bounded constraint. A cell reads the force of
    MuJoCo's solver at its place, not one from our inverse dynamics.

    Raises ConfigError as `Plant`, without the package mujoco, and for bodies that are not realisable.
    """

    def __init__(self, machine: Mechanism, settings: Virtual, start: float = 0.0, **others: Any) -> None:
        """See `Plant`."""
        self._mujoco = mujoco_package()
        self._data: Any = None
        self._motor = np.zeros(6)
        self._own = np.zeros(6)
        self._at, self._loads = np.zeros(13), np.zeros(6)
        self._home_lengths = machine.geometry.home_lengths
        step = min(settings.step, STEP)
        super().__init__(machine, settings.model_copy(update={"step": step}), start, **others)

    def _load(self, machine: Mechanism) -> None:
        super()._load(machine)
        mujoco, before = self._mujoco, self._data
        try:
            model = mujoco.MjModel.from_xml_string(mjcf(machine, self.step))
        except ValueError as error:
            raise ConfigError(f"virtual.plant.engine: MuJoCo cannot take {machine.name}: {error}") from None
        smooth_friction(model, self._settings.plant.coulomb_speed)
        self._model, self._data = model, mujoco.MjData(model)
        self._spherical = np.array([leg.friction.spherical for leg in machine.legs])
        self._beyond = np.array([leg.load_cell.mass_beyond for leg in machine.legs])
        self._places = [leg.load_cell.location for leg in machine.legs]
        # parts of the friction along the leg that its cell reads
        self._viscous = np.array([_share(leg.cell_viscous, leg.viscous) for leg in machine.legs])
        self._coulomb = np.array([_share(leg.cell_coulomb, leg.coulomb) for leg in machine.legs])
        self._turning = np.array([leg.drive.mass for leg in machine.legs])
        self._sticking = [leg for leg in range(6) if model.dof_frictionloss[3 * leg + 2] > 0.0]
        if before is not None:
            self._data.qpos[:], self._data.qvel[:] = before.qpos, before.qvel
            self._data.qacc_warmstart[:] = before.qacc_warmstart

    def set_moving(self, state: Array, drives: Array) -> None:
        """See `Plant`."""
        data, pose, twist = self._data, state[:7], state[7:]
        data.qpos[:] = joint_positions(self._bare, pose)
        steps, pivot = (-_INSTANT * twist, _INSTANT * twist), np.zeros(3)
        before, after = (joint_positions(self._bare, stepped_pose(pose, step, "base", pivot)) for step in steps)
        data.qvel[:18] = (after - before)[:18] / (2.0 * _INSTANT)
        data.qvel[18:21], data.qvel[21:] = twist[:3], _rotation(pose[3:]).T @ twist[3:]
        super().set_moving(state, drives)

    def _growth(self, damping: float, stiffness: float) -> float:
        """See `Plant`; MuJoCo's step updates velocity with the old force, and position with the new velocity."""
        d, k = damping * self.step, stiffness * self.step**2
        return float(np.abs(np.roots([1.0, d + k - 2.0, 1.0 - d])).max())

    def _stand(self, machine: Mechanism, settings: Virtual) -> None:
        super()._stand(machine, settings)
        self._data.qpos[:] = joint_positions(machine, self._state[:7])

    def _integrate(self, steps: int, h: float) -> int:
        mujoco, model, data = self._mujoco, self._model, self._data
        model.opt.timestep = h
        start = self.time
        for step in range(steps):
            before = data.qpos.copy()
            mujoco.mj_step1(model, data)
            kernels.drives_kernel(
                self._legs, self._parameters, self._drives, self._queues, self._waiting, self._home_lengths,
                data.qpos, data.qvel, start + step * h, h, self._motor,
            )  # fmt: skip
            self._apply()
            mujoco.mj_step2(model, data)
            status = kernels.settle_kernel(
                self._legs, self._parameters, self._drives, self._home_lengths, data.qpos, data.qvel, h
            )  # fmt: skip
            if status != rows.RUNNING:
                data.qpos[:], data.qvel[:] = before, 0.0
                self._evaluate()
                self._out[rows.SPEEDS] = self._out[rows.ACCELERATION] = 0.0
                return int(status)
        return self._evaluate()

    def _evaluate(self) -> int:
        """Let MuJoCo compute all forces at its current state, and read the outputs."""
        mujoco, model, data, out = self._mujoco, self._model, self._data, self._out
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        kernels.motors_kernel(self._drives, self._motor)
        self._apply()
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        mujoco.mj_fwdConstraint(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        rotation = data.xmat[kernels.PLATFORM].reshape(3, 3)
        self._state[:7], self._state[7:10] = data.qpos[18:], data.qvel[18:21]
        self._state[10:] = rotation @ data.qvel[21:]
        out[rows.ACCELERATION, :3], out[rows.ACCELERATION, 3:] = data.qacc[18:21], rotation @ data.qacc[21:]
        out[rows.CELLS] = self._readings()
        return rows.RUNNING

    def _readings(self) -> Array:
        """Load-cell readings, N, compression positive, from the forces between MuJoCo's bodies."""
        mujoco, model, data = self._mujoco, self._model, self._data
        axes = data.xmat[_UPPER].reshape(6, 3, 3)[:, :, 0]
        proper, motion = np.empty(6), np.empty(6)
        for leg in range(6):  # acceleration minus gravity of the mass between cell and joint, along the leg
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_SITE, leg, motion, 1)
            proper[leg] = motion[_AXIAL]
        inert = self._beyond * proper
        tops = np.einsum("ij,ij->i", axes, data.efc_force[:18].reshape(6, 3))
        feet = np.einsum("ij,ij->i", axes, data.cfrc_int[_LOWER, _AXIAL:])
        # force through the prismatic joint, and the part of the drive's force lost to friction there
        middles = np.einsum("ij,ij->i", axes, data.cfrc_int[_UPPER, _AXIAL:])
        middles = middles - self._viscous * data.qfrc_passive[2:18:3] - self._own
        sticking = self._sticking
        middles[sticking] -= self._coulomb[sticking] * data.efc_force[18 : 18 + len(sticking)]
        readings = {
            "rod_end": inert - tops,
            "base": feet - inert,
            "actuator": middles - inert,
            "motor": middles + self._turning * data.qacc[2:18:3],
        }
        return np.array([readings[place][leg] for leg, place in enumerate(self._places)])

    def _observe(self) -> None:
        self._publish(self._evaluate())

    def _apply(self) -> None:
        data = self._data
        kernels.apply_kernel(
            self._legs, self._parameters, self._drives, self._motor, self._home_lengths, self._spherical,
            self._outer_wrench(), self._hose, data.qpos, data.qvel, data.xmat, data.cvel, data.qfrc_applied,
            data.xfrc_applied, self._own, self._at, self._loads, self._out,
        )  # fmt: skip


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def mujoco_package() -> Any:
    """Import the package mujoco. Raises ConfigError if it is not installed."""
    try:
        import mujoco
    except ImportError as error:
        raise ConfigError(
            "virtual.plant.engine = \"mujoco\" needs MuJoCo, which is not installed: pip install 'stewart-rig[mujoco]'"
        ) from error
    return mujoco

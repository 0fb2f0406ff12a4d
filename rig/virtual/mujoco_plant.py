"""The simulated machine with MuJoCo's equations of motion in place of ours: a truth that nobody here wrote."""

from typing import Any

import numpy as np

from dynamics import Mechanism
from rig.config import Virtual
from rig.errors import ConfigError
from rig.virtual import mujoco_kernel as kernels
from rig.virtual import plant_kernel as rows
from rig.virtual.arrays import Array
from rig.virtual.mujoco_model import joint_positions, mjcf, smooth_friction
from rig.virtual.plant import Plant

STEP = 1.25e-4
"""Longest step, s: MuJoCo's integrator is of the first order. At half of it nothing changes that a cell would show."""
_AXIAL = 3  # place of the force or acceleration along x in MuJoCo's six numbers of a body
_UPPER, _LOWER = slice(2, 13, 2), slice(1, 13, 2)  # rows of the bodies


class MujocoPlant(Plant):
    """Six drives on MuJoCo's model of a mechanism; as `Plant`, whose drives, brakes and end stops it has.

    What moves, and what the load cells read, is MuJoCo's: masses and universal joints in its tree, spherical joints
    by constraints that give a little, the prismatic joints' Coulomb friction by a bounded constraint. A cell reads the
    force that MuJoCo's solver finds where it sits, not one from our inverse dynamics.

    Raises ConfigError as `Plant`, without the package mujoco, and for bodies that cannot exist.
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
        self._sticking = [leg for leg in range(6) if model.dof_frictionloss[3 * leg + 2] > 0.0]
        if before is not None:
            self._data.qpos[:], self._data.qvel[:] = before.qpos, before.qvel
            self._data.qacc_warmstart[:] = before.qacc_warmstart

    def _growth(self, damping: float, stiffness: float) -> float:
        """See `Plant`; MuJoCo's step takes the velocity on by the old force, and the place by the new velocity."""
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
                self._look()
                self._out[rows.SPEEDS] = self._out[rows.ACCELERATION] = 0.0
                return int(status)
        return self._look()

    def _look(self) -> int:
        """Have MuJoCo find every force at its present state, and read what can be measured."""
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
        """What the cells read, N, compression positive, from the forces between MuJoCo's bodies."""
        mujoco, model, data = self._mujoco, self._model, self._data
        axes = data.xmat[_UPPER].reshape(6, 3, 3)[:, :, 0]
        proper, motion = np.empty(6), np.empty(6)
        for leg in range(6):  # acceleration less gravity of the mass between cell and joint, along the leg
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_SITE, leg, motion, 1)
            proper[leg] = motion[_AXIAL]
        inert = self._beyond * proper
        tops = np.einsum("ij,ij->i", axes, data.efc_force[:18].reshape(6, 3))
        feet = np.einsum("ij,ij->i", axes, data.cfrc_int[_LOWER, _AXIAL:])
        # what goes through the prismatic joint, and what all friction there has taken from the drive's force
        middles = np.einsum("ij,ij->i", axes, data.cfrc_int[_UPPER, _AXIAL:]) - data.qfrc_passive[2:18:3] - self._own
        middles[self._sticking] -= data.efc_force[18 : 18 + len(self._sticking)]
        readings = {"rod_end": inert - tops, "base": feet - inert, "actuator": middles - inert}
        return np.array([readings[place][leg] for leg, place in enumerate(self._places)])

    def _observe(self) -> None:
        self._publish(self._look())

    def _apply(self) -> None:
        data = self._data
        kernels.apply_kernel(
            self._legs, self._parameters, self._drives, self._motor, self._home_lengths, self._spherical, self.wrench,
            self._hose, data.qpos, data.qvel, data.xmat, data.cvel, data.qfrc_applied, data.xfrc_applied, self._own,
            self._at, self._loads, self._out,
        )  # fmt: skip


def mujoco_package() -> Any:
    """The package mujoco. Raises ConfigError where it is not installed."""
    try:
        import mujoco
    except ImportError as error:
        raise ConfigError(
            "virtual.plant.engine = \"mujoco\" needs MuJoCo, which is not installed: pip install 'stewart-rig[mujoco]'"
        ) from error
    return mujoco

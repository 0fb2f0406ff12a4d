"""Zero-order hold of the feedforward: by how much a drive's force differs from the model's when its cell is read.

The model's force F(t) is commanded once a cycle and held until the next command. The drive delivers it after its dead
time T_d with the lag τ of its force loop: τ Ḟ_d = F_c(t − T_d) − F_d. A cell samples that staircase at one instant.
F_d − F(t) follows from the commands alone, whether the model is right or wrong, so it is part of the expected reading
and not of the residual. Feedback is left out: the force by which it corrects a wrong model stays in the residual.

A drive that closes its own loop, on a length that it carries on at the commanded speed v_c, adds to F_c the difference
of that straight line from the reference, K (l_c + v_c x − l(x)) + D (v_c − l̇(x)), x s after the command took effect.
With it the legs deviate from their reference by δ, and the loops are against that: Λ δ̈ = F_d − F − K δ − D δ̇, where
Λ is the inertia that the legs feel. A leg that deviates turns round a little earlier or later, and Coulomb
friction with it. Deviations are computed, never measured: those that a wrong model causes stay in the residual.

What becomes of an excess in the platform's motion, and in what a cell reads that sits beyond the leg's own inertia, is
taken as it is at home: the two are corrections of a correction.
"""

import math
from collections.abc import Sequence

import numpy as np

from dynamics import Dynamics
from kinematics import Array, inlined, kernel, leg_kinematics
from rig.config import RigConfig

_DEPTH = 64
"""commands that are kept"""
_SUBSTEPS = (2, 16)
"""of a cycle, in which deviations are computed: before and after a command takes effect in it"""

# Rows of a command (COMMAND_ROWS, 6).
_FORCE = 0  # N, the model's
_SMOOTH = 1  # N, the same less Coulomb friction
_LENGTH = 2  # m, of the reference's leg where a length takes effect …
_SPEED = 3  # m/s
_ACCELERATION = 4  # m/s²
_DELIVERED = 5  # N, as the command takes effect
_COURSE = 6  # N/s⁰ … N/s⁵, six rows: what the drive gives x s later is their polynomial and a part that dies away
_COMMAND_ROWS = 12
_POWERS = 6

# Rows of what is known of the legs and their drives (LEG_ROWS, 6).
_STIFFNESS = 0  # N/m, of the drive's own loop; 0 where the host closes it
_DAMPING = 1  # N s/m
_KNOWN = 2  # 1 where what the drive gives follows from its command
_AGAINST = 3  # N/m, of whichever loop is against deviations …
_AGAINST_SPEED = 4  # N s/m
_COULOMB = 5  # N, friction of the leg
_BEYOND = 6  # 1 where the cell sits beyond what moves the leg, so that friction and the leg's inertia come between
_LEG_ROWS = 7

# Rows of the state (STATE_ROWS, 6).
_DEVIATION = 0  # m
_RATE = 1  # m/s
_BEFORE = 2  # m/s, speed of the reference's leg in the cycle before …
_WANTED = 3  # N, … and the model's force less Coulomb friction
_REACTION = 4  # N, of the loops against the deviation
_NET = 5  # N
_EXCESS = 6  # N, of the drive and its loop at the reading
_MODEL = 7  # N
_SIGN = 8  # of Coulomb friction at the reference
_STATE_ROWS = 9

# Entries of the timing.
_PERIOD = 0  # s
_DELAY = 1  # s
_LAG = 2  # s
_AHEAD = 3  # cycles, by which a commanded force is that of a later time than the cycle in which it goes out
_COULOMB_SPEED = 4  # m/s
_LENGTH_LATER = 5  # s, by which a length takes effect later than `Frame.legs_ahead`
_TIMING = 6


@inlined
def _begin(
    command: Array, leg: int, stiffness: float, damping: float, period: float, lag: float,
    r3: float, r4: float, r5: float,
) -> None:  # fmt: skip
    """Fill `_COURSE` of a leg's (index) command; r3, r4, r5: of its reference's x³, x⁴, x⁵, beyond the acceleration."""
    a = command[_ACCELERATION, leg]
    ahead = 0.5 * a * period  # m/s, by which the commanded speed is that of the middle
    # what the drive demands: F + K (ahead x − a x²/2 − r3 x³ − …) + D (ahead − a x − 3 r3 x² − …)
    command[_COURSE, leg] = command[_FORCE, leg] + damping * ahead
    command[_COURSE + 1, leg] = stiffness * ahead - damping * a
    command[_COURSE + 2, leg] = -0.5 * stiffness * a - 3.0 * damping * r3
    command[_COURSE + 3, leg] = -stiffness * r3 - 4.0 * damping * r4
    command[_COURSE + 4, leg] = -stiffness * r4 - 5.0 * damping * r5
    command[_COURSE + 5, leg] = -stiffness * r5
    for power in range(_POWERS - 2, -1, -1):  # the particular solution of τ Ḟ + F = that
        command[_COURSE + power, leg] -= lag * (power + 1.0) * command[_COURSE + power + 1, leg]


@inlined
def _rest(command: Array, following: Array, leg: int, hold: float) -> tuple[float, float, float]:
    """r3, r4, r5 of a leg's (index) command that `following` follows after `hold` s: a quintic joins the two."""
    speed, acceleration = command[_SPEED, leg], command[_ACCELERATION, leg]
    dl = following[_LENGTH, leg] - command[_LENGTH, leg] - hold * (speed + 0.5 * hold * acceleration)
    dv = (following[_SPEED, leg] - speed - hold * acceleration) * hold
    da = (following[_ACCELERATION, leg] - acceleration) * hold * hold
    return (
        (10.0 * dl - 4.0 * dv + 0.5 * da) / hold**3,
        (7.0 * dv - 15.0 * dl - da) / hold**4,
        (6.0 * dl - 3.0 * dv + 0.5 * da) / hold**5,
    )


@inlined
def _delivered(command: Array, leg: int, x: float, lag: float) -> float:
    """Force, N, that a leg's (index) drive gives `x` s after a command took effect."""
    force = 0.0
    for power in range(_POWERS - 1, -1, -1):
        force = force * x + command[_COURSE + power, leg]
    result: float = force + (command[_DELIVERED, leg] - command[_COURSE, leg]) * math.exp(-x / lag)
    return result


@inlined
def _given(times: Array, commands: Array, count: int, sent: float, at: float, leg: int, lag: float) -> float:
    """Force, N, that a leg's (index) drive gives at `at`, s, less all dead times; not a number where it is not known.

    sent: s, when the newest command went out.
    """
    for back in range(min(count, len(times))):
        place = (count - 1 - back) % len(times)
        if at >= sent:
            return _delivered(commands[place], leg, at - sent, lag)
        sent = times[place]
    return math.nan


@inlined
def _between(u: float, ahead: float, before: float, newer: float, older: float, now: float) -> float:
    """The model's smooth force, N, at a part `u` of the way from the cycle before to this one.

    It was `before` and `now` in them. By the cubic through the two and through those that were commanded in them,
    `newer` and `older`, the newer of `ahead` cycles after this one; by the straight line where these are of no use.
    """
    if not 0.2 < ahead < 0.9:
        return before + u * (now - before)
    a, b = ahead, 1.0 + ahead  # the four are at 0, a, 1 and b
    return u * (u - 1.0) * ((u - a) * newer / (a * b) + (u - b) * older / (a * (1.0 - a))) - (u - a) * (u - b) * (
        (u - 1.0) * before / (a * b) + u * now / (a * (1.0 - a))
    )


@kernel
def note_command_kernel(
    forces: Array, speeds: Array, ahead: Array, legs: Array, timing: Array, command: Array
) -> None:  # fmt: skip
    """Fill a command's (COMMAND_ROWS, 6) first rows; see `HeldForces.note`."""
    later = timing[_LENGTH_LATER]
    for i in range(6):
        length, speed, acceleration = ahead[i, 0], ahead[i, 1], ahead[i, 2]
        command[_FORCE, i] = forces[i]
        command[_SMOOTH, i] = forces[i] - legs[_COULOMB, i] * math.tanh(speeds[i] / timing[_COULOMB_SPEED])
        command[_LENGTH, i] = length + later * (speed + 0.5 * later * acceleration)
        command[_SPEED, i] = speed + later * acceleration
        command[_ACCELERATION, i] = acceleration


@kernel
def held_forces_kernel(
    times: Array, commands: Array, count: int, t: float, asked: Array, read: Array, legs: Array, timing: Array,
    mobility: Array, transfer: Array, terms: Array, speeds: Array, state: Array, out: Array,
) -> None:  # fmt: skip
    """What the drives give beyond the model's forces as their cells are read, N, into `out` (6,).

    times (n,): s, of the cycle in which each of `commands` (n, COMMAND_ROWS, 6) was computed, a ring in which `count`
    were put. t: s, of the present cycle, with whose exchange the newest goes out. asked, read (6,): s after it, when a
    drive is asked and its cell read. legs (LEG_ROWS, 6), timing (TIMING,): see there. mobility (6, 6): Λ⁻¹, 1/kg; 0
    where no deviations are to be computed. transfer (6, 6): readings of the cells by forces in the legs. terms (n, 6):
    N, whose sum the model's forces are. speeds (6,): m/s, of the reference's legs. state (STATE_ROWS, 6): of the cycle
    before. `out` is 0 where nothing is known.
    """
    period, delay, lag, smooth = timing[_PERIOD], timing[_DELAY], timing[_LAG], timing[_COULOMB_SPEED]
    newest = commands[(count - 1) % len(times)]
    before = commands[(count - 2) % len(times)]
    sent = times[(count - 1) % len(times)]  # when the command before the newest went out
    deviating = mobility[0, 0] != 0.0
    for i in range(6):
        out[i] = state[_MODEL, i] = 0.0
        for term in range(len(terms)):
            state[_MODEL, i] += terms[term, i]
        state[_SIGN, i] = math.tanh(speeds[i] / smooth)
        if count == 0:
            continue
        stiffness, damping = legs[_STIFFNESS, i], legs[_DAMPING, i]
        looped = stiffness != 0.0 or damping != 0.0
        if count == 1:
            newest[_DELIVERED, i] = newest[_FORCE, i]
            state[_DEVIATION, i] = state[_RATE, i] = state[_REACTION, i] = 0.0
        else:
            if looped:
                r3, r4, r5 = _rest(before, newest, i, t - sent)
                _begin(before, i, stiffness, damping, period, lag, r3, r4, r5)
            newest[_DELIVERED, i] = _delivered(before, i, t - sent, lag)
        if looped:
            _begin(newest, i, stiffness, damping, period, lag, 0.0, 0.0, 0.0)
        else:
            newest[_COURSE, i] = newest[_FORCE, i]
    if deviating and count > 1:
        switch = (delay - np.mean(read - asked)) % (t - sent)
        for part in range(2):
            begin, end = (0.0, switch) if part == 0 else (switch, t - sent)
            h = (end - begin) / _SUBSTEPS[part]
            share = 1.0 - math.exp(-h / lag)
            for step in range(_SUBSTEPS[part]):
                since = begin + (step + 0.5) * h
                u = since / (t - sent)
                for i in range(6):
                    coulomb, rate = legs[_COULOMB, i], state[_RATE, i]
                    force = _given(times, commands, count, t, sent + since + read[i] - asked[i] - delay, i, lag)
                    now = state[_MODEL, i] - coulomb * state[_SIGN, i]
                    wanted = _between(u, timing[_AHEAD], state[_WANTED, i], newest[_SMOOTH, i], before[_SMOOTH, i], now)
                    sign = math.tanh((state[_BEFORE, i] + u * (speeds[i] - state[_BEFORE, i]) + rate) / smooth)
                    against = legs[_AGAINST, i] * state[_DEVIATION, i] + legs[_AGAINST_SPEED, i] * rate
                    state[_REACTION, i] += share * (against - state[_REACTION, i])
                    net = -state[_REACTION, i]
                    if legs[_KNOWN, i] != 0.0 and math.isfinite(force):
                        net += force - wanted - coulomb * sign
                    # friction as it is at the substep's end: its slope is steep
                    state[_NET, i] = net / (1.0 + h * mobility[i, i] * coulomb / smooth * (1.0 - sign * sign))
                for i in range(6):
                    for j in range(6):
                        state[_RATE, i] += h * mobility[i, j] * state[_NET, j]
                for i in range(6):
                    state[_DEVIATION, i] += h * state[_RATE, i]
    for i in range(6):
        state[_BEFORE, i] = speeds[i]
        state[_WANTED, i] = state[_MODEL, i] - legs[_COULOMB, i] * state[_SIGN, i]
        state[_EXCESS, i] = state[_NET, i] = 0.0
        force = _given(times, commands, count, t, t + read[i] - asked[i] - delay, i, lag)
        if legs[_KNOWN, i] != 0.0 and math.isfinite(force):
            state[_EXCESS, i] = state[_NET, i] = force - state[_MODEL, i]
            if deviating:
                state[_EXCESS, i] -= state[_REACTION, i]
                turned = math.tanh((speeds[i] + state[_RATE, i]) / smooth) - state[_SIGN, i]
                state[_NET, i] = state[_EXCESS, i] - legs[_COULOMB, i] * turned
    for i in range(6):
        if legs[_BEYOND, i] == 0.0:
            out[i] = state[_EXCESS, i]
        else:
            for j in range(6):
                out[i] += transfer[i, j] * state[_NET, j]


class HeldForces:
    """Zero-order hold, dead time and lag of the feedforward that was commanded so far.

    Args:
        config: gives period, dead time and lag of the force loops, and the loops that drives close themselves.
        force_feedforward: by leg, whether such a loop takes the model's force along.
    """

    def __init__(self, config: RigConfig, force_feedforward: Sequence[bool]) -> None:
        drives, control, machine = config.drives, config.control, config.machine
        self._timing = np.zeros(_TIMING)
        self._timing[_PERIOD], self._timing[_DELAY] = config.period, drives.delay
        self._timing[_LAG] = 1.0 / (2.0 * math.pi * drives.force_bandwidth)
        self._timing[_AHEAD] = config.force_lead / config.period
        self._timing[_COULOMB_SPEED] = control.coulomb_speed
        self._timing[_LENGTH_LATER] = config.length_lead - config.command_lead
        own, loop = np.array(config.own_loops), config.position_loop
        # a drive that is not asked in every cycle gives what it was told then, and when that was is not known here
        known = (config.exchange_period <= config.period) & (~own | (np.array(force_feedforward) & (loop is not None)))
        legs = self._legs = np.zeros((_LEG_ROWS, 6))
        if loop is not None:
            legs[_STIFFNESS, own], legs[_DAMPING, own] = loop
        legs[_KNOWN] = known
        legs[_AGAINST] = np.where(own, legs[_STIFFNESS], control.stiffness)
        legs[_AGAINST_SPEED] = np.where(own, legs[_DAMPING], control.damping)
        legs[_COULOMB] = [leg.friction.coulomb for leg in machine.legs]
        legs[_BEYOND] = [leg.load_cell.location != "actuator" for leg in machine.legs]
        home = np.concatenate([machine.geometry.home_pose, np.zeros(12)])
        pushed = np.tile(home, (6, 1))
        pushed[:, 13:] = np.eye(6)
        dynamics = Dynamics(machine)
        inertia = dynamics.inverse(pushed).forces - dynamics.inverse(home[np.newaxis]).forces
        pushed[:, 13:] = np.linalg.inv(inertia)  # the platform's acceleration by a unit force of each leg
        self._transfer = (dynamics.cells(pushed) - dynamics.cells(home[np.newaxis])).T.copy()
        self._mobility = np.zeros((6, 6))
        if (own & known).any():
            self._mobility = leg_kinematics(machine.geometry, pushed).acceleration.T.copy()
        self._state = np.zeros((_STATE_ROWS, 6))
        self._times = np.zeros(_DEPTH)
        self._commands = np.zeros((_DEPTH, _COMMAND_ROWS, 6))
        self._count = 0

    def forget(self) -> None:
        """Nothing is commanded."""
        self._count = 0

    def note(self, t: float, forces: Array, speeds: Array, legs: Array) -> None:
        """Keep what the cycle at `t`, s, commands: the model's forces (6,), N; `legs` (6, ≥3) as `Frame.legs_ahead`.

        speeds (6,): m/s, of the reference's legs at the time that the forces are of.
        """
        place = self._count % _DEPTH
        self._times[place] = t
        note_command_kernel(forces, speeds, legs, self._legs, self._timing, self._commands[place])
        self._count += 1

    def excess(self, t: float, asked: Array, read: Array, terms: Array, speeds: Array, out: Array) -> None:
        """Put into `out` (6,) what the drives give beyond the model as the cells are read, N; 0 where not known.

        t: s, of the cycle that has just exchanged. asked, read (6,): s after it, of drives and cells. terms (n, 6): N,
        of the model at the cells' times. speeds (6,): m/s, of the reference's legs.
        """
        held_forces_kernel(
            self._times, self._commands, self._count, t, asked, read, self._legs, self._timing,
            self._mobility, self._transfer, terms, speeds, self._state, out,
        )  # fmt: skip

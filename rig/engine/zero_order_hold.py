"""Zero-order hold of the feedforward: by how much a drive's force differs from the model's when its cell is read.

The model's force F(t) is commanded once a cycle and held until the next command. The drive delivers it after its dead
time T_d with the lag τ of its force loop: τ Ḟ_d = F_c(t − T_d) − F_d. A cell samples that staircase at one instant.
F_d − F(t) follows from the commands alone, whether the model is right or wrong, so it is part of the expected reading
and not of the residual.

With it the legs deviate from their reference by δ: Λ δ̈ = F_d − F − C_p δ̇ − (turned Coulomb friction), where Λ is the
inertia that the legs feel. A leg that deviates turns round a little earlier or later, and Coulomb friction with it.
Loops are against δ. The host's is closed once a cycle, on δ as it was then: F_c = F − K δ − D δ̇ − C z, with what the
law remembers, z ← A z + B [δ, δ̇]. Computed torque takes
the model at the motion that was measured, so to F_c it adds the friction of a leg that is δ̇ faster. A drive that closes
its own loop does so all the time, on a length that it carries on at the commanded speed v_c: to F_c it adds the
difference of that straight line from the reference, K e + D ė + K/T_i ∫ e dt with e = l_c + v_c x − l(x), x s after the
command took effect; v_c = 0 of a drive that takes no speed and waits at l_c. The integral goes on from command to
command. In cycles that are not short beside T_i it takes over what F(t) changes while F_c is held, and is still there
when the next F_c comes.
Deviations are computed, never measured: those that a wrong model causes, and the force of the loops against them, stay
in the residual.

Between drive and cell may lie a part of the leg's mass and the drive's own inertia, whose force Σ_j D_ij δ̈_j the cell
does not read, and friction. D and the gains of computed torque along the legs are those at home; Λ is that of the
reference's pose.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynamics import FROZEN_SIZE, MOBILITY, WORK_SIZE, Drive, Dynamics, Leg, frozen_kernel
from kinematics import Array, inlined, kernel, leg_kinematics, leg_matrix
from rig.config import MOST_DELAYED, MOST_REMEMBERED, RigConfig, TaskFeedback, leg_gains
from rig.safety import LONG_PERIOD, position_integral

Hold = NDArray[np.void]

_DEPTH = MOST_DELAYED + 4
"""commands that are kept: those on their way, and the ones that are followed and computed"""
_LEAST = 1e-9
"""N, of what dies away and of what moves a leg; with ever less processors are slow"""
_SUBSTEP = 3e-4
"""s, of deviations; they have from 4 to 16 of them in the part of a cycle after a command took effect, 2 before

In cycles longer than `LONG_PERIOD` they have as many as that takes, since a drive's loop acts within its lag.
"""
_UNKNOWN = np.full(6, math.nan)  # m/s
_MOBILITY_EVERY = 4
"""cycles between two updates of Λ⁻¹ at the reference's pose; those longer than `LONG_PERIOD` have one each"""

# Rows of a command (COMMAND_ROWS, 6).
_FORCE = 0  # N, commanded, as far as it follows from commands
_SMOOTH = 1  # N, the model's, less Coulomb friction
_LENGTH = 2  # m, of the reference's leg where a length takes effect …
_SPEED = 3  # m/s
_ACCELERATION = 4  # m/s²
_DELIVERED = 5  # N, as the command takes effect
_COURSE = 6  # N/s⁰ … N/s⁶, seven rows: what the drive gives x s later is their polynomial and a part that dies away
_TIME = 13  # s, of the cycle in which it was computed, in the first column
_LIFT = 14  # m/s, by which the commanded speed is more than that of the reference's leg where it takes effect
_INTEGRAL = 15  # N, of the drive's own loop as the command takes effect, of the lines' difference from the reference
_BEYOND_REFERENCE = 16  # m, by which the commanded length is more than that of the reference's leg, likewise
_COMMAND_ROWS = 17
_POWERS = 7

# Rows of what is known of the legs and their drives (LEG_ROWS, 6).
_STIFFNESS = 0  # N/m, of the drive's own loop; 0 where the host closes it
_DAMPING = 1  # N s/m
_KNOWN = 2  # 1 where what the drive gives follows from its command
_COULOMB = 3  # N, friction of the leg …
_VISCOUS = 4  # N s/m
_BEYOND = 5  # 1 where the cell sits beyond what moves the leg, so that friction and inertia come between
_MOBILITY = 6  # 1/kg, six rows: Λ⁻¹
_CARRIED = 12  # kg, six rows: D, of the mass between drive and cell, by the legs' accelerations
_HOST_STIFFNESS = 18  # N/m, six rows: of the host's loop …
_HOST_DAMPING = 24  # N s/m, six rows
_CELL_COULOMB = 30  # N, friction of the leg that a cell beyond what moves it reads …
_CELL_VISCOUS = 31  # N s/m
_HOSTED = 32  # 1 where the host closes the leg's loop, with what its law remembers
_INTEGRATING = 33  # N/(m s), of the drive's own loop: K/T_i
_WAITING = 34  # 1 where the drive waits at a commanded length
_LEG_ROWS = 35

# Rows of the state (STATE_ROWS, 6).
_DEVIATION = 0  # m
_RATE = 1  # m/s
_SPEED_BEFORE = 2  # m/s, of the reference's leg in the cycle before …
_SLOPE_BEFORE = 3  # m/s², … its acceleration, …
_WANTED = 4  # N, … and the model's force less Coulomb friction
_REACTION = 5  # N, of the drives' own loops against the deviation
_NET = 6  # N
_EXCESS = 7  # N, of the drive and its loop at the reading
_MODEL = 8  # N
_SIGN = 9  # of Coulomb friction at the reference
_PLACE = 10  # of the command that the drive follows, …
_SINCE = 11  # s, … for how long, …
_UNTIL = 12  # s, … for how long it will, …
_DYING = 13  # N, … and the part of its force that dies away
_PUSHED = 14  # m/s², acceleration of the deviation in the substep before
_GAINED = 15  # m/s, of the reference's speed in the cycle, …
_BENT_BEFORE = 16  # m/s, … by which its slope at either end would be more, …
_BENT = 17
_WANTED_BENDS = 18  # N, … and two divided differences of the model's force, see `_bends`
_PUSHED_AT_CELL = 20  # m/s², acceleration of the deviation at the reading
_FRICTION_AT_CELL = 21  # N, friction against it that the cell reads
_INTEGRATED = 22  # N, of the integral of the drives' own loops against the deviation
_STATE_ROWS = 23

# Entries of the timing.
_PERIOD = 0  # s
_DELAY = 1  # s
_LAG = 2  # s
_AHEAD = 3  # cycles, by which a commanded force is that of a later time than the cycle in which it goes out
_COULOMB_SPEED = 4  # m/s
_LENGTH_LATER = 5  # s, by which a length takes effect later than `ReferenceMotion.legs_ahead`
_FRICTION_MEASURED = 6  # 1 where the law takes friction at the speeds that were measured, 0 at the reference's
_DEVIATING = 7  # 1 where deviations are computed
_TIMING = 8

_WORK_SIZE = WORK_SIZE + FROZEN_SIZE + 6
"""entries of the work array of `frozen_kernel`, of what it fills, and of no wrench"""


@inlined
def _begin(command: Array, leg: int, legs: Array, lag: float, r3: float, r4: float, r5: float) -> None:
    """Fill `_COURSE` of a leg's (index) command; r3, r4, r5: of its reference's x³, x⁴, x⁵, beyond the acceleration."""
    stiffness, damping, integrating = legs[_STIFFNESS, leg], legs[_DAMPING, leg], legs[_INTEGRATING, leg]
    a = command[_ACCELERATION, leg]
    beyond, ahead = command[_BEYOND_REFERENCE, leg], command[_LIFT, leg]
    # what the drive demands: F + I + K e + D ė + K/T_i ∫ e dx,
    # with e = beyond + ahead x − a x²/2 − r3 x³ − r4 x⁴ − r5 x⁵
    command[_COURSE, leg] = command[_FORCE, leg] + command[_INTEGRAL, leg] + stiffness * beyond + damping * ahead
    command[_COURSE + 1, leg] = stiffness * ahead - damping * a + integrating * beyond
    command[_COURSE + 2, leg] = -0.5 * stiffness * a - 3.0 * damping * r3 + integrating * ahead / 2.0
    command[_COURSE + 3, leg] = -stiffness * r3 - 4.0 * damping * r4 - integrating * a / 6.0
    command[_COURSE + 4, leg] = -stiffness * r4 - 5.0 * damping * r5 - integrating * r3 / 4.0
    command[_COURSE + 5, leg] = -stiffness * r5 - integrating * r4 / 5.0
    command[_COURSE + 6, leg] = -integrating * r5 / 6.0
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
def _integral(command: Array, leg: int, integrating: float, x: float, r3: float, r4: float, r5: float) -> float:
    """Integral, N, of a leg's (index) loop `x` s after a command took effect; r3, r4, r5: see `_begin`."""
    a, ahead = command[_ACCELERATION, leg], command[_LIFT, leg]
    mean = command[_BEYOND_REFERENCE, leg] + x * (
        ahead / 2.0 - x * (a / 6.0 + x * (r3 / 4.0 + x * (r4 / 5.0 + x * r5 / 6.0)))
    )
    result: float = command[_INTEGRAL, leg] + integrating * x * mean
    return result


@inlined
def _steady(command: Array, leg: int, x: float) -> float:
    """Force, N, that a leg's (index) drive gives `x` s after a command took effect, less what dies away."""
    force = 0.0
    for power in range(_POWERS - 1, -1, -1):
        force = force * x + command[_COURSE + power, leg]
    return force


@inlined
def _delivered(command: Array, leg: int, x: float, lag: float) -> float:
    """Force, N, that a leg's (index) drive gives `x` s after a command took effect."""
    dying = command[_DELIVERED, leg] - command[_COURSE, leg]
    result: float = _steady(command, leg, x) + (dying * math.exp(-x / lag) if abs(dying) > _LEAST else 0.0)
    return result


@kernel
def _followed(commands: Array, count: int, sent: float, at: float) -> tuple[int, float, float]:
    """Place of the command that is followed at `at`, s, less all dead times, when it was sent and until when it counts.

    sent: s, when the newest command went out. The place is -1 where nothing is known.
    """
    until = math.inf
    for back in range(min(count, len(commands))):
        place = (count - 1 - back) % len(commands)
        if at >= sent:
            return place, sent, until
        sent, until = commands[place, _TIME, 0], sent
    return -1, sent, until


@inlined
def _bends(before: float, now: float, older: float, a: float, newer: float, b: float) -> tuple[float, float]:
    """Second and third divided difference of the model's smooth force, N, in the cycle from `before` to `now`.

    By the cubic through the two and through two that were commanded for a and b cycles after `before`.
    """
    gained = now - before
    second = ((older - before) / a - gained) / (a - 1.0)
    return second, (((newer - before) / b - gained) / (b - 1.0) - second) / (b - a)


@inlined
def _places(ahead: float) -> tuple[int, int]:
    """Which commands `_bends` takes, older and newer, as counted back from the newest.

    The newest is of the force `ahead` cycles after the end of the cycle, each before it of a cycle less. None is taken
    that is nearer than a tenth of a cycle to one of the cycle's ends, where the differences lose their digits.
    """
    whole = int(ahead)
    part = ahead - whole
    if part > 0.9:
        return whole + 3, whole
    if part > 0.2:
        return whole + 1, whole
    return whole + 2, whole - 1 if whole else 3


HOLD = np.dtype(
    [
        ("count", np.int64),
        ("timing", np.float64, (_TIMING,)),
        ("legs", np.float64, (_LEG_ROWS, 6)),
        ("state", np.float64, (_STATE_ROWS, 6)),
        ("commands", np.float64, (_DEPTH, _COMMAND_ROWS, 6)),
        ("work", np.float64, (_WORK_SIZE,)),
        ("remembered", np.int64),
        ("memory", np.float64, (6, MOST_REMEMBERED)),
        ("next", np.float64, (MOST_REMEMBERED,)),
        ("A", np.float64, (MOST_REMEMBERED, MOST_REMEMBERED)),
        ("B", np.float64, (MOST_REMEMBERED, 2)),
        ("C", np.float64, (MOST_REMEMBERED,)),
    ],
    align=True,
)
"""numpy dtype of what is kept.

`commands`, a ring in which `count` were put; `state`, that of the cycle before; `timing` and `legs`, see there; `work`
of `dynamics.frozen_kernel`, and of what it fills. `memory` (6, n): z of each leg, with the law's `A`, `B` and `C`, of
which the first `remembered` count.
"""


@inlined
def _remembered(data: Any, leg: int, deviation: float, rate: float) -> float:
    """C z, N, of a leg's (index) loop after z ← A z + B [deviation, rate], m and m/s."""
    size, memory, following, A, B, C = data.remembered, data.memory, data.next, data.A, data.B, data.C
    force = 0.0
    for row in range(size):
        following[row] = B[row, 0] * deviation + B[row, 1] * rate
        for column in range(size):
            following[row] += A[row, column] * memory[leg, column]
    for row in range(size):
        memory[leg, row] = following[row]
        force += C[row] * following[row]
    return force


@kernel
def note_command_kernel(hold: Hold, t: float, forces: Array, speeds: Array, ahead: Array, mean_speeds: Array) -> None:
    """Fill the first rows of the next command; see `ZeroOrderHold.note`."""
    data = hold[0]
    legs, timing, state, command = data.legs, data.timing, data.state, data.commands[data.count % _DEPTH]
    if data.count == 0:  # the law begins anew
        for i in range(6):
            state[_DEVIATION, i] = state[_RATE, i] = 0.0
            for row in range(data.remembered):
                data.memory[i, row] = 0.0
    data.count += 1
    later = timing[_LENGTH_LATER]
    deviating = timing[_DEVIATING] != 0.0
    command[_TIME, 0] = t
    for i in range(6):
        length, speed, acceleration = ahead[i, 0], ahead[i, 1], ahead[i, 2]
        command[_FORCE, i] = forces[i]
        if deviating:
            for j in range(6):
                command[_FORCE, i] -= (
                    legs[_HOST_STIFFNESS + i, j] * state[_DEVIATION, j] + legs[_HOST_DAMPING + i, j] * state[_RATE, j]
                )
            if data.remembered > 0 and legs[_HOSTED, i] != 0.0:
                command[_FORCE, i] -= _remembered(data, i, state[_DEVIATION, i], state[_RATE, i])
        sign = math.tanh(speeds[i] / timing[_COULOMB_SPEED])
        if deviating and timing[_FRICTION_MEASURED] != 0.0:
            turned = math.tanh((speeds[i] + state[_RATE, i]) / timing[_COULOMB_SPEED]) - sign
            command[_FORCE, i] += legs[_COULOMB, i] * turned + legs[_VISCOUS, i] * state[_RATE, i]
        command[_SMOOTH, i] = forces[i] - legs[_COULOMB, i] * sign
        command[_LENGTH, i] = length + later * (speed + 0.5 * later * acceleration)
        command[_SPEED, i] = speed + later * acceleration
        command[_ACCELERATION, i] = acceleration
        command[_BEYOND_REFERENCE, i] = 0.0
        command[_LIFT, i] = 0.5 * timing[_PERIOD] * acceleration
        if legs[_WAITING, i] != 0.0:
            command[_LIFT, i] = -command[_SPEED, i]
        elif math.isfinite(mean_speeds[i]):
            command[_LIFT, i] = mean_speeds[i] - command[_SPEED, i]


@kernel
def skip_kernel(hold: Hold, skipped: float, lengthened: Array) -> None:
    """Advance the newest command's reference; see `ZeroOrderHold.skip`."""
    data = hold[0]
    if data.count == 0:
        return
    command = data.commands[(data.count - 1) % _DEPTH]
    for i in range(6):
        gained = skipped * command[_ACCELERATION, i]
        moved = skipped * (command[_SPEED, i] + 0.5 * gained)
        command[_LENGTH, i] += moved
        command[_SPEED, i] += gained
        command[_LIFT, i] -= gained
        command[_BEYOND_REFERENCE, i] = lengthened[i] - moved


@kernel
def _deviate(
    commands: Array, count: int, sent: float, t: float, asked: Array, read: Array, legs: Array, timing: Array,
    speeds: Array, reference: Array, state: Array,
) -> None:  # fmt: skip
    """Carry deviations on from `sent`, s, the time of the cycle before, to t."""
    delay, lag, smooth, period = timing[_DELAY], timing[_LAG], timing[_COULOMB_SPEED], t - sent
    back, fore = _places(timing[_AHEAD])
    older, newer = commands[(count - 1 - back) % len(commands)], commands[(count - 1 - fore) % len(commands)]
    a, b = 1.0 + timing[_AHEAD] - back, 1.0 + timing[_AHEAD] - fore
    later = 0.0  # mean of the times by which cells are read after their drives were asked
    for i in range(6):
        later += (read[i] - asked[i]) / 6.0
        gained = speeds[i] - state[_SPEED_BEFORE, i]
        state[_GAINED, i] = gained
        state[_BENT_BEFORE, i] = period * state[_SLOPE_BEFORE, i] - gained
        state[_BENT, i] = period * reference[i, 2] - gained
        now = state[_MODEL, i] - legs[_COULOMB, i] * state[_SIGN, i]
        second = third = 0.0
        if max(back, fore) < min(count, len(commands)):
            second, third = _bends(state[_WANTED, i], now, older[_SMOOTH, i], a, newer[_SMOOTH, i], b)
        state[_WANTED_BENDS, i], state[_WANTED_BENDS + 1, i] = second, third
    switch = (delay - later) % period
    for part in range(2):
        begin, end = (0.0, switch) if part == 0 else (switch, period)
        steps = 2 if part == 0 else min(16, max(4, math.ceil((end - begin) / _SUBSTEP)))
        if period > LONG_PERIOD:
            steps = max(steps, math.ceil((end - begin) / _SUBSTEP))
        h = (end - begin) / steps
        if h <= 0.0:
            continue
        decay = math.exp(-h / lag)
        whole = math.sinh(0.5 * h / lag) / (0.5 * h / lag)  # mean of what dies away in a substep, by its middle
        for step in range(steps):
            since = begin + (step + 0.5) * h
            u = since / period
            for i in range(6):
                if step == 0 or state[_SINCE, i] >= state[_UNTIL, i]:
                    at = sent + since + read[i] - asked[i] - delay
                    place, went, until = _followed(commands, count, t, at)
                    state[_PLACE, i], state[_SINCE, i], state[_UNTIL, i] = place, at - went, until - went
                    dying = commands[place, _DELIVERED, i] - commands[place, _COURSE, i]
                    state[_DYING, i] = dying * math.exp((went - at) / lag) if abs(dying) > _LEAST else 0.0
                coulomb, pushed = legs[_COULOMB, i], state[_PUSHED, i]
                rate = state[_RATE, i] + 0.5 * h * pushed
                bent = (1.0 - u) * state[_BENT_BEFORE, i] - u * state[_BENT, i]  # a cubic, as Hermite's
                speed = state[_SPEED_BEFORE, i] + u * (state[_GAINED, i] + (1.0 - u) * bent)
                sign = math.tanh((speed + rate) / smooth)
                net = -legs[_VISCOUS, i] * rate
                stiffness, damping = legs[_STIFFNESS, i], legs[_DAMPING, i]
                looped = stiffness != 0.0 or damping != 0.0
                if looped:
                    middle = state[_DEVIATION, i] + 0.5 * h * state[_RATE, i]
                    state[_INTEGRATED, i] += h * legs[_INTEGRATING, i] * middle
                    against = stiffness * middle + damping * rate + state[_INTEGRATED, i]
                    state[_REACTION, i] += (1.0 - decay) * (against - state[_REACTION, i])
                    net -= state[_REACTION, i]
                place = int(state[_PLACE, i])
                if legs[_KNOWN, i] != 0.0 and place >= 0:
                    x = state[_SINCE, i]
                    given = _steady(commands[place], i, x) if looped else commands[place, _COURSE, i]
                    gained = state[_MODEL, i] - coulomb * state[_SIGN, i] - state[_WANTED, i]
                    bent = state[_WANTED_BENDS, i] + (u - a) * state[_WANTED_BENDS + 1, i]
                    wanted = state[_WANTED, i] + u * (gained + (u - 1.0) * bent)
                    net += given + whole * state[_DYING, i] - wanted - coulomb * sign
                if abs(net) < _LEAST:
                    net = 0.0
                # linearly implicit: the slope of friction is steep
                steep = 0.5 * h * coulomb / smooth * (1.0 - sign * sign)
                state[_NET, i] = (net + steep * pushed) / (1.0 + steep * legs[_MOBILITY + i, i])
                state[_SINCE, i] += h
                state[_DYING, i] *= decay
            for i in range(6):
                pushed = 0.0
                for j in range(6):
                    pushed += legs[_MOBILITY + i, j] * state[_NET, j]
                state[_PUSHED, i] = pushed
                state[_DEVIATION, i] += h * (state[_RATE, i] + 0.5 * h * pushed)
                state[_RATE, i] += h * pushed


@kernel
def zero_order_hold_kernel(frame: Hold, hold: Hold, t: float) -> None:
    """What the drives give beyond the model's forces as their cells are read, N, into the row's `force_held`.

    Into `velocity_held` the legs' speeds beyond the reference's at that instant, m/s, where deviations are computed.

    frame: the cycle's data at t, s, with whose exchange the newest command goes out; of dtype `cycle_data.FRAME`.
    hold: of dtype `HOLD`. `force_held` is 0 where nothing is known.
    """
    row, data, stored = frame[0].row, frame[0], hold[0]
    commands, count, legs, timing, state, work = (
        stored.commands[:], stored.count, stored.legs[:], stored.timing[:], stored.state[:], stored.work[:],
    )  # fmt: skip
    asked, read, terms, speeds, reference, motion = (
        data.offset[:], data.cells_offset[:], row.terms[:], row.velocity_reference[:], data.legs[:], row.reference[:],
    )  # fmt: skip
    out, rates = row.force_held, row.velocity_held
    delay, lag, smooth = timing[_DELAY], timing[_LAG], timing[_COULOMB_SPEED]
    newest = commands[(count - 1) % len(commands)]
    before = commands[(count - 2) % len(commands)]
    sent = newest[_TIME, 0]  # when the command before the newest went out
    deviating = timing[_DEVIATING] != 0.0
    frozen = work[WORK_SIZE:]
    every = _MOBILITY_EVERY if timing[_PERIOD] <= LONG_PERIOD else 1
    if (count - 1) % every == 0 and frozen_kernel(motion[:13], frozen[FROZEN_SIZE:], work, frozen) == 0:
        for i in range(6):
            for j in range(6):
                legs[_MOBILITY + i, j] = frozen[MOBILITY + 6 * i + j]
    for i in range(6):
        out[i] = rates[i] = state[_MODEL, i] = 0.0
        for term in range(len(terms)):
            state[_MODEL, i] += terms[term, i]
        state[_SIGN, i] = math.tanh(speeds[i] / smooth)
        if count == 0:
            continue
        looped = legs[_STIFFNESS, i] != 0.0 or legs[_DAMPING, i] != 0.0
        if count == 1:
            newest[_DELIVERED, i] = newest[_FORCE, i]
            state[_DEVIATION, i] = state[_RATE, i] = state[_REACTION, i] = state[_PUSHED, i] = 0.0
            state[_INTEGRATED, i] = newest[_INTEGRAL, i] = 0.0
        else:
            if looped:
                r3, r4, r5 = _rest(before, newest, i, t - sent)
                _begin(before, i, legs, lag, r3, r4, r5)
                newest[_INTEGRAL, i] = _integral(before, i, legs[_INTEGRATING, i], t - sent, r3, r4, r5)
            newest[_DELIVERED, i] = _delivered(before, i, t - sent, lag)
        if looped:
            _begin(newest, i, legs, lag, 0.0, 0.0, 0.0)
        else:
            newest[_COURSE, i] = newest[_FORCE, i]
    if deviating and count > 1:
        _deviate(commands, count, sent, t, asked, read, legs, timing, speeds, reference, state)
    for i in range(6):
        state[_SPEED_BEFORE, i], state[_SLOPE_BEFORE, i] = speeds[i], reference[i, 2]
        state[_WANTED, i] = state[_MODEL, i] - legs[_COULOMB, i] * state[_SIGN, i]
        state[_EXCESS, i] = state[_NET, i] = state[_FRICTION_AT_CELL, i] = 0.0
        at = t + read[i] - asked[i] - delay
        place, went, _ = _followed(commands, count, t, at)
        if legs[_KNOWN, i] != 0.0 and place >= 0:
            force = _delivered(commands[place], i, at - went, lag)
            state[_EXCESS, i] = state[_NET, i] = force - state[_MODEL, i]
            if deviating:
                rate = rates[i] = state[_RATE, i]
                state[_EXCESS, i] -= state[_REACTION, i]
                turned = math.tanh((speeds[i] + rate) / smooth) - state[_SIGN, i]
                state[_NET, i] = state[_EXCESS, i] - legs[_COULOMB, i] * turned - legs[_VISCOUS, i] * rate
                state[_FRICTION_AT_CELL, i] = legs[_CELL_COULOMB, i] * turned + legs[_CELL_VISCOUS, i] * rate
    for i in range(6):
        state[_PUSHED_AT_CELL, i] = 0.0
        for j in range(6):
            state[_PUSHED_AT_CELL, i] += legs[_MOBILITY + i, j] * state[_NET, j]
    for i in range(6):
        if legs[_BEYOND, i] == 0.0:
            out[i] = state[_EXCESS, i]
        else:
            out[i] = state[_NET, i] + state[_FRICTION_AT_CELL, i]
            for j in range(6):
                out[i] -= legs[_CARRIED + i, j] * state[_PUSHED_AT_CELL, j]


def _beyond(leg: Leg) -> bool:
    """Whether the cell of a leg sits beyond what moves it: a drive's own inertia and friction come before a rod."""
    if leg.load_cell.location == "actuator":
        return leg.drive != Drive()
    return leg.load_cell.location != "motor"


class ZeroOrderHold:
    """Zero-order hold, dead time and lag of the feedforward that was commanded so far, and what the loops do about it.

    Args:
        config: gives period, dead time and lag of the force loops, and the loops of host and drives.
        force_feedforward: by leg, whether such a loop takes the model's force along.
        velocity_feedforward: by leg, whether it goes on at a commanded speed; else it waits at the commanded length.

    Raises:
        ConfigError: as `position_integral`.

    `data` (1,) of dtype `HOLD` is what is kept, for `zero_order_hold_kernel`.
    """

    def __init__(
        self, config: RigConfig, force_feedforward: Sequence[bool], velocity_feedforward: Sequence[bool] = (True,) * 6
    ) -> None:
        drives, control, machine = config.drives, config.control, config.machine
        self.data: Hold = np.zeros(1, HOLD)
        timing = self.data["timing"][0]
        timing[_PERIOD], timing[_DELAY] = config.period, drives.delay
        timing[_LAG] = 1.0 / (2.0 * math.pi * drives.force_bandwidth)
        timing[_AHEAD] = config.force_lead / config.period
        timing[_COULOMB_SPEED] = control.coulomb_speed
        timing[_LENGTH_LATER] = config.length_lead - config.command_lead
        own, loop = np.array(config.own_loops), config.position_loop
        # a drive that is not asked in every cycle gives what it was told then, and when that was is not known here
        known = (config.exchange_period <= config.period) & (~own | (np.array(force_feedforward) & (loop is not None)))
        legs = self.data["legs"][0]
        if loop is not None:
            legs[_STIFFNESS, own], legs[_DAMPING, own] = loop
            legs[_INTEGRATING, own] = loop[0] * position_integral(config)
        legs[_KNOWN] = known
        legs[_WAITING] = own & ~np.array(velocity_feedforward)
        legs[_COULOMB] = [leg.coulomb for leg in machine.legs]
        legs[_VISCOUS] = [leg.viscous for leg in machine.legs]
        legs[_BEYOND] = [_beyond(leg) for leg in machine.legs]
        legs[_CELL_COULOMB] = [leg.cell_coulomb for leg in machine.legs]
        legs[_CELL_VISCOUS] = [leg.cell_viscous for leg in machine.legs]
        home = np.concatenate([machine.geometry.home_pose, np.zeros(12)])
        pushed = np.tile(home, (6, 1))
        pushed[:, 13:] = np.eye(6)
        dynamics = Dynamics(machine)
        inertia = dynamics.inverse(pushed).forces - dynamics.inverse(home[np.newaxis]).forces
        pushed[:, 13:] = np.linalg.inv(inertia)  # the platform's acceleration by a unit force of each leg
        transfer = (dynamics.cells(pushed) - dynamics.cells(home[np.newaxis])).T
        mobility = legs[_MOBILITY : _MOBILITY + 6] = leg_kinematics(machine.geometry, pushed).acceleration.T
        legs[_CARRIED : _CARRIED + 6] = np.linalg.solve(mobility.T, (np.eye(6) - transfer).T).T
        if known.any():
            timing[_DEVIATING] = 1.0
            feedback = leg_gains(config) if own.all() else config.law.feedback_of(config)
            if isinstance(feedback, TaskFeedback):
                timing[_FRICTION_MEASURED] = 1.0
                # forces by accelerations, gains, and the platform's errors by those of the leg lengths, at home
                errors, task = np.linalg.inv(leg_matrix(machine.geometry, home[:7]).T), feedback.gains
                stiffness, damping = inertia.T @ task.stiffness @ errors, inertia.T @ task.damping @ errors
            else:
                stiffness, damping = feedback.stiffness * np.eye(6), feedback.damping * np.eye(6)
                count = len(feedback.C)
                legs[_HOSTED], self.data["remembered"] = ~own, count
                for name in ("A", "B", "C"):
                    kept = getattr(feedback, name)
                    self.data[name][0][tuple(map(slice, kept.shape))] = kept
            legs[_HOST_STIFFNESS : _HOST_STIFFNESS + 6][~own] = stiffness[~own]
            legs[_HOST_DAMPING : _HOST_DAMPING + 6][~own] = damping[~own]
        self.data["work"][0, : len(dynamics.parameters)] = dynamics.parameters

    def forget(self) -> None:
        """Nothing is commanded."""
        self.data["count"] = 0

    def skip(self, skipped: float, lengthened: Array) -> None:
        """The newest command goes out later, by the time `skipped`, s; lengthened (6,): m, added to its lengths."""
        skip_kernel(self.data, skipped, lengthened)

    def note(self, t: float, forces: Array, speeds: Array, legs: Array, mean_speeds: Array = _UNKNOWN) -> None:
        """Keep what the cycle at `t`, s, commands: the model's forces (6,), N.

        legs (6, ≥3): `ReferenceMotion.legs_ahead`. speeds (6,): m/s, of the reference's legs at the time of the
        forces. mean_speeds (6,): m/s, commanded with lengths; NaN for those of half a cycle later.
        """
        note_command_kernel(self.data, t, forces, speeds, legs, mean_speeds)

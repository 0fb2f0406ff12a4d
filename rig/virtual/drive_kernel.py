"""Drive, brake and end stops of one leg as compiled code: axial force from command and motion.

A drive is one row of numbers, see the column constants; the parameter vector is shared by all drives. Forces are N,
pushing (extending) positive.
"""

from math import exp, sin, tanh

from actuators import Mode
from kinematics import PEAK_SPEED, inlined, kernel, minimum_jerk_kernel
from rig.virtual.arrays import Array, Counts

# Columns of a drive's row.
MOTOR = 0  # N, force of the motor after its force loop's lag
MODE = 1  # command in effect: mode …
FORCE = 2  # N
POSITION = 3  # m, commanded reading
VELOCITY = 4  # m/s
SINCE = 5  # s, start of its effect
ENABLED = 6
QUICK_STOP = 7
BRAKE = 8  # commanded brake
INTEGRAL = 9  # N, of the internal position loop
STOP_SINCE = 10  # s, when the quick stop began
BRAKED = 11  # brake closed
HOMING_FROM = 12  # m, reading where homing began
HOMING_SINCE = 13  # s
HOMING_DONE = 14
ANCHOR = 15  # m, leg length at which brake and jam exert nothing
JAM = 16  # N, holding force of a jammed leg
GAIN = 17  # of the motor's force: 1, below 1 for a weak drive, negative for inverted polarity
GRIP = 18  # N, present holding force of brake and jam together
HOLD = 19  # fraction of the brake's holding force: 1, or 0 for a brake that does not close
CREEP = 20  # m/s, slip speed of the closed brake under load
DRIFT = 21  # m/s, of the anchor, with the load
LEG = 22  # index of the leg of this drive's motor and brake; its encoder is always on its own leg
SPEED = 23  # m/s, of the leg at the beginning of the step …
ACCELERATION = 24  # m/s², … and its change since the beginning of the previous step
BRISTLE = 25  # m, presliding deflection of the leg's friction …
BRISTLE_LENGTH = 26  # m, … and the leg's length at that time
IMPULSE = 27  # N s, of the motor's force since the last reset
HELD = 28  # 1: the brake has no supply, and is closed whatever is commanded
DRIVE_COLUMNS = 29

# Columns of a waiting command: its start time, then the columns MODE … BRAKE except SINCE.
QUEUE_COLUMNS = 8
QUEUE_LENGTH = 512  # the longest dead time, 0.5 s, in commands of a drive that gives one each millisecond by its ramp

# Entries of the parameter vector.
TIME_CONSTANT = 0  # s, of the force loop
FORCE_LIMIT = 1  # N
STIFFNESS = 2  # N/m, internal position loop
DAMPING = 3  # N s/m
HOMING_SPEED = 4  # m/s
BRAKE_STIFFNESS = 5  # N/m; also of the end stops
BRAKE_DAMPING = 6  # N s/m
BRAKE_FORCE = 7  # N
STOP_DAMPING = 8  # N s/m, quick stop
INTEGRAL_RATE = 9  # 1/s, of the position loop's integral, times its stiffness
EXTRAPOLATION = 10  # s, for which a position command is extrapolated at its speed
PARAMETERS = 11

# Columns of a leg's row.
REFERENCE = 0  # m, encoder reading at the reference mark: the nominal mechanism's length at home
LOWER_STOP = 1  # m
UPPER_STOP = 2  # m
EXTENDING = 3  # N, friction not in the mechanism, by direction …
RETRACTING = 4
BREAKAWAY_EXTENDING = 5  # N, its excess near standstill …
BREAKAWAY_RETRACTING = 6
STRIBECK_SPEED = 7  # m/s, at which the excess is 1/e
LOAD = 8  # friction per axial force
FRICTION_SPEED = 9  # m/s, over which its sign is smoothed
BEFORE_FRICTION = 10  # 1 if the load cell is between drive and joint, and so reads the friction
OFFSET = 11  # m, encoder reading minus distance between the joint centres
COMPLIANCE = 12  # m/N, between encoder and joints
BACKLASH = 13  # m, likewise
OWN_FRICTION = 14  # 1 for friction not in the mechanism, EVERY_FRICTION if all friction is in this row
SHAPE = 15  # exponent of Stribeck's curve
COULOMB = 16  # N, friction of the mechanism, only with EVERY_FRICTION …
PRISMATIC = 17  # N s/m
VISCOUS = 18  # N, viscous friction at …
VISCOUS_SPEED = 19  # m/s
VISCOUS_EXPONENT = 20
RIPPLE = 21  # N, amplitude of the ripple over the leg's length …
RIPPLE_RATE = 22  # rad/m
RIPPLE_PHASE = 23  # rad
PRESLIDING_STIFFNESS = 24  # N/m; 0 for friction without presliding
PRESLIDING_DAMPING = 25  # N s/m
RUNNING_IN = 26  # relative increase of all friction at the beginning …
RUNNING_IN_TIME = 27  # s, time constant of its decay
BEGAN = 28  # s, the beginning
FACTOR = 29  # current factor on all friction
LEG_COLUMNS = 30

EVERY_FRICTION = 2.0
"""In OWN_FRICTION: the row includes all friction along the leg, and the integrated mechanism has none."""

LEAST_EXTRAPOLATION = 0.02
"""A position command is extrapolated at its speed for this long, s, or for one and a half exchanges where that is
longer: bridges a late command, not a lost master."""
STANDSTILL_SPEED = 0.05
"""A quick stop closes the brake below this leg speed, m/s …"""
STOP_TIME = 0.15
"""… or after this time, s."""
HOMING_TIME = 0.2
"""Least duration of a homing move, s."""
HOMING_TOLERANCE = 2e-6
"""Homing is complete when the leg is this near its mark, m, and slower than …"""
HOMING_REST = 1e-4
"""… this, m/s."""
PLAY_FORCE = 1.0
"""Force that takes up the play between encoder and joints, N."""
CREEP_LOAD = 1.0
"""Load of a slipping brake, N, below which it slips more slowly."""

_OFF_MODE = int(Mode.OFF)
_FORCE_MODE = int(Mode.FORCE)
_POSITION_MODE = int(Mode.POSITION)
_HOMING_MODE = int(Mode.HOMING)


@kernel
def queue_kernel(
    commands: Array, legs: int, due: float, drives: Array, modes: Counts, queues: Array, waiting: Counts
) -> None:
    """Put the commands (6, QUEUE_COLUMNS - 1) of the legs in `legs`, bit 0 for the first, into their queues.

    due: s, when they take effect. modes (6,): of each leg's last command. In a full queue the newest replaces the last.
    """
    for i in range(6):
        if not legs >> i & 1:
            continue
        mode = int(commands[i, 0])
        if mode == _HOMING_MODE and modes[i] != _HOMING_MODE:
            drives[i, HOMING_DONE] = 0.0
        modes[i] = mode
        count = min(waiting[i], QUEUE_LENGTH - 1)
        queues[i, count, 0] = due
        for k in range(QUEUE_COLUMNS - 1):
            queues[i, count, 1 + k] = commands[i, k]
        waiting[i] = count + 1


@kernel
def homing_reference_kernel(drive: Array, parameters: Array, reference: float, t: float) -> tuple[float, float, bool]:
    """Leg length and speed of the homing reference at t, and whether the move is complete: minimum jerk to the mark."""
    distance = reference - drive[HOMING_FROM]
    duration = max(HOMING_TIME, PEAK_SPEED * abs(distance) / parameters[HOMING_SPEED])
    x = (t - drive[HOMING_SINCE]) / duration
    if x >= 1.0:
        return reference, 0.0, True
    done, rate, _ = minimum_jerk_kernel(max(x, 0.0))
    return drive[HOMING_FROM] + distance * done, distance * rate / duration, False


@inlined
def demand_kernel(
    drive: Array, parameters: Array, reference: float, length: float, velocity: float, t: float
) -> tuple[float, float]:
    """Motor force demanded by the drive at t, saturated at its limit, and the error of its position loop, m."""
    if drive[BRAKED] != 0.0 or drive[ENABLED] == 0.0:
        return 0.0, 0.0
    error = 0.0
    demand = 0.0
    if drive[QUICK_STOP] != 0.0:
        demand = -parameters[STOP_DAMPING] * velocity
    elif drive[MODE] == _FORCE_MODE:
        demand = drive[FORCE]
    elif drive[MODE] == _POSITION_MODE:
        ahead = drive[POSITION] + drive[VELOCITY] * min(t - drive[SINCE], parameters[EXTRAPOLATION])
        error = ahead - length
        demand = (
            drive[FORCE]
            + drive[INTEGRAL]
            + parameters[STIFFNESS] * error
            + parameters[DAMPING] * (drive[VELOCITY] - velocity)
        )
    elif drive[MODE] == _HOMING_MODE:
        wanted, rate, _ = homing_reference_kernel(drive, parameters, reference, t)
        error = wanted - length
        demand = drive[INTEGRAL] + parameters[STIFFNESS] * error + parameters[DAMPING] * (rate - velocity)
    limit = parameters[FORCE_LIMIT]
    return min(max(demand, -limit), limit), error


@inlined
def apply_command_kernel(drive: Array, entry: Array, length: float) -> None:
    """Apply a waiting command."""
    running = drive[ENABLED] != 0.0 and drive[QUICK_STOP] == 0.0
    homing = running and drive[MODE] == _HOMING_MODE
    looped = homing or (running and drive[MODE] == _POSITION_MODE)
    stopping = drive[QUICK_STOP] != 0.0
    drive[SINCE] = entry[0]
    drive[MODE], drive[FORCE], drive[POSITION], drive[VELOCITY] = entry[1], entry[2], entry[3], entry[4]
    drive[ENABLED], drive[QUICK_STOP], drive[BRAKE] = entry[5], entry[6], entry[7]
    running = drive[ENABLED] != 0.0 and drive[QUICK_STOP] == 0.0
    if drive[QUICK_STOP] != 0.0 and not stopping:
        drive[STOP_SINCE] = entry[0]
    if running and drive[MODE] == _HOMING_MODE and not homing:
        drive[HOMING_FROM], drive[HOMING_SINCE], drive[HOMING_DONE] = length, entry[0], 0.0
    if not looped:
        drive[INTEGRAL] = 0.0


@inlined
def carried_kernel(drive: Array, length: float, later: float) -> tuple[float, float]:
    """Extrapolate a leg `later` s from the beginning of a step, with this length: length, m, and speed, m/s."""
    speed, acceleration = drive[SPEED], drive[ACCELERATION]
    return length + later * (speed + 0.5 * later * acceleration), speed + later * acceleration


@inlined
def _lag(drive: Array, demand: float, duration: float, time_constant: float) -> None:
    """Advance the motor's force and impulse by a time, s, of constant demand, N."""
    dying = drive[MOTOR] - demand
    left = exp(-duration / time_constant)
    drive[IMPULSE] += demand * duration + dying * time_constant * (1.0 - left)
    drive[MOTOR] = demand + dying * left


@inlined
def motor_kernel(
    drive: Array, queue: Array, waiting: int, parameters: Array, reference: float,
    length: float, start: float, middle: float, end: float,
) -> int:  # fmt: skip
    """Advance the motor's force from `start` to `end` (s), applying due commands; return the number still waiting.

    The lag is solved exactly for constant demand between commands, evaluated at the middle; length (m) is at the
    beginning of the step, `middle` s earlier, and is extrapolated. The drive's impulse includes the motor's.
    """
    length, velocity = carried_kernel(drive, length, middle)
    at = 0.5 * (start + end)
    t = start
    while waiting > 0 and queue[0, 0] <= end:
        demand, _ = demand_kernel(drive, parameters, reference, length, velocity, at)
        until = max(queue[0, 0], t)
        _lag(drive, demand, until - t, parameters[TIME_CONSTANT])
        t = until
        apply_command_kernel(drive, queue[0], length)
        waiting -= 1
        for i in range(waiting):
            for j in range(QUEUE_COLUMNS):
                queue[i, j] = queue[i + 1, j]
    demand, _ = demand_kernel(drive, parameters, reference, length, velocity, at)
    _lag(drive, demand, end - t, parameters[TIME_CONSTANT])
    return waiting


@inlined
def middle_force_kernel(begin: float, impulse: float, end: float, h: float) -> float:
    """Force, N, in the middle of a step of `h` s that gives its impulse (N s) by Simpson's rule; begin and end in N.

    A command within a step bends the force curve, so the actual value in the middle is not representative.
    """
    result: float = (6.0 * impulse / h - begin - end) / 4.0
    return result


@inlined
def begin_step_kernel(
    drive: Array, parameters: Array, reference: float, length: float, velocity: float, t: float, h: float
) -> None:
    """Update brake, homing and the position loop's integral, at the start t of a step of h (s)."""
    drive[ACCELERATION], drive[SPEED] = (velocity - drive[SPEED]) / h, velocity
    if drive[ENABLED] == 0.0 or drive[BRAKE] != 0.0 or drive[HELD] != 0.0:
        drive[BRAKED] = 1.0
    elif drive[QUICK_STOP] == 0.0:
        drive[BRAKED] = 1.0 if drive[MODE] == _OFF_MODE else 0.0
    elif abs(velocity) < STANDSTILL_SPEED or t - drive[STOP_SINCE] > STOP_TIME:
        drive[BRAKED] = 1.0
    demand, error = demand_kernel(drive, parameters, reference, length, velocity, t)
    if error != 0.0 and abs(demand) < parameters[FORCE_LIMIT]:
        drive[INTEGRAL] += parameters[INTEGRAL_RATE] * parameters[STIFFNESS] * error * h
    if drive[BRAKED] == 0.0 and drive[QUICK_STOP] == 0.0 and drive[MODE] == _HOMING_MODE:
        _, _, over = homing_reference_kernel(drive, parameters, reference, t)
        if over and abs(error) < HOMING_TOLERANCE and abs(velocity) < HOMING_REST:
            drive[HOMING_DONE] = 1.0


@kernel
def grip_kernel(leg: Array, drive: Array, parameters: Array) -> None:
    """Compute the holding force of brake and jam at a leg's row; the brake is that of the row `drive`."""
    leg[GRIP] = leg[JAM] + (leg[HOLD] * parameters[BRAKE_FORCE] if drive[BRAKED] != 0.0 else 0.0)


@kernel
def contact_kernel(drive: Array, parameters: Array, leg: Array, length: float, velocity: float) -> float:
    """Compute the force of brake, jam and end stops at a leg length (m) and speed (m/s).

    Brake and jam are one spring and damper that slips at the holding force; an open brake has none. The end stops
    only push.
    """
    k, d = parameters[BRAKE_STIFFNESS], parameters[BRAKE_DAMPING]
    grip = drive[GRIP]
    force: float = min(max(k * (drive[ANCHOR] - length) - d * (velocity - drive[DRIFT]), -grip), grip)
    if length < leg[LOWER_STOP]:
        force += max(k * (leg[LOWER_STOP] - length) - d * velocity, 0.0)
    elif length > leg[UPPER_STOP]:
        force -= max(k * (length - leg[UPPER_STOP]) + d * velocity, 0.0)
    return force


@kernel
def encoder_kernel(leg: Array, length: float, force: float) -> float:
    """Encoder reading at a leg length (m) with motor force (N), including compliance and backlash."""
    play = 0.5 * leg[BACKLASH] * tanh(force / PLAY_FORCE)
    result: float = length + leg[OFFSET] + leg[COMPLIANCE] * force + play
    return result


@kernel
def friction_kernel(leg: Array, force: float, velocity: float) -> float:
    """Friction not in the mechanism at an axial force (N) and a leg speed (m/s), opposing the speed.

    Stribeck's curve by direction, and a part of the axial force. With EVERY_FRICTION, `every_friction_kernel` applies
    instead: separate, so that the function called in every stage stays small.
    """
    out = velocity > 0.0
    excess = leg[BREAKAWAY_EXTENDING] if out else leg[BREAKAWAY_RETRACTING]
    ratio = velocity / leg[STRIBECK_SPEED]
    size = (leg[EXTENDING] if out else leg[RETRACTING]) + excess * exp(-ratio * ratio) + leg[LOAD] * abs(force)
    result: float = -size * tanh(velocity / leg[FRICTION_SPEED])
    return result


@kernel
def every_friction_kernel(leg: Array, drive: Array, force: float, length: float, velocity: float) -> float:
    """All friction along a leg, N: `sliding_kernel` and viscous friction.

    Presliding is Dahl's model (1968) with the damping of LuGre (Canudas de Wit et al. 1995), F = −σ₀ z − σ₁ ż.
    """
    sign = tanh(velocity / leg[FRICTION_SPEED])
    lubricant = leg[PRISMATIC] * velocity
    if leg[VISCOUS] != 0.0:
        lubricant += leg[VISCOUS] * sign * abs(velocity / leg[VISCOUS_SPEED]) ** leg[VISCOUS_EXPONENT]
    if leg[PRESLIDING_STIFFNESS] == 0.0:
        result: float = -(sliding_kernel(leg, force, length, velocity, velocity > 0.0) * sign + leg[FACTOR] * lubricant)
        return result
    z, limit = bristle_kernel(leg, drive, force, length, velocity)
    rate = velocity - abs(velocity) * z / limit if limit > 0.0 else 0.0
    result = -(leg[PRESLIDING_STIFFNESS] * z + leg[PRESLIDING_DAMPING] * rate + leg[FACTOR] * lubricant)
    return result


@kernel
def sliding_kernel(leg: Array, force: float, length: float, velocity: float, out: bool) -> float:
    """Magnitude of a leg's friction without its viscous part, N, sliding or about to slide, outwards or inwards."""
    excess = leg[BREAKAWAY_EXTENDING] if out else leg[BREAKAWAY_RETRACTING]
    curve = exp(-(abs(velocity / leg[STRIBECK_SPEED]) ** leg[SHAPE]))
    level = leg[COULOMB] + (leg[EXTENDING] if out else leg[RETRACTING]) + leg[LOAD] * abs(force)
    if leg[RIPPLE] != 0.0:
        level += leg[RIPPLE] * sin(leg[RIPPLE_RATE] * length + leg[RIPPLE_PHASE])
    result: float = leg[FACTOR] * (level + excess * curve)
    return result


@kernel
def bristle_kernel(leg: Array, drive: Array, force: float, length: float, velocity: float) -> tuple[float, float]:
    """Deflection of a leg's friction at a leg length (m), and its limit, m: Dahl's dz = dL − |dL| z/limit.

    Solved exactly over the travel since the stored deflection, so that any stiffness is stable. The deflection never
    exceeds the limit: friction that falls with speed releases it, and returns no more energy than it took.
    """
    way = length - drive[BRISTLE_LENGTH]
    limit = sliding_kernel(leg, force, length, velocity, drive[BRISTLE] + way > 0.0) / leg[PRESLIDING_STIFFNESS]
    if not limit > 0.0:
        return 0.0, 0.0
    before = min(max(drive[BRISTLE], -limit), limit)
    end = limit if way > 0.0 else -limit
    return end + (before - end) * exp(-abs(way) / limit), limit


@kernel
def keep_bristle_kernel(leg: Array, drive: Array, force: float, length: float, velocity: float) -> None:
    """Store the deflection of a leg's friction at the beginning of a step."""
    if leg[PRESLIDING_STIFFNESS] != 0.0:
        drive[BRISTLE], _ = bristle_kernel(leg, drive, force, length, velocity)
        drive[BRISTLE_LENGTH] = length


@kernel
def run_in_kernel(legs: Array, t: float) -> None:
    """Update the legs' friction factor at t, s: 1 + part e^(−t/τ), the same for all legs."""
    part = legs[0, RUNNING_IN]
    if part != 0.0:
        factor = 1.0 + part * exp((legs[0, BEGAN] - t) / legs[0, RUNNING_IN_TIME])
        for i in range(legs.shape[0]):
            legs[i, FACTOR] = factor


@kernel
def end_step_kernel(drive: Array, parameters: Array, length: float, velocity: float, h: float) -> None:
    """Let the anchor slip until its spring pulls no more than the holding force, after a step of h (s).

    Above a load of `CREEP_LOAD` a creeping anchor moves at its full speed.
    """
    drive[ANCHOR] += drive[DRIFT] * h
    creep = drive[CREEP] if drive[GRIP] > drive[JAM] else 0.0
    if creep == 0.0:
        drive[DRIFT] = 0.0
    else:
        damping = parameters[BRAKE_DAMPING]
        load = parameters[BRAKE_STIFFNESS] * (drive[ANCHOR] - length) - damping * velocity
        drive[DRIFT] = -creep * min(max(load / (CREEP_LOAD + damping * creep), -1.0), 1.0)
    stretch = drive[GRIP] / parameters[BRAKE_STIFFNESS]
    drive[ANCHOR] = min(max(drive[ANCHOR], length - stretch), length + stretch)

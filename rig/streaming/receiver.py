"""The receiver of a stream: a process that takes set-points from the network into a ring, and answers their sender.

It is a process of its own, since the interpreter of the engine is the cycle's. It reads the telemetry ring as any other
reader does; the engine waits for neither.
"""

import contextlib
import math
import select
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from kinematics import Geometry, KinematicsError, LimitError, Tuning
from rig.config import ReceiverOptions
from rig.errors import HardwareError, InputError
from rig.runtime import ChildProcess, SharedMemoryError, TelemetryRing
from rig.streaming.cueing import CueSetup, CueStage, CueStatus
from rig.streaming.intake import Address, Intake, StreamStatus
from rig.streaming.packets import (
    LONGEST_LINE,
    PACKET_SIZE,
    Feedback,
    decode_line,
    decode_set_point,
    encode_feedback,
    feedback_line,
    read_key,
)
from rig.streaming.samples import SampleRing
from rig.streaming.vehicle import decode_vehicle, decode_vehicle_line
from rig.telemetry import CycleFlag

_STARTING = 20.0
"""s for the process to begin to listen"""
_ANSWERING = 5.0
"""s for an answer of the process"""
_ENDING = 2.0
"""s for it to end by itself"""
_BURST = 512
"""packets read before those read are worked on: the time of a turn under a flood"""
_OTHERS = 16
"""packets of others read in a turn while a sender is followed"""
_BUFFER = 1 << 19
"""bytes that the system keeps for the receiver: some 600 packets"""
_CONNECTIONS = 4
"""senders connected at a time; for a fifth one the oldest that is not followed is closed"""
_UNSENT = 1 << 16
"""bytes of answers that wait for a slow reader, here and in the system; beyond it answers are left out"""
_IDLE = 0.5
"""s, longest wait of a turn without telemetry"""
_SO_MEMINFO, _DROPS, _MEMINFO_WORDS = 55, 8, 9
_UNKNOWN = (math.nan,) * 6
_COMPILING = 300.0
"""s for it to begin to listen where the kernels of a washout may have to be compiled first"""
_CLOCK_SHOWN = 0.25
"""s between two looks at the sender's clock"""

Rows = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class RigSide:
    """What the receiver needs of the rig for the feedback.

    telemetry: name of the ring. geometry: of the platform, for the external wrench. period: s, of a cycle.
    """

    telemetry: str
    geometry: Geometry
    period: float


class Endpoint(Protocol):
    """Where set-points come in, and feedback goes out."""

    @property
    def address(self) -> str:
        """Where it listens, as text."""

    @property
    def files(self) -> Sequence[socket.socket]:
        """Sockets to wait for."""

    def follow(self, origin: Address, active: bool) -> None:
        """Whose set-points are taken, and whether the session goes on."""

    def read(self, intake: Intake) -> bool:
        """Put what came in into the intake, at most a burst; whether more may wait."""

    def answer(self, origin: Address, feedback: Feedback) -> None:
        """Send a feedback to the sender at `origin`; never waits."""

    def lost(self) -> int:
        """Set-points so far for which the system had no room."""

    def close(self) -> None:
        """Close it. May be called again."""


class UdpEndpoint:
    """A socket for all senders, and one for the sender that is followed.

    The second one is connected: the system gives it what comes from that sender alone, with room of its own. A flood
    from elsewhere fills only the first one, of which little is read then.

    Args:
        host, port: to listen on.
        key: for the feedback.

    Raises:
        HardwareError: the address cannot be listened at.
    """

    def __init__(self, host: str, port: int, key: bytes | None) -> None:
        self._key = key
        self._open = bound_socket(host, port, socket.SOCK_DGRAM)
        self._open.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        self._followed: socket.socket | None = None
        self._origin: Address = ()
        self._alone = self._new = False
        self._lost_before = 0
        self.address = "udp://" + _text(self._open.getsockname())

    @property
    def files(self) -> Sequence[socket.socket]:
        """See `Endpoint.files`."""
        if self._followed is None:
            return (self._open,)
        return (self._followed,) if self._alone else (self._followed, self._open)

    def follow(self, origin: Address, active: bool) -> None:
        """See `Endpoint.follow`."""
        self._alone = active and self._followed is not None
        if not active or origin == self._origin:
            return
        self._release()
        self._origin = origin
        own = socket.socket(self._open.family, socket.SOCK_DGRAM)
        try:
            for each in (self._open, own):  # two sockets of one port, for this moment only, of no other process
                each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            own.bind(self._open.getsockname())
            own.connect(origin)
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            own.setblocking(False)
        except OSError:  # it does without
            own.close()
        else:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            self._followed, self._alone, self._new = own, True, True
        finally:
            self._open.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)

    def read(self, intake: Intake) -> bool:
        """See `Endpoint.read`."""
        if self._new:  # what the followed sender sent before it had a socket comes first
            self._new = False
            _read_packets(self._open, intake, _BURST)
        more = False
        if self._followed is not None:
            more = _read_packets(self._followed, intake, _BURST)
        others = _read_packets(self._open, intake, _OTHERS if self._alone else _BURST)
        return more or (others and not self._alone)

    def answer(self, origin: Address, feedback: Feedback) -> None:
        """See `Endpoint.answer`."""
        with contextlib.suppress(OSError):  # no room, or no receiver: the next one comes in a cycle
            self._open.sendto(encode_feedback(feedback, self._key), origin)

    def lost(self) -> int:
        """See `Endpoint.lost`."""
        followed = 0 if self._followed is None else lost_packets(self._followed)
        return self._lost_before + lost_packets(self._open) + followed

    def close(self) -> None:
        """See `Endpoint.close`."""
        self._release()
        self._open.close()

    def _release(self) -> None:
        if self._followed is not None:
            self._lost_before += lost_packets(self._followed)
            self._followed.close()
            self._followed = None


def _read_packets(source: socket.socket, intake: Intake, most: int) -> bool:
    """Put at most so many packets into the intake; whether more may wait."""
    receive, put = source.recvfrom, intake.put
    for _ in range(most):
        try:
            data, origin = receive(PACKET_SIZE + 1)
        except BlockingIOError:
            return False
        except OSError:  # an answer could not be delivered: its receiver has gone
            continue
        put(data, origin)
    return True


def lost_packets(source: socket.socket) -> int:
    """Packets that the system had no room for at this socket."""
    with contextlib.suppress(OSError):
        words = source.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 4 * _MEMINFO_WORDS)
        return int.from_bytes(words[4 * _DROPS : 4 * _DROPS + 4], "little")
    return 0


class _LineConnection:
    """One sender connected over TCP."""

    def __init__(self, connection: socket.socket, origin: Address) -> None:
        self.socket = connection
        self.origin = origin
        self._rest = b""
        self._unsent = b""
        self._skipping = False

    def read(self, intake: Intake) -> bool:
        """Put the lines that came in into the intake. Returns False once the connection has ended."""
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._skipping:  # the end of a line that was too long
                self._skipping = False
            elif line.strip():
                intake.put(line, self.origin)
        if len(self._rest) > LONGEST_LINE:
            if not self._skipping:
                intake.put(b"", self.origin)  # counted as malformed
            self._rest, self._skipping = b"", True
        return bool(data)

    def send(self, line: bytes) -> None:
        """Send a line, or leave it out where the reader is far behind."""
        if len(self._unsent) < _UNSENT:
            self._unsent += line
        with contextlib.suppress(OSError):
            self._unsent = self._unsent[self.socket.send(self._unsent) :]


class TcpEndpoint:
    """A listening socket, and a few senders that are connected.

    Args:
        host, port: to listen on.

    Raises:
        HardwareError: the address cannot be listened at.
    """

    def __init__(self, host: str, port: int) -> None:
        self._listening = bound_socket(host, port, socket.SOCK_STREAM)
        self._listening.listen(4 * _CONNECTIONS)
        self._connections: dict[Address, _LineConnection] = {}
        self.address = "tcp://" + _text(self._listening.getsockname())

    @property
    def files(self) -> Sequence[socket.socket]:
        """See `Endpoint.files`."""
        return [self._listening, *(each.socket for each in self._connections.values())]

    def read(self, intake: Intake) -> bool:
        """See `Endpoint.read`."""
        with contextlib.suppress(OSError):
            while True:
                connection, origin = self._listening.accept()
                if len(self._connections) >= _CONNECTIONS:
                    self._end(next(each for each in self._connections if each != intake.origin))
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT)
                self._connections[origin] = _LineConnection(connection, origin)
                if intake.next_challenge:
                    intake.asked[origin] = intake.next_challenge
        for origin, each in list(self._connections.items()):
            if not each.read(intake):
                self._end(origin)
        return False

    def _end(self, origin: Address) -> None:
        self._connections.pop(origin).socket.close()

    def follow(self, origin: Address, active: bool) -> None:
        """See `Endpoint.follow`: each sender has a connection of its own."""

    def answer(self, origin: Address, feedback: Feedback) -> None:
        """See `Endpoint.answer`."""
        connection = self._connections.get(origin)
        if connection is not None:
            connection.send(feedback_line(feedback))

    def lost(self) -> int:
        """See `Endpoint.lost`: TCP slows its sender down instead."""
        return 0

    def close(self) -> None:
        """See `Endpoint.close`."""
        for each in self._connections.values():
            each.socket.close()
        self._listening.close()


class ReceiverLoop:
    """The turns of the receiver, which a process or a test makes one after the other.

    Args:
        endpoint: open.
        intake: what is put in.
        rig: for the feedback; None for none.
        cueing: what the intake's samples go through; None: straight into the ring.

    Raises:
        SharedMemoryError: there is no such telemetry.
    """

    def __init__(
        self, endpoint: Endpoint, intake: Intake, rig: RigSide | None = None, cueing: CueStage | None = None
    ) -> None:
        self.cueing = cueing
        self._endpoint = endpoint
        self.intake = intake
        self._rig = rig
        self._wrench = None if rig is None else _Wrench(rig.geometry)
        self._telemetry = None if rig is None else TelemetryRing.attach(rig.telemetry)
        self._reader = None if self._telemetry is None else self._telemetry.reader()
        self._clock = intake.clock.estimate()
        self._clock_at = intake.now()

    @property
    def longest_wait(self) -> float:
        """s until the next turn at the latest."""
        wait = _IDLE if self._rig is None else 0.5 * self._rig.period
        return wait if self.cueing is None else min(wait, 0.5 * self.cueing.period)

    def turn(self) -> bool:
        """Take in what has come, pass it on, and answer. Returns whether more may wait."""
        intake = self.intake
        more = self._endpoint.read(intake)
        intake.work()
        if self.cueing is not None:
            self.cueing.turn(intake.now())
        self._endpoint.follow(intake.origin, intake.active)
        for origin, challenge in intake.asked.items():
            self._endpoint.answer(origin, Feedback(challenge=challenge, answered=intake.now()))
        intake.asked.clear()
        if self._reader is not None:
            self._feed_back(self._reader.read_new()[0])
        return more

    def status(self) -> StreamStatus:
        """What came in so far."""
        self.intake.lost(self._endpoint.lost())
        return self.intake.status()

    def close(self) -> None:
        """Close sockets and telemetry."""
        self._endpoint.close()
        if self._telemetry is not None:
            self._telemetry.close()

    def _feed_back(self, rows: Rows) -> None:
        newest, now = self.intake.newest, self.intake.now()
        if newest is None or not len(rows) or not self.intake.active:
            return
        if now - self._clock_at > _CLOCK_SHOWN:
            self._clock, self._clock_at = self.intake.clock.estimate(), now
        clock = self._clock
        common = Feedback(
            session=newest.session,
            challenge=self.intake.challenge,
            sequence=newest.sequence,
            sent=newest.sent,
            received=self.intake.newest_received,
            offset=clock.offset,
            offset_sigma=clock.offset_sigma,
            drift=clock.drift,
            drift_sigma=clock.drift_sigma,
            jitter=clock.jitter,
        )
        for row in rows:
            pose, flags = row["pose"].tolist(), int(row["flags"])
            wrench = self._wrench if flags & CycleFlag.POSE else None
            self._endpoint.answer(
                self.intake.origin,
                common._replace(
                    state=int(row["state"]),
                    flags=flags,
                    cycle=int(row["cycle"]),
                    t=float(row["t"]),
                    delay=float(row["stream_delay"]),
                    answered=self.intake.now(),
                    reference=row["reference"][:7].tolist(),
                    pose=pose,
                    twist=row["twist"].tolist(),
                    force=row["force_measured"].tolist(),
                    model=row["force_model"].tolist(),
                    wrench=_UNKNOWN if wrench is None else wrench(pose, row["force_residual"].tolist()),
                ),
            )


class _Wrench:
    """External wrench from the cells' residuals of one cycle: `dynamics.wrench_from_residual`, for one pose.

    With plain numbers, as this is done in every cycle, and arrays of six take ten times as long.

    Args:
        geometry: of the platform.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._legs = list(zip(geometry.base_points.tolist(), geometry.platform_points.tolist(), strict=True))

    def __call__(self, pose: Sequence[float], residual: Sequence[float]) -> tuple[float, ...]:
        """The wrench (6,), N and N m, platform's origin and axes. Args: pose: (7,). residual: (6,) N."""
        x, y, z, w, i, j, k = pose
        xx, xy, xz = 1.0 - 2.0 * (j * j + k * k), 2.0 * (i * j + w * k), 2.0 * (i * k - w * j)  # Rᵀ by rows
        yx, yy, yz = 2.0 * (i * j - w * k), 1.0 - 2.0 * (i * i + k * k), 2.0 * (j * k + w * i)
        zx, zy, zz = 2.0 * (i * k + w * j), 2.0 * (j * k - w * i), 1.0 - 2.0 * (i * i + j * j)
        fx = fy = fz = mx = my = mz = 0.0
        for ((bx, by, bz), (px, py, pz)), force in zip(self._legs, residual, strict=True):
            dx, dy, dz = x - bx, y - by, z - bz
            lx, ly, lz = (
                px + xx * dx + xy * dy + xz * dz,
                py + yx * dx + yy * dy + yz * dz,
                pz + zx * dx + zy * dy + zz * dz,
            )
            share = -force / math.hypot(lx, ly, lz)
            lx, ly, lz = share * lx, share * ly, share * lz
            fx, fy, fz = fx + lx, fy + ly, fz + lz
            mx, my, mz = mx + py * lz - pz * ly, my + pz * lx - px * lz, mz + px * ly - py * lx
        return fx, fy, fz, mx, my, mz


class StreamReceiver:
    """Starts the receiver's process and owns it, with the ring that it fills.

    Args:
        settings: `[stream.receiver]`.
        folder: of relative paths in them.
        rig: for the feedback; None: none is sent.
        capacity: of the ring, samples.
        cue: what comes in is a vehicle's motion, which goes through this washout; None: the platform's.

    Raises:
        InputError: the key cannot be read, or there is no washout for this machine.
        HardwareError: the process cannot be started, or the address cannot be listened at.
    """

    def __init__(
        self,
        settings: ReceiverOptions,
        folder: Path = Path(),
        rig: RigSide | None = None,
        *,
        capacity: int = 1024,
        cue: CueSetup | None = None,
    ) -> None:
        key = None if settings.key_file is None else read_key(folder / settings.key_file)
        self._known, self._final = StreamStatus(), False
        self.ring = SampleRing.create(capacity)
        """the ring of samples; to be read, not written"""
        try:
            side = rig if settings.feedback else None
            self._process = ChildProcess("the stream receiver", _receive, settings, key, self.ring.name, side, cue)
        except BaseException:
            self.ring.close()
            raise
        try:
            begun, text = self._process.receive(_STARTING if cue is None else _COMPILING, "begin to listen")
            if not begun:
                raise HardwareError(text)
        except BaseException:
            self._process.end(0.0)
            self.ring.close()
            raise
        self.address: str = text
        """where it listens, as udp://127.0.0.1:9872"""

    @property
    def pid(self) -> int | None:
        """Process id of the receiver."""
        return self._process.pid

    def status(self) -> StreamStatus:
        """What came in so far; after `close`, until then, or until it was asked last if the process had died.

        Raises:
            ChildDiedError, ChildLateError: the receiver has died, or hangs.
        """
        if self._final:
            return replace(self._known, active=False)
        self._process.send("status")
        self._known = self._process.receive(_ANSWERING, "say what came in")
        return self._known

    def cueing(self) -> CueStatus:
        """What the washout did so far; only for a vehicle's motion. Raises as `status`."""
        self._process.send("cueing")
        status: CueStatus = self._process.receive(_ANSWERING, "say what the washout did")
        return status

    def end(self) -> None:
        """End the platform's stream, whatever the vehicle's sender does. Raises as `status`."""
        self._process.send("end")
        self._process.receive(_ANSWERING, "end the stream")

    def tune(self, tuning: Tuning) -> list[str]:
        """Change the tuning of the washout while it runs; return what changes, as `CueStage.tune`.

        Raises:
            LimitError: what cannot be changed while the platform moves; the old tuning stays.
            ChildDiedError, ChildLateError: as `status`.
        """
        self._process.send(tuning)
        changes: list[str] | LimitError = self._process.receive(_ANSWERING, "change the tuning")
        if isinstance(changes, LimitError):
            raise changes
        return changes

    def close(self) -> None:
        """End the process and remove the ring. May be called again."""
        if not self._final:
            try:
                with contextlib.suppress(HardwareError):
                    self.status()
            finally:
                self._final = True
                self._process.end(_ENDING)
                self.ring.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def open_endpoint(settings: ReceiverOptions, key: bytes | None) -> Endpoint:
    """Listen as the settings say. Raises HardwareError where that is impossible."""
    if settings.transport == "tcp":
        return TcpEndpoint(settings.host, settings.port)
    return UdpEndpoint(settings.host, settings.port, key)


def open_intake(settings: ReceiverOptions, key: bytes | None, ring: SampleRing | CueStage) -> Intake:
    """The intake of these settings into `ring`, or of a vehicle's samples into a washout's stage."""
    lines = settings.transport == "tcp"
    if isinstance(ring, CueStage):
        decode = decode_vehicle_line if lines else decode_vehicle
    else:
        decode = decode_line if lines else decode_set_point
    return Intake(ring, decode, key, queue=settings.queue, silence=settings.silence)


def _receive(
    settings: ReceiverOptions,
    key: bytes | None,
    ring_name: str,
    rig: RigSide | None,
    cue: CueSetup | None,
    owner: Connection,
) -> None:
    """Main function of the process: receives until its owner closes the pipe or has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with SampleRing.attach(ring_name) as ring:
            stage = None if cue is None else cue.stage(ring)
            endpoint = open_endpoint(settings, key)
            try:
                loop = ReceiverLoop(endpoint, open_intake(settings, key, ring if stage is None else stage), rig, stage)
                owner.send((True, endpoint.address))
                _serve(loop, endpoint, owner)
            finally:
                endpoint.close()
    except (HardwareError, SharedMemoryError, InputError, KinematicsError) as error:
        with contextlib.suppress(OSError):
            owner.send((False, str(error)))
    except (EOFError, OSError):  # the owner is gone
        pass


def _serve(loop: ReceiverLoop, endpoint: Endpoint, owner: Connection) -> None:
    more = False
    while True:
        wait = 0.0 if more else loop.longest_wait
        waiting: list[Connection | socket.socket] = [owner, *endpoint.files]
        ready = select.select(waiting, [], [], wait)[0]
        more = loop.turn()
        if owner in ready:
            owner.send(_answered(loop, owner.recv()))


def _answered(loop: ReceiverLoop, asked: object) -> object:
    """The answer to the owner: to a tuning what it changes, or why it cannot."""
    if loop.cueing is not None:
        if isinstance(asked, Tuning):
            try:
                return loop.cueing.tune(asked)
            except LimitError as error:
                return error
        if asked == "end":
            loop.cueing.end()
        elif asked == "cueing":
            return loop.cueing.status
    return loop.status()


def bound_socket(host: str, port: int, kind: socket.SocketKind, what: str = "stream") -> socket.socket:
    """A socket that does not block, bound to the address. Raises HardwareError, which says `what` it is for."""
    made = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=kind, flags=socket.AI_PASSIVE)[0]
        made = socket.socket(family, kind, protocol)
        if kind == socket.SOCK_STREAM:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.setblocking(False)
        return made
    except (OSError, UnicodeError) as error:
        if made is not None:
            made.close()
        reason = getattr(error, "strerror", None) or error
        raise HardwareError(f"{what}: cannot listen on {host}, port {port}: {reason}") from error


def _text(address: Address) -> str:
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

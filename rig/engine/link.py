"""Control link: typed requests and replies between clients and the engine, on a local socket only its owner can open.

The socket lives in a folder of mode 0700. One thread of the engine's process serves it; commands are handed to the
cyclic thread, which answers them between two cycles. Requests that need a check (a motion, the way home, the move of
a leg) have their own thread. So the link never waits, and a STOP is never queued behind a slow command.
"""

import itertools
import os
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import zmq
from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from rig.engine.checking import CHECK_TIMEOUT, received_table
from rig.engine.lease import Lease, Leases
from rig.engine.messages import (
    CHECKED,
    REPLY,
    Acquire,
    GetSnapshot,
    Note,
    NoteTuning,
    Release,
    Reply,
    Report,
    Request,
    RigCommand,
    Stop,
    refusal,
)
from rig.engine.reference import ReferenceSource
from rig.engine.snapshot import SNAPSHOT, Snapshot
from rig.errors import HardwareError, InputError, RefusedError
from rig.findings import Code, Finding, Value, elided
from rig.names import printable

_SIGN_OF_LIFE = 0.1  # s between two while a client waits for a reply
_LAST_REPLY = 0.05  # s for a reply that was sent before the client learnt that the engine has ended
_BUSY_POLL_MS = 2
_IDLE_POLL_MS = 50


@validated(frozen=True, slots=True)
class _Envelope:
    """A request with its number, which the reply repeats, and the sender's lease token."""

    number: int
    token: str
    request: Request


_ENVELOPE: TypeAdapter[_Envelope] = TypeAdapter(_Envelope)


@validated(frozen=True, slots=True)
class _Head:
    """The part of an envelope that an answer needs."""

    number: int
    request: dict[str, Any]


_HEAD: TypeAdapter[_Head] = TypeAdapter(_Head)


@dataclass(frozen=True, slots=True)
class Submission:
    """A command on its way to the cyclic thread, which completes `reply`."""

    command: RigCommand
    samples: npt.NDArray[np.float64] | None
    """(n, 18) motion table of a `Follow`"""
    reply: Future[Reply]
    lease: Lease | None = None
    """the lease under which it was sent and with which it ends; None for a stop, or with a single client only"""
    client: str = ""
    """name of the client, "" if unknown"""
    stops: int | None = None
    """the engine's count of stops at the request, if its check had to wait for another; None: the present one"""
    source: ReferenceSource | None = None
    """of a `FollowSource` in the engine's own process: an object, in place of the name of a declared one"""


class LinkJournal(Protocol):
    """Takes notes of clients' requests; never waits."""

    def injected(self, action: str, text: str, at: float | None = None) -> None:
        """Note an injection into a virtual rig at `at`, s of the engine's clock, or now."""

    def tuned(self, text: str, at: float) -> None:
        """Note a change of a washout's tuning at `at`, s of the engine's clock."""

    def report(self, finding: Finding) -> None:
        """Report an event of a process beside the engine, which the log shows as well."""

    def command(self, what: str, client: str, reply: Reply) -> None:
        """Note a command of a client, "" where it is not known by name, and its outcome."""


class LinkServer:
    """Serves the control link in a thread of its own.

    Args:
        address: zmq address, `ipc://…` in a folder only its owner can enter.
        submit: passes a command to the cyclic thread, which completes its future.
        status: builds the present `Snapshot` with the given name of the lease's holder.
        leases: granted and released here.
        journal: notes of clients' requests.

    Raises:
        HardwareError: the address cannot be used.
    """

    def __init__(
        self,
        address: str,
        submit: Callable[[Submission], None],
        status: Callable[[str], Snapshot],
        leases: Leases,
        journal: LinkJournal | None = None,
    ) -> None:
        self._submit = submit
        self._journal = journal
        self._status = status
        self._leases = leases
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 200)
        try:
            self._socket.bind(address)
        except zmq.ZMQError as error:
            self._context.destroy(linger=0)
            raise HardwareError(f"control link {address}: {error}") from error
        self._checks = ThreadPoolExecutor(1, "motion-check")
        self._pending: list[tuple[bytes, int, Future[Reply]]] = []
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="control-link", daemon=True)

    @property
    def alive(self) -> bool:
        """Whether requests are being served."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Answer what is pending, stop the thread and close the socket."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)
        self._checks.shutdown(wait=False, cancel_futures=True)  # a check that hangs ends with its process
        self._socket.close()
        self._context.term()

    def _serve(self) -> None:
        try:
            while not self._ending.is_set() or self._pending:
                if self._socket.poll(_BUSY_POLL_MS if self._pending else _IDLE_POLL_MS):
                    self._receive()
                self._answer_pending()
        except zmq.ZMQError:
            if not self._ending.is_set():  # else the process was ended before this thread saw it
                raise

    def _receive(self) -> None:
        sender, *parts = self._socket.recv_multipart(copy=False)  # copying a long motion would hold the interpreter
        try:
            envelope = _ENVELOPE.validate_json(parts[0].bytes)
        except (ValidationError, InputError, IndexError) as error:
            self._refuse_malformed(sender.bytes, parts, error)
            return
        try:
            self._serve_request(sender.bytes, envelope, parts[1] if len(parts) > 1 else None)
        except Exception as error:  # STOP must go on being served
            traceback.print_exc()
            if not isinstance(envelope.request, GetSnapshot):  # whoever asked for it takes no other answer
                self._send_reply(sender.bytes, envelope.number, _unexpected(envelope.request.kind, error))

    def _refuse_malformed(self, sender: bytes, parts: list[zmq.Frame], error: Exception) -> None:
        """Refuse a malformed request with the reason; one without a number gets no reply."""
        try:
            head = _HEAD.validate_json(parts[0].bytes)
        except (ValidationError, IndexError):
            return
        reason = str(error)
        if isinstance(error, ValidationError):
            found = error.errors(include_url=False, include_input=False, include_context=False)
            reason = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:3])
        kind = elided(str(head.request.get("kind", "")), 40)
        malformed = Finding(Code.MALFORMED, details={"text": elided(printable(reason), 400)})
        self._send_reply(sender, head.number, Reply(False, refusal(printable(kind), malformed)))

    def _serve_request(self, sender: bytes, envelope: _Envelope, data: zmq.Frame | None) -> None:
        request, number, lease = envelope.request, envelope.number, self._leases.holder
        if isinstance(request, GetSnapshot):
            self._send(sender, number, SNAPSHOT.dump_json(self._status(self._leases.client)))
            return
        if isinstance(request, Note):
            if self._journal is not None:
                self._journal.injected(request.action, request.text, request.at)
            self._send_reply(sender, number, Reply(True))
            return
        if isinstance(request, NoteTuning):
            if self._journal is not None:
                self._journal.tuned(request.text, request.at)
            self._send_reply(sender, number, Reply(True))
            return
        if isinstance(request, Report):
            if self._journal is not None:
                self._journal.report(request.finding)
            self._send_reply(sender, number, Reply(True))
            return
        if isinstance(request, Acquire):
            self._acquire(sender, number, request)
        elif isinstance(request, Stop):
            own = lease is not None and envelope.token == lease.token
            self._forward(sender, number, request, None, None, lease.client if lease is not None and own else "")
        elif lease is None or envelope.token != lease.token:
            lacking = Finding(Code.LEASE_NEEDED)
            if lease is not None:
                lacking = Finding(Code.LEASE_NEEDED_HELD, details={"client": lease.client})
            self._settle(sender, number, request, "", Reply(False, lacking))
        elif isinstance(request, Release):
            self._leases.end(lease)
            self._settle(sender, number, request, lease.client, Reply(True))
        else:
            self._forward(sender, number, request, data, lease, lease.client)

    def _acquire(self, sender: bytes, number: int, request: Acquire) -> None:
        try:
            lease = self._leases.grant(request.client, request.process)
        except RefusedError as error:
            self._settle(sender, number, request, request.client, Reply(False, error.finding))
            return
        if self._journal is not None:
            self._journal.command(request.kind, request.client, Reply(True))
        self._send(sender, number, REPLY.dump_json(Reply(True)), lease.token.encode(), b"%d" % lease.number)

    def _settle(
        self, sender: bytes, number: int, request: Acquire | Release | RigCommand, client: str, reply: Reply
    ) -> None:
        """Answer a request that does not need the cyclic thread."""
        if reply.finding is not None:
            reply = replace(reply, finding=refusal(request.kind, reply.finding))
        if self._journal is not None:
            self._journal.command(request.kind, client, reply)
        self._send_reply(sender, number, reply)

    def _forward(
        self, sender: bytes, number: int, command: RigCommand, data: zmq.Frame | None, lease: Lease | None, client: str
    ) -> None:
        future: Future[Reply] = Future()
        if data is not None and len(data.buffer) % (18 * 8):
            found = Finding(Code.NOT_ROWS, details={"size": len(data.buffer)})
            self._settle(sender, number, command, client, Reply(False, found))
            return
        if isinstance(command, CHECKED):
            submission = Submission(command, None, future, lease, client, self._status(self._leases.client).stops)
            self._checks.submit(self._submit_checked, submission, data)
        else:
            self._submit(Submission(command, None, future, lease, client))
        self._pending.append((sender, number, future))

    def _submit_checked(self, submission: Submission, data: zmq.Frame | None) -> None:
        try:
            if data is not None:
                samples = np.frombuffer(data.buffer, np.float64).reshape(-1, 18).copy()
                submission = replace(submission, samples=samples)
            self._submit(submission)
        except Exception as error:  # nobody looks at what a pool's thread raises
            submission.reply.set_result(_unexpected(submission.command.kind, error))

    def _answer_pending(self) -> None:
        waiting = []
        for sender, number, future in self._pending:
            if future.done():
                self._send_reply(sender, number, future.result())
            elif not self._ending.is_set():
                waiting.append((sender, number, future))
        self._pending = waiting

    def _send_reply(self, sender: bytes, number: int, reply: Reply) -> None:
        finding = None if reply.finding is None else reply.finding.elided()
        self._send(sender, number, REPLY.dump_json(replace(reply, finding=finding)))

    def _send(self, sender: bytes, number: int, *parts: bytes) -> None:
        self._socket.send_multipart([sender, str(number).encode(), *parts])


class LinkClient:
    """A client's end of the control link; used by one thread.

    Args:
        address: the engine's zmq address.
        timeout: s to wait for any reply.
        beat: called repeatedly while waiting, as a sign of life.
    """

    def __init__(self, address: str, timeout: float = 10.0, beat: Callable[[], None] | None = None) -> None:
        self._timeout = timeout
        self._beat = beat
        self._numbers = itertools.count(1)
        self._token = ""
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.connect(address)

    def acquire(self, client: str, process: int | None = None) -> int:
        """Take the command lease.

        Args:
            client: its name.
            process: the one that gives the sign of life; None for this one.

        Returns:
            Its number, for the sign of life in the control block, see `ControlBlock.sign`.

        Raises:
            RefusedError: another client holds it.
        """
        parts = self._exchange(Acquire(client, os.getpid() if process is None else process))
        REPLY.validate_json(parts[0]).check()
        self._token = parts[1].decode()
        return int(parts[2])

    def status(self) -> Snapshot:
        """The engine's present status."""
        return SNAPSHOT.validate_json(self._exchange(GetSnapshot())[0])

    def request(
        self, command: RigCommand | Release | Note | NoteTuning | Report, samples: npt.NDArray[np.float64] | None = None
    ) -> None:
        """Send a command and wait until it is accepted.

        Args:
            command: what to do.
            samples: (n, 18) rows of q, q̇, q̈ of a `Follow`.

        Raises:
            RefusedError: the engine refused it, with the engine's reason; nothing changed.
            HardwareError: a device does not answer as it should; or no reply within the timeout: the engine is gone.
        """
        try:  # here: bytes have no shape
            data = [] if samples is None else [received_table(1.0, samples).samples.tobytes()]
        except RefusedError as error:
            raise RefusedError(refusal(command.kind, error.finding)) from None
        checked = isinstance(command, CHECKED)  # which is done before it is answered
        parts = self._exchange(command, *data, timeout=self._timeout + (CHECK_TIMEOUT if checked else 0.0))
        REPLY.validate_json(parts[0]).check()

    def close(self) -> None:
        """Close the socket. May be called again."""
        self._socket.close()
        self._context.term()

    def _exchange(self, request: Request, *data: bytes, timeout: float | None = None) -> list[bytes]:
        if self._socket.closed:
            raise HardwareError(Finding(Code.LINK_CLOSED, details={"command": request.kind}))
        timeout = self._timeout if timeout is None else timeout
        number = next(self._numbers)
        envelope = _Envelope(number=number, token=self._token, request=request)
        self._socket.send_multipart([_ENVELOPE.dump_json(envelope), *data])
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                if self._beat is not None:
                    self._beat()
            except HardwareError:  # as when the engine has ended: what it sent before is still to be received
                if (reply := self._received(number, _LAST_REPLY)) is not None:
                    return reply
                raise
            if (reply := self._received(number, min(left, _SIGN_OF_LIFE))) is not None:
                return reply
        raise HardwareError(Finding(Code.ENGINE_SILENT, bound=timeout, details={"command": request.kind}))

    def _received(self, number: int, timeout: float) -> list[bytes] | None:
        """The parts of the reply to a request, if it comes within `timeout` s."""
        deadline = time.monotonic() + timeout
        while self._socket.poll(max(0, int((deadline - time.monotonic()) * 1000)) + 1):
            answered, *parts = self._socket.recv_multipart()
            if answered == b"%d" % number:  # else it answers a request that was given up, or is the rest of such
                return list(parts)
        return None


def _unexpected(kind: str, error: Exception) -> Reply:
    """The answer to a request of this kind that failed by a defect of the program."""
    details: dict[str, Value] = {"error": type(error).__name__, "text": str(error)}
    return Reply(False, refusal(kind, Finding(Code.UNEXPECTED, details=details)))


def socket_address(folder: Path) -> str:
    """Address of the control socket in a runtime folder."""
    return f"ipc://{folder}/control.sock"

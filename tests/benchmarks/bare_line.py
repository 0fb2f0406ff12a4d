"""The least that an exchange on serial lines can be here: two loops over pseudo-terminals that only count bytes.

One sleeps until as many have come as a request has, and sends as many as a reply has when both have had their time on
the wire; the other sends, waits, keeps the silence, sends again. Nothing is framed, checked or understood.
"""

import multiprocessing
import os
import select
import time
from contextlib import ExitStack, closing
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from actuators.virtual.server import Terminal
from rig.runtime import prepare_process

_WATCHED = 4e-5  # s at the end of a wait that are not slept through
_LIMIT = 10.0


def answer(ports: list[Path], request: int, reply: int, carried: float, stop: Event, ready: Event, late: Any) -> None:
    """Main function of the process with the devices' ends; `late` (2,): s by which replies were late, and how many."""
    prepare_process(None, None)
    with ExitStack() as opened:
        ends = {end.fileno(): end for end in (opened.enter_context(closing(Terminal(port))) for port in ports)}
        come, due = dict.fromkeys(ends, 0), dict[int, float]()
        ready.set()
        while not stop.is_set():
            now = time.monotonic()
            patience = max(0.0, min(due.values()) - now - _WATCHED) if due else 1e-3
            for end in select.select(ends, (), (), patience)[0]:
                come[end] += len(ends[end].recv(4096))
                if come[end] >= request:
                    come[end] = 0
                    due[end] = time.monotonic() + carried
            for end in [end for end, at in due.items() if at <= time.monotonic()]:
                late[0] += time.monotonic() - due[end]
                late[1] += 1
                ends[end].send(bytes(reply))
                del due[end]


def bare_exchanges(
    ports: list[Path],
    units: int,
    request: int,
    reply: int,
    byte_time: float,
    turnaround: float,
    cycles: int,
    delay: float,
) -> tuple[list[float], float]:
    """Shares of the wires' own time, sorted, that so many cycles take, of `units` exchanges on each line.

    And the part of them by which the devices' end overslept. delay: s from a request to its reply.
    """
    carried = (request + reply) * byte_time + delay
    wires = units * carried + (units - 1) * turnaround
    context = multiprocessing.get_context("spawn")
    stop, ready, late = context.Event(), context.Event(), context.Array("d", 2, lock=False)
    process = context.Process(target=answer, args=(ports, request, reply, carried, stop, ready, late), daemon=True)
    process.start()
    try:
        assert ready.wait(60.0)
        ends = [os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK) for port in ports]
        try:
            shares = []
            for _ in range(cycles):
                time.sleep(wires)
                shares.append(_cycle(ends, units, bytes(request), reply, turnaround) / wires)
            return sorted(shares), units * late[0] / late[1] / wires
        finally:
            for end in ends:
                os.close(end)
    finally:
        stop.set()
        process.join(_LIMIT)
        assert process.exitcode == 0


def _cycle(ends: list[int], units: int, request: bytes, reply: int, turnaround: float) -> float:
    """How long a cycle takes, s."""
    begun = time.monotonic()
    left, sending, waited = dict.fromkeys(ends, units), dict.fromkeys(ends, begun), dict[int, int]()
    while left:
        now = time.monotonic()
        assert now < begun + _LIMIT
        for end in [end for end, at in sending.items() if at <= now]:
            os.write(end, request)
            waited[end] = reply
            del sending[end]
        patience = max(0.0, min(sending.values()) - time.monotonic() - _WATCHED) if sending else 1.0
        for end in select.select(waited, (), (), patience)[0]:
            waited[end] -= len(os.read(end, 4096))
            if waited[end] <= 0:
                del waited[end]
                left[end] -= 1
                if left[end]:
                    sending[end] = time.monotonic() + turnaround
                else:
                    del left[end]
    return time.monotonic() - begun

"""Ports for what is served on this machine: free, and given to nobody else before they are used."""

import multiprocessing
import socket
from multiprocessing.connection import Connection

import pytest

from rig.client import free_ports, on_free_ports
from rig.config import load_config


def _draw(count: int, pipe: Connection) -> None:
    pipe.send(free_ports(count))


def test_a_server_listens_on_them() -> None:
    for port in free_ports(7):
        with socket.create_server(("127.0.0.1", port)) as server:
            client = socket.create_connection(("127.0.0.1", port), 5.0)
            server.accept()[0].close()
            client.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 5.0)


def test_nobody_is_given_them_meanwhile() -> None:
    """Of the some 28,000 that Linux gives, a few thousand are drawn by others: some would be among these."""
    ours = set(free_ports(63))
    context = multiprocessing.get_context("spawn")
    others: set[int] = set()
    for _ in range(2):
        pipe, theirs = context.Pipe()
        process = context.Process(target=_draw, args=(900, theirs))
        process.start()
        theirs.close()
        assert pipe.poll(60.0)
        others |= set(pipe.recv())
        process.join(60.0)
        pipe.close()
    assert len(others) > 900 and not ours & others


def test_so_many_rigs_can_be_drawn_one_after_the_other() -> None:
    drawn = [on_free_ports(load_config("virtual")) for _ in range(3)]
    places = [leg.place for config in drawn for leg in config.drives.legs]
    assert len(set(places)) == 18
    for _ in range(300):
        free_ports(7)  # more than a process may have open files, if they were kept

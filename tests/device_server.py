"""Virtual devices served over real TCP by a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from actuators import ModbusTcpServer, Responder


@contextmanager
def served(devices: list[Responder]) -> Iterator[list[int]]:
    """Ports of devices served on this machine."""
    stop, ready = threading.Event(), threading.Event()
    ports: list[int] = []

    def on_ready(addresses: list[tuple[str, int]]) -> None:
        ports.extend(port for _, port in addresses)
        ready.set()

    server = ModbusTcpServer([("127.0.0.1", 0, device) for device in devices], tick=2e-4)
    thread = threading.Thread(target=server.serve, args=(stop, on_ready))
    thread.start()
    try:
        assert ready.wait(10.0)
        yield ports
    finally:
        stop.set()
        thread.join(10.0)
    assert not thread.is_alive()

"""Tells a running engine what is injected into the virtual rig, so that its recording says so."""

import contextlib
import queue
import threading
from collections.abc import Iterable

from rig.engine import LinkClient, Note
from rig.errors import RigError
from rig.virtual.faults import News

_TIMEOUT = 1.0  # s for the engine to take one
_ENDING_TIMEOUT = 2.0  # s
_MOST = 1000  # that wait to be told


class FaultNotifier:
    """Sends news to the engine in a thread of its own, so that the virtual rig never waits; `close` ends it.

    What happens while nobody is known who should be told is forgotten.
    """

    def __init__(self) -> None:
        self._address = ""
        self._queue: queue.Queue[tuple[str, News] | None] = queue.Queue(_MOST)
        self._thread = threading.Thread(target=self._send, name="news", daemon=True)
        self._thread.start()

    def address(self, address: str) -> None:
        """From now on tell the engine with this control link."""
        self._address = address

    def tell(self, news: Iterable[News]) -> None:
        """Have news sent; never waits. What finds too many others waiting is lost."""
        for item in news:
            if self._address:
                with contextlib.suppress(queue.Full):
                    self._queue.put_nowait((self._address, item))

    def close(self) -> None:
        """End the thread."""
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)
        self._thread.join(_ENDING_TIMEOUT)

    def _send(self) -> None:
        client: LinkClient | None = None
        known = ""
        while (item := self._queue.get()) is not None:
            address, news = item
            if client is None or address != known:
                if client is not None:
                    client.close()
                client, known = LinkClient(address, _TIMEOUT), address
            with contextlib.suppress(RigError):  # the engine has gone
                client.request(Note(news.action, news.text, news.at))
        if client is not None:
            client.close()

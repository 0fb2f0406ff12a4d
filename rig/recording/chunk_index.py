"""The index of a recording's chunks, kept on the disk while the recording grows."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from mcap.data_stream import RecordBuilder
from mcap.records import ChunkIndex


class ChunkIndexes:
    """What `mcap.writer.Writer` keeps as a list, which grows by more than twenty megabytes an hour at 500 Hz.

    It holds records as they are written; iterated over, it is one record: all of them.

    Args:
        folder: where a file without a name holds them until `close`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None

    def append(self, index: ChunkIndex) -> None:
        """Keep the index of one more chunk. Raises OSError when the disk refuses."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115  closed by close
        record = RecordBuilder()
        index.write(record)
        self._file.write(record.end())  # type: ignore[no-untyped-call]

    def __iter__(self) -> Iterator[Self]:
        yield self

    def write(self, stream: RecordBuilder) -> None:
        """Write all of them."""
        if self._file is not None:
            self._file.seek(0)
            stream.write(self._file.read())

    def close(self) -> None:
        """Let go of the file. May be called again."""
        if self._file is not None:
            with suppress(OSError):  # a full disk
                self._file.close()

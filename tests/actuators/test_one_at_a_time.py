"""Modbus TCP, one transaction at a time: which reply is whose, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actuators.framing import MBAP, MbapLine, ReplyScan

ASKED = bytes.fromhex("05 03 00 00 00 02")
REPLY = bytes.fromhex("05 03 04 00 01 00 02")


def frame(transaction: int, message: bytes) -> bytes:
    return MBAP.pack(transaction, 0, len(message)) + message


@pytest.fixture
def line() -> MbapLine:
    made = MbapLine()
    assert [made.frame(ASKED)[:2], made.frame(ASKED)[:2]] == [b"\0\1", b"\0\2"]
    return made


def test_a_request_has_the_header(line: MbapLine) -> None:
    assert line.frame(ASKED) == bytes.fromhex("0003 0000 0006") + ASKED


@pytest.mark.parametrize(
    ("arriving", "found"),
    [
        (frame(2, REPLY), ReplyScan(REPLY)),
        (frame(2, bytes.fromhex("05 83 02")), ReplyScan(bytes.fromhex("05 83 02"))),
        (frame(1, REPLY) + frame(2, REPLY), ReplyScan(REPLY, belated=1)),  # a late one before it
        (frame(1, b"\5\3\2\0\0") + frame(2, REPLY), ReplyScan(REPLY, belated=1)),
        (frame(2, REPLY) + b"\0", ReplyScan(REPLY, more=True)),
        (frame(1, REPLY), None),  # its own may yet come
        (frame(2, REPLY)[:-1], None),
        (b"", None),
        (frame(2, REPLY + b"\0"), ReplyScan(b"")),  # of another length
        (b"\0\2\0\1\0\7" + REPLY, ReplyScan(b"")),  # of another protocol
        (b"\0\2\0\0\0\0" + REPLY, ReplyScan(b"")),
    ],
)
def test_the_reply_is_that_of_the_transaction(line: MbapLine, arriving: bytes, found: ReplyScan | None) -> None:
    assert line.scan(arriving, ASKED, len(REPLY)) == found


@given(st.binary(max_size=60))
def test_whatever_comes_is_a_reply_of_the_transaction_or_none(data: bytes) -> None:
    line = MbapLine()
    line.frame(ASKED)
    found = line.scan(data, ASKED, len(REPLY))
    if found is not None and found.reply:
        assert frame(1, found.reply) in data


def test_numbers_begin_anew_after_the_last() -> None:
    line = MbapLine()
    line._transaction = 0xFFFF
    assert line.frame(ASKED)[:2] == b"\0\1"

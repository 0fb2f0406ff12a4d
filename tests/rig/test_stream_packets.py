"""Set-points and feedback on the wire: as documented, and nothing else passes."""

import hashlib
import hmac
import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_sender import KEY, circle, point

from rig.errors import InputError
from rig.streaming import (
    ACCELERATION,
    END,
    FEEDBACK_SIZE,
    PACKET_SIZE,
    VELOCITY,
    Drop,
    Feedback,
    PacketError,
    SetPoint,
    decode_feedback,
    decode_line,
    decode_set_point,
    encode_csv,
    encode_feedback,
    encode_json,
    encode_set_point,
    feedback_line,
    read_key,
)

WHOLE = SetPoint(5, 6, 7, 1.25, 1.5, VELOCITY | ACCELERATION, circle(0.3))
FORMS = [(encode_set_point, decode_set_point), (encode_json, decode_line), (encode_csv, decode_line)]


def refused(function: Any, data: bytes, key: bytes | None = None) -> Drop:
    with pytest.raises(PacketError) as caught:
        function(data, key)
    return caught.value.drop


def test_a_packet_is_as_documented() -> None:
    head = struct.pack("<4sBBHQQQdd", b"SRSP", 1, 0, 3, 5, 6, 7, 1.25, 1.5)
    body = head + struct.pack("<19d", *circle(0.3))
    assert encode_set_point(WHOLE) == body + bytes(16)
    assert encode_set_point(WHOLE, KEY) == body + hmac.new(KEY, body, hashlib.sha256).digest()[:16]
    assert len(body) + 16 == PACKET_SIZE == 216
    assert FEEDBACK_SIZE == 440


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize(("encode", "decode"), FORMS)
def test_each_form_carries_every_field(encode: Any, decode: Any, key: bytes | None) -> None:
    assert decode(encode(WHOLE, key), key) == WHOLE
    last = point(2**64 - 1, 1e9 + 1 / 3, given=END)
    assert decode(encode(last, key), key) == last


@pytest.mark.parametrize(("encode", "decode"), FORMS)
def test_another_key_none_and_one_too_many_are_refused(encode: Any, decode: Any) -> None:
    assert refused(decode, encode(WHOLE, KEY), KEY[::-1]) == Drop.KEY
    assert refused(decode, encode(WHOLE), KEY) == Drop.KEY
    assert refused(decode, encode(WHOLE, KEY)) == Drop.KEY


def test_no_byte_of_a_packet_can_be_changed() -> None:
    packet = encode_set_point(WHOLE, KEY)
    for place in range(PACKET_SIZE):
        changed = bytearray(packet)
        changed[place] ^= 0x10
        assert refused(decode_set_point, bytes(changed), KEY) in (Drop.KEY, Drop.MALFORMED)


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        encode_set_point(WHOLE)[:-1],
        encode_set_point(WHOLE) + b"\0",
        b"XXXX" + encode_set_point(WHOLE)[4:],
        encode_set_point(WHOLE)[:4] + b"\2" + encode_set_point(WHOLE)[5:],
        encode_set_point(WHOLE._replace(given=8)),
    ],
)
def test_what_is_no_packet_is_malformed(packet: bytes) -> None:
    assert refused(decode_set_point, packet) == Drop.MALFORMED


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"1,2,3",
        b"{",
        b"{}",
        b'{"sequence": 1, "sent": 0.0, "pose": [0, 0, 0, 1, 0, 0]}',
        b'{"sequence": 1.5, "sent": 0.0, "pose": [0, 0, 0, 1, 0, 0, 0]}',
        b'{"sequence": true, "sent": 0.0, "pose": [0, 0, 0, 1, 0, 0, 0]}',
        b'{"sequence": -1, "sent": 0.0, "pose": [0, 0, 0, 1, 0, 0, 0]}',
        b'{"sequence": 1, "sent": "now", "pose": [0, 0, 0, 1, 0, 0, 0]}',
        b'{"sequence": 1, "sent": 0.0, "pose": [0, 0, 0, 1, 0, 0, 0], "end": 1}',
        b'{"sequence": 1, "sent": 0.0, "pose": [0, 0, 0, 1, 0, 0, 0], "tag": "zz"}',
        b'{"sequence": 1, "sent": 0.0, "pose": [NaN, 0, 0, 1, 0, 0, 0]}',
        b'{"sequence": 1, "sent": 1e999, "pose": [0, 0, 0, 1, 0, 0, 0]}',
        b'{"sequence": 1, "sent": 0.0, "pose": [0, 0, 0, 1, 0, 0, 0], "vel": [0, 0, 0, 0, 0, 0]}',
        b'{"sequence": 1, "sent": 0.0, "pose": [0, 0, 0, 1, 0, 0, 0]' + b" " * 2048 + b"}",
        b"0,0,1_0,2.0,,,0,0,0,1,0,0,0" + b"," * 13,
        b"0,0,1,2.0,,,,0,0,1,0,0,0" + b"," * 13,  # no x
        b"0,0,1,2.0,,1,0,0,0,1,0,0,0" + b"," * 13,  # a velocity that is not there
        b"[" * 2000,
        b"[1, 2]",
        b"\xff" * 30,
    ],
)
def test_what_is_no_line_is_malformed(line: bytes) -> None:
    assert refused(decode_line, line) == Drop.MALFORMED


def test_a_line_needs_sequence_stamp_and_pose_alone() -> None:
    short = json.dumps({"sequence": 3, "sent": 2.0, "pose": [0.01, 0, 0, 1, 0, 0, 0]}).encode()
    assert decode_line(short) == point(3, 2.0, session=0, x=0.01)
    row = b"0,0,3,2.0,,,0.01,0,0,1,0,0,0" + b"," * 13 + b"\r\n"
    assert decode_line(row) == point(3, 2.0, session=0, x=0.01)
    for line in (short, row):  # as a program on Windows may begin its text
        assert decode_line(b"\xef\xbb\xbf" + line) == point(3, 2.0, session=0, x=0.01)


def test_null_is_a_number_that_is_not_finite() -> None:
    line = b'{"sequence": 1, "sent": 0.0, "pose": [null, 0, 0, 1, 0, 0, 0]}'
    assert math.isnan(decode_line(line).motion[0])


@settings(max_examples=200)
@given(st.binary(max_size=300))
def test_no_bytes_break_the_decoders(data: bytes) -> None:
    for decode in (decode_set_point, decode_line, decode_feedback):
        refused(decode, data, KEY)


def test_feedback_comes_back_as_it_went_out() -> None:
    vectors = [tuple(float(10 * place + each) for each in range(size)) for place, size in enumerate((7, 7, 6, 6, 6, 6))]
    sent = Feedback(5, 7, 1, 2, 3, 4, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, *vectors)
    assert decode_feedback(encode_feedback(sent, KEY), KEY) == sent
    assert refused(decode_feedback, encode_feedback(sent, KEY), KEY[::-1]) == Drop.KEY
    assert refused(decode_feedback, encode_set_point(WHOLE)) == Drop.MALFORMED
    shown = json.loads(feedback_line(sent._replace(delay=math.nan)))
    assert (shown["state"], shown["delay"], shown["wrench"]) == (5, None, list(vectors[-1]))


def test_a_key_is_read_from_a_file_of_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "stream.key"
    file.write_text(KEY.hex() + "\n")
    file.chmod(0o640)
    with pytest.raises(InputError, match="others may read it") as caught:
        read_key(file)
    assert KEY.hex() not in str(caught.value)
    file.chmod(0o600)
    assert read_key(file) == KEY


@pytest.mark.parametrize("text", ["", "abc", "ab" * 15, "ab" * 65, "xy" * 32, "ab " * 20])
def test_what_is_no_key_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "stream.key"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(InputError, match="32 to 128 hexadecimal digits") as caught:
        read_key(file)
    assert not text or text not in str(caught.value)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"stream\.key: No such file"):
        read_key(tmp_path / "stream.key")

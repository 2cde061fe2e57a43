"""The dissection of a packet for reports is complete, escaped and limited, and never raises an exception."""

from __future__ import annotations

import pytest
from wire_frames import FRAMES

from harness.wire import (
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    format_dissection,
    session_ack,
    user_message,
)


def test_dissected_session_ack_has_expected_lines():
    text = format_dissection(bytes(session_ack(AckSequenceNumber=0x0102)))
    assert text.startswith(
        "BaseHeader\n  VersionNumber = 0x10 (16)  @0x0\n  Reserved = 0x00  @0x1\n  Flags = 0x001b  @0x2\n"
    )
    assert "    PR = 3\n    IN = 1\n    SH = 1\n    DH = 0\n    X9 = 0\n" in text
    assert "\nInternalHeader\n  Reserved = 0x0000  @0x10\n  Flags = 0x0001  @0x12\n    PT = 1\n    CS = 0\n" in text
    assert "\nSessionHeader\n  AckSequenceNumber = 0x0102 (258)  @0x14\n" in text
    assert text.endswith("\n  WindowSize = 0x0040 (64)  @0x20\n  Reserved = 0x0000  @0x22")


@pytest.mark.parametrize("number", [3, 7])
def test_dissection_has_every_field_of_every_header(number):
    text = format_dissection(FRAMES[number])
    for line in {3: ["ClientGuid = {557358d1-9150-9595-4997-b6e611ea26c6}  @0x14", "Padding = 5a 5a"], 7: []}[number]:
        assert line in text
    if number == 7:
        assert "DirectFormatName = 'OS:a04bm02\\\\q'  @0x42" in text
        assert "Label = 'mqsender label'  @0xc0" in text
        assert "MessageBody = 61 00 61 00" in text
        assert "... (2000 bytes)  @0xde" in text


def test_a_ping_is_recognised_by_its_port():
    assert format_dissection(FRAMES[1], ping=True).startswith(
        "PingPacket\n  Flags = 0x7d01  @0x0\n    RC = 1\n    RF = 0\n"
    )
    assert format_dissection(FRAMES[1]).startswith(
        "cannot be dissected: BaseHeader.VersionNumber is 0x01 instead of 0x10"
    )


@pytest.mark.parametrize("data", [b"", b"\x10", FRAMES[8] + b"x", FRAMES[3][:-1], bytes(600)])
def test_undissectable_bytes_give_one_line_with_the_reason(data):
    text = format_dissection(data)
    assert text.startswith("cannot be dissected: ")
    assert "\n" not in text


@pytest.mark.parametrize("hostile", ["\n\x1b[2J", "\u202e\u2028", "\x00\x07", "\ud800", "<script>\t"])
def test_text_of_a_sut_stays_on_one_line_of_the_dissection(hostile):
    def lines(text):
        return format_dissection(bytes(user_message(destination=text, label=text, soap={"Header": text}))).splitlines()

    assert len(lines(hostile)) == len(lines("x" * len(hostile)))
    assert all(line.isprintable() for line in lines(hostile))


def test_dissection_of_a_huge_packet_is_short():
    element = MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="x" * 9))
    text = format_dissection(
        bytes(user_message(body=b"x" * 100_000, destination="y" * 30_000, mqf={"Response": [element] * 500}))
    )
    assert len(text) < 20_000
    assert "... (100000 bytes)" in text
    assert "... (30000 characters)" in text
    assert "FormatNameList: 500" in text
    assert "... 468 more" in text

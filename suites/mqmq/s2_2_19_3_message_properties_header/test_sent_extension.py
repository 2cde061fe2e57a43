"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: extension and CorrelationID of messages that the SUT sends."""

from __future__ import annotations

from base64 import b64encode

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs, varied
from suites.mqmq.steps.message_bytes import find_properties_header_offset
from suites.mqmq.steps.outgoing import MessagesSentBySut

PROPERTIES_HEADER_FIXED_BYTES = 56
CORRELATION_ID_OFFSET, EXTENSION_SIZE_OFFSET = 4, 52
"""The places of CorrelationID and ExtensionSize in the MessagePropertiesHeader."""
MESSAGE_LABEL, MESSAGE_BODY = "label", "body of 17 bytes."
SENT_CORRELATION_ID = bytes(range(0xF1, 0xF1 - 20, -1))
EXTENSION_SIZES = (1, 255, 256, 65_537)
"""Sizes at which a size field of one or two bytes is too small, and a size that padding would change."""


def _read_extension_parts(frame):
    """Return the ExtensionSize and the CorrelationID of a message, and the bytes after its fixed fields. These values
    are read by offset, so that wrong sizes can also be judged.
    """
    at = find_properties_header_offset(frame.data)
    if at is None or len(frame.data) < at + PROPERTIES_HEADER_FIXED_BYTES:
        raise ConformanceFailure("the SUT's message is too short for a MessagePropertiesHeader")
    header = frame.data[at:]
    size = int.from_bytes(header[EXTENSION_SIZE_OFFSET:][:4], "little")
    return size, header[CORRELATION_ID_OFFSET:][:20], header[PROPERTIES_HEADER_FIXED_BYTES:]


@needs("send_extension", "send")
@covers(
    "MQMQ-2.2.19.3-27",
    "MQMQ-2.2.19.3-32",
    "MQMQ-2.2.19.3-D05",
    "MQDMPR-3.1.7.1.32-D02",
    "MQDMPR-3.1.7.1.32-03",
    "MQDMPR-3.1.7.1.32-06",
    "MQDMPR-3.1.1.12-D44",
    "MQDMPR-3.1.1.12-D47",
)
@varied("priority", "response queue", "time to be received", "time to reach queue", "application tag")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_sent_message_has_extension_and_correlation_identifier_of_application(peer, sut, judge, delivery):
    """The SUT sends messages with extensions of several sizes and a correlation identifier, and messages without these
    properties. Each packet has the ExtensionSize, the CorrelationID and, between label and body, the extension of its
    own message.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for size in (0, *EXTENSION_SIZES, 0):
        extension = bytes(255 - index % 253 for index in range(size))
        given = (
            {"extension_base64": b64encode(extension).decode(), "correlation_id": SENT_CORRELATION_ID.hex()}
            if size
            else {}
        )
        frame = outgoing.send(body=MESSAGE_BODY, label=MESSAGE_LABEL, delivery=delivery, **given)
        found_size, correlation, rest = _read_extension_parts(frame)
        case = f"extension of {size} bytes"
        judge(
            "MQMQ-2.2.19.3-27",
            "MQDMPR-3.1.7.1.32-D02",
            expected=size,
            case=f"ExtensionSize, {case}",
            observed=found_size,
            evidence=frame,
        )
        label = (MESSAGE_LABEL + "\0").encode("utf-16-le")
        parts = label + extension + MESSAGE_BODY.encode()
        judge(
            "MQMQ-2.2.19.3-D05",
            "MQDMPR-3.1.7.1.32-D02",
            *(() if size else ("MQMQ-2.2.19.3-32", "MQDMPR-3.1.1.12-D44")),
            expected=parts,
            case=f"label, extension and body, {case}",
            observed=rest[: len(parts)],
            evidence=frame,
        )
        judge(
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-06",
            "MQDMPR-3.1.7.1.32-D02",
            *(() if size else ("MQDMPR-3.1.1.12-D47",)),
            expected=SENT_CORRELATION_ID if size else bytes(20),
            case=f"CorrelationID, {case}",
            observed=correlation,
            evidence=frame,
        )
    outgoing.end()

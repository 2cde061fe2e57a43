"""MS-MQMQ 2.2.20.7 SoapHeader, 2.2.20.8 DebugHeader: received headers with missing parts, before other headers."""

from __future__ import annotations

from typing import Any

from harness.run.marks import covers, sut_survives
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement
from suites.mqqb.steps.exchanges import deliver_message

NONZERO_RESERVED_VALUE = 0xA7C3


@sut_survives()
@covers("MQMQ-2.2.20.7-05")
def test_any_reserved1_of_soap_header_with_missing_part_is_accepted(peer, judge):
    """The peer sends messages with a nonzero Reserved1 in a SoapHeader that has no Header, no Body or neither. Each
    message is in its queue.
    """
    missing: dict[str, dict[str, Any]] = {
        "no body": {"Header": "<a/>", "Body": b""},
        "no header": {"Header": b"", "Body": "<b/>"},
        "no part": {"Header": b"", "Body": b""},
    }
    for name, parts in missing.items():
        packet = peer.recoverable_message(soap={**parts, "Reserved1": NONZERO_RESERVED_VALUE}, label=name)
        done = deliver_message(peer, packet, name)
        judge(
            "MQMQ-2.2.20.7-05",
            expected=done.accepted_outcome,
            observed=done.outcome,
            case=f"message whose SoapHeader has {name}",
            evidence=done.frames,
        )


@sut_survives()
@covers("MQMQ-2.2.20.8-D01")
def test_debug_header_without_queue_before_other_headers_is_read(peer, sut, judge):
    """The peer sends messages with a DebugHeader without a QueueIdentifier, followed by a SoapHeader, by a
    MultiQueueFormatHeader, and by both. Each message is in its queue.
    """
    name = sut.format_name().removeprefix("DIRECT=")
    listed = {"Destination": [MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=name))]}
    soap = {"Header": "<a/>", "Body": "<b/>"}
    following: dict[str, dict[str, Any]] = {
        "list": {"mqf": listed},
        "soap": {"soap": soap},
        "soap and list": {"soap": soap, "mqf": listed},
    }
    for label, headers in following.items():
        done = deliver_message(peer, peer.recoverable_message(debug={"QT": 0}, label=label, **headers), label)
        judge(
            "MQMQ-2.2.20.8-D01",
            expected=done.accepted_outcome,
            observed=done.outcome,
            case=f"message with a DebugHeader without a queue, before: {label}",
            evidence=done.frames,
        )

"""Packets read by the tables of MS-MQMQ: the frames of MS-MQQB section 4, and packets that each codec builds."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.capture.golden import load_golden_capture
from harness.capture.recorder import FROM_SUT_DIRECTION, Frame
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement, PrivateQueueFormatName, user_message
from suites.mqmq.steps.layout import ABSENT_FIELD, Layout
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences, normalize_format_name

GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000aa")
GOLDEN = [frame for frame in load_golden_capture().frames if frame.transport == "tcp"]


def framed(data: bytes) -> Frame:
    return Frame(1, 0, FROM_SUT_DIRECTION, "tcp", data, "UserMessage", None)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: str(golden.number))
def test_layout_reads_the_golden_frames_as_the_manifest_states(golden: Any) -> None:
    found = Layout(framed(golden.data)).fields
    common = [name for name in golden.fields if name in found and isinstance(found[name], int)]
    assert len(common) >= 2
    assert {name: found[name] for name in common} == {name: golden.fields[name] for name in common}


def test_layout_reads_a_message_with_every_header_to_its_end() -> None:
    element = MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName="OS:x\\q"))
    packet = user_message(
        user={"ConnectorType": GUID, "AdminQueue": PrivateQueueFormatName(SourceQueueManager=GUID)},
        transaction={"ConnectorQMGuid": GUID},
        security={"ST": 2, "SecurityID": GUID.bytes_le},
        debug={"QT": 1, "QueueIdentifier": GUID},
        soap={"Header": "<a/>", "Body": "<b>"},
        mqf={"Destination": [element]},
        session={},
        label="odd",
        body=b"12345",
    )
    found = Layout(framed(bytes(packet)))
    assert found.order == [
        *("BaseHeader", "UserHeader", "TransactionHeader", "SecurityHeader", "MessagePropertiesHeader"),
        *("DebugHeader", "SoapHeader", "MultiQueueFormatHeader", "SessionHeader"),
    ]
    assert found.fields["bytes after the last header"] == 0
    assert found.fields["MultiQueueFormatHeader.Destination.FormatNameList"] == [(3, "os:x\\q\0")]
    assert found.of("SoapHeader.Body", "TransactionHeader.nothing") == {
        "SoapHeader.Body": "<b>\0",
        "TransactionHeader.nothing": ABSENT_FIELD,
    }


@pytest.mark.parametrize("size", [0, 3, 16, 63, 64, 90])
def test_layout_shows_fields_beyond_the_end_of_a_cut_packet_as_absent(size: int) -> None:
    found = Layout(framed(bytes(user_message(label="label", body=b"body"))[:size]))
    assert found.of("MessagePropertiesHeader.MessageBody", "bytes after the last header") == {
        "MessagePropertiesHeader.MessageBody": ABSENT_FIELD,
        "bytes after the last header": ABSENT_FIELD,
    }


def test_message_comparison_names_differing_but_not_hidden_properties() -> None:
    frame = framed(bytes(user_message(label="label", body=b"body", ApplicationTag=7)))
    shown = {"label": "label", "body_base64": "Ym9keQ==", "application_tag": 7, "admin_queue": None}
    assert describe_differences(frame, shown, GUID) == UNCHANGED_PROPERTIES_OUTCOME
    assert describe_differences(frame, shown | {"label": "other", "application_tag": 8}, GUID) == (
        "label is other instead of label; application_tag is 8 instead of 7"
    )
    assert describe_differences(frame, None, GUID) == "the message is missing"


def test_normalized_format_names_compare_equal_in_any_spelling() -> None:
    assert normalize_format_name("PRIVATE=ABC\\0000000A") == normalize_format_name("private=abc\\a")
    assert normalize_format_name(r"DIRECT=TCP:10.0.0.1\Q") == r"direct=tcp:10.0.0.1\q"
    assert normalize_format_name(None) is None

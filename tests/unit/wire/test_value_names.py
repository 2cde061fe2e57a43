"""The names of message classes and statuses in the texts of verdicts."""

import pytest

from harness.wire.value_names import MESSAGE_CLASS_NAMES, with_names
from reference_qm.codec.classes import MessageClass


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("['0x8000']", "0x8000 NackBadDestQueue"),
        ("['0x0002', '0x4000']", "0x0002 AckReachQueue, 0x4000 AckReceive"),
        ("[]", "nothing"),
        ("['0x8009 of ab12']", "0x8009 NackNotTransactionalQueue of ab12"),
        ("{'first': ['0xC004']}", "{'first': ['0xC004 NackReceiveRejected']}"),
        ("['FinalAck 0x8000']", "FinalAck 0x8000 NackBadDestQueue"),
        ("MessageClass is 0xC002", "MessageClass is 0xC002 NackReceiveTimeout"),
        ("0xC00E0003", "0xC00E0003 MQ_ERROR_QUEUE_NOT_FOUND"),
        ("returned 0xc00e001b, not 0", "returned 0xc00e001b MQ_ERROR_IO_TIMEOUT, not 0"),
    ],
)
def test_message_class_or_status_value_is_shown_with_its_name(text, shown):
    assert with_names(text) == shown


@pytest.mark.parametrize(
    "text",
    ["BodyType is 0x4000", "0x8000", "Flags is 0x00000000", "['it''s']", "['a\\'b']", "PacketSize is 0x8000", "closed"],
)
def test_value_of_an_unnamed_field_is_shown_as_number(text):
    assert with_names(text) == text


def test_long_text_resembling_a_value_list_is_scanned_once():
    text = "['a'" + ", 'a'" * 100_000
    assert with_names(text) == text


def test_every_message_class_of_the_specification_has_a_name():
    assert MESSAGE_CLASS_NAMES.keys() == {int(one) for one in MessageClass}

"""The constructors of packets compute some fields, and a caller can set each of these fields."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.wire import (
    BaseHeader,
    OrderAckBody,
    PublicQueueFormatName,
    connection_parameters,
    dissect,
    establish_connection,
    session_ack,
    user_message,
)
from harness.wire.words import WordOfBitFields

ALL_HEADERS = {"transaction": {}, "security": {}, "debug": {}, "soap": {}, "mqf": {}, "session": {}}


@pytest.mark.parametrize("make", [establish_connection, connection_parameters, session_ack])
def test_built_internal_packets_have_the_values_of_real_packets(make):
    packet = dissect(bytes(make()))
    assert (packet.VersionNumber, packet.PR, packet.IN, packet.TimeToReachQueue) == (0x10, 3, 1, 0xFFFFFFFF)
    assert packet.PacketSize == len(bytes(packet))


def test_packet_size_of_a_message_leaves_its_session_header_out():
    data = bytes(user_message(session={}))
    assert dissect(data).PacketSize == len(data) - 16


def test_a_transactional_message_is_recoverable_and_has_no_priority():
    packet = dissect(bytes(user_message(transaction={})))
    assert (packet.PR, packet["UserHeader"].DM, packet["UserHeader"].TH) == (0, 1, 1)


def test_text_destination_becomes_a_direct_format_name_unchanged():
    packet = dissect(bytes(user_message(destination="OS:host\\private$\\q")))
    assert packet["UserHeader"].DQ == 7
    assert packet["DirectQueueFormatName"].DirectFormatName == "OS:host\\private$\\q"


def test_non_direct_destinations_are_encoded_as_structures():
    packet = dissect(bytes(user_message(destination=PublicQueueFormatName(PublicQueueIdentifier=5))))
    assert packet["UserHeader"].DestinationQueue.PublicQueueIdentifier == UUID(int=5)


def test_message_accepts_body_label_and_properties():
    packet = user_message(body=OrderAckBody(), label="l", properties={"BodyType": 8}, MessageClass=0x00FF)
    header = dissect(bytes(packet))["MessagePropertiesHeader"]
    assert (header.MessageSize, header.Label, header.BodyType, header.MessageClass) == (36, "l", 8, 0x00FF)


@pytest.mark.parametrize(
    ("changes", "offset", "expected"),
    [
        ({"base": {"PacketSize": 1}}, 8, b"\x01\0\0\0"),
        ({"base": {"VersionNumber": 0x11}}, 0, b"\x11"),
        ({"base": {"Signature": 0x524F494D}}, 4, b"MIOR"),
        ({"base": {"Flags": 0xFFFF}}, 2, b"\xff\xff"),
        ({"user": {"Flags": 0}}, 60, b"\0\0\0\0"),
        ({"user": {"DQ": 2}}, 61, b"\x08"),
        ({"destination": None, "MessageSize": 0xFFFFFFFF}, 64 + 32, b"\xff\xff\xff\xff"),
        ({"destination": None, "LabelLength": 0xFF}, 64 + 1, b"\xff"),
        ({"destination": None, "CorrelationID": b"short", "BodyType": 0x01020304}, 64 + 4, b"short\x04\x03\x02\x01"),
    ],
)
def test_illegal_field_values_are_built_unchanged(changes, offset, expected):
    data = bytes(user_message(**changes))
    assert data[offset : offset + len(expected)] == expected


def test_dissected_packet_can_be_changed_in_one_field_only():
    before = bytes(user_message(body=b"abc", label="x", **ALL_HEADERS))
    packet = dissect(before)
    packet["SessionHeader"].AckSequenceNumber = 0xBEEF
    after = bytes(packet)
    assert after == before[:-16] + b"\xef\xbe" + before[-14:]


def test_a_nested_structure_of_a_dissected_packet_is_changed():
    packet = dissect(bytes(user_message(destination="OS:a\\q")))
    packet["UserHeader"].DestinationQueue.DirectFormatName = "OS:b\\q"
    assert dissect(bytes(packet))["DirectQueueFormatName"].DirectFormatName == "OS:b\\q"


def test_deleted_size_field_is_computed_again():
    packet = dissect(bytes(user_message(body=b"abcd")))
    header = packet["MessagePropertiesHeader"]
    header.MessageBody = b"abcdefgh"
    del header.MessageSize, header.AllocationBodySize, packet.PacketSize
    assert dissect(bytes(packet))["MessagePropertiesHeader"].MessageBody == b"abcdefgh"


def test_flag_word_can_be_set_as_a_number():
    packet = dissect(bytes(establish_connection()))
    packet["InternalHeader"].Flags = 0x8012
    header = dissect(bytes(packet))["InternalHeader"]
    assert (header.PT, header.CS, header.X15, header.X14) == (2, 1, 1, 0)


def test_built_packets_share_no_mutable_default():
    one, other = user_message(transaction={}), user_message(transaction={})
    one["TransactionHeader"].TxSequenceID.Ordinal = 7
    assert other["TransactionHeader"].TxSequenceID.Ordinal == 0


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: BaseHeader(Sequence=1), "Sequence"),
        (lambda: user_message(body="text"), "MessageBody must be bytes or a layer, not str"),
        (lambda: user_message(label=5), "Label must be str or bytes, not int"),
        (lambda: user_message(destination=7), "DestinationQueue must be a layer, not int"),
    ],
)
def test_unknown_field_or_value_of_wrong_type_is_named(make, error):
    with pytest.raises((AttributeError, TypeError), match=error):
        make()


@pytest.mark.parametrize(("layout", "defaults"), [("A:15", {}), ("A:17", {}), ("A:16", {"B": 1})])
def test_flag_word_with_wrong_bit_count_or_unknown_default_is_refused(layout, defaults):
    with pytest.raises(ValueError, match="bits in 2 bytes"):
        WordOfBitFields(2, layout, **defaults)

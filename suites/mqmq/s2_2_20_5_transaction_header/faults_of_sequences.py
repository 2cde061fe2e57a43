"""Faults in the TransactionHeader of messages of one kind or of later sequences, which break the rules of MS-MQMQ
2.2.20.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.fields import change_number_in_field, clear_bits, set_bits, set_field_value
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size
from reference_qm.codec import UserMessagePacket
from suites.mqmq.steps.kinds_of_messages import has_large_body

_CONNECTOR_GUID_BYTES = 16
_FIRST_SEQUENCE_NUMBER, _HIGHEST_SEQUENCE_NUMBER = 1, 0xFFFFFFFF


def _has_connector_guid(packet: Any) -> bool:
    return packet.TransactionHeader is not None and packet.TransactionHeader.ConnectorQMGuid is not None


def _is_first_in_sequence(packet: Any) -> bool:
    return packet.TransactionHeader is not None and packet.TransactionHeader.TxSequenceNumber == _FIRST_SEQUENCE_NUMBER


def _is_second_in_sequence(packet: Any) -> bool:
    return (
        packet.TransactionHeader is not None and packet.TransactionHeader.TxSequenceNumber == _FIRST_SEQUENCE_NUMBER + 1
    )


def _is_in_transaction_without_connector(packet: Any) -> bool:
    return packet.TransactionHeader is not None and not packet.TransactionHeader.CG


def _combine_conditions(*conditions: Callable[[Any], Any]) -> Callable[[Any], bool]:
    return lambda packet: all(condition(packet) for condition in conditions)


def _has_admin_queue(packet: Any) -> bool:
    return packet.UserHeader.AdminQueue is not None


def _change_connector_guid(
    change: Callable[[bytes], bytes], when: Callable[[Any], Any] = _has_connector_guid
) -> Install:
    def build_with_changed_connector(packet: Any) -> bytes:
        header = packet.TransactionHeader.build()
        split = len(header) - _CONNECTOR_GUID_BYTES
        return correct_packet_size(packet.build().replace(header, header[:split] + change(header[split:]), 1))

    return change_packets_of_kind(
        UserMessagePacket, build_with_changed_connector, _combine_conditions(_has_connector_guid, when)
    )


class _FirstSequenceTracker:
    """The first sequence of the messages that a queue manager sent."""

    def __init__(self) -> None:
        self.first: int | None = None

    def is_of_later_sequence(self, packet: Any) -> bool:
        """Return whether a message is the first message of its sequence, and its queue manager sent messages of
        another sequence before.
        """
        if packet.TransactionHeader is None:
            return False
        identifier = int(packet.TransactionHeader.TxSequenceID)
        if self.first is None:
            self.first = identifier
        return _is_first_in_sequence(packet) and self.first != identifier


def _install_for_sequences_after_first(install: Callable[[Callable[[Any], bool]], Install]) -> Install:
    """Return an installer that counts the sequences of each faulty queue manager separately."""
    return lambda faulty: install(_FirstSequenceTracker().is_of_later_sequence)(faulty)


_SEQUENCE_NUMBER_FIELD, _PREVIOUS_SEQUENCE_NUMBER_FIELD = (
    "TransactionHeader.TxSequenceNumber",
    "TransactionHeader.PreviousTxSequenceNumber",
)
for _name, _rule, _says, _install in (
    (
        "connector-guid-of-8-bytes",
        "MQMQ-2.2.20.5-03",
        "The sender writes only the first 8 bytes of a GUID as ConnectorQMGuid.",
        _change_connector_guid(lambda guid: guid[:8]),
    ),
    (
        "connector-guid-of-message-with-admin-queue-null",
        "MQMQ-2.2.20.5-03",
        "The sender sets ConnectorQMGuid of a message with an administration queue to zeros.",
        _change_connector_guid(lambda guid: bytes(16), _has_admin_queue),
    ),
    (
        "connector-guid-with-4-bytes-more",
        "MQMQ-2.2.20.5-03",
        "The sender writes 4 extra bytes after ConnectorQMGuid.",
        _change_connector_guid(lambda guid: guid + bytes(4)),
    ),
    (
        "first-message-of-later-sequence-numbered-2",
        "MQMQ-2.2.20.5-17",
        "The sender numbers the first message of every sequence except its first sequence with 2.",
        _install_for_sequences_after_first(
            lambda is_of_later_sequence: set_field_value(
                UserMessagePacket, _SEQUENCE_NUMBER_FIELD, 2, is_of_later_sequence
            )
        ),
    ),
    (
        "first-message-with-admin-queue-numbered-2",
        "MQMQ-2.2.20.5-17",
        "The sender numbers the first message of a sequence with 2 if the message names an administration queue.",
        set_field_value(
            UserMessagePacket, _SEQUENCE_NUMBER_FIELD, 2, _combine_conditions(_is_first_in_sequence, _has_admin_queue)
        ),
    ),
    (
        "large-first-message-numbered-2",
        "MQMQ-2.2.20.5-17",
        "The sender numbers the first message of a sequence with 2 if the message is large.",
        set_field_value(
            UserMessagePacket, _SEQUENCE_NUMBER_FIELD, 2, _combine_conditions(_is_first_in_sequence, has_large_body)
        ),
    ),
    (
        "first-message-of-later-sequence-with-previous-number",
        "MQMQ-2.2.20.5-19",
        "The sender sets PreviousTxSequenceNumber of the first message of every sequence except its first sequence "
        "to 1.",
        _install_for_sequences_after_first(
            lambda is_of_later_sequence: set_field_value(
                UserMessagePacket, _PREVIOUS_SEQUENCE_NUMBER_FIELD, 1, is_of_later_sequence
            )
        ),
    ),
    (
        "first-message-with-admin-queue-with-previous-number",
        "MQMQ-2.2.20.5-19",
        "The sender sets PreviousTxSequenceNumber of the first message of a sequence to 1 if the message names an "
        "administration queue.",
        set_field_value(
            UserMessagePacket,
            _PREVIOUS_SEQUENCE_NUMBER_FIELD,
            1,
            _combine_conditions(_is_first_in_sequence, _has_admin_queue),
        ),
    ),
    (
        "large-first-message-with-previous-number",
        "MQMQ-2.2.20.5-19",
        "The sender sets PreviousTxSequenceNumber of the first message of a sequence to 1 if the message is large.",
        set_field_value(
            UserMessagePacket,
            _PREVIOUS_SEQUENCE_NUMBER_FIELD,
            1,
            _combine_conditions(_is_first_in_sequence, has_large_body),
        ),
    ),
    (
        "cg-clear-with-connector-guid",
        "MQMQ-2.2.20.5-20",
        "The sender clears CG in a TransactionHeader with a ConnectorQMGuid.",
        clear_bits(UserMessagePacket, "TransactionHeader.CG", _has_connector_guid),
    ),
    (
        "large-message-cg-set-without-connector-guid",
        "MQMQ-2.2.20.5-20",
        "The sender sets CG in the TransactionHeader of a large message, and writes no ConnectorQMGuid.",
        set_bits(
            UserMessagePacket,
            "TransactionHeader.CG",
            _combine_conditions(_is_in_transaction_without_connector, has_large_body),
        ),
    ),
    (
        "second-message-cg-set-without-connector-guid",
        "MQMQ-2.2.20.5-20",
        "The sender sets CG in the TransactionHeader of the second message of a sequence, and writes no "
        "ConnectorQMGuid.",
        set_bits(
            UserMessagePacket,
            "TransactionHeader.CG",
            _combine_conditions(_is_in_transaction_without_connector, _is_second_in_sequence),
        ),
    ),
    (
        "first-message-of-later-sequence-numbered-0",
        "MQMQ-2.2.20.5-D03",
        "The sender numbers the first message of every sequence except its first sequence with 0.",
        _install_for_sequences_after_first(
            lambda is_of_later_sequence: set_field_value(
                UserMessagePacket, _SEQUENCE_NUMBER_FIELD, 0, is_of_later_sequence
            )
        ),
    ),
    (
        "first-message-with-greatest-previous-number",
        "MQMQ-2.2.20.5-D03",
        "The sender sets PreviousTxSequenceNumber of the first message of a sequence to 0xFFFFFFFF.",
        set_field_value(
            UserMessagePacket, _PREVIOUS_SEQUENCE_NUMBER_FIELD, _HIGHEST_SEQUENCE_NUMBER, _is_first_in_sequence
        ),
    ),
    (
        "large-message-with-greatest-previous-number",
        "MQMQ-2.2.20.5-D03",
        "The sender sets PreviousTxSequenceNumber of a large message to 0xFFFFFFFF.",
        change_number_in_field(
            UserMessagePacket, _PREVIOUS_SEQUENCE_NUMBER_FIELD, lambda old: _HIGHEST_SEQUENCE_NUMBER, has_large_body
        ),
    ),
):
    add(_name, _rule, _says, _install)

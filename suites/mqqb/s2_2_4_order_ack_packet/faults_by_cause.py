"""Faults that break rules of MS-MQQB 2.2.4 only in some OrderAcks: in later ones, in those to a private queue, or while
another session is open.
"""

from __future__ import annotations

from typing import Any

from harness.faults.ordering_acks import (
    DIRECT_NAME_PATH,
    FOREIGN_ADDRESS,
    MESSAGE_BODY_FIELD_PATH,
    PROPERTIES_HEADER_NAME,
    change_order_ack,
    is_later_message,
    is_sent_to_direct_name,
    is_sent_to_private_queue,
)
from harness.faults.registry import add
from harness.faults.session_packets import SessionCondition, has_other_session
from reference_qm.codec import OrderAckBody, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session

ACK_REACH_QUEUE_CLASS = 0x0002


def _acknowledges_later_message(qm: QueueManager, session: Session, packet: UserMessagePacket) -> bool:
    return OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody).TxSequenceNumber > 1


def _restrict_condition_to_direct_names(when: SessionCondition) -> SessionCondition:
    """Return a condition that also requires a direct format name as destination."""
    return lambda qm, session, packet: is_sent_to_direct_name(qm, session, packet) and when(qm, session, packet)


def _remove_final_dollar_of_queue_name(name: str) -> str:
    return name.removesuffix("$")


def _replace_tcp_by_os_in_name(name: str) -> str:
    return name.replace("TCP:", "OS:")


def _add_direct_prefix_to_name(name: str) -> str:
    return f"DIRECT={name}"


def _replace_address(name: str) -> str:
    return FOREIGN_ADDRESS + name[name.index("\\") :]


def _swap_sequence_numbers_in_order_ack_body(body: bytes) -> bytes:
    return body[:8] + body[12:16] + body[8:12] + body[16:]


def _move_reserved_field_to_front(body: bytes) -> bytes:
    return body[16:] + body[:16]


def _swap_parts_of_sequence_identifier(body: bytes) -> bytes:
    return body[4:8] + body[:4] + body[8:]


_FAULT_CASE_OF_LATER_MESSAGE_ON_SESSION = ("later", "that follows another message on its session", is_later_message)
_FAULT_CASE_OF_PRIVATE_QUEUE_NUMBER = ("private", "to a private queue by number", is_sent_to_private_queue)
_FAULT_CASE_WHILE_OTHER_SESSION_IS_OPEN = ("beside-session", "sent beside another open session", has_other_session)
_FAULT_CASE_OF_ACK_OF_LATER_MESSAGE = (
    "of-later-message",
    "with a TxSequenceNumber above 1",
    _acknowledges_later_message,
)
_ORDER_ACK_FAULTS_WITH_CASES: tuple[tuple[str, str, str, Any, tuple[tuple[str, str, Any], ...]], ...] = (
    (
        "MQQB-2.2.4-07",
        "label-lower-case",
        "the label is in lower case",
        {f"{PROPERTIES_HEADER_NAME}.Label": "qm ordering ack"},
        (
            _FAULT_CASE_OF_LATER_MESSAGE_ON_SESSION,
            _FAULT_CASE_OF_PRIVATE_QUEUE_NUMBER,
            _FAULT_CASE_WHILE_OTHER_SESSION_IS_OPEN,
        ),
    ),
    (
        "MQQB-2.2.4-10",
        "class-ack-reach-queue",
        "MessageClass is ACK_REACH_QUEUE",
        {f"{PROPERTIES_HEADER_NAME}.MessageClass": ACK_REACH_QUEUE_CLASS},
        (
            _FAULT_CASE_OF_LATER_MESSAGE_ON_SESSION,
            _FAULT_CASE_OF_PRIVATE_QUEUE_NUMBER,
            _FAULT_CASE_WHILE_OTHER_SESSION_IS_OPEN,
        ),
    ),
    (
        "MQQB-2.2.4-12",
        "numbers-exchanged",
        "TxSequenceNumber and TxPreviousSequenceNumber are exchanged",
        {MESSAGE_BODY_FIELD_PATH: _swap_sequence_numbers_in_order_ack_body},
        (_FAULT_CASE_OF_ACK_OF_LATER_MESSAGE, _FAULT_CASE_OF_PRIVATE_QUEUE_NUMBER),
    ),
    (
        "MQQB-2.2.4-12",
        "reserved-first",
        "Reserved precedes the other fields",
        {MESSAGE_BODY_FIELD_PATH: _move_reserved_field_to_front},
        (_FAULT_CASE_WHILE_OTHER_SESSION_IS_OPEN,),
    ),
    (
        "MQQB-2.2.4-12",
        "identifier-parts-exchanged",
        "Ordinal and TimeStamp of TxSequenceID are exchanged",
        {MESSAGE_BODY_FIELD_PATH: _swap_parts_of_sequence_identifier},
        (_FAULT_CASE_OF_LATER_MESSAGE_ON_SESSION,),
    ),
)
for _rule, _key, _says, _changes, _wheres in _ORDER_ACK_FAULTS_WITH_CASES:
    for _where, _words, _when in _wheres:
        add(
            f"receiver-order-ack-{_where}-{_key}",
            _rule,
            f"In an OrderAck {_words}, {_says}.",
            change_order_ack(_changes, _when),
            blind=True,
        )

for _name, _rule, _says, _change, _when in (
    (
        "later-order-queue-without-dollar",
        "MQQB-2.2.4-05",
        "lacks its last $",
        _remove_final_dollar_of_queue_name,
        is_later_message,
    ),
    ("beside-session-with-os-name", "MQQB-2.2.4-05", "begins with OS:", _replace_tcp_by_os_in_name, has_other_session),
    ("later-with-prefix-direct", "MQQB-2.2.4-05", "begins with DIRECT=", _add_direct_prefix_to_name, is_later_message),
    ("later-foreign-address", "MQQB-2.2.4-06", "has another address", _replace_address, is_later_message),
    ("beside-session-foreign-address", "MQQB-2.2.4-06", "has another address", _replace_address, has_other_session),
):
    add(
        f"receiver-order-ack-{_name}",
        _rule,
        f"The direct format name of some OrderAcks {_says}.",
        change_order_ack(
            {DIRECT_NAME_PATH: _change},
            _restrict_condition_to_direct_names(_when),
        ),
        blind=True,
    )

"""Faults that break rules of MS-MQQB 2.2.5 only in some FinalAcks: in those of some classes, in later ones, in those to
a private queue, or while another session is open.
"""

from __future__ import annotations

from typing import Any

from harness.faults.ordering_acks import (
    DIRECT_NAME_PATH,
    FOREIGN_ADDRESS,
    MESSAGE_BODY_FIELD_PATH,
    PRIVATE_QUEUE_NUMBER_PATH,
    PROPERTIES_HEADER_NAME,
    change_final_ack,
    is_later_message,
    is_sent_to_direct_name,
    is_sent_to_private_queue,
)
from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import SessionCondition, has_other_session
from reference_qm.codec import MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

_NEGATIVE_CLASS_BIT = 0x8000


def _has_negative_class(qm: QueueManager, session: Session, packet: UserMessagePacket) -> bool:
    return bool(packet.MessagePropertiesHeader.MessageClass & _NEGATIVE_CLASS_BIT)


def _has_positive_class(qm: QueueManager, session: Session, packet: UserMessagePacket) -> bool:
    return not _has_negative_class(qm, session, packet)


def _require_all_packet_conditions(first: SessionCondition, second: SessionCondition) -> SessionCondition:
    return lambda qm, session, packet: first(qm, session, packet) and second(qm, session, packet)


def _restrict_condition_to_class(message_class: MessageClass, which: SessionCondition) -> SessionCondition:
    return lambda qm, session, packet: (
        packet.MessagePropertiesHeader.MessageClass == message_class and which(qm, session, packet)
    )


def _remove_final_dollar_of_queue_name(name: str) -> str:
    return name.removesuffix("$")


def _replace_tcp_by_os_in_queue_name(name: str) -> str:
    return name.replace("TCP:", "OS:")


def _replace_address(name: str) -> str:
    return FOREIGN_ADDRESS + name[name.index("\\") :]


def _append_4_zero_bytes_to_body(body: bytes) -> bytes:
    return body + bytes(4)


def _remove_message_id(body: bytes) -> bytes:
    return body[:32]


def _clear_source_guid_in_body(body: bytes) -> bytes:
    return body[:16] + bytes(16) + body[32:]


def _swap_sequence_numbers_in_final_ack_body(body: bytes) -> bytes:
    return body[:8] + body[12:16] + body[8:12] + body[16:]


def _move_source_guid_to_front(body: bytes) -> bytes:
    return body[16:32] + body[:16] + body[32:]


_FAULT_CASE_OF_NEGATIVE_CLASS = ("negative", "of a negative class", _has_negative_class)
_FAULT_CASE_OF_POSITIVE_CLASS = ("positive", "of class ACK_RECEIVE", _has_positive_class)
_FAULT_CASE_OF_LATER_MESSAGE_ON_SESSION = ("later", "that follows another message on its session", is_later_message)
_FAULT_CASE_OF_PRIVATE_QUEUE_NUMBER = ("private", "to a private queue by number", is_sent_to_private_queue)
_FAULT_CASE_WHILE_OTHER_SESSION_IS_OPEN = ("beside-session", "sent beside another open session", has_other_session)
_FAULT_CASE_OF_LATER_MESSAGE_TO_PRIVATE_QUEUE = (
    "later-private",
    "that follows another message",
    _require_all_packet_conditions(is_sent_to_private_queue, is_later_message),
)
_FAULT_CASE_OF_NEGATIVE_CLASS_TO_PRIVATE_QUEUE = (
    "negative-private",
    "of a negative class",
    _require_all_packet_conditions(is_sent_to_private_queue, _has_negative_class),
)
_FAULT_CASE_OF_PRIVATE_QUEUE_WHILE_SESSION_IS_OPEN = (
    "beside-session-private",
    "beside a session",
    _require_all_packet_conditions(is_sent_to_private_queue, has_other_session),
)
_FAULT_CASE_OF_NEGATIVE_CLASS_TO_DIRECT_NAME = (
    "negative-direct",
    "of a negative class",
    _require_all_packet_conditions(is_sent_to_direct_name, _has_negative_class),
)
_FAULT_CASE_OF_LATER_MESSAGE_TO_DIRECT_NAME = (
    "later-direct",
    "that follows another message",
    _require_all_packet_conditions(is_sent_to_direct_name, is_later_message),
)
_FAULT_CASE_OF_DIRECT_NAME_WHILE_SESSION_IS_OPEN = (
    "beside-session-direct",
    "beside a session",
    _require_all_packet_conditions(is_sent_to_direct_name, has_other_session),
)
_FINAL_ACK_FAULTS_WITH_CASES: tuple[tuple[str, str, str, Any, tuple[tuple[str, str, Any], ...]], ...] = (
    (
        "MQQB-2.2.5-05",
        "private-queue-5",
        "the number of the private queue is 5",
        {PRIVATE_QUEUE_NUMBER_PATH: 5},
        (
            _FAULT_CASE_OF_NEGATIVE_CLASS_TO_PRIVATE_QUEUE,
            _FAULT_CASE_OF_LATER_MESSAGE_TO_PRIVATE_QUEUE,
            _FAULT_CASE_OF_PRIVATE_QUEUE_WHILE_SESSION_IS_OPEN,
        ),
    ),
    (
        "MQQB-2.2.5-06",
        "order-queue-without-dollar",
        "the format name lacks its last $",
        {DIRECT_NAME_PATH: _remove_final_dollar_of_queue_name},
        (_FAULT_CASE_OF_NEGATIVE_CLASS_TO_DIRECT_NAME, _FAULT_CASE_OF_LATER_MESSAGE_TO_DIRECT_NAME),
    ),
    (
        "MQQB-2.2.5-06",
        "os-name",
        "the format name begins with OS:",
        {DIRECT_NAME_PATH: _replace_tcp_by_os_in_queue_name},
        (_FAULT_CASE_OF_DIRECT_NAME_WHILE_SESSION_IS_OPEN,),
    ),
    (
        "MQQB-2.2.5-07",
        "foreign-address",
        "the format name has another address",
        {DIRECT_NAME_PATH: _replace_address},
        (
            _FAULT_CASE_OF_NEGATIVE_CLASS_TO_DIRECT_NAME,
            _FAULT_CASE_OF_LATER_MESSAGE_TO_DIRECT_NAME,
            _FAULT_CASE_OF_DIRECT_NAME_WHILE_SESSION_IS_OPEN,
        ),
    ),
    (
        "MQQB-2.2.5-08",
        "label-lower-case",
        "the label is in lower case",
        {f"{PROPERTIES_HEADER_NAME}.Label": "qm ordering ack"},
        (_FAULT_CASE_OF_NEGATIVE_CLASS, _FAULT_CASE_OF_PRIVATE_QUEUE_NUMBER, _FAULT_CASE_WHILE_OTHER_SESSION_IS_OPEN),
    ),
    (
        "MQQB-2.2.5-09",
        "body-40-bytes-long",
        "the body has 40 bytes",
        {MESSAGE_BODY_FIELD_PATH: _append_4_zero_bytes_to_body},
        (_FAULT_CASE_OF_NEGATIVE_CLASS, _FAULT_CASE_OF_PRIVATE_QUEUE_NUMBER),
    ),
    (
        "MQQB-2.2.5-09",
        "body-32-bytes-long",
        "the body has 32 bytes",
        {MESSAGE_BODY_FIELD_PATH: _remove_message_id},
        (_FAULT_CASE_OF_LATER_MESSAGE_ON_SESSION,),
    ),
    (
        "MQQB-2.2.5-24",
        "body-without-source",
        "SourceGUID is zero",
        {MESSAGE_BODY_FIELD_PATH: _clear_source_guid_in_body},
        (_FAULT_CASE_OF_POSITIVE_CLASS,),
    ),
    (
        "MQQB-2.2.5-24",
        "body-with-numbers-exchanged",
        "TxSequenceNumber and TxPreviousSequenceNumber are exchanged",
        {MESSAGE_BODY_FIELD_PATH: _swap_sequence_numbers_in_final_ack_body},
        (_FAULT_CASE_OF_NEGATIVE_CLASS,),
    ),
    (
        "MQQB-2.2.5-24",
        "body-with-source-first",
        "SourceGUID precedes the other fields",
        {MESSAGE_BODY_FIELD_PATH: _move_source_guid_to_front},
        (_FAULT_CASE_OF_LATER_MESSAGE_ON_SESSION, _FAULT_CASE_OF_PRIVATE_QUEUE_NUMBER),
    ),
)
for _rule, _key, _says, _changes, _wheres in _FINAL_ACK_FAULTS_WITH_CASES:
    for _where, _words, _when in _wheres:
        add(
            f"receiver-final-ack-{_where}-{_key}",
            _rule,
            f"In a FinalAck {_words}, {_says}.",
            change_final_ack(_changes, _when),
            blind=True,
        )

for _rule, _class in (
    ("MQQB-2.2.5-16", MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
    ("MQQB-2.2.5-17", MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER),
):
    for _where, _words, _which, _instead in (
        ("later", "that follows another message", is_later_message, MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
        ("beside-session", "beside a session", has_other_session, MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
    ):
        _short = _class.name.removeprefix("MQMSG_CLASS_").lower().replace("_", "-")
        add(
            f"receiver-final-ack-{_where}-instead-of-{_short}",
            _rule,
            f"A FinalAck {_words} has the class {_instead.name} instead of {_class.name}.",
            change_final_ack(
                {f"{PROPERTIES_HEADER_NAME}.MessageClass": int(_instead)}, _restrict_condition_to_class(_class, _which)
            ),
            blind=True,
        )


@fault("receiver-final-ack-has-order-ack-body-after-session-closed", breaks="MQQB-2.2.5-24", blind=True)
class ReceiverFinalAckHasOrderAckBodyAfterSessionClosed(FinalAcks):
    """The receiver fills the body of a FinalAck like that of an OrderAck, without SourceGUID and MessageID, if no
    session with the sender is open when the message leaves its queue.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message, name = position.MessageReference, position.order_queue
        if name is None or self._has_open_session_to_order_queue(name, position):
            super().send_final_ack_of_message(position, reason, now)
            return
        body = OrderAckBody(
            message.TransactionalMessageSequenceIdentifier,
            message.TransactionSequenceNumber,
            message.TransactionPreviousSequenceNumber,
        )
        self.qm.order_acks.send_transactional_ack(name, reason, body, now)

    def _has_open_session_to_order_queue(self, name: str, position: MessagePosition) -> bool:
        source = position.MessageReference.Identifier.QueueManagerGuid
        return any(
            session.SessionState is SessionState.OPEN
            and self.qm.order_acks.build_order_queue_name(session, source) == name
            for session in self.qm.sessions.values()
        )

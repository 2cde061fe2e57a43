"""Faults that break rules of MS-MQQB 3.1.7.1.3 for a later message, a later session or a later acknowledgment."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def _decrement_tx_sequence_number_of_later_message(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, packet: Any
) -> None:
    original(session, position, packet)
    if position.TxSequenceNumber > 1:
        position.TxSequenceNumber -= 1


def _keep_message_sent_count(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, packet: Any
) -> None:
    original(session, position, packet)
    if position.TxSequenceNumber:
        position.TxSequenceNumber = session.MessageSentCount


def _increment_tx_sequence_number_with_each_attempt(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, packet: Any
) -> None:
    sent = self.__dict__.setdefault("attempts", set())
    original(session, position, packet)
    if position.TxSequenceNumber and id(position) in sent:
        position.TxSequenceNumber += 1
    sent.add(id(position))


def _restore_ack_flags_after_transactional_message(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now
) -> UserMessagePacket:
    before = session.LastAckedRecoverableMsgSeqNumber, session.RecoverableMsgAckFlags
    packet: UserMessagePacket = original(session, position, now)
    if packet.SessionHeader is not None and packet.TransactionHeader is not None:
        session.LastAckedRecoverableMsgSeqNumber, session.RecoverableMsgAckFlags = before
    return packet


def _set_last_acked_number_to_all_received_messages(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now
) -> UserMessagePacket:
    packet: UserMessagePacket = original(session, position, now)
    if packet.SessionHeader is not None:
        session.LastAckedRecoverableMsgSeqNumber = session.MessageReceivedCount
    return packet


for _name, _rule, _says, _install in (
    (
        "sender-kept-tx-number-of-later-message-one-too-low",
        "MQQB-3.1.7.1.3-05",
        "The sender keeps the preceding TxSequenceNumber in the OutgoingMessagePosition of each later message.",
        change_step(MessageSending.transmit, _decrement_tx_sequence_number_of_later_message),
    ),
    (
        "sender-kept-tx-number-is-message-sent-count",
        "MQQB-3.1.7.1.3-05",
        "The sender keeps MessageSentCount as TxSequenceNumber of a sent message.",
        change_step(MessageSending.transmit, _keep_message_sent_count),
    ),
    (
        "sender-kept-tx-number-incremented-with-each-attempt",
        "MQQB-3.1.7.1.3-05",
        "The sender increments TxSequenceNumber in the OutgoingMessagePosition of a message that it sends again.",
        change_step(MessageSending.transmit, _increment_tx_sequence_number_with_each_attempt),
    ),
    (
        "sender-header-of-transactional-message-does-not-advance-acknowledged-number",
        "MQQB-3.1.7.1.3-25",
        "After the SessionHeader of a transactional message, the next acknowledgment begins with the old number.",
        change_step(MessageSending.update_user_message, _restore_ack_flags_after_transactional_message),
    ),
    (
        "sender-acknowledgment-after-header-counts-express-messages",
        "MQQB-3.1.7.1.3-25",
        "After a SessionHeader, the next acknowledgment begins with the number that follows MessageReceivedCount.",
        change_step(MessageSending.update_user_message, _set_last_acked_number_to_all_received_messages),
    ),
):
    add(_name, _rule, _says, _install, blind=True)

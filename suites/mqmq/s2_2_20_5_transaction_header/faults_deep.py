"""Faults of MS-MQMQ 2.2.20.5 that only special cases reveal: the second message, queue or transaction, and bits that
have an effect although they must be ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.received_messages import change_received
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Message, MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now

NO_ACKNOWLEDGMENTS = {"MessagePropertiesHeader.Flags": 0}


def _has_bit(name: str) -> Callable[[Any], Any]:
    return lambda packet: packet.TransactionHeader is not None and getattr(packet.TransactionHeader, name)


for _name, _rule, _says, _changes, _bit in (
    (
        "receiver-transaction-header-x1-suppresses-acknowledgments",
        "MQMQ-2.2.20.5-08",
        "The receiver sends no administration acknowledgments for a message when bit X1 of TransactionHeader.Flags is "
        "set.",
        NO_ACKNOWLEDGMENTS,
        "X1",
    ),
    (
        "receiver-transaction-header-x5-message-expires",
        "MQMQ-2.2.20.5-12",
        "The receiver removes a message from its queue after one second when bit X5 of TransactionHeader.Flags is set.",
        {"UserHeader.TimeToBeReceived": 1},
        "X5",
    ),
    (
        "receiver-transaction-header-x8-correlation-id-lost",
        "MQMQ-2.2.20.5-15",
        "The receiver delivers a message without its CorrelationID when bit X8 of TransactionHeader.Flags is set.",
        {"MessagePropertiesHeader.CorrelationID": bytes(20)},
        "X8",
    ),
):
    add(_name, _rule, _says, change_received(_changes, _has_bit(_bit)))


class OtherBoundaries(TransactionEvents):
    """The sender sets FM or LM in the wrong messages."""

    def mark_boundaries(self, transaction: Transaction) -> None:
        super().mark_boundaries(transaction)
        sent = [
            one.MessagePositionReference
            for one in transaction.TransactionalOperationCollection
            if one.OperationType is OperationType.ENQUEUE
        ]
        for place, position in enumerate(sent):
            position.MessageReference = self.mark(position.MessageReference, place, len(sent))

    def mark(self, message: Message, place: int, count: int) -> Message:
        """Return the message with its changed flags."""
        return message


@fault("sender-fm-also-in-third-message", breaks="MQMQ-2.2.20.5-04")
class SenderFmAlsoInThirdMessage(OtherBoundaries):
    """The sender also sets FM in the third message of a transaction."""

    def mark(self, message: Message, place: int, count: int) -> Message:
        return replace(message, FirstInTransaction=True) if place == 2 else message


@fault("sender-lm-clear-in-transaction-of-one-message", breaks="MQMQ-2.2.20.5-05")
class SenderLmClearInTransactionOfOneMessage(OtherBoundaries):
    """The sender leaves LM clear in the only message of a transaction."""

    def mark(self, message: Message, place: int, count: int) -> Message:
        return replace(message, LastInTransaction=False) if count == 1 else message


@fault("sender-transaction-id-of-third-message-greater", breaks="MQMQ-2.2.20.5-06")
class SenderTransactionIdOfThirdMessageGreater(OtherBoundaries):
    """In the third and every later message of a transaction, the sender sets TransactionHeader.Flags.ID to one more
    than in the first message.
    """

    def mark(self, message: Message, place: int, count: int) -> Message:
        if place < 2 or message.TransactionIdentifier is None:
            return message
        return replace(message, TransactionIdentifier=message.TransactionIdentifier + 1)


@fault("sender-transaction-id-of-two-transactions-alike", breaks="MQMQ-2.2.20.5-07")
class SenderTransactionIdOfTwoTransactionsAlike(TransactionOperations):
    """The sender gives two successive transactions the same TransactionHeader.Flags.ID."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        new = not transaction.number
        position = super().enqueue_in_transaction(transaction, queue, message)
        if new and transaction.number % 2 == 0:
            transaction.number -= 1
            position.MessageReference = replace(position.MessageReference, TransactionIdentifier=transaction.number)
        return position


@fault("receiver-connector-guid-of-other-queue-manager-refused", breaks="MQMQ-2.2.20.5-21")
class ReceiverConnectorGuidOfOtherQueueManagerRefused(InSequence):
    """The receiver ignores a transactional message whose ConnectorQMGuid is not the receiver's own GUID."""

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if header is not None and header.ConnectorQMGuid not in (None, self.qm.adm.Identifier):
            receipt.done = True
            return
        super().take_transactional(session, packet, receipt, now)


@fault("receiver-final-ack-of-expired-message-not-sent", breaks="MQMQ-2.2.20.5-D02")
class ReceiverFinalAckOfExpiredMessageNotSent(FinalAcks):
    """The receiver sends no FinalAck for a message with FA set when TimeToBeReceived of the message expires."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            super().acknowledge_final(position, reason, now)


@fault("receiver-final-ack-of-received-message-sent-although-fa-clear", breaks="MQMQ-2.2.20.5-D02")
class ReceiverFinalAckOfReceivedMessageSentAlthoughFaClear(InSequence):
    """The receiver also sends a FinalAck for a received message with FA clear."""

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        packet = replace(packet, TransactionHeader=replace(header, Flags=header.Flags | 2))
        super().take_transactional(session, packet, receipt, now)

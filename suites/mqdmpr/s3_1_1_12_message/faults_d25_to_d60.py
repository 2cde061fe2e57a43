"""Faults that break the rules MQDMPR-3.1.1.12-D25 to MQDMPR-3.1.1.12-D60."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, faulty_only_if
from harness.faults.primitives import omit_step, send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import MessageClass, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_1_12_message.fault_steps import RECEIVE_TIMEOUT_NACK_CLASS, clear_negative_receive_ack_request


@fault("only-first-of-simultaneously-expired-messages-acknowledged", breaks="MQDMPR-3.1.1.12-D25")
class OnlyFirstOfSimultaneouslyExpiredMessagesAcknowledged(MessageExpiring):
    """If the TimeToBeReceived of several messages expires at the same time, the receiver acknowledges only the first of
    these messages.
    """

    def delete_messages_not_received_in_time(self, positions: list[MessagePosition], now: Now) -> None:
        for position in positions[1:]:
            clear_negative_receive_ack_request(position)
        super().delete_messages_not_received_in_time(positions, now)


@fault("receiver-expired-express-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-D25", blind=True)
class ReceiverExpiredExpressMessageNotAcknowledged(AdminAcks):
    """The receiver does not acknowledge express messages that expire in their queue."""

    @faulty_only_if(
        lambda part, message, reason, now: (
            reason is RECEIVE_TIMEOUT_NACK_CLASS and message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        )
    )
    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        return


add(
    "rejected-message-acknowledged-as-received",
    "MQDMPR-3.1.1.12-D27",
    "The receiver acknowledges a rejected message with the class AckReceive.",
    omit_step(TransactionOperations.reject),
)


@fault("rejected-message-acknowledged-as-expired", breaks="MQDMPR-3.1.1.12-D27")
class RejectedMessageAcknowledgedAsExpired(TransactionOperations):
    """The receiver acknowledges a rejected message with the class NackReceiveTimeout."""

    def reject(self, transaction: Transaction, queue: Queue, lookup_identifier: int) -> None:
        super().reject(transaction, queue, lookup_identifier)
        for operation in transaction.TransactionalOperationCollection:
            if operation.DequeueReason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED:
                operation.DequeueReason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT


def _is_transactional(packet: Any) -> bool:
    return packet.TransactionHeader is not None and not packet.MessagePropertiesHeader.MessageClass


def _is_recoverable(packet: Any) -> bool:
    return bool(packet.UserHeader.DM) and packet.TransactionHeader is None


for _rule, _name, _changes in (
    ("MQDMPR-3.1.1.12-D38", "application-tag", {"MessagePropertiesHeader.ApplicationTag": 1}),
    ("MQDMPR-3.1.1.12-D40", "body-type", {"MessagePropertiesHeader.BodyType": 8}),
    ("MQDMPR-3.1.1.12-D47", "correlation", {"MessagePropertiesHeader.CorrelationID": b"\1" * 20}),
    ("MQDMPR-3.1.1.12-D42", "time-to-be-received", {"UserHeader.TimeToBeReceived": 345_600}),
    ("MQDMPR-3.1.1.12-D44", "extension", {"MessagePropertiesHeader.ExtensionData": b"odd"}),
    ("MQDMPR-3.1.1.12-D41", "label", {"MessagePropertiesHeader.Label": "transactional"}),
    ("MQDMPR-3.1.1.12-D37", "acknowledgments", {"MessagePropertiesHeader.Flags": MessagePropertiesHeader.flags(NR=1)}),
):
    for _kind, _when in (("transactional", _is_transactional), ("recoverable", _is_recoverable)):
        add(
            f"default-{_name}-of-{_kind}-message-differs",
            _rule,
            f"The default of the attribute {_name} is different for {_kind} messages.",
            send_wrong_field_values(UserMessagePacket, _changes, when=_when),
            blind=True,
        )


@fault("sender-message-without-session-never-expires", breaks="MQDMPR-3.1.1.12-D52", blind=True)
class SenderMessageWithoutSessionNeverExpires(MessageSending):
    """A recoverable message with a TimeToReachQueue does not expire while the sender's session is not open."""

    def delete_expired_message(self, session: Any, position: Any, now: Now) -> None:
        if session.SessionState.name == "OPEN":
            super().delete_expired_message(session, position, now)


@fault("receiver-message-expired-while-locked-kept-after-abort", breaks="MQDMPR-3.1.1.12-D53", blind=True)
class ReceiverMessageExpiredWhileLockedKeptAfterAbort(MessagePositions):
    """The receiver keeps a message whose TimeToBeReceived expires after a transaction received it and before this
    transaction is aborted.
    """

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is not MessagePositionState.LOCKED:
            super().unlock_message(position)
            return
        position.State = MessagePositionState.AVAILABLE
        position.QueueReference.MessagePositionList.reset_search_start(position)
        position.is_disk_write_pending = False
        self.qm.waiting_reads.pass_new_message_to_waiting_readers(position)


@fault("receiver-moved-message-does-not-expire", breaks=("MQDMPR-3.1.1.12-D53", "MQDMPR-3.1.7.2.7-12"), blind=True)
class ReceiverMovedMessageDoesNotExpire(MessageLifetimes):
    """A message that was moved to a subqueue does not expire."""

    @faulty_only_if(lambda part, position: position.QueueReference.parent is not None)
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        return


@fault("receiver-only-first-message-of-queue-expires", breaks="MQDMPR-3.1.1.12-D53", blind=True)
class ReceiverOnlyFirstMessageOfQueueExpires(MessageLifetimes):
    """A message expires only if it was the first message of its queue when it arrived."""

    @faulty_only_if(lambda part, position: position.QueueReference.MessagePositionList.Head is not position)
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        return


@fault("sender-sets-first-in-transaction-in-second-message-too", breaks="MQDMPR-3.1.1.12-D58", blind=True)
class SenderSetsFirstInTransactionInSecondMessageToo(TransactionEvents):
    """In a transaction of three or more messages, the sender also sets FirstInTransaction in the second message."""

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        sent = [
            one.MessagePositionReference
            for one in transaction.TransactionalOperationCollection
            if isinstance(one.MessagePositionReference.QueueReference, OutgoingQueue)
        ]
        if len(sent) > 2:
            sent[1].MessageReference = replace(sent[1].MessageReference, FirstInTransaction=True)


@fault("sender-sent-time-of-waiting-message-is-time-of-transmission", breaks="MQDMPR-3.1.1.12-D60", blind=True)
class SenderSentTimeOfWaitingMessageIsTimeOfTransmission(MessageSending):
    """The SentTime of a message that waited in its outgoing queue is the time at which it was transmitted."""

    def update_user_message(self, session: Any, position: Any, now: Now) -> Any:
        packet = super().update_user_message(session, position, now)
        return replace(packet, UserHeader=replace(packet.UserHeader, SentTime=now.utc_s))

"""Faults that break the rules MQDMPR-3.1.1.12-32 to MQDMPR-3.1.1.12-39."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import omit_step, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.events import MessageLeftQueue
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.messages import NEGATIVE_RECEIVE_FLAG, POSITIVE_RECEIVE_FLAG
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_1_12_message.fault_steps import (
    RECEIVE_ACK_CLASS,
    ArrivedMessageChanger,
    InsertedMessageChanger,
    MovedMessageChanger,
)


def _change_inserted_message(change: Callable[[Message], Message]) -> Install:
    """Build a fault that changes each message when it enters a queue, even an outgoing queue."""

    class MessageInsertionChanger(MessagePositions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            return super().insert_message(queue, change(message))

    return replace_part(MessageInsertionChanger)


for _name, _rules, _says, _change in (
    (
        "receiver-text-body-recoded-as-utf-8",
        "MQDMPR-3.1.1.12-32",
        "If BodyType is text, the receiver converts the Body to UTF-8.",
        lambda message: (
            replace(message, Body=message.Body.decode("utf-8", "replace").encode())
            if message.BodyType == 0x1F
            else message
        ),
    ),
    (
        "receiver-label-stripped",
        "MQDMPR-3.1.1.12-46",
        "The receiver removes blanks at both ends of the Label.",
        lambda message: replace(message, Label=message.Label.strip()),
    ),
    (
        "receiver-extension-trailing-zeros-cut",
        "MQDMPR-3.1.1.12-57",
        "The receiver removes trailing zero bytes from the Extension.",
        lambda message: replace(message, Extension=message.Extension.rstrip(b"\0")),
    ),
    (
        "receiver-arrival-time-is-sent-time",
        "MQDMPR-3.1.1.12-D04",
        "The receiver sets ArrivalTime to SentTime.",
        lambda message: replace(message, ArrivalTime=message.SentTime),
    ),
    (
        "locked-message-can-be-peeked",
        "MQDMPR-3.1.1.12-D03",
        "A reader can peek at a message that another reader has locked.",
        lambda message: replace(message, AllowPeekWhenLocked=True),
    ),
):
    add(_name, _rules, _says, _change_inserted_message(_change))


def _change_forwarded_message(change: Callable[[bytes], Any], field: str) -> Install:
    """Build a fault in which the router changes a field of each message that it forwards."""

    class ForwardedMessageChanger(MessageRouting):
        def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
            counted = super().increment_hop_count(packet)
            if counted is None:
                return None
            altered: UserMessagePacket = set_fields(counted, {f"MessagePropertiesHeader.{field}": change})
            return altered

    return replace_part(ForwardedMessageChanger)


for _name, _rule, _field, _alter in (
    (
        "router-body-highest-bits-cleared",
        "MQDMPR-3.1.1.12-32",
        "MessageBody",
        lambda body: bytes(one & 0x7F for one in body),
    ),
    ("router-body-type-cut-to-4-bits", "MQDMPR-3.1.1.12-33", "BodyType", lambda kind: kind & 0xF),
    ("router-correlation-id-cut-to-guid", "MQDMPR-3.1.1.12-34", "CorrelationID", lambda old: old[:16] + bytes(4)),
    (
        "router-label-replaced-by-question-marks",
        "MQDMPR-3.1.1.12-46",
        "Label",
        lambda label: label and "?" * len(label),
    ),
    ("router-extension-zeroed", "MQDMPR-3.1.1.12-57", "ExtensionData", lambda extension: bytes(len(extension))),
):
    add(_name, _rule, f"The router changes {_field} of a forwarded message.", _change_forwarded_message(_alter, _field))


@fault("receiver-body-above-64-kilobytes-truncated", breaks="MQDMPR-3.1.1.12-32")
class ReceiverBodyAbove64KilobytesTruncated(ArrivedMessageChanger):
    """The receiver stores only the first 65,535 bytes of a body."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Body=message.Body[:0xFFFF])


@fault("stored-body-without-trailing-zeros", breaks="MQDMPR-3.1.1.12-32", blind=True)
class StoredBodyWithoutTrailingZeros(InsertedMessageChanger):
    """The queue manager removes zeros from the end of a body."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Body=message.Body.rstrip(b"\0"))


@fault("moved-message-body-cut-to-4-kilobytes", breaks="MQDMPR-3.1.1.12-32", blind=True)
class MovedMessageBodyCutTo4Kilobytes(MovedMessageChanger):
    """When a message is moved, the queue manager keeps only the first 4,096 bytes of the message's body."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, Body=message.Body[:4096])


@fault("receiver-body-type-cut-to-16-bits", breaks="MQDMPR-3.1.1.12-33", blind=True)
class ReceiverBodyTypeCutTo16Bits(InsertedMessageChanger):
    """The queue manager stores only the lower 16 bits of a BodyType."""

    def change_message(self, message: Message) -> Message:
        return replace(message, BodyType=message.BodyType & 0xFFFF)


@fault("moved-message-with-body-type-0", breaks="MQDMPR-3.1.1.12-33", blind=True)
class MovedMessageWithBodyType0(MovedMessageChanger):
    """When a message is moved to a subqueue, the queue manager sets the message's BodyType to 0."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, BodyType=0) if queue.parent is not None else message


@fault("receiver-correlation-identifier-of-normal-message-zeroed", breaks="MQDMPR-3.1.1.12-34")
class ReceiverCorrelationIdentifierOfNormalMessageZeroed(ArrivedMessageChanger):
    """The receiver stores zeros as CorrelationIdentifier of a recoverable message of class Normal."""

    def change_message(self, message: Message) -> Message:
        normal = not message.Class and message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        return replace(message, CorrelationIdentifier=bytes(20)) if normal else message


@fault("moved-message-without-correlation-identifier", breaks="MQDMPR-3.1.1.12-34", blind=True)
class MovedMessageWithoutCorrelationIdentifier(MovedMessageChanger):
    """When a message is moved to a subqueue, the queue manager clears the message's CorrelationIdentifier."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, CorrelationIdentifier=bytes(20)) if queue.parent is not None else message


@fault(
    "combined-acknowledgment-requests-ignored",
    breaks=(
        "MQDMPR-3.1.1.12-35",
        "MQDMPR-3.1.1.12-36",
        "MQDMPR-3.1.1.12-42",
        "MQDMPR-3.1.1.12-43",
        "MQDMPR-3.1.1.12-44",
    ),
)
class CombinedAcknowledgmentRequestsIgnored(AdminAcks):
    """The receiver acknowledges a message only if the message requests exactly one kind of acknowledgment, or
    all kinds.
    """

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message.AcknowledgementsRequested in (0x1, 0x2, 0x4, 0x8, 0xF):
            super().send(message, message_class, now)


@fault("receiver-acknowledgment-requests-with-unused-bit-ignored", breaks="MQDMPR-3.1.1.12-36")
class ReceiverAcknowledgmentRequestsWithUnusedBitIgnored(ArrivedMessageChanger):
    """If an unused bit of the acknowledgment flags of a message is set, the receiver ignores all other requests for
    acknowledgments in these flags.
    """

    def change_message(self, message: Message) -> Message:
        unused = message.AcknowledgementsRequested & ~0x0F
        return replace(message, AcknowledgementsRequested=0) if unused else message


_ALL_ACK_REQUEST_BITS = MessagePropertiesHeader.flags(PA=1, PR=1, NA=1, NR=1)


@fault(
    "receiver-arrival-acknowledged-without-request",
    breaks=("MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-37", "MQDMPR-3.1.1.12-D07"),
)
class ReceiverArrivalAcknowledgedWithoutRequest(AdminAcks):
    """The receiver acknowledges the arrival of a message that does not request this acknowledgment
    (MessagePropertiesHeader.Flags.PA is 0).
    """

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        asking = replace(position.MessageReference, AcknowledgementsRequested=_ALL_ACK_REQUEST_BITS)
        super().acknowledge_arrival(replace(position, MessageReference=asking), now)


@fault("purged-message-acknowledged-without-request", breaks="MQDMPR-3.1.1.12-37", blind=True)
class PurgedMessageAcknowledgedWithoutRequest(FinalAcks):
    """The receiver acknowledges each purged message that names an administration queue, even without a request."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and not message.AcknowledgementsRequested:
            self.qm.admin_acks.send(message, reason, now)
        super().on_message_position_deleted(position, reason, now)


add(
    "receiver-ignores-pa-bit",
    ("MQMQ-2.2.19.3-01", "MQDMPR-3.1.1.12-38"),
    "The receiver ignores MessagePropertiesHeader.Flags.PA, and so never acknowledges that a message arrived.",
    omit_step(AdminAcks.acknowledge_arrival),
)


@fault("receiver-arrival-of-message-for-waiting-read-not-acknowledged", breaks="MQDMPR-3.1.1.12-38")
class ReceiverArrivalOfMessageForWaitingReadNotAcknowledged(AdminAcks):
    """The receiver does not acknowledge the arrival of a message that a waiting read receives at once."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if position.State is MessagePositionState.AVAILABLE:
            super().acknowledge_arrival(position, now)


@fault("receiver-positive-receive-ack-request-ignored", breaks=("MQMQ-2.2.19.3-02", "MQDMPR-3.1.1.12-39"))
class ReceiverPositiveReceiveAckRequestIgnored(AdminAcks):
    """The receiver ignores MessagePropertiesHeader.Flags.PR, and so never acknowledges that a message was received."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not RECEIVE_ACK_CLASS:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-sends-receive-ack-for-transaction-before-its-commit", breaks="MQDMPR-3.1.1.12-39")
class ReceiverSendsReceiveAckForTransactionBeforeItsCommit(TransactionOperations):
    """The receiver acknowledges a message as received when a transaction receives it, before the commit."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        self.qm.post_event(MessageLeftQueue(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE))


@fault("receiver-received-transactional-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-39")
class ReceiverReceivedTransactionalMessageNotAcknowledged(AdminAcks):
    """The receiver sends no acknowledgment when an application receives a transactional message with AckPosReceive."""

    @faulty_only_if(
        lambda part, message, reason, now: (
            message.TransactionIdentifier is not None and reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE
        )
    )
    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        return


_POSITIVE_AND_NEGATIVE_RECEIVE_ACK_REQUEST_BITS = POSITIVE_RECEIVE_FLAG | NEGATIVE_RECEIVE_FLAG


@fault("receiver-sends-only-positive-receive-ack-if-both-are-requested", breaks="MQDMPR-3.1.1.12-36", blind=True)
class ReceiverSendsOnlyPositiveReceiveAckIfBothAreRequested(AdminAcks):
    """If a message requests the positive and the negative receive acknowledgment, the receiver sends only the
    positive one.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        requests_both = (
            message.AcknowledgementsRequested & _POSITIVE_AND_NEGATIVE_RECEIVE_ACK_REQUEST_BITS
            == _POSITIVE_AND_NEGATIVE_RECEIVE_ACK_REQUEST_BITS
        )
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE or not requests_both:
            super().acknowledge_receive(message, reason, now)

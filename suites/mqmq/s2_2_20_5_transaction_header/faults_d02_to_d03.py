"""Faults that break the rules MQMQ-2.2.20.5-D02 to MQMQ-2.2.20.5-D03."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import (
    change_number_in_field,
)
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, TransactionHeader, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import LARGE_BODY_BYTES


@fault("receiver-final-ack-omitted-for-deleted-queue", breaks="MQMQ-2.2.20.5-D02", blind=True)
class ReceiverFinalAckOmittedForDeletedQueue(FinalAcks):
    """The receiver sends no FinalAck for a message with FA that leaves its queue because the queue is deleted."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-of-expired-message-not-sent", breaks="MQMQ-2.2.20.5-D02")
class ReceiverFinalAckOfExpiredMessageNotSent(FinalAcks):
    """The receiver sends no FinalAck for a message with FA set when TimeToBeReceived of the message expires."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-of-received-message-sent-although-fa-clear", breaks="MQMQ-2.2.20.5-D02")
class ReceiverFinalAckOfReceivedMessageSentAlthoughFaClear(TransactionalReceiving):
    """The receiver also sends a FinalAck for a received message with FA clear."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        packet = replace(packet, TransactionHeader=replace(header, Flags=header.Flags | 2))
        super().receive_transactional_message(session, packet, receipt, now)


def _omit_final_ack(when: Callable[[MessagePosition, MessageClass], Any]) -> Install:
    class FinalAckOmitter(FinalAcks):
        def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
            if not when(position, reason):
                super().send_final_ack_of_message(position, reason, now)

    return replace_part(FinalAckOmitter)


for _name, _says, _when_left in (
    ("purged", "a message that was purged", lambda position, reason: reason == MessageClass.MQMSG_CLASS_NACK_Q_PURGED),
    (
        "received",
        "a message that was received",
        lambda position, reason: reason == MessageClass.MQMSG_CLASS_ACK_RECEIVE,
    ),
    (
        "large",
        "a message with a body of more than 4 KiB",
        lambda position, reason: len(position.MessageReference.Body) > LARGE_BODY_BYTES,
    ),
    (
        "second",
        "the second and every later message of a sequence",
        lambda position, reason: position.MessageReference.TransactionSequenceNumber > 1,
    ),
    (
        "journaling",
        "a message that requests no journaling",
        lambda position, reason: (
            not position.MessageReference.PositiveJournalingRequested
            and not position.MessageReference.NegativeJournalingRequested
        ),
    ),
):
    add(
        f"receiver-final-ack-of-{_name}-message-omitted",
        "MQMQ-2.2.20.5-D02",
        f"The receiver sends no FinalAck for {_says}, although FA is set.",
        _omit_final_ack(_when_left),
    )


@fault("receiver-final-ack-of-refused-message-omitted", breaks="MQMQ-2.2.20.5-D02")
class ReceiverFinalAckOfRefusedMessageOmitted(FinalAcks):
    """The receiver sends no FinalAck for a message with FA set whose queue does not exist."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        pass


@fault("receiver-final-ack-of-purged-message-sent-although-fa-clear", breaks="MQMQ-2.2.20.5-D02")
class ReceiverFinalAckOfPurgedMessageSentAlthoughFaClear(FinalAcks):
    """The receiver sends a FinalAck for a message with FA clear that leaves its queue without being received."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if (
            reason != MessageClass.MQMSG_CLASS_ACK_RECEIVE
            and position.order_queue is None
            and message.TransactionSequenceNumber
        ):
            name = f"PRIVATE={message.Identifier.QueueManagerGuid}\\4"
            position.order_queue = name
        super().on_message_position_deleted(position, reason, now)


add(
    "sender-previous-tx-sequence-number-of-first-all-ones",
    "MQMQ-2.2.20.5-D03",
    "The sender's first message of a sequence carries PreviousTxSequenceNumber 0xFFFFFFFF.",
    change_number_in_field(
        UserMessagePacket, "TransactionHeader.PreviousTxSequenceNumber", lambda number: number or 0xFFFF_FFFF
    ),
)


FINAL_ACK_REQUIRED_FLAG = TransactionHeader.flags(FA=1)


@fault("receiver-omits-final-ack-for-transaction-header-with-x7-set", breaks="MQMQ-2.2.20.5-14", blind=True)
class ReceiverOmitsFinalAckForTransactionHeaderWithX7Set(MessageAdmission):
    """The receiver ignores FA of a TransactionHeader in which bit X7 of Flags is set, and sends no FinalAck."""

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        if admitted is None or admitted.TransactionHeader is None or not admitted.TransactionHeader.X7:
            return admitted
        return set_fields(admitted, {"TransactionHeader.Flags": lambda flags: flags & ~FINAL_ACK_REQUIRED_FLAG})

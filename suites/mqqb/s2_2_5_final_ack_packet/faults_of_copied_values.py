"""Faults in which a FinalAck of MS-MQQB 2.2.5 takes values from its session or from the acknowledged message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, set_fields
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, DirectQueueFormatName, MessageClass, UserMessagePacket
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now

_FINAL_NACK_BIT = 0x8000


@fault("receiver-appends-session-header-to-final-ack", breaks="MQQB-2.2.5-01", blind=True)
class ReceiverAppendsSessionHeaderToFinalAck(MessageSending):
    """The receiver sets BaseHeader.Flags.SH in a FinalAck, and appends the session acknowledgment that is due."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if not is_final_ack(packet) or not session.UnackedReceivedMsgCount:
            return packet
        header = self.qm.session_acks.build_session_header(session)
        self.qm.session_acks.reset_unacknowledged_counts(session, now)
        flags = packet.BaseHeader.Flags | BaseHeader.flags(SH=1)
        return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=header)


class _MessageAwaitingFinalAckRecorder(FinalAcks):
    """Stores the message whose FinalAck is being sent."""

    message_awaiting_final_ack: Message | None = None

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        self.message_awaiting_final_ack = position.MessageReference
        super().send_final_ack_of_message(position, reason, now)
        self.message_awaiting_final_ack = None


def _make_final_ack_copying_message_attribute(field: str, attribute: str) -> type[MessageSending]:
    """Return a part of the queue manager that copies an attribute of the acknowledged message into a field of its
    FinalAck.
    """

    class FinalAckWithCopiedValue(MessageSending):
        def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
            packet = super().construct_user_message(position)
            message_awaiting_final_ack = getattr(self.qm.final_acks, "message_awaiting_final_ack", None)
            if message_awaiting_final_ack is None or not is_final_ack(packet):
                return packet
            return set_fields(packet, {field: getattr(message_awaiting_final_ack, attribute)})

    return FinalAckWithCopiedValue


class _FinalAckWithTraceFlagOfMessage(MessageSending):
    """Sets BaseHeader.Flags.TR of the FinalAck of a traced message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        message_awaiting_final_ack = getattr(self.qm.final_acks, "message_awaiting_final_ack", None)
        if (
            message_awaiting_final_ack is None
            or not message_awaiting_final_ack.TracingRequested
            or not is_final_ack(packet)
        ):
            return packet
        return set_fields(packet, {"BaseHeader.Flags": BaseHeader.flags(TR=1)})


add(
    "receiver-final-ack-base-header-traced-like-its-message",
    "MQQB-2.2.5-01",
    "The receiver sends a FinalAck with BaseHeader.Flags.TR set when the acknowledged message has this flag.",
    combine_installers(
        replace_part(_MessageAwaitingFinalAckRecorder),
        replace_part(_FinalAckWithTraceFlagOfMessage),
    ),
    blind=True,
)
add(
    "receiver-final-ack-properties-flags-of-acknowledged-message",
    "MQQB-2.2.5-10",
    "The receiver sends a FinalAck with MessagePropertiesHeader.Flags of the message that left its queue.",
    combine_installers(
        replace_part(_MessageAwaitingFinalAckRecorder),
        replace_part(
            _make_final_ack_copying_message_attribute("MessagePropertiesHeader.Flags", "AcknowledgementsRequested")
        ),
    ),
    blind=True,
)
add(
    "receiver-final-ack-body-type-of-acknowledged-message",
    "MQQB-2.2.5-23",
    "The receiver sends a FinalAck with BodyType of the message that left its queue.",
    combine_installers(
        replace_part(_MessageAwaitingFinalAckRecorder),
        replace_part(_make_final_ack_copying_message_attribute("MessagePropertiesHeader.BodyType", "BodyType")),
    ),
    blind=True,
)


@fault("receiver-final-ack-of-closed-session-sent-as-express", breaks="MQQB-2.2.5-03", blind=True)
class ReceiverFinalAckOfClosedSessionSentAsExpress(FinalAcks):
    """The receiver sends a FinalAck with DM 0 if the session was closed before the FinalAck was delivered."""

    def move_to_outgoing_queue(self, position: OutgoingMessagePosition, now: Now) -> None:
        message = position.MessagePosition.MessageReference
        if message.Class >= _FINAL_NACK_BIT or message.Class == MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            express = replace(message, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)
            position.MessagePosition.MessageReference = express
            position.UserMessage = self.qm.message_sending.construct_user_message(position.MessagePosition)
        super().move_to_outgoing_queue(position, now)


@fault("receiver-final-ack-of-received-message-with-only-jn-is-timeout", breaks="MQQB-2.2.5-11", blind=True)
class ReceiverFinalAckOfReceivedMessageWithOnlyJnIsTimeout(FinalAcks):
    """If a message with JN but without JP is received, the receiver sends its FinalAck with the class
    NACK_RECEIVE_TIMEOUT.
    """

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        received = reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if received and message.NegativeJournalingRequested and not message.PositiveJournalingRequested:
            reason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-of-message-received-in-transaction-is-purged", breaks="MQQB-2.2.5-11", blind=True)
class ReceiverFinalAckOfMessageReceivedInTransactionIsPurged(TransactionOperations):
    """If a message was received in a transaction, the receiver sends its FinalAck with the class NACK_Q_PURGED."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operation = transaction.TransactionalOperationCollection[-1]
        operation.DequeueReason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED


def _refuse_with_bad_signature(when: Any) -> type[FinalAcks]:
    """Return a part of the queue manager that reports an unsupported provider as an invalid signature, if a condition
    holds.
    """

    class RefusedWithBadSignature(FinalAcks):
        def send_negative_final_ack(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            unsupported = message_class is MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
            if unsupported and when(packet):
                message_class = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
            super().send_negative_final_ack(session, packet, message_class, now)

    return RefusedWithBadSignature


add(
    "receiver-final-ack-of-unsupported-provider-to-queue-by-guid-class-bad-signature",
    "MQQB-2.2.5-17",
    "The receiver sends the FinalAck of a message that has an unsupported provider and whose destination is not a "
    "direct format name with the class NACK_BAD_SIGNATURE.",
    replace_part(
        _refuse_with_bad_signature(
            lambda packet: not isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)
        )
    ),
    blind=True,
)
add(
    "receiver-final-ack-of-unsupported-provider-of-later-message-class-bad-signature",
    "MQQB-2.2.5-17",
    "The receiver sends the FinalAck of a message that has an unsupported provider and is not the first message of its "
    "sequence with the class NACK_BAD_SIGNATURE.",
    replace_part(_refuse_with_bad_signature(lambda packet: packet.TransactionHeader.TxSequenceNumber > 1)),
    blind=True,
)

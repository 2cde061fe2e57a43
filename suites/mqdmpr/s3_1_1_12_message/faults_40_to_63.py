"""Faults that break the rules MQDMPR-3.1.1.12-40 to MQDMPR-3.1.1.12-63."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import omit_step, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, MessageClass, UserMessagePacket
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import Message, MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_1_12_message.fault_steps import (
    RECEIVE_ACK_CLASS,
    RECEIVE_TIMEOUT_NACK_CLASS,
    ArrivedMessageChanger,
    InsertedMessageChanger,
    LocalMessageChanger,
    MovedMessageChanger,
)

add(
    "receiver-ignores-na-bit",
    ("MQMQ-2.2.19.3-03", "MQDMPR-3.1.1.12-D50", "MQDMPR-3.1.1.12-40"),
    "The receiver ignores MessagePropertiesHeader.Flags.NA, and so never acknowledges a failed delivery.",
    omit_step(AdminAcks.acknowledge_failure),
)


@fault("receiver-refused-transactional-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-40")
class ReceiverRefusedTransactionalMessageNotAcknowledged(AdminAcks):
    """The receiver sends no acknowledgment when it refuses a transactional message with AckNegArrival."""

    @faulty_only_if(lambda part, message, message_class, now: message.TransactionIdentifier is not None)
    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        return


def _add_fault_omitting_ack_class(name: str, rule: str, dropped: MessageClass, text: str) -> None:
    class AckClassOmitter(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class is not dropped:
                super().acknowledge_failure(message, message_class, now)

        def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
            if reason is not dropped:
                super().acknowledge_receive(message, reason, now)

    AckClassOmitter.__doc__ = text
    fault(name, breaks=rule, blind=True)(AckClassOmitter)


_add_fault_omitting_ack_class(
    "any-receiver-full-queue-not-acknowledged",
    "MQDMPR-3.1.1.12-40",
    MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA,
    "The receiver does not acknowledge a message that it refuses because of a quota.",
)


_add_fault_omitting_ack_class(
    "sender-late-message-not-acknowledged",
    "MQDMPR-3.1.1.12-40",
    MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
    "No acknowledgment is sent for a message that does not reach its queue in time.",
)


@fault("receiver-negative-receive-ack-request-ignored", breaks=("MQMQ-2.2.19.3-04", "MQDMPR-3.1.1.12-41"))
class ReceiverNegativeReceiveAckRequestIgnored(AdminAcks):
    """The receiver ignores MessagePropertiesHeader.Flags.NR, and so never acknowledges that a message was removed
    unread from its queue.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is RECEIVE_ACK_CLASS:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-removed-transactional-message-not-acknowledged", breaks="MQDMPR-3.1.1.12-41")
class ReceiverRemovedTransactionalMessageNotAcknowledged(AdminAcks):
    """The receiver sends no acknowledgment when a transactional message with AckNegReceive leaves its
    queue unreceived.
    """

    @faulty_only_if(
        lambda part, message, reason, now: (
            message.TransactionIdentifier is not None and reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE
        )
    )
    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        return


_add_fault_omitting_ack_class(
    "receiver-rejected-message-not-acknowledged",
    "MQDMPR-3.1.1.12-41",
    MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED,
    "The receiver does not acknowledge a message that an application rejects.",
)


_add_fault_omitting_ack_class(
    "receiver-deleted-queue-not-acknowledged",
    "MQDMPR-3.1.1.12-41",
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
    "The receiver does not acknowledge the messages of a deleted queue.",
)


_add_fault_omitting_ack_class(
    "receiver-wrong-kind-of-queue-not-acknowledged-for-full-reach-queue",
    "MQDMPR-3.1.1.12-42",
    MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
    "The receiver does not acknowledge a transactional message to a nontransactional queue.",
)


_add_fault_omitting_ack_class(
    "receiver-purged-message-not-acknowledged-for-nack-receive",
    "MQDMPR-3.1.1.12-43",
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
    "The receiver does not acknowledge the messages of a purged queue.",
)


_add_fault_omitting_ack_class(
    "receiver-expired-message-not-acknowledged-for-full-receive",
    "MQDMPR-3.1.1.12-44",
    RECEIVE_TIMEOUT_NACK_CLASS,
    "The receiver does not acknowledge a message that expires in its queue.",
)


@fault("receiver-label-of-transactional-message-cut-to-100-characters", breaks="MQDMPR-3.1.1.12-46")
class ReceiverLabelOfTransactionalMessageCutTo100Characters(ArrivedMessageChanger):
    """The receiver stores only the first 100 characters of the label of a transactional message."""

    def change_message(self, message: Message) -> Message:
        return message if message.TransactionIdentifier is None else replace(message, Label=message.Label[:100])


@fault("receiver-label-without-outer-spaces", breaks="MQDMPR-3.1.1.12-46", blind=True)
class ReceiverLabelWithoutOuterSpaces(InsertedMessageChanger):
    """The queue manager removes spaces from the beginning and the end of a label."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Label=message.Label.strip())


@fault("local-message-label-cut-to-124-characters", breaks="MQDMPR-3.1.1.12-46", blind=True)
class LocalMessageLabelCutTo124Characters(LocalMessageChanger):
    """The label of a message that a local application sends to a local queue has at most 124 characters."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Label=message.Label[:124])


@fault("default-time-to-reach-queue-of-transactional-message-infinite", breaks="MQDMPR-3.1.1.12-47", blind=True)
class DefaultTimeToReachQueueOfTransactionalMessageInfinite(MessageSending):
    """The sender uses an infinite TimeToReachQueue as the default of a transactional message."""

    def construct_user_message(self, position: MessagePosition) -> Any:
        message = position.MessageReference
        if message.TransactionIdentifier is not None and message.TimeToReachQueue == 345_600:
            position.MessageReference = replace(message, TimeToReachQueue=0xFFFFFFFF)
        return super().construct_user_message(position)


@fault("receiver-extension-above-255-bytes-truncated", breaks="MQDMPR-3.1.1.12-57")
class ReceiverExtensionAbove255BytesTruncated(ArrivedMessageChanger):
    """The receiver stores only the first 255 bytes of an extension."""

    def change_message(self, message: Message) -> Message:
        return replace(message, Extension=message.Extension[:255])


@fault("moved-message-without-extension", breaks="MQDMPR-3.1.1.12-57", blind=True)
class MovedMessageWithoutExtension(MovedMessageChanger):
    """When a message is moved to a subqueue, the queue manager drops the message's Extension."""

    def change_message(self, message: Message, queue: Queue) -> Message:
        return replace(message, Extension=b"") if queue.parent is not None else message


def _refuse_unknown_provider(field: str, known: tuple[Any, ...]) -> Install:
    """Build a fault in which the receiver refuses a message whose cryptographic provider is not installed."""

    class UnknownProviderRefuser(Identifying):
        def check_field_values(self, packet: Any) -> None:
            header = getattr(packet, "SecurityHeader", None)
            info = header.SecurityData.ProviderInfo if header is not None else b""
            value: Any = int.from_bytes(info[:4], "little") if field == "ProviderType" else info[4:].decode("utf-16-le")
            if info and not str(value).startswith(known):
                raise FormatError(f"SecurityHeader.{field}", 0, "a fault", f"the value {value} is not supported")
            super().check_field_values(packet)

    return replace_part(UnknownProviderRefuser)


add(
    "unknown-connector-provider-type-refused",
    "MQDMPR-3.1.1.12-60",
    "The receiver refuses a message whose ProviderInfo has an unknown provider type.",
    _refuse_unknown_provider("ProviderType", ("1", "24")),
)


add(
    "unknown-connector-provider-name-refused",
    "MQDMPR-3.1.1.12-61",
    "The receiver refuses a message whose ProviderInfo has an unknown provider name.",
    _refuse_unknown_provider("ProviderName", ("Microsoft",)),
)


@fault(
    "receiver-final-ack-not-sent",
    breaks=("MQMQ-2.2.20.5-D02", "MQDMPR-3.1.1.12-63", "MQDMPR-3.1.1.12-62"),
)
class ReceiverFinalAckNotSent(TransactionalReceiving):
    """The receiver sends no FinalAck for a message whose TransactionHeader.Flags.FA is 1."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        flags = packet.TransactionHeader.Flags & ~2 if packet.TransactionHeader else 0
        packet = set_fields(packet, {"TransactionHeader.Flags": flags})
        super().receive_transactional_message(session, packet, receipt, now)


@fault(
    "receiver-final-ack-without-request",
    breaks=("MQMQ-2.2.20.5-D02", "MQDMPR-3.1.1.12-64", "MQDMPR-3.1.1.12-62"),
)
class ReceiverFinalAckWithoutRequest(TransactionalReceiving):
    """The receiver sends a FinalAck for every transactional message."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        flags = packet.TransactionHeader.Flags | 2 if packet.TransactionHeader else 0
        packet = set_fields(packet, {"TransactionHeader.Flags": flags})
        super().receive_transactional_message(session, packet, receipt, now)


@fault("receiver-final-ack-of-moved-message-omitted", breaks=("MQDMPR-3.1.1.12-62", "MQDMPR-3.1.1.12-63"))
class ReceiverFinalAckOfMovedMessageOmitted(MessagePositions):
    """The receiver sends no FinalAck for a message that was moved to a subqueue and then received."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None:
            target.order_queue = None
        return target


@fault("receiver-transactional-message-above-quota-not-acknowledged", breaks="MQDMPR-3.1.1.12-40", blind=True)
class ReceiverTransactionalMessageAboveQuotaNotAcknowledged(MessageAdmission):
    """For a transactional message that exceeds the quota of its queue, the receiver sends only the FinalAck and no
    administration acknowledgment.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        above_quota = message_class is MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
        if above_quota and packet.TransactionHeader is not None:
            self.qm.final_acks.send_negative_final_ack(session, packet, message_class, now)
        else:
            super().refuse_message(session, packet, message_class, now)

"""Faults that break the rules MQMQ-2.2.19.3-01 to MQMQ-2.2.19.3-04."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.fields import add_to_field, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values, set_fields
from harness.faults.received_messages import change_received_message
from harness.faults.refusal_acks import omit_nack
from harness.faults.registry import add
from harness.faults.sent_messages import add_to_packet_size
from reference_qm.codec import MessageClass, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_3_message_properties_header.fault_steps import USER_MESSAGE_TYPE
from suites.mqmq.steps.kinds_of_messages import is_admin_ack, is_order_ack, is_report, is_transactional


@fault("receiver-sends-no-arrival-ack-if-waiting-read-takes-message", breaks="MQMQ-2.2.19.3-01")
class ReceiverSendsNoArrivalAckIfWaitingReadTakesMessage(MessageArrival):
    """The receiver does not acknowledge the arrival of a message with PA set if a waiting read receives it."""

    def report_arrival(self, position: MessagePosition, now: Now) -> None:
        if position.State is MessagePositionState.AVAILABLE:
            super().report_arrival(position, now)


@fault("receiver-arrival-of-recoverable-message-not-acknowledged", breaks="MQMQ-2.2.19.3-01")
class ReceiverArrivalOfRecoverableMessageNotAcknowledged(AdminAcks):
    """The receiver does not acknowledge the arrival of a nontransactional recoverable message."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        express = message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        if express or message.TransactionIdentifier is not None:
            super().acknowledge_arrival(position, now)


@fault("receiver-sends-no-arrival-ack-for-transactional-message", breaks="MQMQ-2.2.19.3-01", blind=True)
class ReceiverSendsNoArrivalAckForTransactionalMessage(AdminAcks):
    """The receiver does not acknowledge the arrival of a transactional message with PA set."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        arrival = message_class is MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
        if not (arrival and message.TransactionIdentifier is not None):
            super().send(message, message_class, now)


@fault("receiver-sends-no-arrival-ack-for-express-message", breaks="MQMQ-2.2.19.3-01", blind=True)
class ReceiverSendsNoArrivalAckForExpressMessage(AdminAcks):
    """The receiver does not acknowledge the arrival of an express message with PA set."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        arrival = message_class is MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
        if not (arrival and message.DeliveryGuarantee.name == "EXPRESS"):
            super().send(message, message_class, now)


@fault("receiver-sends-no-receive-ack-for-remotely-read-message", breaks="MQMQ-2.2.19.3-02")
class ReceiverSendsNoReceiveAckForRemotelyReadMessage(TwoPhaseReading):
    """The receiver does not acknowledge a message with PR set that a remote reader receives."""

    def end_with_deletion(self, position: MessagePosition, ended: Callable[[Status], None]) -> None:
        message = position.MessageReference
        requested = message.AcknowledgementsRequested & ~MessagePropertiesHeader.flags(PR=1)
        position.MessageReference = replace(message, AcknowledgementsRequested=requested)
        super().end_with_deletion(position, ended)


@fault("receiver-sends-no-receive-ack-after-arrival-ack", breaks="MQMQ-2.2.19.3-02")
class ReceiverSendsNoReceiveAckAfterArrivalAck(AdminAcks):
    """The receiver sends no acknowledgment of class ACK_RECEIVE for a message if it has acknowledged the arrival of the
    message.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not message.AcknowledgementsRequested & 1:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-sends-no-receive-ack-for-transactional-message", breaks="MQMQ-2.2.19.3-02", blind=True)
class ReceiverSendsNoReceiveAckForTransactionalMessage(AdminAcks):
    """The receiver sends no acknowledgment of class ACK_RECEIVE for a transactional message."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        receive = message_class is MessageClass.MQMSG_CLASS_ACK_RECEIVE
        if not (receive and message.TransactionIdentifier is not None):
            super().send(message, message_class, now)


@fault("receiver-sends-no-nack-for-full-queue", breaks=("MQMQ-2.2.19.3-03", "MQSO-3.3.4.5-D02"))
class ReceiverSendsNoNackForFullQueue(AdminAcks):
    """The receiver does not acknowledge a message that it refuses because its queue is full."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is not MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA:
            super().acknowledge_failure(message, message_class, now)


PROPERTIES_HEADER_NAME = "MessagePropertiesHeader"


for _name, _rule, _says, _install in (
    (
        "bad-destination-not-acknowledged",
        "MQMQ-2.2.19.3-03",
        "The receiver sends no acknowledgment of class NACK_BAD_DST_Q.",
        omit_nack(MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
    ),
    (
        "not-transactional-queue-not-acknowledged",
        "MQMQ-2.2.19.3-03",
        "The receiver sends no acknowledgment of class NACK_NOT_TRANSACTIONAL_Q.",
        omit_nack(MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q),
    ),
    (
        "not-transactional-message-not-acknowledged",
        "MQMQ-2.2.19.3-03",
        "The receiver sends no acknowledgment of class NACK_NOT_TRANSACTIONAL_MSG.",
        omit_nack(MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG),
    ),
    (
        "expired-in-transit-not-acknowledged",
        "MQMQ-2.2.19.3-03",
        "The sender sends no acknowledgment of class NACK_REACH_QUEUE_TIMEOUT.",
        omit_nack(MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT),
    ),
    (
        "bad-signature-not-acknowledged",
        "MQMQ-2.2.19.3-03",
        "The receiver sends no acknowledgment of class NACK_BAD_SIGNATURE.",
        omit_nack(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
    ),
    (
        "admin-ack-bit-4-set",
        "MQMQ-2.2.19.3-05",
        "A queue manager sends an administration acknowledgment with bit 4 of MessagePropertiesHeader.Flags set.",
        add_to_field(USER_MESSAGE_TYPE, f"{PROPERTIES_HEADER_NAME}.Flags", 0x10, is_admin_ack),
    ),
    (
        "order-ack-bit-5-set",
        "MQMQ-2.2.19.3-06",
        "A queue manager sends an OrderAck with bit 5 of MessagePropertiesHeader.Flags set.",
        add_to_field(USER_MESSAGE_TYPE, f"{PROPERTIES_HEADER_NAME}.Flags", 0x20, is_order_ack),
    ),
    (
        "receiver-bit-5-of-recoverable-message-tag-lost",
        "MQMQ-2.2.19.3-06",
        "The receiver sets ApplicationTag to 0 when bit 5 of MessagePropertiesHeader.Flags is set.",
        change_received_message(
            {f"{PROPERTIES_HEADER_NAME}.ApplicationTag": 0}, lambda p: p.MessagePropertiesHeader.Flags & 0x20
        ),
    ),
    (
        "receiver-bit-7-of-transactional-message-suppresses-acks",
        "MQMQ-2.2.19.3-08",
        "The receiver sends no acknowledgments for a transactional message with bit 7 of "
        "MessagePropertiesHeader.Flags set.",
        change_received_message(
            {f"{PROPERTIES_HEADER_NAME}.Flags": 0},
            lambda p: p.MessagePropertiesHeader.Flags & 0x80 and is_transactional(p),
        ),
    ),
    (
        "receiver-correlation-id-of-message-with-priority-0-lost",
        "MQMQ-2.2.19.3-13",
        "The receiver sets CorrelationID to zero in a message that requests acknowledgments.",
        change_received_message(
            {f"{PROPERTIES_HEADER_NAME}.CorrelationID": bytes(20)}, lambda p: p.MessagePropertiesHeader.Flags & 0xF
        ),
    ),
    (
        "admin-ack-receive-correlation-id-zero",
        "MQMQ-2.2.19.3-14",
        "A queue manager sends an acknowledgment of class ACK_RECEIVE whose CorrelationID is zero.",
        send_wrong_field_values(
            USER_MESSAGE_TYPE,
            {f"{PROPERTIES_HEADER_NAME}.CorrelationID": bytes(20)},
            lambda p: p.MessagePropertiesHeader.MessageClass == 0x4000 and is_admin_ack(p),
        ),
    ),
    (
        "admin-ack-purged-correlation-id-zero",
        "MQMQ-2.2.19.3-14",
        "A queue manager sends an acknowledgment of class NACK_Q_PURGED whose CorrelationID is zero.",
        send_wrong_field_values(
            USER_MESSAGE_TYPE,
            {f"{PROPERTIES_HEADER_NAME}.CorrelationID": bytes(20)},
            lambda p: p.MessagePropertiesHeader.MessageClass == 0xC001 and is_admin_ack(p),
        ),
    ),
    (
        "sender-transactional-message-tag-cut-to-31-bits",
        "MQMQ-2.2.19.3-16",
        "The sender clears the highest bit of ApplicationTag in a transactional message.",
        send_wrong_field_values(
            USER_MESSAGE_TYPE,
            {f"{PROPERTIES_HEADER_NAME}.ApplicationTag": lambda old: old & 0x7FFFFFFF},
            is_transactional,
        ),
    ),
    (
        "receiver-tag-1-delivered-as-0",
        "MQMQ-2.2.19.3-16",
        "The receiver delivers ApplicationTag 0xFFFFFFFF as 0.",
        change_received_message(
            {f"{PROPERTIES_HEADER_NAME}.ApplicationTag": 0},
            lambda p: p.MessagePropertiesHeader.ApplicationTag == 0xFFFFFFFF,
        ),
    ),
    (
        "admin-ack-allocation-body-size-0",
        "MQMQ-2.2.19.3-19",
        "A queue manager sends an OrderAck whose AllocationBodySize is 0.",
        set_field_value(USER_MESSAGE_TYPE, f"{PROPERTIES_HEADER_NAME}.AllocationBodySize", 0, is_order_ack),
    ),
    (
        "admin-ack-privacy-level-2",
        "MQMQ-2.2.19.3-20",
        "A queue manager sends an administration acknowledgment whose PrivacyLevel is 2.",
        set_field_value(USER_MESSAGE_TYPE, f"{PROPERTIES_HEADER_NAME}.PrivacyLevel", 2, is_admin_ack),
    ),
    (
        "receiver-extension-of-message-without-body-lost",
        "MQMQ-2.2.19.3-D05",
        "The receiver drops the extension of a message that has no body.",
        change_received_message(
            {"BaseHeader.PacketSize": 0, f"{PROPERTIES_HEADER_NAME}.ExtensionData": b""},
            lambda p: not p.MessagePropertiesHeader.MessageBody,
        ),
    ),
    (
        "receiver-body-of-message-without-label-reversed",
        "MQMQ-2.2.19.3-D05",
        "The receiver delivers only the first 255 bytes of an extension.",
        change_received_message(
            {"BaseHeader.PacketSize": 0, f"{PROPERTIES_HEADER_NAME}.ExtensionData": lambda old: old[:255]},
            lambda p: True,
        ),
    ),
    (
        "receiver-label-of-249-characters-cut",
        "MQMQ-2.2.19.3-09",
        "The receiver delivers at most 248 characters of a label.",
        change_received_message(
            {"BaseHeader.PacketSize": 0, f"{PROPERTIES_HEADER_NAME}.Label": lambda old: old[:248] if old else old},
            lambda p: True,
        ),
    ),
    (
        "receiver-body-of-one-byte-lost",
        "MQMQ-2.2.19.3-17",
        "The receiver delivers a body of one byte as an empty body.",
        change_received_message(
            {"BaseHeader.PacketSize": 0, f"{PROPERTIES_HEADER_NAME}.MessageBody": b""},
            lambda p: len(p.MessagePropertiesHeader.MessageBody) == 1,
        ),
    ),
    (
        "receiver-body-type-of-transactional-message-0",
        "MQMQ-2.2.19.3-D01",
        "The receiver replaces the BodyType of a transactional message with 0.",
        change_received_message({f"{PROPERTIES_HEADER_NAME}.BodyType": 0}, is_transactional),
    ),
    (
        "report-encryption-algorithm-0x1234",
        "MQMQ-2.2.19.3-24",
        "A queue manager sends a report whose EncryptionAlgorithm is 0x1234.",
        set_field_value(USER_MESSAGE_TYPE, f"{PROPERTIES_HEADER_NAME}.EncryptionAlgorithm", 0x1234, is_report),
    ),
    (
        "report-class-3",
        "MQMQ-2.2.19.3-12",
        "A queue manager sends a report whose MessageClass is 0x0003.",
        set_field_value(USER_MESSAGE_TYPE, f"{PROPERTIES_HEADER_NAME}.MessageClass", 3, is_report),
    ),
):
    add(f"narrow-{_name}", _rule, _says, _install, blind=True)


@fault("receiver-sends-no-nack-for-message-purged-before-abort", breaks="MQMQ-2.2.19.3-04", blind=True)
class ReceiverSendsNoNackForMessagePurgedBeforeAbort(MessagePositions):
    """If a message is purged after a transaction received it, the receiver sends no negative acknowledgment when the
    abort of the transaction removes the message from its queue.
    """

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is MessagePositionState.PURGE_PENDING:
            message = position.MessageReference
            wanted = message.AcknowledgementsRequested & ~MessagePropertiesHeader.flags(NR=1)
            position.MessageReference = replace(message, AcknowledgementsRequested=wanted)
        super().unlock_message(position)


@fault("receiver-purged-transactional-message-not-acknowledged", breaks="MQMQ-2.2.19.3-04")
class ReceiverPurgedTransactionalMessageNotAcknowledged(AdminAcks):
    """The receiver sends no negative acknowledgment for a transactional message that is purged."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not MessageClass.MQMSG_CLASS_NACK_Q_PURGED or message.TransactionIdentifier is None:
            super().acknowledge_receive(message, reason, now)


@fault("receiver-sends-no-nack-for-message-expired-in-queue", breaks="MQMQ-2.2.19.3-04", blind=True)
class ReceiverSendsNoNackForMessageExpiredInQueue(AdminAcks):
    """The receiver sends no negative acknowledgment for a message whose TimeToBeReceived expires in its queue."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is not MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            super().send(message, message_class, now)


@fault("receiver-sends-no-nack-for-message-of-deleted-queue", breaks="MQMQ-2.2.19.3-04", blind=True)
class ReceiverSendsNoNackForMessageOfDeletedQueue(AdminAcks):
    """The receiver sends no negative acknowledgment for a message whose queue is deleted."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is not MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            super().send(message, message_class, now)


_BASE_HEADER_SIZE = 16


_PRIVACY_LEVEL_FIELD = "MessagePropertiesHeader.PrivacyLevel"


_DEFINED_PRIVACY_LEVEL_BY_UNDEFINED_LEVEL = {2: 3, 4: 5}


def _append_padding_without_extension(packet: UserMessagePacket) -> bytes:
    """Return the bytes of a message whose padding was computed as if there was no extension."""
    data = packet.build()
    properties = packet.MessagePropertiesHeader
    before = (packet.UserHeader, packet.TransactionHeader, packet.SecurityHeader)
    size = len(properties.build())
    end = _BASE_HEADER_SIZE + sum(len(header.build()) for header in before if header is not None) + size
    padding = -(2 * properties.LabelLength + properties.MessageSize + properties.ExtensionSize) % 4
    wrong = -(2 * properties.LabelLength + properties.MessageSize) % 4
    return add_to_packet_size(wrong - padding)(data[: end - padding] + bytes(wrong) + data[end:])


@fault("receiver-nack-not-sent-for-journaled-message", breaks="MQMQ-2.2.19.3-03", blind=True)
class ReceiverNackNotSentForJournaledMessage(MessageAdmission):
    """The receiver sends no negative acknowledgment for a refused message that also requests negative journaling."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if not packet.UserHeader.JN:
            super().refuse_message(session, packet, message_class, now)
        elif packet.TransactionHeader is not None:
            self.qm.final_acks.send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-decrypts-message-with-undefined-privacy-level", breaks="MQMQ-2.2.19.3-21", blind=True)
class ReceiverDecryptsMessageWithUndefinedPrivacyLevel(SecurityOnReceipt):
    """The receiver compares PrivacyLevel with ranges, so it decrypts a message with level 2 as Enhanced and with level
    4 as Advanced.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        if level in _DEFINED_PRIVACY_LEVEL_BY_UNDEFINED_LEVEL:
            packet = set_fields(packet, {_PRIVACY_LEVEL_FIELD: _DEFINED_PRIVACY_LEVEL_BY_UNDEFINED_LEVEL[level]})
        return super().decrypt_body(packet, now)


add(
    "sender-padding-computed-without-extension",
    "MQMQ-2.2.19.3-34",
    "The sender computes the padding of the MessagePropertiesHeader without the size of the extension.",
    change_packets_of_kind(
        UserMessagePacket,
        _append_padding_without_extension,
        lambda packet: packet.MessagePropertiesHeader.ExtensionSize % 4,
    ),
    blind=True,
)

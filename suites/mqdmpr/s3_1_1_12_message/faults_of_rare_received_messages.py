"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message when a receiver gets a message of a rare kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import FormatError, MessageClass, Packet, SecurityHeader, UserMessagePacket
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.admin_acks import NEGATIVE_ARRIVAL_FLAG, POSITIVE_ARRIVAL_FLAG, AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_arrival import MessageArrival, UnsavedArrival
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessageIDHistoryEntry, MessagePosition, Queue, Session
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.surface.clock import Now


@fault("sender-full-dead-letter-queue-oldest-message-replaced", breaks="MQDMPR-3.1.1.12-25", blind=True)
class SenderFullDeadLetterQueueOldestMessageReplaced(MessagePositions):
    """The sender removes the oldest messages from a full dead-letter queue to make room for an undelivered message."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if queue.QueueType is QueueType.SYSTEM:
            for oldest in list(queue.MessagePositionList):
                if not self.qm.queue_quotas.check_room_for_message(queue, position.MessageReference):
                    break
                queue.MessagePositionList.remove(oldest)
                self.qm.disk.save(build_removal_change([oldest]))
        return super().move_message(position, queue)


@fault("sender-full-transactional-dead-letter-queue-exceeded", breaks="MQDMPR-3.1.1.12-25", blind=True)
class SenderFullTransactionalDeadLetterQueueExceeded(QueueQuotas):
    """The sender puts undelivered transactional messages into a full transactional dead-letter queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        if queue is self.qm.adm.SystemTransactionalDeadletterQueue:
            return EnqueueStatus.NO_ERROR
        return super().check_room_for_message(queue, message)


_UNUSED_ACK_REQUEST_BIT = 0x10


@fault("receiver-unused-ack-request-bit-read-as-arrival-ack-request", breaks="MQDMPR-3.1.1.12-36", blind=True)
class ReceiverUnusedAckRequestBitReadAsArrivalAckRequest(AdminAcks):
    """The receiver acknowledges the arrival of a message whose AcknowledgementsRequested has only an unused bit set."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if message.AcknowledgementsRequested & _UNUSED_ACK_REQUEST_BIT:
            self.send(message, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, now)
        else:
            super().acknowledge_arrival(position, now)


@fault("receiver-four-requested-acknowledgments-reduced-to-two", breaks="MQDMPR-3.1.1.12-36", blind=True)
class ReceiverFourRequestedAcknowledgmentsReducedToTwo(MessagePositions):
    """If a message requests all four kinds of acknowledgment, the receiver honours only the two requests about its
    arrival.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.AcknowledgementsRequested & 0x0F == 0x0F:
            message = replace(message, AcknowledgementsRequested=POSITIVE_ARRIVAL_FLAG | NEGATIVE_ARRIVAL_FLAG)
        return super().insert_message(queue, message)


@fault("receiver-second-connector-type-of-session-refused", breaks="MQDMPR-3.1.1.12-58", blind=True)
class ReceiverSecondConnectorTypeOfSessionRefused(Identifying):
    """The receiver refuses a message whose ConnectorTypeIdentifier differs from that of an earlier message."""

    known: object = None

    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        connector = packet.UserHeader.ConnectorType if isinstance(packet, UserMessagePacket) else None
        if connector is not None:
            self.known = self.known or connector
            if connector != self.known:
                raise FormatError(
                    "UserHeader.ConnectorType", 0, "a fault", "the value differs from that of an earlier message"
                )


@fault("receiver-final-ack-omitted-for-message-of-deleted-queue", breaks="MQDMPR-3.1.1.12-62", blind=True)
class ReceiverFinalAckOmittedForMessageOfDeletedQueue(FinalAcks):
    """The receiver sends no FinalAck for a message with FinalAckRequired whose queue is deleted."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        journaled = message.PositiveJournalingRequested or message.NegativeJournalingRequested
        if journaled or reason is not MessageClass.MQMSG_CLASS_NACK_Q_DELETED:
            super().send_final_ack_of_message(position, reason, now)


@fault("receiver-final-ack-sent-for-message-requesting-other-acks", breaks="MQDMPR-3.1.1.12-64", blind=True)
class ReceiverFinalAckSentForMessageRequestingOtherAcks(MessageArrival):
    """The receiver sends a FinalAck for a message that requests only other acknowledgments."""

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        position = saving.position
        requested = position.MessageReference.AcknowledgementsRequested
        if saving.accepted_message is not None and position.order_queue is None and requested:
            session, source = saving.receipts_of_sessions[0][0], packet.UserHeader.SourceQueueManager
            position.order_queue = self.qm.order_acks.build_order_queue_name(session, source)
        super().save_message(saving, packet)


@fault("receiver-final-ack-of-purged-message-sent-without-request", breaks="MQDMPR-3.1.1.12-64", blind=True)
class ReceiverFinalAckOfPurgedMessageSentWithoutRequest(FinalAcks):
    """The receiver sends a FinalAck for each purged transactional message, although the message does not require it."""

    def on_message_position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        purged = reason is MessageClass.MQMSG_CLASS_NACK_Q_PURGED and message.TransactionIdentifier is not None
        source = message.Identifier.QueueManagerGuid
        for session in self.qm.sessions.values():
            if purged and position.order_queue is None and session.RemoteQMGuid == source:
                position.order_queue = self.qm.order_acks.build_order_queue_name(session, source)
        super().on_message_position_deleted(position, reason, now)


_LONG_SOAP_ENVELOPE_LENGTH = 1_000


@fault("receiver-long-soap-envelope-refused", breaks="MQDMPR-3.1.1.12-65", blind=True)
class ReceiverLongSoapEnvelopeRefused(Identifying):
    """The receiver refuses a message whose SoapEnvelope has more than 1,000 characters."""

    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        if isinstance(packet, UserMessagePacket) and packet.SoapHeader is not None:
            text = (packet.SoapHeader.Header or "") + (packet.SoapHeader.Body or "")
            if len(text) > _LONG_SOAP_ENVELOPE_LENGTH:
                raise FormatError("SoapHeader", 0, "a fault", "the envelope is too long")


@fault("receiver-repeated-soap-envelope-discarded", breaks="MQDMPR-3.1.1.12-65", blind=True)
class ReceiverRepeatedSoapEnvelopeDiscarded(MessageHistory):
    """The receiver discards a message whose SoapEnvelope equals that of an earlier message, as a duplicate."""

    entry_by_soap_envelope: dict[object, MessageIDHistoryEntry]

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return super().find_duplicate(packet) or self._get_entry_by_soap_envelope().get(packet.SoapHeader)

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        if packet.SoapHeader is not None:
            self._get_entry_by_soap_envelope()[packet.SoapHeader] = entry
        return entry

    def _get_entry_by_soap_envelope(self) -> dict[object, MessageIDHistoryEntry]:
        if not hasattr(self, "entry_by_soap_envelope"):
            self.entry_by_soap_envelope = {}
        return self.entry_by_soap_envelope


@fault("receiver-report-of-sent-message-has-class-normal", breaks="MQDMPR-3.1.1.12-D06", blind=True)
class ReceiverReportOfSentMessageHasClassNormal(OwnMessageSending):
    """The report that a traced message was sent to the next hop has the Class Normal."""

    def send(self, message: Message, now: Now) -> None:
        if message.Class == MessageClass.MQMSG_CLASS_REPORT and "<NEXT HOP>".encode("utf-16-le") in message.Body:
            message = replace(message, Class=MessageClass.MQMSG_CLASS_NORMAL)
        super().send(message, now)


def _send_transactional_report_with_class_normal(
    original: Callable[..., Any], qm: Any, message: Message, next_hop: str | None, now: Now
) -> Callable[..., Any]:
    def send_report_with_class_normal(qm: Any, report: Message, at: Now) -> None:
        original(qm, replace(report, Class=MessageClass.MQMSG_CLASS_NORMAL), at)

    return original if message.TransactionIdentifier is None else send_report_with_class_normal


add(
    "receiver-report-of-transactional-message-class-normal",
    "MQDMPR-3.1.1.12-D06",
    "The report about a traced transactional message has the Class Normal.",
    replace_method_during(
        MessageTracing.send_report, OwnMessageSending.send, _send_transactional_report_with_class_normal
    ),
    blind=True,
)


class _OrderAckClassChanger(OrderAcks):
    """Send some order acknowledgments with the class ACK_REACH_QUEUE; a subclass selects these acknowledgments."""

    sent_order_ack_bodies: list[Any]

    def send_transactional_ack(self, name: str, message_class: MessageClass, body: Any, now: Now) -> None:
        if message_class is MessageClass.MQMSG_CLASS_ORDER_ACK:
            if not hasattr(self, "sent_order_ack_bodies"):
                self.sent_order_ack_bodies = []
            if self.is_ack_class_changed(body):
                message_class = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
            self.sent_order_ack_bodies.append(body)
        super().send_transactional_ack(name, message_class, body, now)

    def is_ack_class_changed(self, body: Any) -> bool:
        raise NotImplementedError


@fault("receiver-repeated-order-ack-has-class-ack-reach-queue", breaks="MQDMPR-3.1.1.12-D08", blind=True)
class ReceiverRepeatedOrderAckHasClassAckReachQueue(_OrderAckClassChanger):
    """When the receiver repeats an OrderAck, the repeated packet has the class AckReachQueue."""

    def is_ack_class_changed(self, body: Any) -> bool:
        return body in self.sent_order_ack_bodies


@fault("receiver-order-ack-of-later-sequence-has-class-ack-reach-queue", breaks="MQDMPR-3.1.1.12-D08", blind=True)
class ReceiverOrderAckOfLaterSequenceHasClassAckReachQueue(_OrderAckClassChanger):
    """The OrderAcks of the receiver for each sequence after the first have the class AckReachQueue."""

    def is_ack_class_changed(self, body: Any) -> bool:
        return bool(self.sent_order_ack_bodies) and self.sent_order_ack_bodies[0].TxSequenceID != body.TxSequenceID


class _RefusalAckClassChanger(MessageAdmission):
    """Refuse some messages with a wrong acknowledgment class; a subclass selects these messages."""

    right_ack_class: MessageClass
    wrong_ack_class: MessageClass

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        changed = message_class is self.right_ack_class and self.is_ack_class_changed(packet)
        super().refuse_message(session, packet, self.wrong_ack_class if changed else message_class, now)

    def is_ack_class_changed(self, packet: UserMessagePacket) -> bool:
        raise NotImplementedError


@fault("receiver-ack-of-message-far-above-hop-limit-has-timeout-class", breaks="MQDMPR-3.1.1.12-D15", blind=True)
class ReceiverAckOfMessageFarAboveHopLimitHasTimeoutClass(_RefusalAckClassChanger):
    """The acknowledgment of a message whose hop count is above the limit has the class NackReachQueueTimeout."""

    right_ack_class = MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED
    wrong_ack_class = MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT

    def is_ack_class_changed(self, packet: UserMessagePacket) -> bool:
        return packet.UserHeader.RC > 0x1D


@fault(
    "receiver-ack-of-transactional-message-above-hop-limit-has-timeout-class", breaks="MQDMPR-3.1.1.12-D15", blind=True
)
class ReceiverAckOfTransactionalMessageAboveHopLimitHasTimeoutClass(_RefusalAckClassChanger):
    """The acknowledgment of a transactional message that exceeded its hop limit has the class NackReachQueueTimeout."""

    right_ack_class = MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED
    wrong_ack_class = MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT

    def is_ack_class_changed(self, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None


@fault(
    "receiver-missing-provider-of-transactional-message-acked-as-bad-encryption",
    breaks="MQDMPR-3.1.1.12-D21",
    blind=True,
)
class ReceiverMissingProviderOfTransactionalMessageAckedAsBadEncryption(_RefusalAckClassChanger):
    """The acknowledgment of a transactional message with a missing provider has the class NackBadEncryption."""

    right_ack_class = MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
    wrong_ack_class = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION

    def is_ack_class_changed(self, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None


@fault(
    "receiver-missing-provider-of-recoverable-message-acked-as-bad-encryption", breaks="MQDMPR-3.1.1.12-D21", blind=True
)
class ReceiverMissingProviderOfRecoverableMessageAckedAsBadEncryption(_RefusalAckClassChanger):
    """The acknowledgment of a recoverable message with a missing provider has the class NackBadEncryption."""

    right_ack_class = MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
    wrong_ack_class = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION

    def is_ack_class_changed(self, packet: UserMessagePacket) -> bool:
        return bool(packet.UserHeader.DM)


@fault("receiver-second-rejection-in-transaction-acknowledged-as-received", breaks="MQDMPR-3.1.1.12-D27", blind=True)
class ReceiverSecondRejectionInTransactionAcknowledgedAsReceived(TransactionOperations):
    """The second message that an application rejects in a transaction is acknowledged as received."""

    def reject(self, transaction: Transaction, queue: Queue, lookup_identifier: int) -> None:
        rejected = [
            operation
            for operation in transaction.TransactionalOperationCollection
            if operation.DequeueReason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED
        ]
        super().reject(transaction, queue, lookup_identifier)
        for operation in transaction.TransactionalOperationCollection if rejected else ():
            if operation.OperationType is OperationType.DEQUEUE and operation not in rejected:
                operation.DequeueReason = MessageClass.MQMSG_CLASS_ACK_RECEIVE


@fault("receiver-final-ack-of-rejected-message-has-timeout-class", breaks="MQDMPR-3.1.1.12-D27", blind=True)
class ReceiverFinalAckOfRejectedMessageHasTimeoutClass(FinalAcks):
    """The FinalAck of a message that an application rejected has the class NackReceiveTimeout."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED:
            reason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        super().send_final_ack_of_message(position, reason, now)


@fault("receiver-security-id-used-as-sender-despite-sender-type-none", breaks="MQDMPR-3.1.1.12-D54", blind=True)
class ReceiverSecurityIdUsedAsSenderDespiteSenderTypeNone(SecurityOnReceipt):
    """The receiver treats the SecurityID of a message with the SenderIdentifierType None as the message's sender."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        security = packet.SecurityHeader
        if security is not None and not security.ST and security.SecurityData.SecurityID:
            flags = security.Flags | SecurityHeader.flags(ST=1)
            packet = replace(packet, SecurityHeader=replace(security, Flags=flags))
        super().authorize_sender(packet, queue)

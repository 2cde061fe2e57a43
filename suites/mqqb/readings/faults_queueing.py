"""Alternative readings of errata about queues, transactions (MS-MQDMPR) and security."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from harness.faults.parts import faulty_only_if, follows_reading_of_erratum
from reference_qm.codec import MessageClass, SecurityHeader, UserMessagePacket
from reference_qm.core.events import MessageDeadlinesChanged
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.model.message import INFINITE_TIMEOUT
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation
from reference_qm.security import ANONYMOUS_SID, EVERYONE_SID, QueueAccess, SignatureType, is_access_granted
from reference_qm.surface.clock import Now


@follows_reading_of_erratum("E83.2")
class MessageWithoutSenderIsAnonymous(SecurityOnReceipt):
    """The receiver treats a message that names no sender, even a message without a SecurityHeader, as a message from
    the anonymous user.
    """

    @faulty_only_if(
        lambda part, session, packet, queue, now: (
            packet.SecurityHeader is None and not _has_everyone_group_write_access(part, queue)
        )
    )
    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        return MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED


def _has_everyone_group_write_access(part: SecurityOnReceipt, queue: Queue) -> bool:
    security = part.qm.security_lookup.find_queue_security(queue)
    return is_access_granted(security, frozenset({ANONYMOUS_SID, EVERYONE_SID}), QueueAccess.MQSEC_WRITE_MESSAGE)


@follows_reading_of_erratum("E105.2")
class QueueManagerQuotaInBytes(QueueQuotas):
    """The queue manager treats QueueManagerQuota as a number of bytes."""

    @faulty_only_if(
        lambda part, queue, message: _get_queue_manager_quota(part) < queue.MessagePositionList.storage.used_bytes
    )
    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        return EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED


def _get_queue_manager_quota(part: QueueQuotas) -> float:
    quota = part.qm.adm.QueueManagerQuota
    return inf if quota == INFINITE_TIMEOUT else quota


@follows_reading_of_erratum("E109.2")
class TimeToBeReceivedBeginsAtArrival(MessageLifetimes):
    """The receiver measures TimeToBeReceived from the arrival of a message."""

    @faulty_only_if(lambda part, position: position.MessageReference.TimeToBeReceived != INFINITE_TIMEOUT)
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        message = position.MessageReference
        life_s = message.TimeToBeReceived
        if position.QueueReference.QueueType is not QueueType.SYSTEM:
            self.qm.to_be_received.add(position, max(message.ArrivalTime, message.SentTime) + life_s)
            self.qm.post_event(MessageDeadlinesChanged())


@follows_reading_of_erratum("E111.2")
class ApplicationDeadLetterQueueOnlyForTransactionalMessages(MessageJournaling):
    """The sender puts only transactional messages into an application's dead-letter queue, and other messages into the
    system's dead-letter queue.
    """

    @faulty_only_if(lambda part, message: message.TransactionIdentifier is None)
    def find_dead_letter_queue(self, message: Message) -> Queue:
        return self.qm.adm.SystemDeadletterQueue


@follows_reading_of_erratum("E117.2")
class MessagesToDirectNamesAreForwarded(MessageRouting):
    """The queue manager forwards messages from any client to the host of a direct name."""

    def is_message_routable(self, packet: UserMessagePacket) -> bool:
        return super().is_message_routable(packet) or packet.UserHeader.DestinationQueue is not None


@follows_reading_of_erratum("E118.2")
class FmAndLmFlagsMarkEndsOfWholeTransaction(TransactionEvents):
    """The sender marks the first and last message of a whole transaction with FM and LM."""

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        sent = [
            operation.MessagePositionReference
            for operation in transaction.TransactionalOperationCollection
            if operation.OperationType is OperationType.ENQUEUE
        ]
        for position in sent:
            position.MessageReference = replace(
                position.MessageReference,
                FirstInTransaction=position is sent[0],
                LastInTransaction=position is sent[-1],
            )


@follows_reading_of_erratum("E119.2")
class MessagePurgedDuringTransactionIsReceived(TransactionEvents):
    """If a message is purged after a transaction received it, the receiver deletes the message when the transaction
    aborts, and acknowledges the message as received.
    """

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        if position.State is MessagePositionState.PURGE_PENDING and operation.DequeueReason is not None:
            self.qm.message_positions.delete_message(position, operation.DequeueReason)
        else:
            super().abort_dequeue(operation, now)


@follows_reading_of_erratum("E81.2")
class SignatureHashCoversAdditionalNullByte(SecurityOnReceipt):
    """The queue manager computes the hash for a signature from the specified values and an additional null byte."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        return super().build_signed_properties(packet, kind) + b"\0"


@follows_reading_of_erratum("E84.2")
class SignatureOfMissingProviderIsVerified(SecurityOnReceipt):
    """The receiver verifies a signature of an unavailable cryptographic provider in the same way as any
    other signature.
    """

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        if security is None or security.DE:
            return super().authenticate_packet(packet)
        default = SecurityHeader.flags(DE=1)
        plain = replace(packet, SecurityHeader=replace(security, Flags=security.Flags | default))
        verified = super().authenticate_packet(plain)
        assert verified.SecurityHeader is not None
        flags = verified.SecurityHeader.Flags & ~default
        return replace(verified, SecurityHeader=replace(verified.SecurityHeader, Flags=flags))

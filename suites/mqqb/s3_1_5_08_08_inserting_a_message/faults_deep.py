"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue that only special cases show: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.model.states import DeliveryGuarantee, SessionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now

OVER_QUOTA = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA


@fault("receiver-over-quota-nack-once-per-sender", breaks="MQQB-3.1.5.8.8-07", blind=True)
class OncePerSender(AdminAcks):
    """The receiver sends Q_EXCEED_QUOTA only for the first message of a sender that exceeds a quota."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[object] = set()

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is OVER_QUOTA:
            if message.Identifier.QueueManagerGuid in self.done:
                return
            self.done.add(message.Identifier.QueueManagerGuid)
        super().acknowledge_failure(message, message_class, now)


@fault("receiver-over-quota-nack-of-recoverable-message-omitted", breaks="MQQB-3.1.5.8.8-07", blind=True)
class NotForRecoverable(AdminAcks):
    """The receiver sends no Q_EXCEED_QUOTA for a recoverable message without a transaction."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        if not (message_class is OVER_QUOTA and recoverable and message.TransactionIdentifier is None):
            super().acknowledge_failure(message, message_class, now)


@fault("receiver-over-quota-recoverable-message-not-journaled", breaks="MQQB-3.1.5.8.8-10", blind=True)
class RecoverableNotJournaled(Admission):
    """The receiver does not put a recoverable message with JN that exceeds the quota into the dead-letter queue."""

    def journal_refused(self, message: Message) -> None:
        if message.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE:
            super().journal_refused(message)


@fault("receiver-over-quota-transactional-message-journaled", breaks="MQQB-3.1.5.8.8-10", blind=True)
class TransactionalJournaled(Admission):
    """The receiver puts a transactional message with JN that exceeds the quota into the receiver's own dead-letter
    queue.
    """

    def journal_refused(self, message: Message) -> None:
        if message.NegativeJournalingRequested and message.TransactionIdentifier is not None:
            self.qm.journaling.keep_message(self.qm.adm.SystemTransactionalDeadletterQueue, message)
        super().journal_refused(message)


@fault("receiver-over-quota-final-ack-only-with-na", breaks="MQQB-3.1.5.8.8-11", blind=True)
class FinalAckOnlyWithNa(FinalAcks):
    """The receiver sends the FinalAck of a message that exceeds the quota only if NA is set."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is not OVER_QUOTA or packet.MessagePropertiesHeader.NA:
            super().refuse_transactional(session, packet, message_class, now)


@fault("receiver-quota-of-queue-manager-closes-every-session", breaks="MQQB-3.1.5.8.8-15", blind=True)
class ClosesEverySession(Admission):
    """The receiver closes all sessions when a message exceeds the quota of the queue manager."""

    def has_room(self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now) -> bool:
        status = self.qm.quotas.check(queue, message)
        room = super().has_room(session, packet, queue, message, now)
        if status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED:
            for other in list(self.qm.sessions.values()):
                if other.SessionState is SessionState.OPEN:
                    self.qm.closing.close(other, "a fault", now)
        return room


@fault("receiver-quota-of-queue-manager-nack-sent", breaks="MQQB-3.1.5.8.8-16", blind=True)
class NackSent(Admission):
    """The receiver sends Q_EXCEED_QUOTA for a message with NA that exceeds the quota of the queue manager."""

    def has_room(self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now) -> bool:
        if self.qm.quotas.check(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED:
            self.qm.admin_acks.acknowledge_failure(message, OVER_QUOTA, now)
        return super().has_room(session, packet, queue, message, now)


@fault("receiver-over-quota-message-reported", breaks="MQQB-3.1.5.8.8-13", blind=True)
class OverQuotaReported(Admission):
    """The receiver reports the arrival of a traced message that exceeds the quota of its queue."""

    def has_room(self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now) -> bool:
        if self.qm.quotas.check(queue, message) is EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            self.qm.tracing.trace_received(message, now)
        return super().has_room(session, packet, queue, message, now)


@fault("receiver-quota-checked-without-size-of-message", breaks="MQQB-3.1.5.8.8-06", blind=True)
class WithoutItsSize(Admission):
    """When the receiver checks the quota of a queue, it counts only the messages that are already in the queue, not the
    new message.
    """

    def has_room(self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now) -> bool:
        status = self.qm.quotas.check(queue, message)
        if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED and queue.TotalBytes < 1024 * queue.Quota:
            return True
        return super().has_room(session, packet, queue, message, now)


@fault("receiver-priority-of-recoverable-message-3", breaks="MQQB-3.1.5.8.8-05", blind=True)
class PriorityOfRecoverable(Admission):
    """The receiver puts a recoverable message into its queue with the priority 3."""

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        if admitted is None or admitted.TransactionHeader is not None or not admitted.UserHeader.DM:
            return admitted
        return replace(admitted, BaseHeader=replace(admitted.BaseHeader, Flags=admitted.BaseHeader.Flags & ~7 | 3))

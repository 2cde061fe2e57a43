"""Faults that break rules of MS-MQSO 5.1.1.3 for some messages only."""

from __future__ import annotations

from harness.faults.carried_acks import CarrierAwareSessionAcks
from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus


@fault("queue-manager-over-quota-recoverable-message-stored", breaks="MQSO-5.1.1.3-01")
class QueueManagerOverQuotaRecoverableMessageStored(QueueQuotas):
    """The queue manager stores a recoverable message although the quota of the queue is exceeded."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        exceeded = status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR if exceeded and recoverable else status


@fault("queue-manager-second-over-quota-message-stored", breaks="MQSO-5.1.1.3-01")
class QueueManagerSecondOverQuotaMessageStored(QueueQuotas):
    """The queue manager stores a second message that exceeds the quota of a queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        if status is EnqueueStatus.NO_ERROR:
            return status
        refused: set[Queue] = self.__dict__.setdefault("refused", set())
        again = queue in refused
        refused.add(queue)
        return EnqueueStatus.NO_ERROR if again else status


@fault("queue-manager-over-quota-message-in-transaction-stored", breaks="MQSO-5.1.1.3-01")
class QueueManagerOverQuotaMessageInTransactionStored(QueueQuotas):
    """The queue manager stores a transactional message although the quota of the queue is exceeded."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        return EnqueueStatus.NO_ERROR if queue.Transactional else status


@fault("sender-keeps-recoverable-message-acked-in-user-message", breaks="MQSO-5.1.1.3-D04", blind=True)
class SenderKeepsRecoverableMessageAckedInUserMessage(CarrierAwareSessionAcks):
    """The sender keeps recoverable messages whose acknowledgment arrives in the SessionHeader of a UserMessage."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        if self.is_carried_by_session_ack_packet:
            super().delete_acknowledged_recoverable_messages(session, header)


@fault("sender-keeps-transactional-message-acked-in-user-message", breaks="MQSO-5.1.1.3-D04")
class SenderKeepsTransactionalMessageAckedInUserMessage(CarrierAwareSessionAcks):
    """After an OrderAck, the sender keeps transactional messages whose session acknowledgment arrived in the
    SessionHeader of a UserMessage.
    """

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        super().mark_acknowledged_messages(session, header)
        for position in session.OutgoingMessageTable:
            if position.TxSequenceNumber and not self.is_carried_by_session_ack_packet:
                position.ReceivedSessionAck = False

"""Faults in the source journal and in the order queue to which the receiver sends acknowledgments."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import PrivateName
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import MessagePosition, Session


@fault("sender-journaled-transactional-message-discarded", breaks="MQSO-5.1.1.2-D12", blind=True)
class SenderJournaledTransactionalMessageDiscarded(MessageJournaling):
    """The source journal stores no transactional messages."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().journal_delivered_message(position)
        else:
            self.qm.disk.save(build_removal_change([position]))


@fault("receiver-order-ack-for-direct-session-sent-to-queue-without-dollar", breaks="MQSO-5.1.1.2-D14", blind=True)
class ReceiverOrderAckForDirectSessionSentToQueueWithoutDollar(OrderAcks):
    """The receiver sends order acknowledgments of a direct session to the queue order_queue."""

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        return super().build_order_queue_name(session, source).replace("order_queue$", "order_queue")


@fault("receiver-order-ack-for-private-name-sent-to-other-private-queue", breaks="MQSO-5.1.1.2-D14", blind=True)
class ReceiverOrderAckForPrivateNameSentToOtherPrivateQueue(OrderAcks):
    """If a message is addressed to a private format name, the receiver sends its order acknowledgment to a private
    queue that is not the order queue.
    """

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        if session.DirectFormatSession:
            return super().build_order_queue_name(session, source)
        return str(PrivateName(source, ORDER_QUEUE_NUMBER + 1))

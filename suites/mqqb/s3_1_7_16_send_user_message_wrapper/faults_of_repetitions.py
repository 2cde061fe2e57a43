"""Faults of a sender that sends unacknowledged messages twice on a session. Spec: MS-MQQB 3.1.7.16."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.events import SessionMaySend
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import stop_counting_as_unacknowledged
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-unacked-messages-sent-again-at-urgent-message", breaks="MQQB-3.1.7.16-06", blind=True)
class SenderUnackedMessagesSentAgainAtUrgentMessage(MessageSending):
    """When a message with a higher priority becomes available, the sender dispatches the unacknowledged messages of
    lower priority again.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        for one in session.OutgoingMessageTable.awaiting_ack:
            if one.priority < position.priority:
                stop_counting_as_unacknowledged(session, one)
                session.OutgoingMessageTable.mark_for_resending(one)
                self.qm.dispatch_collection.add(session, one)
        super().add_message_to_session_table(session, position, now)


@fault("sender-later-transactional-messages-sent-again-at-order-ack", breaks="MQQB-3.1.7.16-06", blind=True)
class SenderLaterTransactionalMessagesSentAgainAtOrderAck(OrderAcks):
    """When an OrderAck for an earlier message arrives, the sender dispatches the later transactional messages again."""

    def delete_order_acknowledged_messages(self, session: Session, body: OrderAckBody) -> None:
        super().delete_order_acknowledged_messages(session, body)
        for one in session.OutgoingMessageTable.awaiting_ack:
            if one.TxSequenceNumber > body.TxSequenceNumber:
                stop_counting_as_unacknowledged(session, one)
                session.OutgoingMessageTable.mark_for_resending(one)
                self.qm.dispatch_collection.add(session, one)
        self.qm.post_event(SessionMaySend(session))

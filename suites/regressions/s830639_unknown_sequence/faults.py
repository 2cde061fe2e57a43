"""Faults that reproduce the bug that Microsoft article KB830639 describes."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("regression-830639-order-ack-of-unknown-sequence-processed", breaks="REGRESSIONS-830639-01")
class Regression830639OrderAckOfUnknownSequenceProcessed(OrderAcks):
    """The sender processes the OrderAck of an unknown sequence as an OrderAck of the current sequence."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        for queue in self.qm.adm.OutgoingQueues.values():
            sender = queue.session
            if sender.TxOutgoingSequence is not None:
                self.note_last_message_in_order(sender, body, now)
                self.delete_order_acknowledged_messages(sender, body)
                self.update_outgoing_transfer_info(sender)


@fault("regression-830639-order-ack-of-unknown-sequence-ends-service", breaks="REGRESSIONS-830639-01")
class Regression830639OrderAckOfUnknownSequenceEndsService(OrderAcks):
    """When the OrderAck of an unknown sequence arrives, the process of the queue manager ends."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        sent = [queue.session.OutgoingTxSequenceID for queue in self.qm.adm.OutgoingQueues.values()]
        if body.TxSequenceID in sent:
            super().receive(session, packet, now)
            return
        for each in list(self.qm.sessions.values()):
            self.qm.session_closing.close(each, "access violation", now)

"""Faults that break rules of MS-MQQB 3.1.5.1.1 Identifying Packet Type."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.queue_names import names_order_queue
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("sender-ack-reach-queue-class-taken-as-final-ack", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderAckReachQueueClassTakenAsFinalAck(Receiving):
    """The sender takes a message of MessageClass ACK_REACH_QUEUE as a FinalAck, if it has the other properties of a
    FinalAck.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        if (
            properties.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
            and properties.Label == ORDER_ACK_LABEL
            and packet.BaseHeader.Flags == 0
            and names_order_queue(packet)
        ):
            receipt.done = True
            self.qm.final_acks.receive(session, packet, now)
        else:
            super().take_message(session, packet, receipt, now)

"""Blind violations of round five: MS-MQQB 3.1.5.1.1 Packet Identification."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.queue_names import is_for_order_queue
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("sender-ack-reach-queue-with-final-ack-body-taken-as-final-ack", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderAckReachQueueWithFinalAckBodyTakenAsFinalAck(Receiving):
    """The sender treats a message of class ACK_REACH_QUEUE as a FinalAck if its other fields are those of a
    FinalAck.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        is_arrival = properties.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
        has_headers = packet.BaseHeader.Flags == 0 and is_for_order_queue(packet)
        if is_arrival and has_headers and properties.Label == ORDER_ACK_LABEL:
            receipt.done = True
            self.qm.final_acks.receive(session, packet, now)
            return
        super().take_message(session, packet, receipt, now)

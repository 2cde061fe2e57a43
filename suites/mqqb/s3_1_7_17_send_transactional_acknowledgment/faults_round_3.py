"""Faults that break rules of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FinalAckBody, MessageClass, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-of-refused-packet-source-guid-remote-qm", breaks="MQQB-3.1.7.17-D09", blind=True)
class ReceiverFinalAckOfRefusedPacketSourceGuidRemoteQm(FinalAcks):
    """The receiver sets SourceGUID in the FinalAck of a refused packet to RemoteQMGuid of the session, which is the
    router if the packet was routed.
    """

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header, user = packet.TransactionHeader, packet.UserHeader
        assert header is not None
        numbers = (header.TxSequenceNumber, header.PreviousTxSequenceNumber)
        body = FinalAckBody(header.TxSequenceID, *numbers, session.RemoteQMGuid, user.MessageID)
        name = self.qm.order_acks.name_order_queue(session, user.SourceQueueManager)
        self.qm.order_acks.send_transactional_ack(name, message_class, body, now)

"""Faults that break rules of MS-MQQB 2.2.5 FinalAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserHeader, UserMessagePacket
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, Session

JN_FLAG = UserHeader.flags(JN=1)


@fault("receiver-final-ack-user-header-jn-on-own-session", breaks="MQQB-2.2.5-04", blind=True)
class ReceiverFinalAckUserHeaderJnOnOwnSession(Sending):
    """The receiver sets JN in UserHeader.Flags of a FinalAck that it sends on a session of its own because the session
    of the acknowledged message is closed.
    """

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        queue, message = position.MessagePosition.QueueReference, position.MessagePosition.MessageReference
        assert isinstance(queue, OutgoingQueue)
        apart = session.initiator and queue.DestinationFormatName == message.DestinationQueueFormatName
        if apart and is_final_ack(packet):
            header = packet.UserHeader
            packet = replace(packet, UserHeader=replace(header, Flags=header.Flags | JN_FLAG))
        super().transmit(session, position, packet)

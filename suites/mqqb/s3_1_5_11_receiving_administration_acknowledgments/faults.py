"""Faults that break rules of MS-MQQB 3.1.5.11 Receiving Administration Acknowledgments."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatError, MessageClass, Packet, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying


@fault("receiver-ack-reach-queue-packet-refused-as-malformed", breaks="MQQB-3.1.5.11-01")
class ReceiverAckReachQueuePacketRefusedAsMalformed(Identifying):
    """The receiver treats a user message of class ACK_REACH_QUEUE as malformed."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        arrived = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
        if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.MessageClass == arrived:
            raise FormatError("MessagePropertiesHeader.MessageClass", 0, "a fault", "the value is ACK_REACH_QUEUE")
        return packet

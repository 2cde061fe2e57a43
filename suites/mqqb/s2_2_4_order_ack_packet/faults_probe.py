"""Faults of MS-MQQB 2.2.4 of the probe, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.order_acks import is_order_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session

_MESSAGE_SIZE_OFFSET = 32
"""The offset of MessageSize in MessagePropertiesHeader."""


@fault("receiver-order-ack-message-size-0", breaks="MQQB-2.2.4-08", blind=True)
class OrderAckWithoutSize(Sending):
    """The receiver sends OrderAcks with MessageSize 0, although the body of 36 bytes follows."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if not is_order_ack(packet):
            super().transmit(session, position, packet)
            return
        data = packet.build()
        at = len(data) - len(packet.MessagePropertiesHeader.build()) + _MESSAGE_SIZE_OFFSET
        self.qm.connecting.send(session, data[:at] + bytes(4) + data[at + 4 :])
        position.Transmitted = True

"""Faults of the fifth round that break rules of MS-MQMQ 2.2.19.2 UserHeader."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

_UPPER_X3_BIT = 0b10


@fault(
    "receiver-user-header-upper-x3-bit-cancels-arrival-acknowledgment",
    breaks="MQMQ-2.2.19.2-26",
    blind=True,
)
class ReceiverUserHeaderUpperX3BitCancelsArrivalAcknowledgment(MessageReceiving):
    """The receiver disregards the request for a positive arrival acknowledgment in a message whose UserHeader.Flags has
    the upper of the two bits X3 set.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if packet.UserHeader.X3 & _UPPER_X3_BIT:
            requested = packet.MessagePropertiesHeader.Flags & ~MessagePropertiesHeader.flags(PA=1)
            packet = set_fields(packet, {"MessagePropertiesHeader.Flags": requested})
        super().put_received_message_into_queue(session, packet, receipt, now)

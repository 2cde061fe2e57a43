"""Faults of MS-MQQB 2.2.4 OrderAck Packet, 2.2.4.1 OrderAck Body."""

from __future__ import annotations

from harness.faults.fields import field_is
from harness.faults.ordering_acks import WRONG
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

RESERVED_AT = 16
NORMAL = 0

for _name, _rule, _does in (
    ("ordering-order-base-flags", "MQQB-2.2.4-01", "has priority 3"),
    ("ordering-order-without-properties", "MQQB-2.2.4-02", "has MP clear"),
    ("ordering-order-journaled", "MQQB-2.2.4-03", "has JN set"),
    ("ordering-order-private-queue", "MQQB-2.2.4-04", "is for private queue 5"),
    ("ordering-order-by-name", "MQQB-2.2.4-05", "names the computer, not its address"),
    ("ordering-order-elsewhere", "MQQB-2.2.4-06", "names another address"),
    ("ordering-order-label", "MQQB-2.2.4-07", "has another label"),
    ("ordering-order-body-size", "MQQB-2.2.4-08", "has 40 bytes of body"),
    ("ordering-order-flags", "MQQB-2.2.4-09", "asks for an acknowledgment"),
    ("ordering-order-body-type", "MQQB-2.2.4-11", "has BodyType VT_UI1"),
    ("ordering-order-body", ("MQQB-2.2.4-12", "MQQB-2.2.4.1-D01"), "has numbers before the sequence"),
    ("ordering-order-body-short", "MQQB-2.2.4.1-D01", "has no reserved bytes"),
    ("ordering-order-number-signed", "MQQB-2.2.4.1-D02", "has a TxSequenceNumber of at most 31 bits"),
    ("ordering-order-number-zero", "MQQB-2.2.4.1-D02", "has a TxSequenceNumber of 0"),
    ("ordering-order-other-sequence", "MQQB-2.2.4.1-01", "has a TxSequenceID that is one more"),
    ("ordering-order-other-number", "MQQB-2.2.4.1-02", "has a TxSequenceNumber that is one more"),
    ("ordering-order-other-previous", "MQQB-2.2.4.1-03", "has a TxPreviousSequenceNumber that is one more"),
):
    add(_name, _rule, f"An order acknowledgment {_does}.", WRONG[_does](is_order_ack))

add(
    "ordering-order-class",
    "MQQB-2.2.4-10",
    "An OrderAck has the class NORMAL.",
    field_is(UserMessagePacket, "MessagePropertiesHeader.MessageClass", NORMAL, is_order_ack),
)


@fault("ordering-order-reserved-refused", breaks="MQQB-2.2.4.1-04")
class ReservedRefused(OrderAcks):
    """Reserved has to be zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not any(packet.MessagePropertiesHeader.MessageBody[RESERVED_AT:]):
            super().receive(session, packet, now)

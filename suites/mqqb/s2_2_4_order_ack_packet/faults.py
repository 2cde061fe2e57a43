"""Faults of MS-MQQB 2.2.4 OrderAck Packet, 2.2.4.1 OrderAck Body."""

from __future__ import annotations

from harness.faults.fields import field_is
from harness.faults.ordering_acks import WRONG_HEADER_FAULTS
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

RESERVED_OFFSET = 16
NORMAL_CLASS = 0

for _name, _rule, _does in (
    ("receiver-order-ack-priority-3", "MQQB-2.2.4-01", "has priority 3"),
    ("receiver-order-ack-mp-clear", "MQQB-2.2.4-02", "has MP clear"),
    ("receiver-order-ack-jn-set", "MQQB-2.2.4-03", "has JN set"),
    ("receiver-order-ack-sent-to-private-queue-5", "MQQB-2.2.4-04", "has private queue 5 as destination"),
    (
        "receiver-order-ack-destination-computer-name",
        "MQQB-2.2.4-05",
        "has a computer name instead of an address in its destination",
    ),
    ("receiver-order-ack-destination-other-address", "MQQB-2.2.4-06", "has a wrong address in its destination"),
    ("receiver-order-ack-label-wrong", "MQQB-2.2.4-07", "has a wrong label"),
    ("receiver-order-ack-body-40-bytes", "MQQB-2.2.4-08", "has a body of 40 bytes"),
    ("receiver-order-ack-requests-acknowledgment", "MQQB-2.2.4-09", "requests an acknowledgment"),
    ("receiver-order-ack-body-type-vt-ui1", "MQQB-2.2.4-11", "has BodyType VT_UI1"),
    (
        "receiver-order-ack-numbers-before-sequence-id",
        ("MQQB-2.2.4-12", "MQQB-2.2.4.1-D01"),
        "has its sequence numbers before TxSequenceID",
    ),
    ("receiver-order-ack-reserved-missing", "MQQB-2.2.4.1-D01", "has no reserved bytes"),
    (
        "receiver-order-ack-sequence-number-31-bits",
        "MQQB-2.2.4.1-D02",
        "has a TxSequenceNumber without its highest bit",
    ),
    ("receiver-order-ack-sequence-number-zero", "MQQB-2.2.4.1-D02", "has a TxSequenceNumber of 0"),
    ("receiver-order-ack-sequence-id-one-more", "MQQB-2.2.4.1-01", "has a TxSequenceID that is one too high"),
    ("receiver-order-ack-sequence-number-one-more", "MQQB-2.2.4.1-02", "has a TxSequenceNumber that is one too high"),
    (
        "receiver-order-ack-previous-number-one-more",
        "MQQB-2.2.4.1-03",
        "has a TxPreviousSequenceNumber that is one too high",
    ),
):
    add(_name, _rule, f"The receiver's OrderAck {_does}.", WRONG_HEADER_FAULTS[_does](is_order_ack))

add(
    "receiver-order-ack-class-normal",
    "MQQB-2.2.4-10",
    "The receiver sends an OrderAck with the MessageClass NORMAL.",
    field_is(UserMessagePacket, "MessagePropertiesHeader.MessageClass", NORMAL_CLASS, is_order_ack),
)


@fault("sender-order-ack-reserved-not-zero-ignored", breaks="MQQB-2.2.4.1-04")
class SenderOrderAckReservedNotZeroIgnored(OrderAcks):
    """The sender ignores an OrderAck whose Reserved field is not zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not any(packet.MessagePropertiesHeader.MessageBody[RESERVED_OFFSET:]):
            super().receive(session, packet, now)

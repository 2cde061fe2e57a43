"""Faults of the fifth round that break rules of MS-MQMQ 2.5 Digital signatures."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.signed_packets import change_signed_packet
from reference_qm.codec import MessagePropertiesHeader
from reference_qm.security import SignatureType

_POSITIVE_ACK_FLAGS = MessagePropertiesHeader.flags(PA=1, PR=1)

add(
    "sender-msmq-3-signature-without-negative-ack-bits",
    "MQMQ-2.5.3-14",
    "The sender computes an MSMQ 3.0 signature as if the two bits for negative acknowledgments were clear.",
    change_signed_packet(SignatureType.SIG30, {"MessagePropertiesHeader.Flags": lambda old: old & _POSITIVE_ACK_FLAGS}),
    blind=True,
)

add(
    "sender-msmq-2-signature-without-negative-ack-bits",
    "MQMQ-2.5.2-12",
    "The sender computes an MSMQ 2.0 signature as if the two bits for negative acknowledgments were clear.",
    change_signed_packet(SignatureType.SIG20, {"MessagePropertiesHeader.Flags": lambda old: old & _POSITIVE_ACK_FLAGS}),
)

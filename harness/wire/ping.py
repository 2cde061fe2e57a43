"""Define the PingPacket. A ping request asks whether a session would be accepted."""

from __future__ import annotations

from scapy.fields import XLEIntField, XLEShortField

from harness.wire.fields import GuidField
from harness.wire.layer import Layer
from harness.wire.wire_error import WireError
from harness.wire.words import WordOfBitFields

SIGNATURE = 0x5548


# [MS-MQQB] sect 2.2.7
class PingPacket(Layer):
    """A ping request or response: 24 bytes. The document does not number the unused bits, so X2 to X15 are named by
    their bit numbers.
    """

    Flags = WordOfBitFields(2, "RC RF X2 X3 X4 X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15")

    fields_desc = (
        *Flags.fields,
        XLEShortField("Signature", SIGNATURE),
        XLEIntField("Cookie", 0),
        GuidField("QMGuid"),
    )

    def post_dissect(self, s: bytes) -> bytes:
        """Raise WireError for a datagram with a wrong signature, because such a datagram is not a ping."""
        if self.Signature != SIGNATURE:
            raise WireError(f"PingPacket.Signature is {self.Signature:#06x} instead of {SIGNATURE:#06x}")
        return s

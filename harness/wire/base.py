"""Define the BaseHeader, with which every packet on a connection begins."""

from __future__ import annotations

from scapy.fields import XByteField, XLEIntField
from scapy.packet import Packet

from harness.wire.internal import InternalHeader
from harness.wire.layer import Layer
from harness.wire.session import SessionHeader
from harness.wire.trace import DebugHeader
from harness.wire.transaction import TransactionHeader
from harness.wire.user import UserHeader
from harness.wire.wire_error import WireError
from harness.wire.words import WordOfBitFields

PACKET_VERSION = 0x10
BASE_HEADER_SIGNATURE = 0x524F494C
PACKET_SIZE_OFFSET = 8
"""The offset of PacketSize in the packet (bytes)."""
MIN_PACKET_BYTES, MAX_PACKET_BYTES = 16, 0x0040_0000
SESSION_HEADER_SIZE = 16
SESSION_ACK_SIZES = (0x24, 0x14)
"""The two possible values of PacketSize in a SessionAck: the size with the SessionHeader, which real Windows sends
(frame 8), and the size without the SessionHeader, which MS-MQQB 2.2.6 specifies.
"""


def _is_user_message(layer: Packet) -> bool:
    return isinstance(layer.payload, UserHeader)


# [MS-MQMQ] sect 2.2.19.1
class BaseHeader(Layer):
    """The version, priority, flags, size and TimeToReachQueue (s) of a packet: 16 bytes."""

    Flags = WordOfBitFields(
        2,
        "PR:3 IN SH DH X9 X8 TR X6 X5 X4 X3 X2 X1 X0",
        PR=lambda layer: 0 if layer.carries(TransactionHeader) else 3,
        IN=lambda layer: isinstance(layer.payload, InternalHeader),
        SH=lambda layer: layer.carries(SessionHeader),
        DH=lambda layer: layer.carries(DebugHeader),
    )

    fields_desc = (
        XByteField("VersionNumber", PACKET_VERSION),
        XByteField("Reserved", 0),
        *Flags.fields,
        XLEIntField("Signature", BASE_HEADER_SIGNATURE),
        XLEIntField("PacketSize", None),
        XLEIntField("TimeToReachQueue", 0xFFFF_FFFF),
    )

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        """Insert PacketSize unless it is given. PacketSize is the size of the packet in bytes; for a UserMessage,
        it excludes the SessionHeader.
        """
        if self.PacketSize is None:
            size = len(pkt) + len(pay)
            size -= SESSION_HEADER_SIZE if _is_user_message(self) and self.carries(SessionHeader) else 0
            pkt = pkt[:PACKET_SIZE_OFFSET] + size.to_bytes(4, "little") + pkt[PACKET_SIZE_OFFSET + 4 :]
        return pkt + pay

    def next_layer(self) -> type[Layer]:
        return InternalHeader if self.IN else UserHeader

    def after(self, layer: type[Layer]) -> None:
        return None

    def is_rest_of_packet_empty(self, rest: bytes) -> bool:
        return len(rest) == (SESSION_HEADER_SIZE if self.SH else 0)

    def post_dissect(self, s: bytes) -> bytes:
        """Raise WireError for bytes that are not a packet: the version or the signature is wrong, or the size
        differs from PacketSize.
        """
        if self.VersionNumber != PACKET_VERSION:
            raise WireError(f"BaseHeader.VersionNumber is {self.VersionNumber:#04x} instead of {PACKET_VERSION:#04x}")
        if self.Signature != BASE_HEADER_SIGNATURE:
            raise WireError(f"BaseHeader.Signature is {self.Signature:#010x} instead of {BASE_HEADER_SIGNATURE:#010x}")
        if not MIN_PACKET_BYTES <= self.PacketSize <= MAX_PACKET_BYTES:
            raise WireError(
                f"BaseHeader.PacketSize: {self.PacketSize} is outside {MIN_PACKET_BYTES} to {MAX_PACKET_BYTES}"
            )
        size = self._wire_size()
        if size != len(self.original):
            raise WireError(
                f"BaseHeader.PacketSize: {self.PacketSize} announces {size} bytes, but there are {len(self.original)}"
            )
        return s

    def _wire_size(self) -> int:
        """Compute, from PacketSize and the flags, the number of bytes that the packet has on the wire."""
        if not self.SH:
            return self.PacketSize
        if not self.IN:
            return self.PacketSize + SESSION_HEADER_SIZE
        if self.PacketSize not in SESSION_ACK_SIZES:
            raise WireError(
                f"BaseHeader.PacketSize: {self.PacketSize} is not the size of a SessionAck, although IN and SH are set"
            )
        return max(SESSION_ACK_SIZES)

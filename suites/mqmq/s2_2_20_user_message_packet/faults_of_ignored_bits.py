"""Faults in the flags IN and SH of BaseHeader, and in the unused bits of the DebugHeader (MS-MQMQ 2.2.20)."""

from __future__ import annotations

from harness.faults.fields import set_bits
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying

add(
    "router-message-internal-flag-set-in-forwarded-message",
    "MQMQ-2.2.20-02",
    "The router sets BaseHeader.Flags.IN in a forwarded message.",
    set_bits(UserMessagePacket, "BaseHeader.IN", lambda packet: bool(packet.UserHeader.RC)),
    blind=True,
)


def _make_fault_refusing_debug_flag_bit(bit: int, *, with_queue: bool) -> Install:
    """Return an installer of a fault that refuses a packet in which a bit of DebugHeader.Flags is set, and whose header
    names a queue (``with_queue``) or no queue.
    """

    class DebugBitRefused(Identifying):
        def check_field_values(self, packet: Packet) -> None:
            header = packet.DebugHeader if isinstance(packet, UserMessagePacket) else None
            if header is not None and header.Flags >> bit & 1 and (header.QueueIdentifier is not None) is with_queue:
                raise FormatError("DebugHeader.Flags", 0, "a fault", f"X{bit} is set")
            super().check_field_values(packet)

    return replace_part(DebugBitRefused)


add(
    "receiver-debug-header-unused-bit-x2-refused-without-queue",
    "MQMQ-2.2.20.8-02",
    "The receiver refuses a message in which X2 of the DebugHeader is set and QT is 0.",
    _make_fault_refusing_debug_flag_bit(2, with_queue=False),
    blind=True,
)
add(
    "receiver-debug-header-unused-bit-x7-refused-without-queue",
    "MQMQ-2.2.20.8-07",
    "The receiver refuses a message in which X7 of the DebugHeader is set and QT is 0.",
    _make_fault_refusing_debug_flag_bit(7, with_queue=False),
    blind=True,
)
add(
    "receiver-debug-header-unused-bit-x8-refused-without-queue",
    "MQMQ-2.2.20.8-08",
    "The receiver refuses a message in which X8 of the DebugHeader is set and QT is 0.",
    _make_fault_refusing_debug_flag_bit(8, with_queue=False),
    blind=True,
)
add(
    "receiver-debug-header-unused-bit-x12-refused-without-queue",
    "MQMQ-2.2.20.8-12",
    "The receiver refuses a message in which X12 of the DebugHeader is set and QT is 0.",
    _make_fault_refusing_debug_flag_bit(12, with_queue=False),
    blind=True,
)
add(
    "receiver-debug-header-unused-bit-x15-refused-without-queue",
    "MQMQ-2.2.20.8-15",
    "The receiver refuses a message in which X15 of the DebugHeader is set and QT is 0.",
    _make_fault_refusing_debug_flag_bit(15, with_queue=False),
    blind=True,
)

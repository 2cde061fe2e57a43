"""Faults in the presence of a SessionHeader in packets with SH set: MQMQ-2.2.19.1-07."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import packets
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import FormatError, Packet, SessionAckPacket, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying

_SIZE = 16
"""The size of a SessionHeader in bytes."""
_ACK_NUMBER_END, _RECOVERABLE_ACK_END, _FLAGS_END, _NUMBER_END, _RECOVERABLE_END, _WINDOW_END = 2, 4, 8, 10, 12, 14
"""The offsets at which the fields of a SessionHeader end."""


def _exchange_fields(first: int, second: int, end: int) -> Callable[[bytes], bytes]:
    """Return a function that exchanges the bytes from ``first`` to ``second`` and from ``second`` to ``end``."""
    return lambda data: data[:first] + data[second:end] + data[first:second] + data[end:]


def _change_header(kind: type[Any], change: Callable[[bytes], bytes]) -> Install:
    """Change the bytes of the SessionHeader in packets of one kind."""

    def change_packet(packet: Any) -> bytes:
        header = packet.SessionHeader.build()
        return correct_packet_size(packet.build().replace(header, change(header)))

    return packets(kind, change_packet, has_header("SessionHeader"))


for _name, _rules, _says, _install in (
    (
        "message-with-session-header-bit-and-no-session-header",
        ("MQMQ-2.2.19.1-07",),
        "The sender's UserMessage with a SessionHeader has SH set, but contains no SessionHeader.",
        _change_header(UserMessagePacket, lambda header: b""),
    ),
    (
        "session-ack-with-half-session-header",
        ("MQMQ-2.2.19.1-07",),
        "The receiver's SessionAck has SH set, but contains only the first 8 bytes of a SessionHeader.",
        _change_header(SessionAckPacket, lambda header: header[:_FLAGS_END]),
    ),
    (
        "session-ack-with-session-header-in-zeros",
        ("MQMQ-2.2.19.1-07",),
        "The receiver's SessionAck has SH set, and contains 4 zeros instead of a SessionHeader.",
        _change_header(SessionAckPacket, lambda header: bytes(4)),
    ),
):
    add(f"queue-manager-{_name}", _rules, _says, _install, blind=True)


@fault("receiver-message-with-session-header-refused", breaks="MQMQ-2.2.19.1-07", blind=True)
class ReceiverMessageWithSessionHeaderRefused(Identifying):
    """The receiver treats a UserMessage with a SessionHeader as malformed."""

    def check_form(self, packet: Packet) -> None:
        if isinstance(packet, UserMessagePacket) and packet.SessionHeader is not None:
            raise FormatError("BaseHeader.SH", 0, "a fault", "the bit is set")
        super().check_form(packet)

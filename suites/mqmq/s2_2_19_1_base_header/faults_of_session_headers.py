"""Faults in the presence of a SessionHeader in packets with SH set: MQMQ-2.2.19.1-07."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import change_session_header
from reference_qm.codec import FormatError, Packet, SessionAckPacket, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying

_FLAGS_END_OFFSET = 8
"""The offset at which RecoverableMsgAckFlags of a SessionHeader ends."""


for _name, _broken_rules, _says, _install in (
    (
        "message-with-session-header-bit-and-no-session-header",
        ("MQMQ-2.2.19.1-07",),
        "The sender's UserMessage with a SessionHeader has SH set, but contains no SessionHeader.",
        change_session_header(UserMessagePacket, lambda header: b""),
    ),
    (
        "session-ack-with-half-session-header",
        ("MQMQ-2.2.19.1-07",),
        "The receiver's SessionAck has SH set, but contains only the first 8 bytes of a SessionHeader.",
        change_session_header(SessionAckPacket, lambda header: header[:_FLAGS_END_OFFSET]),
    ),
    (
        "session-ack-with-session-header-in-zeros",
        ("MQMQ-2.2.19.1-07",),
        "The receiver's SessionAck has SH set, and contains 4 zeros instead of a SessionHeader.",
        change_session_header(SessionAckPacket, lambda header: bytes(4)),
    ),
):
    add(f"queue-manager-{_name}", _broken_rules, _says, _install, blind=True)


@fault("receiver-message-with-session-header-refused", breaks="MQMQ-2.2.19.1-07", blind=True)
class ReceiverMessageWithSessionHeaderRefused(Identifying):
    """The receiver treats a UserMessage with a SessionHeader as malformed."""

    def check_field_values(self, packet: Packet) -> None:
        if isinstance(packet, UserMessagePacket) and packet.SessionHeader is not None:
            raise FormatError("BaseHeader.SH", 0, "a fault", "the bit is set")
        super().check_field_values(packet)

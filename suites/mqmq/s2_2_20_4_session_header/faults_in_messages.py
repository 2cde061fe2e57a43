"""Faults in the SessionHeader of messages while the SessionAcks are correct, and faults in SessionAcks while the
messages are correct (MS-MQMQ 2.2.20.4).
"""

from __future__ import annotations

from harness.faults.fields import change_number_in_field, set_field_value
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket, UserMessagePacket

add(
    "sender-window-size-in-message-0x20",
    ("MQMQ-2.2.20.4-12", "MQQB-3.1.7.1.3-15", "MQQB-3.1.7.1.3-22"),
    "The sender sets WindowSize in the SessionHeader of a message to 0x20.",
    set_field_value(UserMessagePacket, "SessionHeader.WindowSize", 0x20),
    blind=True,
)
add(
    "receiver-window-size-reduced-by-received-messages",
    ("MQMQ-2.2.20.4-12", "MQQB-3.1.6.4-09"),
    "The receiver sets WindowSize in a SessionAck for its second and later messages to 0x3F.",
    set_field_value(
        SessionAckPacket, "SessionHeader.WindowSize", 0x3F, lambda packet: packet.SessionHeader.AckSequenceNumber > 1
    ),
    blind=True,
)
add(
    "sender-session-header-in-message-flags-big-endian",
    "MQMQ-2.2.20.4-D01",
    "The sender sends RecoverableMsgAckFlags in the SessionHeader of a message with the high byte first.",
    change_number_in_field(
        UserMessagePacket,
        "SessionHeader.RecoverableMsgAckFlags",
        lambda old: int.from_bytes(old.to_bytes(4, "little"), "big"),
    ),
    blind=True,
)

"""Faults of MS-MQMQ 2.2.19.1 BaseHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import bit_clear, bit_set, field_is, refused_unless_zero, size_wrong
from harness.faults.parts import fault
from harness.faults.primitives import packets
from harness.faults.registry import add
from harness.faults.sent_messages import carries, resized
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    SessionAckPacket,
    SessionHeader,
    UserMessagePacket,
)
from reference_qm.core.protocol.order_acks import is_final_ack, is_order_ack
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.surface.clock import Now

PARAMETERS, ACK, MESSAGE = ConnectionParametersPacket, SessionAckPacket, UserMessagePacket
SAME_PRIORITY = 3
HOUR_S = 3600
SESSION_HEADER_SIZE = len(SessionHeader().build())


for _name, _rule, _path in (
    ("header-base-reserved-refused", "MQMQ-2.2.19.1-02", "BaseHeader.Reserved"),
    ("header-base-flag-x9-refused", "MQMQ-2.2.19.1-10", "BaseHeader.X9"),
    ("header-base-flag-x8-refused", "MQMQ-2.2.19.1-11", "BaseHeader.X8"),
    ("header-base-flag-x6-refused", "MQMQ-2.2.19.1-14", "BaseHeader.X6"),
    ("header-base-flag-x5-refused", "MQMQ-2.2.19.1-15", "BaseHeader.X5"),
    ("header-base-flag-x4-refused", "MQMQ-2.2.19.1-16", "BaseHeader.X4"),
    ("header-base-flag-x3-refused", "MQMQ-2.2.19.1-17", "BaseHeader.X3"),
    ("header-base-flag-x2-refused", "MQMQ-2.2.19.1-18", "BaseHeader.X2"),
    ("header-base-flag-x1-refused", "MQMQ-2.2.19.1-19", "BaseHeader.X1"),
    ("header-base-flag-x0-refused", "MQMQ-2.2.19.1-20", "BaseHeader.X0"),
):
    add(_name, _rule, f"A packet whose {_path} is not zero is refused.", refused_unless_zero(MESSAGE, _path))

for _name, _rule, _kind, _path in (
    ("header-base-flag-x9-sent", "MQMQ-2.2.19.1-10", ACK, "BaseHeader.X9"),
    ("header-base-flag-x8-sent", "MQMQ-2.2.19.1-11", PARAMETERS, "BaseHeader.X8"),
    ("header-base-flag-x6-sent", "MQMQ-2.2.19.1-14", MESSAGE, "BaseHeader.X6"),
    ("header-base-flag-x5-sent", "MQMQ-2.2.19.1-15", EstablishConnectionPacket, "BaseHeader.X5"),
    ("header-base-flag-x4-sent", "MQMQ-2.2.19.1-16", ACK, "BaseHeader.X4"),
    ("header-base-flag-x3-sent", "MQMQ-2.2.19.1-17", MESSAGE, "BaseHeader.X3"),
    ("header-base-flag-x2-sent", "MQMQ-2.2.19.1-18", PARAMETERS, "BaseHeader.X2"),
    ("header-base-flag-x1-sent", "MQMQ-2.2.19.1-19", EstablishConnectionPacket, "BaseHeader.X1"),
    ("header-base-flag-x0-sent", "MQMQ-2.2.19.1-20", MESSAGE, "BaseHeader.X0"),
):
    add(_name, _rule, f"{_path} is set in a packet that is sent.", bit_set(_kind, _path))


def _without_session_header(packet: SessionAckPacket) -> bytes:
    return resized(packet.build()[:-SESSION_HEADER_SIZE])


for _name, _rules, _says, _install in (
    (
        "header-base-version",
        ("MQMQ-2.2.19.1-01",),
        "VersionNumber is 0x11.",
        field_is(ACK, "BaseHeader.VersionNumber", 0x11),
    ),
    (
        "message-transaction-priority",
        ("MQMQ-2.2.19.1-04",),
        "A transactional message has priority 3.",
        field_is(MESSAGE, "BaseHeader.PR", 3, carries("TransactionHeader")),
    ),
    (
        "ordering-order-internal",
        ("MQMQ-2.2.19.1-06",),
        "IN is set in an order acknowledgment.",
        bit_set(MESSAGE, "BaseHeader.IN", is_order_ack),
    ),
    (
        "ordering-final-internal",
        ("MQMQ-2.2.19.1-06",),
        "IN is set in a final acknowledgment.",
        bit_set(MESSAGE, "BaseHeader.IN", is_final_ack),
    ),
    (
        "header-session-ack-without-header",
        ("MQMQ-2.2.19.1-07",),
        "A SessionAck has SH set but no SessionHeader.",
        packets(ACK, _without_session_header),
    ),
    (
        "header-session-ack-debug-flag",
        ("MQMQ-2.2.19.1-08",),
        "A SessionAck has DH set.",
        bit_set(ACK, "BaseHeader.DH"),
    ),
    (
        "header-message-debug-flag",
        ("MQMQ-2.2.19.1-09", "MQMQ-2.2.20-06"),
        "A message has DH set but no DebugHeader.",
        bit_set(MESSAGE, "BaseHeader.DH"),
    ),
    (
        "handed-traced-without-tr",
        ("MQMQ-2.2.19.1-12",),
        "TR is not set in a message that is traced.",
        bit_clear(MESSAGE, "BaseHeader.TR"),
    ),
    (
        "header-message-traced-without-debug-header",
        ("MQMQ-2.2.19.1-13",),
        "A message has TR set and DH clear.",
        bit_set(MESSAGE, "BaseHeader.TR"),
    ),
    (
        "header-base-signature",
        ("MQMQ-2.2.19.1-21", "MQQB-2.1.1-01"),
        "Signature begins with another letter.",
        field_is(ACK, "BaseHeader.Signature", b"MIOR"),
    ),
    (
        "header-base-packet-size",
        ("MQMQ-2.2.19.1-22",),
        "PacketSize of a ConnectionParameters counts 4 bytes too few.",
        size_wrong(PARAMETERS, "BaseHeader.PacketSize", -4),
    ),
    (
        "header-internal-packet-expires",
        ("MQMQ-2.2.19.1-25",),
        "TimeToReachQueue of a SessionAck is an hour.",
        field_is(ACK, "BaseHeader.TimeToReachQueue", HOUR_S),
    ),
):
    add(_name, _rules, _says, _install)


@fault("header-priority-ignored", breaks="MQMQ-2.2.19.1-03")
class PriorityIgnored(Positions):
    """Messages lie in the queue as they came."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=SAME_PRIORITY))


@fault("header-expiry-ignored", breaks=("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24"))
class ExpiryIgnored(Sending):
    """No message ever expires."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


BROKEN_ELSEWHERE = {
    "MQMQ-2.2.19.1-05": ("header-establish-in-clear",),
}
"""Faults of other sections that break rules of this one."""

"""Faults of MS-MQMQ 2.2.19.1 that affect only one kind of packet, one role or one value."""

from __future__ import annotations

from typing import Any

from harness.faults.fields import bit_clear, bit_set, field_is, off_by
from harness.faults.parts import replace_part
from harness.faults.received_messages import change_received
from harness.faults.registry import Install, add
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    Packet,
    SessionAckPacket,
    UserMessagePacket,
)
from reference_qm.core.transfer.identifying import Identifying
from suites.mqmq.steps.kinds_of_messages import has_lists, is_admin_ack, is_order_ack, is_report

MESSAGE, ACK = UserMessagePacket, SessionAckPacket
ESTABLISHING, PARAMETERS = EstablishConnectionPacket, ConnectionParametersPacket


def refuse(kind: type[Packet], bad: Any) -> Install:
    """Treat packets of one kind as malformed if they meet a condition."""

    class Refusing(Identifying):
        def check_form(self, packet: Packet) -> None:
            if isinstance(packet, kind) and bad(packet):
                raise FormatError("BaseHeader", 0, "a fault", "is refused")
            super().check_form(packet)

    return replace_part(Refusing)


def is_traced_recoverable(packet: Any) -> bool:
    """Return whether a message is recoverable, not transactional, and traced."""
    traced = packet.DebugHeader is not None and packet.TransactionHeader is None
    return bool(traced and packet.UserHeader.DM)


for _name, _rule, _says, _install in (
    (
        "report-version-number-0x11",
        "MQMQ-2.2.19.1-01",
        "A queue manager sends a report with VersionNumber 0x11.",
        field_is(MESSAGE, "BaseHeader.VersionNumber", 0x11, is_report),
    ),
    (
        "admin-ack-version-number-0x20",
        "MQMQ-2.2.19.1-01",
        "A queue manager sends an administration acknowledgment with VersionNumber 0x20.",
        field_is(MESSAGE, "BaseHeader.VersionNumber", 0x20, is_admin_ack),
    ),
    (
        "queue-manager-session-ack-reserved-refused",
        "MQMQ-2.2.19.1-02",
        "A queue manager closes the session on a SessionAck whose BaseHeader.Reserved is not 0.",
        refuse(ACK, lambda p: p.BaseHeader.Reserved),
    ),
    (
        "acceptor-establish-connection-reserved-refused",
        "MQMQ-2.2.19.1-02",
        "The acceptor refuses an EstablishConnection request whose BaseHeader.Reserved is not 0.",
        refuse(ESTABLISHING, lambda p: p.BaseHeader.Reserved),
    ),
    (
        "receiver-priority-4-treated-as-3",
        "MQMQ-2.2.19.1-03",
        "The receiver treats messages of priority 4 as messages of priority 3 in a queue.",
        change_received({"BaseHeader.Flags": lambda old: old & ~7 | 3}, lambda p: p.BaseHeader.PR == 4),
    ),
    (
        "sender-transactional-message-to-several-queues-priority-3",
        "MQMQ-2.2.19.1-04",
        "The sender sets priority 3 in a transactional message to several queues.",
        field_is(MESSAGE, "BaseHeader.PR", 3, lambda p: p.TransactionHeader is not None and has_lists(p)),
    ),
    (
        "connection-parameters-dh-set",
        "MQMQ-2.2.19.1-08",
        "A queue manager sends a ConnectionParameters packet with DH set.",
        bit_set(PARAMETERS, "BaseHeader.DH"),
    ),
    (
        "establish-connection-dh-set",
        "MQMQ-2.2.19.1-08",
        "A queue manager sends an EstablishConnection packet with DH set.",
        bit_set(ESTABLISHING, "BaseHeader.DH"),
    ),
    (
        "order-ack-base-header-x9-set",
        "MQMQ-2.2.19.1-10",
        "A queue manager sends an OrderAck with bit X9 of BaseHeader.Flags set.",
        bit_set(MESSAGE, "BaseHeader.X9", is_order_ack),
    ),
    (
        "report-base-header-x8-set",
        "MQMQ-2.2.19.1-11",
        "A queue manager sends a report with bit X8 of BaseHeader.Flags set.",
        bit_set(MESSAGE, "BaseHeader.X8", is_report),
    ),
    (
        "establish-connection-base-header-x6-set",
        "MQMQ-2.2.19.1-14",
        "A queue manager sends an EstablishConnection packet with bit X6 of BaseHeader.Flags set.",
        bit_set(ESTABLISHING, "BaseHeader.X6"),
    ),
    (
        "queue-manager-session-ack-x5-refused",
        "MQMQ-2.2.19.1-15",
        "A queue manager closes the session on a SessionAck with bit X5 of BaseHeader.Flags set.",
        refuse(ACK, lambda p: p.BaseHeader.X5),
    ),
    (
        "acceptor-establish-connection-x3-refused",
        "MQMQ-2.2.19.1-17",
        "The acceptor refuses an EstablishConnection request with bit X3 of BaseHeader.Flags set.",
        refuse(ESTABLISHING, lambda p: p.BaseHeader.X3),
    ),
    (
        "acceptor-connection-parameters-x1-refused",
        "MQMQ-2.2.19.1-19",
        "The acceptor refuses a ConnectionParameters request with bit X1 of BaseHeader.Flags set.",
        refuse(PARAMETERS, lambda p: p.BaseHeader.X1),
    ),
    (
        "receiver-signed-message-x0-refused",
        "MQMQ-2.2.19.1-20",
        "The receiver refuses a transactional message with bit X0 of BaseHeader.Flags set.",
        refuse(MESSAGE, lambda p: p.BaseHeader.X0 and p.TransactionHeader is not None),
    ),
    (
        "establish-connection-signature-wrong",
        "MQMQ-2.2.19.1-21",
        "A queue manager sends an EstablishConnection packet whose Signature is 0x524F494D.",
        field_is(ESTABLISHING, "BaseHeader.Signature", b"LIOS"),
    ),
    (
        "order-ack-signature-wrong",
        "MQMQ-2.2.19.1-21",
        "A queue manager sends an OrderAck whose Signature is 0x524F494D.",
        field_is(MESSAGE, "BaseHeader.Signature", b"LIOS", is_order_ack),
    ),
    (
        "sender-message-to-several-queues-packet-size-4-bytes-short",
        "MQMQ-2.2.19.1-22",
        "A queue manager sends to several queues a message whose PacketSize is 4 bytes too small.",
        off_by(MESSAGE, "BaseHeader.PacketSize", -4, has_lists),
    ),
    (
        "admin-ack-packet-size-4-bytes-large",
        "MQMQ-2.2.19.1-22",
        "A queue manager sends an administration acknowledgment whose PacketSize is 4 bytes too large.",
        off_by(MESSAGE, "BaseHeader.PacketSize", 4, is_admin_ack),
    ),
    (
        "establish-connection-time-to-reach-queue-0",
        "MQMQ-2.2.19.1-25",
        "A queue manager sends an EstablishConnection packet whose TimeToReachQueue is 0.",
        field_is(ESTABLISHING, "BaseHeader.TimeToReachQueue", 0),
    ),
    (
        "connection-parameters-time-to-reach-queue-0x7fffffff",
        "MQMQ-2.2.19.1-25",
        "A queue manager sends a ConnectionParameters packet whose TimeToReachQueue is 0x7FFFFFFF.",
        field_is(PARAMETERS, "BaseHeader.TimeToReachQueue", 0x7FFFFFFF),
    ),
    (
        "sender-priority-7-sent-as-6",
        "MQMQ-2.2.19.1-D02",
        "The sender sends a message of priority 7 with priority 6.",
        field_is(MESSAGE, "BaseHeader.PR", 6, lambda p: p.BaseHeader.PR == 7),
    ),
    (
        "sender-traced-recoverable-message-tr-clear",
        "MQMQ-2.2.19.1-12",
        "A queue manager sends a traced recoverable message with TR clear.",
        bit_clear(UserMessagePacket, "BaseHeader.TR", is_traced_recoverable),
    ),
):
    add(f"narrow-{_name}", _rule, _says, _install, blind=True)

"""Faults of the BaseHeader that occur only in packets of one kind. Spec: MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from typing import Any

from harness.faults.fields import (
    add_to_field,
    change_number_in_field,
    clear_bits,
    limit_to_sender_role,
    set_bits,
    set_field_value,
)
from harness.faults.primitives import change_packets_of_kind, send_wrong_bytes
from harness.faults.registry import add
from harness.faults.sent_messages import set_packet_size
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    SessionAckPacket,
    UserMessagePacket,
)
from suites.mqmq.steps.faulty_messages import change_sent_packets_starting_with_number, drop_messages, ignore_packets
from suites.mqmq.steps.kinds_of_messages import (
    has_large_body,
    is_admin_ack,
    is_express,
    is_final_ack,
    is_order_ack,
    is_report,
    is_transactional,
)

_UNUSED_BIT_BY_RULE = {
    "MQMQ-2.2.19.1-10": "X9",
    "MQMQ-2.2.19.1-11": "X8",
    "MQMQ-2.2.19.1-14": "X6",
    "MQMQ-2.2.19.1-15": "X5",
    "MQMQ-2.2.19.1-16": "X4",
    "MQMQ-2.2.19.1-17": "X3",
    "MQMQ-2.2.19.1-18": "X2",
    "MQMQ-2.2.19.1-19": "X1",
    "MQMQ-2.2.19.1-20": "X0",
}


def _make_packet_byte_setter(at: int, value: int) -> Any:
    return lambda packet: (data := packet.build())[:at] + bytes([value]) + data[at + 1 :]


def _make_packet_size_increaser(by: int) -> Any:
    return lambda packet: set_packet_size(data := packet.build(), int.from_bytes(data[8:12], "little") + by)


for _rule, _bit in _UNUSED_BIT_BY_RULE.items():
    add(
        f"receiver-base-flag-{_bit.lower()}-in-transactional-message-dropped",
        _rule,
        f"The receiver drops a transactional message with {_bit} set in BaseHeader.Flags.",
        drop_messages(lambda packet, bit=_bit: is_transactional(packet) and getattr(packet.BaseHeader, bit)),  # type: ignore[misc]
    )
    add(
        f"sender-base-flag-{_bit.lower()}-in-session-ack-ignored",
        _rule,
        f"The sender of messages ignores a SessionAck with {_bit} set in BaseHeader.Flags.",
        ignore_packets(SessionAckPacket, lambda packet, bit=_bit: getattr(packet.BaseHeader, bit), initiator=True),  # type: ignore[misc]
    )
    add(
        f"initiator-base-flag-{_bit.lower()}-in-establish-connection-response-ignored",
        _rule,
        f"The initiator ignores an EstablishConnection response with {_bit} set in BaseHeader.Flags.",
        ignore_packets(
            EstablishConnectionPacket,
            lambda packet, bit=_bit: getattr(packet.BaseHeader, bit),  # type: ignore[misc]
            initiator=True,
        ),
    )

for _name, _rule, _says, _when in (
    (
        "x9-with-session-header",
        "MQMQ-2.2.19.1-10",
        "X9 and a SessionHeader",
        lambda packet: packet.BaseHeader.X9 and packet.SessionHeader is not None,
    ),
    (
        "x8-of-traced-message",
        "MQMQ-2.2.19.1-11",
        "X8 and TR",
        lambda packet: packet.BaseHeader.X8 and packet.BaseHeader.TR,
    ),
    ("x6-and-x5", "MQMQ-2.2.19.1-14", "X6 and X5", lambda packet: packet.BaseHeader.X6 and packet.BaseHeader.X5),
    (
        "x5-of-large-message",
        "MQMQ-2.2.19.1-15",
        "X5 and a body of more than 4 KiB",
        lambda packet: packet.BaseHeader.X5 and has_large_body(packet),
    ),
    (
        "x4-of-priority-7",
        "MQMQ-2.2.19.1-16",
        "X4 and priority 7",
        lambda packet: packet.BaseHeader.X4 and packet.BaseHeader.PR == 7,
    ),
    (
        "x3-of-recoverable-message",
        "MQMQ-2.2.19.1-17",
        "X3 and DM",
        lambda packet: packet.BaseHeader.X3 and packet.UserHeader.DM and not is_transactional(packet),
    ),
    (
        "x2-of-acknowledgment",
        "MQMQ-2.2.19.1-18",
        "X2 that is an administration acknowledgment",
        lambda packet: packet.BaseHeader.X2 and is_admin_ack(packet),
    ),
    (
        "x0-with-limited-time",
        "MQMQ-2.2.19.1-20",
        "X0 and a finite TimeToReachQueue",
        lambda packet: packet.BaseHeader.X0 and packet.BaseHeader.TimeToReachQueue != 0xFFFF_FFFF,
    ),
    (
        "reserved-0x80-of-transactional-message",
        "MQMQ-2.2.19.1-02",
        "TH set and BaseHeader.Reserved of 0x80 or more",
        lambda packet: is_transactional(packet) and packet.BaseHeader.Reserved >= 0x80,
    ),
    (
        "reserved-of-final-ack",
        "MQMQ-2.2.19.1-02",
        "a nonzero BaseHeader.Reserved that is a FinalAck",
        lambda packet: is_final_ack(packet) and packet.BaseHeader.Reserved,
    ),
):
    add(
        f"receiver-message-with-base-{_name}-dropped",
        _rule,
        f"The receiver drops a message with {_says}.",
        drop_messages(_when),
    )

for _name, _role, _kind in (
    ("acceptor-connection-parameters", False, ConnectionParametersPacket),
    ("initiator-connection-parameters", True, ConnectionParametersPacket),
    ("initiator-establish-connection", True, EstablishConnectionPacket),
):
    add(
        f"{_name}-with-base-reserved-ignored",
        "MQMQ-2.2.19.1-02",
        f"The {_name.partition('-')[0]} ignores a {_kind.__name__} with a nonzero BaseHeader.Reserved.",
        ignore_packets(_kind, lambda packet: packet.BaseHeader.Reserved, initiator=_role),
    )

_broken_rules: str | tuple[str, ...]
for _name, _broken_rules, _says, _install in (
    (
        "receiver-version-number-0x11-in-final-ack",
        "MQMQ-2.2.19.1-01",
        "The receiver sends a FinalAck with VersionNumber 0x11.",
        change_packets_of_kind(UserMessagePacket, _make_packet_byte_setter(0, 0x11), is_final_ack),
    ),
    (
        "sender-version-number-0x11-in-large-message",
        "MQMQ-2.2.19.1-01",
        "The sender sets VersionNumber to 0x11 in a message with a body of more than 4 KiB.",
        change_packets_of_kind(UserMessagePacket, _make_packet_byte_setter(0, 0x11), has_large_body),
    ),
    (
        "initiator-version-number-0x11-in-connection-parameters",
        "MQMQ-2.2.19.1-01",
        "The initiator sends ConnectionParameters with VersionNumber 0x11.",
        limit_to_sender_role(
            "initiator", change_packets_of_kind(ConnectionParametersPacket, _make_packet_byte_setter(0, 0x11))
        ),
    ),
    (
        "receiver-signature-of-report-reversed",
        "MQMQ-2.2.19.1-21",
        "The receiver sends a report with the bytes of Signature reversed.",
        send_wrong_bytes(UserMessagePacket, lambda data: data[:4] + data[4:8][::-1] + data[8:], is_report),
    ),
    (
        "receiver-signature-of-order-ack-zero",
        "MQMQ-2.2.19.1-21",
        "The receiver sends an OrderAck with Signature 0.",
        send_wrong_bytes(UserMessagePacket, lambda data: data[:4] + bytes(4) + data[8:], is_order_ack),
    ),
    (
        "initiator-signature-of-session-ack-zero",
        "MQMQ-2.2.19.1-21",
        "The initiator sends a SessionAck with Signature 0.",
        limit_to_sender_role(
            "initiator", send_wrong_bytes(SessionAckPacket, lambda data: data[:4] + bytes(4) + data[8:])
        ),
    ),
    (
        "initiator-in-clear-in-connection-parameters",
        "MQMQ-2.2.19.1-05",
        "The initiator sends ConnectionParameters with IN clear.",
        limit_to_sender_role("initiator", clear_bits(ConnectionParametersPacket, "BaseHeader.IN")),
    ),
    (
        "receiver-in-set-in-final-ack-of-received-message",
        "MQMQ-2.2.19.1-06",
        "The receiver sets IN in the FinalAck of a received message.",
        set_bits(
            UserMessagePacket,
            "BaseHeader.IN",
            lambda packet: is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass == 0x4000,
        ),
    ),
    (
        "receiver-in-set-from-second-order-ack-on",
        "MQMQ-2.2.19.1-06",
        "The receiver sends the second and every later OrderAck of a sequence with IN set.",
        change_sent_packets_starting_with_number(
            UserMessagePacket,
            2,
            lambda packet: (data := packet.build())[:2] + bytes([data[2] | 8]) + data[3:],
            lambda packet: 0 if is_order_ack(packet) else None,
        ),
    ),
    (
        "initiator-dh-set-in-session-ack",
        "MQMQ-2.2.19.1-08",
        "The initiator sends a SessionAck with DH set.",
        limit_to_sender_role("initiator", set_bits(SessionAckPacket, "BaseHeader.DH")),
    ),
    (
        "acceptor-dh-set-in-connection-parameters",
        "MQMQ-2.2.19.1-08",
        "The acceptor sends ConnectionParameters with DH set.",
        limit_to_sender_role("acceptor", set_bits(ConnectionParametersPacket, "BaseHeader.DH")),
    ),
    (
        "initiator-dh-set-in-establish-connection",
        "MQMQ-2.2.19.1-08",
        "The initiator sends an EstablishConnection with DH set.",
        limit_to_sender_role("initiator", set_bits(EstablishConnectionPacket, "BaseHeader.DH")),
    ),
    (
        "sender-dh-clear-in-traced-transactional-message",
        "MQMQ-2.2.19.1-09",
        "The sender clears DH in a transactional message with a DebugHeader.",
        clear_bits(
            UserMessagePacket,
            "BaseHeader.DH",
            lambda packet: is_transactional(packet) and packet.DebugHeader is not None,
        ),
    ),
    (
        "receiver-dh-set-in-final-ack",
        "MQMQ-2.2.19.1-09",
        "The receiver sets DH in a FinalAck without a DebugHeader.",
        set_bits(UserMessagePacket, "BaseHeader.DH", is_final_ack),
    ),
    (
        "receiver-dh-set-in-report",
        "MQMQ-2.2.19.1-09",
        "The receiver sets DH in a report without a DebugHeader.",
        set_bits(UserMessagePacket, "BaseHeader.DH", is_report),
    ),
    (
        "sender-tr-clear-in-traced-large-message",
        "MQMQ-2.2.19.1-12",
        "The sender clears TR in a message with a body of more than 4 KiB that is to be traced.",
        clear_bits(UserMessagePacket, "BaseHeader.TR", has_large_body),
    ),
    (
        "sender-tr-clear-from-second-traced-message-on",
        "MQMQ-2.2.19.1-12",
        "The sender clears TR in the second and every later message that is to be traced.",
        change_sent_packets_starting_with_number(
            UserMessagePacket,
            2,
            lambda packet: (data := packet.build())[:3] + bytes([data[3] & ~1]) + data[4:],
            lambda packet: 0 if packet.BaseHeader.TR else None,
        ),
    ),
    (
        "sender-tr-clear-in-traced-express-message",
        "MQMQ-2.2.19.1-12",
        "The sender clears TR in an express message that is to be traced.",
        clear_bits(UserMessagePacket, "BaseHeader.TR", is_express),
    ),
    (
        "sender-packet-size-of-large-message-4-more",
        "MQMQ-2.2.19.1-22",
        "The sender sets PacketSize to 4 too many bytes in a message with a body of more than 4 KiB.",
        change_packets_of_kind(UserMessagePacket, _make_packet_size_increaser(4), has_large_body),
    ),
    (
        "receiver-packet-size-of-final-ack-without-padding",
        "MQMQ-2.2.19.1-22",
        "The receiver sends a FinalAck with a PacketSize that is 4 too low.",
        change_packets_of_kind(UserMessagePacket, _make_packet_size_increaser(-4), is_final_ack),
    ),
    (
        "initiator-packet-size-of-establish-connection-571",
        "MQMQ-2.2.19.1-22",
        "The initiator sends an EstablishConnection with PacketSize 571.",
        limit_to_sender_role("initiator", add_to_field(EstablishConnectionPacket, "BaseHeader.PacketSize", -1)),
    ),
    (
        "sender-packet-size-of-traced-message-without-debug-header",
        "MQMQ-2.2.19.1-22",
        "The sender sends a message with a PacketSize that excludes the DebugHeader.",
        change_packets_of_kind(
            UserMessagePacket, _make_packet_size_increaser(-20), lambda packet: packet.DebugHeader is not None
        ),
    ),
    (
        "initiator-session-ack-time-to-reach-queue-0",
        "MQMQ-2.2.19.1-25",
        "The initiator sends a SessionAck with TimeToReachQueue 0.",
        limit_to_sender_role("initiator", set_field_value(SessionAckPacket, "BaseHeader.TimeToReachQueue", 0)),
    ),
    (
        "acceptor-connection-parameters-time-to-reach-queue-0x7fffffff",
        "MQMQ-2.2.19.1-25",
        "The acceptor sends ConnectionParameters with TimeToReachQueue 0x7FFFFFFF.",
        limit_to_sender_role(
            "acceptor", set_field_value(ConnectionParametersPacket, "BaseHeader.TimeToReachQueue", 0x7FFF_FFFF)
        ),
    ),
    (
        "initiator-connection-parameters-time-to-reach-queue-0",
        "MQMQ-2.2.19.1-25",
        "The initiator sends ConnectionParameters with TimeToReachQueue 0.",
        limit_to_sender_role(
            "initiator", set_field_value(ConnectionParametersPacket, "BaseHeader.TimeToReachQueue", 0)
        ),
    ),
    (
        "initiator-connection-parameters-flags-bytes-interchanged",
        "MQMQ-2.2.19.1-D01",
        "The initiator sends ConnectionParameters with the bytes of BaseHeader.Flags interchanged.",
        limit_to_sender_role(
            "initiator",
            send_wrong_bytes(ConnectionParametersPacket, lambda data: data[:2] + data[2:4][::-1] + data[4:]),
        ),
    ),
    (
        "sender-default-priority-of-large-message-4",
        "MQMQ-2.2.19.1-D02",
        "The sender sets PR to 4 in a message with a body of more than 4 KiB for which no priority is requested.",
        change_number_in_field(
            UserMessagePacket, "BaseHeader.PR", lambda priority: 4 if priority == 3 else priority, has_large_body
        ),
    ),
    (
        "sender-default-priority-of-recoverable-message-0",
        "MQMQ-2.2.19.1-D02",
        "The sender sets PR to 0 in a recoverable message for which no priority is requested.",
        change_number_in_field(
            UserMessagePacket,
            "BaseHeader.PR",
            lambda priority: 0 if priority == 3 else priority,
            lambda packet: packet.UserHeader.DM and not is_transactional(packet),
        ),
    ),
    (
        "sender-priority-of-recoverable-message-at-most-6",
        "MQMQ-2.2.19.1-D02",
        "The sender sets PR to 6 in a recoverable message of priority 7.",
        change_number_in_field(
            UserMessagePacket, "BaseHeader.PR", lambda priority: min(priority, 6), lambda packet: packet.UserHeader.DM
        ),
    ),
    (
        "sender-priority-of-traced-message-3",
        "MQMQ-2.2.19.1-D02",
        "The sender sets PR to 3 in a traced message.",
        set_field_value(UserMessagePacket, "BaseHeader.PR", 3, lambda packet: packet.BaseHeader.TR),
    ),
):
    add(_name, _broken_rules, _says, _install)

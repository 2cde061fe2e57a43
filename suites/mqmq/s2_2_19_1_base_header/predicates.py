"""Check the BaseHeader of every packet. Spec: MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND
from harness.judging.passive import Context, Finding, NotExercised, passive
from reference_qm.codec import BaseHeader
from suites.mqmq.steps.base_bytes import STREAM_PACKET_KINDS, check_packet_size, judge_packet_bytes
from suites.mqmq.steps.message_bytes import BASE_HEADER_NAME
from suites.mqmq.steps.message_parts import make_part_presence_predicate
from suites.mqmq.steps.unused import register_unused_bit_predicates
from suites.mqqb.steps.order_and_final_acks import is_final_ack, is_order_ack, make_flag_predicate

USER_MESSAGE_KIND = "UserMessage"
INTERNAL_PACKET_KINDS = ("EstablishConnection", "ConnectionParameters", "SessionAck")
INFINITE_LIFETIME_S = 0xFFFFFFFF
PACKET_VERSION, PACKET_SIGNATURE = 0x10, bytes.fromhex("4c494f52")
UNUSED_BIT_BY_RULE = {
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
"""The reserved bits of Flags, by rule."""

register_unused_bit_predicates((*INTERNAL_PACKET_KINDS, USER_MESSAGE_KIND), BaseHeader, UNUSED_BIT_BY_RULE)


@passive("MQMQ-2.2.19.1-01", STREAM_PACKET_KINDS, "VersionNumber is 0x10", decisive=True)
@judge_packet_bytes
def check_packet_version(data: bytes) -> Finding:
    """Check that VersionNumber is 0x10."""
    return data[0] == PACKET_VERSION, f"VersionNumber is 0x{data[0]:02X}"


@passive("MQMQ-2.2.19.1-21", STREAM_PACKET_KINDS, "Signature is 4C 49 4F 52", decisive=True)
@judge_packet_bytes
def check_signature(data: bytes) -> Finding:
    """Check that Signature has the specified value."""
    return data[4:8] == PACKET_SIGNATURE, f"Signature is {data[4:8].hex(' ').upper()}"


passive(
    "MQMQ-2.2.19.1-22",
    STREAM_PACKET_KINDS,
    "PacketSize is the size of the packet, without the SessionHeader of a message",
    decisive=True,
)(judge_packet_bytes(check_packet_size))


@passive("MQMQ-2.2.19.1-04", USER_MESSAGE_KIND, "PR is 0 in a message with a TransactionHeader")
def check_transactional_priority_is_0(packet: Any, context: Context) -> Finding:
    """Check that transactional messages have priority 0."""
    if packet.TransactionHeader is None:
        return None
    return packet.BaseHeader.PR == 0, f"PR is {packet.BaseHeader.PR}"


passive("MQMQ-2.2.19.1-06", (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND, "unknown internal"), "IN is 0 in a message")(
    make_flag_predicate(BASE_HEADER_NAME, "IN", 0, is_order_ack, is_final_ack)
)


@passive("MQMQ-2.2.19.1-08", INTERNAL_PACKET_KINDS, "DH is 0 in an internal packet")
def check_dh_bit_is_set_only_in_user_messages(packet: Any, context: Context) -> Finding:
    """Check that DH is 0 in internal packets, which have no DebugHeader."""
    return packet.BaseHeader.DH == 0, f"DH is {packet.BaseHeader.DH}"


@passive("MQMQ-2.2.19.1-13", USER_MESSAGE_KIND, "DH is 1 if TR is 1")
def check_tr_bit_is_set_only_with_dh_bit(packet: Any, context: Context) -> Finding:
    """Check that DH is set if TR is set."""
    base = packet.BaseHeader
    return (bool(base.DH), f"TR is 1, and DH is {base.DH}") if base.TR else NotExercised("TR is 0, so DH can be 0 or 1")


@passive("MQMQ-2.2.19.1-25", INTERNAL_PACKET_KINDS, "TimeToReachQueue of an internal packet is 0xFFFFFFFF")
def check_internal_packets_never_expire(packet: Any, context: Context) -> Finding:
    """Check that TimeToReachQueue of internal packets is infinite."""
    value = packet.BaseHeader.TimeToReachQueue
    return value == INFINITE_LIFETIME_S, f"TimeToReachQueue is 0x{value:08X}"


passive(
    "MQMQ-2.2.19.1-09", (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), "DH is 1 if and only if there is a DebugHeader"
)(make_part_presence_predicate(BASE_HEADER_NAME, "DH", "DebugHeader"))

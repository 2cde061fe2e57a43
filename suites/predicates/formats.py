"""What every packet of a SUT shows of the headers. Spec: MS-MQQB 2.2.1 to 2.2.3.1, MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive

INTERNAL = ("EstablishConnection", "ConnectionParameters", "SessionAck")
FOREVER = 0xFFFFFFFF


@passive("MQQB-2.2.1-02", (*INTERNAL, "unknown internal"), "PT is 1, 2 or 3")
def packet_type(packet: Any, context: Context) -> Finding:
    """MS-MQQB 2.2.1: an internal packet has one of three types."""
    return packet.InternalHeader.PT in (1, 2, 3), f"PT is {packet.InternalHeader.PT}"


@passive("MQQB-2.2.1-04", ("SessionAck",), "CS is 0")
def refusal_only_while_connecting(packet: Any, context: Context) -> Finding:
    """MS-MQQB 2.2.1: CS is for the packets that set a session up."""
    return packet.InternalHeader.CS == 0, f"CS is {packet.InternalHeader.CS}"


@passive("MQQB-2.2.3.1-03", "EstablishConnection", "the low byte of OperatingSystem is 0x10")
@passive("MQQB-2.2.3.1-04", "EstablishConnection", "RE is 0x10")
def reserved_byte_of_operating_system(packet: Any, context: Context) -> Finding:
    """MS-MQQB 2.2.3.1: OperatingSystem is RE, which is 0x10, and bits that may be 0 or 1."""
    value = packet.EstablishConnectionHeader.OperatingSystem
    return value & 0xFF == 0x10, f"OperatingSystem is 0x{value:04X}"


@passive("MQQB-2.2.3.1-15", "EstablishConnection", "every byte of Padding is 0x5A")
def padding_of_a_response(packet: Any, context: Context) -> Finding:
    """MS-MQQB 2.2.3.1: the padding of a response is filled; that of a request holds anything."""
    if context.sut_role != "acceptor":
        return None
    odd = [byte for byte in packet.EstablishConnectionHeader.Padding if byte != 0x5A]
    return not odd, f"{len(odd)} bytes of Padding are not 0x5A"


@passive("MQMQ-2.2.19.1-08", INTERNAL, "DH is 0")
def debug_header_only_in_messages(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.1: only a UserMessage can have a DebugHeader."""
    return packet.BaseHeader.DH == 0, f"DH is {packet.BaseHeader.DH}"


@passive("MQMQ-2.2.19.1-13", "UserMessage", "DH is 1 where TR is 1")
def tracing_needs_a_debug_header(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.1: tracing is asked for with TR and DH."""
    base = packet.BaseHeader
    return bool(not base.TR or base.DH), f"TR is {base.TR}, DH is {base.DH}"


@passive("MQMQ-2.2.19.1-25", INTERNAL, "TimeToReachQueue is 0xFFFFFFFF")
def internal_packets_do_not_expire(packet: Any, context: Context) -> Finding:
    """MS-MQMQ 2.2.19.1: only messages have a time to reach their queue."""
    value = packet.BaseHeader.TimeToReachQueue
    return value == FOREVER, f"TimeToReachQueue is 0x{value:08X}"

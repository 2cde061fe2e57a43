"""Judge the InternalHeader of every internal packet. Spec: MS-MQQB 2.2.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive

INTERNAL_PACKET_KINDS = ("EstablishConnection", "ConnectionParameters", "SessionAck")


@passive("MQQB-2.2.1-02", (*INTERNAL_PACKET_KINDS, "unknown internal"), "PT of the InternalHeader is 1, 2 or 3")
def check_packet_type_of_internal_header(packet: Any, context: Context) -> Finding:
    """Check that PT of an internal packet has one of the three defined values."""
    return packet.InternalHeader.PT in (1, 2, 3), f"PT is {packet.InternalHeader.PT}"


@passive("MQQB-2.2.1-04", ("SessionAck",), "CS is 0 in a SessionAck")
def check_no_refusal_in_session_ack(packet: Any, context: Context) -> Finding:
    """Check that CS of a SessionAck is 0: only a packet that opens a session may refuse the session."""
    return packet.InternalHeader.CS == 0, f"CS is {packet.InternalHeader.CS}"

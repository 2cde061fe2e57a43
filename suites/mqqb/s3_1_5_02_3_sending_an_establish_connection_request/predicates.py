"""Judge the EstablishConnection request. Spec: MS-MQQB 3.1.5.2.3."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from suites.mqqb.steps.internal_packets import (
    ESTABLISH_PACKET_KIND,
    INTERNAL_PACKET_NAMES,
    is_first_packet_of_initiator,
    make_flags_predicate_for_kind,
    make_packet_type_predicate_for_kind,
)
from suites.mqqb.steps.session_opening_packets import (
    ESTABLISH_CONNECTION_PACKET_NAME,
    is_initiator_packet,
    make_no_refusal_predicate,
)

KINDS_OF_INITIATOR_PACKETS = (ESTABLISH_CONNECTION_PACKET_NAME, "ConnectionParameters", "SessionAck", "UserMessage")
"""The kinds of packets of which only the EstablishConnection request may be the first packet of an initiator."""

passive("MQQB-3.1.5.2.3-06", ESTABLISH_CONNECTION_PACKET_NAME, "CS is 0 in an EstablishConnection request")(
    make_no_refusal_predicate(is_initiator_packet)
)


@passive("MQQB-3.1.5.2.3-12", ESTABLISH_CONNECTION_PACKET_NAME, "RE is 0x10 and Reserved is 0x0000 in a request")
def check_reserved_fields_of_request(packet: Any, context: Context) -> Finding:
    """Check that RE and Reserved in a request of the initiator have the values that MS-MQQB 2.2.3.1 prescribes."""
    if not is_initiator_packet(context):
        return None
    header = packet.EstablishConnectionHeader
    return (header.RE, header.Reserved) == (
        0x10,
        0,
    ), f"RE is 0x{header.RE:02X}, and Reserved is 0x{header.Reserved:04X}"


@passive(
    "MQQB-3.1.5.2.3-02", KINDS_OF_INITIATOR_PACKETS, "the first packet of an initiator is a request", of_system=True
)
def check_first_packet_of_initiator(packet: Any, context: Context) -> Finding:
    """Check that the first packet of an initiator is not a SessionAck, a ConnectionParameters packet or a message."""
    if not is_first_packet_of_initiator(context):
        return None
    return context.frame.kind == ESTABLISH_CONNECTION_PACKET_NAME, f"the first packet is a {context.frame.kind}"


passive("MQQB-3.1.5.2.3-04", INTERNAL_PACKET_NAMES, "IN is 1 in the first packet of an initiator", of_system=True)(
    make_flags_predicate_for_kind(ESTABLISH_PACKET_KIND, is_first_packet_of_initiator)
)
passive("MQQB-3.1.5.2.3-05", INTERNAL_PACKET_NAMES, "PT is 2 in the first packet of an initiator", of_system=True)(
    make_packet_type_predicate_for_kind(ESTABLISH_PACKET_KIND, is_first_packet_of_initiator)
)

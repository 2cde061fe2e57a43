"""Judge the EstablishConnectionHeader. Spec: MS-MQQB 2.2.3.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from suites.mqqb.steps.internal_packets import (
    ESTABLISH_PACKET_KIND,
    INTERNAL_PACKET_NAMES,
    make_flags_predicate_for_kind,
    make_packet_type_predicate_for_kind,
)
from suites.mqqb.steps.layouts import register_layout_predicate
from suites.mqqb.steps.session_opening_packets import make_repeated_field_predicate

register_layout_predicate("MQQB-2.2.3-D01", "EstablishConnection", "EstablishConnectionPacket", 572)
register_layout_predicate("MQQB-2.2.3.1-D01", "EstablishConnection", "EstablishConnectionHeader", 552)


@passive("MQQB-2.2.3.1-03", "EstablishConnection", "the low byte of OperatingSystem is 0x10")
@passive("MQQB-2.2.3.1-04", "EstablishConnection", "RE is 0x10")
def check_reserved_byte_of_operating_system(packet: Any, context: Context) -> Finding:
    """Check that RE, the low byte of OperatingSystem, is 0x10; the other bits may be 0 or 1."""
    value = packet.EstablishConnectionHeader.OperatingSystem
    return value & 0xFF == 0x10, f"OperatingSystem is 0x{value:04X}"


@passive("MQQB-2.2.3.1-15", "EstablishConnection", "every byte of Padding is 0x5A")
def check_padding_of_response(packet: Any, context: Context) -> Finding:
    """Check that each byte of Padding of a response is 0x5A; Padding of a request may have any value."""
    if context.sut_role != "acceptor":
        return None
    odd = [byte for byte in packet.EstablishConnectionHeader.Padding if byte != 0x5A]
    return not odd, f"number of bytes in Padding that differ from 0x5A: {len(odd)}"


passive("MQQB-2.2.3-01", INTERNAL_PACKET_NAMES, "IN is 1 in an EstablishConnection packet", of_system=True)(
    make_flags_predicate_for_kind(ESTABLISH_PACKET_KIND)
)
passive("MQQB-2.2.3-02", INTERNAL_PACKET_NAMES, "PT is 2 in an EstablishConnection packet", of_system=True)(
    make_packet_type_predicate_for_kind(ESTABLISH_PACKET_KIND)
)
passive("MQQB-2.2.3.1-06", "EstablishConnection", "SE of the response equals SE of the request", of_system=True)(
    make_repeated_field_predicate("SE")
)

"""Judge the EstablishConnection response. Spec: MS-MQQB 3.1.5.3.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from suites.mqqb.steps.internal_packets import (
    ESTABLISH_PACKET_KIND,
    INTERNAL_PACKET_NAMES,
    is_first_packet_of_acceptor,
    make_flags_predicate_for_kind,
    make_packet_type_predicate_for_kind,
)
from suites.mqqb.steps.session_opening_packets import (
    ESTABLISH_CONNECTION_PACKET_NAME,
    is_acceptor_response,
    make_repeated_field_predicate,
)

for rule, field in (
    ("MQQB-3.1.5.3.1-08", "ClientGuid"),
    ("MQQB-3.1.5.3.1-10", "TimeStamp"),
    ("MQQB-3.1.5.3.1-11", "SE"),
):
    passive(rule, ESTABLISH_CONNECTION_PACKET_NAME, f"{field} of the response equals {field} of the request")(
        make_repeated_field_predicate(field)
    )


@passive(
    "MQQB-3.1.5.3.1-12",
    ESTABLISH_CONNECTION_PACKET_NAME,
    "RE is 0x10, Reserved is 0x0000 and Padding is 0x5A in a response",
)
def check_reserved_fields_of_response(packet: Any, context: Context) -> Finding:
    """Check that RE, Reserved and Padding in a response of the acceptor have the values that MS-MQQB 2.2.3.1
    prescribes.
    """
    if not is_acceptor_response(context):
        return None
    header = packet.EstablishConnectionHeader
    odd = sorted({byte for byte in header.Padding if byte != 0x5A})
    padding = f"contains the byte 0x{odd[0]:02X}" if odd else "is 0x5A"
    kept = (header.RE, header.Reserved) == (0x10, 0) and not odd
    return kept, f"RE is 0x{header.RE:02X}, Reserved is 0x{header.Reserved:04X}, and Padding {padding}"


passive("MQQB-3.1.5.3.1-03", INTERNAL_PACKET_NAMES, "IN is 1 in the first packet of an acceptor", of_system=True)(
    make_flags_predicate_for_kind(ESTABLISH_PACKET_KIND, is_first_packet_of_acceptor)
)
passive("MQQB-3.1.5.3.1-04", INTERNAL_PACKET_NAMES, "PT is 2 in the first packet of an acceptor", of_system=True)(
    make_packet_type_predicate_for_kind(ESTABLISH_PACKET_KIND, is_first_packet_of_acceptor)
)

"""Judge the EstablishConnection request. Spec: MS-MQQB 3.1.5.2.3."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from suites.mqqb.steps.internal_packets import (
    ESTABLISH_PACKET,
    INTERNAL_KINDS,
    demand_flags_of_kind,
    demand_pt_of_kind,
    is_first_of_initiator,
)
from suites.mqqb.steps.session_opening_packets import ESTABLISH_KIND, demand_no_refusal, is_initiator_packet

passive("MQQB-3.1.5.2.3-06", ESTABLISH_KIND, "CS is 0 in an EstablishConnection request")(
    demand_no_refusal(is_initiator_packet)
)


@passive("MQQB-3.1.5.2.3-12", ESTABLISH_KIND, "RE is 0x10 and Reserved is 0x0000 in a request")
def demand_reserved_fields_of_request(packet: Any, context: Context) -> Finding:
    """Demand the values of RE and Reserved that 2.2.3.1 prescribes in a request of the initiator."""
    if not is_initiator_packet(context):
        return None
    header = packet.EstablishConnectionHeader
    return (header.RE, header.Reserved) == (
        0x10,
        0,
    ), f"RE is 0x{header.RE:02X}, and Reserved is 0x{header.Reserved:04X}"


passive("MQQB-3.1.5.2.3-04", INTERNAL_KINDS, "IN is 1 in the first packet of an initiator", of_system=True)(
    demand_flags_of_kind(ESTABLISH_PACKET, is_first_of_initiator)
)
passive("MQQB-3.1.5.2.3-05", INTERNAL_KINDS, "PT is 2 in the first packet of an initiator", of_system=True)(
    demand_pt_of_kind(ESTABLISH_PACKET, is_first_of_initiator)
)

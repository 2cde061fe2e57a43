"""Judge the ConnectionParameters request that follows an EstablishConnection response. Spec: MS-MQQB 3.1.5.3.2."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import (
    INTERNAL_KINDS,
    PARAMETERS_PACKET,
    demand_flags_of_kind,
    demand_pt_of_kind,
    is_second_of_initiator,
)
from suites.mqqb.steps.session_opening_packets import PARAMETERS_KIND, demand_no_refusal, is_initiator_packet

passive("MQQB-3.1.5.3.2-10", PARAMETERS_KIND, "CS is 0 in a ConnectionParameters request")(
    demand_no_refusal(is_initiator_packet)
)

passive("MQQB-3.1.5.3.2-08", INTERNAL_KINDS, "IN is 1 in the packet after a response", of_system=True)(
    demand_flags_of_kind(PARAMETERS_PACKET, is_second_of_initiator)
)
passive("MQQB-3.1.5.3.2-09", INTERNAL_KINDS, "PT is 3 in the packet after a response", of_system=True)(
    demand_pt_of_kind(PARAMETERS_PACKET, is_second_of_initiator)
)

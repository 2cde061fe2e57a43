"""Judge the ConnectionParameters request that follows an EstablishConnection response. Spec: MS-MQQB 3.1.5.3.2."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import (
    INTERNAL_KINDS,
    PARAMETERS_PACKET_KIND,
    is_second_packet_of_initiator,
    make_flags_of_kind_predicate,
    make_pt_of_kind_predicate,
)
from suites.mqqb.steps.session_opening_packets import PARAMETERS_KIND, is_initiator_packet, make_no_refusal_predicate

passive("MQQB-3.1.5.3.2-10", PARAMETERS_KIND, "CS is 0 in a ConnectionParameters request")(
    make_no_refusal_predicate(is_initiator_packet)
)

passive("MQQB-3.1.5.3.2-08", INTERNAL_KINDS, "IN is 1 in the packet after a response", of_system=True)(
    make_flags_of_kind_predicate(PARAMETERS_PACKET_KIND, is_second_packet_of_initiator)
)
passive("MQQB-3.1.5.3.2-09", INTERNAL_KINDS, "PT is 3 in the packet after a response", of_system=True)(
    make_pt_of_kind_predicate(PARAMETERS_PACKET_KIND, is_second_packet_of_initiator)
)

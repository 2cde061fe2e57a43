"""Judge the ConnectionParameters request that follows an EstablishConnection response. Spec: MS-MQQB 3.1.5.3.2."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import (
    INTERNAL_PACKET_NAMES,
    PARAMETERS_PACKET_KIND,
    is_second_packet_of_initiator,
    make_flags_predicate_for_kind,
    make_packet_type_predicate_for_kind,
)
from suites.mqqb.steps.session_opening_packets import (
    CONNECTION_PARAMETERS_PACKET_NAME,
    is_initiator_packet,
    make_no_refusal_predicate,
)

passive("MQQB-3.1.5.3.2-10", CONNECTION_PARAMETERS_PACKET_NAME, "CS is 0 in a ConnectionParameters request")(
    make_no_refusal_predicate(is_initiator_packet)
)

passive("MQQB-3.1.5.3.2-08", INTERNAL_PACKET_NAMES, "IN is 1 in the packet after a response", of_system=True)(
    make_flags_predicate_for_kind(PARAMETERS_PACKET_KIND, is_second_packet_of_initiator)
)
passive("MQQB-3.1.5.3.2-09", INTERNAL_PACKET_NAMES, "PT is 3 in the packet after a response", of_system=True)(
    make_packet_type_predicate_for_kind(PARAMETERS_PACKET_KIND, is_second_packet_of_initiator)
)

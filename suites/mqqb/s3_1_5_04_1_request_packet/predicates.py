"""Judge the ConnectionParameters response. Spec: MS-MQQB 3.1.5.4.1."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import (
    INTERNAL_PACKET_NAMES,
    PARAMETERS_PACKET_KIND,
    is_second_packet_of_acceptor,
    make_flags_predicate_for_kind,
    make_packet_type_predicate_for_kind,
)
from suites.mqqb.steps.session_opening_packets import (
    CONNECTION_PARAMETERS_PACKET_NAME,
    is_acceptor_response,
    make_no_refusal_predicate,
    make_repeated_field_predicate,
)

passive("MQQB-3.1.5.4.1-08", CONNECTION_PARAMETERS_PACKET_NAME, "CS is 0 in a ConnectionParameters response")(
    make_no_refusal_predicate(is_acceptor_response)
)

for rule, field in (
    ("MQQB-3.1.5.4.1-09", "RecoverableAckTimeout"),
    ("MQQB-3.1.5.4.1-10", "AckTimeout"),
):
    passive(rule, CONNECTION_PARAMETERS_PACKET_NAME, f"{field} of the response equals {field} of the request")(
        make_repeated_field_predicate(field)
    )

passive("MQQB-3.1.5.4.1-06", INTERNAL_PACKET_NAMES, "IN is 1 in the packet after a request", of_system=True)(
    make_flags_predicate_for_kind(PARAMETERS_PACKET_KIND, is_second_packet_of_acceptor)
)
passive("MQQB-3.1.5.4.1-07", INTERNAL_PACKET_NAMES, "PT is 3 in the packet after a request", of_system=True)(
    make_packet_type_predicate_for_kind(PARAMETERS_PACKET_KIND, is_second_packet_of_acceptor)
)

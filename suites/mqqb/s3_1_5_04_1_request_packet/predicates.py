"""Judge the ConnectionParameters response. Spec: MS-MQQB 3.1.5.4.1."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import (
    INTERNAL_KINDS,
    PARAMETERS_PACKET,
    demand_flags_of_kind,
    demand_pt_of_kind,
    is_second_of_acceptor,
)
from suites.mqqb.steps.session_opening_packets import (
    PARAMETERS_KIND,
    demand_no_refusal,
    demand_repeated_field,
    is_acceptor_response,
)

passive("MQQB-3.1.5.4.1-08", PARAMETERS_KIND, "CS is 0 in a ConnectionParameters response")(
    demand_no_refusal(is_acceptor_response)
)

for rule, field in (
    ("MQQB-3.1.5.4.1-09", "RecoverableAckTimeout"),
    ("MQQB-3.1.5.4.1-10", "AckTimeout"),
):
    passive(rule, PARAMETERS_KIND, f"{field} of the response equals {field} of the request")(
        demand_repeated_field(field)
    )

passive("MQQB-3.1.5.4.1-06", INTERNAL_KINDS, "IN is 1 in the packet after a request", of_system=True)(
    demand_flags_of_kind(PARAMETERS_PACKET, is_second_of_acceptor)
)
passive("MQQB-3.1.5.4.1-07", INTERNAL_KINDS, "PT is 3 in the packet after a request", of_system=True)(
    demand_pt_of_kind(PARAMETERS_PACKET, is_second_of_acceptor)
)

"""Judge the ConnectionParameters response. Spec: MS-MQQB 3.1.5.4.1."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import INTERNAL, PARAMETERS_PACKET, has_flags, has_pt, is_second_of_acceptor
from suites.mqqb.steps.session_opening_packets import PARAMETERS, demand_repetition, forbid_refusal, is_response

passive("MQQB-3.1.5.4.1-08", PARAMETERS, "CS is 0 in a ConnectionParameters response")(forbid_refusal(is_response))

for rule, field in (
    ("MQQB-3.1.5.4.1-09", "RecoverableAckTimeout"),
    ("MQQB-3.1.5.4.1-10", "AckTimeout"),
):
    passive(rule, PARAMETERS, f"{field} of the response equals that of the request")(demand_repetition(field))

passive("MQQB-3.1.5.4.1-06", INTERNAL, "IN is 1 in the packet after a request", of_system=True)(
    has_flags(PARAMETERS_PACKET, is_second_of_acceptor)
)
passive("MQQB-3.1.5.4.1-07", INTERNAL, "PT is 3 in the packet after a request", of_system=True)(
    has_pt(PARAMETERS_PACKET, is_second_of_acceptor)
)

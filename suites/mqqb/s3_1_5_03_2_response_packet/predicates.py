"""Judge the ConnectionParameters request that follows an EstablishConnection response. Spec: MS-MQQB 3.1.5.3.2."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.internal_packets import INTERNAL, PARAMETERS_PACKET, has_flags, has_pt, is_second_of_initiator
from suites.mqqb.steps.session_opening_packets import PARAMETERS, forbid_refusal, is_request

passive("MQQB-3.1.5.3.2-10", PARAMETERS, "CS is 0 in a ConnectionParameters request")(forbid_refusal(is_request))

passive("MQQB-3.1.5.3.2-08", INTERNAL, "IN is 1 in the packet after a response", of_system=True)(
    has_flags(PARAMETERS_PACKET, is_second_of_initiator)
)
passive("MQQB-3.1.5.3.2-09", INTERNAL, "PT is 3 in the packet after a response", of_system=True)(
    has_pt(PARAMETERS_PACKET, is_second_of_initiator)
)

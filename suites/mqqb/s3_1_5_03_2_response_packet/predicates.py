"""Judge the ConnectionParameters request that follows an EstablishConnection response. Spec: MS-MQQB 3.1.5.3.2."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqqb.steps.session_opening_packets import PARAMETERS, forbid_refusal, is_request

passive("MQQB-3.1.5.3.2-10", PARAMETERS, "CS is 0 in a ConnectionParameters request")(forbid_refusal(is_request))

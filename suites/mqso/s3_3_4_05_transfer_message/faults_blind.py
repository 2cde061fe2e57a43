"""Faults of MS-MQSO 3.3.4.5, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.routing import Routing

add(
    "router-duplicate-message-forwarded",
    "MQSO-3.3.4.5-D01",
    "A router forwards a repeated message although its identifier is in the message history.",
    during(Routing.route_message, History.find_duplicate, lambda original, *_: lambda *arguments, **named: None),
    blind=True,
)

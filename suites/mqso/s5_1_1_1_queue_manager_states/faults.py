"""Faults of MS-MQSO 5.1.1, 5.1.1.1: states of a queue manager."""

from __future__ import annotations

from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.protocol.administering import Administering
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.session_opening import SessionOpening

add(
    "so-sessions-not-served",
    ("MQSO-5.1.1-01", "MQSO-6.6.1-D07"),
    "What connects gets no answer.",
    skip(SessionOpening.accept_transport),
)
add("so-pings-not-served", "MQSO-5.1.1-01", "Pings are not answered.", skip(Ping.receive_request))
add("so-never-offline", "MQSO-5.1.1.1-D05", "It stays on the network.", skip(Administering.take_offline))
add("so-offline-for-good", "MQSO-5.1.1.1-D05", "It does not come back.", skip(Administering.bring_online))

BROKEN_ELSEWHERE = {
    "MQSO-5.1.1-D01": ("so-cursors-come-back",),
}
"""Faults of other sections that break rules of this one."""

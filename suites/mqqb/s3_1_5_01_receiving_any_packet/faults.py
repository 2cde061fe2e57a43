"""Faults of MS-MQQB 3.1.5.1 Receiving Any Packet."""

from __future__ import annotations

from harness.faults.packet_sizes import known_by_size
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.identifying import Identifying

add(
    "header-received-not-noted",
    "MQQB-3.1.5.1-01",
    "ReceivedAck stays FALSE.",
    skip(Identifying.note_received),
)
add(
    "header-establish-known-by-size",
    ("MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01"),
    "572 bytes are an EstablishConnection, whatever IN is.",
    known_by_size(572),
)
add(
    "header-signature-not-verified",
    ("MQQB-3.1.5.1-04", "MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-D01"),
    "A wrong version or signature does not end the session.",
    skip(Identifying.verify_signature),
)
add(
    "header-malformed-packets-kept",
    ("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01"),
    "A malformed packet does not end the session.",
    skip(Closing.refuse_malformed),
)

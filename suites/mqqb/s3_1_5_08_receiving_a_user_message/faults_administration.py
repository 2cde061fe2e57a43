"""Faults of MS-MQQB 3.1.5.8.10 Sending an Administration Acknowledgment."""

from __future__ import annotations

from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.transfer.admin_acks import AdminAcks

add(
    "arrival-not-told",
    ("MQQB-3.1.5.8.10-01", "MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-D07", "MQQB-3.1.5.8-12"),
    "No arrival is acknowledged.",
    skip(AdminAcks.acknowledge_arrival),
)

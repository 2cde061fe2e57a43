"""Faults that break rules of MS-MQQB 3.1.5.8.10 Sending an Administration Acknowledgment."""

from __future__ import annotations

from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.transfer.admin_acks import AdminAcks

add(
    "receiver-ack-of-arrival-not-sent",
    ("MQQB-3.1.5.8.10-01", "MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-D07", "MQQB-3.1.5.8-12"),
    "The receiver sends no acknowledgment of arrival.",
    omit_step(AdminAcks.acknowledge_arrival),
)

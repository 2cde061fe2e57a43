"""Faults of MS-MQQB 3.1.7.3 Handling a Network Disconnect."""

from __future__ import annotations

from harness.faults.primitives import inputs
from harness.faults.registry import add
from reference_qm.surface.inputs import TransportLost

add(
    "any-lost-connection-ignored",
    "MQQB-3.1.7.3-01",
    "The queue manager does nothing when a transport connection is lost.",
    inputs(lambda event: [] if isinstance(event, TransportLost) else [event]),
)

"""Faults of MS-MQQB 3.1.6.6 Session Initialization Timer Event."""

from __future__ import annotations

from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.sessions.closing import Closing

add(
    "initialization-timer-without-effect",
    ("MQQB-3.1.6.6-01", "MQQB-3.1.2.1-D01"),
    "Nothing happens when the Session Initialization Timer expires.",
    skip(Closing.on_session_initialization_timer),
)

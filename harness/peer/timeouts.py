"""Defines the timeouts that the peer requests in sessions without a core, in ms: the shortest that MS-MQQB 2.2.2.1
allows.
"""

from __future__ import annotations

from typing import Any

RECOVERABLE_ACK_MS = 500
ACK_MS = 20_000
TIMEOUTS: dict[str, Any] = {"RecoverableAckTimeout": RECOVERABLE_ACK_MS, "AckTimeout": ACK_MS}
"""Fields of ConnectionParameters."""

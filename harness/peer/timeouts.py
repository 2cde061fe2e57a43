"""Define the timeouts, in ms, that the tester's peer requests in its ConnectionParameters packets. They are the
shortest timeouts that MS-MQQB 2.2.2.1 permits.
"""

from __future__ import annotations

from typing import Any

RECOVERABLE_ACK_MS = 500
ACK_TIMEOUT_MS = 20_000
PEER_TIMEOUTS: dict[str, Any] = {"RecoverableAckTimeout": RECOVERABLE_ACK_MS, "AckTimeout": ACK_TIMEOUT_MS}
"""Fields of a ConnectionParameters request with the shortest timeouts."""

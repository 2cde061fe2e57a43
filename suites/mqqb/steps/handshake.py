"""The four packets that bring a connection of the peer to OPEN, whatever they say. Spec: MS-MQQB 3.1.5.3, 3.1.5.4."""

from __future__ import annotations

from typing import Any

from harness.peer.conversation import RawConversation

TIMEOUTS: dict[str, Any] = {"RecoverableAckTimeout": 500, "AckTimeout": 20_000}
"""The shortest that 2.2.2.1 allows, ms."""


def shake_hands(connection: RawConversation, request: Any, parameters: Any) -> RawConversation:
    """Send an EstablishConnection and a ConnectionParameters, and await the answer to each."""
    connection.send(request)
    connection.expect("EstablishConnection")
    connection.send(parameters)
    connection.expect("ConnectionParameters")
    return connection

"""Whether a queue manager serves anybody."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import SutUnavailable
from harness.peer.conversation import RawConversation
from harness.peer.handshake import request
from harness.peer.peer import Peer

SERVED, NOT_SERVED = "served", "not served"
PATIENCE = 3
"""How many response timeouts a system may take that was stopped a moment ago."""


class Attempt:
    """An attempt to open a session: whether it was accepted."""

    def __init__(self, peer: Peer, within_ms: int | None = None) -> None:
        self.connection: RawConversation | None = None
        self.outcome = NOT_SERVED
        try:
            self.connection = peer.connect()
        except SutUnavailable:
            return
        self.connection.send(request(peer))
        patience_ms = PATIENCE * peer.sut.response_timeout_ms if within_ms is None else within_ms
        answer = self.connection.poll("EstablishConnection", within_ms=patience_ms)
        if answer is not None and not answer["InternalHeader"].CS:
            self.outcome = SERVED

    @property
    def evidence(self) -> list[Frame]:
        """The last packet of the attempt."""
        last = None if self.connection is None else self.connection.last
        return [] if last is None else [last]

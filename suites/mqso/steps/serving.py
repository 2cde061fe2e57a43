"""Attempts to open a session with a queue manager, to find out whether it serves its peers."""

from __future__ import annotations

from typing import ClassVar

from harness.capture.recorder import Frame
from harness.errors import SutUnavailable
from harness.peer.conversation import RawConversation
from harness.peer.handshake import establish_request
from harness.peer.peer import Peer

RESPONSE_TIMEOUTS_TO_AWAIT_SESSION = 3
"""The number of response timeouts that a recently stopped system may take to answer."""


class SessionAttempt:
    """An attempt to open a session, with its outcome."""

    SERVED_OUTCOME: ClassVar[str] = "accepted"
    NOT_SERVED_OUTCOME: ClassVar[str] = "not accepted"

    def __init__(self, peer: Peer, within_ms: int | None = None) -> None:
        self.connection: RawConversation | None = None
        self.outcome = self.NOT_SERVED_OUTCOME
        try:
            self.connection = peer.connect()
        except SutUnavailable:
            return
        self.connection.send(establish_request(peer))
        limit_ms = RESPONSE_TIMEOUTS_TO_AWAIT_SESSION * peer.sut.response_timeout_ms if within_ms is None else within_ms
        answer = self.connection.poll("EstablishConnection", within_ms=limit_ms)
        if answer is not None and not answer["InternalHeader"].CS:
            self.outcome = self.SERVED_OUTCOME

    @property
    def evidence(self) -> list[Frame]:
        """The last packet of the attempt."""
        last = None if self.connection is None else self.connection.last
        return [] if last is None else [last]

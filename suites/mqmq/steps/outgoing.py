"""Messages of the SUT as bytes, whether they are packets or not."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.conversation import Session
from harness.peer.peer import Peer
from harness.sut.releases import LackedByRelease, release_of
from harness.sut.sut import Sut
from suites.mqqb.steps.sender import SET_UP, Sender

UNHURRIED = 4
"""Timers run at most so many times faster: what the peer looks at is not acknowledged, and the session has to last."""


class Outgoing:
    """One session on which the SUT sends messages; what is no packet comes too."""

    def __init__(self, peer: Peer, sut: Sut, to: str | None = None) -> None:
        sut.slow_down(UNHURRIED)
        self.peer = peer
        self.sut = sut
        self.sender = Sender(peer, sut, to)
        self.session: Session | None = None
        self.seen = len(SET_UP)

    def send(self, **message: Any) -> Frame:
        """Let the SUT send a message; return the bytes that came, ConformanceFailure when none did.

        LackedByRelease when its release cannot encrypt as is asked.
        """
        frame = self.poll(**message)
        if frame is None and message.get("privacy_level") == "advanced" and not release_of(self.sut).aes:
            raise LackedByRelease("nothing is sent at PrivacyLevel Advanced (MS-MQQB <66>)")
        if frame is None:
            raise ConformanceFailure("the SUT's message did not come")
        return frame

    def poll(self, **message: Any) -> Frame | None:
        """Let the SUT send a message; return the bytes that came, None when none did."""
        self.sut.send(self.sender.to, **message)
        session = self.session = self.session or self.sender.session()
        self.peer.environment.run_until(lambda: len(session.received) > self.seen, self.sut.response_timeout_ms)
        if len(session.received) <= self.seen:
            return None
        self.seen += 1
        return session.received[self.seen - 1]

    def start_anew(self) -> None:
        """Acknowledge everything and close the session: the next message comes on another one."""
        self.end()
        if self.session is not None:
            self.session.close()
        self.session, self.seen = None, len(SET_UP)

    def end(self) -> None:
        """Acknowledge everything."""
        if self.session is not None:
            self.sender.acknowledge_all(self.session)

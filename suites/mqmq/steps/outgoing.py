"""Messages that the SUT sends, as bytes that may be malformed."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.conversation import Conversation
from harness.peer.peer import Peer
from harness.sut.releases import LackedByRelease, find_release
from harness.sut.sut import Sut
from suites.mqqb.steps.sender import Sender

HIGHEST_TIMER_ACCELERATION = 4
"""The highest time scale of timers: the peer leaves messages unacknowledged, and the session must not time out."""


class MessagesSentBySut:
    """The messages that the SUT sends on any session, in order, including malformed messages."""

    def __init__(self, peer: Peer, sut: Sut, to: str | None = None) -> None:
        sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
        self.peer = peer
        self.sut = sut
        self.sender = Sender(peer, sut, to)
        self.session: Conversation | None = None
        """The session on which the last message arrived."""
        self.seen = len(peer.inbox.packets_with_possibly_malformed_messages)

    def send(self, **message: Any) -> Frame:
        """Let the SUT send a message; return its packet.

        Raise ConformanceFailure when no packet arrives, and LackedByRelease when the SUT's release does not support the
        encryption.
        """
        frame = self.poll(**message)
        if frame is None and message.get("privacy_level") == "advanced" and not find_release(self.sut).has_aes_provider:
            raise LackedByRelease("the SUT does not send with PrivacyLevel Advanced (MS-MQQB <66>)")
        if frame is None:
            raise ConformanceFailure("the SUT did not send the message")
        return frame

    def poll(self, **message: Any) -> Frame | None:
        """Let the SUT send a message; return its packet, or None when no packet arrives.

        A SUT without the facility ``send`` is made to send an acknowledgment, as in ``Sender.send``.
        """
        if self.sut.has("send"):
            self.sut.send(self.sender.to, **message)
        else:
            self.sender.send(self.seen + 1, **message)
        peer, inbox, seen = self.peer, self.peer.inbox, self.seen
        if self.session is None:
            peer.environment.run_until(
                lambda: peer.has_unawaited_connection or len(inbox.packets_with_possibly_malformed_messages) > seen,
                self.sut.connect_timeout_ms,
            )
            if peer.has_unawaited_connection or len(inbox.packets_with_possibly_malformed_messages) <= seen:
                self.session = self.sender.await_session()
        peer.environment.run_until(
            lambda: len(inbox.packets_with_possibly_malformed_messages) > seen, self.sut.response_timeout_ms
        )
        if len(inbox.packets_with_possibly_malformed_messages) <= seen:
            return None
        self.seen += 1
        self.session = inbox.conversation(inbox.packets_with_possibly_malformed_messages[seen])
        return inbox.packets_with_possibly_malformed_messages[seen]

    def start_new_session(self) -> None:
        """Acknowledge all messages and close the session, so that the SUT sends the next message on a new session."""
        self.end()
        if self.session is not None:
            self.session.close()
        self.session, self.seen = None, len(self.peer.inbox.packets_with_possibly_malformed_messages)

    def end(self) -> None:
        """Acknowledge all messages."""
        if self.session is not None:
            self.session.acknowledge_all()

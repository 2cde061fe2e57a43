"""The SUT as sender to two queue managers at the same time: the peer, and the second host at another address."""

from __future__ import annotations

from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.conversation import Conversation
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender


class Destination:
    """One of the two queue managers: the tags of the messages to it, and the session on which they arrive.

    ``name``: the queue manager's name in verdicts.
    """

    def __init__(self, name: str, peer: Peer, sut: Sut) -> None:
        self.name = name
        self.peer = peer
        self.sender = Sender(peer, sut)
        self.tags: list[int] = []
        self._session: Conversation | None = None

    def send(self, **fields: Any) -> None:
        """Let the SUT send one more message, with a new tag."""
        self.tags.append(self.peer.next_message_id())
        self.sender.send(self.tags[-1], **fields)

    @property
    def session(self) -> Conversation:
        """The session that the SUT set up for the messages; raise ConformanceFailure if there is no session."""
        if self._session is None:
            self._session = self.sender.await_session()
        return self._session

    def await_messages(self) -> list[Frame]:
        """Wait for every message; return the messages of the session, or raise ConformanceFailure if one is missing."""
        came = self.sender.collect_messages_until_silence(self.session, len(self.tags))
        if len(came) < len(self.tags):
            raise ConformanceFailure(f"{len(came)} of {len(self.tags)} messages arrived at the {self.name}")
        return came

    def await_next_session(self) -> Conversation:
        """Wait for the SUT's next session after the end of the last session; return the new session."""
        self._session = self.sender.await_session()
        return self._session

    def acknowledge_transactional_messages(self) -> None:
        """Acknowledge every message on the session, and the last transactional message with an OrderAck."""
        self.session.acknowledge_all()
        for last in [frame for frame in self.session.messages if frame["UserHeader"].TH][-1:]:
            self.session.send(build_order_ack(self.peer, last))


class TwoDestinations:
    """The peer and the second host as destinations of the SUT's messages."""

    def __init__(self, peer: Peer, second_host: Peer, sut: Sut) -> None:
        self.first = Destination("peer", peer, sut)
        self.second = Destination("second host", second_host, sut)

    @property
    def both_destinations(self) -> tuple[Destination, Destination]:
        """Return both destinations."""
        return self.first, self.second

    def send_messages_alternately(self, counts: tuple[int, int], **fields: Any) -> None:
        """Let the SUT send messages to both destinations in turn; ``counts``: the number of messages to each. Wait
        until all of them have arrived.
        """
        for number in range(max(counts)):
            for destination, count in zip(self.both_destinations, counts, strict=True):
                if number < count:
                    destination.send(**fields)
        for destination in self.both_destinations:
            destination.await_messages()

"""Steps in which the SUT sends messages with tags to a peer.

The core of the peer performs the handshake and answers pings. Afterwards, the core receives none of the SUT's messages,
and only the check sends packets of the peer.
"""

from __future__ import annotations

import itertools
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.conversation import Conversation
from harness.peer.peer import PEER_QUEUE, Peer
from harness.sut.sut import Sut
from suites.mqqb.steps.ordering import build_order_ack, is_order_or_final_ack
from suites.mqqb.steps.provoking import SecondQueueManager, make_sut_send_message, read_application_tag

RETRY_INTERVAL_MS = 5_000
"""The default duration of the Session Retry Connect Timer in ms (MS-MQQB 3.1.2.3, note <45>)."""
ACK_TIMEOUT_MS = 20_000
"""The default AckTimeout in ms (MS-MQQB 2.2.2.1, note <51>). An acknowledgment may arrive until this
time has passed.
"""
TAG_OF_OTHER_QUEUE_MESSAGE = 0x7F00
"""The tag of a message to another queue than that of the check. No other message has this tag."""
SESSION_SET_UP_PACKET_KINDS = ["EstablishConnection", "ConnectionParameters"]
"""The packets that an initiator sends to set up a session, in order."""


class Sender:
    """Lets the SUT send the messages of one check.

    ``to``: a format name of the peer, by default a direct name. ``own``: whether to use acknowledgments that the SUT
    creates itself, even if the SUT has the facility ``send``.
    """

    PEER_WINDOW_SIZE = 61
    """A WindowSize of the peer that differs from the default WindowSize of the SUT, which is 64 (note <36>)."""
    LARGEST_WINDOW_SIZE = 512
    """The largest window that a check fills."""

    def __init__(self, peer: Peer, sut: Sut, to: str | None = None, *, own: bool = False) -> None:
        self.peer = peer
        self.sut = sut
        self.to = to or f"DIRECT=TCP:{peer.address}\\{PEER_QUEUE}"
        self._own = own
        self._provoker: SecondQueueManager | None = None
        self._known: set[Frame] = set()
        """Messages that arrived on sessions of the peer before the last session was found, or that were collected."""
        peer.listen(ignore_incoming=True)

    def send(self, *tags: int, **fields: Any) -> list[str]:
        """Let the SUT send a message for each tag, which is the message's ApplicationTag; return the
        identifiers of the messages.

        If the SUT does not have the facility ``send``, the peer causes acknowledgments instead; in this case,
        ``fields`` contains at most a delivery of ``RECOVERABLE``.
        """
        if (self._own or not self.sut.has("send")) and fields.keys() <= {"delivery"}:
            provoker = self._provoker = self._provoker or SecondQueueManager(self.peer, self.to)
            return [provoker.send(tag, **fields) for tag in tags]
        return [self.sut.send(self.to, **{"body": f"message {tag}", "application_tag": tag, **fields}) for tag in tags]

    def send_to_other_queue(self, delivery: str = "express") -> None:
        """Let the SUT send a message to another queue of the peer, and acknowledge the message; its session stays open.
        A transactional message needs the facility ``send``.
        """
        make_sut_send_message(
            self.peer,
            self.sut,
            self.peer.direct_name("mqc-other-queue"),
            tag=TAG_OF_OTHER_QUEUE_MESSAGE,
            delivery=delivery,
        )
        session, sent = self.await_first_messages(1)
        session.acknowledge_all()
        if sent[0]["UserHeader"].TH:
            session.send(build_order_ack(self.peer, sent[0]))
        self.peer.settle()

    def poll_session(self, within_ms: int | None = None) -> Conversation | None:
        """Wait for the session on which the SUT sends next: a session that the SUT sets up, or a session that is
        already open. A new message on an open session identifies that session (erratum E16). If there are later
        connections, skip a connection that ended before its session was set up, for example because of a restart.
        Return None if there is no session.
        """
        within_ms = self.sut.connect_timeout_ms if within_ms is None else within_ms
        self.peer.wait(
            lambda: self.peer.has_unawaited_connection or self._find_new_open_session() is not None,
            within_ms,
            "a connection",
        )
        if not self.peer.has_unawaited_connection and (session := self._find_new_open_session()) is not None:
            self._known = set(self._list_messages_on_accepted_sessions())
            return session
        called = self.peer.await_session(0)
        while called is not None and called.poll("ConnectionParameters") is None:
            if called.record.closed_by is None or not self.peer.has_unawaited_connection:
                break
            called = self.peer.await_session(0)
        return called

    def _find_new_open_session(self) -> Conversation | None:
        """Return the open session of the peer on which a new message has arrived."""
        new = [one for one in self._list_messages_on_accepted_sessions() if one not in self._known]
        found = next((one for one in new if one.connection and one.connection.closed_by is None), None)
        return None if found is None else self.peer.inbox.conversation(found)

    def _list_messages_on_accepted_sessions(self) -> list[Frame]:
        """Return the messages that have arrived on sessions of the peer, except OrderAcks and FinalAcks."""

        def is_on_session_of_sut(frame: Frame) -> bool:
            return (
                frame.connection is not None
                and frame.connection.sut_role == "acceptor"
                and not is_order_or_final_ack(frame)
            )

        return self.peer.inbox.find(is_on_session_of_sut)

    def await_session(self) -> Conversation:
        """Call ``poll_session``; raise ConformanceFailure if no session is set up."""
        session = self.poll_session()
        if session is None:
            raise ConformanceFailure("the SUT opened no connection on which it could send its messages")
        begun = [frame.kind for frame in session.received[:2]]
        if begun != SESSION_SET_UP_PACKET_KINDS:
            came = " and ".join(begun) or "nothing"
            raise ConformanceFailure(
                f"a connection from the SUT began with {came} instead of {' and '.join(SESSION_SET_UP_PACKET_KINDS)}"
            )
        return session

    @staticmethod
    def find_establish_request(session: Conversation | None) -> Frame | None:
        """Return the EstablishConnection with which the SUT requested a session of ``poll_session``; return None if the
        SUT requested no session.
        """
        return None if session is None or not session.received else session.received[0]

    @staticmethod
    def get_establish_request(session: Conversation) -> Frame:
        """Return the EstablishConnection with which the SUT requested a session of ``await_session``."""
        return session.received[0]

    def collect_messages(self, session: Conversation, count: int) -> list[Frame]:
        """Wait for the given number of user messages; return all messages that arrived on the session.

        Raise ConformanceFailure if the last of these messages is late.
        """
        self.peer.wait(
            lambda: len(session.messages) >= count or session.record.closed_by is not None, None, f"message {count}"
        )
        self._known.update(session.messages)
        return session.messages

    def collect_messages_until_silence(self, session: Conversation, at_least: int) -> list[Frame]:
        """Call ``collect_messages``, and then wait until no further message arrives in the silence window."""
        self.collect_messages(session, at_least)
        while session.record.closed_by is None and not session.stays_quiet():
            pass
        return session.messages

    def await_first_messages(self, count: int) -> tuple[Conversation, list[Frame]]:
        """Wait for a session with the given number of messages; return the session and the messages.

        Raise ConformanceFailure if a message is missing.
        """
        session = self.await_session()
        sent = self.collect_messages(session, count)
        if len(sent) != count:
            raise ConformanceFailure(f"{len(sent)} of {count} messages arrived")
        return session, sent

    def fill_window(self) -> tuple[Conversation, int]:
        """Let the SUT send the messages 1 to N on a session, where N is the WindowSize in the SUT's
        ConnectionParameters; return the session and N. Raise ConformanceFailure if the window is too large or a message
        is missing.
        """
        self.send(1)
        session, _ = self.await_first_messages(1)
        window = int(session.received[1]["ConnectionParametersHeader"].WindowSize)
        if window > self.LARGEST_WINDOW_SIZE:
            raise ConformanceFailure(f"the SUT's window of {window} is too large to fill with messages")
        self.send(*range(2, window + 1))
        sent = self.collect_messages_until_silence(session, window)
        if len(sent) != window:
            raise ConformanceFailure(f"{len(sent)} messages arrived instead of the {window} messages of a full window")
        return session, window

    @staticmethod
    def list_tags(frames: list[Frame]) -> list[int]:
        """Return the tags of messages. A tag is the ApplicationTag, or the number in an acknowledgment
        that the peer caused.
        """
        return [read_application_tag(frame) for frame in frames]

    @staticmethod
    def acknowledge_all(session: Conversation) -> Frame:
        """Acknowledge all messages that have arrived on the session."""
        return session.acknowledge_all()


def list_tags(frames: list[Frame]) -> list[int]:
    """Return the tags of messages."""
    return Sender.list_tags(frames)


def require_session_not_timed_out(session: Conversation) -> None:
    """Raise ConformanceFailure if a session ended on which the SUT's messages were unacknowledged for a
    long time.

    The SUT's Session Ack Wait Timer (MS-MQQB 3.1.6.3) or a timer of the peer may have expired because the SUT or the
    tester was slow. If the SUT ends a session earlier, the end has a different reason.
    """
    closed_ms = session.record.closed_at_ms
    if closed_ms is None:
        return
    said_ms = [frame.time_ms for frame in session.sent]
    waited_ms = max((after - before for before, after in itertools.pairwise([*said_ms, closed_ms])), default=closed_ms)
    if not session.closed_by_sut or waited_ms >= session.peer.sut.duration_ms(ACK_TIMEOUT_MS) * 4 // 5:
        who = "the SUT" if session.closed_by_sut else "the peer"
        raise ConformanceFailure(f"{who} ended the session, on which nothing was acknowledged for {waited_ms:,} ms")


def is_recoverable(frame: Frame) -> bool:
    """Return whether a message's delivery is recoverable (UserHeader.Flags.DM)."""
    return bool(frame["UserHeader"].DM == 1)

"""Collect the messages that the SUT sends on all connections.

A queue manager may send a message on a new or an open session (erratum E16). If no acknowledgment arrives in time, it
resends the message on a different session. So a check waits for messages in the inbox, not on one connection.
``Conversation.messages`` contains the messages of one connection, for checks that examine the acknowledgments, counts,
window or end of that connection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from harness.capture.message_summary import MessageSummary
from harness.capture.recorder import MALFORMED_PACKET_KIND, Connection, Frame
from harness.errors import HarnessError
from harness.peer.conversation import USER_MESSAGE_KIND, Conversation, RawConversation, Session
from harness.peer.party import CounterpartOfSut
from harness.peer.raw_ends import RawListener
from harness.wire import connection_parameters, establish_connection

TCP = "tcp"
FrameCondition = Callable[[Frame], bool]


class InboxOfUserMessages:
    """All UserMessages that the SUT sends in one test, on connections that either side opened, and whether or not a
    reference core acts as the peer.

    ``accepted``: the sessions that the SUT opened to the raw listener of ``listen``, in order.
    """

    def __init__(
        self,
        peer: CounterpartOfSut,
        conversations: Callable[[], list[Conversation]],
        listen_raw: Callable[[], RawListener],
        is_foreign: FrameCondition,
    ) -> None:
        self.peer = peer
        self._is_foreign = is_foreign
        self._conversations = conversations
        self._listen_raw = listen_raw
        self.accepted: list[RawConversation] = []
        self._listeners: list[RawListener] = []
        self._pieces: list[Frame] = []
        self._unread_frames: deque[Frame] = deque()
        self._copies: list[Frame] = []
        self._messages: list[Frame] = []
        self._first: dict[tuple[str, int], Connection | None] = {}
        """The connection on which each message arrived for the first time."""
        self._summaries: set[MessageSummary] = set()
        self._acknowledged: dict[Connection, int] = {}
        """The number of messages that had arrived on each connection at its last acknowledgment."""
        peer.recorder.listeners.append(self._on_frame)

    # -- received messages --------------------------------------------------------------------------------------

    @property
    def copies(self) -> list[Frame]:
        """Every packet that contains a message, including copies of the same message, except messages of
        earlier tests.
        """
        self._read_new_frames()
        return self._copies.copy()

    @property
    def messages(self) -> list[Frame]:
        """The received messages without copies. A packet is a copy if it contains the same message as an earlier packet
        on another session, or acknowledges the same message again with the same class (erratum E65).

        Two different messages with the same identifier are both in the list.
        """
        self._read_new_frames()
        return self._messages.copy()

    @property
    def packets_with_possibly_malformed_messages(self) -> list[Frame]:
        """Every packet that is a message or is malformed. Checks that examine the bytes of possibly malformed messages
        use these packets.
        """
        return [
            frame
            for frame in self._pieces
            if frame.kind != USER_MESSAGE_KIND or not self.peer.is_about_message_of_earlier_test(frame)
        ]

    def wait(self, wanted: FrameCondition, count: int = 1, within_ms: int | None = None) -> list[Frame]:
        """Wait until ``count`` of the wanted messages have arrived, or until the timeout expires; return the wanted
        messages that have arrived.

        If ``within_ms`` is omitted, wait as long as the SUT may take to open a session, including a second attempt.
        """
        sut = self.peer.sut
        timeout_ms = sut.connect_timeout_ms + sut.response_timeout_ms if within_ms is None else within_ms
        self.peer.environment.run_until(lambda: len(self.find(wanted)) >= count, timeout_ms)
        return self.find(wanted)

    def find(self, wanted: FrameCondition) -> list[Frame]:
        """Return the wanted messages that have arrived so far."""
        return [frame for frame in self.messages if wanted(frame)]

    def conversation(self, frame: Frame) -> Conversation:
        """Return the conversation on which a packet arrived."""
        for one in self._conversations():
            if one.record is frame.connection:
                return one
        raise HarnessError(f"frame {frame.number} arrived on no connection of the peer")

    def is_open(self, frame: Frame) -> bool:
        """Return whether the connection on which a packet arrived is open."""
        return frame.connection is not None and frame.connection.closed_by is None

    def _on_frame(self, frame: Frame) -> None:
        if not frame.from_sut or self._is_foreign(frame):
            return
        if frame.transport == TCP and frame.kind in (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND):
            self._pieces.append(frame)
        if frame.kind == USER_MESSAGE_KIND:
            self._unread_frames.append(frame)
        elif any(one.record is frame.connection for one in self.connections_without_session):
            environment = self.peer.environment
            environment.call_at(environment.now().monotonic_ms, lambda: self._set_up_session(frame))

    def _read_new_frames(self) -> None:
        while self._unread_frames:
            frame = self._unread_frames[0]
            if not self.peer.is_about_message_of_earlier_test(frame):
                self._copies.append(frame)
                if self._is_first_packet_of_message(frame):
                    self._messages.append(frame)
            self._unread_frames.popleft()

    def _is_first_packet_of_message(self, frame: Frame) -> bool:
        user, again = frame.message or frame["UserHeader"], frame.message in self._summaries
        if frame.message is not None:
            self._summaries.add(frame.message)
        key = str(user.SourceQueueManager), int(user.MessageID)
        return self._first.setdefault(key, frame.connection) is frame.connection and not again

    # -- acknowledgments ----------------------------------------------------------------------------------------

    def acknowledge(self, *, spare: Conversation | None = None) -> None:
        """Acknowledge every message on the session on which it arrived, except on closed sessions and on the
        session ``spare``.

        A reference core acknowledges the messages that it receives; this method does not acknowledge them.
        """
        for session in self._conversations():
            if session is spare or session.record.closed_by is not None or has_listening_core(session):
                continue
            count = sum(frame.kind == USER_MESSAGE_KIND for frame in session.record.from_sut)
            if count != self._acknowledged.get(session.record, 0):
                self._acknowledged[session.record] = count
                session.acknowledge_all()

    # -- sessions of the SUT without a core of the peer -----------------------------------------------------------

    def listen(self) -> RawListener:
        """Accept connections from the SUT without a reference core of the peer. While the check waits, a session is set
        up on each connection.

        The SUT waits for answers no longer than its Session Initialization Timer.
        """
        self._listeners.append(self._listen_raw())
        return self._listeners[-1]

    @property
    def connections_without_session(self) -> list[RawConversation]:
        """The SUT's connections on which no session has been set up yet."""
        waiting = (one for listener in self._listeners for one in listener.waiting)
        return [one for one in waiting if one.is_open and one.record.closed_by is None]

    def _set_up_session(self, frame: Frame) -> None:
        """Answer a packet that the SUT sends to set up a session."""
        connection = next((one for one in self.connections_without_session if one.record is frame.connection), None)
        if connection is None:
            return
        if frame.kind == "EstablishConnection":
            connection.send(establish_response(self.peer, frame))
        elif frame.kind == "ConnectionParameters":
            connection.send(parameters_response(frame))
            for listener in self._listeners:
                if connection in listener.waiting:
                    listener.waiting.remove(connection)
            self.accepted.append(connection)


def has_listening_core(session: Conversation) -> bool:
    """Return whether a reference core acts as the peer on a session and receives the SUT's packets."""
    return isinstance(session, Session) and not session.ignore_incoming


# -- the peer's answers when the SUT opens a session --------------------------------------------------------------


def establish_response(peer: CounterpartOfSut, frame: Frame, **header: Any) -> Any:
    """Build the response to an EstablishConnection request from the SUT. Spec: MS-MQQB 3.1.5.3.1."""
    asked = frame["EstablishConnectionHeader"]
    answer = {
        "ClientGuid": asked.ClientGuid,
        "ServerGuid": peer.identifier,
        "TimeStamp": asked.TimeStamp,
        "SE": asked.SE,
    }
    return establish_connection(**answer | header)


def parameters_response(frame: Frame, **header: Any) -> Any:
    """Build the response to the SUT's ConnectionParameters. Spec: MS-MQQB 3.1.5.4.1."""
    asked = frame["ConnectionParametersHeader"]
    repeated = {"RecoverableAckTimeout": asked.RecoverableAckTimeout, "AckTimeout": asked.AckTimeout}
    return connection_parameters(**repeated | {"WindowSize": 64} | header)

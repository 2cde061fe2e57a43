"""Steps in which the SUT is the initiator: the SUT has a message for a queue of the peer, connects, and opens a session
step by step.
"""

from __future__ import annotations

from typing import Any, Self

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.judging.judge import Judge
from harness.judging.verdicts import Verdict
from harness.peer.conversation import RawConversation
from harness.peer.inbox import establish_response, parameters_response
from harness.peer.peer import Peer
from harness.peer.raw_ends import RawListener
from harness.sut.control import ControlRefused
from harness.sut.sut import Sut
from harness.wire import session_ack
from suites.mqqb.steps.opening import RETRY_INTERVAL_MS
from suites.mqqb.steps.provoking import make_sut_send_message


class OutgoingSession:
    """Let the SUT open a session to send one message to the peer; the peer answers only when the check
    requests it.

    ``to``: the format name of the destination, by default a direct name of the peer. The peer answers Ping Requests.
    ``listener``: the listener of a check in which the SUT already has a message.
    """

    connection: RawConversation
    """The SUT's connection; it exists after ``await_request``."""
    request: Frame
    """The SUT's EstablishConnection request; it exists after ``await_request``."""
    parameters: Frame
    """The SUT's ConnectionParameters request; it exists after ``respond``."""

    def __init__(self, peer: Peer, sut: Sut, to: str | None = None, *, listener: RawListener | None = None) -> None:
        self.peer = peer
        self.listener = listener or peer.listen_without_core()
        if listener is None:
            make_sut_send_message(peer, sut, to or peer.direct_name())

    @classmethod
    def create_unless_refused(cls, peer: Peer, sut: Sut, judge: Judge, to: str) -> Self | None:
        """Make the SUT send to a public name that no directory contains; if the SUT refuses the name,
        end the check as not exercised.

        Spec: MS-MQDMPR 3.1.7.1.5: a queue that is not found cannot be opened.
        """
        try:
            return cls(peer, sut, to)
        except ControlRefused as refused:
            judge.give_up(
                Verdict.NOT_EXERCISED, f"the SUT refused a queue that is in no directory, which is allowed: {refused}"
            )
            return None

    def poll_request(self, within_ms: int | None = None) -> Frame | None:
        """Accept the SUT's next connection and return the EstablishConnection request on this connection; return None
        if the SUT does not connect.
        """
        connection = self.listener.accept(within_ms)
        if connection is None:
            return None
        self.connection = connection
        self.request = connection.expect("EstablishConnection")
        return self.request

    def await_request(self) -> Frame:
        """Return the EstablishConnection request on the SUT's next connection, which may be a retry."""
        sut = self.peer.sut
        request = self.poll_request(
            sut.response_timeout_ms + sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
        )
        if request is None:
            raise ConformanceFailure("the SUT opened no connection for its message")
        return request

    def respond(self, **header: Any) -> Frame:
        """Answer the request with an EstablishConnection response; return the ConnectionParameters of the SUT."""
        self.connection.send(establish_response(self.peer, self.request, **header))
        self.parameters = self.connection.expect("ConnectionParameters")
        return self.parameters

    def answer_connection_parameters(self, **header: Any) -> Frame:
        """Answer the ConnectionParameters, so that the session opens; return the SUT's first UserMessage."""
        self.connection.send(parameters_response(self.parameters, **header))
        return self.connection.expect("UserMessage")

    def open(self) -> Frame:
        """Wait for the SUT's next request, answer the request and the ConnectionParameters, and return
        the first UserMessage.
        """
        self.await_request()
        self.respond()
        return self.answer_connection_parameters()


def await_session_of_sut(peer: Peer, sut: Sut) -> RawConversation:
    """Let the SUT open a session for a message, acknowledge the message, and return the session's connection."""
    session = OutgoingSession(peer, sut)
    session.open()
    session.connection.send(session_ack(AckSequenceNumber=1))
    return session.connection

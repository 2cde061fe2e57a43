"""Steps that the checks of pings share. The steps read the fields of a ping directly from its bytes, so that a check
can judge wrong values.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure, SutUnavailable
from harness.peer.conversation import RawConversation
from harness.peer.handshake import establish_request
from harness.peer.peer import Peer
from harness.peer.raw_ends import PingPort
from harness.sut.shown import NotShown
from harness.sut.sut import Sut
from harness.wire import ping_request, ping_response
from suites.mqqb.steps.opening import RETRY_INTERVAL_MS
from suites.mqqb.steps.provoking import make_sut_send_message

PING_SIGNATURE = 0x5548
PING_RESPONSE_TIMEOUT_MS = 1_000
"""The duration of the Ping Response Timer in ms, which is always one second (MS-MQQB 3.1.2.9)."""
GREATEST_TIMER_SPEED_UP = 4
"""The greatest factor by which these checks accelerate the timers of the protocol. One second must
remain measurable.
"""

MAX_PING_REQUESTS = 3
"""The greatest number of Ping Requests that the peer sends until the SUT answers a Ping Request."""

STALLED_SUT_REASON = "the SUT stalled while it waited for the response"


class Ping(NamedTuple):
    """The fields in the 24 bytes of a ping, whether their values are correct or not."""

    Flags: int
    Signature: int
    Cookie: int
    QMGuid: UUID

    @property
    def RC(self) -> int:
        """Return bit 0 of Flags."""
        return self.Flags & 1

    @property
    def RF(self) -> int:
        """Return bit 1 of Flags."""
        return self.Flags >> 1 & 1


def read_ping(frame: Frame | None) -> Ping | None:
    """Read a datagram as a ping; return None if the datagram is missing or does not have 24 bytes."""
    if frame is None or len(frame.data) != 24:
        return None
    flags, signature, cookie, guid = struct.unpack("<HHI16s", frame.data)
    return Ping(flags, signature, cookie, UUID(bytes_le=guid))


def describe_ping_fields(frame: Frame | None, *names: str) -> dict[str, Any] | str:
    """Return fields of a ping by name, or describe a datagram that is not a ping."""
    ping = read_ping(frame)
    if ping is None:
        return "no datagram" if frame is None else f"a datagram of {len(frame.data)} bytes"
    return {name: getattr(ping, name) for name in names}


def read_data_model_element(tree: dict[str, Any], name: str) -> Any:
    """Return an element of the abstract data model that the SUT shows; if the SUT does not show the element, the rules
    are not observable.
    """
    if name not in tree:
        raise NotShown(f"the abstract data model that the SUT shows does not contain {name}")
    return tree[name]


def get_ping_cookie(asked: Frame) -> int:
    """Return the Cookie of a Ping Request of the SUT; raise ConformanceFailure if the request does not
    have 24 bytes.
    """
    ping = read_ping(asked)
    if ping is None:
        raise ConformanceFailure(f"the SUT's Ping Request has {len(asked.data)} bytes instead of 24")
    return ping.Cookie


# -- the SUT as acceptor -----------------------------------------------------------------------------------------


class PingExchange(NamedTuple):
    """A Ping Request of the peer and the datagram that the SUT returned, or None if the SUT returned none."""

    sent: Frame
    received: Frame | None

    @classmethod
    def exchange_from_port(cls, end: PingPort, request: Any) -> PingExchange:
        """Send a Ping Request from a UDP port of the peer, and wait for the response."""
        sent = end.send(request)
        return cls(sent, await_ping_response(end, sent))

    @property
    def ping(self) -> Ping | None:
        """Return the datagram that the SUT returned, read as a ping; return None if the datagram is
        missing or does not have 24 bytes.
        """
        return read_ping(self.received)

    def fields(self, *names: str) -> dict[str, Any] | str:
        """Return fields of the returned datagram, or a description of the datagram if it is not a ping."""
        return describe_ping_fields(self.received, *names)

    @property
    def is_answered(self) -> bool:
        """Return whether the datagram is the SUT's response to the request, even if some fields are wrong."""
        request, ping = read_ping(self.sent), self.ping
        if request is None or ping is None:
            return False
        return ping.Signature == PING_SIGNATURE or ping.Cookie == request.Cookie

    @property
    def session_outcome_predicted_by_rf(self) -> Any:
        """Return the outcome that RF predicts for a session request: refused or accepted."""
        return describe_ping_fields(self.received) if self.ping is None else ("refused" if self.ping.RF else "accepted")


def ping_sut(peer: Peer, *, end: PingPort | None = None, **fields: Any) -> PingExchange:
    """Send a Ping Request, from a new port unless a port is given, and wait for the response.

    A real network may lose a datagram. Therefore, the peer sends further requests if no response
    arrives.
    """
    for _ in range(1 if peer.environment.is_time_virtual else MAX_PING_REQUESTS):
        exchange = PingExchange.exchange_from_port(
            end or peer.open_ping_port(), ping_request(**{"QMGuid": peer.identifier, "Cookie": 0x1234} | fields)
        )
        if exchange.received is not None:
            break
    return exchange


def require_ping_answer(peer: Peer) -> PingExchange:
    """Send a Ping Request; raise ConformanceFailure if the SUT does not answer the request."""
    exchange = ping_sut(peer)
    if not exchange.is_answered:
        raise ConformanceFailure(f"the SUT did not answer a Ping Request: {exchange.fields('Signature')} arrived")
    return exchange


def await_ping_response(end: PingPort, sent: Frame) -> Frame | None:
    """Wait for the next datagram; raise ConformanceFailure if the datagram is a copy of the request, whose QMGuid is
    the peer's GUID.
    """
    got = end.poll()
    if got is not None and got.data == sent.data:
        raise ConformanceFailure("the SUT returns the bytes of each ping unchanged, like an echo")
    return got


def request_session_with_client_guid(peer: Peer, client: UUID) -> tuple[str, RawConversation]:
    """Request a session with the given ClientGuid; return whether the SUT accepts the session, refuses it (by CS or by
    closing the connection), or does not answer.
    """
    connection = peer.connect()
    connection.send(establish_request(peer, ClientGuid=client))
    frame = connection.poll("EstablishConnection")
    if frame is not None:
        return ("refused" if frame["InternalHeader"].CS else "accepted"), connection
    return ("refused" if connection.closed_by_sut else "not answered"), connection


def request_session_or_report_refused_connection(peer: Peer) -> str:
    """Call ``request_session_with_client_guid``; if the SUT accepts no connection, return that the SUT refuses the
    session.
    """
    try:
        return request_session_with_client_guid(peer, peer.identifier)[0]
    except SutUnavailable:
        return "refused"


def fetch_server_guid(peer: Peer) -> UUID:
    """Return the Identifier of the SUT, which the SUT sends in its answer to a new session request."""
    return UUID(str(peer.request_session().received[0]["EstablishConnectionHeader"].ServerGuid))


# -- the SUT as initiator ----------------------------------------------------------------------------------------


class PingingSut:
    """Makes the SUT send a message to the peer: the SUT sends a Ping Request, and then connects. The check decides
    whether the peer answers. The class attributes are the possible outcomes of an attempt.
    """

    SESSION_OPENED_OUTCOME = "the SUT opened a session"
    NO_SESSION_OUTCOME = "the SUT opened no session"
    SESSION_OPENED_BY_RETRY_OUTCOME = f"{SESSION_OPENED_OUTCOME} after the retry time"

    def __init__(self, peer: Peer, sut: Sut, to: str | None = None) -> None:
        if sut.timeouts.usual_ms >= PING_RESPONSE_TIMEOUT_MS:
            raise ConformanceFailure(
                f"an answer takes {sut.timeouts.usual_ms} ms, so every Ping Response arrives too late"
            )
        if sut.has("set_timers"):
            sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
        self.retry_ms = (
            sut.get_timer_duration_ms("session_retry_connect_ms", RETRY_INTERVAL_MS)
            if sut.has("timers")
            else RETRY_INTERVAL_MS
        )
        self.peer = peer
        self.sut = sut
        self.name = to or peer.direct_name()
        self.end: PingPort = peer.open_ping_port(port=sut.file.driver.peer_ping_port)
        self.listener = peer.listen_without_core(ping=False)
        make_sut_send_message(peer, sut, self.name)

    def poll_ping(self) -> Frame | None:
        """Wait for the next Ping Request."""
        return self.end.poll()

    def await_ping(self) -> Frame:
        """Wait for the next Ping Request; raise ConformanceFailure if no Ping Request arrives."""
        frame = self.poll_ping()
        if read_ping(frame) is None or frame is None:
            raise ConformanceFailure("the SUT sent no Ping Request before its session")
        return frame

    def answer_ping(self, asked: Frame, **fields: Any) -> Frame:
        """Answer a Ping Request with RF 0 and the Cookie of the request; ``fields`` replaces these values."""
        ping = read_ping(asked)
        assert ping is not None
        source, _ = next(one for one in self.end.received if one[1] is asked)
        return self.end.send(
            ping_response(**{"Cookie": ping.Cookie, "RC": ping.RC, "QMGuid": self.peer.identifier} | fields), source
        )

    def await_connection(self, within_ms: int | None = None) -> tuple[str, RawConversation | None]:
        """Wait for the SUT's next connection and the request on this connection; return the outcome and
        the connection.

        The tester's clock measures ``within_ms``: a connection that arrives later belongs to the next
        attempt.
        """
        connection = self.listener.accept(within_ms, exactly=within_ms is not None)
        if connection is None:
            return self.NO_SESSION_OUTCOME, None
        if connection.poll("EstablishConnection") is None:
            return "opened a connection, with no EstablishConnection on it", connection
        return self.SESSION_OPENED_OUTCOME, connection

    def await_session(self, within_ms: int | None = None) -> str:
        """Wait for the SUT's next connection and the request on this connection; return the outcome."""
        return self.await_connection(within_ms)[0]

    def was_too_slow_after_ping(self, asked: Frame) -> bool:
        """Return whether the SUT was so slow while its Ping Response Timer ran that its later packets prove nothing."""
        return self.peer.has_stalled(asked.time_ms, asked.time_ms + self.sut.duration_ms(PING_RESPONSE_TIMEOUT_MS))

    @property
    def half_ping_response_timer_ms(self) -> int:
        """Return half of the duration of the Ping Response Timer, in ms."""
        return self.sut.duration_ms(PING_RESPONSE_TIMEOUT_MS) // 2

    @property
    def time_shorter_than_retry_timer_ms(self) -> int:
        """Return a time after a failed ping that is shorter than the Session Retry Connect Timer, in ms."""
        return self.sut.duration_ms(self.retry_ms) * 4 // 5

    def start_initialization_retry_timer(self) -> str:
        """Wait for the next attempt after the Session Retry Connect Timer has expired, and answer its Ping Requests;
        return the outcome.
        """
        known = len(self.end.received)
        due_ms = (
            self.sut.duration_ms(self.retry_ms) // 5 + self.sut.slack_ms(self.retry_ms) + self.sut.response_timeout_ms
        )
        self.peer.environment.run_until(lambda: bool(self.listener.waiting) or len(self.end.received) > known, due_ms)
        for _, asked in self.end.received[known:]:
            self.answer_ping(asked)
        return f"{self.await_session()} after the retry time"

    def await_response_timer_expiry(self, after_ms: int = 0) -> None:
        """Let time pass until the running Ping Response Timer has expired."""
        self.peer.pass_time(
            self.sut.duration_ms(PING_RESPONSE_TIMEOUT_MS) + self.sut.slack_ms(PING_RESPONSE_TIMEOUT_MS) - after_ms
        )

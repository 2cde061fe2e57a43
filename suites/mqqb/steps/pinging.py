"""Steps that the checks of pings share: datagrams are read off their bytes, so that a wrong one is judged as well."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.conversation import RawConversation
from harness.peer.handshake import request as establish_request
from harness.peer.peer import Peer
from harness.peer.raw_ends import PingEnd
from harness.sut.shown import NotShown
from harness.sut.sut import Sut
from harness.wire import ping_request, ping_response
from suites.mqqb.steps.opening import RETRY_MS
from suites.mqqb.steps.provoking import let_send

SIGNATURE = 0x5548
PING_MS = 1_000
"""The Ping Response Timer is always one second (MS-MQQB 3.1.2.9)."""
PACE = 4
"""Real protocol timers run at most so many times faster in these checks: one second has to stay measurable."""

TRIES = 3
"""Ping Requests in place of one that is not answered."""

OPENED = "opened a session"
OPENED_NONE = "opened no session"
RETRIED = f"{OPENED} after the retry time"
UNHEARD = "it stood still while it waited for the response"


class Ping(NamedTuple):
    """The fields of the 24 bytes of a ping, whether they are right or not."""

    Flags: int
    Signature: int
    Cookie: int
    QMGuid: UUID

    @property
    def RC(self) -> int:
        """Bit 0 of Flags."""
        return self.Flags & 1

    @property
    def RF(self) -> int:
        """Bit 1 of Flags."""
        return self.Flags >> 1 & 1


def read(frame: Frame | None) -> Ping | None:
    """Read a datagram; None when it is none of 24 bytes."""
    if frame is None or len(frame.data) != 24:
        return None
    flags, signature, cookie, guid = struct.unpack("<HHI16s", frame.data)
    return Ping(flags, signature, cookie, UUID(bytes_le=guid))


def seen(frame: Frame | None, *names: str) -> dict[str, Any] | str:
    """Return fields of a datagram by name, or what came that has none."""
    ping = read(frame)
    if ping is None:
        return "no datagram" if frame is None else f"a datagram of {len(frame.data)} bytes"
    return {name: getattr(ping, name) for name in names}


def element(tree: dict[str, Any], name: str) -> Any:
    """Return an element of the abstract data model, for rules that nothing else shows."""
    if name not in tree:
        raise NotShown(f"the SUT's abstract data model, as it shows it, has no {name}")
    return tree[name]


def cookie_of(asked: Frame) -> int:
    """Return the Cookie of a Ping Request of the SUT; ConformanceFailure when it is none of 24 bytes."""
    ping = read(asked)
    if ping is None:
        raise ConformanceFailure(f"the SUT's ping has {len(asked.data)} bytes")
    return ping.Cookie


# -- the SUT as acceptor -----------------------------------------------------------------------------------------


def ask(peer: Peer, **fields: Any) -> tuple[Frame, Frame | None]:
    """Send a Ping Request from a new port; return it and what came back there, if anything.

    A datagram may be lost on a real network: then it is tried again.
    """
    for _ in range(1 if peer.environment.virtual else TRIES):
        end = peer.udp()
        sent = end.send(ping_request(**{"QMGuid": peer.identifier, "Cookie": 0x1234} | fields))
        got = response(end, sent)
        if got is not None:
            break
    return sent, got


def response(end: PingEnd, sent: Frame) -> Frame | None:
    """Wait for what comes back; the request itself is no response: QMGuid of one is the acceptor's."""
    got = end.poll()
    if got is not None and got.data == sent.data:
        raise ConformanceFailure("the SUT sends pings back as they came: it echoes")
    return got


def answers(got: Frame | None, sent: Frame) -> bool:
    """Return whether a datagram is meant as the response to a request, right in every field or not."""
    request, ping = read(sent), read(got)
    return request is not None and ping is not None and (ping.Signature == SIGNATURE or ping.Cookie == request.Cookie)


def answered(peer: Peer) -> Frame:
    """Go on only when the SUT answers an ordinary Ping Request."""
    sent, got = ask(peer)
    if got is None or not answers(got, sent):
        raise ConformanceFailure(f"the SUT does not answer pings: {seen(got, 'Signature')} came")
    return got


def session_outcome(peer: Peer, client: UUID) -> tuple[str, RawConversation]:
    """Ask for a session now; return whether it is accepted, refused (CS, or closed unanswered), or not answered."""
    connection = peer.connect()
    connection.send(establish_request(peer, ClientGuid=client))
    frame = connection.poll("EstablishConnection")
    if frame is not None:
        return ("refused" if frame["InternalHeader"].CS else "accepted"), connection
    return ("refused" if connection.closed_by_sut else "not answered"), connection


def server_guid(peer: Peer) -> UUID:
    """Return the Identifier with which the SUT answers a new session."""
    return UUID(str(peer.request_session().received[0]["EstablishConnectionHeader"].ServerGuid))


# -- the SUT as initiator ----------------------------------------------------------------------------------------


class Caller:
    """The SUT with a message for the peer: it pings, then connects; the check answers both, or does not."""

    def __init__(self, peer: Peer, sut: Sut, queue: str = "mqc-peer") -> None:
        if sut.timeouts.usual_ms >= PING_MS:
            raise ConformanceFailure(
                f"an answer takes {sut.timeouts.usual_ms} ms: every Ping Response comes after its time"
            )
        if sut.has("set_timers"):
            sut.slow_down(PACE)
            sut.set_timers(session_retry_connect_ms=RETRY_MS)
        self.peer = peer
        self.sut = sut
        self.name = peer.direct_name(queue)
        self.end: PingEnd = peer.udp(port=sut.file.driver.peer_ping_port)
        self.listener = peer.listen_raw(ping=False)
        let_send(peer, sut, self.name)

    def ping(self) -> Frame | None:
        """Wait for the next Ping Request."""
        return self.end.poll()

    def asked(self) -> Frame:
        """Wait for the next Ping Request; ConformanceFailure when none comes."""
        frame = self.ping()
        if read(frame) is None or frame is None:
            raise ConformanceFailure("the SUT sent no Ping Request before its session")
        return frame

    def answer(self, asked: Frame, **fields: Any) -> Frame:
        """Answer a Ping Request, positively unless ``fields`` say otherwise."""
        ping = read(asked)
        assert ping is not None
        source, _ = next(one for one in self.end.received if one[1] is asked)
        return self.end.send(
            ping_response(**{"Cookie": ping.Cookie, "RC": ping.RC, "QMGuid": self.peer.identifier} | fields), source
        )

    def session(self, within_ms: int | None = None) -> tuple[str, RawConversation | None]:
        """Wait for the SUT's next connection and the request on it; describe what came.

        ``within_ms`` is by the tester's clock: a connection that comes later is that of the next attempt.
        """
        connection = self.listener.accept(within_ms, exactly=within_ms is not None)
        if connection is None:
            return OPENED_NONE, None
        if connection.poll("EstablishConnection") is None:
            return "opened a connection, with no EstablishConnection on it", connection
        return OPENED, connection

    def outcome(self, within_ms: int | None = None) -> str:
        """Wait for the SUT's next connection and the request on it; say only what came."""
        return self.session(within_ms)[0]

    def unheard(self, asked: Frame) -> bool:
        """Return whether the SUT stood still while it waited for the response: what came then says nothing of it."""
        return self.peer.stood_still(asked.time_ms, asked.time_ms + self.sut.duration_ms(PING_MS))

    @property
    def waiting_ms(self) -> int:
        """Half of the time that a Ping Response is waited for."""
        return self.sut.duration_ms(PING_MS) // 2

    @property
    def before_retry_ms(self) -> int:
        """How long after a failed ping there can be no new attempt yet."""
        return self.sut.duration_ms(RETRY_MS) * 4 // 5

    def retry(self) -> str:
        """Return whether the new attempt comes when the retry time is over; a ping before it is answered."""
        known = len(self.end.received)
        due_ms = self.sut.duration_ms(RETRY_MS) // 5 + self.sut.slack_ms(RETRY_MS) + self.sut.response_timeout_ms
        self.peer.environment.run_until(lambda: bool(self.listener.waiting) or len(self.end.received) > known, due_ms)
        for _, asked in self.end.received[known:]:
            self.answer(asked)
        return f"{self.outcome()} after the retry time"

    def run_out(self) -> None:
        """Let the time of the Ping Response Timer run out."""
        self.peer.pass_time(self.sut.duration_ms(PING_MS) + self.sut.slack_ms(PING_MS))

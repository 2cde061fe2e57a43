"""MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet.

The timer rules of this section are judged with 3.1.6.6, what OutgoingQueue shows with 3.1.5.4.2, ServerGuid for a
private format name with 3.1.5.2.1.
"""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import between, holds, one_of
from harness.peer.handshake import NULL_GUID
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import (
    accepted,
    guid_text,
    listen,
    read_internal_bits,
)

LATER_MS = 20_000
"""Between the two requests whose time stamps are compared, as the retry timer is set for it."""


def pings(peer: Peer, since: int = 0, until: int | None = None) -> list[Frame]:
    """Return the pings of the SUT, between two frames of the capture."""
    found = peer.recorder.pings(from_sut=True)
    return [frame for frame in found if since < frame.number and (until is None or frame.number < until)]


@covers("MQQB-3.1.5.2.3-02", "MQQB-3.1.5.2.3-04", "MQQB-3.1.5.2.3-05", "MQQB-3.1.5.2.3-07", "MQQB-3.1.5.2.3-09")
def test_a_session_begins_with_a_request(peer, sut, judge):
    """The SUT connects to the acceptor's TCP port and sends an EstablishConnection request first.

    For a direct name its ServerGuid is zero, or that of a Ping Response (E11).
    """
    connection = listen(peer, sut, peer.direct_name()).accept()
    first = connection.poll_packet(0) if connection else None
    bits = read_internal_bits(first)
    where = f"over TCP to port {sut.file.driver.peer_tcp_port}"
    judge(
        "MQQB-3.1.5.2.3-02",
        expected=holds(f"a packet {where}"),
        observed=bool(first) or ("no packet" if connection else "no connection"),
        evidence=first,
    )
    judge.conclude("MQQB-3.1.5.2.3-02")
    if first is None:
        raise ConformanceFailure("the SUT sent no request for its message")
    judge("MQQB-3.1.5.2.3-04", expected=1, observed=bits["IN"], evidence=first)
    judge("MQQB-3.1.5.2.3-05", expected=2, observed=bits["PT"], evidence=first)
    judge.conclude("MQQB-3.1.5.2.3-04", "MQQB-3.1.5.2.3-05")
    if first.kind != "EstablishConnection":
        raise ConformanceFailure(f"the SUT's first packet is {first.kind}")
    header = first["EstablishConnectionHeader"]
    judge("MQQB-3.1.5.2.3-07", expected=guid_text(sut.guid), observed=guid_text(header.ClientGuid), evidence=first)
    named = [guid_text(peer.identifier)] if pings(peer) else []
    judge(
        "MQQB-3.1.5.2.3-09",
        expected=one_of(guid_text(NULL_GUID), *named),
        observed=guid_text(header.ServerGuid),
        evidence=first,
    )


@needs("set_timers")
@covers("MQQB-3.1.5.2.3-10", "MQQB-3.1.5.2.3-11")
def test_a_second_request_tells_the_time_passed_and_that_no_ping_was_sent(peer, sut, judge):
    """Two requests are as many ms apart as their TimeStamps say; SE is 1 in a request that no ping went before."""
    sut.set_timers(session_retry_connect_ms=LATER_MS)
    listener = listen(peer, sut, peer.direct_name())
    connection, first = accepted(listener)
    connection.close()
    peer.pass_time(sut.duration_ms(LATER_MS))
    _, second = accepted(listener)
    apart = peer.took(first, second)
    passed_ms = _time_stamp(second) - _time_stamp(first) & 0xFFFFFFFF
    judge(
        "MQQB-3.1.5.2.3-10",
        expected=between(*apart.allowed(apart.ms * 3 // 4, apart.ms * 5 // 4, passed_ms)),
        observed=passed_ms,
        evidence=[first, second],
    )
    judge.conclude("MQQB-3.1.5.2.3-10")
    silent = [frame for frame, since in ((first, 0), (second, first.number)) if not pings(peer, since, frame.number)]
    if not silent:
        raise ConformanceFailure("the SUT pings before each request; what SE is then, text and frames differ on (E03)")
    for request in silent:
        judge("MQQB-3.1.5.2.3-11", expected=1, observed=request["EstablishConnectionHeader"].SE, evidence=request)


def _time_stamp(request: Frame) -> int:
    return int(request["EstablishConnectionHeader"].TimeStamp)

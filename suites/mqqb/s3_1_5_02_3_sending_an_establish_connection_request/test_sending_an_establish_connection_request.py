"""MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet.

Checks of other sections judge some rules of this section: the checks of 3.1.6.6 judge the timer, the checks of
3.1.5.4.2 judge the elements of OutgoingQueue, and the checks of 3.1.5.2.1 judge ServerGuid for a private format name.
"""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import between, holds, one_of
from harness.peer.handshake import NULL_GUID
from harness.peer.inbox import establish_response
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import OTHER_GUID, RETRY_INTERVAL_MS, format_guid, read_in_flag_and_packet_type
from suites.mqqb.steps.outgoing_session import OutgoingSession

RETRY_CONNECT_TIMER_MS = 20_000
"""The duration in ms of the Session Retry Connect Timer, which runs between the two requests whose TimeStamps are
compared.
"""


def list_pings(peer: Peer, since: int = 0, until: int | None = None) -> list[Frame]:
    """Return the Ping packets of the SUT between two frames of the capture."""
    found = peer.recorder.list_pings(from_sut=True)
    return [frame for frame in found if since < frame.number and (until is None or frame.number < until)]


@covers("MQQB-3.1.5.2.3-02", "MQQB-3.1.5.2.3-04", "MQQB-3.1.5.2.3-05", "MQQB-3.1.5.2.3-07", "MQQB-3.1.5.2.3-09")
def test_first_packet_of_the_sut_is_a_request(peer, sut, judge):
    """The SUT connects to the peer's TCP port. Its first packet is an EstablishConnection request with IN 1, PT 2 and
    the SUT's GUID.

    ServerGuid for a direct name is zero, or the QMGuid of a Ping Response (erratum E11: real Windows copies it). The
    peer ends this attempt by a response that contains another GUID. The SUT connects to the same port again, and its
    request has the same GUIDs.
    """
    session = OutgoingSession(peer, sut)
    connection = session.listener.accept()
    first_packet = connection.poll_packet(0) if connection else None
    bits = read_in_flag_and_packet_type(first_packet)
    where = f"over TCP to port {sut.file.driver.peer_tcp_port}"
    judge(
        "MQQB-3.1.5.2.3-02",
        expected=holds(f"the SUT sends a packet {where}"),
        observed=bool(first_packet) or ("no packet" if connection else "no connection"),
        evidence=first_packet,
    )
    if connection is None or first_packet is None:
        raise ConformanceFailure("the SUT sent no request for its message")
    judge("MQQB-3.1.5.2.3-04", expected=1, observed=bits["IN"], case="IN of the first packet", evidence=first_packet)
    judge("MQQB-3.1.5.2.3-05", expected=2, observed=bits["PT"], case="PT of the first packet", evidence=first_packet)
    judge.conclude("MQQB-3.1.5.2.3-04", "MQQB-3.1.5.2.3-05")
    if first_packet.kind != "EstablishConnection":
        raise ConformanceFailure(f"the SUT's first packet is {first_packet.kind} instead of EstablishConnection")
    _judge_guids(peer, sut, judge, first_packet)
    connection.send(establish_response(peer, first_packet, ServerGuid=OTHER_GUID))
    connection.poll("ConnectionParameters")
    connection.close()
    again = session.listener.accept(sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS))
    judge(
        "MQQB-3.1.5.2.3-02",
        expected=holds(f"the SUT connects again {where}"),
        observed=again is not None or "no connection",
        evidence=first_packet,
    )
    judge.conclude("MQQB-3.1.5.2.3-02")
    if again is None:
        raise ConformanceFailure("the SUT did not connect again for its message")
    _judge_guids(peer, sut, judge, again.expect("EstablishConnection"))


def _judge_guids(peer, sut, judge, request: Frame) -> None:
    """Judge both GUIDs of a request for a direct name."""
    header = request["EstablishConnectionHeader"]
    judge(
        "MQQB-3.1.5.2.3-07",
        expected=format_guid(sut.guid),
        observed=format_guid(header.ClientGuid),
        case="ClientGuid of the request",
        evidence=request,
    )
    from_ping_response = [format_guid(peer.identifier)] if list_pings(peer) else []
    judge(
        "MQQB-3.1.5.2.3-09",
        expected=one_of(format_guid(NULL_GUID), *from_ping_response),
        observed=format_guid(header.ServerGuid),
        case="ServerGuid of the request",
        evidence=request,
    )


@needs("timers")
@covers("MQQB-3.1.5.2.3-10", "MQQB-3.1.5.2.3-11")
def test_time_stamps_of_two_requests_differ_by_elapsed_milliseconds(peer, sut, judge):
    """The SUT sends two EstablishConnection requests: their TimeStamps differ by the time between the requests in ms,
    and SE is 1 in a request without a ping.
    """
    retry_after_ms = sut.get_timer_duration_ms("session_retry_connect_ms", RETRY_CONNECT_TIMER_MS)
    session = OutgoingSession(peer, sut)
    first_packet = session.await_request()
    session.connection.close()
    peer.pass_time(sut.duration_ms(retry_after_ms))
    second_packet = session.await_request()
    elapsed = peer.measure_duration(first_packet, second_packet)
    passed_ms = _get_time_stamp_of_request(second_packet) - _get_time_stamp_of_request(first_packet) & 0xFFFFFFFF
    judge(
        "MQQB-3.1.5.2.3-10",
        expected=between(*elapsed.get_allowed_range(elapsed.ms * 3 // 4, elapsed.ms * 5 // 4, passed_ms)),
        observed=passed_ms,
        case="difference of the two TimeStamps",
        evidence=[first_packet, second_packet],
    )
    judge.conclude("MQQB-3.1.5.2.3-10")
    without_ping = [
        frame
        for frame, since in ((first_packet, 0), (second_packet, first_packet.number))
        if not list_pings(peer, since, frame.number)
    ]
    if not without_ping:
        raise ConformanceFailure(
            "the SUT sends a ping before each request: for such requests, the document and captured frames "
            "disagree about SE (E03)"
        )
    for request in without_ping:
        judge(
            "MQQB-3.1.5.2.3-11",
            expected=1,
            observed=request["EstablishConnectionHeader"].SE,
            case="SE of the request",
            evidence=request,
        )


def _get_time_stamp_of_request(request: Frame) -> int:
    return int(request["EstablishConnectionHeader"].TimeStamp)

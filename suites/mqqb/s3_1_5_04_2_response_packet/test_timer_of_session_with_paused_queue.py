"""MS-MQQB 3.1.5.4.2 Response Packet: the Session Initialization Timer of a session whose outgoing queue is paused."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import packet
from harness.peer.inbox import parameters_response
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import INITIALIZATION_TIMER_MS
from suites.mqqb.steps.outgoing_session import OutgoingSession


@needs("timers", "send", "pause")
@covers("MQQB-3.1.5.4.2-06")
def test_session_of_paused_queue_survives_initialization_timer(peer, sut, judge):
    """An application pauses the outgoing queue before the peer sends the ConnectionParameters response. The session is
    still open when the Session Initialization Timer would have expired. When the application resumes the queue, the SUT
    sends its message on this session.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", INITIALIZATION_TIMER_MS)
    to = peer.direct_name()
    session = OutgoingSession(peer, sut, to)
    session.await_request()
    session.respond()
    connection = session.connection
    sut.pause(to)
    sent = connection.send(parameters_response(session.parameters))
    peer.settle()
    if connection.closed_by_sut:
        raise ConformanceFailure("the SUT closed the session when its outgoing queue was paused")
    if connection.messages:
        connection.acknowledge_all()
        raise ConformanceFailure("the SUT sent its message although its outgoing queue was paused")
    peer.pass_time(sut.duration_ms(lasts_ms) + sut.slack_ms(lasts_ms))
    is_open = not connection.closed_by_sut
    sut.resume(to)
    message = connection.poll("UserMessage") if is_open else None
    judge(
        "MQQB-3.1.5.4.2-06",
        expected=packet("UserMessage"),
        observed=message or connection,
        case="next packet on the session",
        evidence=[session.parameters, sent, message],
    )
    if is_open:
        connection.acknowledge_all()

"""MS-MQQB 3.1.5.4.2 Response Packet: the initiator stops its Session Initialization Timer."""

from __future__ import annotations

from harness.expectations import packet
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.opening import INITIALIZATION_TIMER_MS
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message


@needs("timers")
@covers("MQQB-3.1.5.4.2-06")
def test_initiated_session_survives_initialization_timer(peer, sut, judge):
    """The session of a second attempt has been open for longer than the Session Initialization Timer. The SUT sends its
    next message on this session.
    """
    lasts_ms = sut.get_timer_duration_ms("session_initialization_ms", INITIALIZATION_TIMER_MS)
    session = OutgoingSession(peer, sut)
    session.await_request()
    session.connection.close()
    first_message = session.open()
    connection = session.connection
    connection.send(session_ack(AckSequenceNumber=1))  # otherwise the Session Ack Wait Timer may close the session
    peer.pass_time(sut.duration_ms(lasts_ms) + sut.slack_ms(lasts_ms))
    is_open = not connection.closed_by_sut
    make_sut_send_message(peer, sut, peer.direct_name(), tag=2)
    next_message = connection.poll("UserMessage") if is_open else None
    judge(
        "MQQB-3.1.5.4.2-06",
        expected=packet("UserMessage"),
        observed=next_message or connection,
        case="next packet on the session",
        evidence=[first_message, next_message],
    )

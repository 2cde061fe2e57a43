"""MS-MQQB 3.1.5.2.2 Ping Mechanism: positive Ping Responses beside an open session, and after a failed ping."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import RETRY_INTERVAL_MS
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.pinging import PingingSut, read_ping
from suites.mqqb.steps.provoking import make_sut_send_message


@needs("ping_initiator")
@covers("MQQB-3.1.5.2.2-04")
def test_positive_ping_response_leads_to_request_beside_session_and_after_failure(peer, second_host, sut, judge):
    """A second queue manager has opened a session with the SUT. The SUT requests a session with the peer after a
    positive Ping Response whose RC differs from RC of the Ping Request. After a negative Ping Response and a further
    session, the SUT again requests a session after a positive Ping Response.
    """
    second_host.try_to_open_session()
    pinging = PingingSut(peer, sut)
    asked = pinging.await_ping()
    ping = read_ping(asked)
    answer = pinging.answer_ping(asked, RC=0 if ping is None else 1 - ping.RC)
    session = OutgoingSession(peer, sut, listener=pinging.listener)
    request = session.poll_request(sut.response_timeout_ms)
    judge(
        "MQQB-3.1.5.2.2-04",
        expected=pinging.SESSION_OPENED_OUTCOME,
        observed=pinging.NO_SESSION_OUTCOME if request is None else pinging.SESSION_OPENED_OUTCOME,
        case="positive Ping Response with a different RC, while another session is open",
        evidence=[asked, answer],
    )
    if request is None:
        return
    judge.conclude()
    session.respond()
    session.answer_connection_parameters()
    _end_session(peer, session.connection)
    make_sut_send_message(peer, sut, pinging.name, tag=2)
    pinging.answer_ping(pinging.await_ping(), RF=1)
    retry_ms = sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
    if session.poll_request(sut.response_timeout_ms + retry_ms) is None:
        raise ConformanceFailure("the SUT did not connect after the failed ping")
    session.respond()
    session.answer_connection_parameters()
    _end_session(peer, session.connection)
    make_sut_send_message(peer, sut, pinging.name, tag=3)
    asked = pinging.await_ping()
    answer = pinging.answer_ping(asked)
    judge(
        "MQQB-3.1.5.2.2-04",
        expected=pinging.SESSION_OPENED_OUTCOME,
        observed=pinging.await_session(sut.response_timeout_ms),
        case="positive Ping Response after a failed ping",
        evidence=[asked, answer],
    )


def _end_session(peer, connection):
    """Acknowledge the messages of a session, and close it."""
    connection.acknowledge_all()
    peer.settle()
    connection.close()
    peer.settle()

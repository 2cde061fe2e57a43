"""MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection.

The checks of 3.1.6.6 judge the Session Initialization Timer.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import facts, packet
from harness.peer.handshake import establish_request
from harness.run.marks import covers
from suites.mqqb.steps.opening import drop_echoed_packet, require_answer_or_close
from suites.mqqb.steps.outgoing_session import await_session_of_sut

EXPECTED_FIRST_ACK_FIELDS = {
    "SessionHeader.AckSequenceNumber": 1,
    "SessionHeader.RecoverableMsgAckSeqNumber": 1,
    "SessionHeader.RecoverableMsgAckFlags": 1,
}


@covers("MQQB-3.1.5.10-01")
def test_new_session_counts_messages_from_zero(peer, judge):
    """The peer sends messages on one session, and then one message on a second session. After the end of the first
    session, it sends one message on a third session. The SessionAcks on the later two sessions each count one message.
    The first session stays open when the second is opened.
    """
    earlier = peer.open_raw()
    for _ in range(2):
        if earlier.request_acknowledgment() is None:
            raise ConformanceFailure("the SUT acknowledged no message on the first connection")
    connection = peer.open_raw()
    acknowledged = connection.request_acknowledgment()
    judge(
        "MQQB-3.1.5.10-01",
        expected=packet("SessionAck", EXPECTED_FIRST_ACK_FIELDS),
        observed=acknowledged or connection,
        evidence=[earlier.last, connection.sent[-1], acknowledged],
    )
    beside = earlier.request_acknowledgment()
    judge(
        "MQQB-3.1.5.10-01",
        expected=packet("SessionAck", {"SessionHeader.AckSequenceNumber": 3}),
        observed=beside or earlier,
        case="first session",
        evidence=[earlier.sent[-1], beside],
    )
    for session in (earlier, connection):
        session.close()
    peer.settle()
    last = peer.open_raw()
    acknowledged = last.request_acknowledgment()
    judge(
        "MQQB-3.1.5.10-01",
        expected=packet("SessionAck", EXPECTED_FIRST_ACK_FIELDS),
        observed=acknowledged or last,
        case="third session",
        evidence=[last.sent[-1], acknowledged],
    )


@covers("MQQB-3.1.5.10-01", "MQQB-3.1.5.10-02")
def test_acceptor_answers_request_and_sends_nothing_before(peer, sut, judge):
    """The peer makes two connections and waits; then it sends an EstablishConnection request on each. The SUT sends
    nothing before the request, and answers each request. The SUT also answers a request while it has a session with the
    peer that the SUT opened itself.
    """
    connection, beside = peer.connect(), peer.connect()
    is_quiet = connection.stays_quiet()
    sent = connection.send(establish_request(peer))
    came = connection.poll_next_packet()
    observed = {
        "SUT_is_silent_before_the_request": is_quiet,
        "answer": require_answer_or_close(connection, drop_echoed_packet(sent, came)),
    }
    judge(
        "MQQB-3.1.5.10-02",
        expected=facts(SUT_is_silent_before_the_request=True, answer=packet()),
        observed=observed,
        evidence=[sent, came],
    )
    judge(
        "MQQB-3.1.5.10-01",
        expected=packet(),
        observed=observed["answer"],
        case="first of two connections",
        evidence=[sent, came],
    )
    sent = beside.send(establish_request(peer))
    came = beside.poll("EstablishConnection")
    answered = packet("EstablishConnection")
    judge.all(expected=answered, observed=came or beside, case="second connection", evidence=[sent, came])
    own = await_session_of_sut(peer, sut)
    other = peer.connect()
    sent = other.send(establish_request(peer))
    came = other.poll("EstablishConnection")
    judge.all(
        expected=answered,
        observed=came or other,
        case="connection while the SUT has its own session with the peer",
        evidence=[own.last, sent, came],
    )

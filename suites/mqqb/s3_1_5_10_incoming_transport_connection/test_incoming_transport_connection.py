"""MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection. The timer is judged with 3.1.6.6."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import facts, packet
from harness.peer.handshake import establish_request
from harness.run.marks import covers
from suites.mqqb.steps.opening import answer_to, next_packet, reaction

COUNTED_FROM_ZERO = {
    "SessionHeader.AckSequenceNumber": 1,
    "SessionHeader.RecoverableMsgAckSeqNumber": 1,
    "SessionHeader.RecoverableMsgAckFlags": 1,
}


@covers("MQQB-3.1.5.10-01")
def test_each_connection_counts_from_zero(peer, judge):
    """The first acknowledgment on a connection counts the messages of this connection only, whatever came on others."""
    earlier = peer.open_raw()
    for _ in range(2):
        if earlier.acknowledgment() is None:
            raise ConformanceFailure("the SUT acknowledged no message on the first connection")
    connection = peer.open_raw()
    acknowledged = connection.acknowledgment()
    judge(
        "MQQB-3.1.5.10-01",
        expected=packet("SessionAck", COUNTED_FROM_ZERO),
        observed=acknowledged or connection,
        evidence=[earlier.last, connection.sent[-1], acknowledged],
    )


@covers("MQQB-3.1.5.10-02")
def test_a_connection_waits_for_a_request(peer, judge):
    """The first thing on a new connection is the initiator's: nothing comes before it, and it is taken as a request."""
    connection = peer.connect()
    is_quiet = connection.quiet()
    sent = connection.send(establish_request(peer))
    came = next_packet(connection)
    observed = {"quiet": is_quiet, "answer": reaction(connection, answer_to(sent, came))}
    judge("MQQB-3.1.5.10-02", expected=facts(quiet=True, answer=packet()), observed=observed, evidence=[sent, came])

"""MS-MQQB 3.1.5.10 Handling an Incoming Transport Connection. The timer is judged with 3.1.6.6."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.peer.handshake import request
from harness.run.marks import covers
from suites.mqqb.steps.opening import ANSWERED, answer_to, next_packet, reaction


@covers("MQQB-3.1.5.10-01")
def test_each_connection_counts_from_zero(peer, judge):
    """The first acknowledgment on a connection counts the messages of this connection only, whatever came on others."""
    earlier = peer.open_raw()
    for _ in range(2):
        if earlier.acknowledgment() is None:
            raise ConformanceFailure("the SUT acknowledged no message on the first connection")
    connection = peer.open_raw()
    acknowledged = connection.acknowledgment()
    header = acknowledged["SessionHeader"] if acknowledged else None
    judge(
        "MQQB-3.1.5.10-01",
        expected="AckSequenceNumber 1, RecoverableMsgAckSeqNumber 1, RecoverableMsgAckFlags 0x1",
        observed=f"AckSequenceNumber {header.AckSequenceNumber}, "
        f"RecoverableMsgAckSeqNumber {header.RecoverableMsgAckSeqNumber}, "
        f"RecoverableMsgAckFlags 0x{header.RecoverableMsgAckFlags:X}"
        if header
        else "no SessionAck",
        evidence=[earlier.last, connection.sent[-1], acknowledged],
    )


@covers("MQQB-3.1.5.10-02")
def test_a_connection_waits_for_a_request(peer, judge):
    """The first thing on a new connection is the initiator's: nothing comes before it, and it is taken as a request."""
    connection = peer.connect()
    early = "nothing" if connection.quiet() else connection.outcome()
    sent = connection.send(request(peer))
    came = next_packet(connection)
    judge(
        "MQQB-3.1.5.10-02",
        expected=f"nothing, then {ANSWERED}",
        observed=f"{early}, then {reaction(connection, answer_to(sent, came))}",
        evidence=[sent, came],
    )

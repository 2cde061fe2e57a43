"""REGRESSIONS 830639: OrderAcks of sequences that the SUT never sent."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs, sut_survives
from harness.wire import OrderAckBody, TxSequenceID
from suites.mqqb.steps.ordering import build_order_ack, build_unknown_ack
from suites.mqqb.steps.sequences import SequenceSentBySut, read_sequence_id

UNKNOWN_SEQUENCE_ID_OFFSET = 0x0001_0000
"""The distance of an unknown sequence from the SUT's sequences, in seconds or in sequence numbers."""


@sut_survives()
@covers("REGRESSIONS-830639-01")
def test_order_ack_of_unknown_sequence_keeps_session(peer, judge):
    """After three OrderAcks of a sequence that the SUT never sent, the session still acknowledges messages."""
    connection = peer.open_raw()
    connection.require_session_ack_for_message()
    packets = [connection.send(build_unknown_ack(peer)) for _ in range(3)]
    ack = connection.request_acknowledgment()
    observed = ack is not None or connection.outcome()
    judge.all(
        expected=holds("the SUT acknowledges the messages on the session"), observed=observed, evidence=[*packets, ack]
    )


@sut_survives()
@needs("send")
@covers("REGRESSIONS-830639-01")
def test_order_ack_of_other_sequence_acknowledges_nothing(peer, sut, judge):
    """The peer sends OrderAcks of older and later sequences: these OrderAcks acknowledge neither of two waiting
    messages, and the SUT sends both messages again on the next connection.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-unknown")
    first, second = outgoing.send(2)
    frames = [outgoing.send_session_ack()]
    stamp, ordinal = read_sequence_id(first)
    for other in ((1, 1), (stamp, ordinal + UNKNOWN_SEQUENCE_ID_OFFSET), (stamp + UNKNOWN_SEQUENCE_ID_OFFSET, ordinal)):
        identifier = TxSequenceID(Ordinal=other[1] & 0xFFFF_FFFF, TimeStamp=other[0])
        body = OrderAckBody(TxSequenceID=identifier, TxSequenceNumber=2, TxPreviousSequenceNumber=1)
        frames.append(outgoing.session.send(build_order_ack(peer, second, body=bytes(body))))
    peer.settle()
    outgoing.session.close()
    outgoing.await_resend(2)
    resent = [number for number in (1, 2) if len(outgoing.copies(number)) > 1]
    evidence = [first, second, *frames, *outgoing.copies(2)[1:2]]
    judge(
        "REGRESSIONS-830639-01",
        expected=[1, 2],
        observed=resent,
        case="numbers of the messages sent again",
        evidence=evidence,
    )
    if resent:
        outgoing.acknowledge_all()

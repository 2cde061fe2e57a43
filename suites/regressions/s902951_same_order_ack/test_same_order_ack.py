"""REGRESSIONS 902951: a sequence that continues after a reconnect, at the receiver and at the sender."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import in_queue
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut


@covers("REGRESSIONS-902951-01")
def test_order_ack_advances_after_reconnect(peer, sut, judge):
    """After a reconnect, the SUT stores the second and the third message of a sequence once each, and sends an OrderAck
    with TxSequenceNumber 3.
    """
    receiver = Receiver(peer, sut)
    wanted = [f"{number} of {peer.next_message_id()}" for number in (1, 2, 3)]
    sent = [receiver.send(label=wanted[0])]
    first_ack = receiver.await_last_acknowledgment(1)
    if first_ack is None or read_acknowledged_sequence_position(first_ack).TxSequenceNumber != 1:
        raise ConformanceFailure("the SUT did not acknowledge the first message of the sequence")
    receiver.session.close()
    second_session = receiver.session = peer.open_raw()
    # All of it was acknowledged; a sequence may end with its session (E41).
    nothing_before = {"PreviousTxSequenceNumber": 0}
    packets = [
        receiver.sequence.message(label=wanted[1], transaction=nothing_before),
        receiver.sequence.message(label=wanted[2]),
    ]
    sent += [second_session.send(packet) for packet in (*packets, packets[-1])]
    last = receiver.await_last_acknowledgment(3)
    expected: dict[str, Any] = {"TxSequenceNumber": 3}
    observed: dict[str, Any] = {
        "TxSequenceNumber": None if last is None else read_acknowledged_sequence_position(last).TxSequenceNumber
    }
    if sut.has("receive"):
        queue = sut.queue("transactional")
        peer.eventually(lambda: wanted[-1] in sut.labels(queue))
        expected["stored"] = in_queue(*wanted)
        observed["stored"] = [label for label in sut.labels(queue) if label in wanted]
    judge("REGRESSIONS-902951-01", expected=expected, observed=observed, evidence=[*sent, first_ack, last])


@needs("send")
@covers("REGRESSIONS-902951-02")
def test_message_without_order_ack_is_resent_after_reconnect(peer, sut, judge):
    """After a reconnect, the SUT sends the second message of a sequence again, because only the OrderAck of the first
    message has arrived (three times).
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-same-ack")
    sent = outgoing.send(2)
    frames = [outgoing.send_session_ack()]
    for _ in range(3):
        frames.append(outgoing.send_order_ack(1))
        peer.settle()
    outgoing.session.close()
    observed = outgoing.await_resend(2)
    evidence = [*sent, *frames, *outgoing.copies(2)[1:2]]
    judge(
        "REGRESSIONS-902951-02",
        expected=RESENT_OUTCOME,
        observed=observed,
        evidence=evidence,
        case="message without an OrderAck",
    )
    judge.conclude("REGRESSIONS-902951-02")
    if observed == RESENT_OUTCOME:
        outgoing.acknowledge_all()

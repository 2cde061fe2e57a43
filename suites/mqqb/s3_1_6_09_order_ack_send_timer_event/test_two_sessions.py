"""MS-MQQB 3.1.6.9 Order Ack Send Timer Event: the timers of two sessions."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.ordering import Receiver, read_acknowledged_sequence_position


@needs("queue_control")
@covers("MQQB-3.1.5.8.6-03", "MQQB-3.1.5.8.6-04", "MQQB-3.1.6.9-01")
def test_order_acks_of_two_sessions_are_sent(peer, sut, judge):
    """The peer sends messages of two sequences to two queues on one session, and of a third sequence to a third queue
    on a second session. The SUT sends an OrderAck for each of the three sequences.
    """
    receiver = Receiver(peer, sut)
    others = [Sequence(peer, ordinal=ordinal) for ordinal in (2, 3)]
    queues = [sut.new_queue(name, transactional=True) for name in ("ordered", "ordered-too")]
    packets = [
        other.message(destination=rf"TCP:{sut.address}\{queue}") for other, queue in zip(others, queues, strict=True)
    ]
    sent = [receiver.send(), receiver.session.send(packets[0]), peer.open_raw().send(packets[1])]
    wanted = [one.identifier.Ordinal for one in (receiver.sequence, *others)]

    def list_acknowledged_ordinals():
        return sorted(
            {read_acknowledged_sequence_position(frame).Ordinal for frame in receiver.list_acknowledgments()}
            & set(wanted)
        )

    receiver.poll(lambda: list_acknowledged_ordinals()[2:], 0)
    judge.all(
        expected=wanted,
        observed=list_acknowledged_ordinals(),
        case="Ordinals of the acknowledged sequences",
        evidence=[*sent, *receiver.list_acknowledgments()],
    )

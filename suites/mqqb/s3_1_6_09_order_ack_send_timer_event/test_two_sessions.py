"""MS-MQQB 3.1.6.9 Order Ack Send Timer Event: the timers of two sessions."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.ordering import Receiver, read_ack_place


@needs("queue_control")
@covers("MQQB-3.1.6.9-01")
def test_order_acks_of_two_sessions_are_sent(peer, sut, judge):
    """The peer sends a transactional message on each of two sessions, to two queues: the SUT sends an OrderAck for each
    of the two sequences.
    """
    receiver, other = Receiver(peer, sut), Sequence(peer, ordinal=2)
    queue = sut.new_queue("ordered", transactional=True)
    sent = [receiver.send(), peer.open_raw().send(other.message(destination=rf"TCP:{sut.address}\{queue}"))]
    wanted = [one.identifier.Ordinal for one in (receiver.sequence, other)]

    def list_acknowledged():
        return sorted({read_ack_place(frame).Ordinal for frame in receiver.acknowledgments()} & set(wanted))

    receiver.poll(lambda: list_acknowledged()[1:], 0)
    judge(
        "MQQB-3.1.6.9-01",
        expected=wanted,
        observed=list_acknowledged(),
        case="Ordinals of the acknowledged sequences",
        evidence=[*sent, *receiver.acknowledgments()],
    )

"""MS-MQQB 3.1.5.8.6 Transactional Message Processing: a sequence that continues on the sender's next session."""

from __future__ import annotations

from harness.expectations import acknowledged
from harness.run.marks import covers, malforms
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.5.8.6-09", "MQQB-3.1.5.8.6-D02")
def test_repeated_messages_on_next_session_are_discarded(peer, sut, judge):
    """The peer sends two messages of a sequence and closes the session. On its next session, its only session, the peer
    repeats both messages and sends the third message: the SUT acknowledges the arrival of each message once.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    packets = [
        receiver.sequence.message(receiver.with_admin_queue(), label=f"number {number}", properties={"PA": 1})
        for number in (1, 2, 3)
    ]
    sent = [receiver.send_packet(packet) for packet in packets[:2]]
    receiver.await_acks(2)
    receiver.acknowledge_all()
    receiver.session.close()
    peer.settle()
    receiver.session = peer.open_raw()
    again = [receiver.send_packet(packet) for packet in packets]
    came = receiver.await_all(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent, again[2]), 3)
    judge.all(
        expected=acknowledged(*sent, again[2]),
        observed=came,
        case="acknowledgments of arrival",
        evidence=[*sent, *again, *came],
    )

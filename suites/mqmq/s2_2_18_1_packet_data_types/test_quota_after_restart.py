"""MS-MQMQ 2.2.18.1.6 Message Class Identifiers: the acknowledgments of a full queue after a restart."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import any_order
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import (
    AckClass,
    AcknowledgingReceiver,
    format_message_classes,
    list_message_class_names,
)


@needs("restart", "queues")
@covers("MQMQ-2.2.18.1.6-D01", "MQDMPR-3.1.7.1.9-07")
def test_stored_messages_count_against_quota_after_restart(peer, sut, judge):
    """A queue with a quota of two messages contains one message. After a restart, the second message gets
    ACK_REACH_QUEUE, and the third gets NACK_Q_EXCEED_QUOTA.
    """
    queue = sut.new_queue("full", quota_kb=12)
    to, body = rf"TCP:{sut.address}\{queue}", bytes(5_000)
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [receiver.send_packet(receiver.build_message({"DM": 1}, destination=to, body=body, properties={"PA": 1}))]
    if not receiver.await_messages_of_sut(lambda: receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent), 1):
        raise ConformanceFailure("the first message did not arrive in the queue")
    sut.restart()
    receiver.session = peer.open_raw()
    for _ in range(2):
        packet = receiver.build_message({"DM": 1}, destination=to, body=body, properties={"PA": 1, "NA": 1})
        sent.append(receiver.send_packet(packet))
    acks = receiver.await_messages_of_sut(
        lambda: (
            receiver.list_acks_of_class(AckClass.REACH_QUEUE, *sent[1:])
            + receiver.list_acks_of_class(AckClass.Q_EXCEED_QUOTA, *sent)
        ),
        2,
    )
    judge(
        "MQMQ-2.2.18.1.6-D01",
        "MQDMPR-3.1.7.1.9-07",
        expected=any_order(*format_message_classes(AckClass.REACH_QUEUE, AckClass.Q_EXCEED_QUOTA)),
        case="acknowledgments",
        observed=list_message_class_names(acks),
        evidence=[*sent, *acks],
    )
    receiver.acknowledge_all()

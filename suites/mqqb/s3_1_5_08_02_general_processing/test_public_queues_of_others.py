"""MS-MQQB 3.1.5.8.2 General Processing: messages for public queues of other queue managers."""

from __future__ import annotations

from harness.expectations import acknowledgments_of_classes, one_of
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import PublicQueueFormatName
from suites.mqqb.s3_1_5_08_02_general_processing.test_messages_for_others import LOWEST_REFUSED_HOP_COUNT
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver


@needs("public_names")
@covers("MQQB-3.1.5.8.2-41", "MQQB-3.1.5.8.2-44")
def test_acknowledgments_of_message_to_public_queue_with_too_many_hops(peer, sut, judge):
    """The peer sends two transactional messages with RC 0x1D to a public queue of another queue manager, one of them
    with NA. The SUT sends two FinalAcks of class HOP_COUNT_EXCEEDED, or no FinalAck, and at most one administration
    acknowledgment, of the same class (E30).
    """
    receiver = AcknowledgingReceiver(peer, sut)
    user = receiver.add_admin_queue_fields(
        {
            "QueueManagerAddress": peer.identifier,
            "DestinationQueue": PublicQueueFormatName(PublicQueueIdentifier=PEER_PUBLIC_QUEUE),
            "RC": LOWEST_REFUSED_HOP_COUNT,
        }
    )
    sent = [receiver.send(user, destination=None, properties={"NA": na}) for na in (0, 1)]
    finals = receiver.await_messages_of_sut(receiver.list_final_acks, 2)
    acks = receiver.await_acks(1)
    judge(
        "MQQB-3.1.5.8.2-41",
        expected=one_of(acknowledgments_of_classes(AckClass.HOP_COUNT_EXCEEDED), acknowledgments_of_classes()),
        observed=acks,
        case="administration acknowledgments",
        evidence=[*sent, *acks],
    )
    judge(
        "MQQB-3.1.5.8.2-44",
        expected=one_of(acknowledgments_of_classes(*[AckClass.HOP_COUNT_EXCEEDED] * 2), acknowledgments_of_classes()),
        observed=finals,
        case="FinalAcks",
        evidence=[*sent, *finals],
    )
    receiver.acknowledge_all()

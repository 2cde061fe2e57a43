"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: administration queues and destination queues of queue managers
other than the SUT.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire import PrivateQueueFormatName, PrivateQueueFormatNameId
from suites.mqqb.steps.disposition import (
    AckClass,
    AcknowledgingReceiver,
    get_correlation_id,
    identifier,
    receive_first_message,
)
from suites.mqqb.steps.opening import OTHER_GUID, format_guid

ADMIN_QUEUE_NUMBER = 0x5A0B_0C06
DESTINATION_QUEUE_NUMBER = 0x5A0B_0C07
EXCEEDED_HOP_COUNT = 0x1D
"""A hop count with which a message is not forwarded (E29)."""
RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_SOURCE, RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_DESTINATION = 2, 3


@covers("MQQB-3.1.7.15-09")
@needs("receive", "private_names")
def test_acknowledgment_of_receipt_for_third_queue_manager_does_not_name_peer(peer, sut, judge):
    """An application receives two messages. The administration queue of the first is a private queue of a third queue
    manager, and that of the second is a private queue of the peer. The SUT addresses to the peer only the
    acknowledgment of the second message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    there, here = (
        PrivateQueueFormatName(SourceQueueManager=guid, PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)
        for guid in (OTHER_GUID, peer.identifier)
    )
    sent = [
        receiver.send_packet(peer.message({"AQ": 6, "AdminQueue": name}, properties={"PR": 1}))
        for name in (there, here)
    ]
    if not peer.eventually(lambda: len(sut.messages()) == len(sent)):
        raise ConformanceFailure("the messages did not arrive in their queue")
    for _ in sent:
        receive_first_message(sut, sut.queue())
    came = receiver.await_acks(1)
    if not receiver.list_acks_of_class(AckClass.RECEIVE, sent[1]):
        raise ConformanceFailure("the SUT did not acknowledge the message with an administration queue on the peer")
    own = format_guid(peer.identifier)
    acks = [ack for ack in came if get_correlation_id(ack) == identifier(sent[0])]
    hosts = [format_guid(ack["UserHeader"].QueueManagerAddress) for ack in acks]
    judge(
        "MQQB-3.1.7.15-09",
        expected=0,
        observed=hosts.count(own),
        case="acknowledgments of the first message that name the peer",
        evidence=[*sent, *came],
    )


@covers("MQQB-3.1.7.15-21")
@needs("private_names")
def test_response_queue_of_acknowledgment_from_router_is_destination(peer, sut, judge):
    """The peer sends a message that is addressed to a private queue of the peer, with a hop count with which the SUT
    does not forward it. If the SUT acknowledges the refusal (erratum E30), the response queue of the acknowledgment is
    that private queue of the peer.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    fields = peer.build_fields_for_private_destination(peer.identifier, DESTINATION_QUEUE_NUMBER) | {
        "RC": EXCEEDED_HOP_COUNT
    }
    sent = receiver.send_packet(receiver.build_message(fields, destination=None, properties={"NA": 1}))
    acks = [ack for ack in receiver.await_acks(1) if get_correlation_id(ack) == identifier(sent)]
    if not acks:
        judge.mark_not_exercised("MQQB-3.1.7.15-21", reason="the SUT does not acknowledge this refusal (E30)")
        return
    for ack in acks:
        judge(
            "MQQB-3.1.7.15-21",
            expected=(format_guid(peer.identifier), DESTINATION_QUEUE_NUMBER),
            observed=_read_response_queue(ack),
            case="queue manager and number of the response queue",
            evidence=[sent, ack],
        )


def _read_response_queue(ack) -> tuple[str, int]:
    """Return the queue manager and the number of the private queue that is the response queue of a message."""
    user = ack["UserHeader"]
    name = user.ResponseQueue
    host = getattr(name, "SourceQueueManager", None)
    if isinstance(name, PrivateQueueFormatNameId):
        by_type = {
            RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_SOURCE: user.SourceQueueManager,
            RESPONSE_QUEUE_TYPE_RQ_OF_QUEUE_ON_DESTINATION: user.QueueManagerAddress,
        }
        host = by_type.get(int(user.RQ))
    return "no private queue" if host is None else format_guid(host), int(getattr(name, "PrivateQueueIdentifier", 0))

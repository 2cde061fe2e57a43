"""MS-MQQB 3.1.7.2.1 Administration Acknowledgment: two messages with different administration queues and deliveries."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import (
    RECEIVE,
    AcknowledgingReceiver,
    get_correlation_id,
    identifier,
    receive_first_message,
)


@needs("receive", "queues")
@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-01", "MQQB-3.1.7.2.1-02", "MQQB-3.1.7.2.1-D01")
def test_each_acknowledgment_has_queue_and_delivery_of_its_message(peer, sut, judge):
    """An application receives three messages with different administration queues: a recoverable, an express, and
    another recoverable message. The SUT sends each ACK_RECEIVE to the administration queue of its message, and in the
    delivery mode of this message.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queue = sut.queue("plain")
    cases = (("mqc-admin-a", 1), ("mqc-admin-b", 0), ("mqc-admin-c", 1))
    names = [rf"tcp:{peer.address}\private$\{name}" for name, _ in cases]
    sent = [
        receiver.send_packet(receiver.build_message({"AdminQueue": name, "DM": DM}, properties={"PR": 1}))
        for name, (_, DM) in zip(names, cases, strict=True)
    ]
    if not peer.eventually(lambda: len(sut.messages("plain")) == len(sent)):
        raise ConformanceFailure("the messages did not arrive in their queue")
    for _ in sent:
        receive_first_message(sut, queue)
        receiver.await_acks(0)
    receiver.await_acks(len(sent))
    acks = {get_correlation_id(ack): ack for ack in receiver.list_acks_of_class(RECEIVE, *sent)}
    came = [acks.get(identifier(message)) for message in sent]
    evidence = [*sent, *acks.values()]
    judge(
        "MQQB-3.1.7.2-01",
        "MQQB-3.1.7.2.1-D01",
        expected=names,
        observed=[_get_destination_name(ack) for ack in came],
        case="destinations of the acknowledgments",
        evidence=evidence,
    )
    for rule, delivery in (("MQQB-3.1.7.2.1-01", 1), ("MQQB-3.1.7.2.1-02", 0)):
        found = [ack for ack, (_, DM) in zip(came, cases, strict=True) if delivery == DM]
        judge(
            rule,
            expected=[delivery] * len(found),
            observed=[None if ack is None else int(ack["UserHeader"].DM) for ack in found],
            case="DM of the acknowledgments",
            evidence=evidence,
        )
    receiver.acknowledge_all()


def _get_destination_name(ack) -> str:
    """Return the direct name to which an acknowledgment is addressed."""
    if ack is None:
        return "no acknowledgment"
    return str(getattr(ack["UserHeader"].DestinationQueue, "DirectFormatName", "no direct name")).rstrip("\0").lower()

"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: messages without an administration queue beside others, and
administration queues of another host.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import acknowledged, holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver, receive_first_message


@needs("receive")
@covers("MQQB-3.1.7.15-03")
def test_message_without_administration_queue_after_other_message_is_not_acknowledged(peer, sut, judge):
    """An application receives a message with an administration queue, and then a message without one, which also
    requests an acknowledgment of its receipt. Only the first message is acknowledged.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queue = sut.queue("plain")
    sent = [
        receiver.send_packet(receiver.build_message(properties={"PR": 1})),
        receiver.send_packet(peer.message(properties={"PR": 1})),
    ]
    if not peer.eventually(lambda: len(sut.messages("plain")) == len(sent)):
        raise ConformanceFailure("the messages did not arrive in their queue")
    for _ in sent:
        receive_first_message(sut, queue)
    came = receiver.await_acks(1)
    peer.pass_time(sut.quiet_ms)
    came = receiver.list_admin_acks()
    judge("MQQB-3.1.7.15-03", expected=acknowledged(sent[0]), observed=came, evidence=[*sent, *came])


@covers("MQQB-3.1.7.15-15")
def test_acknowledgment_of_refusal_goes_to_direct_name_of_other_host(peer, second_host, sut, judge):
    """The peer sends a message without a transaction to a transactional queue, which the SUT refuses, and a message
    that the SUT accepts. The administration queue has a direct format name of a second host: the acknowledgments
    arrive there.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    second_host.inbox.listen()
    there = {"AdminQueue": rf"TCP:{second_host.address}\private$\mqc-acks"}
    sent = [
        receiver.send_packet(receiver.build_message(there, queue="transactional", properties={"NA": 1})),
        receiver.send_packet(receiver.build_message(there, properties={"PA": 1})),
    ]
    for message, value in zip(sent, (AckClass.NOT_TRANSACTIONAL_MSG, AckClass.REACH_QUEUE), strict=True):
        came = second_host.inbox.wait(
            lambda frame, wanted=value: int(frame["MessagePropertiesHeader"].MessageClass) == wanted
        )
        judge(
            "MQQB-3.1.7.15-15",
            expected=holds("the acknowledgment arrives at the second host", otherwise="it does not arrive there"),
            observed=bool(came),
            case=f"acknowledgment of class 0x{int(value):04X}",
            evidence=[message, *came],
        )
    second_host.inbox.acknowledge()

"""MS-MQQB 3.1.1.3.1 Session State, 3.1.1.3.2 Persistent State Storage: messages and sequences after a restart."""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.run.marks import covers, malforms, needs, varied
from suites.mqqb.steps.ordering import Receiver, build_order_ack
from suites.mqqb.steps.restarting import UNCHANGED_ACK_OUTCOME, describe_change
from suites.mqqb.steps.sender import Sender

FIELDS_OF_MESSAGE_WITH_ALL_PROPERTIES: dict[str, Any] = {
    "label": "a label",
    "priority": 6,
    "acks": ["positive_arrival", "positive_receive"],
    "time_to_be_received_s": 80_000,
    "time_to_reach_queue_s": 70_000,
}

TAG_OF_HIGH_PRIORITY_MESSAGE = 2


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-12", "MQQB-3.1.1.3.2-02")
def test_unacknowledged_messages_come_unchanged_after_restart(peer, sut, judge):
    """The SUT restarts while recoverable and transactional messages are unacknowledged. It sends these messages again
    with every field unchanged. It sends messages of the same priority in the order in which the application sent them.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-whole"))
    queues = {"admin_queue": peer.direct_name("mqc-acks"), "response_queue": peer.direct_name("mqc-answers")}
    sender.send(1, delivery="recoverable", priority=0)
    sender.send(2, delivery="recoverable", **FIELDS_OF_MESSAGE_WITH_ALL_PROPERTIES, **queues)
    sender.send(3, 4, delivery="transactional")
    sender.send(5, delivery="transactional", **{**FIELDS_OF_MESSAGE_WITH_ALL_PROPERTIES, "priority": 0}, **queues)
    sender.send(6, delivery="recoverable", priority=0)
    _, came = sender.await_first_messages(6)
    earlier = dict(zip(Sender.list_tags(came), came, strict=True))
    sut.restart()
    session = sender.poll_session()
    resent = [] if session is None else sender.collect_messages(session, len(earlier))
    judge.all(
        expected=sorted(earlier),
        observed=sorted(Sender.list_tags(resent)),
        case="numbers of the messages sent after a restart",
        evidence=[*came, *resent],
    )
    judge(
        "MQQB-3.1.1.3.1-12",
        expected=[1, 3, 4, 5, 6],
        observed=[tag for tag in dict.fromkeys(Sender.list_tags(resent)) if tag != TAG_OF_HIGH_PRIORITY_MESSAGE],
        case="messages of priority 0 after a restart, in order",
        evidence=[*came, *resent],
    )
    for tag, frame in zip(Sender.list_tags(resent), resent, strict=True):
        observed = describe_change(earlier[tag], frame, sut.guid) if tag in earlier else "never sent before"
        evidence = [*came, frame]
        judge(
            "MQQB-3.1.1.3.2-02",
            expected=UNCHANGED_ACK_OUTCOME,
            observed=observed,
            case=f"message {tag} after a restart",
            evidence=evidence,
        )
    if session is not None:
        session.acknowledge_all()
        session.send(build_order_ack(peer, earlier[5]))
        peer.settle()


@needs("send", "restart")
@covers("MQQB-3.1.1.3.2-02")
@pytest.mark.parametrize("acknowledged_count", [1, 2])
def test_outgoing_sequence_number_continues_after_restart(peer, sut, judge, acknowledged_count):
    """The SUT has sent three transactional messages, the peer has sent OrderAcks for one or two of them, and the SUT
    restarts. The fourth message has the number that follows the number of the third, in the same sequence.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-number"))
    sender.send(1, 2, 3, delivery="transactional")
    session, sent = sender.await_first_messages(3)
    session.acknowledge_all()
    session.send(build_order_ack(peer, sent[acknowledged_count - 1]))
    peer.settle()
    sut.restart()
    sender.send(4, delivery="transactional")
    again = sender.await_session()
    came = sender.collect_messages(again, 4 - acknowledged_count)
    new = next((frame for frame, tag in zip(came, Sender.list_tags(came), strict=True) if tag == 4), None)
    if new is None:
        raise ConformanceFailure("the message that was sent after the restart did not arrive")
    last, header = sent[2]["TransactionHeader"], new["TransactionHeader"]
    if bytes(header.TxSequenceID) == bytes(last.TxSequenceID):
        judge(
            "MQQB-3.1.1.3.2-02",
            expected=int(last.TxSequenceNumber) + 1,
            observed=int(header.TxSequenceNumber),
            case="TxSequenceNumber of the first message after the restart",
            evidence=[*sent, *came],
        )
    again.acknowledge_all()
    again.send(build_order_ack(peer, new))
    peer.settle()


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("restart", "receive", "queues")
@covers("MQQB-3.1.1.3.1-08", "MQQB-3.1.1.3.1-09")
@pytest.mark.parametrize("taken", [False, True], ids=["there", "taken"])
@pytest.mark.parametrize("count", [1, 3])
@varied("queue journaling", body=("short", "5,000 bytes"))
def test_incoming_sequence_continues_after_restart(peer, sut, judge, count, taken):
    """After a restart, the SUT accepts the next message of an incoming sequence. It accepts neither a repetition of the
    last message nor a message after a gap. The messages that arrived before the restart are still in the queue, unless
    an application has received them. All messages are for one queue, because the document does not define whether a
    sequence belongs to one queue (erratum E41).
    """
    receiver = Receiver(peer, sut)
    queue = sut.new_queue("sequence", transactional=True)
    sent: list[Frame] = []

    def send_next_message(number: int, label: str) -> None:
        receiver.sequence.number = number - 1
        sent.append(receiver.send(destination=rf"TCP:{sut.address}\{queue}", label=label))

    def list_labels() -> list[str]:
        return [one["label"] for one in sut.control.call("peek", queue=queue)["messages"]]

    for number in range(1, count + 1):
        send_next_message(number, f"sent before ({number})")
    if not peer.eventually(lambda: len(list_labels()) == count):
        raise ConformanceFailure("the messages did not arrive in their queue")
    receiver.poll_acknowledgment()
    while taken and sut.control.call("receive", queue=queue, timeout_ms=0)["message"]:
        pass
    expected = [*list_labels(), "sent after"]
    sut.restart()
    receiver.session = peer.open_raw()
    send_next_message(count, "the same again")
    send_next_message(count + 2, "too early")
    send_next_message(count + 1, "sent after")
    peer.eventually(lambda: "sent after" in list_labels())
    judge.all(expected=expected, observed=list_labels(), case="messages in the queue after a restart", evidence=sent)

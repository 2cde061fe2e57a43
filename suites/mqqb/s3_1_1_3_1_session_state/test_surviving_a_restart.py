"""MS-MQQB 3.1.1.3.1 Session State, 3.1.1.3.2 Persistent State Storage: messages and sequences after a restart."""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.run.marks import covers, malforms, needs
from harness.wire import session_ack
from suites.mqqb.steps.disposition import AcknowledgingReceiver, correlation, identifier
from suites.mqqb.steps.ordering import Receiver, order_ack
from suites.mqqb.steps.sender import Sender, tags
from suites.mqqb.steps.sequences import header
from suites.whole_messages import described

SAME = "as it was sent before"
FULL: dict[str, Any] = {
    "label": "a label",
    "priority": 6,
    "acks": ["positive_arrival", "positive_receive"],
    "time_to_be_received_s": 80_000,
    "time_to_reach_queue_s": 70_000,
}

MADE_ANEW = ("message_id", "sent_time")
"""What an acknowledgment may have another of after a restart: nothing says that it is the same message."""


def _differs(before: Frame, after: Frame, receiver: Any) -> str:
    """Say in one line what of a message is not as it was sent before."""
    one, other = described(before, receiver), described(after, receiver)
    wrong = [
        f"{name} {other[name]} for {value}"
        for name, value in one.items()
        if other[name] != value and not (name in MADE_ANEW and _is_acknowledgment(before))
    ]
    if before["UserHeader"].TH and _in_sequence(before) != _in_sequence(after):
        wrong.append(f"{_in_sequence(after)} for {_in_sequence(before)}")
    return "; ".join(wrong) or SAME


def _is_acknowledgment(frame: Frame) -> bool:
    return bool(frame["MessagePropertiesHeader"].MessageClass)


def _in_sequence(frame: Frame) -> str:
    tx = header(frame)
    return f"number {tx.TxSequenceNumber} of {tx.TxSequenceID}, transaction {tx.ID}, FM {tx.FM}, LM {tx.LM}"


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-12", "MQQB-3.1.1.3.2-02")
def test_messages_are_sent_after_a_restart_as_they_were_before(peer, sut, judge):
    """Recoverable and transactional messages that came and were not acknowledged come again after a restart: whole."""
    sender = Sender(peer, sut, peer.direct_name("mqc-whole"))
    queues = {"admin_queue": peer.direct_name("mqc-acks"), "response_queue": peer.direct_name("mqc-answers")}
    sender.send(1, delivery="recoverable")
    sender.send(2, delivery="recoverable", **FULL, **queues)
    sender.send(3, 4, delivery="transactional")
    sender.send(5, delivery="transactional", **{**FULL, "priority": 0}, **queues)
    _, came = sender.first(5)
    before = dict(zip(tags(came), came, strict=True))
    sut.restart()
    session = sender.next_session()
    again = [] if session is None else sender.collect(session, len(before))
    judge.all(expected=sorted(before), observed=sorted(tags(again)), evidence=[*came, *again])
    for tag, frame in zip(tags(again), again, strict=True):
        observed = _differs(before[tag], frame, sut.guid) if tag in before else "never sent before"
        judge.all(expected=SAME, observed=observed, case=f"message {tag}", evidence=[*came, frame])
    if session is not None:
        sender.acknowledge_all(session)
        session.send(order_ack(peer, before[5]))
        peer.settle()


@needs("restart")
@covers("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02")
def test_what_was_acknowledged_on_the_session_does_not_come_after_a_restart(peer, sut, judge):
    """Of four recoverable messages the first and the third are acknowledged: the others come after a restart."""
    sender = Sender(peer, sut, peer.direct_name("mqc-acknowledged"))
    sender.send(1, 2, 3, 4, delivery="recoverable")
    session, sent = sender.first(4)
    ack = session.send(session_ack(AckSequenceNumber=4, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=0b101))
    peer.settle()
    sut.restart()
    after = sender.session()
    came = sender.collect_all(after, 2)
    numbers = [tags(sent).index(tag) + 1 for tag in tags(came)]
    evidence = [ack, *came]
    not_again = holds("not again", otherwise="again")
    judge("MQQB-3.1.5.5.3-01", expected=not_again, observed=1 not in numbers, case="message 1", evidence=evidence)
    above = [number for number in numbers if number > 1]
    judge("MQQB-3.1.5.5.3-02", expected=[2, 4], observed=above, case="messages", evidence=evidence)
    sender.acknowledge_all(after)


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("restart", "receive", "queue_control")
@covers("MQQB-3.1.1.3.1-08", "MQQB-3.1.1.3.1-09")
@pytest.mark.parametrize("taken", [False, True], ids=["there", "taken"])
@pytest.mark.parametrize("count", [1, 3])
def test_the_incoming_sequence_goes_on_after_a_restart_where_it_was(peer, sut, judge, count, taken):
    """A sequence brought messages that may have been taken since. After a restart it goes on with its next message;
    neither the one before nor the one behind that is taken. One queue only: whose the sequence is, is open (E41).
    """
    receiver = Receiver(peer, sut)
    queue = sut.new_queue("sequence", transactional=True)
    sent: list[Frame] = []

    def give(number: int, label: str) -> None:
        receiver.sequence.number = number - 1
        sent.append(receiver.send(destination=rf"TCP:{sut.address}\{queue}", label=label))

    def labels() -> list[str]:
        return [one["label"] for one in sut.control.call("peek", queue=queue)["messages"]]

    for number in range(1, count + 1):
        give(number, f"{number} before")
    if not peer.eventually(lambda: len(labels()) == count):
        raise ConformanceFailure("the messages did not come into their queue")
    receiver.poll_acknowledgment()
    while taken and sut.control.call("receive", queue=queue, timeout_ms=0)["message"]:
        pass
    expected = [*labels(), "next"]
    sut.restart()
    receiver.session = peer.open_raw()
    give(count, "the same again")
    give(count + 2, "too early")
    give(count + 1, "next")
    peer.eventually(lambda: "next" in labels())
    judge.all(expected=expected, observed=labels(), evidence=sent)


def _after_restart(receiver: Receiver, wanted: Frame) -> Frame | None:
    """Restart the SUT; return what it then sends of what it sent before."""
    sut, inbox = receiver.sut, receiver.peer.inbox
    known = len(inbox.copies)

    def came() -> list[Frame]:
        return [frame for frame in inbox.copies[known:] if _of(frame) == _of(wanted)]

    sut.restart()
    receiver.peer.environment.run_until(lambda: bool(came()), sut.connect_timeout_ms + sut.response_timeout_ms)
    return next(iter(came()), None)


def _of(ack: Frame) -> tuple[object, ...]:
    """Return what an acknowledgment says, and of which message."""
    properties = ack["MessagePropertiesHeader"]
    return properties.MessageClass, bytes(properties.CorrelationID), bytes(properties.MessageBody)


@needs("restart")
@covers("MQQB-3.1.7.15-25")
def test_the_acknowledgment_of_a_recoverable_message_comes_after_a_restart(peer, sut, judge):
    """An acknowledgment that came and was not acknowledged on its session comes again after a restart, as it was."""
    receiver = AcknowledgingReceiver(peer, sut)
    sent = receiver.give(receiver.asking({"DM": 1}, properties={"PA": 1}))
    before = receiver.poll(receiver.admin_acks)
    if before is None or correlation(before) != identifier(sent):
        raise ConformanceFailure("the message that asks for an acknowledgment of its arrival has none")
    after = _after_restart(receiver, before)
    observed = "gone" if after is None else _differs(before, after, sut.guid)
    judge("MQQB-3.1.7.15-25", expected=SAME, observed=observed, evidence=[sent, before, after])
    receiver.await_acks(1)


@needs("restart", "receive")
@covers("MQQB-3.1.7.17-D01")
def test_a_final_acknowledgment_comes_after_a_restart(peer, sut, judge):
    """A FinalAck that came and was not acknowledged on its session comes again after a restart, as it was."""
    receiver = Receiver(peer, sut)
    sent = receiver.send(transaction={"FA": 1})
    receiver.await_acknowledgment()
    peer.eventually(lambda: bool(sut.messages("transactional")))
    sut.control.call("receive", queue=sut.queue("transactional"), timeout_ms=0)
    before = receiver.await_acknowledgment(final=True)
    after = _after_restart(receiver, before)
    delivery = described(before, sut.guid)["delivery"]
    observed = {"delivery": delivery, "after": "gone" if after is None else _differs(before, after, sut.guid)}
    expected = facts(delivery="recoverable", after=SAME)
    judge("MQQB-3.1.7.17-D01", expected=expected, observed=observed, evidence=[sent, before, after])


@needs("send", "restart", "transactions")
@covers("MQMQ-2.2.20.5-07")
def test_a_transaction_after_a_restart_has_an_id_of_its_own(peer, sut, judge):
    """Of two transactions before a restart and two after it each has another ID."""
    sender = Sender(peer, sut, peer.direct_name("mqc-ids"))
    came: list[Frame] = []
    for first in (1, 3):
        for tag in (first, first + 1):
            transaction = sut.control.call("begin")["transaction"]
            sender.send(tag, transaction=transaction)
            sut.control.call("commit", transaction=transaction)
        session = sender.session()
        came += sender.collect_all(session, 2)
        sender.acknowledge_all(session)
        session.send(order_ack(peer, came[-1]))
        peer.settle()
        if first == 1:
            sut.restart()
    if sorted(set(tags(came))) != [1, 2, 3, 4]:
        raise ConformanceFailure(f"messages {tags(came)} came")
    own = {tag: int(header(frame).ID) for tag, frame in zip(tags(came), came, strict=True)}
    judge(
        "MQMQ-2.2.20.5-07",
        expected=holds("four IDs"),
        observed=len(set(own.values())) == len(own) or str(own),
        evidence=came,
    )

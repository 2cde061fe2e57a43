"""MS-MQSO 5.1.1.3 Messages and Message States: locked and transferred messages."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from suites.mqqb.steps.acknowledging import MESSAGE_AS_HEADER_CARRIER, send_session_header_in_carrier
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender


@needs("send", "receive", "queues", "transactions")
@covers(
    "MQSO-3.2.1-01",
    "MQSO-3.3.4.7-D01",
    "MQSO-3.3.4.7-D02",
    "MQSO-4.3.1.2-D06",
    "MQSO-4.3.1.2-D07",
    "MQSO-5.1.1.3-D05",
    "MQSO-5.1.1.3-D06",
    "MQSO-5.1.1.3-D07",
)
@pytest.mark.parametrize(("outcome", "left"), [("abort", "1"), ("commit", Outcome.NOTHING)], ids=["abort", "commit"])
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
@varied("acknowledgments", "positive journaling", "queue journaling", "queue quota", "queue privacy")
def test_received_message_is_locked_until_transaction_ends(sut, judge, external, outcome, left):
    """Two peeks leave a message in its queue. When a transaction has received the message, other reads do not find it.
    A commit deletes the message. An abort restores it, and so does the abort of a second transaction that receives it
    afterwards.
    """
    queue = sut.queue("transactional")
    sut.send_here(queue, ["1"], delivery="transactional")
    peeked = [sut.read_label("peek_message", queue=queue) for _ in range(2)]
    judge(
        "MQSO-5.1.1.3-D05",
        expected=facts(labels_returned_by_the_peeks=["1", "1"], labels_in_the_queue=["1"]),
        observed={"labels_returned_by_the_peeks": peeked, "labels_in_the_queue": sut.labels(queue)},
    )
    transaction = sut.control.call("begin", external=external)["transaction"]
    label = sut.read_label("receive", queue=queue, transaction=transaction)
    others = [sut.read_label(verb, queue=queue) for verb in ("peek_message", "receive")]
    judge(
        "MQSO-5.1.1.3-D06",
        "MQSO-3.3.4.7-D01",
        "MQSO-4.3.1.2-D06",
        expected=facts(label_of_the_received_message="1", reads_by_others=each(Outcome.NOTHING, "read")),
        observed={"label_of_the_received_message": label, "reads_by_others": others},
    )
    judge.conclude("MQSO-5.1.1.3-D05", "MQSO-5.1.1.3-D06", "MQSO-3.3.4.7-D01", "MQSO-4.3.1.2-D06")
    if external and outcome == "commit":
        sut.control.call("prepare", transaction=transaction)
    sut.control.call(outcome, transaction=transaction)
    judge(
        "MQSO-5.1.1.3-D07",
        "MQSO-3.2.1-01",
        "MQSO-3.3.4.7-D02",
        "MQSO-4.3.1.2-D07",
        expected=left,
        observed=sut.read_label("peek_message", queue=queue),
        case=f"label returned by a peek after the {outcome}",
    )
    if outcome == "abort":
        second = sut.control.call("begin", external=external)["transaction"]
        observed = [sut.read_label("receive", queue=queue, transaction=second)]
        sut.control.call("abort", transaction=second)
        observed.append(sut.read_label("peek_message", queue=queue))
        judge(
            "MQSO-5.1.1.3-D07",
            expected=["1", "1"],
            observed=observed,
            case="labels received in a second transaction, and returned by a peek after its abort",
        )


@needs("send", "queue_control")
@covers("MQSO-4.3.1.2-D05", "MQSO-5.1.1.3-D04")
@varied("positive journaling", "label", priority=("3", "0"))
def test_message_leaves_outgoing_queue_when_acknowledged(peer, sut, judge):
    """The SUT sends three messages. The express and the recoverable message are removed from the outgoing queue when
    the SessionAck arrives, and the transactional message when the OrderAck arrives. The SUT sends three such messages
    again. A message of the peer acknowledges them, and the SUT removes them in the same way.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-transferred"))
    for tag, delivery in enumerate(("express", "recoverable", "transactional"), 1):
        sender.send(tag, delivery=delivery)
    session, frames = sender.await_first_messages(3)

    def count_outgoing_messages() -> int:
        return sut.outgoing_queue(sender.to)["count"]

    counts = [count_outgoing_messages()]
    evidence = [*frames, session.acknowledge_all()]
    peer.eventually(lambda: count_outgoing_messages() <= 1)
    peer.settle()
    counts.append(count_outgoing_messages())
    transactional = next(frame for frame in frames if frame["UserHeader"].TH)
    evidence.append(session.send(build_order_ack(peer, transactional)))
    peer.eventually(lambda: count_outgoing_messages() == 0)
    counts.append(count_outgoing_messages())
    judge(
        "MQSO-5.1.1.3-D04",
        "MQSO-4.3.1.2-D05",
        expected=[3, 1, 0],
        observed=counts,
        evidence=evidence,
        case="number of messages in the outgoing queue after each acknowledgment",
    )
    for tag, delivery in enumerate(("express", "recoverable", "transactional"), 4):
        sender.send(tag, delivery=delivery)
    frames = sender.collect_messages(session, 6)
    counts = [count_outgoing_messages()]
    ack = {"AckSequenceNumber": 6, "RecoverableMsgAckSeqNumber": 3, "RecoverableMsgAckFlags": 0b11}
    evidence = [*frames, send_session_header_in_carrier(MESSAGE_AS_HEADER_CARRIER, session, **ack)]
    peer.eventually(lambda: count_outgoing_messages() <= 1)
    peer.settle()
    counts.append(count_outgoing_messages())
    transactional = [frame for frame in frames if frame["UserHeader"].TH][-1]
    evidence.append(session.send(build_order_ack(peer, transactional)))
    peer.eventually(lambda: count_outgoing_messages() == 0)
    counts.append(count_outgoing_messages())
    judge(
        "MQSO-5.1.1.3-D04",
        "MQSO-4.3.1.2-D05",
        expected=[3, 1, 0],
        observed=counts,
        evidence=evidence,
        case="number of messages in the outgoing queue after each acknowledgment, the first in a message",
    )


SAMPLE_EXTENSION_BASE64 = "ZXh0ZW5zaW9u"
LOOKUP_SEEK_VALUES = ("first", "previous", "current", "next", "last")


@needs("send", "receive", "queue_control")
@covers("MQSO-5.1.1.3-D05")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_peeks_of_all_kinds_change_no_message(peer, sut, judge, delivery):
    """Three messages are peeked by name, by handle, by two cursors, and by their LookupIdentifiers in each direction.
    Each peek returns its message. No peek changes the queue, its journal, the properties of the messages, or the order
    in which the messages are received afterwards.
    """
    queue = sut.new_queue("peeked", transactional=delivery == "transactional", journaling=True)
    more = {"extension_base64": SAMPLE_EXTENSION_BASE64} if sut.has("send_extension") else {}
    sut.send_here(queue, ["1", "2", "3"], delivery=delivery, **more)

    def peek_all_messages() -> list[dict[str, object]]:
        return list(sut.control.call("peek", queue=queue, limit=100)["messages"])

    before = peek_all_messages()
    count = sut.control.call("get_queue", name=queue).get("count")
    middle = lookup_id(before[1])
    handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
    cursors = [sut.control.call("open_cursor", handle=handle)["cursor"] for _ in range(2)]
    labels = [sut.read_label("peek_message", **where) for where in ({"queue": queue}, {"handle": handle})]
    for cursor in cursors:
        labels += [
            sut.read_label(verb, cursor=cursor) for verb in ("peek_message", "peek_next", "peek_message", "peek_next")
        ]
    for seek in LOOKUP_SEEK_VALUES:
        for where in ({"queue": queue}, {"handle": handle}):
            labels.append(_peek_label_by_lookup_id(sut, middle, seek, **where))
    expected = ["1", "1", *("1", "2", "2", "3") * 2, "1", "1", "1", "1", "2", "2", "3", "3", "3", "3"]
    judge.all(expected=expected, observed=labels, case="labels returned by the peeks")
    observed = {
        "messages": peek_all_messages(),
        "count": sut.control.call("get_queue", name=queue).get("count"),
        "journal": sut.labels(f"{queue};journal"),
    }
    judge.all(expected=facts(messages=before, count=count, journal=[]), observed=observed)
    received = [sut.read_label("receive", queue=queue) for _ in range(4)]
    judge.all(expected=["1", "2", "3", Outcome.NOTHING], observed=received, case="labels returned by receives")


def _peek_label_by_lookup_id(sut, number, seek, **where):
    """Peek by a LookupIdentifier; return the label of the message, or REFUSED."""
    try:
        found = sut.control.call("peek_by_lookup_id", lookup_id=number, seek=seek, **where)["message"]
    except ControlRefused:
        return Outcome.REFUSED
    return found["label"]

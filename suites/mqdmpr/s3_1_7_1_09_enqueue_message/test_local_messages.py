"""MS-MQDMPR 3.1.7.1.9 Enqueue Message: several messages that the SUT sends to several of its own queues."""

from __future__ import annotations

import base64

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledgments_of_classes, any_order, facts, in_queue, none
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest
from suites.mqqb.steps.disposition import RECEIVE_TIMEOUT, AcknowledgingReceiver

pytestmark = needs("queue_control", "receive", "send")

PENDING_READ_TIMEOUT_MS = 60_000
SMALL_QUOTA_KB, RAISED_QUOTA_KB = 1, 10
MESSAGE_BODY_KB = 4
MESSAGE_COUNT_ABOVE_QUOTA = 12
"""A number of messages without bodies, but with labels of a hundred characters, that together need more than 1 KB."""
MESSAGE_LIFETIME_S = 2
parametrize_delivery = pytest.mark.parametrize(
    "delivery", ["express", "recoverable", pytest.param("in transaction", marks=needs("transactions"))]
)


def send_messages_alternately_to_two_queues(sut, peer, queues, transaction=None):
    """Let an application send six messages alternately to two queues; every property differs from message to message.
    Return the properties and the place of each message, by label.
    """
    sent = {}
    for number, (label, place, priority) in enumerate(
        (("a", 0, 3), ("u", 1, 2), ("b", 0, 6), ("v", 1, 2), ("c", 0, 3), ("d", 0, 5)), start=1
    ):
        body = bytes([number, 0]) * (50 * number)
        fields = {
            "label": label,
            "body_base64": base64.b64encode(body).decode(),
            "body_type": 8 + number,
            "application_tag": 0x8000_0000 | number,
            "time_to_be_received_s": 7_200 + number,
            "time_to_reach_queue_s": 3_600 + number,
            "acks": ["negative_arrival", "negative_receive"][: 1 + number % 2],
            "admin_queue": peer.direct_name(f"mqc-acks-{number}"),
            "response_queue": peer.direct_name(f"mqc-responses-{number}"),
            "journal": ["negative"] if number % 2 else [],
        }
        how = {"transaction": transaction} if transaction else {"priority": priority, "delivery": "recoverable"}
        sut.send(sut.direct_name(queues[place]), **fields, **how)
        sent[label] = {**fields, **({} if transaction else how)}
    return sent


def list_message_differences(sut, queues, sent):
    """Return the labels of the changed messages, each with the names of the changed properties. A property that the
    control channel shows for no message is omitted, and so is an empty property that it does not show.
    """
    found = {one["label"]: one for name in queues for one in sut.control.call("peek", queue=name)["messages"]}
    shown = {name for one in found.values() for name in one}
    return [
        f"{label}: {name}"
        for label, fields in sent.items()
        for name, value in fields.items()
        if label in found
        and name in shown
        and (value or name in found[label])
        and _normalize_property_value(found[label].get(name)) != _normalize_property_value(value)
    ]


def _normalize_property_value(value):
    return value.lower() if isinstance(value, str) and value.startswith("DIRECT") else value


RULES_OF_LOCAL_ENQUEUEING = ("MQDMPR-3.1.7.1.9-09", "MQDMPR-3.1.7.1.9-14")
TRANSACTION_RULES = ("MQDMPR-3.1.7.1.9-17", "MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21")


def store_messages_of_peer(peer, sut, *, transactional=False):
    """Create two queues and let the peer send a message to each of them; return the path names and the packets."""
    applications = [Application(peer, sut, transactional=transactional) for _ in range(2)]
    base = {} if transactional else {"PR": 0}
    packets = [frame for one, label in zip(applications, "yz", strict=True) for frame in one.fill_queue(label, **base)]
    return [one.queue for one in applications], packets


def judge_messages_in_queues(judge, rules, sut, queues, sent, expected, case, evidence):
    """Judge the labels in both queues and the properties of the messages."""
    judge(
        *rules,
        expected=facts(
            first_queue=in_queue(*expected[0]), second_queue=in_queue(*expected[1]), properties=none("changed property")
        ),
        observed={
            "first_queue": sut.labels(queues[0]),
            "second_queue": sut.labels(queues[1]),
            "properties": list_message_differences(sut, queues, sent),
        },
        case=case,
        evidence=evidence,
    )


@covers(*RULES_OF_LOCAL_ENQUEUEING)
def test_local_messages_are_whole_and_in_order_of_priority(peer, sut, judge):
    """An application sends six recoverable messages in turn to two queues that each contain a message from the peer.
    Each message is in its queue, in the order of priority, with all properties that were sent. A restart changes
    nothing.
    """
    queues, packets = store_messages_of_peer(peer, sut)
    sent = send_messages_alternately_to_two_queues(sut, peer, queues)
    judge_messages_in_queues(
        judge, RULES_OF_LOCAL_ENQUEUEING, sut, queues, sent, ("bdacy", "uvz"), "after the sends", packets
    )
    if sut.has("restart"):
        sut.restart()
        judge_messages_in_queues(
            judge, RULES_OF_LOCAL_ENQUEUEING, sut, queues, sent, ("bdacy", "uvz"), "after a restart", packets
        )


@needs("transactions")
@covers(*TRANSACTION_RULES)
@pytest.mark.parametrize(
    "end",
    [
        pytest.param("commit", marks=covers(*RULES_OF_LOCAL_ENQUEUEING)),
        "abort",
        pytest.param("restart", marks=needs("restart")),
    ],
)
def test_transaction_sends_to_several_queues_at_its_end(peer, sut, judge, end):
    """An application sends six messages in a transaction, in turn to two queues that each contain a message from the
    peer. Nothing changes until the commit, which stores each message in its queue in the order of sending, with all
    properties. An abort, or a restart before the end of the transaction, discards all six messages.
    """
    queues, packets = store_messages_of_peer(peer, sut, transactional=True)
    transaction = sut.control.call("begin")["transaction"]
    sent = send_messages_alternately_to_two_queues(sut, peer, queues, transaction)
    before = "before the end of the transaction"
    judge_messages_in_queues(judge, TRANSACTION_RULES, sut, queues, {}, ("y", "z"), before, packets)
    listed = sut.control.call("list")["transactions"]
    counts = [one["operations"] for one in listed if one["transaction"] == transaction]
    judge(*TRANSACTION_RULES[1:], expected=[6], observed=counts, case="number of operations of the transaction")
    if end == "restart":
        sut.restart()
    else:
        sut.attempt(end, transaction=transaction)
    committed = end == "commit"
    expected = ("yabcd", "zuv") if committed else ("y", "z")
    rules = (*RULES_OF_LOCAL_ENQUEUEING, *TRANSACTION_RULES) if committed else TRANSACTION_RULES
    judge_messages_in_queues(judge, rules, sut, queues, sent, expected, f"after the {end}", packets)
    if end != "restart" and sut.has("restart"):
        sut.restart()
        judge_messages_in_queues(judge, rules, sut, queues, sent, expected, f"after the {end} and a restart", packets)


@covers("MQDMPR-3.1.7.1.9-23")
@parametrize_delivery
def test_local_message_completes_waiting_reads(peer, sut, judge, delivery):
    """A peek by a cursor, a receive by handle and a receive by name wait at two local queues. A message that an
    application sends to one queue completes the peek and the receive that wait there. A message from the peer completes
    the receive at the other queue.
    """
    transactional = delivery == "in transaction"
    first, second = (Application(peer, sut, transactional=transactional) for _ in range(2))
    queues = [first.queue, second.queue]
    handle = sut.control.call("open_queue", queue=queues[0], access="receive")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    reads = {}
    for name, verb, where in (
        ("peek by cursor", "peek_message", {"cursor": cursor}),
        ("receive by handle", "receive", {"handle": handle}),
        ("receive from the other queue", "receive", {"queue": queues[1]}),
    ):
        reads[name] = PendingRequest(peer, verb, timeout_ms=PENDING_READ_TIMEOUT_MS, **where)
        peer.settle()

    how = {"transaction": sut.control.call("begin")["transaction"]} if transactional else {"delivery": delivery}
    sut.send_here(queues[0], ["first"], **how)
    if transactional:
        sut.control.call("commit", **how)
    completed = {name: reads[name].await_label() for name in [*reads][:2]}
    peer.settle()
    waits = not reads["receive from the other queue"].is_answered()
    packet = peer.open_raw().send(second.build_message("second"))
    judge(
        "MQDMPR-3.1.7.1.9-23",
        expected=facts(completed=dict.fromkeys(completed, "first"), other_read_waits=True, other_read="second"),
        observed={
            "completed": completed,
            "other_read_waits": waits,
            "other_read": reads["receive from the other queue"].await_label(),
        },
        evidence=packet,
    )
    for read in reads.values():
        if not read.is_answered():
            sut.control.call("cancel", request=read.number)


@needs("transactions")
@covers("MQDMPR-3.1.7.1.9-15")
def test_message_of_committed_transaction_expires_in_its_queue(peer, sut, judge):
    """An application sends two messages with a short TimeToBeReceived and a third with a long one to a transactional
    queue. After the short time, only the third message is in the queue, and the SUT acknowledges the other two as
    expired.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    queue = sut.new_queue("local", transactional=True)
    transaction = sut.control.call("begin")["transaction"]
    for label, lifetime_s in (
        ("short 1", MESSAGE_LIFETIME_S),
        ("long", 100 * MESSAGE_LIFETIME_S),
        ("short 2", MESSAGE_LIFETIME_S),
    ):
        sut.send_here(
            queue,
            [label],
            transaction=transaction,
            time_to_be_received_s=lifetime_s,
            acks=["negative_receive"],
            admin_queue=peer.direct_name(),
        )
    sut.control.call("commit", transaction=transaction)
    peer.pass_time((MESSAGE_LIFETIME_S + 1) * 1_000)
    came = receiver.await_acks(2)
    judge.all(
        expected=facts(queue=in_queue("long"), acknowledgments=acknowledgments_of_classes(*[RECEIVE_TIMEOUT] * 2)),
        observed={"queue": sut.labels(queue), "acknowledgments": came},
        evidence=came,
    )
    receiver.acknowledge_all()


@covers("MQDMPR-3.1.7.1.9-07")
@parametrize_delivery
def test_messages_without_bodies_exceed_quota_of_queue(peer, sut, judge, delivery):
    """An application sends messages with long labels and without bodies to a queue whose Quota is 1 KB, and to a queue
    without a Quota. The first queue refuses some of the messages, and the second accepts all of them.
    """
    transactional = delivery == "in transaction"
    (small, large), packets = store_messages_of_peer(peer, sut, transactional=transactional)
    sut.control.call("set_queue", name=small, quota_kb=SMALL_QUOTA_KB)
    how = {"delivery": delivery}
    if transactional:
        how = {"transaction": sut.control.call("begin")["transaction"]}
    outcomes = {
        queue: [
            sut.attempt(sut.send, sut.direct_name(queue), label=f"{number:0100}", body="", **how)
            for number in range(MESSAGE_COUNT_ABOVE_QUOTA)
        ]
        for queue in (small, large)
    }
    if transactional:
        sut.control.call("commit", **how)
    accepted = {queue: outcomes[queue].count(Outcome.DONE) for queue in outcomes}
    judge(
        "MQDMPR-3.1.7.1.9-07",
        expected=facts(
            last_send_to_small_queue=Outcome.REFUSED,
            messages_in_small_queue=1 + accepted[small],
            messages_in_large_queue=1 + MESSAGE_COUNT_ABOVE_QUOTA,
        ),
        observed={
            "last_send_to_small_queue": outcomes[small][-1],
            "messages_in_small_queue": len(sut.labels(small)),
            "messages_in_large_queue": len(sut.labels(large)),
        },
        evidence=packets,
    )


@needs("configure")
@covers("MQDMPR-3.1.7.1.9-04")
@parametrize_delivery
def test_message_that_would_exceed_quota_of_queue_manager_is_refused(peer, sut, judge, delivery):
    """QueueManagerQuota is 10 KB, and an application sends three messages of 4 KB to two queues in turn. The SUT
    refuses the third message, although the stored messages are smaller than the quota. After two messages have been
    received, the SUT accepts another message.
    """
    transactional = delivery == "in transaction"
    queues, packets = store_messages_of_peer(peer, sut, transactional=transactional)
    sut.configure(quota_kb=RAISED_QUOTA_KB)

    def attempt_to_send_message(label, queue):
        how = {"delivery": delivery}
        if transactional:
            how = {"transaction": sut.control.call("begin")["transaction"]}
        outcome = sut.attempt(sut.send, sut.direct_name(queue), label=label, body="x" * (MESSAGE_BODY_KB * 1024), **how)
        if transactional:
            sut.control.call("commit", **how)
        return outcome

    outcomes = [attempt_to_send_message(label, queue) for label, queue in zip("abc", (*queues, queues[0]), strict=True)]
    if outcomes[:2] != [Outcome.DONE] * 2:
        raise ConformanceFailure("the SUT refused the first or the second message")
    judge(
        "MQDMPR-3.1.7.1.9-04",
        expected=facts(third_send=Outcome.REFUSED, first_queue=any_order(*"ya"), second_queue=any_order(*"zb")),
        observed={
            "third_send": outcomes[2],
            "first_queue": sut.labels(queues[0]),
            "second_queue": sut.labels(queues[1]),
        },
        evidence=packets,
    )
    for _ in range(2):
        sut.read_label("receive", queue=queues[1])
    judge(
        "MQDMPR-3.1.7.1.9-04",
        expected=facts(send=Outcome.DONE, first_queue=any_order(*"yad")),
        observed={"send": attempt_to_send_message("d", queues[0]), "first_queue": sut.labels(queues[0])},
        case="after two receives",
        evidence=packets,
    )


@needs("transactions", "environment", "inspect")
@covers("MQDMPR-3.1.7.1.9-04")
def test_throttled_queue_manager_refuses_message_of_transaction(peer, sut, judge):
    """The SUT shows Throttled because its disk is full. It refuses a message that an application sends to a local queue
    in a transaction.
    """
    (queue, _), packets = store_messages_of_peer(peer, sut, transactional=True)
    transaction = sut.control.call("begin")["transaction"]
    sut.change_environment(storage=False)
    if not peer.eventually(lambda: bool(sut.inspect_queue_manager()["Throttled"])):
        judge.mark_not_exercised(
            "MQDMPR-3.1.7.1.9-04", reason="the SUT does not show Throttled as TRUE while its disk is full"
        )
        return
    outcome = sut.attempt(sut.send_here, queue, ["refused"], transaction=transaction)
    judge(
        "MQDMPR-3.1.7.1.9-04",
        expected=Outcome.REFUSED,
        observed=outcome,
        case="send in a transaction",
        evidence=packets,
    )
    sut.change_environment(storage=True)

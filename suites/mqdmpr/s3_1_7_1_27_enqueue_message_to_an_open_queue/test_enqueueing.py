"""MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue: the outcome of a send, and the copies of a message to several
queues.
"""

from __future__ import annotations

from harness.expectations import each, holds, in_queue
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.mqqb.steps.sender import Sender

SMALL_QUOTA_KB = 4
SMALL_MESSAGE_BODY, LARGE_BODY = "x" * 64, "x" * 16_384


def await_copies_of_message(peer, sut, queue, label):
    """Wait until a queue of the SUT contains a message; return how many copies of the message it contains."""
    peer.eventually(lambda: label in sut.labels(queue))
    return sut.labels(queue).count(label)


@covers("MQDMPR-3.1.7.1.27-04")
@varied("acknowledgments", "response queue", "time to be received", "time to reach queue", "label")
def test_message_to_single_queue_is_sent_once(peer, sut, judge):
    """An application sends express messages, a recoverable message and a message in a transaction to a queue of the
    peer. Each message arrives there exactly once. A message to a local queue is stored there once.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-once"))
    sender.send(1, 2)
    tags = [1, 2]
    if sut.has("send"):
        sender.send(3, delivery="recoverable")
        tags.append(3)
    if sut.has("send") and sut.has("transactions"):
        transaction = sut.control.call("begin")["transaction"]
        sender.send(4, transaction=transaction)
        sut.control.call("commit", transaction=transaction)
        tags.append(4)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, len(tags))
    judge(
        "MQDMPR-3.1.7.1.27-04",
        expected=tags,
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    session.acknowledge_all()
    if sut.has("send") and sut.has("receive") and sut.has("queue_control"):
        queue = sut.new_queue("once")
        for delivery in ("express", "recoverable"):
            sut.send_here(queue, [delivery], delivery=delivery)
        peer.settle()
        judge(
            "MQDMPR-3.1.7.1.27-04",
            expected=in_queue("express", "recoverable"),
            observed=sut.labels(queue),
            evidence=frames,
            case="local queue",
        )


@needs("send", "queues", "receive")
@covers("MQDMPR-3.1.7.1.27-08")
@varied("priority", "positive journaling", "negative journaling", "response queue", "time to be received")
def test_send_to_single_queue_fails_only_if_quota_exceeded(peer, sut, judge):
    """A send of a small message to a local queue with a quota of 4 KB succeeds. The SUT refuses a send of a 16 KB
    message, whether in a transaction or not, and does not store the message, however often it is sent. A send of a
    large express or recoverable message to a queue without a quota succeeds, and the message is stored.
    """
    queue = sut.new_queue("small", quota_kb=SMALL_QUOTA_KB)
    answers = {
        label: sut.attempt("send", to=sut.direct_name(queue), label=label, body=body)
        for label, body in (("small", SMALL_MESSAGE_BODY), ("large", LARGE_BODY))
    }
    stored_labels = [label for label in answers if await_copies_of_message(peer, sut, queue, label)]
    repeated = [sut.attempt("send", to=sut.direct_name(queue), label="large", body=LARGE_BODY) for _ in range(2)]
    free = sut.new_queue("large")
    sends = {
        delivery: sut.attempt("send", to=sut.direct_name(free), label=delivery, body=LARGE_BODY, delivery=delivery)
        for delivery in ("express", "recoverable")
    }
    judge(
        "MQDMPR-3.1.7.1.27-08",
        expected={"repeated sends": [Outcome.REFUSED] * 2, "sends without a quota": dict.fromkeys(sends, Outcome.DONE)},
        observed={"repeated sends": repeated, "sends without a quota": sends},
    )
    copies = {delivery: await_copies_of_message(peer, sut, free, delivery) for delivery in sends}
    judge(
        "MQDMPR-3.1.7.1.27-08",
        expected=dict.fromkeys(sends, 1),
        observed=copies,
        case="copies of the large messages in the queue without a quota",
    )
    if sut.has("transactions"):
        to = sut.direct_name(sut.new_queue("small-transactional", quota_kb=SMALL_QUOTA_KB, transactional=True))
        transaction = sut.control.call("begin")["transaction"]
        outcomes = [
            sut.attempt("send", to=to, body=body, transaction=transaction) for body in (SMALL_MESSAGE_BODY, LARGE_BODY)
        ]
        sut.attempt("abort", transaction=transaction)
        judge.all(expected=[Outcome.DONE, Outcome.REFUSED], observed=outcomes, case="sends in a transaction")
    judge(
        "MQDMPR-3.1.7.1.27-08",
        expected={
            "send of the small message": Outcome.DONE,
            "send of the large message": Outcome.REFUSED,
            "queue": in_queue("small"),
        },
        observed={
            "send of the small message": answers["small"],
            "send of the large message": answers["large"],
            "queue": stored_labels,
        },
    )


@needs("send", "queue_control", "receive", "several_queues")
@covers(
    "MQDMPR-3.1.7.1.27-13",
    "MQDMPR-3.1.7.1.27-14",
    "MQDMPR-3.1.7.1.27-18",
    "MQDMPR-3.1.7.1.27-19",
    "MQSO-3.3.4.3-D01",
)
@varied("queue journaling", "queue privacy")
def test_send_to_several_queues_fails_if_one_is_full(peer, sut, judge):
    """A send to three queues with room succeeds and stores three copies, each with one destination. If one of the
    queues is full, the SUT refuses the send, and neither the full queue nor a later queue stores a copy; the check
    fills the second, the last and the first queue. The SUT also refuses such a send in a transaction, and a queue after
    the full queue gets no copy at the commit.
    """
    queues = [sut.new_queue(f"several-{quota}", quota_kb=quota) for quota in (64, SMALL_QUOTA_KB, 65)]
    to = ",".join(sut.direct_name(queue) for queue in queues)
    refused = sut.attempt("send", to=to, label="too much", body=LARGE_BODY)
    outcome = sut.attempt("send", to=to, label="little", body=SMALL_MESSAGE_BODY)
    copies = [await_copies_of_message(peer, sut, queue, "little") for queue in queues]
    recoverable = sut.attempt("send", to=to, label="lasting", body=SMALL_MESSAGE_BODY, delivery="recoverable")
    to_both = f"{sut.direct_name(queues[0])},{peer.direct_name('mqc-several')}"
    remote = sut.attempt("send", to=to_both, label="local and remote", body=SMALL_MESSAGE_BODY)
    other_copies = {
        "lasting": [await_copies_of_message(peer, sut, queue, "lasting") for queue in queues],
        "local and remote": await_copies_of_message(peer, sut, queues[0], "local and remote"),
    }
    judge(
        "MQDMPR-3.1.7.1.27-19",
        expected={"sends": [Outcome.DONE] * 2, "copies": {"lasting": [1, 1, 1], "local and remote": 1}},
        observed={"sends": [recoverable, remote], "copies": other_copies},
        case="recoverable message, and message to a local and a remote queue",
    )
    too_many = [sut.labels(queue).count("too much") for queue in queues[1:]]
    last = sut.new_queue("several-last", quota_kb=SMALL_QUOTA_KB)
    to_full_last = ",".join(sut.direct_name(queue) for queue in (queues[0], queues[2], last))
    refused_last = sut.attempt("send", to=to_full_last, label="too much", body=LARGE_BODY)
    too_many.append(sut.labels(last).count("too much"))
    full_first = [sut.new_queue(f"first-{place}", quota_kb=SMALL_QUOTA_KB if place == 0 else 64) for place in range(3)]
    to_full_first = ",".join(sut.direct_name(queue) for queue in full_first)
    refused_first = sut.attempt("send", to=to_full_first, label="too much", body=LARGE_BODY)
    peer.settle()
    too_many += [sut.labels(queue).count("too much") for queue in full_first]
    judge(
        "MQDMPR-3.1.7.1.27-18",
        "MQSO-3.3.4.3-D01",
        expected={"sends": [Outcome.REFUSED] * 3, "number_of_copies_in_each_queue": [0] * 6},
        observed={"sends": [refused, refused_last, refused_first], "number_of_copies_in_each_queue": too_many},
    )
    judge(
        "MQDMPR-3.1.7.1.27-14",
        "MQDMPR-3.1.7.1.27-19",
        expected={"send": Outcome.DONE, "number_of_copies_in_each_queue": [1, 1, 1]},
        observed={"send": outcome, "number_of_copies_in_each_queue": copies},
    )
    if sut.has("transactions"):
        names = sorted(sut.new_queue("of-transaction", quota_kb=64, transactional=True) for _ in range(3))
        sut.control.call("set_queue", name=names[1], quota_kb=SMALL_QUOTA_KB)
        transaction = sut.control.call("begin")["transaction"]
        to = ",".join(map(sut.direct_name, names))
        outcome = sut.attempt("send", to=to, label="too much", body=LARGE_BODY, transaction=transaction)
        sut.attempt("commit", transaction=transaction)
        peer.settle()
        judge(
            "MQDMPR-3.1.7.1.27-18",
            expected={"send": Outcome.REFUSED, "full queue": in_queue(), "queue after the full queue": in_queue()},
            observed={
                "send": outcome,
                "full queue": sut.labels(names[1]),
                "queue after the full queue": sut.labels(names[2]),
            },
            case="send in a transaction",
        )
    stored = [one for queue in queues for one in sut.control.call("peek", queue=queue)["messages"]]
    destinations = [str(one["destination"]) for one in stored if one["label"] == "little" and one["destination"]]
    queue_names = [name.rpartition("\\")[2].lower() for name in destinations]
    if not destinations:
        judge.mark_not_exercised("MQDMPR-3.1.7.1.27-13", reason="the SUT does not show the destination of a message")
        return
    judge(
        "MQDMPR-3.1.7.1.27-13",
        expected=each(holds("a single queue", otherwise="several queues"), "copy"),
        observed=["," not in one for one in destinations],
        case="destination of each copy",
    )
    judge(
        "MQDMPR-3.1.7.1.27-13",
        expected=[queue.rpartition("\\")[2].lower() for queue in queues],
        observed=queue_names,
        case="queue in the destination of each copy",
    )

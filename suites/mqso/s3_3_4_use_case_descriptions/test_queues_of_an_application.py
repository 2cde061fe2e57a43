"""MS-MQSO 3.3.4.1 Create or Modify Queue, 3.3.4.2 Query Queue Information, 3.3.4.3 Send Message, 3.3.4.6 Receive
Message.
"""

from __future__ import annotations

from harness.expectations import each, facts, in_queue, none
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from suites.applications import Application, PendingRequest
from suites.mqqb.steps.sender import list_tags

READ_TIMEOUT_MS = 60_000
SHOWN_QUEUE_PROPERTIES = ("label", "journaling", "quota_kb", "journal_quota_kb", "base_priority", "count", "bytes")
QUEUE_CREATION_PROPERTIES = {"label": "first", "journaling": True, "quota_kb": 64, "base_priority": 3}
LONG_LABEL = "l" * 125
"""A label with one character more than a queue's label may have in Windows."""
OPTIONAL_QUEUE_PROPERTY_CASES: dict[str, dict[str, object]] = {
    "label": {"label": "l" * 300},
}
CHANGED_QUEUE_PROPERTY_VALUES = {"label": "other", "journaling": False, "quota_kb": 32, "base_priority": -3}


@needs("queue_control")
@covers("MQSO-3.3.4.1-D01")
def test_queue_is_created_and_changed_as_requested_or_unchanged(sut, judge):
    """A queue has the properties that its creator set and, after a change, the changed properties. The SUT refuses to
    create the queue again and to change a missing queue; these refused requests change nothing.
    """
    name = sut.new_queue("made", **QUEUE_CREATION_PROPERTIES)
    missing = f"private$\\mqc-{sut.own}-missing"

    def read_queue_properties() -> dict[str, object]:
        properties = sut.control.call("get_queue", name=name)
        return {key: properties[key] for key in QUEUE_CREATION_PROPERTIES}

    steps = (
        (
            "creation of an existing queue",
            "create_queue",
            {"name": name, **CHANGED_QUEUE_PROPERTY_VALUES},
            Outcome.REFUSED,
            QUEUE_CREATION_PROPERTIES,
        ),
        (
            "change of a missing queue",
            "set_queue",
            {"name": missing, **CHANGED_QUEUE_PROPERTY_VALUES},
            Outcome.REFUSED,
            QUEUE_CREATION_PROPERTIES,
        ),
    )
    judge("MQSO-3.3.4.1-D01", expected=QUEUE_CREATION_PROPERTIES, observed=read_queue_properties())
    for step, verb, arguments, outcome, expected_state in steps:
        answer = sut.attempt(verb, **arguments)
        expected = facts(outcome=outcome, properties_of_the_queue=expected_state)
        judge.all(
            expected=expected,
            observed={"outcome": answer, "properties_of_the_queue": read_queue_properties()},
            case=step,
        )
    long_label = {**CHANGED_QUEUE_PROPERTY_VALUES, "label": LONG_LABEL}
    is_accepted = sut.attempt("set_queue", name=name, **long_label) == Outcome.DONE
    judge.all(
        expected=long_label if is_accepted else QUEUE_CREATION_PROPERTIES,
        observed=read_queue_properties(),
        case="change with a long label, which a system may refuse",
    )
    answer = sut.attempt("set_queue", name=name, **CHANGED_QUEUE_PROPERTY_VALUES)
    expected = facts(outcome=Outcome.DONE, properties_of_the_queue=CHANGED_QUEUE_PROPERTY_VALUES)
    judge.all(
        expected=expected,
        observed={"outcome": answer, "properties_of_the_queue": read_queue_properties()},
        case="change of the queue",
    )
    for case, odd in OPTIONAL_QUEUE_PROPERTY_CASES.items():
        before = read_queue_properties()
        requested = {**QUEUE_CREATION_PROPERTIES, **odd}
        changed = sut.attempt("set_queue", name=name, **requested)
        judge.all(
            expected=requested if changed == Outcome.DONE else before,
            observed=read_queue_properties(),
            case=f"change with {case}, which a system may refuse",
        )
        created = sut.attempt("create_queue", name=f"{missing}-{case}", **requested)
        listed = [one["name"] for one in sut.control.call("list")["queues"]]
        found = {"listed": f"{missing}-{case}" in listed, "found": sut.attempt("get_queue", name=f"{missing}-{case}")}
        exists = created == Outcome.DONE
        judge.all(
            expected=facts(listed=exists, found=Outcome.DONE if exists else Outcome.REFUSED),
            observed=found,
            case=f"creation with {case}, which a system may refuse",
        )
        sut.attempt("delete_queue", name=f"{missing}-{case}")
    listed_names = [one["name"] for one in sut.control.call("list")["queues"] if one["name"] == missing]
    judge.all(expected=none("queue with the name of the missing queue"), observed=listed_names)


@needs("queue_control", "send", "receive")
@covers("MQSO-3.3.4.2-D01")
@varied("queue journaling", "queue quota", "queue privacy")
def test_queue_queries_change_nothing(sut, judge):
    """Three queries of a queue's properties, labels and message count return the same result."""
    queue = sut.new_queue("asked")
    sut.send_here(queue, ["one", "two"], delivery="recoverable")

    def read_shown_queue_properties() -> dict[str, object]:
        shown_properties = sut.control.call("get_queue", name=queue)
        listed = [one["count"] for one in sut.control.call("list")["queues"] if one["name"] == queue]
        properties = {key: shown_properties[key] for key in SHOWN_QUEUE_PROPERTIES if key in shown_properties}
        return {
            "properties": properties,
            "labels": sut.labels(queue),
            "message_counts": listed,
            **read_create_and_modify_times(),
        }

    def read_create_and_modify_times() -> dict[str, object]:
        if not sut.has("inspect"):
            return {}
        shown = next(one for one in sut.inspect_queue_manager()["QueueCollection"] if one["Pathname"] == queue)
        return {time: shown.get(time) for time in ("CreateTime", "ModifyTime")}

    first_answers = read_shown_queue_properties()
    observed = {name: first_answers[name] for name in ("labels", "message_counts")}
    judge.all(expected=facts(labels=["one", "two"], message_counts=[2]), observed=observed)
    sut.environment.run_until(lambda: False, 2_000)
    for _ in range(3):
        judge("MQSO-3.3.4.2-D01", expected=first_answers, observed=read_shown_queue_properties())


@needs("send", "receive", "queues")
@covers("MQSO-3.2.1-01", "MQSO-3.3.4.3-D01", "MQSO-3.3.4.3-D02", "MQSO-5.1.1.3-01")
@varied("priority", "response queue", "time to be received", "time to reach queue", "application tag")
def test_accepted_messages_are_stored_refused_one_is_not(sut, judge):
    """An application sends messages to a nontransactional and to a transactional queue, and each message is in its
    queue. The SUT refuses five further messages and stores them nowhere: a message above the quota of each queue, a
    transactional message to the nontransactional queue, a message outside a transaction to the transactional queue, and
    a message to a missing queue.
    """
    queue = sut.new_queue("states", quota_kb=8)
    transactional = sut.new_queue("states-in-transactions", quota_kb=8, transactional=True)
    missing = sut.direct_name(f"{queue}-missing")
    sut.send_here(queue, ["express"])
    sut.send_here(queue, ["recoverable"], delivery="recoverable")
    sut.attempt(sut.send_here, transactional, ["transactional"], delivery="transactional")
    large = {"label": "too much", "body": "x" * 10_000}
    plain_name, transactional_name = sut.direct_name(queue), sut.direct_name(transactional)
    outcomes = {
        "over the quota": sut.attempt(sut.send, plain_name, **large),
        "recoverable, over the quota": sut.attempt(sut.send, plain_name, delivery="recoverable", **large),
        "transactional, over the quota": sut.attempt(sut.send, transactional_name, delivery="transactional", **large),
        "transactional to a plain queue": sut.attempt(sut.send_here, queue, ["no"], delivery="transactional"),
        "plain to a transactional queue": sut.attempt(sut.send_here, transactional, ["no"]),
        "recoverable to a transactional queue": sut.attempt(
            sut.send_here, transactional, ["no"], delivery="recoverable"
        ),
        "to a missing queue": sut.attempt(sut.send, missing, label="no", body="no"),
    }
    labels = {"plain": sut.labels(queue), "transactional": sut.labels(transactional)}
    stored = {"plain": ["express", "recoverable"], "transactional": ["transactional"]}
    judge(
        "MQSO-5.1.1.3-01",
        "MQSO-3.3.4.3-D01",
        "MQSO-3.3.4.3-D02",
        expected=facts(refused=each(Outcome.REFUSED, "message"), labels=stored),
        observed={"refused": outcomes, "labels": labels},
    )
    judge("MQSO-3.2.1-01", expected=stored, observed=labels, case="labels in the queues")


LARGE_BODY = "large " * 1_000


@needs("send", "receive", "queue_control", "pause")
@covers("MQSO-3.3.4.3-D01", "MQSO-3.3.4.3-D02", "MQSO-3.3.4.3-D03")
def test_copies_for_several_queues_reach_each_of_them(peer, sut, judge):
    """An application sends a message to two queues of the SUT and to two queues of the peer. Both queues of the SUT
    contain the message, a message with a large body, and a message to a private name. For each queue of the peer, one
    copy waits in a separate outgoing queue, and is transferred from there.
    """
    queues = [sut.new_queue(f"copy-{number}") for number in range(2)]
    remote = [peer.direct_name(f"mqc-copy-{number}") for number in range(2)]
    sut.take_offline()
    names = [*(sut.direct_name(queue) for queue in queues), *remote]
    outcome = sut.attempt(
        sut.send, ",".join(names), label="copy", body="copy", delivery="recoverable", application_tag=1
    )
    sut.send(sut.private_format_name(queues[0]), label="by private name", body="copy")
    sut.send(sut.direct_name(queues[1]), label="large", body=LARGE_BODY)
    sut.send(remote[0], label="large", body=LARGE_BODY, application_tag=2)
    peer.eventually(lambda: all(len(sut.labels(queue)) == 2 for queue in queues))
    observed = {
        "outcome": outcome,
        "stored": [sut.labels(queue) for queue in queues],
        "waiting": [sut.outgoing_queue(name)["count"] for name in remote],
    }
    expected = facts(outcome=Outcome.DONE, stored=[["copy", "by private name"], ["copy", "large"]], waiting=[2, 1])
    judge.all(expected=expected, observed=observed)
    peer.inbox.listen()
    sut.bring_online()
    transferred = {(name.rpartition("\\")[2], tag) for name, tag in zip((*remote, remote[0]), (1, 1, 2), strict=True)}
    peer.environment.run_until(
        lambda: transferred <= _list_queue_and_tag_of_transferred_messages(peer), sut.connect_timeout_ms
    )
    peer.inbox.acknowledge()
    judge(
        "MQSO-3.3.4.3-D03",
        expected=transferred,
        observed=_list_queue_and_tag_of_transferred_messages(peer),
        case="queue and ApplicationTag of each transferred message",
        evidence=peer.inbox.copies,
    )


def _list_queue_and_tag_of_transferred_messages(peer):
    """Return the queue and the ApplicationTag of each message that the SUT transferred to a direct name of the peer."""
    return {
        (
            str(frame["UserHeader"].DestinationQueue.DirectFormatName).rpartition("\\")[2].rstrip("\0"),
            *list_tags([frame]),
        )
        for frame in peer.inbox.copies
    }


@needs("receive", "queues")
@covers("MQSO-3.3.4.6-D02", "MQSO-5.1.1.3-D06")
@varied("priority", "response queue", "time to be received", "time to reach queue", "application tag")
def test_received_message_is_removed_from_its_queue(peer, sut, judge):
    """Two messages are received once each. Afterwards the queue is empty, and a third read returns nothing."""
    application = Application(peer, sut)
    application.store("first", "second")
    labels = [sut.read_label("receive", queue=application.queue) for _ in range(3)]
    judge.all(expected=["first", "second", Outcome.NOTHING], observed=labels, case="labels returned by the reads")
    judge.all(expected=in_queue(), observed=application.labels())


@needs("send", "receive", "queue_control", "transactions")
@covers(
    "MQSO-3.2.1-01", "MQSO-3.2.1-D03", "MQSO-3.3.4.6-D01", "MQSO-3.3.4.6-D02", "MQSO-3.3.4.7-D02", "MQSO-5.1.1.2-D03",
    "MQSO-5.1.1.3-D06",
)  # fmt: skip
def test_waiting_receives_of_two_queues_get_their_own_messages(peer, sut, judge):
    """A receive by name and a receive by cursor wait at each of two empty queues, at one of them in a transaction. The
    first message to a queue completes one receive of that queue, and the second message completes the other. Afterwards
    the received messages have left their queue, or are locked by the transaction. A cancelled receive is answered with
    a refusal, and a receive whose timeout expires returns nothing; another waiting receive still gets the next message.
    """
    plain, transactional = sut.new_queue("plain-waits"), sut.new_queue("transactional-waits", transactional=True)
    transaction = sut.control.call("begin")["transaction"]

    def begin_waiting_reads(queue: str, **how: object) -> list[PendingRequest]:
        handle = sut.control.call("open_queue", queue=queue, access="receive")["handle"]
        cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
        places: tuple[dict[str, object], ...] = ({"queue": queue}, {"cursor": cursor})
        return [PendingRequest(peer, "receive", timeout_ms=READ_TIMEOUT_MS, **place, **how) for place in places]

    reads = {
        plain: begin_waiting_reads(plain),
        transactional: begin_waiting_reads(transactional, transaction=transaction),
    }
    peer.settle()

    def list_outcomes_of_reads(queue: str) -> list[str]:
        peer.settle()
        return sorted({one.await_label() if one.is_answered() else Outcome.NO_ANSWER for one in reads[queue]})

    for queue, other, delivery in ((transactional, plain, "transactional"), (plain, transactional, "recoverable")):
        observed: dict[str, object] = {"answers_at_the_other_queue": list_outcomes_of_reads(other)}
        sut.send_here(queue, ["1"], delivery=delivery)
        observed["after_the_first_message"] = list_outcomes_of_reads(queue)
        sut.send_here(queue, ["2"], delivery=delivery)
        observed["after_the_second_message"] = list_outcomes_of_reads(queue)
        observed["answers_later"] = list_outcomes_of_reads(other)
        at_other = [Outcome.NO_ANSWER] if queue == transactional else ["1", "2"]
        expected = facts(
            answers_at_the_other_queue=at_other,
            after_the_first_message=sorted(["1", Outcome.NO_ANSWER]),
            after_the_second_message=["1", "2"],
            answers_later=at_other,
        )
        once = ("MQSO-3.2.1-D03",) if queue == transactional else ()
        judge("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03", *once, expected=expected, observed=observed, case=queue)
        judge(
            "MQSO-3.3.4.6-D02",
            "MQSO-5.1.1.3-D06",
            expected=in_queue(),
            observed=sut.labels(queue),
            case=f"after the receives from {queue}",
        )
    sut.control.call("abort", transaction=transaction)
    returned = sut.labels(transactional)
    rules = ("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02", "MQSO-5.1.1.3-D06")
    judge(*rules, expected=["1", "2"], observed=returned, case="after an abort")
    cancelled = PendingRequest(peer, "receive", queue=plain, timeout_ms=READ_TIMEOUT_MS)
    short, long = (
        PendingRequest(peer, "receive", queue=plain, timeout_ms=time_ms) for time_ms in (200, READ_TIMEOUT_MS)
    )
    peer.settle()
    sut.control.call("cancel", request=cancelled.number)
    observed = {"cancelled": cancelled.await_outcome(), "short": short.await_label(), "long": long.is_answered()}
    sut.send_here(plain, ["3", "4"])
    observed |= {"answer": long.await_label(), "left": sut.labels(plain)}
    expected = facts(cancelled=Outcome.REFUSED, short=Outcome.NOTHING, long=False, answer="3", left=["4"])
    judge("MQSO-3.3.4.6-D01", "MQSO-5.1.1.2-D03", expected=expected, observed=observed, case="ends of waiting reads")
    sut.control.call("purge", queue=plain)
    handle = sut.control.call("open_queue", queue=plain, access="receive")["handle"]
    pair = [PendingRequest(peer, "receive", handle=handle, timeout_ms=READ_TIMEOUT_MS) for _ in range(2)]
    peer.settle()
    answers = []
    for label in ("5", "6"):
        sut.send_here(plain, [label])
        peer.settle()
        answers.append([one.await_label() for one in pair if one.is_answered()])
    observed = {"after_the_first_message": answers[0], "after_the_second_message": set(answers[1])}
    expected = facts(after_the_first_message=["5"], after_the_second_message={"5", "6"})
    judge(
        "MQSO-3.3.4.6-D01",
        "MQSO-5.1.1.2-D03",
        expected=expected,
        observed=observed,
        case="two reads that wait through one handle",
    )


@needs("send", "receive", "queue_control", "transactions")
@covers("MQSO-3.3.4.6-D02", "MQSO-3.3.4.7-D02")
def test_message_received_from_journal_or_subqueue_is_removed(sut, judge):
    """A message that is received from the journal of its queue leaves the journal. A message is then received from a
    subqueue in transactions: an abort returns the message to the subqueue, and a commit removes it.
    """
    queue = sut.new_queue("with-parts", transactional=True, journaling=True)
    sut.send_here(queue, ["journaled", "moved"], delivery="transactional")
    sut.control.call("receive", queue=queue, timeout_ms=0)
    journal = f"{queue};journal"
    read = [sut.read_label("receive", queue=journal) for _ in range(2)]
    observed = {"read": read, "left": sut.labels(journal)}
    expected = facts(read=["journaled", Outcome.NOTHING], left=[])
    judge("MQSO-3.3.4.6-D02", expected=expected, observed=observed, case="journal")
    if not sut.has("subqueues"):
        judge.mark_not_exercised("MQSO-3.3.4.7-D02", reason="the SUT has no subqueues")
        return
    subqueue = f"{queue};mqc-part"
    sut.create_queue(subqueue)
    number = lookup_id(sut.control.call("peek", queue=queue, limit=1)["messages"][0])
    sut.control.call("move", queue=queue, lookup_id=number, to=subqueue)
    for outcome, left in (("abort", ["moved"]), ("commit", [])):
        transaction = sut.control.call("begin")["transaction"]
        taken = sut.read_label("receive", queue=subqueue, transaction=transaction)
        ended = sut.attempt(outcome, transaction=transaction)
        observed = {"received": taken, "ended": ended, "left": sut.labels(subqueue)}
        expected = facts(received="moved", ended=Outcome.DONE, left=left)
        judge("MQSO-3.3.4.7-D02", expected=expected, observed=observed, case=f"subqueue after the {outcome}")

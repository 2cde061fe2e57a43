"""MS-MQDMPR 3.1.7.1.10 Dequeue Message: receives from several queues, within transactions and without them."""

from __future__ import annotations

import pytest

from harness.expectations import facts, none
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest
from suites.mqdmpr.steps.rich_messages import (
    build_message_with_all_properties,
    list_changed_properties,
    map_properties_by_label,
)
from suites.mqdmpr.steps.several_queues import JournaledQueuesWithMessages

pytestmark = needs("queue_control", "receive")

PENDING_READ_TIMEOUT_MS = 60_000
LOCKED_MESSAGE_RULES = ("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.13-24")
RULES_OF_TRANSACTION_END = ("MQDMPR-3.1.7.1.10-D04", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29")


@needs("transactions")
@covers(*LOCKED_MESSAGE_RULES, *RULES_OF_TRANSACTION_END)
@pytest.mark.parametrize("end", ["commit", "abort", pytest.param("restart", marks=needs("restart"))])
def test_receives_of_transaction_from_several_queues_end_together(peer, sut, judge, end):
    """A transaction receives messages from two queues and a subqueue, with and without LookupIdentifiers, and a message
    for which it waited. All of them are locked until the transaction ends. A commit removes them, and copies them into
    the journals in the order of the receives. An abort, or a restart before the end, returns each of them to its place.
    A second transaction that receives from the same queues is aborted.
    """
    queues = JournaledQueuesWithMessages(peer, sut, transactional=True)
    with_subqueue = "subqueue" in queues.names
    queues.fill_queue("subqueue", "st")
    queues.fill_queue("queue", "abcdef")
    queues.fill_queue("other", "uvwx")
    application = queues.applications["queue"]
    transaction, aborted = application.begin_transaction(), application.begin_transaction()
    waiting = PendingRequest(
        peer, "receive", queue=queues.names["third"], timeout_ms=PENDING_READ_TIMEOUT_MS, transaction=transaction
    )
    peer.settle()
    queues.applications["third"].store_message_for_waiting_reader("p")
    plain = [waiting.await_label(), queues.receive("queue", transaction=transaction)]
    before = queues.map_message_properties_by_label()
    looked_up = [queues.receive_by_lookup("queue", "c", transaction=transaction)]
    plain += [queues.receive("queue", transaction=aborted), queues.receive("other", transaction=transaction)]
    looked_up += [
        queues.receive_by_lookup("other", "w", "last", transaction=transaction),
        queues.receive_by_lookup("queue", "d", transaction=aborted),
    ]
    plain += [queues.receive("other", transaction=aborted)]
    if with_subqueue:
        plain += [queues.receive("subqueue", transaction=transaction)]
        looked_up += [queues.receive_by_lookup("subqueue", "t", "last", transaction=transaction)]
    locked = queues.labels()
    peeks = {place: sut.read_label("peek_message", queue=queues.names[place]) for place in ("queue", "other", "third")}
    counts = list(application.count_operations_of_transactions(transaction, aborted).values())
    sub = "st" if with_subqueue else ""
    for rule, received, labels in (
        ("MQDMPR-3.1.7.1.10-D03", plain, [*"pabuv", *sub[:1]]),
        ("MQDMPR-3.1.7.1.13-24", looked_up, [*"cxd", *sub[1:]]),
    ):
        judge(
            rule,
            expected=facts(
                labels_received=labels,
                labels_visible_to_others=queues.expect(queue="ef", other="w"),
                first_messages={"queue": "e", "other": "w", "third": Outcome.NOTHING},
            ),
            observed={"labels_received": received, "labels_visible_to_others": locked, "first_messages": peeks},
        )
    judge(
        "MQDMPR-3.1.7.1.13-29",
        "MQDMPR-3.1.7.1.10-D04",
        expected=[7 if with_subqueue else 5, 3],
        observed=counts,
        case="number of operations of each transaction",
    )
    if end == "restart":
        sut.restart()
    else:
        application.end_transaction(end, transaction)
        application.end_transaction("abort", aborted)
    left = (
        queues.expect(queue="bdef", other="vw", journal="ac", other_journal="ux")
        if end == "commit"
        else queues.expect(queue="abcdef", other="uvwx", third="p", subqueue=sub)
    )
    rules = RULES_OF_TRANSACTION_END if end == "commit" else (*LOCKED_MESSAGE_RULES, *RULES_OF_TRANSACTION_END)
    _judge_queues_after_receive(judge, rules, queues, left, before, f"after the {end}")
    if end != "restart" and sut.has("restart"):
        sut.restart()
        _judge_queues_after_receive(judge, rules, queues, left, before, f"after the {end} and a restart")


def _judge_queues_after_receive(judge, rules, queues, left, before, case):
    """Judge the contents of each queue and journal, and the properties of the messages that remain in the queues."""
    after = queues.map_message_properties_by_label()
    judge(
        *rules,
        expected=facts(places=left, properties=none("changed property")),
        observed={
            "places": queues.labels(),
            "properties": list_changed_properties(
                {label: one for label, one in before.items() if label in after}, after
            ),
        },
        case=case,
        evidence=queues.packets,
    )


RECEIVE_KINDS = (
    "queue",
    "handle",
    "cursor",
    "waiting",
    "waiting cursor",
    "current",
    "next",
    "previous",
    "first",
    "last",
)
"""The ways to receive a message: the queue and position from which the read takes the message, whether the read waits,
and the search by LookupIdentifier.
"""
LOOKUP_RECEIVE_KINDS = RECEIVE_KINDS[5:]
RULES_OF_RECEIVE = ("MQDMPR-3.1.7.1.10-D06", "MQDMPR-3.1.7.1.10-D07")
RULES_OF_READ_BY_LOOKUP_ID = ("MQDMPR-3.1.7.1.13-34", "MQDMPR-3.1.7.1.13-38", "MQDMPR-3.1.7.1.13-02")


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(
            way, marks=covers(*(RULES_OF_READ_BY_LOOKUP_ID if way in LOOKUP_RECEIVE_KINDS else RULES_OF_RECEIVE))
        )
        for way in RECEIVE_KINDS
    ],
)
def test_received_message_is_whole_and_leaves_its_queue_for_good(peer, sut, judge, way):
    """Two journaled queues contain five messages that differ in every property. An application receives one message in
    one of several ways. It gets all properties, and the message moves from its queue to the journal of that queue. The
    other messages stay, and a restart changes nothing.
    """
    queues = JournaledQueuesWithMessages(peer, sut)
    queues.fill_queue("other", "uv")
    name = queues.names["queue"]
    source = {"queue": name}
    if way in ("handle", "cursor", "waiting cursor"):
        source = {"handle": sut.control.call("open_queue", queue=name, access="receive")["handle"]}
    if "cursor" in way:
        source = {"cursor": sut.control.call("open_cursor", **source)["cursor"]}
    if way.startswith("waiting"):
        read = PendingRequest(peer, "receive", timeout_ms=PENDING_READ_TIMEOUT_MS, **source)
        peer.settle()
        packet = build_message_with_all_properties(queues.applications["queue"], "b", 2)
        queues.packets.append(peer.open_raw().send(packet))
        read.await_outcome()
        message, before = (read.answer or {}).get("message"), queues.map_message_properties_by_label()
        expected, labels = queues.expect(other="uv", journal="b"), "b"
    else:
        queues.fill_queue("queue", "abc")
        before = queues.map_message_properties_by_label()
        ids = {label: queues.lookup_id("queue", label) for label in "abc"}
        if way in LOOKUP_RECEIVE_KINDS:
            relative = {"next": "a", "previous": "c"}.get(way, "b")
            answer = sut.control.call("receive_by_lookup_id", lookup_id=ids[relative], seek=way, **source)
        else:
            answer = sut.control.call("receive", timeout_ms=0, **source)
        message = answer["message"]
        labels = {"last": "c"}.get(way, "b" if way in ("current", "next", "previous") else "a")
        left = "abc".replace(labels, "")
        expected = queues.expect(queue=left, other="uv", journal=labels)
    received = map_properties_by_label([message] if message else [])
    original = {labels: before[labels]} if labels in before else received
    rules = RULES_OF_READ_BY_LOOKUP_ID if way in LOOKUP_RECEIVE_KINDS else RULES_OF_RECEIVE
    judge(
        rules[1],
        expected=facts(labels=[labels], properties=none("changed property")),
        observed={"labels": [*received], "properties": list_changed_properties(original, received)},
        case="message that was received",
        evidence=queues.packets,
    )
    states = [False, True] if sut.has("restart") else [False]
    for restarted in states:
        if restarted:
            sut.restart()
        copies = queues.map_message_properties_by_label(journals=True)
        judge(
            rules[0],
            *rules[2:],
            expected=facts(places=expected, copies=none("changed property"), others=none("changed property")),
            observed={
                "places": queues.labels(),
                "copies": list_changed_properties(original, copies),
                "others": list_changed_properties(
                    {one: before[one] for one in before if one != labels}, queues.map_message_properties_by_label()
                ),
            },
            case="after a restart" if restarted else "after the receive",
            evidence=queues.packets,
        )


@covers(
    "MQDMPR-3.1.7.1.13-02",
    "MQDMPR-3.1.7.1.13-16",
    "MQDMPR-3.1.7.1.13-38",
    "MQDMPR-3.1.7.1.15-12",
    "MQDMPR-3.1.7.1.15-58",
    "MQDMPR-3.1.7.1.14-10",
)
def test_peeks_return_whole_messages_and_change_nothing(peer, sut, judge):
    """An application peeks at messages in two queues by name, handle, cursor and LookupIdentifier. Each peek returns
    its message with all properties. No peek changes a queue, a journal or the cursor of another peek, and a restart
    changes nothing either.
    """
    queues = JournaledQueuesWithMessages(peer, sut)
    queues.fill_queue("queue", "abcde", (3, 5, 3, 1))
    queues.fill_queue("other", "uv")
    places = queues.expect(queue="baced", other="uv")
    before = queues.map_message_properties_by_label()
    name = queues.names["queue"]
    handle = sut.control.call("open_queue", queue=name, access="peek")["handle"]
    cursor, second = (sut.control.call("open_cursor", handle=handle)["cursor"] for _ in range(2))
    ids = {label: queues.lookup_id("queue", label) for label in "abcde"}
    reads = [
        ("MQDMPR-3.1.7.1.15-58", "b", "peek_message", {"queue": name}),
        ("MQDMPR-3.1.7.1.15-58", "u", "peek_message", {"queue": queues.names["other"]}),
        ("MQDMPR-3.1.7.1.15-12", "b", "peek_message", {"cursor": cursor}),
        ("MQDMPR-3.1.7.1.15-12", "b", "peek_message", {"cursor": second}),
        ("MQDMPR-3.1.7.1.14-10", "a", "peek_next", {"cursor": cursor}),
        ("MQDMPR-3.1.7.1.15-58", "b", "peek_message", {"handle": handle}),
    ]
    for where in ({"queue": name}, {"handle": handle}):
        for seek, relative, label in (
            ("current", "c", "c"),
            ("next", "c", "e"),
            ("previous", "e", "c"),
            ("first", "c", "b"),
            ("last", "c", "d"),
        ):
            arguments = {"lookup_id": ids[relative], "seek": seek, **where}
            reads.append(("MQDMPR-3.1.7.1.13-38", label, "peek_by_lookup_id", arguments))
    reads += [
        ("MQDMPR-3.1.7.1.13-16", "a", "peek_message", {"cursor": cursor}),
        ("MQDMPR-3.1.7.1.13-16", "b", "peek_message", {"cursor": second}),
        ("MQDMPR-3.1.7.1.14-10", "c", "peek_next", {"cursor": cursor}),
        ("MQDMPR-3.1.7.1.14-10", "a", "peek_next", {"cursor": second}),
        ("MQDMPR-3.1.7.1.14-10", "e", "peek_next", {"cursor": cursor}),
    ]
    for number, (rule, label, verb, arguments) in enumerate(reads, start=1):
        timeout = {} if "lookup" in verb else {"timeout_ms": 0}
        found: dict = {}
        outcome = sut.attempt(
            lambda verb=verb, how={**arguments, **timeout}, found=found: found.update(sut.control.call(verb, **how))
        )
        message = found.get("message")
        shown = map_properties_by_label([message] if message else [])
        judge(
            rule,
            expected=facts(outcome=Outcome.DONE, labels=[label], properties=none("changed property")),
            observed={
                "outcome": outcome,
                "labels": [*shown],
                "properties": list_changed_properties({label: before[label]}, shown),
            },
            case=f"read {number}, {verb} {arguments.get('seek', '')}".rstrip(),
            evidence=queues.packets,
        )
    for restarted in [False, True] if sut.has("restart") else [False]:
        if restarted:
            sut.restart()
        judge(
            "MQDMPR-3.1.7.1.13-02",
            "MQDMPR-3.1.7.1.15-58",
            expected=facts(places=places, properties=none("changed property")),
            observed={
                "places": queues.labels(),
                "properties": list_changed_properties(before, queues.map_message_properties_by_label()),
            },
            case="after a restart" if restarted else "after the peeks",
            evidence=queues.packets,
        )

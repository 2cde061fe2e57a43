"""MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier: lookups in the journal and in a subqueue of a queue."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.applications import Application, PendingRequest


def move_messages_to_journal(application, *labels):
    """Receive the first messages of the queue while the queue has journaling, one message for each label; return the
    path name of the journal.
    """
    application.call("set_queue", name=application.queue, journaling=True)
    for _ in labels:
        application.receive()
    application.call("set_queue", name=application.queue, journaling=False)
    return f"{application.queue};journal"


def move_messages_to_subqueue(application, *labels):
    """Move the messages to a new subqueue; return the path name of the subqueue."""
    subqueue = f"{application.queue};mqc-sub"
    application.sut.create_queue(subqueue)
    lookup_ids = application.get_lookup_ids_by_label()
    for label in labels:
        application.call("move", queue=application.queue, lookup_id=lookup_ids[label], to=subqueue)
    return subqueue


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.13-09")
@pytest.mark.parametrize("through", ["queue", "handle"])
@pytest.mark.parametrize(
    "divide",
    [
        pytest.param(move_messages_to_journal, id="journal"),
        pytest.param(move_messages_to_subqueue, marks=needs("subqueues"), id="subqueue"),
    ],
)
def test_lookup_in_journal_or_subqueue_finds_only_its_messages(peer, sut, judge, divide, through):
    """The first three of six messages are in the journal or in a subqueue of a queue. Peeks and receives by
    LookupIdentifier, with each action, return only these messages from the journal or subqueue, and only the other
    messages from the queue.
    """
    application = Application(peer, sut)
    packets = application.fill_queue(*"abcdef")
    inner = divide(application, *"abc")
    observed = {
        where: read_by_each_lookup_action(application, queue, middle, through)
        for where, queue, middle in (("queue", application.queue, "e"), ("journal_or_subqueue", inner, "b"))
    }
    left = {"queue": application.labels(), "journal_or_subqueue": application.labels(inner)}
    judge(
        "MQDMPR-3.1.7.1.13-09",
        expected=facts(
            queue=[*"dfedf", "d", "f", "e"],
            journal_or_subqueue=[*"acbac", "a", "c", "b"],
            messages_left={"queue": [], "journal_or_subqueue": []},
        ),
        observed={**observed, "messages_left": left},
        evidence=packets,
    )


def read_by_each_lookup_action(application, queue, middle, through):
    """Peek by LookupIdentifier with each action, and then receive all messages; return the label of each
    message, or the outcome of a read without a message.
    """
    middle_id = application.get_lookup_ids_by_label(queue)[middle]
    where = {"queue": queue}
    if through == "handle":
        where = {"handle": application.call("open_queue", queue=queue, access="receive")["handle"]}
    reads = [("peek_by_lookup_id", seek) for seek in ("first", "last", "current", "previous", "next")]
    reads += [("receive_by_lookup_id", seek) for seek in ("previous", "next", "current")]
    labels = []
    for verb, seek in reads:
        lookup_id = 0 if seek in ("first", "last") else middle_id
        request = PendingRequest(application.peer, verb, lookup_id=lookup_id, seek=seek, **where)
        labels.append(request.await_label())
    return labels

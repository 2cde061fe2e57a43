"""MS-MQDMPR 3.1.7.1.9 Enqueue Message: LookupIdentifiers, and messages that the system sends to itself."""

from __future__ import annotations

from harness.expectations import holds, none
from harness.peer.remote import START2
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from suites.applications import Application, PendingRequest
from suites.mqqp.steps.reading import LOW_7_BYTES, brought

pytestmark = needs("queue_control", "receive")

PRIORITIES = (3, 6, 0, 7, 3)
"""Of messages in the order in which they arrive."""


@covers("MQDMPR-3.1.7.1.9-11", "MQDMPR-3.1.7.1.9-12")
def test_the_highest_byte_of_an_identifier(peer, sut, judge):
    """A LookupIdentifier has 7 less the priority in its highest byte, or 0 for one kind of messages (E59, E102)."""
    plain, within = Application(peer, sut), Application(peer, sut, transactional=True)
    for number, priority in enumerate(PRIORITIES):
        plain.fill(f"message {number}", PR=priority)
    within.fill("first", "second")
    odd = [
        f"{label}: 0x{identifier >> 56:02X}"
        for number, priority in enumerate(PRIORITIES)
        for label, identifier in plain.lookup_ids().items()
        if label == f"message {number}" and identifier >> 56 not in (0, 7 - priority)
    ]
    judge("MQDMPR-3.1.7.1.9-12", expected=none("other highest byte"), observed=odd, errata="E102")
    odd = [f"{label}: 0x{one >> 56:02X}" for label, one in within.lookup_ids().items() if one >> 56 not in (0, 7)]
    judge("MQDMPR-3.1.7.1.9-11", expected=none("other highest byte"), observed=odd, errata="E102")


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.9-13")
def test_the_low_bytes_of_an_identifier_are_a_number_of_the_queue_manager(remote, sut, judge):
    """A SequentialId is the low seven bytes of a LookupIdentifier, and grows over the messages of all queues."""
    queue, transactional = remote.filled("first"), Application(remote.peer, sut, transactional=True)
    transactional.fill("between")
    read = queue.receive(by=START2)
    first = read.out.lpRemoteReadDesc2.SequentialId
    between = transactional.lookup_ids()["between"] & LOW_7_BYTES
    remote.filled("second")
    known = {one["label"]: lookup_id(one) & LOW_7_BYTES for one in sut.messages()}
    later = queue.receive(by=START2)
    second = later.out.lpRemoteReadDesc2.SequentialId
    judge(
        "MQDMPR-3.1.7.1.9-13",
        expected={
            "received": ["first", "second"],
            "SequentialId": known["second"],
            "order": holds("greater than those before"),
        },
        observed={
            "received": [brought(read), brought(later)],
            "SequentialId": second,
            "order": first < between < known["second"] or [first, between, known["second"]],
        },
        evidence=[read, later],
    )


@needs("send")
@covers("MQDMPR-3.1.7.1.9-26")
def test_what_was_enqueued_is_told_as_sent(peer, sut, judge):
    """A message for which its local queue has room is sent with success, and comes into the queue."""
    application = Application(peer, sut)
    told = PendingRequest(
        peer, "send", to=sut.direct_name(application.queue), label="sent", body="sent"
    ).await_outcome()
    application.await_labels(1)
    judge(
        "MQDMPR-3.1.7.1.9-26",
        expected={"send": Outcome.DONE, "queue": ["sent"]},
        observed={"send": told, "queue": application.labels()},
    )


SENT = ("MQDMPR-3.1.7.1.9-17", "MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21")


@needs("send", "transactions")
@covers(*SENT)
def test_what_is_sent_within_a_transaction_comes_when_that_commits(peer, sut, judge):
    """A message that is sent within a transaction to a local queue comes into it when that commits, in the order of
    sending, and never when that is aborted.
    """
    application = Application(peer, sut, transactional=True)
    committed, aborted = application.begin_transaction(), application.begin_transaction()
    for number in (1, 2):
        application.send(f"sent {number}", transaction=committed)
        application.send(f"not sent {number}", transaction=aborted)
    early = application.labels()
    counts = list(application.count_operations(committed, aborted).values())
    application.end_transaction("commit", committed)
    application.end_transaction("abort", aborted)
    application.await_labels(2)
    after = application.labels()
    judge(
        "MQDMPR-3.1.7.1.9-17",
        expected={"before": [], "after": ["sent 1", "sent 2"]},
        observed={"before": early, "after": after},
    )
    judge(
        "MQDMPR-3.1.7.1.9-18",
        "MQDMPR-3.1.7.1.9-21",
        expected={"operations": [2, 2], "queue": ["sent 1", "sent 2"]},
        observed={"operations": counts, "queue": after},
    )

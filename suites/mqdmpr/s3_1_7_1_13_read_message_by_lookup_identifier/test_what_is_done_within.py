"""MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.applications import Application

TAKEN = ("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.10-D04")


LOOKED_UP = ("MQDMPR-3.1.7.1.13-24", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29")


@needs("queue_control", "receive", "transactions")
@covers(*TAKEN, *LOOKED_UP)
def test_what_is_received_within_a_transaction_is_locked_until_it_ends(peer, sut, judge):
    """A message that a transaction receives, the first of its queue or by its identifier, is hidden from all others as
    an operation of that transaction, until a commit removes it or an abort puts it back to its place.
    """
    application = Application(peer, sut, transactional=True)
    application.fill(*"abcde")
    committed, aborted = application.begin_transaction(), application.begin_transaction()
    took = [application.receive(transaction=committed), application.receive(transaction=aborted)]
    left = application.labels()
    looked_up = [
        application.receive_by_label(label, transaction=transaction)
        for label, transaction in (("d", committed), ("e", aborted))
    ]
    locked = application.labels()
    counts = list(application.count_operations(committed, aborted).values())
    application.end_transaction("commit", committed)
    application.end_transaction("abort", aborted)
    after = application.labels()
    judge(
        "MQDMPR-3.1.7.1.10-D03",
        expected={"received": ["a", "b"], "left": ["c", "d", "e"]},
        observed={"received": took, "left": left},
    )
    judge(
        "MQDMPR-3.1.7.1.13-24",
        expected={"received": ["d", "e"], "left": ["c"]},
        observed={"received": looked_up, "left": locked},
    )
    judge(
        "MQDMPR-3.1.7.1.10-D04",
        "MQDMPR-3.1.7.1.13-25",
        "MQDMPR-3.1.7.1.13-29",
        expected={"operations": [2, 2], "queue": ["b", "c", "e"]},
        observed={"operations": counts, "queue": after},
    )

"""MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.applications import Application

TAKEN = ("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.10-D04")


LOOKED_UP = ("MQDMPR-3.1.7.1.13-24", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29")


@needs("queue_control", "receive", "transactions")
@covers(*TAKEN, *LOOKED_UP)
def test_what_is_received_within_a_transaction_is_locked_until_it_ends(peer, sut, judge):
    """Of five messages one transaction receives two, another one two: the first of the queue, and one by identifier.

    Nobody else sees them. Each is an operation of its transaction; the commit of one takes its two out, the abort of
    the other puts them back to their places.
    """
    application = Application(peer, sut, transactional=True)
    application.fill(*"abcde")
    committed, aborted = application.begin(), application.begin()
    took = [application.take(transaction=committed), application.take(transaction=aborted)]
    left = application.labels()
    looked_up = [
        application.take_that(label, transaction=transaction)
        for label, transaction in (("d", committed), ("e", aborted))
    ]
    locked = application.labels()
    counts = list(application.operations(committed, aborted).values())
    application.decide("commit", committed)
    application.decide("abort", aborted)
    after = application.labels()
    judge("MQDMPR-3.1.7.1.10-D03", expected=[[*"ab"], [*"cde"]], observed=[took, left])
    judge("MQDMPR-3.1.7.1.13-24", expected=[[*"de"], ["c"]], observed=[looked_up, locked])
    judge(
        "MQDMPR-3.1.7.1.10-D04",
        "MQDMPR-3.1.7.1.13-25",
        "MQDMPR-3.1.7.1.13-29",
        expected=[[2, 2], [*"bce"]],
        observed=[counts, after],
    )

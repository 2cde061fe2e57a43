"""MS-MQDMPR 3.1.7.1.8 Create Transaction, and what 3.1.7.1.9, 3.1.7.1.10, 3.1.7.1.13 do within a transaction."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from harness.run.marks import covers, needs
from suites.applications import Application

pytestmark = needs("queue_control", "receive", "transactions")

TAKEN = ("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.10-D04")
LOOKED_UP = ("MQDMPR-3.1.7.1.13-24", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29")
SENT = ("MQDMPR-3.1.7.1.9-17", "MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21")


@covers("MQDMPR-3.1.7.1.8-03", "MQDMPR-3.1.7.1.8-04", "MQDMPR-3.1.7.1.8-05")
def test_a_transaction_is_known_by_its_identifier(peer, sut, judge):
    """Two begin with identifiers that the check gives. Both are listed under these; what was received within each is
    back when that is aborted, and only that.
    """
    application = Application(peer, sut, transactional=True)
    application.fill("first", "second")
    wanted = [str(uuid5(NAMESPACE_URL, f"{sut.own} {number}")) for number in (1, 2)]
    begun = [application.begin(transaction=one) for one in wanted]
    judge("MQDMPR-3.1.7.1.8-03", expected=wanted, observed=begun)
    judge("MQDMPR-3.1.7.1.8-04", expected=dict.fromkeys(begun, 0), observed=application.operations(*begun))
    for one in begun:
        application.take(transaction=one)
    gone = application.labels()
    application.decide("abort", begun[1])
    back = application.labels()
    application.decide("commit", begun[0])
    observed = [gone, back, application.labels(), application.operations(*begun)]
    judge("MQDMPR-3.1.7.1.8-05", expected=[[], ["second"], ["second"], {}], observed=observed)


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


@needs("send")
@covers(*SENT)
def test_what_is_sent_within_a_transaction_comes_when_that_commits(peer, sut, judge):
    """Two transactions send two messages each to a local queue: none is there before, two in order after the commit of
    one, not those of the other, which is aborted.
    """
    application = Application(peer, sut, transactional=True)
    committed, aborted = application.begin(), application.begin()
    for number in (1, 2):
        application.send(f"sent {number}", transaction=committed)
        application.send(f"not sent {number}", transaction=aborted)
    early = application.labels()
    counts = list(application.operations(committed, aborted).values())
    application.decide("commit", committed)
    application.decide("abort", aborted)
    application.await_labels(2)
    after = application.labels()
    judge("MQDMPR-3.1.7.1.9-17", expected=[[], ["sent 1", "sent 2"]], observed=[early, after])
    judge(
        "MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21", expected=[[2, 2], ["sent 1", "sent 2"]], observed=[counts, after]
    )

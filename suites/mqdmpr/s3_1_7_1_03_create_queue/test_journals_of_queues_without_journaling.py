"""MS-MQDMPR 3.1.7.1.3 Create Queue: the journals of new queues that do not journal."""

from __future__ import annotations

from typing import Any

from harness.expectations import each, in_queue
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome

QUEUE_PROPERTIES_BY_QUEUE_KIND: dict[str, dict[str, Any]] = {
    "plain": {},
    "journaling off": {"journaling": False},
    "journal quota": {"journal_quota_kb": 1_000},
    "transactional": {"transactional": True},
}
"""For each kind of queue, the properties that its creator supplies; none of the queues journals."""


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.7.1.3-09")
def test_new_queue_without_journaling_has_empty_journal(sut, judge):
    """The SUT creates queues of several kinds, all without Journaling. The journal of each queue can be read, and is
    empty.
    """
    journals = {
        kind: f"{sut.new_queue('unjournaled', **properties)};journal"
        for kind, properties in QUEUE_PROPERTIES_BY_QUEUE_KIND.items()
    }
    peeks = {kind: sut.attempt("peek", queue=name) for kind, name in journals.items()}
    judge("MQDMPR-3.1.7.1.3-09", expected=each(Outcome.DONE, "peek of a journal"), observed=peeks)
    judge(
        "MQDMPR-3.1.7.1.3-09",
        expected=each(in_queue(), "journal"),
        observed={kind: sut.labels(journals[kind]) for kind, peek in peeks.items() if peek == Outcome.DONE},
    )

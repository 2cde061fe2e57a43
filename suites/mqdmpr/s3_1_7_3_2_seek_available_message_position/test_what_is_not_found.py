"""MS-MQDMPR 3.1.7.3.2 Seek Available Message Position."""

from __future__ import annotations

from harness.expectations import one_of
from harness.peer.remote import LOOKUP
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import (
    LOOKUP_PEEK_CURRENT,
    LOOKUP_PEEK_NEXT,
    LOOKUP_PEEK_PREV,
    LOOKUP_RECEIVE_CURRENT,
    PEEK_CURRENT,
    PEEK_NEXT,
    RECEIVE,
)
from suites.mqqp.steps.lookups import identifiers, looked_up
from suites.mqqp.steps.reading import FAILURE, brought, failed

NOT_FOUND, LOCKED = "MQ_ERROR_MESSAGE_NOT_FOUND", "MQ_ERROR_TRANSACTION_USAGE"


RECEIVED = one_of("MQ_ERROR_MESSAGE_ALREADY_RECEIVED", NOT_FOUND)
"""A message that was received: as long as a cursor is at it, or never (E171)."""


ITSELF = (LOOKUP_PEEK_CURRENT, LOOKUP_RECEIVE_CURRENT)


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.3.3-35",
    "MQDMPR-3.1.7.3.3-37",
    "MQDMPR-3.1.7.3.3-39",
    "MQDMPR-3.1.7.1.13-20",
    "MQDMPR-3.1.7.3.2-12",
    "MQDMPR-3.1.7.3.2-22",
    "MQDMPR-3.1.7.3.2-26",
    "MQDMPR-3.1.7.3.2-27",
)
def test_a_message_that_is_locked_received_or_purged_is_not_found(remote, judge):
    """A message that is locked, received or purged is not found by its identifier, with the reason, and a search for
    the next or the previous one passes it.
    """
    queue, other = remote.filled("first", "second", "third"), remote.open()
    known = identifiers(queue, 3)
    cursor, walking = (one.cursor().settled().out.phCursor for one in (queue, other))
    for one, at in ((queue, cursor), (other, walking)):
        for action in (PEEK_CURRENT, PEEK_NEXT):
            one.read(action, hCursor=at).settled()
    held = other.read(RECEIVE, hCursor=walking).settled()
    locked, taken = (looked_up(queue, action, known[1]) for action in ITSELF)
    behind, before = looked_up(queue, LOOKUP_PEEK_NEXT, known[0]), looked_up(queue, LOOKUP_PEEK_PREV, known[2])
    beyond = [looked_up(queue, action, known[at]) for action, at in ((LOOKUP_PEEK_NEXT, 2), (LOOKUP_PEEK_PREV, 0))]
    judge("MQDMPR-3.1.7.3.3-35", expected=LOCKED, observed=locked.outcome, evidence=[held, locked])
    free = looked_up(queue, LOOKUP_PEEK_CURRENT, known[0])
    judge(
        "MQDMPR-3.1.7.1.13-20",
        expected={"peek_locked": FAILURE, "receive_locked": FAILURE, "peek_free": "first"},
        observed={"peek_locked": failed(locked), "receive_locked": failed(taken), "peek_free": brought(free)},
        evidence=[held, locked, taken],
    )
    judge("MQDMPR-3.1.7.3.2-12", expected="third", observed=brought(behind), evidence=behind)
    judge("MQDMPR-3.1.7.3.2-22", "MQDMPR-3.1.7.3.2-26", expected="first", observed=brought(before), evidence=before)
    judge(
        "MQDMPR-3.1.7.3.2-27",
        expected={"behind": "third", "before": "first", "beyond": [FAILURE, FAILURE]},
        observed={"behind": brought(behind), "before": brought(before), "beyond": [failed(read) for read in beyond]},
        evidence=[behind, before, *beyond],
    )
    other.end(held).settled()
    received = looked_up(queue, LOOKUP_PEEK_CURRENT, known[1])
    evidence = [held, received]
    judge("MQDMPR-3.1.7.3.3-37", expected=RECEIVED, observed=received.outcome, evidence=evidence, errata="E171")
    other.read(RECEIVE).settled()
    queue.purge().settled()
    purged = queue.read(LOOKUP_PEEK_CURRENT, by=LOOKUP, lookup_id=known[0])
    judge("MQDMPR-3.1.7.3.3-39", expected=NOT_FOUND, observed=purged.outcome, evidence=purged)

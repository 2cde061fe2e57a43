"""MS-MQDMPR 3.1.1.2 Queue: reads of a queue that contained messages before."""

from __future__ import annotations

import pytest

from harness.expectations import each
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.sut.releases import does_release_lack_method
from harness.wire.rpc_qm2qm import Action, LookupId, Method
from suites.mqqp.steps.lookups import find_lookup_ids

MESSAGE_LABELS = ("first", "second")
LOOKUP_PEEK_ACTIONS = (Action.LOOKUP_PEEK_CURRENT, Action.LOOKUP_PEEK_NEXT, Action.LOOKUP_PEEK_PREV)
LOOKUP_RECEIVE_ACTIONS = (Action.LOOKUP_RECEIVE_CURRENT, Action.LOOKUP_RECEIVE_NEXT, Action.LOOKUP_RECEIVE_PREV)


@needs("qm2qm")
@covers("MQDMPR-3.1.1.2-21")
@pytest.mark.parametrize("emptied_by", ["receives", "purge"])
def test_reads_find_no_message_that_they_found_before(remote, judge, emptied_by):
    """Two messages are read in each way: with and without a cursor, and by their LookupIdentifiers. Then receives or a
    purge remove them. The same reads, and receives by the LookupIdentifiers, find no message.
    """
    queue = remote.open_with_messages(*MESSAGE_LABELS)
    cursor = queue.open_cursor()
    queue.peek(hCursor=cursor).expect_success()
    queue.peek_next(hCursor=cursor).expect_success()
    queue.peek().expect_success()
    lookups = []
    if not does_release_lack_method(remote.sut, Method.START_RECEIVE_BY_LOOKUP_ID):
        known = find_lookup_ids(queue, len(MESSAGE_LABELS))
        at_ends = [(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST), (Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST)]
        for action, end in at_ends:
            queue.look_up(action, end).expect_success()
        lookups = [*((action, one) for one in known for action in LOOKUP_PEEK_ACTIONS), *at_ends]
        for action, one in lookups:
            queue.look_up(action, one)
        lookups += [(action, one) for one in known for action in LOOKUP_RECEIVE_ACTIONS]
    if emptied_by == "purge":
        queue.purge().expect_success()
    else:
        for _ in MESSAGE_LABELS:
            queue.receive()
    reads = [queue.look_up(action, one) for action, one in lookups]
    reads += [queue.peek(), queue.peek(hCursor=cursor), queue.peek_next(hCursor=cursor), queue.start_receive()]
    judge(
        "MQDMPR-3.1.1.2-21",
        expected=each(Call.FAILURE_HRESULT_TEXT, "read"),
        observed=[one.label_or_failure for one in reads],
        evidence=reads,
        case=f"reads after the {emptied_by}",
    )

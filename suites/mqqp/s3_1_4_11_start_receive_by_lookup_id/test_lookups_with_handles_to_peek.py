"""MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId: lookups by a handle that was opened only to peek."""

from __future__ import annotations

import pytest

from harness.expectations import each, holds
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, LookupId
from harness.wire.rpc_qmcomm import PEEK_ACCESS
from suites.mqqp.steps.lookups import find_lookup_ids

pytestmark = needs("qm2qm")

LOOKUP_ID_OF_NO_MESSAGE = 0x0055_0000_0000_0007
FIRST_OR_LAST_LOOKUP_ID_BY_ACTION = {
    Action.LOOKUP_RECEIVE_NEXT: LookupId.BEFORE_FIRST,
    Action.LOOKUP_RECEIVE_PREV: LookupId.BEHIND_LAST,
}
"""The LookupIds of the ends of the queue, for the actions that can start there."""


@covers("MQQP-3.1.4.11-D08")
@pytest.mark.parametrize(
    "action", [Action.LOOKUP_RECEIVE_CURRENT, Action.LOOKUP_RECEIVE_NEXT, Action.LOOKUP_RECEIVE_PREV], ids=hex
)
def test_lookup_receive_with_handle_to_peek_returns_status(remote, judge, action):
    """A client opens a queue with three messages only to peek, and receives messages of this queue by LookupId: the
    second message, the message at an end of the queue, and a message that does not exist. Then the client receives by
    LookupId after another client has locked all messages, and after it has closed the queue. Each call returns a
    status, and none of the calls causes a fault.
    """
    queue = remote.open_with_messages("first", "second", "third")
    peeking = remote.open(access=PEEK_ACCESS)
    known = find_lookup_ids(queue, 2)[-1:] or [LOOKUP_ID_OF_NO_MESSAGE]
    places = (known[0], FIRST_OR_LAST_LOOKUP_ID_BY_ACTION.get(action, known[0]), LOOKUP_ID_OF_NO_MESSAGE)
    calls = [peeking.look_up(action, place) for place in places]
    for _ in range(3):
        queue.start_receive()
    calls += [peeking.look_up(action, place) for place in places]
    peeking.close()
    calls += [peeking.look_up(action, place) for place in places]
    judge(
        "MQQP-3.1.4.11-D08",
        expected=each(holds("a status is returned"), "call"),
        observed=[call.status is not None or call.outcome for call in calls],
        evidence=calls,
    )

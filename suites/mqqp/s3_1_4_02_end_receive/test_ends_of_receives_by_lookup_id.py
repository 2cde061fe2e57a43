"""MS-MQQP 3.1.4.2 RemoteQMEndReceive: the ends of receives by LookupId."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, facts
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Ack, Action, LookupId
from suites.mqqp.steps.lookups import find_lookup_ids

pytestmark = needs("qm2qm")

END_OF_QUEUE_BY_ACTION = {
    Action.LOOKUP_RECEIVE_NEXT: LookupId.BEFORE_FIRST,
    Action.LOOKUP_RECEIVE_PREV: LookupId.BEHIND_LAST,
}
UNKNOWN_CONTEXT_FAULT = "fault nca_s_fault_context_mismatch"


@covers("MQQP-3.1.4.2-16")
@pytest.mark.parametrize("ack", [Ack.RR_NACK, Ack.RR_ACK], ids=["nack", "ack"])
@pytest.mark.parametrize(
    "action", [Action.LOOKUP_RECEIVE_CURRENT, Action.LOOKUP_RECEIVE_NEXT, Action.LOOKUP_RECEIVE_PREV], ids=hex
)
def test_end_of_receive_by_lookup_id_deletes_its_handle(remote, judge, action, ack):
    """A client receives two messages by LookupId, and ends both receives, the second one first. Each RemoteQMEndReceive
    returns the handle NULL; afterwards, the old handle is unknown.
    """
    queue = remote.open_with_messages("first", "second", "third")
    known = find_lookup_ids(queue, 2)
    if len(known) < 2:
        raise ConformanceFailure("the lookups did not confirm the LookupIds of two messages")
    end_of_queue = END_OF_QUEUE_BY_ACTION.get(action)
    places = known if end_of_queue is None else [end_of_queue] * 2
    received = [queue.look_up(action, place).expect_success() for place in places]
    ends = [queue.end(receive, ack) for receive in reversed(received)]
    again = [queue.end(receive, ack) for receive in received]
    judge(
        "MQQP-3.1.4.2-16",
        expected=facts(each_returned_handle_is_NULL=each(True), calls_with_the_old_handles=each(UNKNOWN_CONTEXT_FAULT)),
        observed={
            "each_returned_handle_is_NULL": [end.has_null_handle for end in ends],
            "calls_with_the_old_handles": [call.outcome for call in again],
        },
        evidence=[*ends, *again],
    )

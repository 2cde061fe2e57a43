"""MS-MQQP 3.1.4.4 RemoteQMCloseQueue: calls with the context handle NULL in each state of the client."""

from __future__ import annotations

from harness.expectations import each, facts
from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, needs

pytestmark = needs("qm2qm")

INVALID_HANDLE_STATUS = "MQ_ERROR_INVALID_HANDLE"


@covers("MQQP-3.1.4.4-05")
def test_close_with_null_handle_fails_in_each_state_of_client(remote, judge):
    """On one connection, a client calls RemoteQMCloseQueue with the context handle NULL before it opens a queue, while
    it has two queues, a cursor and an unfinished receive, after the end of the receive, after it has closed the first
    queue, after a failed second close, after it has closed the second queue, and after it has opened a queue again.
    Each of these calls returns MQ_ERROR_INVALID_HANDLE. Peeks at the open queues succeed until the queues are closed.
    """
    association = remote.associate()
    calls = {}

    def call_close_queue_with_null_handle(case: str) -> None:
        calls[case] = association.call("RemoteQMCloseQueue", pphContext=RemoteQueue.NULL_HANDLE)

    call_close_queue_with_null_handle("before the first opening")
    queue = remote.open_with_messages("first", "second", association=association)
    other = remote.open("admin", association=association)
    queue.open_cursor()
    held = queue.start_receive()
    call_close_queue_with_null_handle("with two open queues, a cursor and a receive")
    queue.acknowledge(held)
    call_close_queue_with_null_handle("after the end of the receive")
    peeks = [queue.peek()]
    other.close()
    call_close_queue_with_null_handle("after the first close")
    other.close()
    call_close_queue_with_null_handle("after a close with an unknown handle")
    peeks.append(queue.peek())
    queue.close()
    call_close_queue_with_null_handle("after the last close")
    again = remote.open(association=association)
    call_close_queue_with_null_handle("after a later opening")
    peeks.append(again.peek())
    judge(
        "MQQP-3.1.4.4-05",
        expected=facts(closes_with_a_null_handle=each(INVALID_HANDLE_STATUS), peeks=each("second")),
        observed={
            "closes_with_a_null_handle": {case: call.outcome for case, call in calls.items()},
            "peeks": [peek.label_or_outcome for peek in peeks],
        },
        evidence=[*calls.values(), *peeks],
    )

"""Faults of RemoteQMCloseCursor that raise RPC exceptions, and faults in the presentation context on which a client
calls RemoteQMCloseCursor.
"""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_rejected_context
from harness.faults.thrown_refusals import throw_status_as_fault_if
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.rpc import Call


def _is_cursor_of_other_handle(qm: QueueManager, call: Call) -> bool:
    given = call.arguments
    return any(
        given["hCursor"] in one.CursorCollection for one in qm.descriptors.values() if one.Handle != given["hQueue"]
    )


add(
    "acceptor-remoteqmclosecursor-refusal-of-cursor-of-other-queue-handle-thrown",
    "MQQP-3.1.4.5-D01",
    "RemoteQMCloseCursor throws an exception for a cursor that was created with another queue handle.",
    throw_status_as_fault_if(
        RemoteQueueOpening.remote_qm_close_cursor,
        lambda qm, call, status: bool(status) and _is_cursor_of_other_handle(qm, call),
    ),
    blind=True,
)
add(
    "acceptor-remoteqmclosecursor-refusal-of-zero-thrown",
    "MQQP-3.1.4.5-D01",
    "RemoteQMCloseCursor throws an exception for hCursor 0.",
    throw_status_as_fault_if(
        RemoteQueueOpening.remote_qm_close_cursor,
        lambda qm, call, status: bool(status) and not call.arguments["hCursor"],
    ),
    blind=True,
)
add(
    "initiator-remoteqmclosecursor-context-rejected",
    "MQQP-3.1.4.5-02",
    "A client calls RemoteQMCloseCursor on the presentation context that the server has rejected.",
    call_on_rejected_context("RemoteQMCloseCursor"),
    blind=True,
)
add(
    "initiator-remoteqmclosecursor-context-of-third-call-rejected",
    "MQQP-3.1.4.5-02",
    "From the third call of RemoteQMCloseCursor on, a client uses the rejected presentation context.",
    call_on_rejected_context("RemoteQMCloseCursor", first_call=3),
    blind=True,
)

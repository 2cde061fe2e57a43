"""Faults of MS-MQQP 2.2.2.1, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import READ_METHODS
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call


def _keep_time_of_request(
    original: Callable[..., dict[str, Any]],
    qm: QueueManager,
    call: Call,
    status: Status,
    entry: RemoteReadEntry | None = None,
) -> Callable[..., dict[str, Any]]:
    def describe_with_request_time(qm: QueueManager, position: MessagePosition) -> dict[str, Any]:
        described = original(qm, position)
        if entry is not None and entry.Action not in READ_METHODS:
            del described["dwArriveTime"]
        return described

    return describe_with_request_time


add(
    "server-arrive-time-of-read-by-lookup-id-not-set",
    "MQQP-2.2.2.1-07",
    "In the answer to RemoteQMStartReceiveByLookupId, the server returns the dwArriveTime that the client sent.",
    during(RemoteReads.answer_read, RemoteReads.describe_remote_message, _keep_time_of_request),
    blind=True,
)

"""Faults of MS-MQQP 3.1.4.11, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status

Found = tuple[Status, MessagePosition | None]


def _stay_in_priority(original: Callable[..., Found], *_: object) -> Callable[..., Found]:
    def seek_within_priority(
        qm: QueueManager, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction
    ) -> Found:
        status, found = original(qm, queue, lookup_id, peek, action)
        start = queue.MessagePositionList.find(lookup_id)
        if not peek or action is not MessageSeekAction.NEXT or found is None or start is None:
            return status, found
        if found.MessageReference.Priority == start.MessageReference.Priority:
            return status, found
        return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None

    return seek_within_priority


add(
    "server-lookup-peek-next-ends-at-priority",
    "MQQP-3.1.4.11-D02",
    "MQ_LOOKUP_PEEK_NEXT finds no message if the next message has a different priority.",
    during(RemoteReads.remote_read_by_lookup, Seeking.seek_with_identifier, _stay_in_priority),
    blind=True,
)

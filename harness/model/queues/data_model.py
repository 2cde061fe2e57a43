"""Predict elements of the abstract data model of the queues. Spec: MS-MQDMPR 3.1.1.2, 3.1.1.13 to 3.1.1.16, 3.2."""

from __future__ import annotations

from typing import Any

from harness.model.queues.state import (
    DELETED_MESSAGE_STATE,
    READ_CURSOR_STATE,
    UNREAD_CURSOR_STATE,
    WAIT_PEEK_CURSOR_STATE,
    WAIT_RECEIVE_CURSOR_STATE,
    OpenQueueHandle,
    Queue,
    Transaction,
)

CURSOR_STATE_NAMES = {
    UNREAD_CURSOR_STATE: "Unread",
    READ_CURSOR_STATE: "Read",
    WAIT_PEEK_CURSOR_STATE: "WaitPeek",
    WAIT_RECEIVE_CURSOR_STATE: "WaitReceive",
}
OPERATION_TYPE_NAMES = {"enqueue": "Enqueue", "dequeue": "Dequeue", "move": "Move"}
UNLIMITED_QUOTA_KB = 0xFFFF_FFFF
"""The value of a quota without a limit (MS-MQDMPR 3.1.1.2)."""
DATA_MODEL_KEY = "data model"
"""The key of the abstract data model in the visible state."""


def describe_queue(queue: Queue) -> dict[str, Any]:
    """Return the expected elements of a queue."""
    return {
        "Active": bool(queue.handles),
        "Transactional": queue.transactional,
        "Journaling": queue.journaling,
        "Label": queue.label,
        "BasePriority": queue.base_priority,
        "JournalQuota": UNLIMITED_QUOTA_KB if queue.journal_quota_kb is None else queue.journal_quota_kb,
        "changed without a request": False,
        "descriptors": [_describe_handle(one) for one in queue.handles],
    }


def _describe_handle(handle: OpenQueueHandle) -> dict[str, Any]:
    return {
        "AccessType": f"{handle.access_mode.capitalize()}Access",
        "ShareMode": "DenyReceive" if handle.deny_receive else "DenyNone",
        "cursors": [CURSOR_STATE_NAMES[one.state] for one in handle.cursors],
        "waiting": [{"receives": one.is_receive, "by cursor": one.cursor is not None} for one in handle.readers],
    }


def describe_operations(transaction: Transaction) -> list[dict[str, Any]] | None:
    """Return the expected operations of a transaction, or None if the documents leave them open."""
    if any(one.position.state == DELETED_MESSAGE_STATE for one in transaction.operations):
        return None
    return [
        {"type": OPERATION_TYPE_NAMES[one.kind], "target": None if one.target is None else one.target.name}
        for one in transaction.operations
    ]

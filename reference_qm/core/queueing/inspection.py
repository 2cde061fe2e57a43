"""A queue, and who uses it, as a JSON-ready tree under the specification's names."""

from __future__ import annotations

from enum import Enum
from typing import Any
from uuid import UUID

from reference_qm.model.adm import Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.position_list import Boundary

_ATTRIBUTES = (
    "Pathname",
    "Identifier",
    "QueueType",
    "PrivateQueueNumber",
    "Label",
    "CreateTime",
    "ModifyTime",
    "Journaling",
    "Quota",
    "JournalQuota",
    "Authentication",
    "PrivacyLevel",
    "Transactional",
    "BasePriority",
    "Active",
    "TotalBytes",
)


def describe_queue(queue: Queue) -> dict[str, Any]:
    """Describe a queue without its messages. Spec: MS-MQDMPR 3.1.1.2."""
    return {name: _plain(getattr(queue, name)) for name in _ATTRIBUTES} | {
        "SubqueueCollection": [one.Pathname for one in queue.SubqueueCollection.values()],
        "OpenQueueDescriptorCollection": [_descriptor(one) for one in queue.OpenQueueDescriptorCollection.values()],
    }


def _descriptor(descriptor: OpenQueueDescriptor) -> dict[str, Any]:
    return {
        "Handle": descriptor.Handle,
        "AccessType": descriptor.AccessType.value,
        "ShareMode": descriptor.ShareMode.value,
        "RemoteReadState": descriptor.RemoteReadState.value,
        "CursorCollection": [_cursor(one) for one in descriptor.CursorCollection.values()],
        "WaitingMessageReadOperationCollection": [
            {"DestructiveRead": one.DestructiveRead, "Tag": None if one.Tag is None else str(one.Tag)}
            for one in descriptor.WaitingMessageReadOperationCollection
        ],
    }


def _cursor(cursor: Cursor) -> dict[str, Any]:
    at = cursor.MessagePositionReference
    return {
        "Handle": cursor.Handle,
        "CursorState": cursor.CursorState.value,
        "LookupIdentifier": None if isinstance(at, Boundary) else at.LookupIdentifier,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, UUID) else value

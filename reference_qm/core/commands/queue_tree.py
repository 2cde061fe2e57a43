"""Describes a queue, its descriptors and its cursors as a JSON-ready tree under the specification's names."""

from __future__ import annotations

from enum import Enum
from typing import Any
from uuid import UUID

from reference_qm.model.adm import Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.position_list import Boundary

_DESCRIBED_ATTRIBUTES = (
    "Pathname",
    "Identifier",
    "QueueType",
    "PrivateQueueNumber",
    "QualifiedPathname",
    "Label",
    "Type",
    "CreateTime",
    "ModifyTime",
    "Journaling",
    "Quota",
    "JournalQuota",
    "Authentication",
    "PrivacyLevel",
    "Transactional",
    "BasePriority",
    "MulticastAddress",
    "Scope",
    "FullPath",
    "DirectoryPath",
    "Active",
    "TotalBytes",
)


def describe_queue(queue: Queue) -> dict[str, Any]:
    """Describe a queue without its messages. Spec: MS-MQDMPR 3.1.1.2."""
    return {name: _convert_to_json_value(getattr(queue, name)) for name in _DESCRIBED_ATTRIBUTES} | {
        "Security": queue.Security.build().hex(),
        "JournalQueueReference": get_queue_pathname(queue.JournalQueueReference),
        "SubqueueCollection": [
            {"Pathname": one.Pathname, "JournalQueueReference": get_queue_pathname(one.JournalQueueReference)}
            for one in queue.SubqueueCollection.values()
        ],
        "OpenQueueDescriptorCollection": [
            describe_descriptor(one) for one in queue.OpenQueueDescriptorCollection.values()
        ],
    }


def describe_descriptor(descriptor: OpenQueueDescriptor) -> dict[str, Any]:
    """Describe a descriptor, which can refer to one open queue or to several open queues. Spec: MS-MQDMPR 3.1.1.16."""
    return {
        "Handle": descriptor.Handle,
        "FormatName": descriptor.FormatName,
        "Multiple": descriptor.Multiple,
        "QueueReference": get_queue_pathname(descriptor.QueueReference),
        "OpenQueueDescriptorCollection": [one.Handle for one in descriptor.OpenQueueDescriptorCollection],
        "AccessType": descriptor.AccessType.value,
        "ShareMode": descriptor.ShareMode.value,
        "RemoteReadState": descriptor.RemoteReadState.value,
        "CursorCollection": [_describe_cursor(one) for one in descriptor.CursorCollection.values()],
        "WaitingMessageReadOperationCollection": [
            {
                "DestructiveRead": one.DestructiveRead,
                "Tag": None if one.Tag is None else str(one.Tag),
                "CursorReference": None if one.CursorReference is None else one.CursorReference.Handle,
            }
            for one in descriptor.WaitingMessageReadOperationCollection
        ],
    }


def _describe_cursor(cursor: Cursor) -> dict[str, Any]:
    at = cursor.MessagePositionReference
    return {
        "Handle": cursor.Handle,
        "CursorState": cursor.CursorState.value,
        "LookupIdentifier": None if isinstance(at, Boundary) else at.LookupIdentifier,
    }


def get_queue_pathname(queue: Queue | None) -> str | None:
    """Return the path name of a queue. In the tree, other elements refer to the queue by this name."""
    return None if queue is None else queue.Pathname


def _convert_to_json_value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, UUID) else value

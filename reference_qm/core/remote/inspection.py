"""What the server keeps of remote readers, as a JSON-ready tree. Spec: MS-MQQP 3.1.1, MS-MQMP 3.1.1.7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager


def describe_remote_reading(qm: QueueManager) -> dict[str, Any]:
    """Describe the collections of remote reading, in order."""
    remote = qm.remote
    return {
        "RemoteReadEntryCollection": [
            {
                "OpenQueueDescriptorHandle": entry.OpenQueueDescriptorHandle,
                "Timeout": entry.Timeout,
                "Action": entry.Action.name,
                "RequestId": entry.RequestId,
            }
            for entry in remote.RemoteReadEntryCollection
        ],
        "OpenQueueEntryCollection": [
            {"OpenQueueDescriptorHandle": entry.OpenQueueDescriptorHandle, "ClientId": str(entry.ClientId)}
            for entry in remote.OpenQueueEntryCollection
        ],
        "RemoteQueueOpenContextHandleTable": [
            {"OpenQueueDescriptorReference": context.OpenQueueDescriptorReference.Handle}
            for context in remote.RemoteQueueOpenContextHandleTable
        ],
    }

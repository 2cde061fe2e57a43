"""Faults of MS-MQQP 3.1.4.11 that only special cases show: a message whose identifier changes."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


@fault("server-message-given-back-has-new-lookup-identifier", breaks=("MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"))
class NewIdentifier(RemoteEnding):
    """The server assigns a new LookupIdentifier to a message whose receive ends with RR_NACK."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None and not delete_message:
            del position.QueueReference.MessagePositionList._by_identifier[position.LookupIdentifier]
            position.LookupIdentifier = self.qm.positions.assign_lookup_identifier(position.MessageReference)
            position.QueueReference.MessagePositionList._by_identifier[position.LookupIdentifier] = position
        super().end_remote_read(entry, delete_message, ended)


@fault("server-message-given-back-lost-by-cursor", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"))
class LostByCursor(Positions):
    """If the receive of a message ends with RR_NACK, cursors that had read the message can no longer read it."""

    def unlock_message(self, position: MessagePosition) -> None:
        super().unlock_message(position)
        queue = position.QueueReference
        if position.State is MessagePositionState.AVAILABLE:
            for descriptor in queue.OpenQueueDescriptorCollection.values():
                for handle, cursor in list(descriptor.CursorCollection.items()):
                    if cursor.MessagePositionReference is position:
                        del descriptor.CursorCollection[handle]

"""Fault of MS-MQQP 3.1.4.11 that only a returned message reveals: its identifier changes."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.statuses import Status


@fault("server-message-given-back-has-new-lookup-identifier", breaks=("MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"))
class ServerMessageGivenBackHasNewLookupIdentifier(RemoteEnding):
    """The server assigns a new LookupIdentifier to a message whose receive ends with RR_NACK."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None and not delete_message:
            del position.QueueReference.MessagePositionList._by_identifier[position.LookupIdentifier]
            position.LookupIdentifier = self.qm.positions.assign_lookup_identifier(position.MessageReference)
            position.QueueReference.MessagePositionList._by_identifier[position.LookupIdentifier] = position
        super().end_remote_read(entry, delete_message, ended)

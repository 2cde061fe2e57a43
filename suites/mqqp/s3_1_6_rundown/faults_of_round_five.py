"""Faults of round five that break rules of MS-MQQP 3.1.6 Rundown."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.statuses import Status


def _ignore_status(status: Status) -> None:
    """Ignore the status, because the client has disconnected."""


@fault("server-second-unfinished-receive-of-lost-connection-deleted", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerSecondUnfinishedReceiveOfLostConnectionDeleted(RemoteReadEnding):
    """When the connection of a client with several unfinished receives is lost, the server returns only the message of
    one receive to its queue, and deletes the messages of the others.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.lost_associations: list[object] = []

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if entry.ended:
            return
        if entry.call.association in self.lost_associations:
            position = entry.UserMessagePacket
            assert position is not None  # only a read with a message has a handle
            entry.ended = True
            self.qm.two_phase_reading.end_with_deletion(position, _ignore_status)
            return
        self.lost_associations.append(entry.call.association)
        super().run_down_remote_read(entry)

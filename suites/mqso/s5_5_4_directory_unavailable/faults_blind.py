"""Faults of MS-MQSO 5.5.4, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("offline-queue-manager-refuses-change-of-private-queue", breaks="MQSO-5.5.4-07", blind=True)
class OfflineQueueManagerRefusesChangeOfPrivateQueue(QueueCommands):
    """While DirectoryOffline is TRUE, a queue manager refuses to change the properties of a private queue."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline:
            raise CommandError("the directory is not available (MQ_ERROR_NO_DS): try again later")
        return super().set_queue(request, token, now)

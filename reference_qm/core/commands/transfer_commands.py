from __future__ import annotations

from reference_qm.core.part import QueueManagerPart
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


class TransferCommands(QueueManagerPart):
    """Handles the commands of an administrator that concern the transfer of messages. Each handler returns a
    Result.
    """

    __slots__ = ()

    def pause_queue(self, request: commands.PauseQueue, token: int, now: Now) -> Result:
        """Stop the sending of messages from an outgoing queue."""
        self.qm.transfer_administering.pause_queue(
            self.qm.destination_resolving.find_known_outgoing_queue(request.to), now
        )
        return Result()

    def resume_queue(self, request: commands.ResumeQueue, token: int, now: Now) -> Result:
        """Resume the sending of messages from an outgoing queue."""
        self.qm.transfer_administering.resume_queue(
            self.qm.destination_resolving.find_known_outgoing_queue(request.to), now
        )
        return Result()

    def take_offline(self, request: commands.TakeOffline, token: int, now: Now) -> Result:
        """Take the queue manager off the network."""
        self.qm.transfer_administering.take_offline(now)
        return Result()

    def bring_online(self, request: commands.BringOnline, token: int, now: Now) -> Result:
        """Bring the queue manager back to the network."""
        self.qm.transfer_administering.bring_online(now)
        return Result()

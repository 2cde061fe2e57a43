"""The commands of an administrator that concern transfer. Each handler returns a Result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reference_qm.core.protocol.destinations import find_outgoing
from reference_qm.surface import commands
from reference_qm.surface.commands import Result

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.surface.clock import Now


def pause_queue(qm: QueueManager, request: commands.PauseQueue, token: int, now: Now) -> Result:
    """Pause an outgoing queue."""
    qm.procedures.pause_queue(qm, find_outgoing(qm, request.to), now)
    return Result()


def resume_queue(qm: QueueManager, request: commands.ResumeQueue, token: int, now: Now) -> Result:
    """Resume an outgoing queue."""
    qm.procedures.resume_queue(qm, find_outgoing(qm, request.to), now)
    return Result()


def take_offline(qm: QueueManager, request: commands.TakeOffline, token: int, now: Now) -> Result:
    """Leave the network."""
    qm.procedures.take_offline(qm, now)
    return Result()


def bring_online(qm: QueueManager, request: commands.BringOnline, token: int, now: Now) -> Result:
    """Come back to the network."""
    qm.procedures.bring_online(qm, now)
    return Result()


TRANSFER_HANDLERS: dict[type, Callable[[QueueManager, Any, int, Now], Result | None]] = {
    commands.PauseQueue: pause_queue,
    commands.ResumeQueue: resume_queue,
    commands.TakeOffline: take_offline,
    commands.BringOnline: bring_online,
}

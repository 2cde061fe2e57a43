"""Faults in cursors after a restart: MQSO-5.1.1-D01."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers
from harness.faults.registry import add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


class _RestartedCursorMover(QueueCursors):
    """If a cursor was open before a restart, opens it again after the restart at the second message of its queue."""

    was_restarted = False

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and self.was_restarted:
            self.get_message_for_peek(cursor)
            self.get_next_message_for_peek(cursor)
        return cursor


def _record_restart(qm: QueueManager) -> None:
    qm.queue_cursors.__dict__["was_restarted"] = True


add(
    "restarted-queue-manager-new-cursor-at-place-of-old-cursor",
    "MQSO-5.1.1-D01",
    "After a restart, a new cursor stands at the second message, where a cursor stood before the restart.",
    combine_installers(replace_part(_RestartedCursorMover), change_core_at_restart(_record_restart)),
)


@fault("restarted-queue-manager-closes-cursor-of-earlier-run", breaks="MQSO-5.1.1-D01")
class RestartedQueueManagerClosesCursorOfEarlierRun(QueueCommands):
    """After a restart, the queue manager closes a cursor that was opened before the restart, without an error."""

    def close_cursor(self, request: commands.CloseCursor, token: int, now: Now) -> Any:
        if not any(request.cursor in one.CursorCollection for one in self.qm.descriptors.values()):
            return Result()
        return super().close_cursor(request, token, now)


@fault("restarted-queue-manager-reads-with-cursor-of-earlier-run", breaks="MQSO-5.1.1-D01")
class RestartedQueueManagerReadsWithCursorOfEarlierRun(QueueCommands):
    """After a restart, the queue manager reads with a cursor of the earlier run from the first queue with messages."""

    def _find_cursor(self, handle: int) -> Cursor:
        known = any(handle in one.CursorCollection for one in self.qm.descriptors.values())
        queue = next((one for one in self.qm.adm.QueueCollection.values() if len(one.MessagePositionList)), None)
        if known or queue is None:
            return super()._find_cursor(handle)
        descriptor = self._open_descriptor(queue.Pathname, QueueAccessType.RECEIVE, QueueShareMode.DENY_NONE)
        cursor = self.qm.queue_cursors.open(descriptor)
        assert cursor is not None
        return cursor

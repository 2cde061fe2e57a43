"""Faults of MS-MQSO 5.5.5 and 5.5.6 that only special cases reveal: other operations that fail, other damaged entries,
and a second start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart, both, skip
from harness.faults.registry import add
from reference_qm.codec import MessageClass
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-disk-full-changed-properties-kept", breaks="MQSO-5.5.5-01")
class QueueManagerDiskFullChangedPropertiesKept(QueueCommands):
    """If a change to the properties of a queue cannot be stored, the change is refused, but the queue has the new
    properties.
    """

    def _change_attributes(self, queue: Queue, changes: dict[str, Any], token: int) -> Result | None:
        for name, value in changes.items():
            setattr(queue, name, value)
        return super()._change_attributes(queue, changes, token)


@fault("queue-manager-disk-full-created-queue-kept", breaks="MQSO-5.5.5-01")
class QueueManagerDiskFullCreatedQueueKept(QueueCommands):
    """If a new queue cannot be stored, its creation is refused, but the queue exists."""

    def _save_new_queue(self, name: str, token: int, status: Status, queue: Queue | None) -> Result | None:
        result = super()._save_new_queue(name, token, status, queue)
        kept = getattr(self, "kept", {})
        self.kept = {**kept, name.lower(): queue}
        for commit in self.qm.disk.pending.values():
            if commit.token == token and queue is not None:
                object.__setattr__(commit, "undo", lambda: None)
        return result


class AcceptsOtherObject(DirectoryClient):
    """After a restart, the queue manager does not compare its Identifier with the Identifier of its directory
    object.
    """

    def _join_domain(self, now: Now) -> None:
        super()._join_domain(now)
        if vars(self).get("is_restarted", False):
            self.qm.enterprise.state.DirectoryOffline = False


def _note_restart(qm: QueueManager) -> None:
    vars(qm.directory_client)["is_restarted"] = True


add(
    "queue-manager-other-identifier-in-directory-accepted-after-restart",
    ("MQSO-5.5.6-02", "MQSO-5.5.6-03"),
    "After a restart, the queue manager does not compare its Identifier with the Identifier of its directory object.",
    both(replace_part(AcceptsOtherObject), at_restart(_note_restart)),
)


@fault("queue-manager-disk-full-refused-purge-hides-messages", breaks="MQSO-5.5.5-01", blind=True)
class QueueManagerDiskFullRefusedPurgeHidesMessages(Queues):
    """If a purge cannot be stored, the purge is refused, but the messages can no longer be received."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        positions = list(queue.MessagePositionList)

        def lose_messages() -> None:
            for position in positions:
                self.qm.positions.delete_message(position, MessageClass.MQMSG_CLASS_NACK_Q_PURGED)

        return super().purge(queue, token, done, lose_messages)


add(
    "sender-disk-full-refused-message-sent-later",
    "MQSO-5.5.5-01",
    "If a message to another queue manager cannot be stored, the send is refused, but the message is sent.",
    skip(Sending.remove_unsaved_message),
    blind=True,
)

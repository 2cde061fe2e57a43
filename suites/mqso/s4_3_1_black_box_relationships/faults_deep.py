"""Faults of MS-MQSO 4.3.1 that only special cases show: elements that a restart changes."""

from __future__ import annotations

from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.attributes import UNLIMITED


def lose_journal_quotas(qm: QueueManager) -> None:
    """Set JournalQuota of all queues to its default."""
    for queue in qm.adm.QueueCollection.values():
        queue.JournalQuota = UNLIMITED


def change_modify_times(qm: QueueManager) -> None:
    """Set ModifyTime of all queues to CreateTime."""
    for queue in qm.adm.QueueCollection.values():
        queue.ModifyTime = queue.CreateTime


add(
    "queue-manager-journal-quota-of-queue-lost-at-restart",
    ("MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "JournalQuota of a queue is unlimited after a restart.",
    at_restart(lose_journal_quotas),
)
add(
    "queue-manager-modify-time-of-queue-lost-at-restart",
    "MQSO-4.3.1-01",
    "ModifyTime of a queue is the time of its creation after a restart.",
    at_restart(change_modify_times),
)

"""Faults of MS-MQSO 5.5.1 that only special cases show: a second queue or sender, and single properties."""

from __future__ import annotations

from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory.enums import PrivacyLevel


def _forget_second_sender(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        known = queue.IncomingTransactionalTransferInfoCollection
        for key in list(known)[1:]:
            del known[key]


def _forget_demands(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.Authentication, queue.PrivacyLevel = False, PrivacyLevel.OPTIONAL


def _forget_base_priority(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.BasePriority = 0


def _reverse_equals(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        positions = list(queue.MessagePositionList)
        if len(positions) > 2:
            for position in positions[1:]:
                state = position.State
                queue.MessagePositionList.remove(position)
                position.State = state
            for position in reversed(positions[1:]):
                queue.MessagePositionList.insert(position)


for _name, _says, _change in (
    (
        "queue-manager-sequences-of-later-senders-lost-at-restart",
        "At a restart, the state of the sequence from the second sender to a queue is lost.",
        _forget_second_sender,
    ),
    (
        "queue-manager-demanded-security-of-queue-lost-at-restart",
        "After a restart, a queue no longer demands authentication or encryption.",
        _forget_demands,
    ),
    (
        "queue-manager-base-priority-of-queue-lost-at-restart",
        "After a restart, the base priority of a queue is 0.",
        _forget_base_priority,
    ),
):
    add(_name, "MQSO-5.5.1-01", _says, at_restart(_change))

add(
    "queue-manager-third-recoverable-message-before-second-after-restart",
    "MQSO-5.5.1-05",
    "After a restart, the messages of a queue after the first message are in reverse order.",
    at_restart(_reverse_equals),
)

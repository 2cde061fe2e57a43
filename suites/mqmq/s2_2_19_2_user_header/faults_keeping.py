"""Faults that break rules of MS-MQMQ 2.2.19.2 UserHeader about expired, recoverable and journaled messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.parts import replace_part
from harness.faults.primitives import change_core_at_restart, omit_step
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.model.adm import Message, MessagePosition, Queue

add(
    "receiver-expired-message-stays-in-queue",
    ("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53", "MQDMPR-3.1.2.4-01", "MQDMPR-3.1.2.4-D02"),
    "The receiver keeps every message in its queue after TimeToBeReceived has expired.",
    omit_step(MessageExpiring.on_expiration_timer),
)


def _empty_queues_at_restart(which: Callable[[QueueManager], Iterable[Queue]]) -> Install:
    def empty_queues(qm: QueueManager) -> None:
        for queue in which(qm):
            for position in list(queue.MessagePositionList):
                queue.MessagePositionList.remove(position)

    return change_core_at_restart(empty_queues)


add(
    "queue-manager-all-queues-empty-after-restart",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20", "MQDMPR-3.1.1.11-07"),
    "The queue manager loses the messages of all its queues at a restart.",
    _empty_queues_at_restart(lambda qm: qm.adm.QueueCollection.values()),
)
add(
    "queue-manager-system-queues-empty-after-restart",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20"),
    "The queue manager loses the messages of its system queues at a restart.",
    _empty_queues_at_restart(
        lambda qm: (qm.adm.SystemJournalQueue, qm.adm.SystemDeadletterQueue, qm.adm.SystemTransactionalDeadletterQueue)
    ),
)


def _change_restored_messages(change: Callable[[list[MessagePosition]], None]) -> Callable[[FaultyCore], None]:
    """Apply `change` to the messages of each queue after a restart."""

    def install_change_at_restart(faulty: FaultyCore) -> None:
        def change_messages_after_restart(after: FaultyCore) -> None:
            for queue in after.core.adm.QueueCollection.values():
                change(list(queue.MessagePositionList))

        faulty.actions_at_restart.append(change_messages_after_restart)

    return install_change_at_restart


def _clear_extension_data(positions: list[MessagePosition]) -> None:
    for position in positions:
        position.MessageReference = replace(position.MessageReference, Extension=b"")


add(
    "queue-manager-recovered-message-without-extension",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20"),
    "The queue manager empties the extensions of its messages at a restart.",
    _change_restored_messages(_clear_extension_data),
)


def _clear_labels_in_system_queue(which: Callable[[QueueManager], Queue]) -> Install:
    """Store messages in a system queue without their label."""

    class SystemQueueLabelClearer(MessagePositions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            if queue is which(self.qm):
                message = replace(message, Label="")
            return super().insert_message(queue, message)

        def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
            if queue is which(self.qm):
                position.MessageReference = replace(position.MessageReference, Label="")
            return super().move_message(position, queue)

    return replace_part(SystemQueueLabelClearer)


add(
    "queue-manager-journaled-message-without-label",
    ("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21"),
    "The queue manager puts a message without its label into the system journal.",
    _clear_labels_in_system_queue(lambda qm: qm.adm.SystemJournalQueue),
)

"""Faults of MS-MQMQ 2.2.19.2 UserHeader: what becomes of a message that has a limit, is recoverable or is journaled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.parts import replace_part
from harness.faults.primitives import at_restart, skip
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.expiring import Expiring
from reference_qm.model.adm import Message, MessagePosition, Queue

add(
    "handed-never-too-late",
    ("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53", "MQDMPR-3.1.2.4-01", "MQDMPR-3.1.2.4-D02"),
    "No message leaves its queue by itself.",
    skip(Expiring.on_expiration_timer),
)


def _emptied_on_restart(which: Callable[[QueueManager], Iterable[Queue]]) -> Install:
    def empty(qm: QueueManager) -> None:
        for queue in which(qm):
            for position in list(queue.MessagePositionList):
                queue.MessagePositionList.remove(position)

    return at_restart(empty)


add(
    "message-recoverable-forgotten",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20", "MQDMPR-3.1.1.11-07"),
    "A restart empties every queue.",
    _emptied_on_restart(lambda qm: qm.adm.QueueCollection.values()),
)
add(
    "message-kept-forgotten",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20"),
    "A restart empties the queues of the system.",
    _emptied_on_restart(
        lambda qm: (qm.adm.SystemJournalQueue, qm.adm.SystemDeadletterQueue, qm.adm.SystemTransactionalDeadletterQueue)
    ),
)


def _restored(change: Callable[[list[MessagePosition]], None]) -> Callable[[FaultyCore], None]:
    """Change what is in the queues after a restart."""

    def install(faulty: FaultyCore) -> None:
        def again(after: FaultyCore) -> None:
            for queue in after.core.adm.QueueCollection.values():
                change(list(queue.MessagePositionList))

        faulty.on_restart.append(again)

    return install


def _without_extensions(positions: list[MessagePosition]) -> None:
    for position in positions:
        position.MessageReference = replace(position.MessageReference, Extension=b"")


add(
    "message-restored-without-extension",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20"),
    "An extension does not survive a restart.",
    _restored(_without_extensions),
)


def _kept_with_other_label(which: Callable[[QueueManager], Queue]) -> Install:
    """Keep messages in a system queue with another label."""

    class OtherLabel(Positions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            if queue is which(self.qm):
                message = replace(message, Label="")
            return super().insert_message(queue, message)

        def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
            if queue is which(self.qm):
                position.MessageReference = replace(position.MessageReference, Label="")
            return super().move_message(position, queue)

    return replace_part(OtherLabel)


add(
    "message-journaled-without-label",
    ("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21"),
    "A message in the journal has lost its label.",
    _kept_with_other_label(lambda qm: qm.adm.SystemJournalQueue),
)

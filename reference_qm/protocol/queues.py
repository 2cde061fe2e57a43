"""Local queues. Spec: MS-MQDMPR 3.1.1.2, 3.1.7.1.3, 3.1.7.1.9, 3.1.7.1.10, 3.1.7.1.16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.adm import Message, MessagePosition, Queue
from reference_qm.codec import FormatError, MessageClass, PrivateQueuePath, parse_format_name
from reference_qm.commands import Result
from reference_qm.effects import Completed, Rejected
from reference_qm.protocol.errors import CommandError
from reference_qm.protocol.messages import describe_message
from reference_qm.states import MessagePositionState
from reference_qm.timers import TimerKey, TimerName

if TYPE_CHECKING:
    from reference_qm.core import QueueManager

ORDER_QUEUE_NUMBER = 4
"""PrivateQueueIdentifier of order_queue$, which no queue of an application gets. Spec: MS-MQQB 2.2.4."""
ORDER_QUEUE_PATH = "private$\\order_queue$"


def create_queue(qm: QueueManager, name: str, transactional: bool) -> Queue:
    """Create a private queue. Spec: MS-MQDMPR 3.1.7.1.3."""
    _check_path(name)
    if name.lower() == ORDER_QUEUE_PATH:
        raise CommandError(f"queue {name!a} is the queue manager's own: use another name")
    if name.lower() in qm.adm.QueueCollection:
        raise CommandError(f"queue {name!a} exists already: delete it first or use it")
    number = qm.adm.last_private_queue_number + 1
    number += number == ORDER_QUEUE_NUMBER
    qm.adm.last_private_queue_number = number
    queue = Queue(Pathname=name, PrivateQueueNumber=number, Transactional=transactional)
    qm.adm.QueueCollection[name.lower()] = queue
    return queue


def delete_queue(qm: QueueManager, name: str) -> None:
    """Delete a private queue and its messages; whoever waits for one is told. Spec: MS-MQDMPR 3.1.7.1.4."""
    queue = find_queue(qm, name)
    if queue.PrivateQueueNumber is None:
        raise CommandError(f"{queue.Pathname} is a system queue: it cannot be deleted, only purged")
    purge_queue(qm, queue, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
    del qm.adm.QueueCollection[name.lower()]
    for token, awaited in list(qm.receivers.items()):
        if awaited is queue:
            stop_receiving(qm, token)
            qm.emit(Rejected(token, f"queue {name!a} was deleted while the command waited for a message"))


def find_queue(qm: QueueManager, name: str) -> Queue:
    """Find a local queue by its path name, a system queue by its name: ``system$;`` journal, deadletter, deadxact."""
    system = {
        queue.Pathname: queue
        for queue in (
            qm.adm.SystemJournalQueue,
            qm.adm.SystemDeadletterQueue,
            qm.adm.SystemTransactionalDeadletterQueue,
        )
    }
    queue = qm.adm.QueueCollection.get(name.lower()) or system.get(name.lower())
    if queue is None:
        raise CommandError(f"no queue {name!a} here: create it first, or list the queues")
    return queue


def purge_queue(qm: QueueManager, queue: Queue, reason: MessageClass = MessageClass.MQMSG_CLASS_NACK_Q_PURGED) -> int:
    """Delete every message of a queue; return how many. Spec: MS-MQDMPR 3.1.7.1.7."""
    positions = list(queue.MessagePositionList)
    for position in positions:
        _delete(qm, position, reason)
    return len(positions)


def insert_message(qm: QueueManager, queue: Queue, message: Message) -> MessagePosition:
    """Put a message into a queue, not to be received yet. Spec: MS-MQDMPR 3.1.7.1.9, MS-MQQB 3.1.5.8.8."""
    position = MessagePosition(message, queue)
    queue.MessagePositionList.insert(position)
    return position


def message_available(qm: QueueManager, position: MessagePosition) -> None:
    """Let a message be received, and give it to who waits. Spec: MS-MQDMPR 3.1.7.2.2."""
    position.State = MessagePositionState.AVAILABLE
    queue = position.QueueReference
    for token, awaited in list(qm.receivers.items()):
        if awaited is queue:
            message = take_first(qm, queue)
            if message is None:
                return
            stop_receiving(qm, token)
            qm.emit(Completed(token, Result({"message": describe_message(message)})))


def move_message(qm: QueueManager, position: MessagePosition, queue: Queue) -> None:
    """Move a message to another queue. Spec: MS-MQDMPR 3.1.7.1.16."""
    qm.procedures.message_available(qm, qm.procedures.insert_message(qm, queue, position.MessageReference))


def take_first(qm: QueueManager, queue: Queue) -> Message | None:
    """Take the first message out; None when there is none, or it is not on disk yet. Spec: MS-MQDMPR 3.1.7.1.10."""
    head = queue.MessagePositionList.head
    if head is None or head.State is not MessagePositionState.AVAILABLE:
        return None
    _delete(qm, head, MessageClass.MQMSG_CLASS_ACK_RECEIVE)
    return head.MessageReference


def stop_receiving(qm: QueueManager, token: int) -> None:
    """Forget a command that waits for a message."""
    del qm.receivers[token]
    qm.timers.stop(TimerKey(TimerName.RECEIVE, token))


def on_receive_timer(qm: QueueManager, token: int) -> None:
    """Answer a command that has waited long enough."""
    del qm.receivers[token]
    qm.emit(Completed(token, Result({"message": None})))


def _delete(qm: QueueManager, position: MessagePosition, reason: MessageClass) -> None:
    position.State = MessagePositionState.DELETED
    position.QueueReference.MessagePositionList.remove(position)
    qm.procedures.position_deleted(qm, position, reason)


def _check_path(name: str) -> None:
    try:
        path = parse_format_name(f"DIRECT=OS:localhost\\{name}")
    except FormatError:
        path = None
    if not isinstance(path, PrivateQueuePath) or path.Subqueue is not None or path.Journal:
        raise CommandError(rf"{name!a} is no path name of a private queue: use private$\name")

"""Local queues. Spec: MS-MQDMPR 3.1.1.2, 3.1.7.1.3, 3.1.7.1.9, 3.1.7.1.10, 3.1.7.1.16."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reference_qm.adm import Message, MessagePosition, Queue
from reference_qm.codec import FormatError, MessageClass, PrivateQueuePath, parse_format_name
from reference_qm.commands import Result
from reference_qm.effects import Completed, Rejected
from reference_qm.protocol.durability import Change, moved, place, removed, transfer_name, transfers
from reference_qm.protocol.errors import CommandError
from reference_qm.protocol.messages import describe_message
from reference_qm.states import MessagePositionState
from reference_qm.timers import TimerKey, TimerName
from reference_qm.transactions.operations import kept_by_transactions

if TYPE_CHECKING:
    from reference_qm.config import QueueSettings
    from reference_qm.core import QueueManager
    from reference_qm.transactions.model import Transaction

ORDER_QUEUE_NUMBER = 4
"""PrivateQueueIdentifier of order_queue$, which no queue of an application gets. Spec: MS-MQQB 2.2.4."""
ORDER_QUEUE_PATH = "private$\\order_queue$"
OWN_QUEUE_PATHS = frozenset({ORDER_QUEUE_PATH, "private$\\admin_queue$", "private$\\notify_queue$"})
"""Queues that are the queue manager's own: messages to them are not acknowledged. Spec: MS-MQQB note <62>."""


class Receiver(NamedTuple):
    """Who waits for a message of a queue, and the transaction that it is to be received in, if any."""

    queue: Queue
    transaction: Transaction | None = None


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


def configure_queue(qm: QueueManager, configured: QueueSettings) -> Queue:
    """Create a queue that exists from the start."""
    queue = create_queue(qm, configured.name, configured.transactional)
    demand_security(queue, configured)
    return queue


def demand_security(queue: Queue, configured: QueueSettings) -> None:
    """Let a queue demand of messages and senders what is configured."""
    queue.Authentication = configured.authentication
    queue.PrivacyLevel = configured.privacy_level
    queue.Security = configured.security


def delete_queue(qm: QueueManager, name: str, token: int) -> Result | None:
    """Delete a private queue and its messages; whoever waits for one is told. Spec: MS-MQDMPR 3.1.7.1.4."""
    queue = find_queue(qm, name)
    if queue.PrivateQueueNumber is None:
        raise CommandError(f"{queue.Pathname} is a system queue: it cannot be deleted, only purged")
    return qm.disk.commit(_deletion(qm, queue), token, lambda: _delete_queue(qm, queue), _leave)


def _deletion(qm: QueueManager, queue: Queue) -> Change:
    """Give the change that deletes a queue with all that belongs to it."""
    change = removed(qm, queue.MessagePositionList, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
    return change | {place(queue): None} | {transfer_name(one): None for one in transfers(queue)}


def _delete_queue(qm: QueueManager, queue: Queue) -> Result:
    qm.disk.save(_deletion(qm, queue))  # also what came meanwhile
    for position in queue.MessagePositionList:
        delete_message(position)
        qm.procedures.position_deleted(qm, position, MessageClass.MQMSG_CLASS_NACK_Q_DELETED)
    forget_queue(qm, queue)
    for token, receiver in list(qm.receivers.items()):
        if receiver.queue is queue:
            stop_receiving(qm, token)
            qm.emit(Rejected(token, f"queue {queue.Pathname!a} was deleted while the command waited for a message"))
    return Result()


def forget_queue(qm: QueueManager, queue: Queue) -> None:
    """Take a queue out of the collection, unless another has its name by now."""
    if qm.adm.QueueCollection.get(queue.Pathname.lower()) is queue:
        del qm.adm.QueueCollection[queue.Pathname.lower()]


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


def purge_queue(qm: QueueManager, queue: Queue, token: int) -> Result | None:
    """Delete every message of a queue; tell how many. Spec: MS-MQDMPR 3.1.7.1.7.

    Those that are locked are deleted later, unless they were received, or sent, by the transaction that has them.
    """
    locked: list[MessagePosition] = []
    positions: list[MessagePosition] = []
    for position in queue.MessagePositionList:
        is_locked = position.State is not MessagePositionState.AVAILABLE and not position.awaits_disk
        (locked if is_locked else positions).append(position)
    reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED

    def purge() -> Result:
        for position in locked:
            if position.State is MessagePositionState.LOCKED:
                position.State = MessagePositionState.PURGE_PENDING
        left = [position for position in positions if position.State is not MessagePositionState.DELETED]
        for position in left:
            delete_message(position)
            qm.procedures.position_deleted(qm, position, reason)
        return Result({"purged": len(left)})

    kept = kept_by_transactions(qm)
    gone_after_a_crash = positions + [position for position in locked if position not in kept]
    return qm.disk.commit(removed(qm, gone_after_a_crash, reason), token, purge, _leave)


def insert_message(qm: QueueManager, queue: Queue, message: Message) -> MessagePosition:
    """Put a message into a queue, not to be received yet. Spec: MS-MQDMPR 3.1.7.1.9, MS-MQQB 3.1.5.8.8."""
    position = MessagePosition(message, queue)
    queue.MessagePositionList.insert(position)
    return position


def message_available(qm: QueueManager, position: MessagePosition) -> None:
    """Let a message be received, and give it to who waits. Spec: MS-MQDMPR 3.1.7.2.2."""
    position.State = MessagePositionState.AVAILABLE
    position.awaits_disk = False
    for token, receiver in list(qm.receivers.items()):
        if receiver.queue is position.QueueReference:
            if not give_first(qm, receiver, token):
                return
            stop_receiving(qm, token)


def move_message(qm: QueueManager, position: MessagePosition, queue: Queue) -> None:
    """Move a message to another queue. Spec: MS-MQDMPR 3.1.7.1.16."""
    inserted = qm.procedures.insert_message(qm, queue, position.MessageReference)
    inserted.key, inserted.order_queue = position.key, position.order_queue
    qm.disk.save(moved(inserted))
    qm.procedures.message_available(qm, inserted)


def first_available(queue: Queue) -> MessagePosition | None:
    """Find the first message that may be received: what is locked is passed over. Spec: MS-MQDMPR 3.1.7.3.2.

    Not so what is not on disk yet: a message behind it would be received before it.
    """
    for position in queue.MessagePositionList:
        if position.State is MessagePositionState.AVAILABLE:
            return position
        if position.awaits_disk:
            return None
    return None


def give_first(qm: QueueManager, receiver: Receiver, token: int) -> bool:
    """Give the first message to a command; False when there is none, or it is not on disk yet.

    Spec: MS-MQDMPR 3.1.7.1.10. Answered when the disk knows that it is gone, or it would be given again after a crash.
    """
    head = first_available(receiver.queue)
    if head is None:
        return False
    if receiver.transaction is not None:
        qm.procedures.dequeue_in_transaction(qm, receiver.transaction, head)
        qm.emit(Completed(token, Result({"message": describe_message(head.MessageReference)})))
        return True
    reason = MessageClass.MQMSG_CLASS_ACK_RECEIVE
    change = removed(qm, [head], reason)
    delete_message(head)

    def give() -> Result:
        qm.procedures.position_deleted(qm, head, reason)
        return Result({"message": describe_message(head.MessageReference)})

    result = qm.disk.commit(change, token, give, lambda: _put_back(qm, head))
    if result is not None:
        qm.emit(Completed(token, result))
    return True


def stop_receiving(qm: QueueManager, token: int) -> None:
    """Forget a command that waits for a message."""
    del qm.receivers[token]
    qm.timers.stop(TimerKey(TimerName.RECEIVE, token))


def on_receive_timer(qm: QueueManager, token: int) -> None:
    """Answer a command that has waited long enough."""
    del qm.receivers[token]
    qm.emit(Completed(token, Result({"message": None})))


def delete_message(position: MessagePosition) -> None:
    """Take a message out of its queue."""
    position.State = MessagePositionState.DELETED
    position.QueueReference.MessagePositionList.remove(position)


def _put_back(qm: QueueManager, position: MessagePosition) -> None:
    position.QueueReference.MessagePositionList.put_back(position)
    qm.procedures.message_available(qm, position)


def _leave() -> None:
    """Nothing was changed yet that would have to be undone."""


def _check_path(name: str) -> None:
    try:
        path = parse_format_name(f"DIRECT=OS:localhost\\{name}")
    except FormatError:
        path = None
    if not isinstance(path, PrivateQueuePath) or path.Subqueue is not None or path.Journal:
        raise CommandError(rf"{name!a} is no path name of a private queue: use private$\name")

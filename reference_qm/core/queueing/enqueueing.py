"""Putting messages into queues. Spec: MS-MQDMPR 3.1.7.1.9, 3.1.7.1.27."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_qm.codec import MessageIdentifier
from reference_qm.core.protocol.destinations import destination_guid
from reference_qm.core.protocol.durability import sent
from reference_qm.core.protocol.sending import take_back
from reference_qm.core.transactions.operations import uncommitted_outgoing
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.commands import Result

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Message, Queue
    from reference_qm.model.elements import OpenQueueDescriptor
    from reference_qm.model.transactions import Transaction
    from reference_qm.surface.clock import Now


def admit_message(qm: QueueManager, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
    """Tell whether a queue takes a message now. Spec: MS-MQDMPR 3.1.7.1.9.

    No step is printed for a message that timed out in transit, only the status and the CURRENT_TIME that it would need:
    it is one whose TimeToReachQueue is over, counted as MS-MQQB 3.1.7.1.2 does.
    """
    status: EnqueueStatus = qm.procedures.check_quota(qm, queue, message)
    if status is EnqueueStatus.NO_ERROR and now.utc_s - message.SentTime > message.TimeToReachQueue:
        return EnqueueStatus.TIMED_OUT
    return status


def enqueue_message(
    qm: QueueManager, queue: Queue, message: Message, now: Now
) -> tuple[EnqueueStatus, MessagePosition | None]:
    """Put a message into a local queue, not to be received yet; None when it is refused. Spec: MS-MQDMPR 3.1.7.1.9.

    It is available when whoever enqueued it says so: when it is on disk, or when its transaction commits.
    """
    status = qm.procedures.admit_message(qm, queue, message, now)
    if status is not EnqueueStatus.NO_ERROR:
        return status, None
    return status, qm.procedures.insert_message(qm, queue, replace(message, ArrivalTime=now.utc_s))


def enqueue_to_open_queue(
    qm: QueueManager,
    descriptor: OpenQueueDescriptor,
    message: Message,
    now: Now,
    transaction: Transaction | None = None,
) -> EnqueueStatus:
    """Put a message into the queue that is open, or a copy into each of several. Spec: MS-MQDMPR 3.1.7.1.27.

    Where iQueue of a copy is printed as the descriptor it is the queue that this one has open. Each copy is numbered,
    as MS-MQQB 3.1.7.1.1 does when it is sent: with one Identifier for all, two for the same queue manager would be one
    and its duplicate (3.1.5.8.1). Copies that were put into their queues stay there when a later one is refused. No
    status is printed for a queue that was deleted meanwhile: no quota is left there.
    """
    if not descriptor.Multiple:
        return _enqueue(qm, descriptor.QueueReference, message, now, transaction)
    message = replace(message, DestinationMultiQueueFormatName=descriptor.FormatName)
    for single in descriptor.OpenQueueDescriptorCollection:
        copy = replace(
            message,
            Identifier=MessageIdentifier(qm.adm.Identifier, qm.procedures.assign_identifier(qm)),
            DestinationQueueFormatName=single.FormatName,
            DestinationQueueManagerIdentifier=destination_guid(single.FormatName),
        )
        status = _enqueue(qm, single.QueueReference, copy, now, transaction)
        if status is not EnqueueStatus.NO_ERROR:
            return status
    return EnqueueStatus.NO_ERROR


def _enqueue(
    qm: QueueManager, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
) -> EnqueueStatus:
    """Put a message into a local or outgoing queue, or let the commit do that. Spec: MS-MQDMPR 3.1.7.1.9."""
    if queue is None:
        return EnqueueStatus.QUEUE_QUOTA_EXCEEDED
    if isinstance(queue, OutgoingQueue):
        if outgoing_messages(qm) >= qm.config.max_outgoing_messages:
            return EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
    elif transaction is None:
        status, position = qm.procedures.enqueue_message(qm, queue, message, now)
        if position is not None:
            _let_arrive(qm, position, None, Result(), now)
        return status
    elif status := qm.procedures.admit_message(qm, queue, message, now):
        return status
    if transaction is None:
        put_message(qm, queue, message, None, Result(), now)
    else:
        qm.procedures.enqueue_in_transaction(qm, transaction, queue, message)
    return EnqueueStatus.NO_ERROR


def put_message(
    qm: QueueManager, queue: Queue, message: Message, token: int | None, result: Result, now: Now
) -> Result | None:
    """Put a message that is admitted into its queue; ``result`` when it is there, and on disk if it has to be.

    Until then nobody receives it, and an outgoing queue keeps it. None: the result comes later, to the command that has
    the token, if one has.
    """
    if isinstance(queue, OutgoingQueue):
        return _send_out(qm, queue, message, token, result, now)
    return _let_arrive(qm, qm.procedures.insert_message(qm, queue, message), token, result, now)


def _let_arrive(
    qm: QueueManager, position: MessagePosition, token: int | None, result: Result, now: Now
) -> Result | None:
    position.awaits_disk = True

    def arrive() -> Result:
        qm.procedures.message_arrived(qm, position, now)
        return result

    queue = position.QueueReference
    return qm.disk.commit(sent(qm, position), token, arrive, lambda: queue.MessagePositionList.remove(position))


def _send_out(
    qm: QueueManager, queue: OutgoingQueue, message: Message, token: int | None, result: Result, now: Now
) -> Result | None:
    position = MessagePosition(message, queue)
    change = qm.procedures.take_over(qm, queue, position, now)

    def let_go() -> Result:
        position.awaits_disk = False
        return result

    return qm.disk.commit(change, token, let_go, lambda: take_back(qm, queue, position), [queue.session])


def outgoing_messages(qm: QueueManager) -> int:
    """Count the messages that wait to be sent, or will when their transactions commit."""
    waiting = sum(len(queue.session.OutgoingMessageTable) for queue in qm.adm.OutgoingQueues.values())
    return waiting + uncommitted_outgoing(qm)

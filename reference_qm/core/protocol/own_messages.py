"""Messages that the queue manager itself sends to a queue: acknowledgments and reports.

Spec: MS-MQQB 3.1.5.8.9, 3.1.7.15, MS-MQDMPR 3.1.7.1.5, 3.1.7.1.27.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_qm.codec import MessageIdentifier
from reference_qm.core.protocol.destinations import OUTGOING_QUEUES_LIMIT, destination_guid, find_local, open_outgoing
from reference_qm.core.protocol.durability import sent
from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.protocol.messages import check_fit, check_queues, is_large
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Queue
    from reference_qm.surface.clock import Now


def send_own_message(qm: QueueManager, message: Message, now: Now) -> None:
    """Send a message of the queue manager's own; it is discarded when its queue cannot be opened or is full.

    Spec: MS-MQQB 3.1.5.8.9, 3.1.7.15 (last steps), MS-MQDMPR 3.1.7.1.27.
    """
    queue = _open_queue(qm, message, now)
    if queue is None or not _has_room(qm, queue, message):
        return
    name = message.DestinationQueueFormatName
    message = replace(
        message,
        Identifier=MessageIdentifier(qm.adm.Identifier, qm.procedures.assign_identifier(qm)),
        DestinationQueueManagerIdentifier=destination_guid(name),
    )
    if isinstance(queue, OutgoingQueue):
        position = MessagePosition(message, queue)
        qm.disk.save(sent(qm, position))
        qm.procedures.message_position_available(qm, queue, position, now)
    else:
        position = qm.procedures.insert_message(qm, queue, replace(message, ArrivalTime=now.utc_s))
        qm.disk.save(sent(qm, position))
        qm.procedures.message_available(qm, position)


def _open_queue(qm: QueueManager, message: Message, now: Now) -> Queue | None:
    """Open the destination for sending; None when that fails. Spec: MS-MQDMPR 3.1.7.1.5."""
    name = message.DestinationQueueFormatName
    try:
        if is_large(message.Body):
            check_fit(message)
        else:
            check_queues(qm.adm.Identifier, name, message.ResponseQueueFormatName)
        local = find_local(qm, name)
        if local is not None or qm.procedures.get_destination_info(qm, name) is None:
            return local
        known = name.lower() in qm.adm.OutgoingQueues
        return open_outgoing(qm, name, now) if known or len(qm.adm.OutgoingQueues) < OUTGOING_QUEUES_LIMIT else None
    except CommandError:
        return None


def _has_room(qm: QueueManager, queue: Queue, message: Message) -> bool:
    """Does a queue take one more? Strangers ask for these messages, and name where to.

    A transactional local queue takes none: they have no transaction (MS-MQQB 3.1.5.8.2).
    """
    if isinstance(queue, OutgoingQueue):
        return len(queue.session.OutgoingMessageTable) < qm.config.max_outgoing_messages
    return not queue.Transactional and not qm.procedures.check_quota(qm, queue, message)

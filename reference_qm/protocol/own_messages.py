"""Messages that the queue manager itself sends to a queue: acknowledgments and reports.

Spec: MS-MQQB 3.1.5.8.9, 3.1.7.15, MS-MQDMPR 3.1.7.1.5, 3.1.7.1.27.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_qm.adm import Message, MessagePosition, OutgoingQueue
from reference_qm.codec import FormatError, MessageIdentifier, MisuseError
from reference_qm.protocol.destinations import destination_guid, find_local, open_outgoing
from reference_qm.protocol.durability import sent
from reference_qm.protocol.errors import CommandError
from reference_qm.protocol.messages import serialize_message

if TYPE_CHECKING:
    from reference_qm.adm import Queue
    from reference_qm.clock import Now
    from reference_qm.core import QueueManager


def send_own_message(qm: QueueManager, message: Message, now: Now) -> None:
    """Send a message of the queue manager's own; it is discarded when its queue cannot be opened.

    Spec: MS-MQQB 3.1.5.8.9, 3.1.7.15 (last steps). A transactional local queue takes none: these messages have no
    transaction (3.1.5.8.2).
    """
    queue = _open_queue(qm, message, now)
    if queue is None or queue.Transactional:
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
        serialize_message(message)
        local = find_local(qm, name)
        if local is None and qm.procedures.get_destination_info(qm, name) is not None:
            return open_outgoing(qm, name, now)
        return local
    except (CommandError, FormatError, MisuseError):
        return None

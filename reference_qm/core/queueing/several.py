"""Sending to a multiple-element format name. Spec: MS-MQMQ 2.1.7, 2.2.20.1, MS-MQDMPR 3.1.7.1.5, 3.1.7.1.27."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.codec import MessageIdentifier
from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.protocol.messages import message_id
from reference_qm.core.protocol.sending import next_identifier
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.commands import Result

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Message
    from reference_qm.model.transactions import Transaction
    from reference_qm.surface.clock import Now


def send_to_several(qm: QueueManager, to: str, message: Message, transaction: Transaction | None, now: Now) -> Result:
    """Send a copy of a message to each queue of a name; the result names the first. Raises CommandError.

    The queues are open only for that. What is recoverable goes to disk after the result is told, copy by copy.
    """
    access, share = QueueAccessType.SEND, QueueShareMode.DENY_NONE
    status, descriptor = qm.procedures.open_queue(qm, to, access, share, now)
    if descriptor is None:
        raise CommandError(f"{to!a} cannot be opened to be sent to: {status.name}")
    first = MessageIdentifier(qm.adm.Identifier, next_identifier(qm))
    outcome = qm.procedures.enqueue_to_open_queue(qm, descriptor, message, now, transaction)
    qm.procedures.close_queue(qm, descriptor)
    if outcome is not EnqueueStatus.NO_ERROR:
        raise CommandError(f"{to!a}: not every queue takes it: {outcome.name}; some may have their copies")
    return Result({"message_id": message_id(first)})

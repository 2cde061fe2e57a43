"""What is kept of messages that are done: the system's journal, and dead letters.

Spec: MS-MQQB 3.1.5.5.4, 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.codec import MessageClass
from reference_qm.core.protocol.durability import gone, moved
from reference_qm.core.queueing.names import find_by_path
from reference_qm.directory.enums import QueueType
from reference_qm.model.states import DeliveryGuarantee

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Message, MessagePosition, Queue


def journal_delivered(qm: QueueManager, position: MessagePosition) -> None:
    """Be done with a message that was delivered: into the system's journal with it, if it is from here and asks.

    Spec: MS-MQQB 3.1.5.5.4, 3.1.5.7, MS-MQDMPR 3.1.1.12 (PositiveJournalingRequested).
    """
    message = position.MessageReference
    if message.PositiveJournalingRequested and message.Identifier.QueueManagerGuid == qm.adm.Identifier:
        qm.procedures.move_message(qm, position, qm.adm.SystemJournalQueue)
    else:
        qm.disk.save(gone([position]))


def journal_failed(qm: QueueManager, position: MessagePosition) -> None:
    """Be done with a message that will not be delivered: into its dead-letter queue with it, if it asks for that.

    Spec: MS-MQQB 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12 (NegativeJournalingRequested). A routed transactional message
    is still with its source; of another one nobody else knows, so it is kept here.
    """
    message = position.MessageReference
    own = message.Identifier.QueueManagerGuid == qm.adm.Identifier
    if message.NegativeJournalingRequested and (own or message.TransactionIdentifier is None):
        qm.procedures.move_message(qm, position, qm.procedures.dead_letter_queue(qm, message))
    else:
        qm.disk.save(gone([position]))


def dead_letter_queue(qm: QueueManager, message: Message) -> Queue:
    """Give the queue for a message that failed: the application's, if it named one that is there, else the system's.

    Spec: MS-MQQB 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12. MS-MQQB gives the application's queue only to transactional
    messages; MS-MQDMPR, with note <11> on releases that did not, to all. A queue of the other kind would be none for
    the message (MS-MQQB 3.1.5.8.2).
    """
    transactional = message.TransactionIdentifier is not None
    named = find_application_queue(qm, message.ApplicationDeadletterQueue)
    if named is not None and named.Transactional is transactional:
        return named
    return qm.adm.SystemTransactionalDeadletterQueue if transactional else qm.adm.SystemDeadletterQueue


def find_application_queue(qm: QueueManager, path: str) -> Queue | None:
    """Find a queue of this queue manager that an application may name for its dead letters."""
    queue = find_by_path(qm, path) if path else None
    return queue if queue is not None and queue.QueueType is not QueueType.SYSTEM else None


def journal_received(qm: QueueManager, position: MessagePosition, reason: MessageClass) -> None:
    """Copy a message that was received into the journal of its queue, if the queue has journaling and room for it.

    Spec: MS-MQDMPR 3.1.1.2 (Journaling, JournalQuota, JournalQueueReference).
    """
    queue = position.QueueReference
    journal = queue.JournalQueueReference
    if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not queue.Journaling or journal is None:
        return
    message = position.MessageReference
    if not qm.procedures.check_quota(qm, journal, message):
        qm.procedures.keep_message(qm, journal, message)


def keep_message(qm: QueueManager, queue: Queue, message: Message) -> None:
    """Put a message into a queue of the system, and on disk if it is recoverable."""
    position = qm.procedures.insert_message(qm, queue, message)
    if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
        position.key = qm.next_persist_token()
        qm.disk.save(moved(position))
    qm.procedures.message_available(qm, position)

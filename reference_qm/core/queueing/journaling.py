from __future__ import annotations

from reference_qm.codec import MessageClass
from reference_qm.core.part import Part
from reference_qm.core.store.entries import relocation_of, removal_of
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee


class Journaling(Part):
    """Copies kept of messages that are done: the system's journal, and dead letters.

    Spec: MS-MQQB 3.1.5.5.4, 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12.
    """

    __slots__ = ()

    def journal_delivered(self, position: MessagePosition) -> None:
        """Be done with a message that was delivered: into the system's journal with it, if it is from here and asks.

        Spec: MS-MQQB 3.1.5.5.4, 3.1.5.7, MS-MQDMPR 3.1.1.12 (PositiveJournalingRequested).
        """
        message = position.MessageReference
        if message.PositiveJournalingRequested and message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            self.qm.positions.move_message(position, self.qm.adm.SystemJournalQueue)
        else:
            self.qm.disk.save(removal_of([position]))

    def journal_failed(self, position: MessagePosition) -> None:
        """Be done with a message that will not be delivered: into its dead-letter queue with it, if it asks for that.

        Spec: MS-MQQB 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12 (NegativeJournalingRequested). A routed transactional
        message is still with its source; of another one nobody else knows, so it is kept here.
        """
        message = position.MessageReference
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if message.NegativeJournalingRequested and (own or message.TransactionIdentifier is None):
            self.qm.positions.move_message(position, self.dead_letter_queue(message))
        else:
            self.qm.disk.save(removal_of([position]))

    def dead_letter_queue(self, message: Message) -> Queue:
        """Return the queue for a message that failed: the application's if it named one here, else the system's.

        Spec: MS-MQQB 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12. MS-MQQB gives the application's queue only to
        transactional messages; MS-MQDMPR, with note <11> on releases that did not, to all. A queue of the other kind
        would be none for the message (MS-MQQB 3.1.5.8.2).
        """
        transactional = message.TransactionIdentifier is not None
        named = self.find_application_queue(message.ApplicationDeadletterQueue)
        if named is not None and named.Transactional is transactional:
            return named
        return self.qm.adm.SystemTransactionalDeadletterQueue if transactional else self.qm.adm.SystemDeadletterQueue

    def find_application_queue(self, path: str) -> Queue | None:
        """Find a queue of this queue manager that an application may name for its dead letters."""
        queue = self.qm.queue_names.find_by_path(path) if path else None
        return queue if queue is not None and queue.QueueType is not QueueType.SYSTEM else None

    def journal_received(self, position: MessagePosition, reason: MessageClass) -> None:
        """Copy a message that was received into the journal of its queue, if the queue has journaling and room for it.

        Spec: MS-MQDMPR 3.1.1.2 (Journaling, JournalQuota, JournalQueueReference).
        """
        queue = position.QueueReference
        journal = queue.JournalQueueReference
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not queue.Journaling or journal is None:
            return
        message = position.MessageReference
        if not self.qm.quotas.check(journal, message):
            self.keep_message(journal, message)

    def keep_message(self, queue: Queue, message: Message) -> None:
        """Put a message into a queue of the system, and on disk if it is recoverable."""
        position = self.qm.positions.insert_message(queue, message)
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            position.key = self.qm.next_persist_token()
            self.qm.disk.save(relocation_of(position))
        self.qm.positions.message_available(position)

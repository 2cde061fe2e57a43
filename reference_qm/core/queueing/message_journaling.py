from __future__ import annotations

from reference_qm.codec import MessageClass
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.entries import build_message_relocation, build_removal_change
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee


class MessageJournaling(QueueManagerPart):
    """Moves or copies processed messages into journals and dead-letter queues.

    Spec: MS-MQQB 3.1.5.5.4, 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12.
    """

    __slots__ = ()

    def journal_delivered_message(self, position: MessagePosition) -> None:
        """Move a delivered message to the system journal if this queue manager is the source of the message and the
        message requests journaling. Otherwise delete the message.

        Spec: MS-MQQB 3.1.5.5.4, 3.1.5.7, MS-MQDMPR 3.1.1.12 (PositiveJournalingRequested).
        """
        message = position.MessageReference
        if message.PositiveJournalingRequested and message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            self.qm.message_positions.move_message(position, self.qm.adm.SystemJournalQueue)
        else:
            self.qm.disk.save(build_removal_change([position]))

    def journal_failed_message(self, position: MessagePosition) -> None:
        """Move a message that cannot be delivered to its dead-letter queue if the message requests negative
        journaling. Otherwise delete the message.

        Spec: MS-MQQB 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12 (NegativeJournalingRequested). A routed transactional
        message is always deleted, because its source still has it. Any other routed message may be journaled,
        because only this queue manager still has it.
        """
        message = position.MessageReference
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if message.NegativeJournalingRequested and (own or message.TransactionIdentifier is None):
            self.qm.message_positions.move_message(position, self.find_dead_letter_queue(message))
        else:
            self.qm.disk.save(build_removal_change([position]))

    def find_dead_letter_queue(self, message: Message) -> Queue:
        """Return the dead-letter queue of a message: the local queue that the message names, or else the system
        dead-letter queue.

        Spec: MS-MQQB 3.1.5.7, 3.1.7.1.2, MS-MQDMPR 3.1.1.12. MS-MQQB allows a dead-letter queue of the application
        only for transactional messages. MS-MQDMPR allows it for all messages; note <11> describes older releases. A
        nontransactional queue would refuse a transactional message, and vice versa (MS-MQQB 3.1.5.8.2).
        """
        transactional = message.TransactionIdentifier is not None
        named = self.find_application_queue(message.ApplicationDeadletterQueue)
        if named is not None and named.Transactional is transactional:
            return named
        return self.qm.adm.SystemTransactionalDeadletterQueue if transactional else self.qm.adm.SystemDeadletterQueue

    def find_application_queue(self, path: str) -> Queue | None:
        """Find a local queue that an application may use as a dead-letter queue."""
        queue = self.qm.queue_names.find_queue_by_path(path) if path else None
        return queue if queue is not None and queue.QueueType is not QueueType.SYSTEM else None

    def journal_received_message(self, position: MessagePosition, reason: MessageClass) -> None:
        """Copy a received message into the journal of its queue if journaling is enabled for the queue and the
        journal has room.

        Spec: MS-MQDMPR 3.1.1.2 (Journaling, JournalQuota, JournalQueueReference).
        """
        queue = position.QueueReference
        journal = queue.JournalQueueReference
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not queue.Journaling or journal is None:
            return
        message = position.MessageReference
        if not self.qm.queue_quotas.check_room_for_message(journal, message):
            self.put_into_system_queue(journal, message)

    def put_into_system_queue(self, queue: Queue, message: Message) -> None:
        """Put a message into a system queue, and save the message if it is recoverable."""
        position = self.qm.message_positions.insert_message(queue, message)
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            position.key = self.qm.assign_persist_token()
            self.qm.disk.save(build_message_relocation(position))
        self.qm.message_positions.on_message_available(position)

from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import MessageIdentifier
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import get_destination_guid
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.messages import format_message_id
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


class MessageEnqueueing(QueueManagerPart):
    """Puts messages into one queue or several queues. Spec: MS-MQDMPR 3.1.7.1.9, 3.1.7.1.27, MS-MQMQ 2.1.7."""

    __slots__ = ()

    def admit_message(self, queue: Queue, message: Message, now: Now) -> EnqueueStatus:
        """Return the status that shows whether a queue accepts a message now. Spec: MS-MQDMPR 3.1.7.1.9.

        For a message that timed out in transit, the document has a status and names CURRENT_TIME, but has no step.
        Here a message is refused when its TimeToReachQueue has passed, which is counted as in MS-MQQB 3.1.7.1.2.
        """
        status: EnqueueStatus = self.qm.queue_quotas.check_room_for_message(queue, message)
        if status is EnqueueStatus.NO_ERROR and now.utc_s - message.SentTime > message.TimeToReachQueue:
            return EnqueueStatus.TIMED_OUT
        return status

    def enqueue_message(self, queue: Queue, message: Message, now: Now) -> tuple[EnqueueStatus, MessagePosition | None]:
        """Put a message into a local queue, where it cannot be received yet. Return None if the queue refuses the
        message.

        Spec: MS-MQDMPR 3.1.7.1.9. The caller makes the message available when the message is on disk or its
        transaction commits.
        """
        status = self.admit_message(queue, message, now)
        if status is not EnqueueStatus.NO_ERROR:
            return status, None
        return status, self.qm.message_positions.insert_message(queue, replace(message, ArrivalTime=now.utc_s))

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        """Put a message into the queue that was opened, or a copy into each queue if several queues were opened.
        Spec: MS-MQDMPR 3.1.7.1.27.

        For a copy, the document passes a descriptor as iQueue; this method passes the queue of the descriptor. Each
        copy gets its own number, as in MS-MQQB 3.1.7.1.1. If two copies for one queue manager had the same Identifier,
        the second copy would be discarded as a duplicate (3.1.5.8.1). If a queue refuses its copy, the copies that were
        already put into other queues remain there. The document has no status for a queue that was deleted after it was
        opened; such a queue counts as full.
        """
        if not descriptor.Multiple:
            return self._enqueue_message(descriptor.QueueReference, message, now, transaction)
        message = replace(message, DestinationMultiQueueFormatName=descriptor.FormatName)
        for single in descriptor.OpenQueueDescriptorCollection:
            copy = replace(
                message,
                Identifier=MessageIdentifier(
                    self.qm.adm.Identifier, self.qm.message_numbering.assign_message_ordinal()
                ),
                DestinationQueueFormatName=single.FormatName,
                DestinationQueueManagerIdentifier=get_destination_guid(single.FormatName),
            )
            status = self._enqueue_message(single.QueueReference, copy, now, transaction)
            if status is not EnqueueStatus.NO_ERROR:
                return status
        return EnqueueStatus.NO_ERROR

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        """Put a message into a local or outgoing queue. The message takes effect now or when its transaction
        commits.

        Spec: MS-MQDMPR 3.1.7.1.9.
        """
        if queue is None:
            return EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        if isinstance(queue, OutgoingQueue):
            if self.qm.adm.Throttled or self.count_outgoing_messages() >= self.qm.config.max_outgoing_messages:
                return EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
        elif transaction is None:
            status, position = self.enqueue_message(queue, message, now)
            if position is not None:
                self._put_into_local_queue(position, None, Result(), now)
            return status
        elif status := self.admit_message(queue, message, now):
            return status
        if transaction is None:
            self.put_message(queue, message, None, Result(), now)
        else:
            self.qm.transaction_operations.enqueue_in_transaction(transaction, queue, message)
        return EnqueueStatus.NO_ERROR

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        """Put a message into a queue, which has accepted the message. Return ``result`` when the message is in the
        queue and, if required, on disk.

        Until then no reader receives the message, and an outgoing queue does not send the message. Return None if
        the command with the token is answered later.
        """
        if isinstance(queue, OutgoingQueue):
            return self._put_into_outgoing_queue(queue, message, token, result, now)
        return self._put_into_local_queue(self.qm.message_positions.insert_message(queue, message), token, result, now)

    def _put_into_local_queue(
        self, position: MessagePosition, token: int | None, result: Result, now: Now
    ) -> Result | None:
        position.is_disk_write_pending = True

        def handle_arrival() -> Result:
            self.qm.message_arrival.message_arrived(position, now)
            return result

        queue = position.QueueReference
        return self.qm.disk.commit(
            self.qm.durable_records.build_send_record(position),
            token,
            handle_arrival,
            lambda: queue.MessagePositionList.remove(position),
        )

    def _put_into_outgoing_queue(
        self, queue: OutgoingQueue, message: Message, token: int | None, result: Result, now: Now
    ) -> Result | None:
        position = MessagePosition(message, queue)
        change = self.qm.message_sending.accept_outgoing_message(queue, position, now)

        def release_message() -> Result:
            position.is_disk_write_pending = False
            return result

        return self.qm.disk.commit(
            change,
            token,
            release_message,
            lambda: self.qm.message_sending.remove_unsaved_message(queue, position),
            [queue.session],
        )

    def count_outgoing_messages(self) -> int:
        """Return the number of messages that wait to be sent, including the messages that are sent when their
        transactions commit.
        """
        waiting = sum(len(queue.session.OutgoingMessageTable) for queue in self.qm.adm.OutgoingQueues.values())
        return waiting + self.qm.transaction_operations.count_uncommitted_outgoing_messages()

    def send_to_several_queues(self, to: str, message: Message, transaction: Transaction | None, now: Now) -> Result:
        """Send a copy of a message to each queue of a format name, and return the result for the first copy. Raises
        CommandError if a queue cannot be opened or refuses the message.

        The queues are open only during this call. Recoverable copies are saved one by one, after the result has
        been returned.
        """
        access, share = QueueAccessType.SEND, QueueShareMode.DENY_NONE
        status, descriptor = self.qm.queue_opening.open_queue(to, access, share, now)
        if descriptor is None:
            raise CommandError(f"{to!a} cannot be opened for sending: {status.name}")
        first = MessageIdentifier(self.qm.adm.Identifier, self.qm.message_numbering.predict_next_message_ordinal())
        outcome = self.enqueue_to_open_queue(descriptor, message, now, transaction)
        self.qm.queue_opening.close_queue(descriptor)
        if outcome is not EnqueueStatus.NO_ERROR:
            raise CommandError(
                f"not every queue of {to!a} accepts the message ({outcome.name}); some queues may have received a copy"
            )
        return Result({"message_id": format_message_id(first)})

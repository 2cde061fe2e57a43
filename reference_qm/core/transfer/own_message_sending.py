from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import MessageIdentifier
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import OUTGOING_QUEUES_LIMIT, get_destination_guid
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.messages import (
    check_message_fits_packet,
    check_queue_names_fit_packet,
    may_exceed_packet_size,
)
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.surface.clock import Now


class OwnMessageSending(QueueManagerPart):
    """Sends the messages that the queue manager itself creates: acknowledgments and reports.

    Spec: MS-MQQB 3.1.5.8.9, 3.1.7.15, MS-MQDMPR 3.1.7.1.5, 3.1.7.1.27.
    """

    __slots__ = ()

    def send(self, message: Message, now: Now) -> None:
        """Send a message that the queue manager itself created. Discard the message if its queue cannot be opened
        or is full.

        Spec: MS-MQQB 3.1.5.8.9, 3.1.7.15 (last steps), MS-MQDMPR 3.1.7.1.27.
        """
        queue = self._open_queue(message, now)
        if queue is None or not self._has_room_for_message(queue, message):
            return
        name = message.DestinationQueueFormatName
        message = replace(
            message,
            Identifier=MessageIdentifier(self.qm.adm.Identifier, self.qm.message_numbering.assign_message_ordinal()),
            DestinationQueueManagerIdentifier=get_destination_guid(name),
        )
        if isinstance(queue, OutgoingQueue):
            position = MessagePosition(message, queue)
            self.qm.disk.save(self.qm.durable_records.build_send_record(position))
            self.qm.message_sending.on_message_position_available(queue, position, now)
        else:
            position = self.qm.message_positions.insert_message(queue, replace(message, ArrivalTime=now.utc_s))
            self.qm.disk.save(self.qm.durable_records.build_send_record(position))
            self.qm.message_positions.on_message_available(position)

    def _open_queue(self, message: Message, now: Now) -> Queue | None:
        """Open the destination queue for sending. Return None if it cannot be opened. Spec: MS-MQDMPR 3.1.7.1.5."""
        name = message.DestinationQueueFormatName
        try:
            if may_exceed_packet_size(message.Body):
                check_message_fits_packet(message)
            else:
                check_queue_names_fit_packet(self.qm.adm.Identifier, name, message.ResponseQueueFormatName)
            local = self.qm.destination_resolving.find_local_queue(name)
            if local is not None or self.qm.next_hops.get_destination_info(name) is None:
                return local
            known = name.lower() in self.qm.adm.OutgoingQueues
            return (
                self.qm.destination_resolving.open_outgoing_queue(name, now)
                if known or len(self.qm.adm.OutgoingQueues) < OUTGOING_QUEUES_LIMIT
                else None
            )
        except CommandError:
            return None

    def _has_room_for_message(self, queue: Queue, message: Message) -> bool:
        """Return whether a queue has room for another message that the queue manager itself created.

        The number of these messages is limited, because any sender can request them for any queue. A transactional
        local queue accepts none of these messages, because they have no transaction (MS-MQQB 3.1.5.8.2).
        """
        if isinstance(queue, OutgoingQueue):
            waiting = len(queue.session.OutgoingMessageTable)
            return not self.qm.adm.Throttled and waiting < self.qm.config.max_outgoing_messages
        return not queue.Transactional and not self.qm.queue_quotas.check_room_for_message(queue, message)

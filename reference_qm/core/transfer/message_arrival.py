from __future__ import annotations

from dataclasses import dataclass, field

from reference_qm.codec import DirectQueueFormatName, PrivateQueueFormatNameId, PublicQueueFormatName, UserMessagePacket
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.entries import build_message_entry, build_message_id_history_entry, build_transfer_entry
from reference_qm.model.adm import (
    AcceptedMessage,
    MessageIDHistoryEntry,
    MessagePosition,
    Queue,
    RecoverableReceipt,
    Session,
)
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Persist


@dataclass(slots=True)
class UnsavedArrival:
    """A message that is being written to the disk, with the acknowledgments to send when it is on disk."""

    position: MessagePosition
    entry: MessageIDHistoryEntry
    receipts_of_sessions: list[tuple[Session, RecoverableReceipt]] = field(default_factory=list)
    accepted_message: AcceptedMessage | None = None
    """The place of a transactional message in its sequence, or None for any other message."""
    routed_packet: UserMessagePacket | None = None
    """The packet to forward if the message is for another queue manager, or None if it is for a local queue."""


class MessageArrival(QueueManagerPart):
    """Puts arrived messages into their queues. Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.7, 3.1.5.8.8."""

    __slots__ = ()

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        """Return the local queue of a message, or None if there is no such queue. Spec: MS-MQQB 3.1.5.8.2,
        3.1.5.8.5.
        """
        header = packet.UserHeader
        if isinstance(header.DestinationQueue, DirectQueueFormatName):
            path = header.DestinationQueue.DirectFormatName.partition("\\")[2]
            return self.qm.adm.QueueCollection.get(path.lower())
        if isinstance(header.DestinationQueue, PrivateQueueFormatNameId):
            return self.qm.adm.QueueCollection.find_private_queue(header.DestinationQueue.PrivateQueueIdentifier)
        if isinstance(header.DestinationQueue, PublicQueueFormatName):
            return self.qm.adm.QueueCollection.find_public_queue(header.DestinationQueue.PublicQueueIdentifier)
        return None

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        """Write a recoverable message to the disk. Until the message is on disk, it is not acknowledged, and no
        application can receive it. Spec: MS-MQQB 3.1.5.8.7.

        The message and its history entry are one record. If only the history entry survived a crash, the repeated
        message would be discarded as a duplicate and lost.
        """
        token = self.qm.assign_persist_token()
        self.qm.savings[token] = saving
        saving.position.key = token
        saving.position.is_disk_write_pending = True
        change = build_message_entry(
            saving.position, packet.build(), saving.accepted_message
        ) | build_message_id_history_entry(saving.entry)
        if saving.accepted_message is not None:
            change |= build_transfer_entry(saving.accepted_message.transfer)
        self.qm.emit_effect(Persist(token, change))

    def message_arrived(self, position: MessagePosition, now: Now) -> None:
        """Make an arrived message available. A message that must be saved is already on disk.

        Spec: MS-MQQB 3.1.5.8 steps 8 to 10.
        """
        self.qm.message_positions.on_message_available(position)
        self.report_arrival(position, now)

    def report_arrival(self, position: MessagePosition, now: Now) -> None:
        """Send the report and the acknowledgment that a message requests for its arrival.

        Spec: MS-MQQB 3.1.5.8.9, 3.1.5.8.10.
        """
        self.qm.message_tracing.trace_received_message(position.MessageReference, now)
        self.qm.admin_acks.acknowledge_arrival(position, now)

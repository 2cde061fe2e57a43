from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import BaseHeader, MessageClass, UserHeader, UserMessagePacket
from reference_qm.core.names.destination_resolving import OUTGOING_QUEUES_LIMIT
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.entries import build_message_id_history_entry
from reference_qm.core.store.messages import DIRECT_QUEUE_TYPE, deserialize_message
from reference_qm.core.transfer.message_arrival import UnsavedArrival
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, RecoverableReceipt, Session
from reference_qm.surface.clock import Now

HIGHEST_HOP_COUNT = 0x1D
"""The highest valid UserHeader.Flags.RC. Spec: MS-MQMQ 2.2.19.2."""

_HOP_COUNT_MASK = UserHeader.flags(RC=0x1F)
_SESSION_HEADER_FLAG = BaseHeader.flags(SH=1)


class MessageRouting(QueueManagerPart):
    """Routes messages to other queue managers. Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.5, 3.1.5.8.7, 3.1.5.8.8.

    A routed packet keeps its bytes, except the hop count and the SessionHeader, which belongs to the incoming
    session. The TransactionHeader is kept, because the source and the destination of the message manage the
    sequence, order acknowledgments and repetition. Between two hops, a transactional message is handled like any
    other recoverable message.
    """

    __slots__ = ()

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        """Accept a message for another queue manager, and forward the message. Spec: MS-MQQB 3.1.5.8.

        In this implementation, every queue manager routes messages. Senders, however, use only the queue managers that
        the directory lists as routing servers. An expired message is deleted before it is sent (3.1.7.1.2).
        """
        if not self.is_message_routable(packet):
            receipt.is_on_disk, receipt.must_be_acknowledged = True, False
            return
        entry = None if packet.UserHeader.TH else self.qm.message_history.find_duplicate(packet)
        if entry is not None:
            self.qm.message_history.disregard_duplicate(session, entry, receipt, now)
            return
        entry = self.qm.message_history.remember_message(packet, now)
        counted = self.increment_hop_count(packet)
        if counted is None:
            receipt.is_on_disk = True
            self.qm.disk.save(build_message_id_history_entry(entry))
            self.qm.message_admission.refuse_message(
                session, packet, MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED, now
            )
            return
        if self.qm.adm.Throttled:
            self.qm.adm.MessageIDHistoryTable.remove(entry)
            self.qm.message_admission.close_session_above_quota(session, now)
            return
        onward = replace(
            counted,
            BaseHeader=replace(counted.BaseHeader, Flags=counted.BaseHeader.Flags & ~_SESSION_HEADER_FLAG),
            SessionHeader=None,
        )
        message = deserialize_message(onward, onward.UserHeader.QueueManagerAddress, now.utc_s)
        position = MessagePosition(
            message, self.qm.destination_resolving.open_outgoing_queue(message.DestinationQueueFormatName, now)
        )
        if onward.UserHeader.DM:
            self.qm.message_arrival.save_message(
                UnsavedArrival(position, entry, [(session, receipt)], routed_packet=onward), onward
            )
        else:
            self.qm.disk.save(build_message_id_history_entry(entry))
            self.forward_message(position, onward, now)

    def is_message_routable(self, packet: UserMessagePacket) -> bool:
        """Return whether a message can be saved here and forwarded.

        Spec: MS-MQQB 3.1.5.8.2 (first step), MS-MQMQ 2.2.19.2.

        Any other message is discarded without an acknowledgment, so the sender keeps it. A message with both a
        direct name and a QueueManagerAddress is not routed; otherwise any client could make this queue manager
        connect to any host.
        """
        user, queues = packet.UserHeader, self.qm.adm.OutgoingQueues
        waiting = sum(len(queue.session.OutgoingMessageTable) for queue in queues.values()) + len(self.qm.savings)
        if (
            waiting >= self.qm.config.max_outgoing_messages
            or user.DestinationQueue is None
            or user.DQ == DIRECT_QUEUE_TYPE
        ):
            return False
        return len(queues) < OUTGOING_QUEUES_LIMIT or _get_destination_key(packet) in queues

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        """Return the packet with its hop count increased by one, or None if the hop count would exceed the limit.
        Spec: MS-MQQB 3.1.5.8.2, MS-MQMQ 2.2.19.2 (RC).

        RC has five bits, but the highest valid value is 0x1D, which is the limit.
        """
        user = packet.UserHeader
        if user.RC >= HIGHEST_HOP_COUNT:
            return None
        return replace(
            packet, UserHeader=replace(user, Flags=user.Flags & ~_HOP_COUNT_MASK | UserHeader.flags(RC=user.RC + 1))
        )

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        """Add a routed message to the session of its outgoing queue. Spec: MS-MQQB 3.1.5.8.5, 3.1.5.8.8."""
        queue = position.QueueReference
        assert isinstance(queue, OutgoingQueue)
        position.is_disk_write_pending = False
        self.qm.message_sending.add_message_to_session_table(
            queue.session, OutgoingMessagePosition(position, packet), now
        )
        self.qm.message_tracing.trace_received_message(position.MessageReference, now)
        if packet.UserHeader.TH:
            self.qm.order_acks.update_outgoing_transfer_info(queue.session)


def _get_destination_key(packet: UserMessagePacket) -> str:
    """Return the key with which the outgoing queue for a message is looked up."""
    return deserialize_message(packet, packet.UserHeader.QueueManagerAddress, 0).DestinationQueueFormatName.lower()

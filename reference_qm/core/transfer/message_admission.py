from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reference_qm.codec import NULL_GUID, MessageClass, UserMessagePacket
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.messages import deserialize_message
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now

Outcome = UserMessagePacket | MessageClass
"""The result of a check: the packet for the next check, or, if the message is refused, the class of the negative
acknowledgment.
"""

AdmissionCheck = Callable[[Session, UserMessagePacket, Any, Now], Outcome]
"""A check of an arrived message. The third argument is the destination queue, or None if there is no such queue."""


def was_message_accepted(queue: Queue, packet: UserMessagePacket, message: Message) -> bool:
    """Return whether an arrived transactional message was accepted earlier, or a later message of its sequence was
    accepted.

    Spec: MS-MQQB 3.1.5.8.6.
    """
    header = packet.TransactionHeader
    key = (packet.UserHeader.SourceQueueManager, message.DestinationQueueFormatName.lower())
    transfer = queue.IncomingTransactionalTransferInfoCollection.get(key)
    if header is None or transfer is None:
        return False
    place = (int(header.TxSequenceID), header.TxSequenceNumber)
    return place <= (int(transfer.SequenceIdentifier), transfer.SequenceNumber)


class MessageAdmission(QueueManagerPart):
    """Decides whether an arrived message may enter its queue, and reports the refusal of a message.

    Spec: MS-MQQB 3.1.5.8, 3.1.5.8.2, 3.1.5.8.3, 3.1.7.1.2.
    """

    __slots__ = ()

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        """Check an arrived message. Return the packet to put into the queue, or None if the message is refused. Spec:
        MS-MQQB 3.1.5.8 steps 2, 3, 5.

        The checks follow the order of 3.1.5.8. If the queue does not exist, only the first check is made. The caller
        has already carried out step 1 (duplicates) and the counting in step 2. Step 4 (SessionHeader) does not depend
        on the message. Step 6 (sequence) and step 8 (quotas) are carried out later.
        """
        checks: tuple[AdmissionCheck, ...] = (
            self.check_destination,
            self.check_transactional_queue,
            self.check_nontransactional_queue,
            self.qm.security_on_receipt.check_security,
            self.qm.security_on_receipt.check_queue_security_demands,
            self.check_expiration,
        )
        for check in checks:
            outcome = check(session, packet, queue, now)
            if isinstance(outcome, MessageClass):
                self.refuse_message(session, packet, outcome, now)
                return None
            packet = outcome
        return packet

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        """Report the refusal of a message: to the administration queue if NA is set, and by a FinalAck to the
        sender if the message is transactional.

        Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.3, 3.1.5.8.8. Afterwards the message is discarded. ``packet`` is the packet
        as it arrived.
        """
        message = replace(self.build_message(packet, now), security=None)
        if packet.SecurityHeader is not None and packet.SecurityHeader.EB:
            message = replace(message, Body=b"")  # 3.1.7.15: an encrypted body is not returned
        self.qm.admin_acks.acknowledge_failure(message, message_class, now)
        if packet.TransactionHeader is not None:
            self.qm.final_acks.send_negative_final_ack(session, packet, message_class, now)

    def check_destination(self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now) -> Outcome:
        """Check whether the destination queue exists. Spec: MS-MQQB 3.1.5.8.2."""
        return MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q if queue is None else packet

    def check_transactional_queue(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        """Check whether the destination of a transactional message is a transactional queue. Spec: MS-MQQB
        3.1.5.8.2.
        """
        if packet.TransactionHeader is not None and not queue.Transactional:
            return MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q
        return packet

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        """Check whether the destination of a nontransactional message is a nontransactional queue.

        Spec: MS-MQQB 3.1.5.8.2.
        """
        if packet.TransactionHeader is None and queue.Transactional:
            return MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG
        return packet

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        """Check whether a message arrived in time. Spec: MS-MQQB 3.1.5.8 step 5, 3.1.7.1.2.

        A transactional message that was accepted before and is sent again is not refused here but handled by
        3.1.5.8.6; otherwise its sender would conclude that a delivered message is lost. A nontransactional message
        that requests negative journaling is journaled here, because its sender does not keep it after the session
        acknowledgment (E34).
        """
        if not self.qm.message_lifetimes.has_message_expired(packet, now):
            return packet
        message = self.build_message(packet, now)
        if was_message_accepted(queue, packet, message):
            return packet
        self.journal_refused_message(message)
        return MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT

    def journal_refused_message(self, message: Message) -> None:
        """Put a refused message into the local dead-letter queue if the message requests negative journaling and
        the queue has room.

        Spec: MS-MQQB 3.1.5.8.8. A transactional message is journaled by its sender after the FinalAck (3.1.5.7).
        """
        wanted = message.TransactionIdentifier is None and message.NegativeJournalingRequested
        if wanted and not self.qm.queue_quotas.check_room_for_message(self.qm.adm.SystemDeadletterQueue, message):
            self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemDeadletterQueue, message)

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        """Return whether a queue has room for a message. If the queue has no room, refuse the message. Spec:
        MS-MQQB 3.1.5.8.8.

        If the quota of the queue manager is exceeded, the session is closed without an acknowledgment, and the
        sender sends the message again. A transactional message that is refused here does not advance its sequence,
        like a message refused in an earlier step (E40). Its sender gets a FinalAck and continues after the missing
        message.
        """
        status: EnqueueStatus = self.qm.queue_quotas.check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            self.journal_refused_message(message)
            self.refuse_message(session, packet, MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA, now)
        elif status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED:
            self.close_session_above_quota(session, now)
        return status is EnqueueStatus.NO_ERROR

    def close_session_above_quota(self, session: Session, now: Now) -> None:
        """Close the session of a message that would exceed the quota of the queue manager, or that arrived during
        flow control. Spec: MS-MQQB 3.1.5.8.8 (rStatus 2), MS-MQDMPR 3.1.7.1.9.
        """
        self.qm.session_closing.close(
            session, "the quota of the queue manager would be exceeded (MS-MQQB 3.1.5.8.8)", now
        )

    def build_message(self, packet: UserMessagePacket, now: Now) -> Message:
        """Build a message from a packet whose destination is this queue manager or another queue manager.

        Spec: MS-MQQB 3.1.7.15. Private names without a queue manager belong to the queue manager of
        QueueManagerAddress; if this field is zero, they belong to this queue manager.
        """
        address = packet.UserHeader.QueueManagerAddress
        return deserialize_message(packet, self.qm.adm.Identifier if address == NULL_GUID else address, now.utc_s)

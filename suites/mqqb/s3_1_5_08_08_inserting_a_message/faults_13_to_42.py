"""Faults that break the rules MQQB-3.1.5.8.8-13 to MQQB-3.1.5.8.8-42."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step_during
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    Message,
    MessagePosition,
    OutgoingQueue,
    OutgoingTransferInfo,
    Queue,
    Session,
)
from reference_qm.model.states import SessionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_08_08_inserting_a_message.fault_steps import OVER_QUOTA_CLASS, ignore_quota_kind


@fault("receiver-over-quota-message-reported", breaks="MQQB-3.1.5.8.8-13", blind=True)
class ReceiverOverQuotaMessageReported(MessageAdmission):
    """The receiver reports the arrival of a traced message that exceeds the quota of its queue."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        if self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            self.qm.message_tracing.trace_received_message(message, now)
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-over-quota-message-without-requests-put-into-queue", breaks="MQQB-3.1.5.8.8-13", blind=True)
class ReceiverOverQuotaMessageWithoutRequestsPutIntoQueue(MessageAdmission):
    """If a message requests no acknowledgment and no journaling, the receiver puts the message into its queue even if
    it exceeds the quota of the queue.
    """

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        quiet = not (message.AcknowledgementsRequested or message.NegativeJournalingRequested)
        if quiet and self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            return True
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-over-quota-second-message-inserted", breaks="MQQB-3.1.5.8.8-13")
class ReceiverOverQuotaSecondMessageInserted(QueueQuotas):
    """The receiver inserts every second message that exceeds the quota of its queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        if status is not EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            return status
        self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        return EnqueueStatus.NO_ERROR if self.__dict__["count"] % 2 == 0 else status


add(
    "receiver-queue-manager-quota-ignored",
    ("MQQB-3.1.5.8.8-14", "MQQB-3.1.5.8.8-15", "MQQB-3.1.5.8.8-16", "MQDMPR-3.1.7.1.9-04"),
    "The receiver accepts any number of messages regardless of the queue manager's quota.",
    ignore_quota_kind(EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED),
)


add(
    "receiver-keeps-session-open-above-queue-manager-quota",
    "MQQB-3.1.5.8.8-15",
    "The receiver leaves the session open when a message exceeds the queue manager's quota.",
    omit_step_during(MessageAdmission.has_queue_room_for_message, SessionClosing.close),
)


@fault("receiver-keeps-session-if-express-message-exceeds-machine-quota", breaks="MQQB-3.1.5.8.8-15")
class ReceiverKeepsSessionIfExpressMessageExceedsMachineQuota(MessageAdmission):
    """The receiver does not close the session when an express message exceeds the quota of the queue manager."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        full = self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
        if full and not packet.UserHeader.DM:
            return False
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-quota-of-queue-manager-closes-every-session", breaks="MQQB-3.1.5.8.8-15", blind=True)
class ReceiverQuotaOfQueueManagerClosesEverySession(MessageAdmission):
    """The receiver closes all sessions when a message exceeds the quota of the queue manager."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        status = self.qm.queue_quotas.check_room_for_message(queue, message)
        room = super().has_queue_room_for_message(session, packet, queue, message, now)
        if status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED:
            for other in list(self.qm.sessions.values()):
                if other.SessionState is SessionState.OPEN:
                    self.qm.session_closing.close(other, "a fault", now)
        return room


@fault("receiver-keeps-session-if-transactional-message-exceeds-quota", breaks="MQQB-3.1.5.8.8-15", blind=True)
class ReceiverKeepsSessionIfTransactionalMessageExceedsQuota(MessageAdmission):
    """The receiver keeps the session open when a transactional message exceeds the quota of the queue manager."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        status: EnqueueStatus = self.qm.queue_quotas.check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED and packet.TransactionHeader is not None:
            return False
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-drops-express-message-over-quota-but-keeps-session", breaks="MQQB-3.1.5.8.8-15")
class ReceiverDropsExpressMessageOverQuotaButKeepsSession(MessageAdmission):
    """The receiver drops an express message that exceeds the quota of the queue manager, and keeps the session open."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        status = self.qm.queue_quotas.check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED and not packet.UserHeader.DM:
            return False
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-nack-sent-for-excess-of-queue-manager-quota", breaks="MQQB-3.1.5.8.8-16", blind=True)
class ReceiverNackSentForExcessOfQueueManagerQuota(MessageAdmission):
    """The receiver sends an acknowledgment of class Q_EXCEED_QUOTA for a message with NA that exceeds the quota of the
    queue manager.
    """

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        if self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED:
            self.qm.admin_acks.acknowledge_failure(message, OVER_QUOTA_CLASS, now)
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-final-ack-sent-for-excess-of-queue-manager-quota", breaks="MQQB-3.1.5.8.8-16", blind=True)
class ReceiverFinalAckSentForExcessOfQueueManagerQuota(MessageAdmission):
    """The receiver sends a FinalAck for a transactional message that exceeds the quota of the queue manager."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        status: EnqueueStatus = self.qm.queue_quotas.check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED and packet.TransactionHeader is not None:
            refused = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
            self.qm.final_acks.send_negative_final_ack(session, packet, refused, now)
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-transfer-info-format-name-copied-from-first-sender", breaks="MQQB-3.1.5.8.8-22", blind=True)
class ReceiverTransferInfoFormatNameCopiedFromFirstSender(TransactionalReceiving):
    """The receiver sets FormatName of a second IncomingTransactionalTransferInfo of a queue to the FormatName of the
    first IncomingTransactionalTransferInfo.
    """

    def accept_in_sequence_message(self, session: Session, transfer: Any, packet: UserMessagePacket, now: Now) -> None:
        first = next(iter(transfer.QueueReference.IncomingTransactionalTransferInfoCollection.values()))
        transfer.FormatName = first.FormatName
        super().accept_in_sequence_message(session, transfer, packet, now)


@fault("receiver-transfer-info-sender-identifier-copied-from-first", breaks="MQQB-3.1.5.8.8-23")
class ReceiverTransferInfoSenderIdentifierCopiedFromFirst(TransactionalReceiving):
    """The receiver sets SenderIdentifier of every IncomingTransactionalTransferInfo of a queue to the SenderIdentifier
    of the queue's first IncomingTransactionalTransferInfo.
    """

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        first = next(iter(transfer.QueueReference.IncomingTransactionalTransferInfoCollection.values()))
        transfer.SenderIdentifier = first.SenderIdentifier


@fault("receiver-transfer-info-sequence-identifier-copied-from-first", breaks="MQQB-3.1.5.8.8-24", blind=True)
class ReceiverTransferInfoSequenceIdentifierCopiedFromFirst(TransactionalReceiving):
    """The receiver initializes SequenceIdentifier of a second IncomingTransactionalTransferInfo with the
    SequenceIdentifier of the first IncomingTransactionalTransferInfo.
    """

    def accept_in_sequence_message(self, session: Session, transfer: Any, packet: UserMessagePacket, now: Now) -> None:
        super().accept_in_sequence_message(session, transfer, packet, now)
        first = next(iter(transfer.QueueReference.IncomingTransactionalTransferInfoCollection.values()))
        transfer.SequenceIdentifier = first.SequenceIdentifier


Change = Callable[[OutgoingTransferInfo, OutgoingTransferInfo, Session], dict[str, Any]]
"""A function that returns wrong elements; its arguments are the previous and the new OutgoingTransferInfo of a
session's queue.
"""


def _set_wrong_transfer_info(change: Change) -> Install:
    """Set some elements of OutgoingTransferInfo to wrong values."""

    class WrongTransferInfoSet(OrderAcks):
        def update_outgoing_transfer_info(self, session: Session) -> None:
            queue = session.OutgoingQueueReference
            if queue is None:
                return
            before = queue.OutgoingTransferInfoReference
            super().update_outgoing_transfer_info(session)
            info = queue.OutgoingTransferInfoReference
            if info is not before:
                queue.OutgoingTransferInfoReference = replace(info, **change(before, info, session))

    return replace_part(WrongTransferInfoSet)


for _name, _rule, _says, _change in (
    (
        "sender-transfer-info-last-ack-time-of-first-acknowledgment",
        "MQQB-3.1.5.8.8-29",
        "The sender sets EodLastAckTime only when the first OrderAck arrives.",
        lambda before, info, session: {"EodLastAckTime": before.EodLastAckTime or info.EodLastAckTime},
    ),
    (
        "sender-transfer-info-last-ack-count-at-most-1",
        "MQQB-3.1.5.8.8-30",
        "The sender sets EodLastAckCount to 1 even if several OrderAcks have arrived.",
        lambda before, info, session: {"EodLastAckCount": min(info.EodLastAckCount, 1)},
    ),
    (
        "sender-transfer-info-no-ack-count-at-most-1",
        "MQQB-3.1.5.8.8-31",
        "The sender sets EodNoAckCount to 1 even if several messages have no OrderAck.",
        lambda before, info, session: {"EodNoAckCount": min(info.EodNoAckCount, 1)},
    ),
    (
        "sender-transfer-info-resend-interval-always-first",
        "MQQB-3.1.5.8.8-32",
        "The sender always sets EodResendInterval to 30.",
        lambda before, info, session: {"EodResendInterval": 30},
    ),
    (
        "sender-transfer-info-first-non-ack-kept",
        "MQQB-3.1.5.8.8-33",
        "The sender keeps EodFirstNonAck when a further OrderAck arrives.",
        lambda before, info, session: (
            {"EodFirstNonAck": before.EodFirstNonAck}
            if before.EodFirstNonAck.SeqNo and info.EodFirstNonAck.SeqNo
            else {}
        ),
    ),
    (
        "sender-transfer-info-last-non-ack-is-first",
        "MQQB-3.1.5.8.8-34",
        "The sender sets EodLastNonAck to the first message without OrderAck.",
        lambda before, info, session: {"EodLastNonAck": info.EodFirstNonAck},
    ),
    (
        "sender-transfer-info-last-ack-previous-number-0",
        "MQQB-3.1.5.8.8-35",
        "The sender sets EodLastAck.PrevNo to 0.",
        lambda before, info, session: {"EodLastAck": replace(info.EodLastAck, PrevNo=0)},
    ),
    (
        "sender-transfer-info-last-ack-of-first-order-ack",
        "MQQB-3.1.5.8.8-35",
        "The sender keeps EodLastAck when a further OrderAck arrives.",
        lambda before, info, session: {"EodLastAck": before.EodLastAck} if before.EodLastAck.SeqNo else {},
    ),
    (
        "sender-transfer-info-next-sequence-is-ended-one",
        "MQQB-3.1.5.8.8-37",
        "The sender keeps the identifier of the ended sequence in EodNextSeq.",
        lambda before, info, session: (
            {"EodNextSeq": replace(info.EodNextSeq, SeqID=info.EodLastAck.SeqID)} if info.EodLastAck.SeqNo else {}
        ),
    ),
    (
        "sender-transfer-info-next-number-after-last-ack",
        "MQQB-3.1.5.8.8-38",
        "The sender sets EodNextSeq.SeqNo to the number after the last acknowledged message.",
        lambda before, info, session: (
            {"EodNextSeq": replace(info.EodNextSeq, SeqNo=info.EodLastAck.SeqNo + 1)} if info.EodLastAck.SeqNo else {}
        ),
    ),
    (
        "sender-transfer-info-next-previous-number-is-last-ack",
        "MQQB-3.1.5.8.8-39",
        "The sender sets EodNextSeq.PrevNo to the number of the last acknowledged message.",
        lambda before, info, session: (
            {"EodNextSeq": replace(info.EodNextSeq, PrevNo=info.EodLastAck.SeqNo)} if info.EodLastAck.SeqNo else {}
        ),
    ),
    (
        "sender-transfer-info-no-read-count-at-most-1",
        "MQQB-3.1.5.8.8-40",
        "The sender sets EodNoReadCount to 1 even if several messages await a FinalAck.",
        lambda before, info, session: {"EodNoReadCount": min(info.EodNoReadCount, 1)},
    ),
    (
        "sender-transfer-info-resend-count-at-most-1",
        "MQQB-3.1.5.8.8-41",
        "The sender sets EodResendCount to 1 even after several time-outs.",
        lambda before, info, session: {"EodResendCount": min(info.EodResendCount, 1)},
    ),
    (
        "sender-transfer-info-resend-time-of-first-acknowledgment",
        "MQQB-3.1.5.8.8-42",
        "The sender sets EodResendTime only once.",
        lambda before, info, session: {"EodResendTime": before.EodResendTime or info.EodResendTime},
    ),
):
    add(_name, _rule, _says, _set_wrong_transfer_info(_change), blind=True)


@fault("router-sets-eod-resend-time-to-interval-when-it-forwards", breaks="MQQB-3.1.5.8.8-42", blind=True)
class RouterSetsEodResendTimeToIntervalWhenItForwards(MessageRouting):
    """The queue manager that forwards a transactional message sets EodResendTime of OutgoingTransferInfo to
    ResendInterval of TxOutgoingSequence instead of ResendTime.
    """

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        queue = position.QueueReference
        if not packet.UserHeader.TH or not isinstance(queue, OutgoingQueue):
            return
        sequence, info = queue.session.TxOutgoingSequence, queue.OutgoingTransferInfoReference
        if sequence is not None:
            queue.OutgoingTransferInfoReference = replace(info, EodResendTime=sequence.ResendInterval)

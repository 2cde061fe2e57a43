"""Faults of putting messages into queues, and of what is noted of sequences. Spec: MS-MQQB 3.1.5.8.8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import afterwards, during, procedure, skip
from harness.faults.refusing import acknowledged_unasked, unacknowledged, without_final_ack
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, SequenceInfo, UserMessagePacket
from reference_qm.core.protocol.admission import Admission
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.in_sequence import InSequence
from reference_qm.core.protocol.order_acks import OrderAcks
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Message, MessagePosition, Queue, Session
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now

RULE = "MQQB-3.1.5.8.8-"
QUOTA = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
Original = Callable[..., Any]


def _inserted(change: Callable[[Message], Message]) -> Install:
    def make(original: Original) -> Original:
        def insert(qm: QueueManager, queue: Queue, message: Message, *rest: Any) -> MessagePosition:
            position: MessagePosition = original(qm, queue, change(message), *rest)
            return position

        return insert

    return procedure(Positions.insert_message, make)


def _first_queue(original: Original) -> Original:
    def insert(qm: QueueManager, queue: Queue, message: Message, *rest: Any) -> MessagePosition:
        position: MessagePosition = original(qm, next(iter(qm.adm.QueueCollection.values())), message, *rest)
        return position

    return insert


def _overlook(unseen: EnqueueStatus) -> Install:
    """See no quota of one kind."""

    def make(original: Original) -> Original:
        def check(qm: QueueManager, queue: Queue, message: Message) -> EnqueueStatus:
            status: EnqueueStatus = original(qm, queue, message)
            return EnqueueStatus.NO_ERROR if status is unseen else status

        return check

    return procedure(Quotas.check, make)


def _log_transactional(qm: QueueManager, message: Message) -> None:
    if message.TransactionIdentifier is not None and message.NegativeJournalingRequested:
        qm.journaling.keep_message(qm.adm.SystemDeadletterQueue, message)


add(
    "message-of-another-packet",
    tuple(f"{RULE}{number}" for number in ("01", "02", "05")),
    "A message gets into its queue with the tag of another.",
    _inserted(lambda message: replace(message, AppSpecific=message.AppSpecific ^ 1)),
)
add(
    "message-into-another-queue",
    (f"{RULE}04", "MQQB-3.1.5.8-10"),
    "A message gets into the first queue that there is.",
    procedure(Positions.insert_message, _first_queue),
)
add(
    "quota-of-queue-overlooked",
    (f"{RULE}06", f"{RULE}13"),
    "A queue may hold any amount.",
    _overlook(EnqueueStatus.QUEUE_QUOTA_EXCEEDED),
)
add("quota-not-told", f"{RULE}07", "Nobody is told that a queue is full.", unacknowledged(QUOTA))
add("quota-told-unasked", f"{RULE}07", "It is told that a queue is full without NA.", acknowledged_unasked(QUOTA))
add("quota-not-logged", f"{RULE}10", "A message for a full queue is no dead letter.", skip(Admission.log_refused))
add(
    "quota-logged-with-transaction",
    f"{RULE}10",
    "A transactional message for a full queue is a dead letter here as well.",
    afterwards(Admission.log_refused, _log_transactional),
)
add("quota-without-final-ack", f"{RULE}11", "No FinalAck tells that a queue is full.", without_final_ack(QUOTA))
add(
    "quota-of-queue-manager-overlooked",
    tuple(f"{RULE}{number}" for number in ("14", "15", "16")),
    "The queue manager may hold any amount.",
    _overlook(EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED),
)
add(
    "quota-of-queue-manager-kept-open",
    f"{RULE}15",
    "Above the quota of the queue manager the session stays open.",
    during(Admission.has_room, Closing.close, lambda original, *_: lambda *arguments: None),
)


# -- the sequences of transactional messages -----------------------------------------------------------------------


def _noted(**changes: Callable[[Any], Any]) -> Install:
    """Note something else of the sequence of an accepted message."""

    def spoil(
        qm: QueueManager, session: Session, transfer: IncomingTransactionalTransferInfo, packet: Any, now: Now
    ) -> None:
        for name, change in changes.items():
            setattr(transfer, name, change(getattr(transfer, name)))

    return afterwards(InSequence.accept_in_sequence, spoil)


def _at_another_queue(qm: QueueManager, session: Session, transfer: Any, packet: UserMessagePacket, now: Now) -> None:
    found = transfer.QueueReference.IncomingTransactionalTransferInfoCollection
    for key in [key for key, one in found.items() if one is transfer]:
        del found[key]
    next(iter(qm.adm.QueueCollection.values())).IncomingTransactionalTransferInfoCollection[key] = transfer


def _not_noted(qm: QueueManager, session: Session, transfer: Any, packet: UserMessagePacket, now: Now) -> None:
    transfer.QueueReference.IncomingTransactionalTransferInfoCollection.clear()


def _never_found(original: Original) -> Original:
    def accept(qm: QueueManager, session: Session, transfer: Any, packet: UserMessagePacket, now: Now) -> None:
        number = transfer.SequenceNumber
        original(qm, session, transfer, packet, now)
        transfer.SequenceNumber = number or transfer.SequenceNumber

    return accept


add(
    "sequence-not-noted",
    (f"{RULE}17", f"{RULE}19"),
    "No IncomingTransactionalTransferInfo is kept.",
    afterwards(InSequence.accept_in_sequence, _not_noted),
)
add(
    "sequence-found-not-again",
    f"{RULE}18",
    "The IncomingTransactionalTransferInfo of a sequence stays as it was made.",
    procedure(InSequence.accept_in_sequence, _never_found),
)
add(
    "sequence-at-another-queue",
    f"{RULE}21",
    "The IncomingTransactionalTransferInfo is that of another queue.",
    afterwards(InSequence.accept_in_sequence, _at_another_queue),
)
for rule, name, change in (
    ("22", "FormatName", lambda old: f"{old}2"),
    ("23", "SenderIdentifier", lambda old: type(old)(int=old.int ^ 1)),
    ("24", "SequenceIdentifier", lambda old: replace(old, TimeStamp=old.TimeStamp + 1)),
    ("25", "SequenceNumber", lambda old: old + 1),
    ("26", "LastAccessTime", lambda old: old - 3_600),
    ("27", "RejectCount", lambda old: old + 1),
):
    add(
        f"sequence-other-{name.lower()}", f"{RULE}{rule}", f"{name} of a sequence is another.", _noted(**{name: change})
    )


def _told(**changes: Callable[[Any], Any]) -> Install:
    """Tell an administrator something else of what is sent."""

    def spoil(qm: QueueManager, session: Session) -> None:
        queue = session.OutgoingQueueReference
        if queue is not None and queue.OutgoingTransferInfoReference is not None:
            info = queue.OutgoingTransferInfoReference
            changed = {name: change(getattr(info, name)) for name, change in changes.items()}
            queue.OutgoingTransferInfoReference = replace(info, **changed)

    return afterwards(OrderAcks.note_transfer, spoil)


def _other(old: Any) -> Any:
    return replace(old, SeqNo=old.SeqNo + 1) if isinstance(old, SequenceInfo) else old + 1


def _more(field: str) -> Callable[[SequenceInfo], SequenceInfo]:
    return lambda old: replace(old, **{field: getattr(old, field) + 1})


add("transfer-not-noted", f"{RULE}28", "No OutgoingTransferInfo is set.", skip(OrderAcks.note_transfer))
for rule, name in (
    ("29", "EodLastAckTime"),
    ("30", "EodLastAckCount"),
    ("31", "EodNoAckCount"),
    ("32", "EodResendInterval"),
    ("33", "EodFirstNonAck"),
    ("34", "EodLastNonAck"),
    ("35", "EodLastAck"),
    ("40", "EodNoReadCount"),
    ("41", "EodResendCount"),
    ("42", "EodResendTime"),
):
    add(f"transfer-other-{name.lower()}", f"{RULE}{rule}", f"{name} is another.", _told(**{name: _other}))
for rule, field in (("37", "SeqID"), ("38", "SeqNo"), ("39", "PrevNo")):
    add(
        f"transfer-next-other-{field.lower()}",
        (f"{RULE}36", f"{RULE}{rule}"),
        f"{field} of EodNextSeq is one more.",
        _told(EodNextSeq=_more(field)),
    )

"""Faults of MS-MQQB 3.1.5.8.2 General Processing: messages to no queue, and to one that may not take them."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.refusal_acks import final_ack_missing, nack_missing, nack_unasked
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.protocol.admission import Admission, Outcome
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now

NO_QUEUE = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
NOT_TRANSACTIONAL_QUEUE = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q
NOT_TRANSACTIONAL_MESSAGE = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG


@fault(
    "unknown-queue-taken-for-another",
    breaks=("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23"),
)
class UnknownQueueTakenForAnother(Receiving):
    """A message to a queue that is not there is put into one that is."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        return super().find_destination(packet) or next(iter(self.qm.adm.QueueCollection.values()))


@fault(
    "transactional-into-any-queue",
    breaks=("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-32"),
)
class TransactionalIntoAnyQueue(Admission):
    """A transactional message is put into any queue."""

    def check_transactional_queue(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet


@fault("any-message-into-transactional-queue", breaks=("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37"))
class AnyMessageIntoTransactionalQueue(Admission):
    """A message without transaction is put into a transactional queue."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        return packet


for _name, _rule, _says, _install in (
    (
        "refusal-17-not-told",
        "MQQB-3.1.5.8.2-17",
        "A message to no queue is not acknowledged to the administration queue.",
        nack_missing(NO_QUEUE),
    ),
    (
        "refusal-17-told-unasked",
        "MQQB-3.1.5.8.2-17",
        "A message to no queue is acknowledged to the administration queue without NA as well.",
        nack_unasked(NO_QUEUE),
    ),
    (
        "no-final-ack-of-no-queue",
        "MQQB-3.1.5.8.2-20",
        "No FinalAck is sent of a message to no queue.",
        final_ack_missing(NO_QUEUE),
    ),
    (
        "refusal-26-not-told",
        "MQQB-3.1.5.8.2-26",
        "A transactional message to another queue is not acknowledged to the administration queue.",
        nack_missing(NOT_TRANSACTIONAL_QUEUE),
    ),
    (
        "refusal-26-told-unasked",
        "MQQB-3.1.5.8.2-26",
        "A transactional message to another queue is acknowledged to the administration queue without NA as well.",
        nack_unasked(NOT_TRANSACTIONAL_QUEUE),
    ),
    (
        "no-final-ack-of-another-queue",
        "MQQB-3.1.5.8.2-29",
        "No FinalAck is sent of a transactional message to another queue.",
        final_ack_missing(NOT_TRANSACTIONAL_QUEUE),
    ),
    (
        "refusal-34-not-told",
        "MQQB-3.1.5.8.2-34",
        "A message to a transactional queue is not acknowledged to the administration queue.",
        nack_missing(NOT_TRANSACTIONAL_MESSAGE),
    ),
    (
        "refusal-34-told-unasked",
        "MQQB-3.1.5.8.2-34",
        "A message to a transactional queue is acknowledged to the administration queue without NA as well.",
        nack_unasked(NOT_TRANSACTIONAL_MESSAGE),
    ),
):
    add(_name, _rule, _says, _install)

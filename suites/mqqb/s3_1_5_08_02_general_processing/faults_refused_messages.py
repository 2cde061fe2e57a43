"""Faults that break rules of MS-MQQB 3.1.5.8.2 General Processing about messages to missing queues and to queues that
refuse them.
"""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.refusal_acks import omit_final_ack, omit_nack, send_unrequested_nack
from harness.faults.registry import Install, add
from reference_qm.codec import DirectQueueFormatName, MessageClass, PublicQueueFormatName, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission, Outcome
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import Queue, RecoverableReceipt, Session
from reference_qm.surface.clock import Now

DESTINATION_TYPE_DQ_OF_PRIVATE_NAME = 3
"""The value of UserHeader.Flags.DQ for a private format name."""
MISSING_QUEUE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
NOT_TRANSACTIONAL_QUEUE_CLASS = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q
NOT_TRANSACTIONAL_MESSAGE_CLASS = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG


@fault(
    "receiver-message-to-missing-queue-inserted-elsewhere",
    breaks=("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23"),
)
class ReceiverMessageToMissingQueueInsertedElsewhere(MessageArrival):
    """The receiver inserts a message to a missing queue into an existing queue."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        return super().find_destination(packet) or next(iter(self.qm.adm.QueueCollection.values()))


@fault("receiver-does-not-recognize-own-computer-name", breaks="MQQB-3.1.5.8.2-14")
class ReceiverDoesNotRecognizeOwnComputerName(MessageArrival):
    """The receiver finds no queue for a message that contains the name of the receiver's computer instead of its
    address.
    """

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        queue = packet.UserHeader.DestinationQueue
        by_name = isinstance(queue, DirectQueueFormatName) and queue.DirectFormatName.upper().startswith("OS:")
        return None if by_name else super().find_destination(packet)


@fault(
    "receiver-transactional-message-put-into-any-queue",
    breaks=("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-32"),
)
class ReceiverTransactionalMessagePutIntoAnyQueue(MessageAdmission):
    """The receiver inserts a transactional message into any queue."""

    def check_transactional_queue(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet


@fault(
    "receiver-transactional-queue-accepts-any-message",
    breaks=("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37", "MQSO-3.2.1-01"),
)
class ReceiverTransactionalQueueAcceptsAnyMessage(MessageAdmission):
    """The receiver inserts a message without a transaction into a transactional queue."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        return packet


RULES_OF_MISSING_QUEUE = ("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23")


@fault("receiver-message-to-unknown-public-queue-put-into-other-queue", breaks=RULES_OF_MISSING_QUEUE)
class ReceiverMessageToUnknownPublicQueuePutIntoOtherQueue(MessageArrival):
    """The receiver inserts a message to an unknown public queue into an existing queue."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        found = super().find_destination(packet)
        public = isinstance(packet.UserHeader.DestinationQueue, PublicQueueFormatName)
        return next(iter(self.qm.adm.QueueCollection.values())) if public and found is None else found


@fault(
    "receiver-transactional-message-to-private-name-put-in-any-queue", breaks=("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25")
)
class ReceiverTransactionalMessageToPrivateNamePutInAnyQueue(MessageAdmission):
    """The receiver inserts a transactional message with a private name into any queue."""

    def check_transactional_queue(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        outcome = super().check_transactional_queue(session, packet, queue, now)
        return packet if packet.UserHeader.DQ == DESTINATION_TYPE_DQ_OF_PRIVATE_NAME else outcome


@fault("receiver-puts-recoverable-message-into-transactional-queue", breaks=("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37"))
class ReceiverPutsRecoverableMessageIntoTransactionalQueue(MessageAdmission):
    """The receiver inserts a recoverable message without a transaction into a transactional queue."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        outcome = super().check_nontransactional_queue(session, packet, queue, now)
        return packet if packet.UserHeader.DM else outcome


def _store_refused_messages(refused: MessageClass, *, dead: bool) -> Install:
    """Make the receiver refuse messages as specified, but store them in their queue or in the dead-letter queue."""

    class RefusedMessageStored(MessageAdmission):
        def refuse_message(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            super().refuse_message(session, packet, message_class, now)
            if message_class is refused:
                target = self.qm.adm.SystemDeadletterQueue if dead else self.qm.message_arrival.find_destination(packet)
                assert target is not None
                self.qm.message_journaling.put_into_system_queue(target, self.build_message(packet, now))

    return replace_part(RefusedMessageStored)


for _name, _breaks, _says, _refused, _dead in (
    (
        "receiver-puts-message-to-missing-queue-into-dead-letter-queue",
        ("MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-23"),
        "The receiver moves a message to a missing queue into its own dead-letter queue.",
        MISSING_QUEUE_CLASS,
        True,
    ),
    (
        "receiver-refused-transactional-message-inserted",
        ("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-32"),
        "The receiver refuses a transactional message to a nontransactional queue, but inserts it into the queue.",
        NOT_TRANSACTIONAL_QUEUE_CLASS,
        False,
    ),
    (
        "receiver-puts-refused-transactional-message-into-dead-letter-queue",
        "MQQB-3.1.5.8.2-32",
        "If a nontransactional queue refuses a transactional message, the receiver puts the message into the "
        "dead-letter queue.",
        NOT_TRANSACTIONAL_QUEUE_CLASS,
        True,
    ),
    (
        "receiver-refused-non-transactional-message-inserted",
        ("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37"),
        "The receiver refuses a nontransactional message to a transactional queue, but inserts it into the queue.",
        NOT_TRANSACTIONAL_MESSAGE_CLASS,
        False,
    ),
):
    add(_name, _breaks, _says, _store_refused_messages(_refused, dead=_dead))


@fault(
    "receiver-refused-message-reported-as-arrived",
    breaks=("MQQB-3.1.5.8.2-23", "MQQB-3.1.5.8.2-32", "MQQB-3.1.5.8.2-37"),
)
class ReceiverRefusedMessageReportedAsArrived(MessageAdmission):
    """The receiver reports the arrival of a traced message that it refuses."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        self.qm.message_tracing.trace_received_message(self.build_message(packet, now), now)


@fault("receiver-final-ack-of-missing-private-queue-missing", breaks="MQQB-3.1.5.8.2-20")
class ReceiverFinalAckOfMissingPrivateQueueMissing(FinalAcks):
    """The receiver sends no FinalAck for a message to a missing queue with a private name."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.DQ != DESTINATION_TYPE_DQ_OF_PRIVATE_NAME:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-final-ack-of-refusal-only-if-jn-and-na-are-set", breaks=("MQQB-3.1.5.8.2-20", "MQQB-3.1.5.8.2-29"))
class ReceiverFinalAckOfRefusalOnlyIfJnAndNaAreSet(FinalAcks):
    """The receiver sends a FinalAck for a refused message only if the message has JN and NA."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.JN and packet.MessagePropertiesHeader.NA:
            super().send_negative_final_ack(session, packet, message_class, now)


for _name, _rule, _says, _install in (
    (
        "receiver-nack-of-missing-queue-not-sent",
        ("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10"),
        "The receiver sends no administration acknowledgment for a message with NA to a missing queue.",
        omit_nack(MISSING_QUEUE_CLASS),
    ),
    (
        "receiver-nack-of-missing-queue-without-na",
        ("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10"),
        "The receiver sends an administration acknowledgment for a message without NA to a missing queue.",
        send_unrequested_nack(MISSING_QUEUE_CLASS),
    ),
    (
        "receiver-final-ack-of-missing-queue-not-sent",
        "MQQB-3.1.5.8.2-20",
        "The receiver sends no FinalAck for a transactional message to a missing queue.",
        omit_final_ack(MISSING_QUEUE_CLASS),
    ),
    (
        "receiver-nack-of-non-transactional-queue-not-sent",
        "MQQB-3.1.5.8.2-26",
        ("The receiver sends no administration acknowledgment for a transactional message with NA that it refuses."),
        omit_nack(NOT_TRANSACTIONAL_QUEUE_CLASS),
    ),
    (
        "receiver-nack-of-non-transactional-queue-without-na",
        "MQQB-3.1.5.8.2-26",
        ("The receiver sends an administration acknowledgment for a transactional message without NA that it refuses."),
        send_unrequested_nack(NOT_TRANSACTIONAL_QUEUE_CLASS),
    ),
    (
        "receiver-final-ack-of-non-transactional-queue-not-sent",
        "MQQB-3.1.5.8.2-29",
        "The receiver sends no FinalAck for a transactional message to a queue that is not transactional.",
        omit_final_ack(NOT_TRANSACTIONAL_QUEUE_CLASS),
    ),
    (
        "receiver-nack-of-non-transactional-message-not-sent",
        "MQQB-3.1.5.8.2-34",
        "The receiver sends no administration acknowledgment for a nontransactional message with NA that it refuses.",
        omit_nack(NOT_TRANSACTIONAL_MESSAGE_CLASS),
    ),
    (
        "receiver-nack-of-non-transactional-message-without-na",
        "MQQB-3.1.5.8.2-34",
        "The receiver sends an acknowledgment for a nontransactional message without NA that it refuses.",
        send_unrequested_nack(NOT_TRANSACTIONAL_MESSAGE_CLASS),
    ),
):
    add(_name, _rule, _says, _install)


@fault(
    "receiver-later-message-of-sequence-for-nontransactional-queue-dropped-silently",
    breaks="MQQB-3.1.5.8.2-25",
    blind=True,
)
class ReceiverLaterMessageOfSequenceForNontransactionalQueueDroppedSilently(TransactionalReceiving):
    """The receiver discards a transactional message for a nontransactional queue without any acknowledgment if
    PreviousTxSequenceNumber of the message is not 0.
    """

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header, queue = packet.TransactionHeader, self.qm.message_arrival.find_destination(packet)
        if header is not None and header.PreviousTxSequenceNumber and queue is not None and not queue.Transactional:
            receipt.is_on_disk = True
            self.qm.message_history.remember_message(packet, now)
        else:
            super().receive_transactional_message(session, packet, receipt, now)

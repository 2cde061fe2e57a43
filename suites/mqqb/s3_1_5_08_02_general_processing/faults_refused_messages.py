"""Faults of MS-MQQB 3.1.5.8.2 General Processing: messages to no queue, and to one that may not take them."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.refusal_acks import final_ack_missing, nack_missing, nack_unasked
from harness.faults.registry import Install, add
from reference_qm.codec import DirectQueueFormatName, MessageClass, PublicQueueFormatName, UserMessagePacket
from reference_qm.core.transfer.admission import Admission, Outcome
from reference_qm.core.transfer.arrival import Arrival
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now

ON_DESTINATION = 3
"""UserHeader.Flags.DQ of a private name."""
NO_QUEUE = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
NOT_TRANSACTIONAL_QUEUE = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q
NOT_TRANSACTIONAL_MESSAGE = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG


@fault(
    "unknown-queue-taken-for-another",
    breaks=("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23"),
)
class UnknownQueueTakenForAnother(Arrival):
    """A message to a queue that is not there is put into one that is."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        return super().find_destination(packet) or next(iter(self.qm.adm.QueueCollection.values()))


@fault("computer-known-by-address-alone", breaks="MQQB-3.1.5.8.2-14")
class ComputerKnownByAddressAlone(Arrival):
    """A message that names the computer of its queue otherwise than by an address has no queue here."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        queue = packet.UserHeader.DestinationQueue
        by_name = isinstance(queue, DirectQueueFormatName) and queue.DirectFormatName.upper().startswith("OS:")
        return None if by_name else super().find_destination(packet)


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


NOT_THERE = ("MQQB-3.1.5.8.2-14", "MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-16", "MQQB-3.1.5.8.2-23")


@fault("unknown-public-queue-taken-for-another", breaks=NOT_THERE)
class UnknownPublicQueueTakenForAnother(Arrival):
    """A message to a public queue that is not there is put into one that is."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        found = super().find_destination(packet)
        public = isinstance(packet.UserHeader.DestinationQueue, PublicQueueFormatName)
        return next(iter(self.qm.adm.QueueCollection.values())) if public and found is None else found


@fault("transactional-by-private-name-into-any-queue", breaks=("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25"))
class TransactionalByPrivateNameIntoAnyQueue(Admission):
    """A transactional message with a private name is put into any queue."""

    def check_transactional_queue(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        outcome = super().check_transactional_queue(session, packet, queue, now)
        return packet if packet.UserHeader.DQ == ON_DESTINATION else outcome


@fault("recoverable-into-transactional-queue", breaks=("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37"))
class RecoverableIntoTransactionalQueue(Admission):
    """A recoverable message without transaction is put into a transactional queue."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        outcome = super().check_nontransactional_queue(session, packet, queue, now)
        return packet if packet.UserHeader.DM else outcome


def _kept_in_silence(refused: MessageClass, *, dead: bool) -> Install:
    """Refuse messages as they should be, and put them into their queue, or among the dead letters, all the same."""

    class KeptInSilence(Admission):
        def refuse_message(
            self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
        ) -> None:
            super().refuse_message(session, packet, message_class, now)
            if message_class is refused:
                target = self.qm.adm.SystemDeadletterQueue if dead else self.qm.arrival.find_destination(packet)
                assert target is not None
                self.qm.journaling.keep_message(target, self.message_of(packet, now))

    return replace_part(KeptInSilence)


for _name, _breaks, _says, _refused, _dead in (
    (
        "no-queue-kept-as-dead-letter",
        ("MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-23"),
        "A message to no queue is kept among the dead letters here.",
        NO_QUEUE,
        True,
    ),
    (
        "transactional-refused-and-kept",
        ("MQQB-3.1.5.8.2-24", "MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-32"),
        "A transactional message to another queue is refused, and put into it in silence.",
        NOT_TRANSACTIONAL_QUEUE,
        False,
    ),
    (
        "transactional-refused-as-dead-letter",
        "MQQB-3.1.5.8.2-32",
        "A transactional message to another queue is refused, and kept among the dead letters here.",
        NOT_TRANSACTIONAL_QUEUE,
        True,
    ),
    (
        "nontransactional-refused-and-kept",
        ("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-37"),
        "A message without transaction to a transactional queue is refused, and put into it in silence.",
        NOT_TRANSACTIONAL_MESSAGE,
        False,
    ),
):
    add(_name, _breaks, _says, _kept_in_silence(_refused, dead=_dead))


@fault("refused-and-reported", breaks=("MQQB-3.1.5.8.2-23", "MQQB-3.1.5.8.2-32", "MQQB-3.1.5.8.2-37"))
class RefusedAndReported(Admission):
    """A traced message that is refused is reported as arrived."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        self.qm.tracing.trace_received(self.message_of(packet, now), now)


@fault("no-final-ack-of-no-private-queue", breaks="MQQB-3.1.5.8.2-20")
class NoFinalAckOfNoPrivateQueue(FinalAcks):
    """No FinalAck is sent of a message to no queue that has a private name."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.DQ != ON_DESTINATION:
            super().refuse_transactional(session, packet, message_class, now)


@fault("final-ack-of-refusal-on-request", breaks=("MQQB-3.1.5.8.2-20", "MQQB-3.1.5.8.2-29"))
class FinalAckOfRefusalOnRequest(FinalAcks):
    """A FinalAck is sent only of a message that asks for negative journaling and acknowledgment."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.UserHeader.JN and packet.MessagePropertiesHeader.NA:
            super().refuse_transactional(session, packet, message_class, now)


for _name, _rule, _says, _install in (
    (
        "refusal-17-not-told",
        ("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10"),
        "A message to no queue is not acknowledged to the administration queue.",
        nack_missing(NO_QUEUE),
    ),
    (
        "refusal-17-told-unasked",
        ("MQQB-3.1.5.8.2-17", "MQDMPR-3.1.1.12-D10"),
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

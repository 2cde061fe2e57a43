"""Faults that break the rules MQQB-3.1.5.8.3-18 to MQQB-3.1.5.8.3-21."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    SECURITY_NACK_CLASSES,
    copy_refused_messages_to_dead_letter_queue,
    omit_final_ack_if_na_is_set,
)

RULES_OF_FINAL_ACKS = (
    "MQQB-3.1.5.8.3-18",
    "MQQB-3.1.5.8.3-41",
    "MQQB-3.1.5.8.3-51",
    "MQQB-3.1.5.8.3-85",
    "MQQB-3.1.5.8.3-124",
)


@fault("receiver-final-ack-of-security-refusal-sent-only-if-na-is-set", breaks=RULES_OF_FINAL_ACKS, blind=True)
class ReceiverFinalAckOfSecurityRefusalSentOnlyIfNaIsSet(FinalAcks):
    """If a message fails a security check, the receiver sends its FinalAck only if NA is set."""

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class not in SECURITY_NACK_CLASSES or packet.MessagePropertiesHeader.NA:
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-final-ack-of-security-refusal-sent-once-per-sender", breaks=RULES_OF_FINAL_ACKS, blind=True)
class ReceiverFinalAckOfSecurityRefusalSentOncePerSender(FinalAcks):
    """The receiver sends only one FinalAck of each class to each session for messages that fail a security check."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.told: set[tuple[int, MessageClass]] = set()

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        key = session.number, message_class
        if message_class not in SECURITY_NACK_CLASSES or key not in self.told:
            super().send_negative_final_ack(session, packet, message_class, now)
        self.told.add(key)


add(
    "receiver-final-ack-bad-signature-omitted-with-na",
    "MQQB-3.1.5.8.3-18",
    "The receiver sends no FinalAck of class BAD_SIGNATURE for a message with NA set.",
    omit_final_ack_if_na_is_set(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
)


@fault(
    "receiver-security-refused-message-journaled",
    breaks=(
        "MQQB-3.1.5.8.3-21",
        "MQQB-3.1.5.8.3-44",
        "MQQB-3.1.5.8.3-54",
        "MQQB-3.1.5.8.3-88",
        "MQQB-3.1.5.8.3-127",
    ),
    blind=True,
)
class ReceiverSecurityRefusedMessageJournaled(MessageAdmission):
    """The receiver puts a message with JN that fails a security check into the receiver's own dead-letter queue."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in SECURITY_NACK_CLASSES:
            self.journal_refused_message(replace(self.build_message(packet, now), security=None))


@fault(
    "receiver-security-refused-message-reported-as-arrived",
    breaks=(
        "MQQB-3.1.5.8.3-21",
        "MQQB-3.1.5.8.3-44",
        "MQQB-3.1.5.8.3-54",
        "MQQB-3.1.5.8.3-88",
        "MQQB-3.1.5.8.3-127",
    ),
    blind=True,
)
class ReceiverSecurityRefusedMessageReportedAsArrived(MessageAdmission):
    """The receiver also acknowledges the arrival of a message that fails a security check."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        message = replace(self.build_message(packet, now), security=None)
        if message_class in SECURITY_NACK_CLASSES and packet.MessagePropertiesHeader.PA:
            self.qm.admin_acks.send(message, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, now)


@fault(
    "receiver-security-refused-transactional-message-in-dead-letter-queue",
    breaks=(
        "MQQB-3.1.5.8.3-21",
        "MQQB-3.1.5.8.3-44",
        "MQQB-3.1.5.8.3-54",
        "MQQB-3.1.5.8.3-88",
        "MQQB-3.1.5.8.3-127",
    ),
    blind=True,
)
class ReceiverSecurityRefusedTransactionalMessageInDeadLetterQueue(MessageAdmission):
    """The receiver puts a transactional message that fails a security check into the receiver's own transactional
    dead-letter queue.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        if message_class in SECURITY_NACK_CLASSES and packet.TransactionHeader is not None and packet.UserHeader.JN:
            message = replace(self.build_message(packet, now), security=None)
            self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemTransactionalDeadletterQueue, message)


add(
    "receiver-message-with-invalid-signature-and-jn-in-dead-letter-queue",
    "MQQB-3.1.5.8.3-21",
    "The receiver puts a message with an invalid signature and JN into the dead-letter queue.",
    copy_refused_messages_to_dead_letter_queue(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
)

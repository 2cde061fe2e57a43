"""Faults that break the rules MQQB-3.1.5.8.3-14 to MQQB-3.1.5.8.3-15."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import authorize_sender
from reference_qm.security.algorithms import PRIVACY_BY_LEVEL
from reference_qm.security.descriptor import Ace, AceType
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    ACCESS_DENIED_CLASS,
    BAD_ENCRYPTION_CLASS,
    BAD_SIGNATURE_CLASS,
    SECURITY_NACK_CLASSES,
    omit_nack_of_transactional_message,
    register_faults_written_without_knowing_checks,
)


def _mark_signature_as_verified(packet: UserMessagePacket) -> UserMessagePacket:
    """Return a message marked as verified, if it has a signature."""
    security = packet.SecurityHeader
    signed = security is not None and bool(security.SecurityData.Signature)
    return set_fields(packet, {"SecurityHeader.Flags": lambda old: old | 0x300}) if signed else packet


@fault("receiver-signature-of-empty-body-not-verified", breaks="MQQB-3.1.5.8.3-14", blind=True)
class ReceiverSignatureOfEmptyBodyNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature of a message without a body."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        empty = not packet.MessagePropertiesHeader.MessageBody
        return _mark_signature_as_verified(packet) if empty else super().authenticate_packet(packet)


@fault("receiver-signature-of-transactional-message-not-verified", breaks="MQQB-3.1.5.8.3-14", blind=True)
class ReceiverSignatureOfTransactionalMessageNotVerified(SecurityOnReceipt):
    """The receiver does not verify the signature of a transactional message."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        return _mark_signature_as_verified(packet) if packet.UserHeader.TH else super().authenticate_packet(packet)


@fault("receiver-signature-checked-for-recoverable-messages-only", breaks="MQQB-3.1.5.8.3-14", blind=True)
class ReceiverSignatureCheckedForRecoverableMessagesOnly(SecurityOnReceipt):
    """The receiver accepts an express message with an invalid signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        return super().authenticate_packet(packet) if packet.UserHeader.DM else packet


RULES_OF_SECURITY_NACKS_IN_GENERAL = (
    "MQQB-3.1.5.8.3-15",
    "MQQB-3.1.5.8.3-38",
    "MQQB-3.1.5.8.3-48",
    "MQQB-3.1.5.8.3-82",
    "MQQB-3.1.5.8.3-121",
)


@fault("receiver-security-nack-of-recoverable-message-omitted", breaks=RULES_OF_SECURITY_NACKS_IN_GENERAL, blind=True)
class ReceiverSecurityNackOfRecoverableMessageOmitted(MessageAdmission):
    """The receiver sends no negative acknowledgment for a nontransactional recoverable message that fails a security
    check.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        nontransactional = packet.TransactionHeader is None
        if not (message_class in SECURITY_NACK_CLASSES and packet.UserHeader.DM and nontransactional):
            super().refuse_message(session, packet, message_class, now)


@fault("receiver-security-nack-of-transactional-message-omitted", breaks=RULES_OF_SECURITY_NACKS_IN_GENERAL, blind=True)
class ReceiverSecurityNackOfTransactionalMessageOmitted(MessageAdmission):
    """The receiver sends no administration acknowledgment for a transactional message that fails a security check."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class in SECURITY_NACK_CLASSES and packet.TransactionHeader is not None:
            self.qm.final_acks.send_negative_final_ack(session, packet, message_class, now)
            return
        super().refuse_message(session, packet, message_class, now)


class _ReportedSenderRecorder(MessageAdmission):
    """Remember the senders to which the receiver has already reported a refusal."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.told: set[tuple[MessageClass, bytes]] = set()

    def was_refusal_reported(self, packet: UserMessagePacket, message_class: MessageClass) -> bool:
        header = packet.SecurityHeader
        if header is None or message_class not in SECURITY_NACK_CLASSES:
            return False
        key = message_class, header.SecurityData.SecurityID
        told = key in self.told
        self.told.add(key)
        return told


@fault("receiver-security-nack-sent-once-per-sender", breaks=RULES_OF_SECURITY_NACKS_IN_GENERAL, blind=True)
class ReceiverSecurityNackSentOncePerSender(_ReportedSenderRecorder):
    """If several messages of one sender fail a security check for the same reason, the receiver acknowledges only the
    first of them.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if not packet.MessagePropertiesHeader.NA or not self.was_refusal_reported(packet, message_class):
            super().refuse_message(session, packet, message_class, now)
        elif packet.TransactionHeader is not None:
            self.qm.final_acks.send_negative_final_ack(session, packet, message_class, now)


@fault(
    "receiver-security-nack-of-recoverable-message-has-wrong-class",
    breaks=RULES_OF_SECURITY_NACKS_IN_GENERAL,
    blind=True,
)
class ReceiverSecurityNackOfRecoverableMessageHasWrongClass(AdminAcks):
    """If a recoverable message fails a security check, the receiver sends its acknowledgment with a wrong class."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class in SECURITY_NACK_CLASSES and message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            others = {
                MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE: MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
                MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION: MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED,
                MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED: MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
            }
            return replace(ack, Class=others[message_class])
        return ack


add(
    "receiver-nack-bad-signature-of-transactional-message-omitted",
    "MQQB-3.1.5.8.3-15",
    "The receiver sends no acknowledgment of class BAD_SIGNATURE for a transactional message with NA set.",
    omit_nack_of_transactional_message(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
)


SECURITY_NACK_CLASS_SET = frozenset({BAD_SIGNATURE_CLASS, BAD_ENCRYPTION_CLASS, ACCESS_DENIED_CLASS})


RULES_OF_NACK_FOR_EACH_SECURITY_ERROR = (
    "MQQB-3.1.5.8.3-15",
    "MQQB-3.1.5.8.3-38",
    "MQQB-3.1.5.8.3-48",
    "MQQB-3.1.5.8.3-72",
    "MQQB-3.1.5.8.3-82",
    "MQQB-3.1.5.8.3-121",
)


FINAL_ACK_RULES = (
    "MQQB-3.1.5.8.3-18",
    "MQQB-3.1.5.8.3-41",
    "MQQB-3.1.5.8.3-51",
    "MQQB-3.1.5.8.3-75",
    "MQQB-3.1.5.8.3-85",
    "MQQB-3.1.5.8.3-124",
)


RULES_AGAINST_INSERTION_OF_REFUSED_MESSAGE = (
    "MQQB-3.1.5.8.3-21",
    "MQQB-3.1.5.8.3-44",
    "MQQB-3.1.5.8.3-54",
    "MQQB-3.1.5.8.3-78",
    "MQQB-3.1.5.8.3-88",
    "MQQB-3.1.5.8.3-127",
)


def _omit_security_nack(when: Callable[[Any, Message], bool]) -> Install:
    def run(self: Any, original: Any, message: Message, message_class: Any, now: Any) -> None:
        if message_class not in SECURITY_NACK_CLASS_SET or not when(self, message):
            original(message, message_class, now)

    return change_step(AdminAcks.acknowledge_failure, run)


def _send_unrequested_security_nack(when: Callable[[Message], bool]) -> Install:
    def run(self: Any, original: Any, message: Message, message_class: Any, now: Any) -> None:
        original(message, message_class, now)
        asked = message.AcknowledgementsRequested & MessagePropertiesHeader.flags(NA=1)
        if message_class in SECURITY_NACK_CLASS_SET and not asked and when(message):
            self.send(message, message_class, now)

    return change_step(AdminAcks.acknowledge_failure, run)


def _omit_final_ack_of_security_refusal(when: Callable[[Any, Any, UserMessagePacket], bool]) -> Install:
    def run(self: Any, original: Any, session: Any, packet: Any, message_class: Any, now: Any) -> None:
        if message_class not in SECURITY_NACK_CLASS_SET or not when(self, session, packet):
            original(session, packet, message_class, now)

    return change_step(FinalAcks.send_negative_final_ack, run)


def _change_final_ack_of_security_refusal(changes: dict[str, Any]) -> Install:
    def run(self: Any, original: Any, session: Any, packet: Any, message_class: Any, now: Any) -> None:
        if message_class in SECURITY_NACK_CLASS_SET:
            packet = set_fields(packet, changes)
        original(session, packet, message_class, now)

    return change_step(FinalAcks.send_negative_final_ack, run)


def _was_value_seen_in_earlier_message(part: Any, key: Any) -> bool:
    seen = part.__dict__.setdefault("seen", set())
    known = key in seen
    seen.add(key)
    return known


def _put_refused_message_into_chosen_queue(choose: Callable[[Any, Any, UserMessagePacket], Any]) -> Install:
    """Make the receiver put a refused message into the queue that ``choose`` returns, if any."""

    def run(self: Any, original: Any, session: Any, packet: Any, message_class: Any, now: Any) -> None:
        original(session, packet, message_class, now)
        queue = choose(self.qm, session, packet) if message_class in SECURITY_NACK_CLASS_SET else None
        if queue is not None:
            message = replace(self.build_message(packet, now), security=None)
            self.qm.message_journaling.put_into_system_queue(queue, message)

    return change_step(MessageAdmission.refuse_message, run)


_FAULT_CONDITIONS_ABOUT_MESSAGE = (
    ("with-pa", "requests PA as well", lambda part, message: message.AcknowledgementsRequested & 1),
    ("with-jn", "requests negative journaling", lambda part, message: message.NegativeJournalingRequested),
    (
        "second-for-queue",
        "is not the first refused message for its queue",
        lambda part, message: _was_value_seen_in_earlier_message(part, message.DestinationQueueFormatName),
    ),
    ("without-body", "has no body", lambda part, message: not message.Body),
)


register_faults_written_without_knowing_checks(
    *(
        (
            f"receiver-security-nack-{label}-omitted",
            RULES_OF_NACK_FOR_EACH_SECURITY_ERROR,
            f"The receiver omits the requested acknowledgment of a message that fails a security check and {words}.",
            _omit_security_nack(when),
        )
        for label, words, when in _FAULT_CONDITIONS_ABOUT_MESSAGE
    ),
    (
        "receiver-security-nack-with-only-pa-sent",
        RULES_OF_NACK_FOR_EACH_SECURITY_ERROR,
        "The receiver acknowledges a message that fails a security check when only PA is set.",
        _send_unrequested_security_nack(lambda message: bool(message.AcknowledgementsRequested & 1)),
    ),
    (
        "receiver-security-nack-with-only-nr-sent",
        RULES_OF_NACK_FOR_EACH_SECURITY_ERROR,
        "The receiver acknowledges a message that fails a security check when only NR is set.",
        _send_unrequested_security_nack(lambda message: bool(message.AcknowledgementsRequested & 8)),
    ),
    (
        "receiver-security-nack-of-transactional-without-na-sent",
        RULES_OF_NACK_FOR_EACH_SECURITY_ERROR,
        "The receiver acknowledges a transactional message that fails a security check although NA is not set.",
        _send_unrequested_security_nack(lambda message: message.TransactionIdentifier is not None),
    ),
    (
        "receiver-security-final-ack-with-jn-omitted",
        FINAL_ACK_RULES,
        "The receiver sends no FinalAck for a message with JN that fails a security check.",
        _omit_final_ack_of_security_refusal(lambda part, session, packet: bool(packet.UserHeader.JN)),
    ),
    (
        "receiver-security-final-ack-of-second-session-omitted",
        FINAL_ACK_RULES,
        "The receiver sends a FinalAck for a message that fails a security check only to the first session.",
        _omit_final_ack_of_security_refusal(
            lambda part, session, packet: part.__dict__.setdefault("first", session.number) != session.number
        ),
    ),
    (
        "receiver-security-final-ack-without-na-omitted-for-second",
        FINAL_ACK_RULES,
        "The receiver sends a FinalAck only for the first message of each sequence that fails a security check.",
        _omit_final_ack_of_security_refusal(
            lambda part, session, packet: _was_value_seen_in_earlier_message(
                part, getattr(packet.TransactionHeader, "TxSequenceID", None)
            )
        ),
    ),
    (
        "receiver-security-final-ack-of-wrong-message-id",
        FINAL_ACK_RULES,
        "The receiver names MessageID 1 in the FinalAck of each message that fails a security check.",
        _change_final_ack_of_security_refusal({"UserHeader.MessageID": 1}),
    ),
    (
        "receiver-security-refused-message-with-jp-in-journal",
        RULES_AGAINST_INSERTION_OF_REFUSED_MESSAGE,
        "The receiver puts a message with JP that fails a security check into the receiver's own journal.",
        _put_refused_message_into_chosen_queue(
            lambda qm, session, packet: qm.adm.SystemJournalQueue if packet.UserHeader.JP else None
        ),
    ),
    (
        "receiver-security-refused-express-message-in-dead-letter-queue",
        RULES_AGAINST_INSERTION_OF_REFUSED_MESSAGE,
        "The receiver puts an express message that fails a security check into its own dead-letter queue.",
        _put_refused_message_into_chosen_queue(
            lambda qm, session, packet: None if packet.UserHeader.DM else qm.adm.SystemDeadletterQueue
        ),
    ),
    (
        "receiver-security-refused-message-in-dead-letter-queue-always",
        RULES_AGAINST_INSERTION_OF_REFUSED_MESSAGE,
        "The receiver puts each message that fails a security check into its own dead-letter queue.",
        _put_refused_message_into_chosen_queue(lambda qm, session, packet: qm.adm.SystemDeadletterQueue),
    ),
)


@fault("receiver-final-ack-missing-for-second-message-with-40-bit-key", breaks="MQQB-3.1.5.8.3-75", blind=True)
class ReceiverFinalAckMissingForSecondMessageWith40BitKey(FinalAcks):
    """The receiver sends only one FinalAck of class BAD_ENCRYPTION in a session."""

    sent: Any = frozenset()

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION:
            if session.number in self.sent:
                return
            self.sent |= {session.number}
        super().send_negative_final_ack(session, packet, message_class, now)


def _is_access_control_entry_not_denying(ace: Ace) -> bool:
    return ace.AceType is not AceType.ACCESS_DENIED


@fault("receiver-final-ack-missing-for-invalid-privacy-level-with-na", breaks="MQQB-3.1.5.8.3-51", blind=True)
class ReceiverFinalAckMissingForInvalidPrivacyLevelWithNa(FinalAcks):
    """The receiver sends no FinalAck for an encrypted transactional message with an invalid PrivacyLevel if NA is set
    in the message, because the administration acknowledgment reports the refusal.
    """

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        encrypted = packet.SecurityHeader is not None and packet.SecurityHeader.EB
        properties = packet.MessagePropertiesHeader
        reported = properties.Flags & MessagePropertiesHeader.flags(NA=1)
        if not (encrypted and reported and properties.PrivacyLevel not in PRIVACY_BY_LEVEL):
            super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-checks-denying-aces-before-earlier-allowing-aces", breaks="MQQB-3.1.5.8.3-99", blind=True)
class ReceiverChecksDenyingAcesBeforeEarlierAllowingAces(SecurityOnReceipt):
    """The receiver refuses a message if any ACE of the queue denies its sender the access, even if an earlier ACE
    allows the access.
    """

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        assert packet.SecurityHeader is not None
        descriptor = self.qm.security_lookup.find_queue_security(queue)
        if descriptor.Dacl is not None:
            aces = tuple(sorted(descriptor.Dacl.Aces, key=_is_access_control_entry_not_denying))
            descriptor = replace(descriptor, Dacl=replace(descriptor.Dacl, Aces=aces))
        authorize_sender(packet.SecurityHeader, self._build_receiver(), descriptor)

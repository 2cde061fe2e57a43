"""Faults of the rules about security and defaults of MS-MQDMPR 3.1.1.12 in which only some messages are wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import SignatureType
from reference_qm.surface.clock import Now


class _EarlierAttributeValueRepeater(MessageSending):
    """Replace a value in a message of an application with the value from an earlier message of an application."""

    attribute = ""
    default_value: Any = None

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.value: Any = None

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.Class == 0 and message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            value = getattr(message, self.attribute)
            if value != self.default_value:
                self.value = value
            elif self.value is not None:
                position.MessageReference = replace(message, **{self.attribute: self.value})
        return super().construct_user_message(position)


for _attribute, _default, _rule in (
    ("Label", "", "MQDMPR-3.1.1.12-D41"),
    ("Body", b"", "MQDMPR-3.1.1.12-D39"),
    ("BodyType", 0, "MQDMPR-3.1.1.12-D40"),
    ("AppSpecific", 0, "MQDMPR-3.1.1.12-D38"),
    ("TimeToBeReceived", 0xFFFFFFFF, "MQDMPR-3.1.1.12-D42"),
    ("TracingRequested", False, "MQDMPR-3.1.1.12-D31"),
    ("TracingQueueIdentifier", UUID(int=0), "MQDMPR-3.1.1.12-D32"),
    ("PositiveJournalingRequested", False, "MQDMPR-3.1.1.12-D33"),
    ("NegativeJournalingRequested", False, "MQDMPR-3.1.1.12-D34"),
    ("ResponseQueueFormatName", None, "MQDMPR-3.1.1.12-D35"),
    ("AdministrationQueueFormatName", None, "MQDMPR-3.1.1.12-D36"),
    ("AcknowledgementsRequested", 0, "MQDMPR-3.1.1.12-D37"),
    ("Priority", 3, "MQDMPR-3.1.1.12-D48"),
    ("DeliveryGuarantee", DeliveryGuarantee.EXPRESS, "MQDMPR-3.1.1.12-19"),
    ("security", None, "MQDMPR-3.1.1.12-D30"),
):
    add(
        f"sender-default-{_attribute.lower()}-is-that-of-message-before",
        _rule,
        f"If an application leaves {_attribute} at its default, the sender sends the value of an earlier message "
        "instead.",
        replace_part(
            type("AfterOther", (_EarlierAttributeValueRepeater,), {"attribute": _attribute, "default_value": _default})
        ),
        blind=True,
    )


class _WrongDefaultAttributeSetter(MessageSending):
    """Send messages of one delivery mode with a wrong default value."""

    condition: Callable[[Message], bool]
    attribute = ""
    value: Any = None

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.Class == 0 and type(self).condition(message):
            default = Message(Identifier=message.Identifier, DestinationQueueFormatName="")
            if getattr(message, self.attribute) == getattr(default, self.attribute):
                position.MessageReference = replace(message, **{self.attribute: self.value})
        return super().construct_user_message(position)


for _when, _case in (
    (lambda message: message.TransactionIdentifier is not None, "transactional"),
    (
        lambda message: (
            message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE and message.TransactionIdentifier is None
        ),
        "recoverable",
    ),
):
    for _attribute, _value, _rule in (
        ("BodyType", 8, "MQDMPR-3.1.1.12-D40"),
        ("AppSpecific", 1, "MQDMPR-3.1.1.12-D38"),
        ("TimeToBeReceived", 345_600, "MQDMPR-3.1.1.12-D42"),
        ("NegativeJournalingRequested", True, "MQDMPR-3.1.1.12-D34"),
    ):
        add(
            f"sender-default-{_attribute.lower()}-of-{_case}-message-wrong",
            _rule,
            f"In a {_case} message without {_attribute}, the sender sends the value {_value}.",
            replace_part(
                type(
                    "OtherDefault",
                    (_WrongDefaultAttributeSetter,),
                    {"condition": staticmethod(_when), "attribute": _attribute, "value": _value},
                )
            ),
            blind=True,
        )


class _MessageSecurityRecorder(MessageSecuring):
    """Record the AuthenticationLevel, the signature and the certificate of signed messages, and whether a message was
    encrypted.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.level = 0
        self.signature = b""
        self.certificate = b""


@fault("sender-encrypts-every-message-after-first-encrypted-message", breaks="MQDMPR-3.1.1.12-05", blind=True)
class SenderEncryptsEveryMessageAfterFirstEncryptedMessage(_MessageSecurityRecorder):
    """After an encrypted message, the sender encrypts the body of each message that has security attributes."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        assert message.security is not None
        self.level = message.security.PrivacyLevel or self.level
        if self.level and not message.security.PrivacyLevel:
            message = replace(message, security=replace(message.security, PrivacyLevel=self.level))
            packet = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": self.level})
        return super().encrypt_body(session, message, packet, now)


def _leave_bodies_unencrypted(when: Callable[[Message], bool], level: int) -> Install:
    """Build a fault in which the bodies of some messages with a PrivacyLevel stay clear."""

    class BodyEncryptionOmitter(MessageSecuring):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            secured = super().encrypt_body(session, message, packet, now)
            assert message.security is not None
            if message.security.PrivacyLevel == level and when(message):
                clear = packet.MessagePropertiesHeader.MessageBody
                changes = {"BaseHeader.PacketSize": 0, "MessagePropertiesHeader.MessageBody": clear}
                return set_fields(secured, changes)
            return secured

    return replace_part(BodyEncryptionOmitter)


def _has_large_body(message: Message) -> bool:
    return len(message.Body) > 4096


def _is_transactional(message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _is_signed(message: Message) -> bool:
    return message.security is not None and bool(message.security.AuthenticationLevel)


for _level, _number, _rule in (
    ("base", 1, "MQDMPR-3.1.1.12-06"),
    ("enhanced", 3, "MQDMPR-3.1.1.12-07"),
    ("advanced", 5, "MQDMPR-3.1.1.12-08"),
):
    for _case, _when in (("large", _has_large_body), ("transactional", _is_transactional), ("signed", _is_signed)):
        add(
            f"sender-{_level}-body-of-{_case}-message-not-encrypted",
            _rule,
            f"The sender sends the body of a {_case} message with PrivacyLevel {_level.title()} in clear text.",
            _leave_bodies_unencrypted(_when, _number),
            blind=True,
        )


@fault("sender-signs-every-message-after-first-signed-message", breaks="MQDMPR-3.1.1.12-10", blind=True)
class SenderSignsEveryMessageAfterFirstSignedMessage(_MessageSecurityRecorder):
    """After a signed message, the sender signs each message that has security attributes."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        security = message.security
        if security is not None and security.AuthenticationLevel:
            self.level, self.certificate = security.AuthenticationLevel, security.SenderCertificate
        elif security is not None and self.level:
            message = replace(
                message,
                security=replace(security, AuthenticationLevel=self.level, SenderCertificate=self.certificate),
            )
            packet = set_fields(packet, {"SecurityHeader.SecurityData.SenderCert": self.certificate})
        return super().sign_packet(message, packet)


@fault("sender-signature-of-first-signed-message-repeated", breaks="MQDMPR-3.1.1.12-D56", blind=True)
class SenderSignatureOfFirstSignedMessageRepeated(_MessageSecurityRecorder):
    """The sender puts the signature of the first signed message into each later signed message."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        header = signed.SecurityHeader
        if not _is_signed(message) or header is None or not header.SecurityData.Signature:
            return signed
        self.signature = self.signature or header.SecurityData.Signature
        return set_fields(signed, {"SecurityHeader.SecurityData.Signature": self.signature})


def _sign_with_other_authentication_level(
    when: Callable[[Message], bool], wanted: SignatureType, level: int
) -> Install:
    """Build a fault that signs some messages with another kind of signature."""

    class OtherLevelSigner(MessageSecuring):
        def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
            security = message.security
            if security is not None and security.AuthenticationLevel == wanted and when(message):
                message = replace(message, security=replace(security, AuthenticationLevel=level))
            return super().sign_packet(message, packet)

    return replace_part(OtherLevelSigner)


def _is_recoverable(message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE


for _kind, _rule, _other in (
    (SignatureType.SIG10, "MQDMPR-3.1.1.12-11", SignatureType.SIG20),
    (SignatureType.SIG20, "MQDMPR-3.1.1.12-12", SignatureType.SIG10),
):
    for _case, _when in (("large", _has_large_body), ("recoverable", _is_recoverable)):
        add(
            f"sender-{_kind.name.lower()}-of-{_case}-message-of-other-kind",
            _rule,
            f"The sender uses a wrong kind of signature for a {_case} message with AuthenticationLevel "
            f"{_kind.name.title()}.",
            _sign_with_other_authentication_level(_when, _kind, _other),
            blind=True,
        )


@fault("sender-sent-time-of-second-message-is-that-of-first", breaks="MQDMPR-3.1.1.12-D60", blind=True)
class SenderSentTimeOfSecondMessageIsThatOfFirst(MessageSending):
    """The sender gives each message of an outgoing queue the SentTime of the first message that waits there."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        queue = position.QueueReference
        if isinstance(queue, OutgoingQueue):
            first = next(iter(queue.session.OutgoingMessageTable), None)
            if first is not None:
                sent = first.MessagePosition.MessageReference.SentTime
                position.MessageReference = replace(position.MessageReference, SentTime=sent)
        return super().construct_user_message(position)


@fault("sender-sent-time-of-transactional-message-zero", breaks="MQDMPR-3.1.1.12-D60", blind=True)
class SenderSentTimeOfTransactionalMessageZero(MessageSending):
    """The sender sends a transactional message with the SentTime 0."""

    @faulty_only_if(lambda part, position: position.MessageReference.TransactionIdentifier is not None)
    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        return set_fields(super().construct_user_message(position), {"UserHeader.SentTime": 0})


@fault("sender-clears-first-in-transaction-in-later-transactions", breaks="MQDMPR-3.1.1.12-D58", blind=True)
class SenderClearsFirstInTransactionInLaterTransactions(MessageSending):
    """The sender clears FirstInTransaction in every transaction after the first to an outgoing queue."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.FirstInTransaction and message.TransactionSequenceNumber > 1:
            position.MessageReference = replace(message, FirstInTransaction=False)
        return super().construct_user_message(position)


@fault("sender-sets-last-in-transaction-in-middle-messages-too", breaks="MQDMPR-3.1.1.12-D59", blind=True)
class SenderSetsLastInTransactionInMiddleMessagesToo(MessageSending):
    """The sender also sets LastInTransaction in a message that is neither the first nor the last of a transaction."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.TransactionIdentifier is not None and not (message.FirstInTransaction or message.LastInTransaction):
            position.MessageReference = replace(message, LastInTransaction=True)
        return super().construct_user_message(position)


def _change_source_queue_manager_of_every_second_ack(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if not message.Class or message.Identifier.Ordinal % 2:
        return packet
    other = UUID(int=message.Identifier.QueueManagerGuid.int ^ 1)
    return set_fields(packet, {"UserHeader.SourceQueueManager": other})


add(
    "queue-manager-source-of-each-second-acknowledgment-other",
    "MQDMPR-3.1.1.12-D51",
    "The queue manager sends each second acknowledgment with a wrong SourceQueueManager.",
    change_constructed_packet(_change_source_queue_manager_of_every_second_ack),
    blind=True,
)


@fault("sender-third-copy-has-destination-outside-of-queue-list", breaks="MQDMPR-3.1.1.12-27", blind=True)
class SenderThirdCopyHasDestinationOutsideOfQueueList(MessageEnqueueing):
    """The sender gives the third copy of a message to several queues a destination that the list does not contain."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.names: list[str] = []

    def _enqueue_message(self, queue: Queue | None, message: Message, now: Now, transaction: Any) -> Any:
        if message.DestinationMultiQueueFormatName is not None:
            self.names.append(message.DestinationQueueFormatName)
            if len(self.names) % 3 == 0:
                message = replace(message, DestinationQueueFormatName="DIRECT=TCP:127.0.0.9\\private$\\other")
        return super()._enqueue_message(queue, message, now, transaction)


def _clear_highest_bit_of_application_tag(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if message.Class:
        return packet
    return set_fields(packet, {"MessagePropertiesHeader.ApplicationTag": lambda tag: tag & 0x7FFF_FFFF})


add(
    "sender-application-tag-highest-bit-cleared",
    "MQDMPR-3.1.1.12-31",
    "The sender clears the highest bit of the ApplicationTag of a message of an application.",
    change_constructed_packet(_clear_highest_bit_of_application_tag),
)


@fault("receiver-administration-ack-repeats-sent-time", breaks="MQDMPR-3.1.1.12-D60", blind=True)
class ReceiverAdministrationAckRepeatsSentTime(AdminAcks):
    """The SentTime of an administration acknowledgment is the SentTime of the message that it acknowledges."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        return replace(super().build(message, message_class, now), SentTime=message.SentTime)

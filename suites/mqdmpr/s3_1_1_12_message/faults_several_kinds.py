"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message only for some kinds of messages, sessions or destinations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import replace_method_during, send_wrong_field_values
from harness.faults.registry import Install, add
from harness.faults.reports import change_report_element
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import MessageClass, MessagePropertiesHeader, TransactionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.store.messages import POSITIVE_RECEIVE_FLAG
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.surface.clock import Now

PacketCondition = Callable[[Any], bool]
PROVIDER_TYPE_RULE, PROVIDER_NAME_RULE = "MQDMPR-3.1.1.12-60", "MQDMPR-3.1.1.12-61"
BAD_QUEUE_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
NOT_TRANSACTIONAL_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q


def _is_transactional(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None


def _is_sent_to_several_queues(packet: UserMessagePacket) -> bool:
    return packet.MultiQueueFormatHeader is not None


def _is_acknowledgment(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass != MessageClass.MQMSG_CLASS_NORMAL


def _make_privacy_level_condition(level: int, condition: PacketCondition = lambda packet: True) -> PacketCondition:
    return lambda packet: packet.MessagePropertiesHeader.PrivacyLevel == level and condition(packet)


for _name, _says, _level, _when in (
    (
        "sender-privacy-level-2-in-enhanced-message",
        "The sender writes the PrivacyLevel 2 into a message that is encrypted with the enhanced provider.",
        2,
        _make_privacy_level_condition(3),
    ),
    (
        "sender-privacy-level-7-in-advanced-transactional-message",
        "The sender writes the PrivacyLevel 7 into a transactional message that is encrypted with AES.",
        7,
        _make_privacy_level_condition(5, _is_transactional),
    ),
    (
        "sender-privacy-level-4-in-acknowledgment",
        "The queue manager writes the PrivacyLevel 4 into acknowledgments.",
        4,
        _make_privacy_level_condition(0, _is_acknowledgment),
    ),
):
    add(
        _name,
        "MQDMPR-3.1.1.12-04",
        _says,
        send_wrong_field_values(UserMessagePacket, {"MessagePropertiesHeader.PrivacyLevel": _level}, _when),
        blind=True,
    )


def _make_delivery_mode_setter(value: int) -> Callable[[int], int]:
    return lambda flags: flags & ~(0x3 << 5) | value << 5


for _name, _says, _value, _when in (
    (
        "sender-dm-3-in-express-message",
        "The sender sets UserHeader.Flags.DM to 3 in express messages.",
        3,
        lambda packet: not packet.UserHeader.DM,
    ),
    (
        "sender-dm-2-in-transactional-message",
        "The sender sets UserHeader.Flags.DM to 2 in transactional messages.",
        2,
        _is_transactional,
    ),
    (
        "sender-dm-3-in-acknowledgment",
        "The queue manager sets UserHeader.Flags.DM to 3 in acknowledgments.",
        3,
        _is_acknowledgment,
    ),
):
    add(
        _name,
        "MQDMPR-3.1.1.12-18",
        _says,
        send_wrong_field_values(UserMessagePacket, {"UserHeader.Flags": _make_delivery_mode_setter(_value)}, _when),
        blind=True,
    )


def _refuse_security_header_of_connector(condition: PacketCondition) -> Install:
    """Return an installer of a fault that refuses messages of connectors with a SecurityHeader, if a condition is true
    for the packet.
    """

    class RefusedForProvider(SecurityOnReceipt):
        def check_security(
            self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
        ) -> UserMessagePacket | MessageClass:
            if packet.SecurityHeader is not None and packet.UserHeader.ConnectorType and condition(packet):
                return MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
            return super().check_security(session, packet, queue, now)

    return replace_part(RefusedForProvider)


def _get_provider_info(packet: UserMessagePacket) -> bytes:
    return packet.SecurityHeader.SecurityData.ProviderInfo if packet.SecurityHeader is not None else b""


def _get_provider_type(packet: UserMessagePacket) -> int:
    return int.from_bytes(_get_provider_info(packet)[:4], "little")


for _name, _rule, _says, _when in (
    (
        "receiver-connector-provider-type-0-refused",
        PROVIDER_TYPE_RULE,
        "The receiver refuses a message of a connector whose AuthenticationProviderType is 0.",
        lambda packet: bool(_get_provider_info(packet)) and _get_provider_type(packet) == 0,
    ),
    (
        "receiver-connector-provider-type-with-high-bit-refused",
        PROVIDER_TYPE_RULE,
        "The receiver refuses a message of a connector whose AuthenticationProviderType is above 0x7FFFFFFF.",
        lambda packet: _get_provider_type(packet) > 0x7FFF_FFFF,
    ),
    (
        "receiver-connector-provider-type-of-transactional-message-refused",
        PROVIDER_TYPE_RULE,
        "The receiver refuses a transactional message of a connector whose AuthenticationProviderType is unknown.",
        lambda packet: _is_transactional(packet) and _get_provider_type(packet) not in (0, 1, 24),
    ),
    (
        "receiver-connector-long-provider-name-refused",
        PROVIDER_NAME_RULE,
        "The receiver refuses a message of a connector whose AuthenticationProviderName has more than 64 characters.",
        lambda packet: len(_get_provider_info(packet)) > 4 + 2 * 65,
    ),
    (
        "receiver-connector-provider-name-without-microsoft-refused",
        PROVIDER_NAME_RULE,
        "The receiver refuses a recoverable message of a connector whose AuthenticationProviderName does not begin "
        "with Microsoft.",
        lambda packet: (
            bool(packet.UserHeader.DM)
            and bool(_get_provider_info(packet))
            and not _get_provider_info(packet)[4:].startswith("Microsoft".encode("utf-16-le"))
        ),
    ),
    (
        "receiver-connector-provider-name-with-other-letters-refused",
        PROVIDER_NAME_RULE,
        "The receiver refuses a message of a connector whose AuthenticationProviderName has letters beyond ASCII.",
        lambda packet: any(_get_provider_info(packet)[5::2]),
    ),
):
    add(_name, _rule, _says, _refuse_security_header_of_connector(_when), blind=True)


add(
    "sender-class-of-report-about-sending-normal",
    "MQDMPR-3.1.1.12-D06",
    "The report that a traced message was sent has the Class Normal.",
    change_report_element(MessageTracing.trace_sent_message, "Class", MessageClass.MQMSG_CLASS_NORMAL),
    blind=True,
)


def _change_class_of_transactional_report(original: Callable[..., None], *outer: Any) -> Callable[..., None]:
    traced = next(one for one in outer if isinstance(one, Message))
    report_class = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE

    def send_report(qm: QM, report: Message, now: Now) -> None:
        original(qm, report if traced.TransactionIdentifier is None else replace(report, Class=report_class), now)

    return send_report


add(
    "queue-manager-class-of-report-about-transactional-message-other",
    "MQDMPR-3.1.1.12-D06",
    "A report about a traced transactional message has the Class AckReachQueue.",
    replace_method_during(MessageTracing.send_report, OwnMessageSending.send, _change_class_of_transactional_report),
    blind=True,
)


def _change_ack_class_of_refused_messages(condition: Callable[[Message], bool]) -> Install:
    """Return an installer of a fault that acknowledges a transactional message to a nontransactional queue with a wrong
    class, if a condition is true for the message.
    """

    class OtherRefusalClass(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            changed = message_class is NOT_TRANSACTIONAL_NACK_CLASS and condition(message)
            super().acknowledge_failure(message, BAD_QUEUE_NACK_CLASS if changed else message_class, now)

    return replace_part(OtherRefusalClass)


for _name, _says, _asks in (
    (
        "receiver-class-for-nontransactional-queue-of-unacknowledged-receive-wrong",
        "The acknowledgment of a transactional message to a nontransactional queue that requests AckNackReceive has "
        "the class NackBadDestQueue.",
        lambda message: bool(message.AcknowledgementsRequested & MessagePropertiesHeader.flags(NR=1)),
    ),
    (
        "receiver-class-for-nontransactional-queue-of-later-message-wrong",
        "The acknowledgment of a transactional message to a nontransactional queue has the class NackBadDestQueue if "
        "the message is not the first message of its sequence.",
        lambda message: message.TransactionSequenceNumber > 1,
    ),
    (
        "receiver-class-for-public-nontransactional-queue-wrong",
        "The acknowledgment of a transactional message to a nontransactional public queue has the class "
        "NackBadDestQueue.",
        lambda message: message.DestinationQueueFormatName.startswith("PUBLIC"),
    ),
):
    add(_name, "MQDMPR-3.1.1.12-D19", _says, _change_ack_class_of_refused_messages(_asks), blind=True)


@fault("receiver-ack-of-purged-message-has-unlisted-class", breaks="MQDMPR-3.1.1.12-03", blind=True)
class ReceiverAckOfPurgedMessageHasUnlistedClass(AdminAcks):
    """The acknowledgment of a message that a purge removed has the class 0xC00F, which no document lists."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        built = super().build(message, message_class, now)
        purged = message_class is MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        return replace(built, Class=0xC00F) if purged else built


@fault("receiver-ack-of-recoverable-message-has-only-low-byte-of-class", breaks="MQDMPR-3.1.1.12-03", blind=True)
class ReceiverAckOfRecoverableMessageHasOnlyLowByteOfClass(AdminAcks):
    """In the acknowledgment that a recoverable message was received, the class of the acknowledgment is replaced by its
    low byte.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        built = super().build(message, message_class, now)
        cut = bool(message.AcknowledgementsRequested & POSITIVE_RECEIVE_FLAG) and message_class > 0xFF
        return replace(built, Class=message_class & 0xFF | 0x10) if cut else built


def _change_class_of_order_ack(when: Callable[[OrderAcks, str], bool]) -> Install:
    class OtherOrderAckClass(OrderAcks):
        def send_transactional_ack(self, name: str, message_class: Any, body: Any, now: Now) -> None:
            changed = message_class == MessageClass.MQMSG_CLASS_ORDER_ACK and when(self, name)
            super().send_transactional_ack(
                name, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE if changed else message_class, body, now
            )

    return replace_part(OtherOrderAckClass)


add(
    "receiver-order-ack-class-by-private-name-reach-queue",
    "MQDMPR-3.1.1.12-D08",
    "The OrderAck that is sent to a private format name has the Class AckReachQueue.",
    _change_class_of_order_ack(lambda part, name: name.upper().startswith("PRIVATE=")),
    blind=True,
)


@fault("sender-large-undelivered-message-not-stored-as-dead-letter", breaks="MQDMPR-3.1.1.12-D46", blind=True)
class SenderLargeUndeliveredMessageNotStoredAsDeadLetter(MessageJournaling):
    """The sender does not store a large message that cannot be delivered in its own dead-letter queue."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        if len(position.MessageReference.Body) < 1_000:
            super().journal_failed_message(position)


@fault("sender-recoverable-dead-letter-in-transactional-queue", breaks="MQDMPR-3.1.1.12-D46", blind=True)
class SenderRecoverableDeadLetterInTransactionalQueue(MessageJournaling):
    """The sender stores a recoverable dead letter in the transactional dead-letter queue."""

    def find_dead_letter_queue(self, message: Message) -> Queue:
        found = super().find_dead_letter_queue(message)
        recoverable = message.DeliveryGuarantee.value.lower() == "recoverable"
        own = found is self.qm.adm.SystemDeadletterQueue
        return self.qm.adm.SystemTransactionalDeadletterQueue if own and recoverable else found


@fault("sender-transactional-dead-letter-in-ordinary-queue", breaks="MQDMPR-3.1.1.12-D46", blind=True)
class SenderTransactionalDeadLetterInOrdinaryQueue(MessageJournaling):
    """The sender stores the dead letter of a transactional message in the system journal."""

    def find_dead_letter_queue(self, message: Message) -> Queue:
        return (
            super().find_dead_letter_queue(message)
            if message.TransactionIdentifier is None
            else self.qm.adm.SystemJournalQueue
        )


def _omit_nack(refused: MessageClass, when: Callable[[Message], bool] = lambda message: True) -> Install:
    class NackOmitted(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class is not refused or not when(message):
                super().acknowledge_failure(message, message_class, now)

    return replace_part(NackOmitted)


for _name, _says, _class in (
    (
        "receiver-nack-reach-queue-omitted-for-full-queue",
        "The receiver sends no acknowledgment for a message with AckNackReachQueue whose queue is full.",
        MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA,
    ),
    (
        "receiver-nack-reach-queue-omitted-for-transactional-queue",
        "The receiver sends no acknowledgment for a nontransactional message with AckNackReachQueue to a transactional "
        "queue.",
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG,
    ),
):
    add(_name, "MQDMPR-3.1.1.12-D50", _says, _omit_nack(_class), blind=True)


for _name, _says, _from in (
    (
        "queue-manager-source-of-report-other",
        "The SourceMachineIdentifier of a report is the GUID of another queue manager.",
        lambda packet: packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_REPORT,
    ),
    (
        "queue-manager-source-of-transactional-message-other",
        "The SourceMachineIdentifier of a transactional message is the GUID of another queue manager.",
        _is_transactional,
    ),
    (
        "queue-manager-source-of-message-to-several-queues-other",
        "The SourceMachineIdentifier of a message to several queues is the GUID of another queue manager.",
        _is_sent_to_several_queues,
    ),
):
    add(
        _name,
        "MQDMPR-3.1.1.12-D51",
        _says,
        send_wrong_field_values(UserMessagePacket, {"UserHeader.SourceQueueManager": MADE_UP_GUID}, _from),
        blind=True,
    )


def _add_transaction_header(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if packet.TransactionHeader is not None or not packet.UserHeader.DM:
        return packet
    flags = packet.UserHeader.Flags | type(packet.UserHeader).flags(TH=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), TransactionHeader=TransactionHeader())


add(
    "sender-recoverable-message-with-sequence",
    "MQDMPR-3.1.1.12-D57",
    "A recoverable nontransactional message has a TxSequenceID.",
    change_constructed_packet(_add_transaction_header),
    blind=True,
)


@fault("sender-second-message-of-sequence-has-other-sequence-ordinal", breaks="MQDMPR-3.1.1.12-D57", blind=True)
class SenderSecondMessageOfSequenceHasOtherSequenceOrdinal(TransactionalSending):
    """The second message of a sequence has a different Ordinal in its sequence identifier than the first message."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_message_in_sequence(session, message)
        identifier = numbered.TransactionalMessageSequenceIdentifier
        if numbered.TransactionSequenceNumber != 2:
            return numbered
        return replace(
            numbered, TransactionalMessageSequenceIdentifier=replace(identifier, Ordinal=identifier.Ordinal + 1)
        )


@fault("receiver-ack-class-wrong-for-message-with-unsupported-provider", breaks="MQDMPR-3.1.1.12-D21", blind=True)
class ReceiverAckClassWrongForMessageWithUnsupportedProvider(MessageAdmission):
    """The acknowledgment of a recoverable message that requires a missing cryptographic provider has the class
    NackBadEncryption.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        missing = message_class is MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
        if missing and packet.UserHeader.DM and packet.TransactionHeader is None:
            message_class = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
        super().refuse_message(session, packet, message_class, now)

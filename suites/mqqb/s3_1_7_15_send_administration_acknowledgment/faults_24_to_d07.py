"""Faults that break the rules MQQB-3.1.7.15-24 to MQQB-3.1.7.15-D07."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.admin_acks import (
    ALL_ACK_CLASSES,
    ARRIVAL_ACK_CLASSES,
    QUEUE_REMOVAL_ACK_CLASSES,
    REFUSAL_ACK_CLASSES,
    ChangeAcknowledgmentMessage,
    change_admin_acks,
)
from harness.faults.fields import set_field_value
from harness.faults.parts import fault
from harness.faults.registry import add
from harness.sut.provisioning import ALICE
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.admin_acks import CLASSES_WITHOUT_BODY, AdminAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.order_acks import FIRST_FINAL_ACK_CLASS
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message, Session
from reference_qm.model.message import INFINITE_TIMEOUT
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import MessageSecurity, SignatureType
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_15_send_administration_acknowledgment.fault_steps import (
    REMOVAL_ACK_CLASSES,
    set_acknowledgment_attributes,
)

_EXPRESS_DELIVERY = DeliveryGuarantee.EXPRESS


add(
    "receiver-ack-of-transactional-message-express",
    ("MQQB-3.1.7.2.1-01", "MQQB-3.1.7.15-24"),
    "The receiver's acknowledgment of a transactional message is express.",
    change_admin_acks(
        ALL_ACK_CLASSES,
        lambda ack, message: (
            ack if message.TransactionIdentifier is None else replace(ack, DeliveryGuarantee=_EXPRESS_DELIVERY)
        ),
    ),
    blind=True,
)


@fault("receiver-nack-queue-deleted-of-transactional-message-is-express", breaks="MQQB-3.1.7.15-24", blind=True)
class ReceiverNackQueueDeletedOfTransactionalMessageIsExpress(AdminAcks):
    """The receiver sends NACK_Q_DELETED for a transactional message as an express message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message.TransactionIdentifier is None or message_class is not REMOVAL_ACK_CLASSES[1]:
            return ack
        return replace(ack, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)


add(
    "receiver-admin-ack-always-express",
    "MQQB-3.1.7.15-25",
    "The receiver's acknowledgment is always express.",
    change_admin_acks(ALL_ACK_CLASSES, set_acknowledgment_attributes(DeliveryGuarantee=DeliveryGuarantee.EXPRESS)),
)


add(
    "receiver-admin-ack-always-recoverable",
    "MQQB-3.1.7.15-25",
    "The receiver's acknowledgment is always recoverable.",
    change_admin_acks(ALL_ACK_CLASSES, set_acknowledgment_attributes(DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)),
)


@fault("receiver-acknowledgment-of-transactional-message-is-express", breaks="MQQB-3.1.7.15-25", blind=True)
class ReceiverAcknowledgmentOfTransactionalMessageIsExpress(AdminAcks):
    """When a transactional message arrives or is refused, the receiver sends the acknowledgment as an express
    message.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message.TransactionIdentifier is None or message_class in REMOVAL_ACK_CLASSES:
            return ack
        return replace(ack, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)


_SIGNED_MESSAGE_SECURITY = MessageSecurity(AuthenticationLevel=SignatureType.SIG20, SenderCertificate=ALICE.certificate)


_ACK_ATTRIBUTE_FAULTS: tuple[tuple[str, str, str, object], ...] = (
    ("receiver-admin-ack-requests-acknowledgment", "MQQB-3.1.7.15-D01", "AcknowledgementsRequested", 1),
    ("receiver-admin-ack-time-to-reach-queue-finite", "MQQB-3.1.7.15-D02", "TimeToReachQueue", 800),
    ("receiver-admin-ack-time-to-be-received-finite", "MQQB-3.1.7.15-D03", "TimeToBeReceived", 900),
    ("receiver-admin-ack-jp-set", "MQQB-3.1.7.15-D04", "PositiveJournalingRequested", True),
    ("receiver-admin-ack-jn-set", "MQQB-3.1.7.15-D05", "NegativeJournalingRequested", True),
    ("receiver-admin-ack-signed", "MQQB-3.1.7.15-D07", "security", _SIGNED_MESSAGE_SECURITY),
)


for _name, _rule, _attribute, _value in _ACK_ATTRIBUTE_FAULTS:
    _says = f"The receiver's acknowledgment has {_attribute} set."
    add(
        _name,
        (_rule, "MQQB-3.1.7.15-26"),
        _says,
        change_admin_acks(ALL_ACK_CLASSES, set_acknowledgment_attributes(**{_attribute: _value})),
    )


add(
    "receiver-nack-of-removal-without-body",
    "MQQB-3.1.7.15-28",
    "The receiver's negative acknowledgment of removal has no body.",
    change_admin_acks(QUEUE_REMOVAL_ACK_CLASSES, set_acknowledgment_attributes(Body=b"")),
)


def _copy_message_body_to_acknowledgment(ack: Message, message: Message) -> Message:
    return replace(ack, Body=message.Body)


add(
    "receiver-ack-of-receipt-with-body",
    "MQQB-3.1.7.15-28",
    "The receiver's acknowledgment of receipt contains the body of the message.",
    change_admin_acks(QUEUE_REMOVAL_ACK_CLASSES, _copy_message_body_to_acknowledgment),
)


add(
    "receiver-nack-body-cut-to-256-bytes",
    ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
    "The receiver's negative acknowledgment contains only the first 256 bytes of the body.",
    change_admin_acks(ALL_ACK_CLASSES, lambda ack, message: replace(ack, Body=ack.Body[:256])),
    blind=True,
)


@fault("receiver-q-deleted-ack-without-body", breaks="MQQB-3.1.7.15-28", blind=True)
class ReceiverQDeletedAckWithoutBody(AdminAcks):
    """If a message was deleted with its queue, the receiver sends the acknowledgment without the body of the
    message.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return replace(ack, Body=b"") if message_class is MessageClass.MQMSG_CLASS_NACK_Q_DELETED else ack


@fault("receiver-acknowledgment-body-cut-at-4-kb", breaks=("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"), blind=True)
class ReceiverAcknowledgmentBodyCutAt4Kb(AdminAcks):
    """The receiver returns at most 4 KB of the body in a negative acknowledgment."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return replace(ack, Body=ack.Body[:4096])


@fault("receiver-acknowledgment-of-timeout-without-body", breaks="MQQB-3.1.7.15-28", blind=True)
class ReceiverAcknowledgmentOfTimeoutWithoutBody(AdminAcks):
    """The receiver returns no body in NACK_RECEIVE_TIMEOUT."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return replace(ack, Body=b"") if message_class is REMOVAL_ACK_CLASSES[3] else ack


@fault("receiver-acknowledgment-of-deletion-without-body", breaks="MQQB-3.1.7.15-28", blind=True)
class ReceiverAcknowledgmentOfDeletionWithoutBody(AdminAcks):
    """The receiver returns no body in NACK_Q_DELETED."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return replace(ack, Body=b"") if message_class is REMOVAL_ACK_CLASSES[1] else ack


add(
    "receiver-nack-of-refusal-without-body",
    "MQQB-3.1.7.15-29",
    "The receiver's acknowledgment of refusal has no body.",
    change_admin_acks(REFUSAL_ACK_CLASSES, set_acknowledgment_attributes(Body=b"")),
)


add(
    "receiver-ack-of-arrival-with-body",
    "MQQB-3.1.7.15-29",
    "The receiver's acknowledgment of arrival contains the body of the message.",
    change_admin_acks(ARRIVAL_ACK_CLASSES, _copy_message_body_to_acknowledgment),
)


@fault("receiver-ack-omitted-while-ack-to-other-admin-queue-waits", breaks="MQQB-3.1.7.15-34", blind=True)
class ReceiverAckOmittedWhileAckToOtherAdminQueueWaits(OwnMessageSending):
    """While an acknowledgment to one administration queue waits to be sent, the receiver sends no acknowledgment to a
    second administration queue.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first = ""

    def send(self, message: Message, now: Now) -> None:
        waiting = self.qm.adm.OutgoingQueues.get(self.first.lower())
        busy = waiting is not None and len(waiting.session.OutgoingMessageTable) > 0
        if busy and message.DestinationQueueFormatName != self.first:
            return
        self.first = message.DestinationQueueFormatName
        super().send(message, now)


def _copy_message_attribute(attribute: str) -> ChangeAcknowledgmentMessage:
    return lambda ack, message: replace(ack, **{attribute: getattr(message, attribute)})


_COPIED_ATTRIBUTE_FAULTS = (
    ("receiver-ack-of-refusal-copies-ack-requests", "MQQB-3.1.7.15-D01", "AcknowledgementsRequested"),
    ("receiver-ack-of-refusal-copies-time-to-reach-queue", "MQQB-3.1.7.15-D02", "TimeToReachQueue"),
    ("receiver-ack-of-refusal-copies-time-to-be-received", "MQQB-3.1.7.15-D03", "TimeToBeReceived"),
    ("receiver-ack-of-refusal-copies-jp", "MQQB-3.1.7.15-D04", "PositiveJournalingRequested"),
    ("receiver-ack-of-refusal-copies-jn", "MQQB-3.1.7.15-D05", "NegativeJournalingRequested"),
)


for _name, _rule, _attribute in _COPIED_ATTRIBUTE_FAULTS:
    _says = f"The receiver's acknowledgment of a refused message has the {_attribute} of the message."
    add(_name, _rule, _says, change_admin_acks(REFUSAL_ACK_CLASSES, _copy_message_attribute(_attribute)))


add(
    "receiver-admin-ack-copies-several-ack-requests",
    ("MQQB-3.1.7.15-D01",),
    "The receiver's acknowledgment of a message that requests several acknowledgments contains the same requests.",
    change_admin_acks(
        ALL_ACK_CLASSES,
        lambda ack, message: (
            replace(
                ack,
                AcknowledgementsRequested=message.AcknowledgementsRequested,
                AdministrationQueueFormatName=message.AdministrationQueueFormatName,
            )
            if message.AcknowledgementsRequested.bit_count() > 1
            else ack
        ),
    ),
    blind=True,
)


add(
    "receiver-admin-ack-copies-time-to-reach-queue",
    ("MQQB-3.1.7.15-D02",),
    "The receiver's acknowledgment has the same TimeToReachQueue as the acknowledged message.",
    change_admin_acks(ALL_ACK_CLASSES, lambda ack, message: replace(ack, TimeToReachQueue=message.TimeToReachQueue)),
    blind=True,
)


@fault("receiver-negative-ack-copies-time-to-reach-queue-of-message", breaks="MQQB-3.1.7.15-D02", blind=True)
class ReceiverNegativeAckCopiesTimeToReachQueueOfMessage(AdminAcks):
    """The receiver copies TimeToReachQueue of a message to a negative acknowledgment."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return ack if message_class in CLASSES_WITHOUT_BODY else replace(ack, TimeToReachQueue=message.TimeToReachQueue)


@fault(
    "receiver-ack-of-expired-message-inherits-finite-lifetimes",
    breaks=("MQQB-3.1.7.15-D02", "MQQB-3.1.7.15-D03"),
    blind=True,
)
class ReceiverAckOfExpiredMessageInheritsFiniteLifetimes(AdminAcks):
    """The receiver sends the acknowledgment of an expired message with finite lifetimes that depend on the message's
    TimeToBeReceived.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class is not MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            return ack
        return replace(
            ack,
            TimeToReachQueue=min(INFINITE_TIMEOUT - 1, 1000 + message.TimeToBeReceived),
            TimeToBeReceived=min(INFINITE_TIMEOUT - 1, 1000 + message.TimeToBeReceived),
        )


add(
    "receiver-admin-ack-copies-time-to-be-received",
    ("MQQB-3.1.7.15-D03",),
    "The receiver's acknowledgment has the same TimeToBeReceived as the acknowledged message.",
    change_admin_acks(ALL_ACK_CLASSES, lambda ack, message: replace(ack, TimeToBeReceived=message.TimeToBeReceived)),
    blind=True,
)


@fault("receiver-acknowledgment-copies-lifetime-of-recoverable-message", breaks="MQQB-3.1.7.15-D03", blind=True)
class ReceiverAcknowledgmentCopiesLifetimeOfRecoverableMessage(AdminAcks):
    """The receiver copies TimeToBeReceived of a recoverable message to its acknowledgment."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            return ack
        return replace(ack, TimeToBeReceived=message.TimeToBeReceived)


add(
    "receiver-admin-ack-copies-jp",
    ("MQQB-3.1.7.15-D04",),
    "The receiver's acknowledgment has JP set when the acknowledged message has JP set.",
    change_admin_acks(
        ALL_ACK_CLASSES,
        lambda ack, message: replace(ack, PositiveJournalingRequested=message.PositiveJournalingRequested),
    ),
    blind=True,
)


add(
    "receiver-admin-ack-copies-jn",
    ("MQQB-3.1.7.15-D05",),
    "The receiver's acknowledgment has JN set when the acknowledged message has JN set.",
    change_admin_acks(
        ALL_ACK_CLASSES,
        lambda ack, message: replace(ack, NegativeJournalingRequested=message.NegativeJournalingRequested),
    ),
    blind=True,
)


@fault("receiver-acknowledgment-of-removal-copies-journaling", breaks="MQQB-3.1.7.15-D05", blind=True)
class ReceiverAcknowledgmentOfRemovalCopiesJournaling(AdminAcks):
    """The receiver copies JN of a message to the acknowledgment that reports the removal of this message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class not in REMOVAL_ACK_CLASSES:
            return ack
        return replace(ack, NegativeJournalingRequested=message.NegativeJournalingRequested)


def _is_administration_acknowledgment(packet: UserMessagePacket) -> bool:
    is_positive = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
    return is_positive or packet.MessagePropertiesHeader.MessageClass >= FIRST_FINAL_ACK_CLASS


add(
    "receiver-admin-ack-privacy-level-1",
    "MQQB-3.1.7.15-D06",
    "The receiver's acknowledgment has PrivacyLevel 1.",
    set_field_value(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 1, _is_administration_acknowledgment),
)


@fault("receiver-admin-ack-receive-signed", breaks="MQQB-3.1.7.15-D07", blind=True)
class ReceiverAdminAckReceiveSigned(AdminAcks):
    """The receiver signs the administration acknowledgment of class ACK_RECEIVE, so that its
    AuthenticationLevel is Sig20.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        signers = [one for one in self.qm.config.security.accounts if one.key is not None and one.certificates]
        if message_class is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not signers:
            return ack
        signed = MessageSecurity(AuthenticationLevel=SignatureType.SIG20, SenderCertificate=signers[0].certificates[0])
        return replace(ack, security=signed)


@fault("receiver-nack-omits-body-of-clear-message-with-security-header", breaks="MQQB-3.1.7.15-29", blind=True)
class ReceiverNackOmitsBodyOfClearMessageWithSecurityHeader(MessageAdmission):
    """The receiver sends a negative acknowledgment without the body of the refused message if the message has a
    SecurityHeader, even if EB is not set in this header.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if packet.SecurityHeader is not None:
            bare = replace(packet.MessagePropertiesHeader, MessageBody=b"", AllocationBodySize=0, Padding=None)
            packet = replace(packet, MessagePropertiesHeader=bare)
        super().refuse_message(session, packet, message_class, now)

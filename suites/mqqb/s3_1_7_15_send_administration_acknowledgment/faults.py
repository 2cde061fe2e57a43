"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.admin_acks import (
    ALL_CLASSES,
    ARRIVAL_CLASSES,
    REFUSAL_CLASSES,
    REMOVAL_CLASSES,
    Change,
    change_admin_acks,
)
from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import during, skip
from harness.faults.registry import Install, add
from harness.sut.provisioning import ALICE
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.order_acks import FIRST_FINAL_ACK_CLASS
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security.message_attributes import MessageSecurity
from reference_qm.security.signatures import SignatureType
from reference_qm.surface.clock import Now

_OTHER_QUEUE_NAME = "DIRECT=TCP:127.0.0.2\\private$\\mqc-elsewhere"


def _set_acknowledgment_attributes(**changes: Any) -> Change:
    return lambda ack, message: replace(ack, **changes)


# -- the decision to send an acknowledgment --------------------------------------------------------------------------


def _send_to_response_queue(classes: frozenset[MessageClass]) -> Install:
    class ToResponseQueue(AdminAcks):
        def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class in classes:
                name = message.AdministrationQueueFormatName or message.ResponseQueueFormatName
                message = replace(message, AdministrationQueueFormatName=name)
            super().send(message, message_class, now)

    return replace_part(ToResponseQueue)


add(
    "receiver-ack-of-removal-to-response-queue",
    "MQQB-3.1.7.15-03",
    "If a message has no administration queue, the receiver sends the acknowledgment of its removal to the response "
    "queue.",
    _send_to_response_queue(REMOVAL_CLASSES),
)
add(
    "receiver-ack-of-arrival-to-response-queue",
    "MQQB-3.1.7.15-04",
    "If a message has no administration queue, the receiver sends the acknowledgment of its arrival to the response "
    "queue.",
    _send_to_response_queue(ARRIVAL_CLASSES),
)


@fault("receiver-insecure-nack-always-sent", breaks="MQQB-3.1.7.15-05")
class ReceiverInsecureNackAlwaysSent(AdminAcks):
    """The receiver sends insecure negative acknowledgments although SendInsecureNacks is FALSE."""

    def may_send_nack(self, message_class: MessageClass) -> bool:
        return True


@fault("receiver-bad-dst-q-nack-never-sent", breaks="MQQB-3.1.7.15-05")
class ReceiverBadDstQNackNeverSent(AdminAcks):
    """The receiver never sends an acknowledgment of class BAD_DST_Q."""

    def may_send_nack(self, message_class: MessageClass) -> bool:
        return message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q and super().may_send_nack(message_class)


add(
    "receiver-admin-ack-not-sent",
    ("MQQB-3.1.7.15-06", "MQQB-3.1.7.15-30", "MQQB-3.1.7.15-34"),
    "The receiver never sends an administration acknowledgment.",
    skip(AdminAcks.send),
)

# -- the class and the destination of an acknowledgment --------------------------------------------------------------

add(
    "receiver-ack-of-removal-class-reach-queue-timeout",
    ("MQQB-3.1.7.15-07", "MQQB-3.1.7.2.1-03"),
    "The receiver's acknowledgment of removal has the class NACK_REACH_QUEUE_TIMEOUT.",
    change_admin_acks(
        REMOVAL_CLASSES, _set_acknowledgment_attributes(Class=MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT)
    ),
)
add(
    "receiver-ack-of-arrival-destination-wrong",
    ("MQQB-3.1.7.15-08", "MQQB-3.1.7.15-10"),
    "The receiver addresses the acknowledgment of arrival to a wrong queue.",
    change_admin_acks(ARRIVAL_CLASSES, _set_acknowledgment_attributes(DestinationQueueFormatName=_OTHER_QUEUE_NAME)),
)
add(
    "receiver-ack-of-removal-destination-wrong",
    "MQQB-3.1.7.15-09",
    "The receiver addresses the acknowledgment of removal to a wrong queue.",
    change_admin_acks(REMOVAL_CLASSES, _set_acknowledgment_attributes(DestinationQueueFormatName=_OTHER_QUEUE_NAME)),
)


def _redirect_admin_queue(kind: int) -> Install:
    """Make the receiver redirect acknowledgments for one type of administration queue (AQ)."""

    def make_redirected_building(build: Any, qm: QueueManager, session: Any, packet: UserMessagePacket, *_: Any) -> Any:
        def build_redirected_ack(*arguments: Any) -> Message:
            ack: Message = build(*arguments)
            return replace(ack, DestinationQueueFormatName=_OTHER_QUEUE_NAME)

        return build_redirected_ack if kind == packet.UserHeader.AQ else build

    return during(Receiving.take_message, AdminAcks.build, make_redirected_building)


for _name, _rule, _kind in (
    ("receiver-ack-for-aq-2-destination-wrong", "MQQB-3.1.7.15-11", 2),
    ("receiver-ack-for-aq-3-destination-wrong", "MQQB-3.1.7.15-12", 3),
    ("receiver-ack-for-aq-5-destination-wrong", "MQQB-3.1.7.15-13", 5),
    ("receiver-ack-for-aq-6-destination-wrong", "MQQB-3.1.7.15-14", 6),
    ("receiver-ack-for-aq-7-destination-wrong", "MQQB-3.1.7.15-15", 7),
):
    _says = f"The receiver addresses the acknowledgment of a packet with AQ {_kind} to a wrong queue."
    add(_name, _rule, _says, _redirect_admin_queue(_kind))

# -- the message and the queue that an acknowledgment names ----------------------------------------------------------

add(
    "receiver-ack-of-removal-correlation-id-empty",
    "MQQB-3.1.7.15-16",
    "The receiver's acknowledgment of removal has an empty CorrelationID.",
    change_admin_acks(REMOVAL_CLASSES, _set_acknowledgment_attributes(CorrelationIdentifier=bytes(20))),
)
add(
    "receiver-ack-of-arrival-correlation-id-empty",
    ("MQQB-3.1.7.15-17", "MQQB-3.1.7.15-18"),
    "The receiver's acknowledgment of arrival has an empty CorrelationID.",
    change_admin_acks(ARRIVAL_CLASSES, _set_acknowledgment_attributes(CorrelationIdentifier=bytes(20))),
)
add(
    "receiver-ack-of-removal-response-queue-wrong",
    "MQQB-3.1.7.15-19",
    "The receiver's acknowledgment of removal has a wrong response queue.",
    change_admin_acks(REMOVAL_CLASSES, _set_acknowledgment_attributes(ResponseQueueFormatName=_OTHER_QUEUE_NAME)),
)
add(
    "receiver-admin-ack-response-queue-wrong",
    "MQQB-3.1.7.15-20",
    "The receiver's acknowledgment has a wrong response queue.",
    change_admin_acks(ALL_CLASSES, _set_acknowledgment_attributes(ResponseQueueFormatName=_OTHER_QUEUE_NAME)),
)


def _change_response_queue(begins: str) -> Change:
    """Make the receiver change the response queue of acknowledgments if the destination of the message begins with a
    prefix.
    """

    def change_response_queue_of_ack(ack: Message, message: Message) -> Message:
        meant = message.DestinationQueueFormatName.upper().startswith(begins)
        return replace(ack, ResponseQueueFormatName=_OTHER_QUEUE_NAME) if meant else ack

    return change_response_queue_of_ack


for _name, _rule, _begins in (
    ("receiver-ack-of-private-name-response-queue-wrong", "MQQB-3.1.7.15-21", "PRIVATE="),
    ("receiver-ack-of-public-name-response-queue-wrong", "MQQB-3.1.7.15-22", "PUBLIC="),
    ("receiver-ack-of-direct-name-response-queue-wrong", "MQQB-3.1.7.15-23", "DIRECT="),
):
    _says = f"The receiver's acknowledgment of a message to a {_begins} name has a wrong response queue."
    add(_name, _rule, _says, change_admin_acks(ALL_CLASSES, _change_response_queue(_begins)))

# -- the attributes of an acknowledgment -----------------------------------------------------------------------------

add(
    "receiver-admin-ack-always-express",
    "MQQB-3.1.7.15-25",
    "The receiver's acknowledgment is always express.",
    change_admin_acks(ALL_CLASSES, _set_acknowledgment_attributes(DeliveryGuarantee=DeliveryGuarantee.EXPRESS)),
)
add(
    "receiver-admin-ack-always-recoverable",
    "MQQB-3.1.7.15-25",
    "The receiver's acknowledgment is always recoverable.",
    change_admin_acks(ALL_CLASSES, _set_acknowledgment_attributes(DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)),
)
_SIGNED_MESSAGE_SECURITY = MessageSecurity(AuthenticationLevel=SignatureType.SIG20, SenderCertificate=ALICE.certificate)
_ATTRIBUTES: tuple[tuple[str, str, str, object], ...] = (
    ("receiver-admin-ack-requests-acknowledgment", "MQQB-3.1.7.15-D01", "AcknowledgementsRequested", 1),
    ("receiver-admin-ack-time-to-reach-queue-finite", "MQQB-3.1.7.15-D02", "TimeToReachQueue", 800),
    ("receiver-admin-ack-time-to-be-received-finite", "MQQB-3.1.7.15-D03", "TimeToBeReceived", 900),
    ("receiver-admin-ack-jp-set", "MQQB-3.1.7.15-D04", "PositiveJournalingRequested", True),
    ("receiver-admin-ack-jn-set", "MQQB-3.1.7.15-D05", "NegativeJournalingRequested", True),
    ("receiver-admin-ack-signed", "MQQB-3.1.7.15-D07", "security", _SIGNED_MESSAGE_SECURITY),
)
for _name, _rule, _attribute, _value in _ATTRIBUTES:
    _says = f"The receiver's acknowledgment has {_attribute} set."
    add(
        _name,
        (_rule, "MQQB-3.1.7.15-26"),
        _says,
        change_admin_acks(ALL_CLASSES, _set_acknowledgment_attributes(**{_attribute: _value})),
    )


def _copy_message_attribute(attribute: str) -> Change:
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
    add(_name, _rule, _says, change_admin_acks(REFUSAL_CLASSES, _copy_message_attribute(_attribute)))


def _is_administration_acknowledgment(packet: UserMessagePacket) -> bool:
    is_positive = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
    return is_positive or packet.MessagePropertiesHeader.MessageClass >= FIRST_FINAL_ACK_CLASS


add(
    "receiver-admin-ack-privacy-level-1",
    "MQQB-3.1.7.15-D06",
    "The receiver's acknowledgment has PrivacyLevel 1.",
    field_is(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 1, _is_administration_acknowledgment),
)

# -- the body of an acknowledgment -----------------------------------------------------------------------------------


def _copy_message_body(ack: Message, message: Message) -> Message:
    return replace(ack, Body=message.Body)


add(
    "receiver-nack-of-removal-without-body",
    "MQQB-3.1.7.15-28",
    "The receiver's negative acknowledgment of removal has no body.",
    change_admin_acks(REMOVAL_CLASSES, _set_acknowledgment_attributes(Body=b"")),
)
add(
    "receiver-ack-of-receipt-with-body",
    "MQQB-3.1.7.15-28",
    "The receiver's acknowledgment of receipt contains the body of the message.",
    change_admin_acks(REMOVAL_CLASSES, _copy_message_body),
)
add(
    "receiver-nack-of-refusal-without-body",
    "MQQB-3.1.7.15-29",
    "The receiver's acknowledgment of refusal has no body.",
    change_admin_acks(REFUSAL_CLASSES, _set_acknowledgment_attributes(Body=b"")),
)
add(
    "receiver-ack-of-arrival-with-body",
    "MQQB-3.1.7.15-29",
    "The receiver's acknowledgment of arrival contains the body of the message.",
    change_admin_acks(ARRIVAL_CLASSES, _copy_message_body),
)


@fault("receiver-admin-ack-correlation-id-of-previous-ack", breaks="MQQB-3.1.7.15-18", blind=True)
class ReceiverAdminAckCorrelationIdOfPreviousAck(AdminAcks):
    """The receiver sends an acknowledgment with the CorrelationID of the previous acknowledgment."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: bytes | None = None

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        before, self._before = self._before, ack.CorrelationIdentifier
        return replace(ack, CorrelationIdentifier=before or ack.CorrelationIdentifier)


add(
    "receiver-nack-body-cut-to-256-bytes",
    ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
    "The receiver's negative acknowledgment contains only the first 256 bytes of the body.",
    change_admin_acks(ALL_CLASSES, lambda ack, message: replace(ack, Body=ack.Body[:256])),
    blind=True,
)


add(
    "receiver-admin-ack-response-queue-of-message",
    ("MQQB-3.1.7.15-19", "MQQB-3.1.7.15-20"),
    "The receiver's acknowledgment has the same response queue as the acknowledged message.",
    change_admin_acks(
        ALL_CLASSES,
        lambda ack, message: replace(
            ack, ResponseQueueFormatName=message.ResponseQueueFormatName or ack.ResponseQueueFormatName
        ),
    ),
    blind=True,
)


add(
    "receiver-admin-ack-copies-time-to-reach-queue",
    ("MQQB-3.1.7.15-D02",),
    "The receiver's acknowledgment has the same TimeToReachQueue as the acknowledged message.",
    change_admin_acks(ALL_CLASSES, lambda ack, message: replace(ack, TimeToReachQueue=message.TimeToReachQueue)),
    blind=True,
)


add(
    "receiver-admin-ack-copies-time-to-be-received",
    ("MQQB-3.1.7.15-D03",),
    "The receiver's acknowledgment has the same TimeToBeReceived as the acknowledged message.",
    change_admin_acks(ALL_CLASSES, lambda ack, message: replace(ack, TimeToBeReceived=message.TimeToBeReceived)),
    blind=True,
)


add(
    "receiver-admin-ack-copies-jp",
    ("MQQB-3.1.7.15-D04",),
    "The receiver's acknowledgment has JP set when the acknowledged message has JP set.",
    change_admin_acks(
        ALL_CLASSES, lambda ack, message: replace(ack, PositiveJournalingRequested=message.PositiveJournalingRequested)
    ),
    blind=True,
)


add(
    "receiver-admin-ack-copies-jn",
    ("MQQB-3.1.7.15-D05",),
    "The receiver's acknowledgment has JN set when the acknowledged message has JN set.",
    change_admin_acks(
        ALL_CLASSES, lambda ack, message: replace(ack, NegativeJournalingRequested=message.NegativeJournalingRequested)
    ),
    blind=True,
)


add(
    "receiver-admin-ack-copies-several-ack-requests",
    ("MQQB-3.1.7.15-D01",),
    "The receiver's acknowledgment of a message that requests several acknowledgments contains the same requests.",
    change_admin_acks(
        ALL_CLASSES,
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


_EXPRESS, _RECOVERABLE = DeliveryGuarantee.EXPRESS, DeliveryGuarantee.RECOVERABLE


add(
    "receiver-ack-of-transactional-message-express",
    ("MQQB-3.1.7.2.1-01", "MQQB-3.1.7.15-24"),
    "The receiver's acknowledgment of a transactional message is express.",
    change_admin_acks(
        ALL_CLASSES,
        lambda ack, message: ack if message.TransactionIdentifier is None else replace(ack, DeliveryGuarantee=_EXPRESS),
    ),
    blind=True,
)

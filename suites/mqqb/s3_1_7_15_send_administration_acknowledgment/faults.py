"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.admin_acks import ALL, ARRIVAL, REFUSAL, REMOVAL, Change, change_admin_acks
from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import during, skip
from harness.faults.registry import Install, add
from harness.sut.provisioning import ALICE
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.order_acks import FIRST_FINAL_CLASS
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security.message_attributes import MessageSecurity
from reference_qm.security.signatures import SignatureType
from reference_qm.surface.clock import Now

_ELSEWHERE = "DIRECT=TCP:127.0.0.2\\private$\\mqc-elsewhere"


def _with(**changes: Any) -> Change:
    return lambda ack, message: replace(ack, **changes)


# -- when one is sent ----------------------------------------------------------------------------------------------


def _to_response_queue(classes: frozenset[MessageClass]) -> Install:
    class ToResponseQueue(AdminAcks):
        def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class in classes:
                name = message.AdministrationQueueFormatName or message.ResponseQueueFormatName
                message = replace(message, AdministrationQueueFormatName=name)
            super().send(message, message_class, now)

    return replace_part(ToResponseQueue)


add(
    "removal-told-nobody-asked",
    "MQQB-3.1.7.15-03",
    "Without administration queue a removal is acknowledged to the response queue.",
    _to_response_queue(REMOVAL),
)
add(
    "arrival-told-nobody-asked",
    "MQQB-3.1.7.15-04",
    "Without administration queue an arrival is acknowledged to the response queue.",
    _to_response_queue(ARRIVAL),
)


@fault("insecure-told-always", breaks="MQQB-3.1.7.15-05")
class InsecureNacksAlwaysSent(AdminAcks):
    """SendInsecureNacks is taken for TRUE."""

    def may_send_nack(self, message_class: MessageClass) -> bool:
        return True


@fault("insecure-told-never", breaks="MQQB-3.1.7.15-05")
class InsecureNacksNeverSent(AdminAcks):
    """BAD_DST_Q is never sent."""

    def may_send_nack(self, message_class: MessageClass) -> bool:
        return message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q and super().may_send_nack(message_class)


add(
    "acknowledgment-not-made",
    ("MQQB-3.1.7.15-06", "MQQB-3.1.7.15-30", "MQQB-3.1.7.15-34"),
    "No acknowledgment is ever sent.",
    skip(AdminAcks.send),
)

# -- its class, and where it goes ----------------------------------------------------------------------------------

add(
    "acknowledgment-other-class",
    ("MQQB-3.1.7.15-07", "MQQB-3.1.7.2.1-03"),
    "An acknowledgment of removal says REACH_QUEUE_TIMEOUT.",
    change_admin_acks(REMOVAL, _with(Class=MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT)),
)
add(
    "arrival-told-elsewhere",
    ("MQQB-3.1.7.15-08", "MQQB-3.1.7.15-10"),
    "An acknowledgment of arrival goes to another queue.",
    change_admin_acks(ARRIVAL, _with(DestinationQueueFormatName=_ELSEWHERE)),
)
add(
    "removal-told-elsewhere",
    "MQQB-3.1.7.15-09",
    "An acknowledgment of removal goes to another queue.",
    change_admin_acks(REMOVAL, _with(DestinationQueueFormatName=_ELSEWHERE)),
)


def _of_type(kind: int) -> Install:
    """Take one type of administration queue (AQ) for a queue that is elsewhere."""

    def make(build: Any, qm: QueueManager, session: Any, packet: UserMessagePacket, *_: Any) -> Any:
        def elsewhere(*arguments: Any) -> Message:
            ack: Message = build(*arguments)
            return replace(ack, DestinationQueueFormatName=_ELSEWHERE)

        return elsewhere if kind == packet.UserHeader.AQ else build

    return during(Receiving.take_message, AdminAcks.build, make)


for _name, _rule, _kind in (
    ("administration-type-2", "MQQB-3.1.7.15-11", 2),
    ("administration-type-3", "MQQB-3.1.7.15-12", 3),
    ("administration-type-5", "MQQB-3.1.7.15-13", 5),
    ("administration-type-6", "MQQB-3.1.7.15-14", 6),
    ("administration-type-7", "MQQB-3.1.7.15-15", 7),
):
    _says = f"An acknowledgment for an administration queue with AQ {_kind} goes to another."
    add(_name, _rule, _says, _of_type(_kind))

# -- what it names -------------------------------------------------------------------------------------------------

add(
    "removal-correlated-to-nothing",
    "MQQB-3.1.7.15-16",
    "An acknowledgment of removal has no CorrelationID.",
    change_admin_acks(REMOVAL, _with(CorrelationIdentifier=bytes(20))),
)
add(
    "arrival-correlated-to-nothing",
    ("MQQB-3.1.7.15-17", "MQQB-3.1.7.15-18"),
    "An acknowledgment of arrival has no CorrelationID.",
    change_admin_acks(ARRIVAL, _with(CorrelationIdentifier=bytes(20))),
)
add(
    "removal-of-another-queue",
    "MQQB-3.1.7.15-19",
    "An acknowledgment of removal names another queue.",
    change_admin_acks(REMOVAL, _with(ResponseQueueFormatName=_ELSEWHERE)),
)
add(
    "response-of-another-queue",
    "MQQB-3.1.7.15-20",
    "An acknowledgment names another queue.",
    change_admin_acks(ALL, _with(ResponseQueueFormatName=_ELSEWHERE)),
)


def _response_of(begins: str) -> Change:
    """Name another queue in acknowledgments of messages whose destination begins so."""

    def change(ack: Message, message: Message) -> Message:
        meant = message.DestinationQueueFormatName.upper().startswith(begins)
        return replace(ack, ResponseQueueFormatName=_ELSEWHERE) if meant else ack

    return change


for _name, _rule, _begins in (
    ("response-private", "MQQB-3.1.7.15-21", "PRIVATE="),
    ("response-public", "MQQB-3.1.7.15-22", "PUBLIC="),
    ("response-direct", "MQQB-3.1.7.15-23", "DIRECT="),
):
    _says = f"An acknowledgment of a message to {_begins} names another queue."
    add(_name, _rule, _says, change_admin_acks(ALL, _response_of(_begins)))

# -- its attributes ------------------------------------------------------------------------------------------------

add(
    "arrival-told-express",
    "MQQB-3.1.7.15-25",
    "Acknowledgments are express.",
    change_admin_acks(ALL, _with(DeliveryGuarantee=DeliveryGuarantee.EXPRESS)),
)
add(
    "arrival-told-recoverable",
    "MQQB-3.1.7.15-25",
    "Acknowledgments are recoverable.",
    change_admin_acks(ALL, _with(DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)),
)
_SIGNED = MessageSecurity(AuthenticationLevel=SignatureType.SIG20, SenderCertificate=ALICE.certificate)
_ATTRIBUTES: tuple[tuple[str, str, str, object], ...] = (
    ("acknowledgment-asks", "MQQB-3.1.7.15-D01", "AcknowledgementsRequested", 1),
    ("acknowledgment-reach", "MQQB-3.1.7.15-D02", "TimeToReachQueue", 800),
    ("acknowledgment-receive", "MQQB-3.1.7.15-D03", "TimeToBeReceived", 900),
    ("acknowledgment-journaled", "MQQB-3.1.7.15-D04", "PositiveJournalingRequested", True),
    ("acknowledgment-logged", "MQQB-3.1.7.15-D05", "NegativeJournalingRequested", True),
    ("acknowledgment-signed", "MQQB-3.1.7.15-D07", "security", _SIGNED),
)
for _name, _rule, _attribute, _value in _ATTRIBUTES:
    _says = f"An acknowledgment has {_attribute} set."
    add(_name, (_rule, "MQQB-3.1.7.15-26"), _says, change_admin_acks(ALL, _with(**{_attribute: _value})))


def _copied(attribute: str) -> Change:
    return lambda ack, message: replace(ack, **{attribute: getattr(message, attribute)})


_COPIED = (
    ("acknowledgment-copies-asked", "MQQB-3.1.7.15-D01", "AcknowledgementsRequested"),
    ("acknowledgment-copies-reach", "MQQB-3.1.7.15-D02", "TimeToReachQueue"),
    ("acknowledgment-copies-receive", "MQQB-3.1.7.15-D03", "TimeToBeReceived"),
    ("acknowledgment-copies-journal", "MQQB-3.1.7.15-D04", "PositiveJournalingRequested"),
    ("acknowledgment-copies-dead-letter", "MQQB-3.1.7.15-D05", "NegativeJournalingRequested"),
)
for _name, _rule, _attribute in _COPIED:
    _says = f"The acknowledgment of a message that is refused has the {_attribute} of the message."
    add(_name, _rule, _says, change_admin_acks(REFUSAL, _copied(_attribute)))


def _is_administrative(packet: UserMessagePacket) -> bool:
    is_positive = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
    return is_positive or packet.MessagePropertiesHeader.MessageClass >= FIRST_FINAL_CLASS


add(
    "acknowledgment-says-encrypted",
    "MQQB-3.1.7.15-D06",
    "An acknowledgment says that its body is encrypted.",
    field_is(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 1, _is_administrative),
)

# -- its body ------------------------------------------------------------------------------------------------------


def _whole_body(ack: Message, message: Message) -> Message:
    return replace(ack, Body=message.Body)


add(
    "removal-without-body",
    "MQQB-3.1.7.15-28",
    "The acknowledgment of removal has no body.",
    change_admin_acks(REMOVAL, _with(Body=b"")),
)
add(
    "removal-always-with-body",
    "MQQB-3.1.7.15-28",
    "The acknowledgment of a success has a body.",
    change_admin_acks(REMOVAL, _whole_body),
)
add(
    "refusal-without-body",
    "MQQB-3.1.7.15-29",
    "The acknowledgment of refusal has no body.",
    change_admin_acks(REFUSAL, _with(Body=b"")),
)
add(
    "refusal-always-with-body",
    "MQQB-3.1.7.15-29",
    "The acknowledgment of a success has a body.",
    change_admin_acks(ARRIVAL, _whole_body),
)


@fault("correlation-of-the-message-before", breaks="MQQB-3.1.7.15-18", blind=True)
class CorrelationOfTheMessageBefore(AdminAcks):
    """The correlation of an acknowledgment is that of the acknowledgment before it, after the first one."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: bytes | None = None

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        before, self._before = self._before, ack.CorrelationIdentifier
        return replace(ack, CorrelationIdentifier=before or ack.CorrelationIdentifier)


add(
    "acknowledgment-with-a-body-cut",
    ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
    "A negative acknowledgment brings back the first 256 bytes of the body.",
    change_admin_acks(ALL, lambda ack, message: replace(ack, Body=ack.Body[:256])),
    blind=True,
)


add(
    "acknowledgment-answers-where-its-message-does",
    ("MQQB-3.1.7.15-19", "MQQB-3.1.7.15-20"),
    "The response queue of an acknowledgment is that of its message, if that has one.",
    change_admin_acks(
        ALL,
        lambda ack, message: replace(
            ack, ResponseQueueFormatName=message.ResponseQueueFormatName or ack.ResponseQueueFormatName
        ),
    ),
    blind=True,
)


add(
    "acknowledgment-has-the-time-of-its-message",
    ("MQQB-3.1.7.15-D02",),
    "An acknowledgment has the time to reach its queue that its message had.",
    change_admin_acks(ALL, lambda ack, message: replace(ack, TimeToReachQueue=message.TimeToReachQueue)),
    blind=True,
)


add(
    "acknowledgment-waits-as-long-as-its-message",
    ("MQQB-3.1.7.15-D03",),
    "An acknowledgment has the time to be received that its message had.",
    change_admin_acks(ALL, lambda ack, message: replace(ack, TimeToBeReceived=message.TimeToBeReceived)),
    blind=True,
)


add(
    "acknowledgment-journaled-as-its-message",
    ("MQQB-3.1.7.15-D04",),
    "An acknowledgment has JP if its message had it.",
    change_admin_acks(
        ALL, lambda ack, message: replace(ack, PositiveJournalingRequested=message.PositiveJournalingRequested)
    ),
    blind=True,
)


add(
    "acknowledgment-a-dead-letter-as-its-message",
    ("MQQB-3.1.7.15-D05",),
    "An acknowledgment has JN if its message had it.",
    change_admin_acks(
        ALL, lambda ack, message: replace(ack, NegativeJournalingRequested=message.NegativeJournalingRequested)
    ),
    blind=True,
)


add(
    "acknowledgment-asks-for-what-its-message-asked",
    ("MQQB-3.1.7.15-D01",),
    "An acknowledgment of a message that asked for several acknowledgments asks for them, too.",
    change_admin_acks(
        ALL,
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
    "acknowledgment-of-a-transactional-message-express",
    ("MQQB-3.1.7.2.1-01", "MQQB-3.1.7.15-24"),
    "The acknowledgment of a transactional message is express.",
    change_admin_acks(
        ALL,
        lambda ack, message: ack if message.TransactionIdentifier is None else replace(ack, DeliveryGuarantee=_EXPRESS),
    ),
    blind=True,
)

"""Faults that break the rules MQQB-3.1.7.15-03 to MQQB-3.1.7.15-21."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from harness.faults.admin_acks import (
    ALL_ACK_CLASSES,
    ARRIVAL_ACK_CLASSES,
    QUEUE_REMOVAL_ACK_CLASSES,
    ChangeAcknowledgment,
    change_admin_acks,
)
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import replace_during, skip
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, PrivateName, UserMessagePacket
from reference_qm.core.names.destinations import parse_format_name_of_command
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_7_15_send_administration_acknowledgment.fault_steps import (
    REMOVAL_ACK_CLASSES,
    set_acknowledgment_attributes,
)


def _send_acks_to_response_queue(classes: frozenset[MessageClass]) -> Install:
    class AcksToResponseQueue(AdminAcks):
        def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if message_class in classes:
                name = message.AdministrationQueueFormatName or message.ResponseQueueFormatName
                message = replace(message, AdministrationQueueFormatName=name)
            super().send(message, message_class, now)

    return replace_part(AcksToResponseQueue)


add(
    "receiver-ack-of-removal-to-response-queue",
    "MQQB-3.1.7.15-03",
    "If a message has no administration queue, the receiver sends the acknowledgment of its removal to the response "
    "queue.",
    _send_acks_to_response_queue(QUEUE_REMOVAL_ACK_CLASSES),
)


@fault("receiver-ack-of-expiry-without-admin-queue-sent-to-response-queue", breaks="MQQB-3.1.7.15-03", blind=True)
class ReceiverAckOfExpiryWithoutAdminQueueSentToResponseQueue(AdminAcks):
    """When a message without an administration queue expires, the receiver sends an acknowledgment to the response
    queue of the message.
    """

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        timeout = message_class is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        if timeout and not message.AdministrationQueueFormatName:
            message = replace(message, AdministrationQueueFormatName=message.ResponseQueueFormatName)
        super().send(message, message_class, now)


add(
    "receiver-ack-of-arrival-to-response-queue",
    "MQQB-3.1.7.15-04",
    "If a message has no administration queue, the receiver sends the acknowledgment of its arrival to the response "
    "queue.",
    _send_acks_to_response_queue(ARRIVAL_ACK_CLASSES),
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


@fault("receiver-insecure-nack-of-recoverable-message-sent", breaks="MQQB-3.1.7.15-05", blind=True)
class ReceiverInsecureNackOfRecoverableMessageSent(AdminAcks):
    """The receiver sends an acknowledgment of class BAD_DST_Q for a recoverable message although SendInsecureNacks is
    FALSE.
    """

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        insecure = self.qm.adm.SendInsecureNacks
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            self.qm.adm.SendInsecureNacks = True
        super().send(message, message_class, now)
        self.qm.adm.SendInsecureNacks = insecure


@fault("receiver-security-nacks-sent-despite-send-insecure-nacks-false", breaks="MQQB-3.1.7.15-05", blind=True)
class ReceiverSecurityNacksSentDespiteSendInsecureNacksFalse(AdminAcks):
    """If SendInsecureNacks is FALSE, the receiver omits only acknowledgments of the class BAD_DST_Q."""

    def may_send_nack(self, message_class: MessageClass) -> bool:
        return self.qm.adm.SendInsecureNacks or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q


@fault("receiver-access-denied-sent-despite-send-insecure-nacks-false", breaks="MQQB-3.1.7.15-05", blind=True)
class ReceiverAccessDeniedSentDespiteSendInsecureNacksFalse(AdminAcks):
    """The receiver sends acknowledgments of the class ACCESS_DENIED although SendInsecureNacks is FALSE."""

    def may_send_nack(self, message_class: MessageClass) -> bool:
        return super().may_send_nack(message_class) or message_class is MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED


@fault("receiver-insecure-nack-of-transactional-message-sent", breaks="MQQB-3.1.7.15-05", blind=True)
class ReceiverInsecureNackOfTransactionalMessageSent(AdminAcks):
    """The receiver acknowledges transactional messages to missing queues although SendInsecureNacks is FALSE."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        before = self.qm.adm.SendInsecureNacks
        if message.TransactionIdentifier is not None:
            self.qm.adm.SendInsecureNacks = True
        super().send(message, message_class, now)
        self.qm.adm.SendInsecureNacks = before


add(
    "receiver-admin-ack-not-sent",
    ("MQQB-3.1.7.15-06", "MQQB-3.1.7.15-30", "MQQB-3.1.7.15-34"),
    "The receiver never sends an administration acknowledgment.",
    skip(AdminAcks.send),
)


WRONG_ACK_PRIORITY = 4


@fault("receiver-ignores-pa-of-recoverable-message-above-priority-4", breaks="MQQB-3.1.7.15-06")
class ReceiverIgnoresPaOfRecoverableMessageAbovePriority4(AdminAcks):
    """The receiver does not acknowledge the arrival of a recoverable message with PA whose priority is above 4."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if message.Priority <= WRONG_ACK_PRIORITY or message.DeliveryGuarantee is not DeliveryGuarantee.RECOVERABLE:
            super().acknowledge_arrival(position, now)


_FIRST_ACKNOWLEDGED_MESSAGE_BY_QUEUE_MANAGER: WeakKeyDictionary[QueueManager, Message] = WeakKeyDictionary()
"""The first message that each queue manager acknowledged."""


class _AcksOnlyForMessagesOfFirstSource(AdminAcks):
    """Send acknowledgments only of messages from the source of the first acknowledged message."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        first = _FIRST_ACKNOWLEDGED_MESSAGE_BY_QUEUE_MANAGER.setdefault(self.qm, message)
        if first.Identifier.QueueManagerGuid == message.Identifier.QueueManagerGuid:
            super().send(message, message_class, now)


@fault("receiver-acknowledges-only-messages-of-first-source", breaks=("MQQB-3.1.7.15-06", "MQQB-3.1.7.15-34"))
class ReceiverAcknowledgesOnlyMessagesOfFirstSource(_AcksOnlyForMessagesOfFirstSource):
    """The receiver sends acknowledgments only of messages from the first source that requested an acknowledgment."""


add(
    "receiver-ack-of-removal-class-reach-queue-timeout",
    ("MQQB-3.1.7.15-07", "MQQB-3.1.7.2.1-03"),
    "The receiver's acknowledgment of removal has the class NACK_REACH_QUEUE_TIMEOUT.",
    change_admin_acks(
        QUEUE_REMOVAL_ACK_CLASSES,
        set_acknowledgment_attributes(Class=MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT),
    ),
)


@fault("receiver-timeout-of-transactional-message-acknowledged-as-purged", breaks="MQQB-3.1.7.15-07", blind=True)
class ReceiverTimeoutOfTransactionalMessageAcknowledgedAsPurged(AdminAcks):
    """The receiver acknowledges the expiry of a transactional message in its queue with the class Q_PURGED."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        timeout = message_class is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        if timeout and message.TransactionIdentifier is not None:
            message_class = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        return super().build(message, message_class, now)


_QUEUE_NAME_ON_OTHER_HOST = "DIRECT=TCP:127.0.0.2\\private$\\mqc-elsewhere"


add(
    "receiver-ack-of-arrival-destination-wrong",
    ("MQQB-3.1.7.15-08", "MQQB-3.1.7.15-10"),
    "The receiver addresses the acknowledgment of arrival to a wrong queue.",
    change_admin_acks(
        ARRIVAL_ACK_CLASSES, set_acknowledgment_attributes(DestinationQueueFormatName=_QUEUE_NAME_ON_OTHER_HOST)
    ),
)


add(
    "receiver-ack-of-removal-destination-wrong",
    "MQQB-3.1.7.15-09",
    "The receiver addresses the acknowledgment of removal to a wrong queue.",
    change_admin_acks(
        QUEUE_REMOVAL_ACK_CLASSES, set_acknowledgment_attributes(DestinationQueueFormatName=_QUEUE_NAME_ON_OTHER_HOST)
    ),
)


@fault("receiver-nack-queue-purged-sent-to-response-queue", breaks="MQQB-3.1.7.15-09", blind=True)
class ReceiverNackQueuePurgedSentToResponseQueue(AdminAcks):
    """The receiver sends NACK_Q_PURGED to the response queue of a message that names a response queue."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class is REMOVAL_ACK_CLASSES[2] and message.ResponseQueueFormatName:
            return replace(ack, DestinationQueueFormatName=message.ResponseQueueFormatName)
        return ack


class _LaterAckChanger(AdminAcks):
    """Changes the acknowledgments of all messages after the first acknowledged message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        first = _FIRST_ACKNOWLEDGED_MESSAGE_BY_QUEUE_MANAGER.setdefault(self.qm, message)
        return self.change_ack(super().build(message, message_class, now), first)

    def change_ack(self, ack: Message, first: Message) -> Message:
        """Return the changed acknowledgment; ``first``: the message that was acknowledged first."""
        raise NotImplementedError


@fault(
    "receiver-acknowledgment-addressed-to-first-administration-queue", breaks=("MQQB-3.1.7.15-10", "MQQB-3.1.7.15-15")
)
class ReceiverAcknowledgmentAddressedToFirstAdministrationQueue(_LaterAckChanger):
    """The receiver addresses every acknowledgment to the administration queue of the first acknowledged message."""

    def change_ack(self, ack: Message, first: Message) -> Message:
        assert first.AdministrationQueueFormatName is not None
        return replace(ack, DestinationQueueFormatName=first.AdministrationQueueFormatName)


def _redirect_acks_by_queue_type(kind: int) -> Install:
    """Make the receiver redirect acknowledgments for one type of administration queue (AQ)."""

    def make_redirected_ack_building(
        build: Any, qm: QueueManager, session: Any, packet: UserMessagePacket, *_: Any
    ) -> Any:
        def build_redirected_ack(*arguments: Any) -> Message:
            ack: Message = build(*arguments)
            return replace(ack, DestinationQueueFormatName=_QUEUE_NAME_ON_OTHER_HOST)

        return build_redirected_ack if kind == packet.UserHeader.AQ else build

    return replace_during(Receiving.take_message, AdminAcks.build, make_redirected_ack_building)


for _name, _rule, _kind in (
    ("receiver-ack-for-aq-2-destination-wrong", "MQQB-3.1.7.15-11", 2),
    ("receiver-ack-for-aq-3-destination-wrong", "MQQB-3.1.7.15-12", 3),
    ("receiver-ack-for-aq-5-destination-wrong", "MQQB-3.1.7.15-13", 5),
    ("receiver-ack-for-aq-6-destination-wrong", "MQQB-3.1.7.15-14", 6),
    ("receiver-ack-for-aq-7-destination-wrong", "MQQB-3.1.7.15-15", 7),
):
    _says = f"The receiver addresses the acknowledgment of a packet with AQ {_kind} to a wrong queue."
    add(_name, _rule, _says, _redirect_acks_by_queue_type(_kind))


@fault("receiver-ack-for-queue-of-third-computer-sent-to-sender", breaks="MQQB-3.1.7.15-14", blind=True)
class ReceiverAckForQueueOfThirdComputerSentToSender(AdminAcks):
    """The receiver sends the acknowledgment to the computer that sent the message, although the private name of the
    administration queue has the GUID of a third computer.
    """

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        name = (
            parse_format_name_of_command(message.AdministrationQueueFormatName)
            if message.AdministrationQueueFormatName
            else None
        )
        if isinstance(name, PrivateName):
            name = replace(name, ComputerGuid=message.Identifier.QueueManagerGuid)
            message = replace(message, AdministrationQueueFormatName=str(name))
        super().send(message, message_class, now)


add(
    "receiver-ack-of-removal-correlation-id-empty",
    "MQQB-3.1.7.15-16",
    "The receiver's acknowledgment of removal has an empty CorrelationID.",
    change_admin_acks(QUEUE_REMOVAL_ACK_CLASSES, set_acknowledgment_attributes(CorrelationIdentifier=bytes(20))),
)


@fault("receiver-acknowledgment-of-removal-has-correlation-of-message", breaks="MQQB-3.1.7.15-16", blind=True)
class ReceiverAcknowledgmentOfRemovalHasCorrelationOfMessage(AdminAcks):
    """The receiver copies CorrelationID of a message, unless it is zero, to the acknowledgment of its receipt."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class in REMOVAL_ACK_CLASSES and any(message.CorrelationIdentifier):
            return replace(ack, CorrelationIdentifier=message.CorrelationIdentifier)
        return ack


@fault("receiver-ack-of-removal-correlation-id-cut-to-16-bits", breaks="MQQB-3.1.7.15-16", blind=True)
class ReceiverAckOfRemovalCorrelationIdCutTo16Bits(AdminAcks):
    """The receiver sends only the lower 16 bits of the MessageID in the acknowledgment of a message that
    left its queue.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        identifier = message.Identifier
        if message_class & 0x4000:
            message = replace(message, Identifier=replace(identifier, Ordinal=identifier.Ordinal & 0xFFFF))
        return super().build(message, message_class, now)


add(
    "receiver-ack-of-arrival-correlation-id-empty",
    ("MQQB-3.1.7.15-17", "MQQB-3.1.7.15-18"),
    "The receiver's acknowledgment of arrival has an empty CorrelationID.",
    change_admin_acks(ARRIVAL_ACK_CLASSES, set_acknowledgment_attributes(CorrelationIdentifier=bytes(20))),
)


@fault("receiver-ack-correlation-id-has-source-of-first-message", breaks=("MQQB-3.1.7.15-17", "MQQB-3.1.7.15-18"))
class ReceiverAckCorrelationIdHasSourceOfFirstMessage(_LaterAckChanger):
    """CorrelationID of every acknowledgment has the SourceQueueManager of the first acknowledged message."""

    def change_ack(self, ack: Message, first: Message) -> Message:
        own = ack.CorrelationIdentifier
        return replace(ack, CorrelationIdentifier=first.Identifier.build()[:16] + own[16:])


@fault("receiver-ack-repeats-correlation-id-of-previous-ack", breaks="MQQB-3.1.7.15-18", blind=True)
class ReceiverAckRepeatsCorrelationIdOfPreviousAck(AdminAcks):
    """The receiver sends an acknowledgment with the CorrelationID of the previous acknowledgment."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: bytes | None = None

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        before, self._before = self._before, ack.CorrelationIdentifier
        return replace(ack, CorrelationIdentifier=before or ack.CorrelationIdentifier)


@fault("receiver-acknowledgment-of-packet-has-correlation-of-packet", breaks="MQQB-3.1.7.15-18", blind=True)
class ReceiverAcknowledgmentOfPacketHasCorrelationOfPacket(AdminAcks):
    """The receiver copies CorrelationID of a packet, unless it is zero, to the acknowledgment of its arrival."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class not in REMOVAL_ACK_CLASSES and any(message.CorrelationIdentifier):
            return replace(ack, CorrelationIdentifier=message.CorrelationIdentifier)
        return ack


add(
    "receiver-ack-of-removal-response-queue-wrong",
    "MQQB-3.1.7.15-19",
    "The receiver's acknowledgment of removal has a wrong response queue.",
    change_admin_acks(
        QUEUE_REMOVAL_ACK_CLASSES, set_acknowledgment_attributes(ResponseQueueFormatName=_QUEUE_NAME_ON_OTHER_HOST)
    ),
)


add(
    "receiver-admin-ack-response-queue-of-message",
    ("MQQB-3.1.7.15-19", "MQQB-3.1.7.15-20"),
    "The receiver's acknowledgment has the same response queue as the acknowledged message.",
    change_admin_acks(
        ALL_ACK_CLASSES,
        lambda ack, message: replace(
            ack, ResponseQueueFormatName=message.ResponseQueueFormatName or ack.ResponseQueueFormatName
        ),
    ),
    blind=True,
)


add(
    "receiver-admin-ack-response-queue-wrong",
    "MQQB-3.1.7.15-20",
    "The receiver's acknowledgment has a wrong response queue.",
    change_admin_acks(
        ALL_ACK_CLASSES, set_acknowledgment_attributes(ResponseQueueFormatName=_QUEUE_NAME_ON_OTHER_HOST)
    ),
)


def _change_response_queue_by_destination(begins: str) -> ChangeAcknowledgment:
    """Make the receiver change the response queue of acknowledgments if the destination of the message begins with a
    prefix.
    """

    def change_response_queue_of_ack(ack: Message, message: Message) -> Message:
        meant = message.DestinationQueueFormatName.upper().startswith(begins)
        return replace(ack, ResponseQueueFormatName=_QUEUE_NAME_ON_OTHER_HOST) if meant else ack

    return change_response_queue_of_ack


for _name, _rule, _begins in (
    ("receiver-ack-of-private-name-response-queue-wrong", "MQQB-3.1.7.15-21", "PRIVATE="),
    ("receiver-ack-of-public-name-response-queue-wrong", "MQQB-3.1.7.15-22", "PUBLIC="),
    ("receiver-ack-of-direct-name-response-queue-wrong", "MQQB-3.1.7.15-23", "DIRECT="),
):
    _says = f"The receiver's acknowledgment of a message to a {_begins} name has a wrong response queue."
    add(_name, _rule, _says, change_admin_acks(ALL_ACK_CLASSES, _change_response_queue_by_destination(_begins)))

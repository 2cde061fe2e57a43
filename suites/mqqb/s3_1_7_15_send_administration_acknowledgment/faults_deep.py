"""Faults of MS-MQQB 3.1.7.15 Send Administration Acknowledgment that only special cases reveal: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.part import QM
from reference_qm.core.transfer.admin_acks import CLASSES_WITHOUT_BODY, AdminAcks
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.model.adm import Message
from reference_qm.model.message import INFINITE
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

REMOVALS = (
    MessageClass.MQMSG_CLASS_ACK_RECEIVE,
    MessageClass.MQMSG_CLASS_NACK_Q_DELETED,
    MessageClass.MQMSG_CLASS_NACK_Q_PURGED,
    MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT,
)


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
        return replace(ack, Body=b"") if message_class is REMOVALS[3] else ack


@fault("receiver-acknowledgment-of-deletion-without-body", breaks="MQQB-3.1.7.15-28", blind=True)
class ReceiverAcknowledgmentOfDeletionWithoutBody(AdminAcks):
    """The receiver returns no body in NACK_Q_DELETED."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return replace(ack, Body=b"") if message_class is REMOVALS[1] else ack


@fault("receiver-acknowledgment-of-transactional-message-express", breaks="MQQB-3.1.7.15-25", blind=True)
class ReceiverAcknowledgmentOfTransactionalMessageExpress(AdminAcks):
    """When a transactional message arrives or is refused, the receiver sends the acknowledgment as an express
    message.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message.TransactionIdentifier is None or message_class in REMOVALS:
            return ack
        return replace(ack, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)


@fault("receiver-acknowledgment-of-timeout-of-transactional-message-express", breaks="MQQB-3.1.7.15-24", blind=True)
class ReceiverAcknowledgmentOfTimeoutOfTransactionalMessageExpress(AdminAcks):
    """The receiver sends NACK_Q_DELETED for a transactional message as an express message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message.TransactionIdentifier is None or message_class is not REMOVALS[1]:
            return ack
        return replace(ack, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)


@fault("receiver-acknowledgment-copies-lifetime-of-recoverable-message", breaks="MQQB-3.1.7.15-D03", blind=True)
class ReceiverAcknowledgmentCopiesLifetimeOfRecoverableMessage(AdminAcks):
    """The receiver copies TimeToBeReceived of a recoverable message to its acknowledgment."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            return ack
        return replace(ack, TimeToBeReceived=message.TimeToBeReceived)


@fault("receiver-acknowledgment-copies-time-to-reach-queue-when-negative", breaks="MQQB-3.1.7.15-D02", blind=True)
class ReceiverAcknowledgmentCopiesTimeToReachQueueWhenNegative(AdminAcks):
    """The receiver copies TimeToReachQueue of a message to a negative acknowledgment."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return ack if message_class in CLASSES_WITHOUT_BODY else replace(ack, TimeToReachQueue=message.TimeToReachQueue)


@fault("receiver-acknowledgment-of-removal-copies-journaling", breaks="MQQB-3.1.7.15-D05", blind=True)
class ReceiverAcknowledgmentOfRemovalCopiesJournaling(AdminAcks):
    """The receiver copies JN of a message to the acknowledgment that reports the removal of this message."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class not in REMOVALS:
            return ack
        return replace(ack, NegativeJournalingRequested=message.NegativeJournalingRequested)


@fault("receiver-acknowledgment-of-removal-to-response-queue", breaks="MQQB-3.1.7.15-09", blind=True)
class ReceiverAcknowledgmentOfRemovalToResponseQueue(AdminAcks):
    """The receiver sends NACK_Q_PURGED to the response queue of a message that names a response queue."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class is REMOVALS[2] and message.ResponseQueueFormatName:
            return replace(ack, DestinationQueueFormatName=message.ResponseQueueFormatName)
        return ack


@fault("receiver-acknowledgment-of-removal-has-correlation-of-message", breaks="MQQB-3.1.7.15-16", blind=True)
class ReceiverAcknowledgmentOfRemovalHasCorrelationOfMessage(AdminAcks):
    """The receiver copies CorrelationID of a message, unless it is zero, to the acknowledgment of its receipt."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class in REMOVALS and any(message.CorrelationIdentifier):
            return replace(ack, CorrelationIdentifier=message.CorrelationIdentifier)
        return ack


@fault("receiver-acknowledgment-of-packet-has-correlation-of-packet", breaks="MQQB-3.1.7.15-18", blind=True)
class ReceiverAcknowledgmentOfPacketHasCorrelationOfPacket(AdminAcks):
    """The receiver copies CorrelationID of a packet, unless it is zero, to the acknowledgment of its arrival."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class not in REMOVALS and any(message.CorrelationIdentifier):
            return replace(ack, CorrelationIdentifier=message.CorrelationIdentifier)
        return ack


@fault("receiver-acknowledgment-not-sent-to-queue-after-failure", breaks="MQQB-3.1.7.15-34", blind=True)
class ReceiverAcknowledgmentNotSentToQueueAfterFailure(OwnMessages):
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


@fault("receiver-security-nacks-sent-although-insecure", breaks="MQQB-3.1.7.15-05", blind=True)
class ReceiverSecurityNacksSentAlthoughInsecure(AdminAcks):
    """If SendInsecureNacks is FALSE, the receiver omits only acknowledgments of the class BAD_DST_Q."""

    def may_send_nack(self, message_class: MessageClass) -> bool:
        return self.qm.adm.SendInsecureNacks or message_class is not MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q


@fault("receiver-access-denied-sent-although-insecure", breaks="MQQB-3.1.7.15-05", blind=True)
class ReceiverAccessDeniedSentAlthoughInsecure(AdminAcks):
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


@fault("receiver-timeout-ack-without-administration-queue-to-response-queue", breaks="MQQB-3.1.7.15-03", blind=True)
class ReceiverTimeoutAckWithoutAdministrationQueueToResponseQueue(AdminAcks):
    """When a message without an administration queue expires, the receiver sends an acknowledgment to the response
    queue of the message.
    """

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        timeout = message_class is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        if timeout and not message.AdministrationQueueFormatName:
            message = replace(message, AdministrationQueueFormatName=message.ResponseQueueFormatName)
        super().send(message, message_class, now)


@fault("receiver-timeout-of-transactional-message-acknowledged-as-purged", breaks="MQQB-3.1.7.15-07", blind=True)
class ReceiverTimeoutOfTransactionalMessageAcknowledgedAsPurged(AdminAcks):
    """The receiver acknowledges the expiry of a transactional message in its queue with the class Q_PURGED."""

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        timeout = message_class is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        if timeout and message.TransactionIdentifier is not None:
            message_class = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
        return super().build(message, message_class, now)


@fault("receiver-ack-correlation-of-removed-message-of-16-bits", breaks="MQQB-3.1.7.15-16", blind=True)
class ReceiverAckCorrelationOfRemovedMessageOf16Bits(AdminAcks):
    """The receiver sends only the lower 16 bits of the MessageID in the acknowledgment of a message that
    left its queue.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        identifier = message.Identifier
        if message_class & 0x4000:
            message = replace(message, Identifier=replace(identifier, Ordinal=identifier.Ordinal & 0xFFFF))
        return super().build(message, message_class, now)


@fault(
    "receiver-ack-of-message-with-short-lifetime-expires-with-it",
    breaks=("MQQB-3.1.7.15-D02", "MQQB-3.1.7.15-D03"),
    blind=True,
)
class ReceiverAckOfMessageWithShortLifetimeExpiresWithIt(AdminAcks):
    """The receiver sends the acknowledgment of an expired message with finite lifetimes that depend on the message's
    TimeToBeReceived.
    """

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        if message_class is not MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            return ack
        return replace(
            ack,
            TimeToReachQueue=min(INFINITE - 1, 1000 + message.TimeToBeReceived),
            TimeToBeReceived=min(INFINITE - 1, 1000 + message.TimeToBeReceived),
        )

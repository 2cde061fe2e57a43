"""Faults of MS-MQQB 3.1.7.1.2 Checking for Message Expiration."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, skip
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.events import LifetimesChanged
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.expiring import Expiring
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import INFINITE, Message, MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

add(
    "expiration-not-acknowledged",
    ("MQQB-3.1.7.1.2-03", "MQDMPR-3.1.1.12-D12"),
    "Expired messages are not acknowledged.",
    skip(AdminAcks.acknowledge_failure),
)


@fault("expiration-acknowledged-otherwise", breaks=("MQQB-3.1.7.1.2-03", "MQDMPR-3.1.1.12-D12"))
class ExpirationAcknowledgedOtherwise(AdminAcks):
    """Expired messages are acknowledged with the class of those that were not received in time."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        super().acknowledge_failure(message, MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, now)


add(
    "expired-not-journaled",
    "MQQB-3.1.7.1.2-06",
    "Expired messages are not kept as dead letters.",
    skip(Journaling.journal_failed),
)


@fault("dead-letters-expire", breaks="MQQB-3.1.7.1.2-06")
class DeadLettersExpire(Lifetimes):
    """A dead letter whose time to be received is over is deleted."""

    def watch_received(self, position: MessagePosition) -> None:
        super().watch_received(position)
        message = position.MessageReference
        if position.QueueReference.QueueType is QueueType.SYSTEM and message.TimeToBeReceived != INFINITE:
            self.qm.to_be_received.add(position, message.SentTime + message.TimeToBeReceived)
            self.qm.post(LifetimesChanged())


@fault("expired-all-journaled", breaks="MQQB-3.1.7.1.2-06")
class AllExpiredJournaled(Journaling):
    """Expired messages are kept as dead letters whether they ask for it or not."""

    def journal_failed(self, position: MessagePosition) -> None:
        position.MessageReference = replace(position.MessageReference, NegativeJournalingRequested=True)
        super().journal_failed(position)


@fault("expired-a-second-early", breaks="MQQB-3.1.7.1.2-D01")
class ExpiredASecondEarly(Lifetimes):
    """A message whose time ends in this second has expired."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return now.utc_s - packet.UserHeader.SentTime >= packet.BaseHeader.TimeToReachQueue


@fault("expired-by-unsigned-age", breaks="MQQB-3.1.7.1.2-D01")
class ExpiredByUnsignedAge(Lifetimes):
    """A message that was sent later than now is taken for very old."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return (now.utc_s - packet.UserHeader.SentTime) & 0xFFFF_FFFF > packet.BaseHeader.TimeToReachQueue


@fault("expired-recoverable-message-not-nacked", breaks=("MQQB-3.1.7.1.2-03", "MQDMPR-3.1.1.12-D12"), blind=True)
class ExpiredRecoverableMessageNotNacked(AdminAcks):
    """Only for express messages that expire before they are sent there is a negative acknowledgment."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if not own or message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            super().acknowledge_failure(message, message_class, now)


class _Unexpired(Lifetimes):
    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


add(
    "expired-message-sent",
    ("MQQB-3.1.7.1-06", "MQQB-3.1.7.1.2-01", "MQQB-3.1.7.1.2-02", "MQQB-3.1.7.1.2-D01"),
    "Messages are sent however late it is.",
    both(replace_part(_Unexpired), skip(Expiring.on_expiration_timer)),
)

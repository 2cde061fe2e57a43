"""Faults in which the receiver reads fields of some messages wrongly."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now

SENDER_SID_TYPE = 1
ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL = 3, 5


class ReceivedPacketChanger(MessageAdmission):
    """A part of the queue manager that changes the packets of some messages after they were checked; a subclass selects
    which.
    """

    def change_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        raise NotImplementedError

    def admit(
        self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now
    ) -> UserMessagePacket | None:
        admitted = super().admit(session, packet, queue, now)
        return None if admitted is None else self.change_packet(admitted)


@fault("receiver-stores-first-tracing-queue-for-later-messages", breaks="MQDMPR-3.1.7.1.31-D07", blind=True)
class ReceiverStoresFirstTracingQueueForLaterMessages(ReceivedPacketChanger):
    """The receiver sets the TracingQueueIdentifier of every traced message to that of the first traced message."""

    def change_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        if packet.DebugHeader is None or packet.DebugHeader.QueueIdentifier is None:
            return packet
        first: UUID = self.__dict__.setdefault("first", packet.DebugHeader.QueueIdentifier)
        return set_fields(packet, {"DebugHeader.QueueIdentifier": first})


@fault("receiver-stores-no-tracing-queue-of-express-message", breaks="MQDMPR-3.1.7.1.31-D07", blind=True)
class ReceiverStoresNoTracingQueueOfExpressMessage(ReceivedPacketChanger):
    """The receiver does not set the TracingQueueIdentifier of an express message."""

    def change_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        if packet.DebugHeader is None or packet.UserHeader.DM:
            return packet
        return set_fields(packet, {"DebugHeader.Flags": 0, "DebugHeader.QueueIdentifier": None})


@fault("receiver-stores-privacy-level-5-of-signed-message-as-enhanced", breaks="MQDMPR-3.1.7.1.31-D10", blind=True)
class ReceiverStoresPrivacyLevel5OfSignedMessageAsEnhanced(ReceivedPacketChanger):
    """The PrivacyLevel of a signed message whose field PrivacyLevel is 5 is Enhanced."""

    def change_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        signed = packet.SecurityHeader is not None and bool(packet.SecurityHeader.SecurityData.Signature)
        if not signed or packet.MessagePropertiesHeader.PrivacyLevel != ADVANCED_PRIVACY_LEVEL:
            return packet
        return set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": ENHANCED_PRIVACY_LEVEL})


@fault("receiver-stores-first-privacy-level-for-later-messages", breaks="MQDMPR-3.1.7.1.31-D10", blind=True)
class ReceiverStoresFirstPrivacyLevelForLaterMessages(ReceivedPacketChanger):
    """The PrivacyLevel of an encrypted message is that of the first encrypted message."""

    def change_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        if packet.SecurityHeader is None or not level:
            return packet
        first = self.__dict__.setdefault("first", level)
        return set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": first})


@fault("receiver-stores-first-sender-type-for-later-messages", breaks="MQDMPR-3.1.7.1.31-D18", blind=True)
class ReceiverStoresFirstSenderTypeForLaterMessages(ReceivedPacketChanger):
    """The SenderIdentifierType of a message with a SecurityHeader is that of the first such message."""

    def change_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        if packet.SecurityHeader is None:
            return packet
        first = self.__dict__.setdefault("first", packet.SecurityHeader.ST)
        flags = packet.SecurityHeader.Flags & ~type(packet.SecurityHeader).flags(ST=0xF)
        return set_fields(packet, {"SecurityHeader.Flags": flags | type(packet.SecurityHeader).flags(ST=first)})


@fault("receiver-stores-sender-type-none-for-unsigned-sid", breaks="MQDMPR-3.1.7.1.31-D18", blind=True)
class ReceiverStoresSenderTypeNoneForUnsignedSid(ReceivedPacketChanger):
    """The SenderIdentifierType of an unsigned message with ST 1 is None."""

    def change_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        header = packet.SecurityHeader
        if header is None or header.SecurityData.Signature or header.ST != SENDER_SID_TYPE:
            return packet
        return set_fields(packet, {"SecurityHeader.Flags": header.Flags & ~type(header).flags(ST=0xF)})

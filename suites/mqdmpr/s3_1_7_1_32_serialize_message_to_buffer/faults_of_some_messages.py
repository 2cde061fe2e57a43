"""Faults in fields of the packets of some messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_bytes, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import add_to_packet_size
from reference_qm.codec import DirectQueueFormatName, SecurityHeader, TransactionHeader, UserHeader, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

DIRECT_FORMAT_NAME_TYPE, DIRECT_FORMAT_NAME_OF_COPIES = 7, r"OS:localhost\PRIVATE$\copy"
SENDER_TYPE_OF_MESSAGE_WITHOUT_SENDER, SENDER_SID_TYPE, SENDER_QUEUE_MANAGER_TYPE = 0, 1, 2

add(
    "sender-packet-size-without-debug-header",
    "MQDMPR-3.1.7.1.32-04",
    "The PacketSize of a message with a DebugHeader does not count this header.",
    send_wrong_bytes(UserMessagePacket, add_to_packet_size(-20), lambda packet: packet.DebugHeader is not None),
    blind=True,
)


class TransactionHeaderChanger(TransactionalSending):
    """A part of the queue manager that changes the TransactionHeader of some messages when it sends them; a subclass
    selects which.
    """

    def change_transaction_header(self, session: Session, header: TransactionHeader) -> TransactionHeader:
        raise NotImplementedError

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        if packet.TransactionHeader is None:
            return packet
        return replace(packet, TransactionHeader=self.change_transaction_header(session, packet.TransactionHeader))


@fault("sender-writes-first-transaction-identifier-into-later-messages", breaks="MQDMPR-3.1.7.1.32-D04", blind=True)
class SenderWritesFirstTransactionIdentifierIntoLaterMessages(TransactionHeaderChanger):
    """The TransactionHeader of every message contains the transaction identifier of the first message."""

    def change_transaction_header(self, session: Session, header: TransactionHeader) -> TransactionHeader:
        first = self.__dict__.setdefault("first", header.ID)
        return replace(
            header, Flags=header.Flags & ~TransactionHeader.flags(ID=0xFFFFF) | TransactionHeader.flags(ID=first)
        )


@fault("sender-transaction-header-of-middle-message-marked-last", breaks="MQDMPR-3.1.7.1.32-D04", blind=True)
class SenderTransactionHeaderOfMiddleMessageMarkedLast(TransactionHeaderChanger):
    """The TransactionHeader of a message that is neither the first nor the last of its transaction has LM set."""

    def change_transaction_header(self, session: Session, header: TransactionHeader) -> TransactionHeader:
        return header if header.FM or header.LM else replace(header, Flags=header.Flags | TransactionHeader.flags(LM=1))


class ConstructedPacketFieldChanger(MessageSending):
    """A part of the queue manager that changes fields of some packets when it constructs them; a subclass selects
    which.
    """

    def choose_changed_packet_fields(self, packet: UserMessagePacket, position: MessagePosition) -> dict[str, Any]:
        raise NotImplementedError

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        return set_fields(packet, self.choose_changed_packet_fields(packet, position))


@fault("sender-omits-queues-after-third-in-multi-queue-format-header", breaks="MQDMPR-3.1.7.1.32-D06", blind=True)
class SenderOmitsQueuesAfterThirdInMultiQueueFormatHeader(ConstructedPacketFieldChanger):
    """The MultiQueueFormatHeader lists at most three queues."""

    def choose_changed_packet_fields(self, packet: UserMessagePacket, position: MessagePosition) -> dict[str, Any]:
        if packet.MultiQueueFormatHeader is None:
            return {}
        listed = packet.MultiQueueFormatHeader.Destination
        return {"MultiQueueFormatHeader.Destination": replace(listed, FormatNameList=listed.FormatNameList[:3])}


@fault("sender-omits-private-queues-in-multi-queue-format-header", breaks="MQDMPR-3.1.7.1.32-D06", blind=True)
class SenderOmitsPrivateQueuesInMultiQueueFormatHeader(ConstructedPacketFieldChanger):
    """The MultiQueueFormatHeader does not list the queues with private format names."""

    def choose_changed_packet_fields(self, packet: UserMessagePacket, position: MessagePosition) -> dict[str, Any]:
        if packet.MultiQueueFormatHeader is None:
            return {}
        listed = packet.MultiQueueFormatHeader.Destination
        names = tuple(one for one in listed.FormatNameList if type(one.FormatName).__name__ != "PrivateQueueFormatName")
        return {"MultiQueueFormatHeader.Destination": replace(listed, FormatNameList=names)}


@fault("sender-sets-dq-7-in-copies-for-several-queues", breaks="MQDMPR-3.1.7.1.32-D14", blind=True)
class SenderSetsDq7InCopiesForSeveralQueues(ConstructedPacketFieldChanger):
    """In the copies of a message to several queues, UserHeader.Flags.DQ is 7, and DestinationQueue is a direct name."""

    def choose_changed_packet_fields(self, packet: UserMessagePacket, position: MessagePosition) -> dict[str, Any]:
        several = "," in (position.MessageReference.DestinationMultiQueueFormatName or "")
        if not several or packet.UserHeader.DQ == DIRECT_FORMAT_NAME_TYPE:
            return {}
        flags = packet.UserHeader.Flags & ~UserHeader.flags(DQ=7) | UserHeader.flags(DQ=DIRECT_FORMAT_NAME_TYPE)
        return {
            "UserHeader.Flags": flags,
            "UserHeader.DestinationQueue": DirectQueueFormatName(DIRECT_FORMAT_NAME_OF_COPIES),
        }


class SenderTypeFlagChanger(ConstructedPacketFieldChanger):
    """A part of the queue manager that sets SecurityHeader.Flags.ST of some packets to a wrong value; a subclass
    selects which.
    """

    def choose_sender_type(self, packet: UserMessagePacket, header: SecurityHeader) -> int:
        raise NotImplementedError

    def choose_changed_packet_fields(self, packet: UserMessagePacket, position: MessagePosition) -> dict[str, Any]:
        header = packet.SecurityHeader
        if header is None:
            return {}
        flags = header.Flags & ~SecurityHeader.flags(ST=0xF)
        return {"SecurityHeader.Flags": flags | SecurityHeader.flags(ST=self.choose_sender_type(packet, header))}


@fault("sender-sets-st-1-in-encrypted-message-without-sender", breaks="MQDMPR-3.1.7.1.32-D17", blind=True)
class SenderSetsSt1InEncryptedMessageWithoutSender(SenderTypeFlagChanger):
    """SecurityHeader.Flags.ST is 1 in an encrypted message without a sender."""

    def choose_sender_type(self, packet: UserMessagePacket, header: SecurityHeader) -> int:
        encrypted = bool(packet.MessagePropertiesHeader.PrivacyLevel)
        return SENDER_SID_TYPE if encrypted and header.ST == SENDER_TYPE_OF_MESSAGE_WITHOUT_SENDER else header.ST


@fault("sender-sets-st-2-in-transactional-message-with-sid", breaks="MQDMPR-3.1.7.1.32-D17", blind=True)
class SenderSetsSt2InTransactionalMessageWithSid(SenderTypeFlagChanger):
    """SecurityHeader.Flags.ST is 2 in a transactional message with a SID."""

    def choose_sender_type(self, packet: UserMessagePacket, header: SecurityHeader) -> int:
        transactional = packet.TransactionHeader is not None
        return SENDER_QUEUE_MANAGER_TYPE if transactional and header.ST == SENDER_SID_TYPE else header.ST


@fault("sender-identifier-type-of-signed-message-without-sender-is-1", breaks="MQDMPR-3.1.7.1.32-D17")
class SenderIdentifierTypeOfSignedMessageWithoutSenderIs1(SenderTypeFlagChanger):
    """SecurityHeader.Flags.ST is 1 in a signed message without a sender and without encryption."""

    def choose_sender_type(self, packet: UserMessagePacket, header: SecurityHeader) -> int:
        encrypted = bool(packet.MessagePropertiesHeader.PrivacyLevel)
        return SENDER_SID_TYPE if not encrypted and header.ST == SENDER_TYPE_OF_MESSAGE_WITHOUT_SENDER else header.ST

"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message in the messages that a sender sends rarely."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric import rsa

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart, change_packets_of_kind, set_fields
from harness.faults.registry import add
from reference_qm.codec import (
    DirectQueueFormatName,
    MQFDirectQueueFormatName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    ProviderInfo,
    SecurityHeader,
    TransactionHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.security import SignatureType
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result

_UNKNOWN_AUTHENTICATION_LEVEL = 0x4


def _set_authentication_level(packet: UserMessagePacket) -> UserMessagePacket:
    security = packet.SecurityHeader
    assert security is not None
    flags = security.Flags | SecurityHeader.flags(AS=_UNKNOWN_AUTHENTICATION_LEVEL)
    return replace(packet, SecurityHeader=replace(security, Flags=flags))


@fault("sender-encrypted-message-authentication-level-unknown", breaks="MQDMPR-3.1.1.12-09", blind=True)
class SenderEncryptedMessageAuthenticationLevelUnknown(MessageSecuring):
    """The sender sends an encrypted message that is not signed with the AuthenticationLevel 4, which is undefined."""

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        secured = super().secure_user_message(session, message, packet, now)
        security = message.security
        if secured is None or security is None or security.AuthenticationLevel or not security.PrivacyLevel:
            return secured
        return _set_authentication_level(secured)


@fault("sender-signed-message-to-several-queues-authentication-level-unknown", breaks="MQDMPR-3.1.1.12-09", blind=True)
class SenderSignedMessageToSeveralQueuesAuthenticationLevelUnknown(MessageSecuring):
    """The sender sends a signed message to several queues with the AuthenticationLevel 4, which is undefined."""

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        secured = super().secure_user_message(session, message, packet, now)
        if secured is None or message.DestinationMultiQueueFormatName is None or secured.SecurityHeader is None:
            return secured
        return _set_authentication_level(secured)


def _write_remaining_list_into_destination_queue(packet: UserMessagePacket) -> bytes:
    assert packet.MultiQueueFormatHeader is not None
    elements = packet.MultiQueueFormatHeader.Destination.FormatNameList
    names = [str(getattr(one.FormatName, "DirectFormatName", "")) for one in elements]
    own = packet.UserHeader.DestinationQueue
    assert isinstance(own, DirectQueueFormatName)
    rest = names[names.index(own.DirectFormatName) :] if own.DirectFormatName in names else names
    return set_fields(
        packet,
        {"UserHeader.DestinationQueue": DirectQueueFormatName(",DIRECT=".join(rest)), "BaseHeader.PacketSize": 0},
    ).build()


def _is_copy_for_several_queues(packet: UserMessagePacket) -> bool:
    header = packet.MultiQueueFormatHeader
    several = header is not None and len(header.Destination.FormatNameList) > 1
    return several and isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)


add(
    "sender-copy-destination-queue-names-rest-of-list",
    "MQDMPR-3.1.1.12-27",
    "In DestinationQueue of a copy, the sender writes the name of the copy's own queue together with all later "
    "names of the list.",
    change_packets_of_kind(
        UserMessagePacket,
        _write_remaining_list_into_destination_queue,
        lambda packet: _is_copy_for_several_queues(packet) and packet.UserHeader.TH,
    ),
    blind=True,
)


@fault("sender-destination-queue-of-resent-copy-names-whole-list", breaks="MQDMPR-3.1.1.12-27", blind=True)
class SenderDestinationQueueOfResentCopyNamesWholeList(MessageSending):
    """When the sender repeats a copy of a message to several queues, DestinationQueue of the copy names the whole list
    of queues.
    """

    sent: frozenset[int] = frozenset()

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        again = position.UserMessage.UserHeader.MessageID in self.sent
        self.sent |= {position.UserMessage.UserHeader.MessageID}
        packet = super().update_user_message(session, position, now)
        several = position.MessagePosition.MessageReference.DestinationMultiQueueFormatName
        if not (again and several and isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)):
            return packet
        return set_fields(packet, {"UserHeader.DestinationQueue": DirectQueueFormatName(several[len("DIRECT=") :])})


def _join_last_format_names_of_list(packet: UserMessagePacket) -> bytes:
    assert packet.MultiQueueFormatHeader is not None
    *first, last_but_one, last = packet.MultiQueueFormatHeader.Destination.FormatNameList
    one, two = last_but_one.FormatName, last.FormatName
    if not (isinstance(one, MQFDirectQueueFormatName) and isinstance(two, MQFDirectQueueFormatName)):
        return packet.build()
    joined = MQFDirectQueueFormatName(f"{one.DirectFormatName},DIRECT={two.DirectFormatName}")
    elements = (*first, replace(last_but_one, FormatName=joined, Padding=None))
    path = "MultiQueueFormatHeader.Destination."
    return set_fields(
        packet,
        {
            f"{path}FormatNameList": elements,
            f"{path}HeaderSize": None,
            f"{path}Padding": None,
            "BaseHeader.PacketSize": 0,
        },
    ).build()


add(
    "sender-last-two-listed-queues-in-one-element",
    "MQDMPR-3.1.1.12-28",
    "The sender writes the last two queues of a list of three queues into one element of the MultiQueueFormatHeader.",
    change_packets_of_kind(
        UserMessagePacket,
        _join_last_format_names_of_list,
        lambda packet: (
            _is_copy_for_several_queues(packet) and len(packet.MultiQueueFormatHeader.Destination.FormatNameList) > 2
        ),
    ),
    blind=True,
)
add(
    "sender-transactional-message-listed-queues-in-one-element",
    "MQDMPR-3.1.1.12-28",
    "The sender writes two queues of a transactional message into one element of the MultiQueueFormatHeader.",
    change_packets_of_kind(
        UserMessagePacket,
        _join_last_format_names_of_list,
        lambda packet: _is_copy_for_several_queues(packet) and packet.UserHeader.TH,
    ),
    blind=True,
)


@fault(
    "sender-multiple-destination-signature-made-with-key-of-first-account",
    breaks=("MQDMPR-3.1.1.12-13", "MQDMPR-3.1.1.12-30"),
    blind=True,
)
class SenderMultipleDestinationSignatureMadeWithKeyOfFirstAccount(MessageSecuring):
    """The sender signs each message to several queues with the key of its first account."""

    is_for_several_queues = False

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        self.is_for_several_queues = packet.MultiQueueFormatHeader is not None
        return super().sign_packet(message, packet)

    def find_signing_key(self, certificate: bytes) -> rsa.RSAPrivateKey | None:
        keys = [one.key for one in self.qm.config.security.accounts if one.key is not None]
        return keys[0] if self.is_for_several_queues and keys else super().find_signing_key(certificate)


@fault("sender-multiple-destination-signature-without-extension", breaks="MQDMPR-3.1.1.12-30", blind=True)
class SenderMultipleDestinationSignatureWithoutExtension(SecurityOnReceipt):
    """The MultipleDestinationSignature of the sender does not cover the Extension of a message to several queues."""

    def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
        header = packet.MultiQueueFormatHeader
        if header is not None and len(header.Destination.FormatNameList) > 1:
            packet = set_fields(packet, {"MessagePropertiesHeader.ExtensionData": b""})
        return super().build_signed_properties(packet, kind)


_LONGEST_LABEL_LENGTH = 249


def _lengthen_label_by_one_character(packet: UserMessagePacket) -> bytes:
    return set_fields(
        packet, {"MessagePropertiesHeader.Label": lambda label: f"{label}.", "BaseHeader.PacketSize": 0}
    ).build()


def _has_longest_label(packet: UserMessagePacket) -> bool:
    return len(packet.MessagePropertiesHeader.Label or "") == _LONGEST_LABEL_LENGTH


add(
    "sender-message-to-several-queues-label-250-characters",
    "MQDMPR-3.1.1.12-45",
    "The sender lengthens a Label of 249 characters by one character in a message to several queues.",
    change_packets_of_kind(
        UserMessagePacket,
        _lengthen_label_by_one_character,
        lambda packet: _has_longest_label(packet) and packet.MultiQueueFormatHeader is not None,
    ),
    blind=True,
)


@fault("sender-label-over-249-characters-accepted-in-transaction", breaks="MQDMPR-3.1.1.12-45", blind=True)
class SenderLabelOver249CharactersAcceptedInTransaction(HigherLayerCommands):
    """The sender accepts a Label of more than 249 characters in a message that is sent in a transaction."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.transaction is None or len(request.label) <= _LONGEST_LABEL_LENGTH:
            return super().send_message(request, token, now)
        result = super().send_message(replace(request, label=request.label[:_LONGEST_LABEL_LENGTH]), token, now)
        transaction = self.qm.transaction_events.find_transaction(request.transaction)
        position = transaction.TransactionalOperationCollection[-1].MessagePositionReference
        position.MessageReference = replace(position.MessageReference, Label=request.label)
        return result


@fault(
    "sender-default-time-to-reach-queue-infinite-if-time-to-be-received-is-set", breaks="MQDMPR-3.1.1.12-47", blind=True
)
class SenderDefaultTimeToReachQueueInfiniteIfTimeToBeReceivedIsSet(HigherLayerCommands):
    """The default TimeToReachQueue of a message whose TimeToBeReceived is set is infinite."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.time_to_reach_queue_s is None and request.time_to_be_received_s is not None:
            request = replace(request, time_to_reach_queue_s=0xFFFFFFFF)
        return super().send_message(request, token, now)


def _double_default_time_to_reach_queue(qm: QueueManager) -> None:
    qm.config = replace(qm.config, long_live_time_s=2 * qm.config.long_live_time_s)


add(
    "sender-default-time-to-reach-queue-doubled-after-restart",
    "MQDMPR-3.1.1.12-47",
    "The default TimeToReachQueue of the sender's messages is twice as long after a restart.",
    change_core_at_restart(_double_default_time_to_reach_queue),
    blind=True,
)

_RC2_ALGORITHM = 0x00006602
add(
    "sender-signed-message-encryption-algorithm-rc2",
    "MQDMPR-3.1.1.12-49",
    "The sender sets EncryptionAlgorithm to RC2 in a signed message that is not encrypted.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: set_fields(packet, {"MessagePropertiesHeader.EncryptionAlgorithm": _RC2_ALGORITHM}).build(),
        lambda packet: packet.SecurityHeader is not None and not packet.SecurityHeader.EB,
    ),
    blind=True,
)
add(
    "sender-message-to-several-queues-encryption-algorithm-zero",
    ("MQDMPR-3.1.1.12-49", "MQMQ-2.2.19.3-24"),
    "The sender sets EncryptionAlgorithm to 0 in a message to several queues that is not encrypted.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: set_fields(packet, {"MessagePropertiesHeader.EncryptionAlgorithm": 0}).build(),
        lambda packet: (
            packet.MultiQueueFormatHeader is not None
            and (packet.SecurityHeader is None or not packet.SecurityHeader.EB)
        ),
    ),
    blind=True,
)

_ADMIN_QUEUE_TYPE_FLAGS = UserHeader.flags(AQ=7)


def _address_admin_queue_by_number_at_source(packet: UserMessagePacket) -> bytes:
    queue = packet.UserHeader.AdminQueue
    assert isinstance(queue, PrivateQueueFormatName)
    return set_fields(
        packet,
        {
            "UserHeader.Flags": packet.UserHeader.Flags & ~_ADMIN_QUEUE_TYPE_FLAGS | UserHeader.flags(AQ=2),
            "UserHeader.AdminQueue": PrivateQueueFormatNameId(queue.PrivateQueueIdentifier),
            "BaseHeader.PacketSize": 0,
        },
    ).build()


add(
    "sender-administration-queue-type-of-third-host-is-that-of-source",
    "MQDMPR-3.1.1.12-54",
    "The sender announces a private administration queue of a third queue manager as a queue of the source.",
    change_packets_of_kind(
        UserMessagePacket,
        _address_admin_queue_by_number_at_source,
        lambda packet: isinstance(packet.UserHeader.AdminQueue, PrivateQueueFormatName),
    ),
    blind=True,
)
add(
    "sender-message-to-several-queues-administration-queue-type-none",
    "MQDMPR-3.1.1.12-54",
    "The sender announces no administration queue in a message to several queues that has one.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: set_fields(
            packet,
            {
                "UserHeader.Flags": packet.UserHeader.Flags & ~_ADMIN_QUEUE_TYPE_FLAGS,
                "UserHeader.AdminQueue": None,
                "BaseHeader.PacketSize": 0,
            },
        ).build(),
        lambda packet: packet.MultiQueueFormatHeader is not None and packet.UserHeader.AQ,
    ),
    blind=True,
)


@fault("sender-later-message-has-tracing-queue-of-earlier-message", breaks="MQDMPR-3.1.1.12-D32", blind=True)
class SenderLaterMessageHasTracingQueueOfEarlierMessage(HigherLayerCommands):
    """The sender sends a message without a tracing queue with the TracingQueueIdentifier of an earlier message."""

    last: UUID | None = None

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if request.trace_queue is None and self.last is not None:
            request = replace(request, trace_queue=self.last)
        self.last = request.trace_queue
        return super().send_message(request, token, now)


@fault("sender-acknowledgments-have-tracing-queue-identifier", breaks="MQDMPR-3.1.1.12-D32", blind=True)
class SenderAcknowledgmentsHaveTracingQueueIdentifier(OwnMessageSending):
    """The sender's acknowledgments have the Identifier of the sender as TracingQueueIdentifier."""

    def send(self, message: Message, now: Now) -> None:
        super().send(replace(message, TracingQueueIdentifier=self.qm.adm.Identifier), now)


class _PreparedTransactionMessageChanger(TransactionEvents):
    """Change the messages that are sent in a transaction that a coordinator prepares."""

    def change_message(self, message: Message) -> Message:
        """Return the changed message that replaces a message of the transaction."""
        raise NotImplementedError

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        for operation in transaction.TransactionalOperationCollection if not transaction.SinglePhase else ():
            position = operation.MessagePositionReference
            if operation.OperationType is OperationType.ENQUEUE:
                position.MessageReference = self.change_message(position.MessageReference)


class _ResentMessageFlagsChanger(TransactionalSending):
    """Change TransactionHeader.Flags of the messages that the sender sends again."""

    sent: frozenset[int] = frozenset()

    def change_flags_of_resent_message(self, flags: int) -> int:
        """Return the flags of a message that is sent again."""
        raise NotImplementedError

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        again = position.UserMessage.UserHeader.MessageID in self.sent
        self.sent |= {position.UserMessage.UserHeader.MessageID}
        packet = super().update_transaction_header(session, position, now)
        if not again or packet.TransactionHeader is None:
            return packet
        return set_fields(packet, {"TransactionHeader.Flags": self.change_flags_of_resent_message})


@fault("sender-last-message-of-prepared-transaction-marked-first", breaks="MQDMPR-3.1.1.12-D58", blind=True)
class SenderLastMessageOfPreparedTransactionMarkedFirst(_PreparedTransactionMessageChanger):
    """The sender marks the last message of a transaction that a coordinator prepares as FirstInTransaction."""

    def change_message(self, message: Message) -> Message:
        return replace(message, FirstInTransaction=message.FirstInTransaction or message.LastInTransaction)


@fault("sender-resent-first-message-not-marked-first-in-transaction", breaks="MQDMPR-3.1.1.12-D58", blind=True)
class SenderResentFirstMessageNotMarkedFirstInTransaction(_ResentMessageFlagsChanger):
    """When the sender sends the first message of a transaction again, its FirstInTransaction is False."""

    def change_flags_of_resent_message(self, flags: int) -> int:
        return flags & ~TransactionHeader.flags(FM=1)


@fault("sender-first-message-of-prepared-transaction-marked-last", breaks="MQDMPR-3.1.1.12-D59", blind=True)
class SenderFirstMessageOfPreparedTransactionMarkedLast(_PreparedTransactionMessageChanger):
    """The sender marks the first message of a transaction that a coordinator prepares as LastInTransaction."""

    def change_message(self, message: Message) -> Message:
        return replace(message, LastInTransaction=message.LastInTransaction or message.FirstInTransaction)


@fault("sender-resent-message-marked-last-in-transaction", breaks="MQDMPR-3.1.1.12-D59", blind=True)
class SenderResentMessageMarkedLastInTransaction(_ResentMessageFlagsChanger):
    """When the sender sends a message of a transaction again, its LastInTransaction is True."""

    def change_flags_of_resent_message(self, flags: int) -> int:
        return flags | TransactionHeader.flags(LM=1)


def _change_provider_info(packet: UserMessagePacket, changes: dict[str, object]) -> UserMessagePacket:
    assert packet.SecurityHeader is not None
    info = packet.SecurityHeader.SecurityData.ProviderInfo
    if not info:
        return packet
    changed = set_fields(ProviderInfo.parse(info), changes).build()
    return set_fields(
        packet,
        {
            "SecurityHeader.SecurityData.ProviderInfo": changed,
            "SecurityHeader.SecurityData.Padding": None,
            "BaseHeader.PacketSize": 0,
        },
    )


class _TransactionalMessageProviderChanger(MessageSecuring):
    changed_provider_fields: ClassVar[dict[str, object]]

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        secured = super().secure_user_message(session, message, packet, now)
        if secured is None or secured.SecurityHeader is None or message.TransactionIdentifier is None:
            return secured
        return _change_provider_info(secured, self.changed_provider_fields)


class _LaterMessageProviderChanger(MessageSecuring):
    changed_provider_fields: ClassVar[dict[str, object]]
    messages = 0

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        secured = super().secure_user_message(session, message, packet, now)
        if secured is None or secured.SecurityHeader is None or not secured.SecurityHeader.SecurityData.ProviderInfo:
            return secured
        self.messages += 1
        return secured if self.messages == 1 else _change_provider_info(secured, self.changed_provider_fields)


@fault("sender-transactional-message-provider-type-wrong", breaks="MQDMPR-3.1.1.12-D65", blind=True)
class SenderTransactionalMessageProviderTypeWrong(_TransactionalMessageProviderChanger):
    """The sender sends a transactional encrypted message with the AuthenticationProviderType 12."""

    changed_provider_fields: ClassVar[dict[str, object]] = {"ProviderType": 12}


@fault("sender-later-message-provider-type-zero", breaks="MQDMPR-3.1.1.12-D65", blind=True)
class SenderLaterMessageProviderTypeZero(_LaterMessageProviderChanger):
    """The sender sends each encrypted message after the first with the AuthenticationProviderType 0."""

    changed_provider_fields: ClassVar[dict[str, object]] = {"ProviderType": 0}


@fault(
    "sender-transactional-message-provider-name-wrong",
    breaks=("MQDMPR-3.1.1.12-D66", "MQQB-3.1.7.1.5-41"),
    blind=True,
)
class SenderTransactionalMessageProviderNameWrong(_TransactionalMessageProviderChanger):
    """The sender names a provider for smart cards in a transactional encrypted message."""

    changed_provider_fields: ClassVar[dict[str, object]] = {"ProviderName": "Microsoft Base Smart Card Crypto Provider"}


@fault(
    "sender-later-message-provider-name-shortened",
    breaks=("MQDMPR-3.1.1.12-D66", "MQQB-3.1.7.1.5-41"),
    blind=True,
)
class SenderLaterMessageProviderNameShortened(_LaterMessageProviderChanger):
    """In each encrypted message after the first, AuthenticationProviderName does not contain the version of the
    provider.
    """

    changed_provider_fields: ClassVar[dict[str, object]] = {"ProviderName": lambda name: name.rpartition(" ")[0]}

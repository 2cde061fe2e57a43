"""Faults that break the rules MQDMPR-3.1.7.1.31-D03 to MQDMPR-3.1.7.1.31-D14 only under certain conditions: in messages
of one kind, with one value, or in the second message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, MessageClass
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.security import HashAlgorithm

MessageChange = Callable[[Message], Message]


def _change_stored_messages(change: MessageChange) -> Install:
    """Build a fault that changes messages of other queue managers when they are stored in their queue."""

    class StoredMessageChanger(MessagePositions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
            return super().insert_message(queue, message if own else change(message))

    return replace_part(StoredMessageChanger)


def _clear_certificate_of_transactional_message(message: Message) -> Message:
    if message.security is None or message.TransactionIdentifier is None:
        return message
    return replace(message, security=replace(message.security, SenderCertificate=b""))


def _clear_sender_of_encrypted_message(message: Message) -> Message:
    if message.security is None or not message.security.PrivacyLevel:
        return message
    return replace(message, security=replace(message.security, SenderIdentifierType=0, SenderIdentifier=b""))


def _make_hash_algorithm_changer(was: HashAlgorithm, wrong: HashAlgorithm) -> MessageChange:
    def change_hash_algorithm_of_message(message: Message) -> Message:
        if message.security is None or message.security.HashAlgorithm != was:
            return message
        return replace(message, security=replace(message.security, HashAlgorithm=wrong))

    return change_hash_algorithm_of_message


def _change_hash_algorithm_of_transactional_message(message: Message) -> Message:
    if message.security is None or message.TransactionIdentifier is None:
        return message
    return replace(message, security=replace(message.security, HashAlgorithm=HashAlgorithm.SHA512))


def _make_message_class_changer(was: MessageClass, wrong: MessageClass) -> MessageChange:
    return lambda message: replace(message, Class=wrong) if message.Class == was else message


def _copy_administration_list_to_response_list(message: Message) -> Message:
    return replace(message, ResponseMultiQueueFormatName=message.AdministrationMultiQueueFormatName)


def _cut_destination_list(message: Message) -> Message:
    listed = message.DestinationMultiQueueFormatName
    if listed is None or listed.count(",") < 2:
        return message
    return replace(message, DestinationMultiQueueFormatName=",".join(listed.split(",")[:2]))


def _clear_list_signature(message: Message) -> Message:
    return replace(message, MultipleDestinationSignature=b"")


for _name, _rule, _says, _change in (
    (
        "receiver-sender-certificate-of-transactional-message-dropped",
        "MQDMPR-3.1.7.1.31-D03",
        "The receiver sets no SenderCertificate in a transactional message.",
        _clear_certificate_of_transactional_message,
    ),
    (
        "receiver-sender-of-encrypted-message-dropped",
        "MQDMPR-3.1.7.1.31-D03",
        "The receiver sets neither SenderIdentifierType nor SenderIdentifier in an encrypted message.",
        _clear_sender_of_encrypted_message,
    ),
    (
        "receiver-last-in-transaction-of-single-message-cleared",
        "MQDMPR-3.1.7.1.31-D04",
        "The receiver clears LastInTransaction in a message that is the first of its transaction.",
        lambda message: replace(
            message, LastInTransaction=message.LastInTransaction and not message.FirstInTransaction
        ),
    ),
    (
        "receiver-final-ack-required-of-later-message-cleared",
        "MQDMPR-3.1.7.1.31-D04",
        "The receiver clears FinalAckRequired in each message that is not the first of its sequence.",
        lambda message: replace(
            message, FinalAckRequired=message.FinalAckRequired and message.TransactionPreviousSequenceNumber == 0
        ),
    ),
    (
        "receiver-connector-queue-manager-dropped",
        "MQDMPR-3.1.7.1.31-D04",
        "The receiver sets ConnectorQueueManagerIdentifier of each message to zero.",
        lambda message: replace(message, ConnectorQueueManagerIdentifier=NULL_GUID),
    ),
    (
        "receiver-response-list-from-administration-list",
        "MQDMPR-3.1.7.1.31-D06",
        "The receiver sets ResponseMultiQueueFormatName from the list of administration queues.",
        _copy_administration_list_to_response_list,
    ),
    (
        "receiver-destination-list-cut-after-second-name",
        "MQDMPR-3.1.7.1.31-D06",
        "The receiver sets only the first two names of a longer list of destinations.",
        _cut_destination_list,
    ),
    (
        "receiver-signature-of-lists-dropped",
        "MQDMPR-3.1.7.1.31-D06",
        "The receiver does not set MultipleDestinationSignature.",
        _clear_list_signature,
    ),
    (
        "receiver-class-unsupported-provider-read-as-bad-encryption",
        "MQDMPR-3.1.7.1.31-D09",
        "The receiver reads the class 0x800B as NackBadEncryption.",
        _make_message_class_changer(
            MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER, MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
        ),
    ),
    (
        "receiver-class-of-transactional-message-normal",
        "MQDMPR-3.1.7.1.31-D09",
        "The receiver reads the class of each transactional message as Normal.",
        lambda message: (
            message
            if message.TransactionIdentifier is None
            else replace(message, Class=MessageClass.MQMSG_CLASS_NORMAL)
        ),
    ),
    (
        "receiver-hash-md2-read-as-md4",
        "MQDMPR-3.1.7.1.31-D14",
        "The receiver reads the HashAlgorithm 0x8001 as MD4.",
        _make_hash_algorithm_changer(HashAlgorithm.MD2, HashAlgorithm.MD4),
    ),
    (
        "receiver-hash-sha-256-read-as-sha-1",
        "MQDMPR-3.1.7.1.31-D14",
        "The receiver reads the HashAlgorithm 0x800C as SHA1.",
        _make_hash_algorithm_changer(HashAlgorithm.SHA256, HashAlgorithm.SHA1),
    ),
    (
        "receiver-hash-of-transactional-message-sha-512",
        "MQDMPR-3.1.7.1.31-D14",
        "The receiver reads the HashAlgorithm of each transactional message as SHA_512.",
        _change_hash_algorithm_of_transactional_message,
    ),
):
    add(_name, _rule, _says, _change_stored_messages(_change), blind=True)


@fault("receiver-stores-first-sender-identifier-for-later-messages", breaks="MQDMPR-3.1.7.1.31-D03", blind=True)
class ReceiverStoresFirstSenderIdentifierForLaterMessages(MessagePositions):
    """The receiver sets SenderIdentifier of each message with a sender to the identifier of the first sender."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.senders: list[bytes] = []

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.security is not None and message.security.SenderIdentifier:
            self.senders.append(message.security.SenderIdentifier)
            message = replace(message, security=replace(message.security, SenderIdentifier=self.senders[0]))
        return super().insert_message(queue, message)

"""Faults that break rules of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.received_messages import change_received_message
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserHeader, UserMessagePacket
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.store.messages import PRIVATE_QUEUE_ON_ADMIN_QUEUE_HOST_TYPE, PRIVATE_QUEUE_ON_SOURCE_HOST_TYPE
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.message import INFINITE_TIMEOUT
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import MessageSecurity

AttributeChange = Callable[[Any], Any]


class ReceivedMessageChanger(MessagePositions):
    """Change attributes of the messages that other queue managers sent."""

    changes: ClassVar[Mapping[str, AttributeChange]] = MappingProxyType({})

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            changed = {name: change(getattr(message, name)) for name, change in self.changes.items()}
            message = self.change_message(queue, replace(message, **changed))
        return super().insert_message(queue, message)

    def change_message(self, queue: Queue, message: Message) -> Message:
        """Return the message that the queue manager inserts into the queue."""
        return message


@fault("receiver-label-of-earlier-message-kept", breaks="MQDMPR-3.1.7.1.31-03")
class ReceiverLabelOfEarlierMessageKept(ReceivedMessageChanger):
    """A message without a label gets the label of the preceding message in the queue."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        earlier = [one.MessageReference.Label for one in queue.MessagePositionList]
        return replace(message, Label=message.Label or (earlier[-1] if earlier else ""))


@fault("receiver-label-of-message-with-repeated-body-replaced", breaks="MQDMPR-3.1.7.1.31-03")
class ReceiverLabelOfMessageWithRepeatedBodyReplaced(MessagePositions):
    """If a message has the same body as the previous message, the receiver stores the message with the label of the
    previous message.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        last = getattr(self, "last", None)
        if last is not None and last.Body == message.Body and message.Body and last.Label:
            message = replace(message, Label=last.Label)
        self.last = message
        return super().insert_message(queue, message)


MD4_ALGORITHM = 32770


MD5_ALGORITHM = 32771


AES_128_ALGORITHM = 26126


AES_256_ALGORITHM = 26128


def _change_attributes_read_from_packets(change: Callable[[Message], Message]) -> Install:
    """Build a fault that changes the attributes that the receiver reads from packets."""

    class ReadAttributeChanger(MessagePositions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            return super().insert_message(queue, change(message))

    return replace_part(ReadAttributeChanger)


def _change_security_read_from_packets(change: Callable[[MessageSecurity], dict[str, Any]]) -> Install:
    """Build a fault that changes the security attributes that the receiver reads from packets."""

    def change_security_of_message(message: Message) -> Message:
        security = message.security
        return message if security is None else replace(message, security=replace(security, **change(security)))

    return _change_attributes_read_from_packets(change_security_of_message)


for _name, _rules, _says, _install in (
    (
        "receiver-priority-inverted",
        ("MQDMPR-3.1.7.1.31-D01", "MQDMPR-3.1.7.1.31-04"),
        "The receiver sets Priority to 7 minus the packet's priority.",
        _change_attributes_read_from_packets(lambda message: replace(message, Priority=7 - message.Priority)),
    ),
    (
        "receiver-time-to-reach-queue-dropped",
        "MQDMPR-3.1.7.1.31-D01",
        "The receiver drops the TimeToReachQueue of an arriving message.",
        _change_attributes_read_from_packets(lambda message: replace(message, TimeToReachQueue=INFINITE_TIMEOUT)),
    ),
    (
        "receiver-swaps-jp-and-jn-of-message",
        ("MQDMPR-3.1.7.1.31-D05", "MQDMPR-3.1.7.1.31-D11", "MQDMPR-3.1.7.1.31-D12"),
        "The receiver swaps JP and JN of an arriving message.",
        _change_attributes_read_from_packets(
            lambda message: replace(
                message,
                PositiveJournalingRequested=message.NegativeJournalingRequested,
                NegativeJournalingRequested=message.PositiveJournalingRequested,
            )
        ),
    ),
    (
        "receiver-delivery-always-recoverable",
        "MQDMPR-3.1.7.1.31-D05",
        "The receiver sets the delivery mode of each arriving message to recoverable.",
        _change_attributes_read_from_packets(
            lambda message: replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
        ),
    ),
    (
        "receiver-class-receive-rejected-as-timeout",
        "MQDMPR-3.1.7.1.31-D09",
        "The receiver reads the class NackReceiveRejected as NackReceiveTimeout.",
        _change_attributes_read_from_packets(
            lambda message: (
                replace(message, Class=MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT)
                if message.Class == MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED
                else message
            )
        ),
    ),
    (
        "receiver-treats-privacy-level-5-as-3",
        "MQDMPR-3.1.7.1.31-D10",
        "The receiver reads PrivacyLevel 5 as 3.",
        _change_security_read_from_packets(lambda security: {"PrivacyLevel": min(security.PrivacyLevel, 3)}),
    ),
    (
        "receiver-decrypts-aes-256-body-with-aes-128",
        "MQDMPR-3.1.7.1.31-D13",
        "The receiver reads the EncryptionAlgorithm AES-256 as AES-128.",
        _change_security_read_from_packets(
            lambda security: {
                "EncryptionAlgorithm": AES_128_ALGORITHM
                if security.EncryptionAlgorithm == AES_256_ALGORITHM
                else security.EncryptionAlgorithm
            }
        ),
    ),
    (
        "receiver-verifies-md5-signature-with-md4",
        "MQDMPR-3.1.7.1.31-D14",
        "The receiver reads HashAlgorithm 0x8003 as MD4, the name in the specification's table.",
        _change_security_read_from_packets(
            lambda security: {
                "HashAlgorithm": MD4_ALGORITHM if security.HashAlgorithm == MD5_ALGORITHM else security.HashAlgorithm
            }
        ),
    ),
    (
        "receiver-treats-sender-type-2-as-none",
        "MQDMPR-3.1.7.1.31-D18",
        "The receiver reads the sender type 2 as None.",
        _change_security_read_from_packets(
            lambda security: {"SenderIdentifierType": security.SenderIdentifierType % 2}
        ),
    ),
    (
        "receiver-sender-identifier-dropped",
        "MQDMPR-3.1.7.1.31-D03",
        "The receiver drops the SenderIdentifier of an arriving message.",
        _change_security_read_from_packets(lambda security: {"SenderIdentifier": b""}),
    ),
):
    add(_name, _rules, _says, _install)


@fault("receiver-clears-last-four-bytes-of-correlation-identifier", breaks="MQDMPR-3.1.7.1.31-04", blind=True)
class ReceiverClearsLastFourBytesOfCorrelationIdentifier(MessagePositions):
    """The receiver stores zeros as the last four bytes of the CorrelationIdentifier of a message."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            message = replace(message, CorrelationIdentifier=message.CorrelationIdentifier[:16] + bytes(4))
        return super().insert_message(queue, message)


@fault("receiver-message-gets-security-attributes-of-previous-message", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverMessageGetsSecurityAttributesOfPreviousMessage(MessagePositions):
    """A message without a SecurityHeader gets the security attributes of the previous message that had a
    SecurityHeader.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        before = [one.MessageReference.security for one in queue.MessagePositionList]
        known = [security for security in before if security is not None and security.needs_header]
        if known and (message.security is None or not message.security.needs_header):
            message = replace(message, security=known[-1])
        return super().insert_message(queue, message)


UNKNOWN_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f8")


@fault("receiver-message-gets-tracing-queue-of-previous-message", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverMessageGetsTracingQueueOfPreviousMessage(MessagePositions):
    """A message without a DebugHeader gets the TracingQueueIdentifier of the previous message with a DebugHeader."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if any(one.MessageReference.TracingRequested for one in queue.MessagePositionList):
            message = replace(message, TracingRequested=True, TracingQueueIdentifier=UNKNOWN_QUEUE_GUID)
        return super().insert_message(queue, message)


@fault("receiver-unsecured-message-has-security-of-previous-message", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverUnsecuredMessageHasSecurityOfPreviousMessage(MessagePositions):
    """A message without a SecurityHeader has the security attributes of an earlier message."""

    security_of_previous_message: MessageSecurity | None = None

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            if message.security is not None and message.security.needs_header:
                self.security_of_previous_message = message.security
            elif self.security_of_previous_message is not None:
                message = replace(message, security=self.security_of_previous_message)
        position: MessagePosition = super().insert_message(queue, message)
        return position


@fault("receiver-response-queue-of-earlier-message-kept", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverResponseQueueOfEarlierMessageKept(ReceivedMessageChanger):
    """A message without a response queue gets the response queue of the preceding message in the queue."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        earlier = [one.MessageReference.ResponseQueueFormatName for one in queue.MessagePositionList]
        return replace(
            message, ResponseQueueFormatName=message.ResponseQueueFormatName or (earlier[-1] if earlier else None)
        )


@fault("receiver-message-gets-response-queue-of-previous", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverMessageGetsResponseQueueOfPrevious(MessagePositions):
    """A received message without a response queue gets the response queue of the previous message of its queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        last = getattr(self, "last", {})
        if message.ResponseQueueFormatName is None:
            message = replace(message, ResponseQueueFormatName=last.get(queue.Pathname))
        self.last = last | {queue.Pathname: message.ResponseQueueFormatName}
        return super().insert_message(queue, message)


@fault("receiver-priority-above-5-stored-as-5", breaks="MQDMPR-3.1.7.1.31-D01")
class ReceiverPriorityAbove5StoredAs5(ReceivedMessageChanger):
    """The receiver stores the priorities 6 and 7 of a message as 5."""

    changes = MappingProxyType({"Priority": lambda old: min(old, 5)})


@fault("receiver-time-to-reach-queue-of-32-bits-stored-as-infinite", breaks="MQDMPR-3.1.7.1.31-D01", blind=True)
class ReceiverTimeToReachQueueOf32BitsStoredAsInfinite(ReceivedMessageChanger):
    """The receiver stores a TimeToReachQueue of more than 31 bits as infinite."""

    changes = MappingProxyType({"TimeToReachQueue": lambda old: INFINITE_TIMEOUT if old > 0x7FFFFFFF else old})


@fault("receiver-stores-only-low-byte-of-body-type", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverStoresOnlyLowByteOfBodyType(ReceivedMessageChanger):
    """The receiver stores only the low byte of BodyType."""

    changes = MappingProxyType({"BodyType": lambda old: old & 0xFF})


@fault("receiver-application-tag-without-highest-bit", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverApplicationTagWithoutHighestBit(ReceivedMessageChanger):
    """The receiver stores only the low 31 bits of ApplicationTag."""

    changes = MappingProxyType({"AppSpecific": lambda old: old & 0x7FFFFFFF})


@fault("receiver-label-cut-to-124-characters", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverLabelCutTo124Characters(ReceivedMessageChanger):
    """The receiver stores only the first 124 characters of a label."""

    changes = MappingProxyType({"Label": lambda old: old[:124]})


@fault("receiver-extension-ends-at-null-byte", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverExtensionEndsAtNullByte(ReceivedMessageChanger):
    """The receiver stores ExtensionData only up to the first null byte."""

    changes = MappingProxyType({"Extension": lambda old: old.partition(b"\0")[0]})


@fault("receiver-correlation-identifier-without-last-bytes", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverCorrelationIdentifierWithoutLastBytes(ReceivedMessageChanger):
    """The receiver stores only the first 16 bytes of CorrelationID, and zeros for the last four."""

    changes = MappingProxyType({"CorrelationIdentifier": lambda old: old[:16] + bytes(4)})


@fault("receiver-body-of-odd-length-padded", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverBodyOfOddLengthPadded(ReceivedMessageChanger):
    """If the length of a body is not a multiple of four, the receiver also stores the padding after the body as part of
    the body.
    """

    changes = MappingProxyType({"Body": lambda old: old + bytes(-len(old) % 4)})


@fault("receiver-application-tag-of-transactional-message-dropped", breaks="MQDMPR-3.1.7.1.31-D02", blind=True)
class ReceiverApplicationTagOfTransactionalMessageDropped(ReceivedMessageChanger):
    """The receiver stores no ApplicationTag and no ExtensionData for a transactional message."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        if message.TransactionIdentifier is None:
            return message
        return replace(message, AppSpecific=0, Extension=b"")


@fault("receiver-extension-above-one-kilobyte-cut", breaks="MQDMPR-3.1.7.1.31-D02", blind=True)
class ReceiverExtensionAboveOneKilobyteCut(ReceivedMessageChanger):
    """The receiver stores only the first 1,024 bytes of ExtensionData."""

    changes = MappingProxyType({"Extension": lambda old: old[:1024]})


@fault("receiver-clears-highest-bit-of-application-tag", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverClearsHighestBitOfApplicationTag(MessagePositions):
    """The receiver clears the highest bit of the ApplicationTag of a message."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF))


@fault("router-forwards-transactional-message-in-new-sequence", breaks="MQDMPR-3.1.7.1.31-D04")
class RouterForwardsTransactionalMessageInNewSequence(MessageRouting):
    """When the router forwards a transactional message, it assigns the message to a new sequence."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        if counted is None or counted.TransactionHeader is None:
            return counted
        renumbered: UserMessagePacket = set_fields(
            counted, {"TransactionHeader.TxSequenceNumber": 1, "TransactionHeader.PreviousTxSequenceNumber": 0}
        )
        return renumbered


@fault("receiver-sent-time-cut-to-31-bits", breaks="MQDMPR-3.1.7.1.31-D05")
class ReceiverSentTimeCutTo31Bits(ReceivedMessageChanger):
    """The receiver stores only the low 31 bits of SentTime."""

    changes = MappingProxyType({"SentTime": lambda old: old & 0x7FFFFFFF})


@fault("receiver-time-to-be-received-of-32-bits-stored-as-infinite", breaks="MQDMPR-3.1.7.1.31-D05", blind=True)
class ReceiverTimeToBeReceivedOf32BitsStoredAsInfinite(ReceivedMessageChanger):
    """The receiver stores a TimeToBeReceived of more than 31 bits as infinite."""

    changes = MappingProxyType({"TimeToBeReceived": lambda old: INFINITE_TIMEOUT if old > 0x7FFFFFFF else old})


@fault("receiver-stores-time-to-be-received-with-high-bit-as-infinite", breaks="MQDMPR-3.1.7.1.31-D05")
class ReceiverStoresTimeToBeReceivedWithHighBitAsInfinite(MessagePositions):
    """The receiver stores a TimeToBeReceived whose highest bit is set as infinite."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.TimeToBeReceived & 0x80000000:
            message = replace(message, TimeToBeReceived=0xFFFFFFFF)
        return super().insert_message(queue, message)


@fault("receiver-tracing-queue-of-untraced-message-dropped", breaks="MQDMPR-3.1.7.1.31-D07")
class ReceiverTracingQueueOfUntracedMessageDropped(ReceivedMessageChanger):
    """The receiver stores the TracingQueueIdentifier only for nontransactional messages."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        if message.TransactionIdentifier is None:
            return message
        return replace(message, TracingRequested=False)


@fault("receiver-class-of-express-message-stored-as-normal", breaks="MQDMPR-3.1.7.1.31-D09", blind=True)
class ReceiverClassOfExpressMessageStoredAsNormal(ReceivedMessageChanger):
    """The receiver stores the class Normal for every express message."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        return message if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE else replace(message, Class=0)


@fault("receiver-journaling-of-express-message-not-stored", breaks=("MQDMPR-3.1.7.1.31-D11", "MQDMPR-3.1.7.1.31-D12"))
class ReceiverJournalingOfExpressMessageNotStored(ReceivedMessageChanger):
    """The receiver stores JP and JN only for recoverable messages."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            return message
        return replace(message, PositiveJournalingRequested=False, NegativeJournalingRequested=False)


@fault(
    "receiver-journaling-of-transactional-message-dropped",
    breaks=("MQDMPR-3.1.7.1.31-D11", "MQDMPR-3.1.7.1.31-D12"),
    blind=True,
)
class ReceiverJournalingOfTransactionalMessageDropped(ReceivedMessageChanger):
    """The receiver stores neither JP nor JN for a transactional message."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        if message.TransactionIdentifier is None:
            return message
        return replace(message, PositiveJournalingRequested=False, NegativeJournalingRequested=False)


@fault("receiver-sender-identifier-type-of-unsigned-message-stored-as-none", breaks="MQDMPR-3.1.7.1.31-D18")
class ReceiverSenderIdentifierTypeOfUnsignedMessageStoredAsNone(ReceivedMessageChanger):
    """The receiver stores the SenderIdentifierType None for a message without a signature."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        security = message.security
        if (
            security is not None
            and not security.AuthenticationLevel
            and message.Identifier.QueueManagerGuid != self.qm.adm.Identifier
        ):
            message = replace(message, security=replace(security, SenderIdentifierType=0))
        return super().insert_message(queue, message)


@fault("receiver-third-response-queue-lost", breaks="MQDMPR-3.1.7.1.31-D06", blind=True)
class ReceiverThirdResponseQueueLost(MessagePositions):
    """The receiver stores only the first two response queues of a MultiQueueFormatHeader."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        names = message.ResponseMultiQueueFormatName
        if names is not None:
            message = replace(message, ResponseMultiQueueFormatName=",".join(names.split(",")[:2]))
        return super().insert_message(queue, message)


_RESPONSE_QUEUE_TYPE_MASK = UserHeader.flags(RQ=7)


add(
    "receiver-response-queue-on-admin-host-read-as-on-source",
    "MQDMPR-3.1.7.1.31-D17",
    "The receiver reads RQ 0x4 (PrivateQueueOnAdmin) as a private queue of the source queue manager.",
    change_received_message(
        {
            "UserHeader.Flags": lambda flags: (
                flags & ~_RESPONSE_QUEUE_TYPE_MASK | UserHeader.flags(RQ=PRIVATE_QUEUE_ON_SOURCE_HOST_TYPE)
            )
        },
        lambda packet: packet.UserHeader.RQ == PRIVATE_QUEUE_ON_ADMIN_QUEUE_HOST_TYPE,
    ),
    blind=True,
)

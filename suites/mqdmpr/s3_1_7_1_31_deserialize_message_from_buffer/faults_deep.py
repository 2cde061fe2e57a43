"""Faults of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer that only special cases reveal: limits of values, and
values of an earlier packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.message import INFINITE, Message
from reference_qm.model.states import DeliveryGuarantee

Change = Callable[[Any], Any]


class ReceivedMessageChanged(Positions):
    """Change attributes of the messages that other queue managers sent."""

    changes: ClassVar[Mapping[str, Change]] = MappingProxyType({})

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            changed = {name: change(getattr(message, name)) for name, change in self.changes.items()}
            message = self.change_message(queue, replace(message, **changed))
        return super().insert_message(queue, message)

    def change_message(self, queue: Queue, message: Message) -> Message:
        """Return the message to insert."""
        return message


@fault("receiver-priority-above-5-stored-as-5", breaks="MQDMPR-3.1.7.1.31-D01")
class ReceiverPriorityAbove5StoredAs5(ReceivedMessageChanged):
    """The receiver stores the priorities 6 and 7 of a message as 5."""

    changes = MappingProxyType({"Priority": lambda old: min(old, 5)})


@fault("receiver-body-type-low-byte-only", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverBodyTypeLowByteOnly(ReceivedMessageChanged):
    """The receiver stores only the low byte of BodyType."""

    changes = MappingProxyType({"BodyType": lambda old: old & 0xFF})


@fault("receiver-application-tag-without-highest-bit", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverApplicationTagWithoutHighestBit(ReceivedMessageChanged):
    """The receiver stores only the low 31 bits of ApplicationTag."""

    changes = MappingProxyType({"AppSpecific": lambda old: old & 0x7FFFFFFF})


@fault("receiver-label-of-124-characters", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverLabelOf124Characters(ReceivedMessageChanged):
    """The receiver stores only the first 124 characters of a label."""

    changes = MappingProxyType({"Label": lambda old: old[:124]})


@fault("receiver-extension-ends-at-null-byte", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverExtensionEndsAtNullByte(ReceivedMessageChanged):
    """The receiver stores ExtensionData only up to the first null byte."""

    changes = MappingProxyType({"Extension": lambda old: old.partition(b"\0")[0]})


@fault("receiver-correlation-identifier-without-last-bytes", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverCorrelationIdentifierWithoutLastBytes(ReceivedMessageChanged):
    """The receiver stores only the first 16 bytes of CorrelationID, and zeros for the last four."""

    changes = MappingProxyType({"CorrelationIdentifier": lambda old: old[:16] + bytes(4)})


@fault("receiver-body-of-odd-length-padded", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverBodyOfOddLengthPadded(ReceivedMessageChanged):
    """If the length of a body is not a multiple of four, the receiver also stores the padding after the body as part of
    the body.
    """

    changes = MappingProxyType({"Body": lambda old: old + bytes(-len(old) % 4)})


@fault("receiver-sent-time-of-31-bits", breaks="MQDMPR-3.1.7.1.31-D05")
class ReceiverSentTimeOf31Bits(ReceivedMessageChanged):
    """The receiver stores only the low 31 bits of SentTime."""

    changes = MappingProxyType({"SentTime": lambda old: old & 0x7FFFFFFF})


@fault("receiver-journaling-of-express-message-not-stored", breaks=("MQDMPR-3.1.7.1.31-D11", "MQDMPR-3.1.7.1.31-D12"))
class ReceiverJournalingOfExpressMessageNotStored(ReceivedMessageChanged):
    """The receiver stores JP and JN only for recoverable messages."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            return message
        return replace(message, PositiveJournalingRequested=False, NegativeJournalingRequested=False)


@fault("receiver-label-of-earlier-message-kept", breaks="MQDMPR-3.1.7.1.31-03")
class ReceiverLabelOfEarlierMessageKept(ReceivedMessageChanged):
    """A message without a label gets the label of the preceding message in the queue."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        earlier = [one.MessageReference.Label for one in queue.MessagePositionList]
        return replace(message, Label=message.Label or (earlier[-1] if earlier else ""))


@fault("receiver-response-queue-of-earlier-message-kept", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverResponseQueueOfEarlierMessageKept(ReceivedMessageChanged):
    """A message without a response queue gets the response queue of the preceding message in the queue."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        earlier = [one.MessageReference.ResponseQueueFormatName for one in queue.MessagePositionList]
        return replace(
            message, ResponseQueueFormatName=message.ResponseQueueFormatName or (earlier[-1] if earlier else None)
        )


@fault("receiver-tracing-queue-of-untraced-message-dropped", breaks="MQDMPR-3.1.7.1.31-D07")
class ReceiverTracingQueueOfUntracedMessageDropped(ReceivedMessageChanged):
    """The receiver stores the TracingQueueIdentifier only for nontransactional messages."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        if message.TransactionIdentifier is None:
            return message
        return replace(message, TracingRequested=False)


@fault("receiver-sender-identifier-type-of-unsigned-message-none", breaks="MQDMPR-3.1.7.1.31-D18")
class ReceiverSenderIdentifierTypeOfUnsignedMessageNone(ReceivedMessageChanged):
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


@fault("receiver-time-to-reach-queue-of-32-bits-infinite", breaks="MQDMPR-3.1.7.1.31-D01", blind=True)
class ReceiverTimeToReachQueueOf32BitsInfinite(ReceivedMessageChanged):
    """The receiver stores a TimeToReachQueue of more than 31 bits as infinite."""

    changes = MappingProxyType({"TimeToReachQueue": lambda old: INFINITE if old > 0x7FFFFFFF else old})


@fault("receiver-time-to-be-received-of-32-bits-infinite", breaks="MQDMPR-3.1.7.1.31-D05", blind=True)
class ReceiverTimeToBeReceivedOf32BitsInfinite(ReceivedMessageChanged):
    """The receiver stores a TimeToBeReceived of more than 31 bits as infinite."""

    changes = MappingProxyType({"TimeToBeReceived": lambda old: INFINITE if old > 0x7FFFFFFF else old})


@fault("receiver-application-tag-of-transactional-message-dropped", breaks="MQDMPR-3.1.7.1.31-D02", blind=True)
class ReceiverApplicationTagOfTransactionalMessageDropped(ReceivedMessageChanged):
    """The receiver stores no ApplicationTag and no ExtensionData for a transactional message."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        if message.TransactionIdentifier is None:
            return message
        return replace(message, AppSpecific=0, Extension=b"")


@fault(
    "receiver-journaling-of-transactional-message-dropped",
    breaks=("MQDMPR-3.1.7.1.31-D11", "MQDMPR-3.1.7.1.31-D12"),
    blind=True,
)
class ReceiverJournalingOfTransactionalMessageDropped(ReceivedMessageChanged):
    """The receiver stores neither JP nor JN for a transactional message."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        if message.TransactionIdentifier is None:
            return message
        return replace(message, PositiveJournalingRequested=False, NegativeJournalingRequested=False)


@fault("receiver-class-of-express-message-normal", breaks="MQDMPR-3.1.7.1.31-D09", blind=True)
class ReceiverClassOfExpressMessageNormal(ReceivedMessageChanged):
    """The receiver stores the class Normal for every express message."""

    def change_message(self, queue: Queue, message: Message) -> Message:
        return message if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE else replace(message, Class=0)


@fault("receiver-extension-above-one-kilobyte-cut", breaks="MQDMPR-3.1.7.1.31-D02", blind=True)
class ReceiverExtensionAboveOneKilobyteCut(ReceivedMessageChanged):
    """The receiver stores only the first 1,024 bytes of ExtensionData."""

    changes = MappingProxyType({"Extension": lambda old: old[:1024]})


@fault("receiver-message-gets-response-queue-of-previous", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverMessageGetsResponseQueueOfPrevious(Positions):
    """A received message without a response queue gets the response queue of the previous message of its queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        last = getattr(self, "last", {})
        if message.ResponseQueueFormatName is None:
            message = replace(message, ResponseQueueFormatName=last.get(queue.Pathname))
        self.last = last | {queue.Pathname: message.ResponseQueueFormatName}
        return super().insert_message(queue, message)


@fault("receiver-application-tag-of-high-bit-cut", breaks="MQDMPR-3.1.7.1.31-D02")
class ReceiverApplicationTagOfHighBitCut(Positions):
    """The receiver clears the highest bit of the ApplicationTag of a message."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF))


@fault("receiver-time-to-be-received-of-high-bit-unlimited", breaks="MQDMPR-3.1.7.1.31-D05")
class ReceiverTimeToBeReceivedOfHighBitUnlimited(Positions):
    """The receiver stores a TimeToBeReceived whose highest bit is set as infinite."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.TimeToBeReceived & 0x80000000:
            message = replace(message, TimeToBeReceived=0xFFFFFFFF)
        return super().insert_message(queue, message)


@fault("receiver-second-identical-message-of-other-session-shared", breaks="MQDMPR-3.1.7.1.31-03")
class ReceiverSecondIdenticalMessageOfOtherSessionShared(Positions):
    """If a message has the same body as the previous message, the receiver stores the message with the label of the
    previous message.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        last = getattr(self, "last", None)
        if last is not None and last.Body == message.Body and message.Body and last.Label:
            message = replace(message, Label=last.Label)
        self.last = message
        return super().insert_message(queue, message)

"""Faults that break rules of MS-MQQB 3.1.7.10 Get Message Data Element From Buffer."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_inserted_message
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import Message, MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


def _replace_received_field(field: str, value: object) -> Install:
    """Make the receiver replace a field of each received message packet."""

    class FieldReplaced(MessageReceiving):
        def put_received_message_into_queue(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            other = set_fields(packet, {"BaseHeader.PacketSize": 0, field: value})
            super().put_received_message_into_queue(session, other, receipt, now)

    return replace_part(FieldReplaced)


add(
    "receiver-message-label-empty",
    (
        "MQQB-3.1.7.10-02",
        "MQDMPR-3.1.7.1.31-03",
        "MQQB-3.1.7.10-03",
        "MQDMPR-3.1.7.1.31-D01",
        "MQDMPR-3.1.7.1.31-04",
        "MQDMPR-3.1.7.1.31-D05",
    ),
    "The receiver stores every message with an empty label.",
    _replace_received_field("MessagePropertiesHeader.Label", ""),
)


@fault("receiver-second-equal-message-discarded", breaks="MQQB-3.1.7.10-02", blind=True)
class ReceiverSecondEqualMessageDiscarded(MessagePositions):
    """The receiver drops a message whose label and body equal those of the preceding message in the queue."""

    def on_message_available(self, position: MessagePosition) -> None:
        super().on_message_available(position)
        message, queue = position.MessageReference, position.QueueReference
        for other in list(queue.MessagePositionList):
            same = (other.MessageReference.Label, other.MessageReference.Body) == (message.Label, message.Body)
            if other is not position and same:
                queue.MessagePositionList.remove(position)
                return


add(
    "receiver-message-application-tag-0",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D02"),
    "The receiver stores every message with the ApplicationTag 0.",
    _replace_received_field("MessagePropertiesHeader.ApplicationTag", 0),
)


add(
    "receiver-message-correlation-id-empty",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D02"),
    "The receiver stores every message with an empty CorrelationID.",
    _replace_received_field("MessagePropertiesHeader.CorrelationID", bytes(20)),
)


add(
    "receiver-message-body-type-in-8-bits",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.1.12-33", "MQDMPR-3.1.7.1.31-D02"),
    "The receiver keeps only one byte of BodyType, so VT_VECTOR is lost.",
    change_inserted_message(lambda message: replace(message, BodyType=message.BodyType & 0xFF)),
    blind=True,
)


add(
    "receiver-transactional-message-extension-lost",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D02"),
    "The receiver drops the extension of a transactional message.",
    change_inserted_message(
        lambda message: replace(message, Extension=b"") if message.TransactionIdentifier is not None else message
    ),
    blind=True,
)


add(
    "receiver-message-sent-time-is-arrival-time",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D05"),
    "The receiver replaces SentTime of a message by its arrival time.",
    change_inserted_message(lambda message: replace(message, SentTime=message.ArrivalTime or message.SentTime)),
    blind=True,
)


def _remove_extension_without_body(message: Message) -> Message:
    return message if message.Body else replace(message, Extension=b"")


add(
    "receiver-extension-of-empty-body-lost",
    "MQQB-3.1.7.10-03",
    "The receiver loses the extension of a message without a body.",
    change_inserted_message(_remove_extension_without_body),
    blind=True,
)


add(
    "receiver-application-tag-of-31-bits",
    "MQQB-3.1.7.10-03",
    "The receiver clears the highest bit of ApplicationTag.",
    change_inserted_message(lambda message: replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF)),
    blind=True,
)


add(
    "receiver-label-of-longest-length-cut",
    "MQQB-3.1.7.10-03",
    "The receiver keeps at most 248 characters of a label.",
    change_inserted_message(lambda message: replace(message, Label=message.Label[:248])),
    blind=True,
)


add(
    "receiver-correlation-id-cut-at-zero",
    "MQQB-3.1.7.10-03",
    "The receiver sets all bytes of CorrelationID after the first zero byte to zero.",
    change_inserted_message(
        lambda message: replace(
            message, CorrelationIdentifier=message.CorrelationIdentifier.partition(b"\0")[0].ljust(20, b"\0")
        )
    ),
    blind=True,
)


add(
    "receiver-body-cut-at-1-mb",
    "MQQB-3.1.7.10-03",
    "The receiver keeps at most 1 MB of a body.",
    change_inserted_message(lambda message: replace(message, Body=message.Body[: 1 << 20])),
    blind=True,
)


@fault("receiver-extension-above-255-bytes-cut", breaks="MQQB-3.1.7.10-03", blind=True)
class ReceiverExtensionAbove255BytesCut(MessagePositions):
    """The receiver cuts an extension that is longer than 255 bytes."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Extension=message.Extension[:255]))


@fault("receiver-body-above-64-kilobytes-cut", breaks="MQQB-3.1.7.10-03", blind=True)
class ReceiverBodyAbove64KilobytesCut(MessagePositions):
    """The receiver cuts a body that is longer than 65,535 bytes."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Body=message.Body[:0xFFFF]))


@fault("receiver-label-of-preceding-message-for-message-without-label", breaks="MQQB-3.1.7.10-03", blind=True)
class ReceiverLabelOfPrecedingMessageForMessageWithoutLabel(MessagePositions):
    """The receiver gives a message without a label the label of the preceding message in its queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if not message.Label:
            for last in list(queue.MessagePositionList)[-1:]:
                message = replace(message, Label=last.MessageReference.Label)
        return super().insert_message(queue, message)


@fault("receiver-correlation-identifier-lost-from-message-of-priority-7", breaks="MQQB-3.1.7.10-03", blind=True)
class ReceiverCorrelationIdentifierLostFromMessageOfPriority7(MessagePositions):
    """The receiver gives a message with priority 7 to an application without the CorrelationIdentifier
    of the message.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Priority == 7:
            message = replace(message, CorrelationIdentifier=bytes(20))
        return super().insert_message(queue, message)

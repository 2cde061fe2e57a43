"""Faults of the rules MQDMPR-3.1.1.12-20 to MQDMPR-3.1.1.12-67 in which only some messages lose a value."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import change_core_at_restart, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.transfer.message_arrival import MessageArrival, UnsavedArrival
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_1_12_message.fault_steps import ArrivedMessageChanger, MovedMessageChanger

MessageChange = Callable[[Message], Message]


def _change_journal_copies(change: MessageChange) -> Install:
    """Build a fault that changes the copies in the journal of a queue."""

    class MessageValueChanger(MessagePositions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            in_journal = queue.QueueType is QueueType.SYSTEM and queue.parent is not None
            return super().insert_message(queue, change(message) if in_journal else message)

    return replace_part(MessageValueChanger)


def _change_dead_letter_messages(change: MessageChange) -> Install:
    """Build a fault that changes the messages that are moved into a dead-letter queue."""

    class MessageValueChanger(MovedMessageChanger):
        def change_message(self, message: Message, queue: Queue) -> Message:
            dead = queue in (self.qm.adm.SystemDeadletterQueue, self.qm.adm.SystemTransactionalDeadletterQueue)
            return change(message) if dead else message

    return replace_part(MessageValueChanger)


def _change_messages_in_system_journal(change: MessageChange) -> Install:
    """Build a fault that changes the messages that are moved into the system journal."""

    class MessageValueChanger(MovedMessageChanger):
        def change_message(self, message: Message, queue: Queue) -> Message:
            return change(message) if queue is self.qm.adm.SystemJournalQueue else message

    return replace_part(MessageValueChanger)


def _change_arrived_messages(change: MessageChange) -> Install:
    """Build a fault that changes the messages of other queue managers when they enter a queue."""

    class MessageValueChanger(ArrivedMessageChanger):
        def change_message(self, message: Message) -> Message:
            return change(message)

    return replace_part(MessageValueChanger)


def _change_arrived_messages_after_first(change: Callable[[Message, Message], Message]) -> Install:
    """Build a fault that changes each arrived message after the first, using values of the previous message."""

    class MessageValueChanger(ArrivedMessageChanger):
        def __init__(self, qm: QM) -> None:
            super().__init__(qm)
            self.before: Message | None = None

        def change_message(self, message: Message) -> Message:
            before, self.before = self.before, message
            return message if before is None else change(message, before)

    return replace_part(MessageValueChanger)


def _change_sent_messages(change: MessageChange) -> Install:
    """Build a fault that changes the messages of applications when they are sent to other queue managers."""

    def change_packet_of_message(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        changed = change(message)
        if changed is message or message.Class:
            return packet
        fields: dict[str, Any] = {
            "BaseHeader.PacketSize": 0,
            "MessagePropertiesHeader.ApplicationTag": changed.AppSpecific,
            "MessagePropertiesHeader.BodyType": changed.BodyType,
            "MessagePropertiesHeader.CorrelationID": changed.CorrelationIdentifier,
            "MessagePropertiesHeader.Label": changed.Label or None,
            "MessagePropertiesHeader.ExtensionData": changed.Extension,
            "MessagePropertiesHeader.MessageBody": changed.Body,
            "MessagePropertiesHeader.Padding": None,
        }
        return set_fields(packet, fields)

    return change_constructed_packet(change_packet_of_message)


def _change_fields_of_forwarded_messages(changes: dict[str, Any]) -> Install:
    """Build a fault that changes fields of the messages that are forwarded to other queue managers."""

    class MessageValueChanger(MessageRouting):
        def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
            super().forward_message(position, set_fields(packet, {"BaseHeader.PacketSize": 0, **changes}), now)

    return replace_part(MessageValueChanger)


def _make_message_attribute_setter(**values: Any) -> MessageChange:
    return lambda message: replace(message, **values)


_LONG_LABEL_LENGTH = 200
_LARGE_BODY_BYTES = 100_000

for _name, _rule, _says, _install in (
    # ApplicationTag
    (
        "journal-copy-with-application-tag-0",
        "MQDMPR-3.1.1.12-31",
        "The copy of a received message in the journal of its queue has ApplicationTag 0.",
        _change_journal_copies(_make_message_attribute_setter(AppSpecific=0)),
    ),
    (
        "system-journal-copy-with-application-tag-0",
        "MQDMPR-3.1.1.12-31",
        "The copy of a delivered message in the system journal has ApplicationTag 0.",
        _change_messages_in_system_journal(_make_message_attribute_setter(AppSpecific=0)),
    ),
    (
        "receiver-application-tag-of-second-message-is-that-of-first",
        "MQDMPR-3.1.1.12-31",
        "The receiver stores each message with the ApplicationTag of the message before it, unless the tag is 0.",
        _change_arrived_messages_after_first(
            lambda message, before: replace(message, AppSpecific=before.AppSpecific) if message.AppSpecific else message
        ),
    ),
    (
        "forwarder-application-tag-0",
        "MQDMPR-3.1.1.12-31",
        "The queue manager forwards a message with ApplicationTag 0.",
        _change_fields_of_forwarded_messages({"MessagePropertiesHeader.ApplicationTag": 0}),
    ),
    # Body
    (
        "receiver-text-body-without-final-null",
        "MQDMPR-3.1.1.12-32",
        "The receiver removes the two final zero bytes of a body whose BodyType is VT_LPWSTR.",
        _change_arrived_messages(
            lambda message: (
                replace(message, Body=message.Body.removesuffix(b"\0\0")) if message.BodyType == 31 else message
            )
        ),
    ),
    (
        "dead-letter-body-cut-to-1000-bytes",
        "MQDMPR-3.1.1.12-32",
        "The sender cuts the body of a dead letter to 1,000 bytes.",
        _change_dead_letter_messages(lambda message: replace(message, Body=message.Body[:1000])),
    ),
    (
        "journal-copy-body-cut-to-64-kilobytes",
        "MQDMPR-3.1.1.12-32",
        "The copy of a received message in the journal of its queue has at most 65,536 bytes of the body.",
        _change_journal_copies(lambda message: replace(message, Body=message.Body[:65_536])),
    ),
    (
        "sender-body-of-odd-size-padded",
        "MQDMPR-3.1.1.12-32",
        "The sender adds a zero byte to a body with an odd number of bytes.",
        _change_sent_messages(
            lambda message: replace(message, Body=message.Body + b"\0") if len(message.Body) % 2 else message
        ),
    ),
    (
        "forwarder-body-cut-to-4096-bytes",
        "MQDMPR-3.1.1.12-32",
        "The queue manager forwards at most 4,096 bytes of a body.",
        _change_fields_of_forwarded_messages(
            {"MessagePropertiesHeader.MessageBody": lambda body: body[:4096], "MessagePropertiesHeader.Padding": None}
        ),
    ),
    # BodyType
    (
        "receiver-body-type-of-empty-body-0",
        "MQDMPR-3.1.1.12-33",
        "The receiver sets BodyType to 0 in a message with an empty body.",
        _change_arrived_messages(lambda message: message if message.Body else replace(message, BodyType=0)),
    ),
    (
        "sender-body-type-highest-bit-cleared",
        "MQDMPR-3.1.1.12-33",
        "The sender clears the highest bit of BodyType.",
        _change_sent_messages(lambda message: replace(message, BodyType=message.BodyType & 0x7FFFFFFF)),
    ),
    (
        "dead-letter-with-body-type-0",
        "MQDMPR-3.1.1.12-33",
        "The sender sets BodyType to 0 in a dead letter.",
        _change_dead_letter_messages(_make_message_attribute_setter(BodyType=0)),
    ),
    (
        "forwarder-body-type-0",
        "MQDMPR-3.1.1.12-33",
        "The queue manager forwards a message with BodyType 0.",
        _change_fields_of_forwarded_messages({"MessagePropertiesHeader.BodyType": 0}),
    ),
    # CorrelationIdentifier
    (
        "receiver-correlation-without-lineage-zero",
        "MQDMPR-3.1.1.12-34",
        "The receiver sets a CorrelationIdentifier whose Lineage is GUID_NULL to all zeros.",
        _change_arrived_messages(
            lambda message: (
                message
                if any(message.CorrelationIdentifier[:16])
                else replace(message, CorrelationIdentifier=bytes(20))
            )
        ),
    ),
    (
        "journal-copy-without-correlation",
        "MQDMPR-3.1.1.12-34",
        "The copy of a received message in the journal of its queue has a CorrelationIdentifier of zeros.",
        _change_journal_copies(_make_message_attribute_setter(CorrelationIdentifier=bytes(20))),
    ),
    (
        "forwarder-correlation-zero",
        "MQDMPR-3.1.1.12-34",
        "The queue manager forwards a message with a CorrelationIdentifier of zeros.",
        _change_fields_of_forwarded_messages({"MessagePropertiesHeader.CorrelationID": bytes(20)}),
    ),
    # Label
    (
        "sender-label-above-200-characters-cut",
        "MQDMPR-3.1.1.12-46",
        "The sender cuts a label to 200 characters.",
        _change_sent_messages(lambda message: replace(message, Label=message.Label[:_LONG_LABEL_LENGTH])),
    ),
    (
        "receiver-label-non-ascii-characters-replaced",
        "MQDMPR-3.1.1.12-46",
        "The receiver replaces each character of a label that is not ASCII by a question mark.",
        _change_arrived_messages(
            lambda message: replace(message, Label=message.Label.encode("ascii", "replace").decode())
        ),
    ),
    (
        "dead-letter-without-label",
        "MQDMPR-3.1.1.12-46",
        "The sender clears the label of a dead letter.",
        _change_dead_letter_messages(_make_message_attribute_setter(Label="")),
    ),
    (
        "forwarder-label-upper-case",
        "MQDMPR-3.1.1.12-46",
        "The queue manager forwards a label in upper case.",
        _change_fields_of_forwarded_messages({"MessagePropertiesHeader.Label": lambda label: label and label.upper()}),
    ),
    # Extension
    (
        "receiver-extension-without-final-zeros",
        "MQDMPR-3.1.1.12-57",
        "The receiver removes zero bytes at the end of an extension.",
        _change_arrived_messages(lambda message: replace(message, Extension=message.Extension.rstrip(b"\0"))),
    ),
    (
        "journal-copy-without-extension",
        "MQDMPR-3.1.1.12-57",
        "The copy of a received message in the journal of its queue has no extension.",
        _change_journal_copies(_make_message_attribute_setter(Extension=b"")),
    ),
    (
        "forwarder-without-extension",
        "MQDMPR-3.1.1.12-57",
        "The queue manager forwards a message without its extension.",
        _change_fields_of_forwarded_messages(
            {"MessagePropertiesHeader.ExtensionData": b"", "MessagePropertiesHeader.Padding": None}
        ),
    ),
):
    add(_name, _rule, _says, _install, blind=True)


@fault("second-recoverable-message-of-queue-lost-at-restart", breaks="MQDMPR-3.1.1.12-20", blind=True)
class SecondRecoverableMessageOfQueueLostAtRestart(MessageArrival):
    """The receiver saves an arrived recoverable message as an empty record if its queue already has a message."""

    @faulty_only_if(lambda part, saving, packet: len(saving.position.QueueReference.MessagePositionList) > 1)
    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        super().save_message(saving, packet)
        self.qm.disk.save({f"message:{saving.position.key}": None})


@fault("recoverable-message-with-large-body-lost-at-restart", breaks="MQDMPR-3.1.1.12-20", blind=True)
class RecoverableMessageWithLargeBodyLostAtRestart(StateRestoring):
    """At a restart, the queue manager does not restore a recoverable message whose packet has more than 100,000
    bytes.
    """

    def _restore_message(self, rest: str, value: Any) -> None:
        if len(value["packet"]) <= _LARGE_BODY_BYTES * 4 // 3:
            super()._restore_message(rest, value)


@fault("recoverable-message-of-subqueue-lost-at-restart", breaks="MQDMPR-3.1.1.12-20", blind=True)
class RecoverableMessageOfSubqueueLostAtRestart(StateRestoring):
    """At a restart, the queue manager does not restore a recoverable message of a subqueue."""

    def _restore_message(self, rest: str, value: Any) -> None:
        if ";" not in value["in"] or not value["in"].startswith("queue:"):
            super()._restore_message(rest, value)


@fault("recoverable-message-in-outgoing-queue-behind-express-lost-at-restart", breaks="MQDMPR-3.1.1.12-20", blind=True)
class RecoverableMessageInOutgoingQueueBehindExpressLostAtRestart(DurableRecords):
    """The sender does not save a recoverable message if an express message waits in the same outgoing queue."""

    def build_send_record(self, position: MessagePosition) -> Change:
        change = super().build_send_record(position)
        queue = position.QueueReference
        if isinstance(queue, OutgoingQueue) and any(not one.recoverable for one in queue.session.OutgoingMessageTable):
            change = {name: value for name, value in change.items() if name != f"message:{position.key}"}
        return change


def _change_restored_messages(change: MessageChange, *, outgoing: bool = False) -> Install:
    def change_every_restored_message(qm: QueueManager) -> None:
        if outgoing:
            for queue in qm.adm.OutgoingQueues.values():
                for one in queue.session.OutgoingMessageTable:
                    position = one.MessagePosition
                    position.MessageReference = change(position.MessageReference)
                    one.UserMessage = qm.message_sending.construct_user_message(position)
            return
        for local in qm.queue_names.list_every_queue():
            for position in local.MessagePositionList:
                position.MessageReference = change(position.MessageReference)

    return change_core_at_restart(change_every_restored_message)


for _attribute, _change, _what in (
    ("label", lambda message: replace(message, Label=message.Label[:100]), "The Label has at most 100 characters"),
    ("body", lambda message: replace(message, Body=message.Body[:8192]), "The Body has at most 8,192 bytes"),
    ("class", lambda message: replace(message, Class=0), "The Class is Normal"),
    ("negative-journaling", lambda message: replace(message, NegativeJournalingRequested=False), "JN is clear"),
    ("positive-journaling", lambda message: replace(message, PositiveJournalingRequested=False), "JP is clear"),
    (
        "time-to-be-received",
        lambda message: replace(message, TimeToBeReceived=0xFFFFFFFF),
        "The TimeToBeReceived is infinite",
    ),
    ("admin-queue", lambda message: replace(message, AdministrationQueueFormatName=None), "No administration queue"),
    ("sent-time", lambda message: replace(message, SentTime=message.ArrivalTime), "The SentTime is the ArrivalTime"),
):
    add(
        f"restored-message-of-local-queue-with-wrong-{_attribute}",
        "MQDMPR-3.1.1.12-67",
        f"After a restart, the recoverable messages of local queues have a wrong attribute: {_what}.",
        _change_restored_messages(_change),
        blind=True,
    )
for _attribute, _change, _what in (
    ("priority", lambda message: replace(message, Priority=3), "The Priority is 3"),
    ("response-queue", lambda message: replace(message, ResponseQueueFormatName=None), "No response queue"),
    ("acknowledgements", lambda message: replace(message, AcknowledgementsRequested=0), "No acknowledgments"),
    ("tracing", lambda message: replace(message, TracingRequested=False), "TracingRequested is False"),
):
    add(
        f"restored-message-of-outgoing-queue-with-wrong-{_attribute}",
        "MQDMPR-3.1.1.12-67",
        f"After a restart, the recoverable messages that wait to be sent have a wrong attribute: {_what}.",
        _change_restored_messages(_change, outgoing=True),
        blind=True,
    )


@fault("lookup-identifier-repeated-after-restart", breaks="MQDMPR-3.1.1.12-D01", blind=True)
class LookupIdentifierRepeatedAfterRestart(MessagePositions):
    """After a restart, the queue manager counts LookupIdentifiers from 1 again."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.number = 0

    def assign_lookup_identifier(self, message: Message) -> int:
        self.number += 1
        return super().assign_lookup_identifier(message) & ~0xFFFFFF | self.number


@fault("lookup-identifier-of-each-tenth-message-repeated", breaks="MQDMPR-3.1.1.12-D01", blind=True)
class LookupIdentifierOfEachTenthMessageRepeated(MessagePositions):
    """The queue manager gives each tenth message of a queue the LookupIdentifier of the message before it."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, message)
        if len(queue.MessagePositionList) == 10:
            before = list(queue.MessagePositionList)[-2]
            position.LookupIdentifier = before.LookupIdentifier
        return position


@fault("message-of-priority-6-ordered-like-priority-7", breaks="MQDMPR-3.1.1.12-D48", blind=True)
class MessageOfPriority6OrderedLikePriority7(MessagePositions):
    """The queue manager orders a message of priority 6 like a message of priority 7."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return super().assign_lookup_identifier(replace(message, Priority=7) if message.Priority == 6 else message)


@fault("local-message-priority-ignored-in-order", breaks="MQDMPR-3.1.1.12-D48", blind=True)
class LocalMessagePriorityIgnoredInOrder(MessagePositions):
    """The queue manager orders a message of a local application like a message of priority 3."""

    def assign_lookup_identifier(self, message: Message) -> int:
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        return super().assign_lookup_identifier(replace(message, Priority=3) if own else message)


@fault("receiver-arrival-time-of-second-message-is-that-of-first", breaks="MQDMPR-3.1.1.12-D04", blind=True)
class ReceiverArrivalTimeOfSecondMessageIsThatOfFirst(MessagePositions):
    """The receiver gives each message the ArrivalTime of the first message in the queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        first = next(iter(queue.MessagePositionList), None)
        if first is not None:
            message = replace(message, ArrivalTime=first.MessageReference.ArrivalTime)
        return super().insert_message(queue, message)


@fault("transactional-local-message-arrival-time-0", breaks="MQDMPR-3.1.1.12-D04", blind=True)
class TransactionalLocalMessageArrivalTime0(MessagePositions):
    """The queue manager gives a message that an application sent in a transaction to a local queue the ArrivalTime
    1.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid == self.qm.adm.Identifier and message.TransactionIdentifier is not None:
            message = replace(message, ArrivalTime=1)
        return super().insert_message(queue, message)


@fault("peek-of-message-received-in-transaction-returns-message", breaks="MQDMPR-3.1.1.12-D03", blind=True)
class PeekOfMessageReceivedInTransactionReturnsMessage(MessageReading):
    """A peek returns the first message of a queue although a transaction has received the message, if the message came
    from another queue manager.
    """

    def peek_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Callable[[Status, MessagePosition | None], None],
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        first = None if queue is None else next(iter(queue.MessagePositionList), None)
        if first is not None and first.order_queue is not None and first in self._list_messages_held_for_sending():
            answered(Status.MQ_OK, first)
        else:
            super().peek_message(queue_desc, answered, now, timeout_ms, cursor, tag)

    def _list_messages_held_for_sending(self) -> list[MessagePosition]:
        return [
            operation.MessagePositionReference
            for transaction in self.qm.adm.TransactionCollection.values()
            for operation in transaction.TransactionalOperationCollection
        ]


@fault("sender-identifier-of-local-message-is-that-of-last-sent", breaks="MQDMPR-3.1.1.12-D02", blind=True)
class SenderIdentifierOfLocalMessageIsThatOfLastSent(MessageEnqueueing):
    """The queue manager gives a message to a local queue the Identifier of the message that it sent last to another
    queue manager.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: Message | None = None

    def put_message(self, queue: Queue, message: Message, *arguments: Any, **named: Any) -> Any:
        if isinstance(queue, OutgoingQueue):
            self.last = message
        elif self.last is not None:
            message = replace(message, Identifier=self.last.Identifier)
        return super().put_message(queue, message, *arguments, **named)

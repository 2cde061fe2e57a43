"""Faults of MS-MQDMPR 3.1.1.12 Message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replaced
from harness.faults.primitives import set_fields, skip
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, MessageClass, UserMessagePacket
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.positions import LOW_BYTES, Positions
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.store.entries import moved
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.routing import Routing
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now

# -- what the queue manager should leave alone ---------------------------------------------------------------------


def _interpreted(change: Callable[[Message], Message]) -> Install:
    """Change messages as they come into queues, those to be sent on too."""

    class Interpreting(Positions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            return super().insert_message(queue, change(message))

    return replaced(Interpreting)


for _name, _rules, _says, _change in (
    (
        "body-of-text-in-utf-8",
        "MQDMPR-3.1.1.12-32",
        "A body that is marked as text is read as text, and written as UTF-8.",
        lambda message: (
            replace(message, Body=message.Body.decode("utf-8", "replace").encode())
            if message.BodyType == 0x1F
            else message
        ),
    ),
    (
        "label-without-blanks",
        "MQDMPR-3.1.1.12-46",
        "Blanks at the ends of a label are cut off.",
        lambda message: replace(message, Label=message.Label.strip()),
    ),
    (
        "extension-ends-at-its-zeros",
        "MQDMPR-3.1.1.12-57",
        "An extension ends at the zeros at its end.",
        lambda message: replace(message, Extension=message.Extension.rstrip(b"\0")),
    ),
    (
        "arrival-when-it-was-sent",
        "MQDMPR-3.1.1.12-D04",
        "ArrivalTime is SentTime.",
        lambda message: replace(message, ArrivalTime=message.SentTime),
    ),
    (
        "peeked-at-when-locked",
        "MQDMPR-3.1.1.12-D03",
        "A locked message can be peeked at.",
        lambda message: replace(message, AllowPeekWhenLocked=True),
    ),
):
    add(_name, _rules, _says, _interpreted(_change))


@fault("lookup-by-priority-upside-down", breaks=("MQDMPR-3.1.1.12-D01", "MQDMPR-3.1.1.12-D48"))
class LookupByPriorityUpsideDown(Positions):
    """The highest byte of a LookupIdentifier is the priority, so that the last message of a queue has the lowest."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return message.Priority << 56 | super().assign_lookup_identifier(message) & LOW_BYTES


def _known_provider(field: str, known: tuple[Any, ...]) -> Install:
    """Refuse messages whose provider is none that is here, whoever signed them."""

    class Knowing(Identifying):
        def check_form(self, packet: Any) -> None:
            header = getattr(packet, "SecurityHeader", None)
            info = header.SecurityData.ProviderInfo if header is not None else b""
            value: Any = int.from_bytes(info[:4], "little") if field == "ProviderType" else info[4:].decode("utf-16-le")
            if info and not str(value).startswith(known):
                raise FormatError(f"SecurityHeader.{field}", 0, "a fault", f"{value} is none that is here")
            super().check_form(packet)

    return replaced(Knowing)


add(
    "provider-type-of-connector-refused",
    "MQDMPR-3.1.1.12-60",
    "A message whose provider has a type that is not known is refused.",
    _known_provider("ProviderType", ("1", "24")),
)
add(
    "provider-name-of-connector-refused",
    "MQDMPR-3.1.1.12-61",
    "A message whose provider has a name that is not known is refused.",
    _known_provider("ProviderName", ("Microsoft",)),
)


def _on_its_way(change: Callable[[bytes], Any], field: str) -> Install:
    """Send messages of others on with another property."""

    class Altering(Routing):
        def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
            counted = super().count_hop(packet)
            if counted is None:
                return None
            altered: UserMessagePacket = set_fields(counted, {f"MessagePropertiesHeader.{field}": change})
            return altered

    return replaced(Altering)


for _name, _rule, _field, _alter in (
    ("routed-body-recoded", "MQDMPR-3.1.1.12-32", "MessageBody", lambda body: bytes(one & 0x7F for one in body)),
    ("routed-body-type-cut", "MQDMPR-3.1.1.12-33", "BodyType", lambda kind: kind & 0xF),
    ("routed-correlation-cut", "MQDMPR-3.1.1.12-34", "CorrelationID", lambda old: old[:16] + bytes(4)),
    ("routed-label-recoded", "MQDMPR-3.1.1.12-46", "Label", lambda label: label and "?" * len(label)),
    ("routed-extension-cleared", "MQDMPR-3.1.1.12-57", "ExtensionData", lambda extension: bytes(len(extension))),
):
    add(_name, _rule, f"{_field} of a message of somebody else is changed on its way.", _on_its_way(_alter, _field))

# -- acknowledgments and journals ----------------------------------------------------------------------------------


@fault(
    "classifications-compared-whole",
    breaks=(
        "MQDMPR-3.1.1.12-35",
        "MQDMPR-3.1.1.12-36",
        "MQDMPR-3.1.1.12-42",
        "MQDMPR-3.1.1.12-43",
        "MQDMPR-3.1.1.12-44",
    ),
)
class ComparedWhole(AdminAcks):
    """Acknowledgments are sent for messages that ask for one classification alone, or for all."""

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message.AcknowledgementsRequested in (0x1, 0x2, 0x4, 0x8, 0xF):
            super().send(message, message_class, now)


@fault("journaled-unasked", breaks="MQDMPR-3.1.1.12-23")
class JournaledUnasked(Journaling):
    """Every message that was delivered is journaled."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, PositiveJournalingRequested=True)
        super().journal_delivered(position)


@fault("dead-letter-unasked", breaks="MQDMPR-3.1.1.12-26")
class DeadLetterUnasked(Journaling):
    """Every message that failed is a dead letter."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed(position)


@fault("discarded-message-still-on-disk", breaks="MQDMPR-3.1.1.12-22")
class StillOnDisk(Positions):
    """A message that the full journal does not take is still to be sent when the queue manager begins again."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        there = super().move_message(position, queue)
        if there is None:
            self.qm.disk.save(moved(position))
        return there


@fault("full-journal-takes-more", breaks=("MQDMPR-3.1.1.12-22", "MQDMPR-3.1.1.12-25"))
class FullJournalTakesMore(Quotas):
    """The quota of journals and dead-letter queues is not looked at."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        return EnqueueStatus.NO_ERROR if queue.QueueType is QueueType.SYSTEM else status


add(
    "rejected-as-received",
    "MQDMPR-3.1.1.12-D27",
    "That an application rejected a message makes no difference: it was received.",
    skip(TransactionOperations.reject),
)


@fault("rejected-as-late", breaks="MQDMPR-3.1.1.12-D27")
class RejectedAsLate(TransactionOperations):
    """A message that an application rejected is acknowledged as one whose time was over."""

    def reject(self, transaction: Transaction, queue: Queue, lookup_identifier: int) -> None:
        super().reject(transaction, queue, lookup_identifier)
        for operation in transaction.TransactionalOperationCollection:
            if operation.DequeueReason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED:
                operation.DequeueReason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT


BROKEN_ELSEWHERE = {
    "MQDMPR-3.1.1.12-02": (
        "final-ack-dead-without-transaction",
        "own-dead-letter-queue-unread",
    ),
    "MQDMPR-3.1.1.12-03": (
        "message-class-big-endian",
        "message-classes-confused",
    ),
    "MQDMPR-3.1.1.12-04": ("privacy-levels-counted",),
    "MQDMPR-3.1.1.12-06": (
        "sent-base-as-enhanced",
        "sent-preferences-ignored",
    ),
    "MQDMPR-3.1.1.12-07": (
        "sent-always-base",
        "sent-preferences-ignored",
    ),
    "MQDMPR-3.1.1.12-08": (
        "sent-always-base",
        "sent-preferences-ignored",
    ),
    "MQDMPR-3.1.1.12-09": (
        "sent-not-signed",
        "signed-and-not-sent",
        "transactional-message-not-signed",
    ),
    "MQDMPR-3.1.1.12-11": ("sent-not-signed",),
    "MQDMPR-3.1.1.12-12": (
        "sent-not-signed",
        "sent-signed-as-1.0",
    ),
    "MQDMPR-3.1.1.12-13": ("sent-not-signed",),
    "MQDMPR-3.1.1.12-20": (
        "extension-not-on-disk",
        "message-kept-forgotten",
        "message-recoverable-forgotten",
        "message-restored-without-extension",
    ),
    "MQDMPR-3.1.1.12-21": (
        "message-journal-not-kept",
        "message-journaled-without-label",
    ),
    "MQDMPR-3.1.1.12-24": ("message-dead-letter-not-kept",),
    "MQDMPR-3.1.1.12-27": (
        "handed-one-destination",
        "third-destination-not-listed",
    ),
    "MQDMPR-3.1.1.12-28": (
        "handed-one-destination",
        "third-destination-not-listed",
    ),
    "MQDMPR-3.1.1.12-29": ("handed-list-signature",),
    "MQDMPR-3.1.1.12-30": ("handed-list-signature",),
    "MQDMPR-3.1.1.12-31": ("application-tag-received-without-its-highest-bit",),
    "MQDMPR-3.1.1.12-37": ("arrival-told-unasked",),
    "MQDMPR-3.1.1.12-38": ("message-properties-ack-arrival",),
    "MQDMPR-3.1.1.12-39": ("message-properties-ack-receive",),
    "MQDMPR-3.1.1.12-40": ("message-properties-ack-failure",),
    "MQDMPR-3.1.1.12-41": ("message-properties-ack-removal",),
    "MQDMPR-3.1.1.12-45": (
        "label-cut-at-124-characters",
        "message-properties-label-too-long",
    ),
    "MQDMPR-3.1.1.12-54": (
        "admin-queue-of-another-host-sent-as-of-the-sender",
        "message-admin-queue-here",
        "message-admin-queue-of-destination",
    ),
    "MQDMPR-3.1.1.12-55": (
        "message-response-queue-here",
        "message-response-queue-of-source",
        "message-same-queue-twice-is-once",
        "response-queue-that-is-the-administration-queue-lost",
    ),
    "MQDMPR-3.1.1.12-56": (
        "handed-queue-manager-signs-as-another",
        "security-header-sender-is-no-sid",
    ),
    "MQDMPR-3.1.1.12-58": ("message-connector-type-refused",),
    "MQDMPR-3.1.1.12-62": (
        "message-transaction-final-ack-always",
        "message-transaction-final-ack-forgotten",
    ),
    "MQDMPR-3.1.1.12-63": ("message-transaction-final-ack-forgotten",),
    "MQDMPR-3.1.1.12-64": ("message-transaction-final-ack-always",),
    "MQDMPR-3.1.1.12-65": ("soap-header-text-misread",),
    "MQDMPR-3.1.1.12-67": (
        "extension-not-on-disk",
        "message-kept-forgotten",
        "message-recoverable-forgotten",
        "message-restored-without-extension",
    ),
    "MQDMPR-3.1.1.12-D02": ("message-identifiers-equal",),
    "MQDMPR-3.1.1.12-D06": ("report-received-class",),
    "MQDMPR-3.1.1.12-D07": (
        "arrival-not-told",
        "arrival-of-transactional-messages-not-acknowledged",
        "arrival-told-unasked",
    ),
    "MQDMPR-3.1.1.12-D08": ("ordering-order-dropped",),
    "MQDMPR-3.1.1.12-D09": ("message-classes-confused",),
    "MQDMPR-3.1.1.12-D10": (
        "refusal-17-not-told",
        "refusal-17-told-unasked",
        "unknown-public-queue-not-nacked",
    ),
    "MQDMPR-3.1.1.12-D12": (
        "expiration-acknowledged-otherwise",
        "expiration-not-acknowledged",
        "expired-recoverable-message-not-nacked",
    ),
    "MQDMPR-3.1.1.12-D13": ("message-classes-confused",),
    "MQDMPR-3.1.1.12-D14": (
        "security-access-nack-missing",
        "security-access-nack-unasked",
    ),
    "MQDMPR-3.1.1.12-D15": ("hops-told-as-purged",),
    "MQDMPR-3.1.1.12-D16": (
        "security-signature-nack-missing",
        "security-signature-nack-unasked",
    ),
    "MQDMPR-3.1.1.12-D17": (
        "security-encryption-nack-missing",
        "security-encryption-nack-unasked",
    ),
    "MQDMPR-3.1.1.12-D19": ("message-classes-confused",),
    "MQDMPR-3.1.1.12-D20": ("message-classes-confused",),
    "MQDMPR-3.1.1.12-D21": ("message-unknown-provider-is-bad-encryption",),
    "MQDMPR-3.1.1.12-D23": ("message-classes-confused",),
    "MQDMPR-3.1.1.12-D24": ("message-classes-confused",),
    "MQDMPR-3.1.1.12-D25": ("message-classes-confused",),
    "MQDMPR-3.1.1.12-D46": ("message-dead-letter-not-kept",),
    "MQDMPR-3.1.1.12-D50": ("message-properties-ack-failure",),
    "MQDMPR-3.1.1.12-D51": ("message-source-changed",),
    "MQDMPR-3.1.1.12-D52": (
        "header-clock-read-once",
        "header-expiry-ignored",
        "header-expiry-of-express-alone",
        "header-expiry-of-waiting-ignored",
    ),
    "MQDMPR-3.1.1.12-D53": (
        "handed-never-too-late",
        "message-of-yesterday-expires",
        "time-to-be-received-not-on-disk",
        "time-to-be-received-of-transactional-messages-not-watched",
    ),
    "MQDMPR-3.1.1.12-D54": (
        "handed-nobody-signs-as-somebody",
        "security-data-empty-items",
    ),
    "MQDMPR-3.1.1.12-D55": (
        "sent-blob-garbled",
        "sent-blob-short",
        "sent-first-key-again",
        "sent-not-encrypted",
    ),
    "MQDMPR-3.1.1.12-D56": (
        "sent-not-signed",
        "sent-signed-by-another-key",
    ),
    "MQDMPR-3.1.1.12-D57": (
        "sequences-of-one-second-alike",
        "start-same-sequence-again",
    ),
    "MQDMPR-3.1.1.12-D58": ("message-transaction-not-first",),
    "MQDMPR-3.1.1.12-D59": (
        "message-transaction-not-last",
        "only-message-of-a-transaction-not-the-last",
    ),
    "MQDMPR-3.1.1.12-D60": (
        "header-clock-read-once",
        "message-sent-in-local-time",
        "message-transactional-sent-at-0",
    ),
    "MQDMPR-3.1.1.12-D61": ("step-not-traced",),
    "MQDMPR-3.1.1.12-D62": ("security-header-sender-is-no-sid",),
    "MQDMPR-3.1.1.12-D63": ("handed-queue-manager-signs-as-another",),
    "MQDMPR-3.1.1.12-D66": ("sent-other-provider-told",),
}
"""Faults of other sections that break rules of this one."""

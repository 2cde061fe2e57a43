"""Faults that break the rules MQQP-3.2.4.2-32 to MQQP-3.2.4.2-36."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.codec import PrivateName, UserMessagePacket, parse_packet
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading, RemoteMessage
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.model.adm import Message
from reference_qm.model.statuses import Status
from suites.mqqp.s3_2_4_2_peeking_and_receiving.fault_steps import ClientReadCounter, PreviousAnswerRecorder


@fault(
    "client-read-sequential-id-not-zero",
    breaks=("MQQP-3.2.4.2-32", "MQQP-3.2.4.3-32", "MQQP-3.2.4.5-32", "MQQP-3.2.4.6-31"),
)
class ClientReadSequentialIdNotZero(ClientMessageReading):
    """The client calls RemoteQMStartReceive2 with a nonzero SequentialId."""

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        return super().build_start_receive2_description(read) | {"SequentialId": 0x1122334455667788}


@fault(
    "client-read-sequentialid-of-previous-message",
    breaks=("MQQP-3.2.4.2-32", "MQQP-3.2.4.3-32", "MQQP-3.2.4.5-32", "MQQP-3.2.4.6-31"),
)
class ClientReadSequentialidOfPreviousMessage(PreviousAnswerRecorder):
    """The client sets SequentialId of a read to the SequentialId of the message that it read previously."""

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        return {**super().build_start_receive2_description(read), "SequentialId": self.last_sequential_id}


SEQUENTIAL_ID_RULES = ("MQQP-3.2.4.2-32", "MQQP-3.2.4.3-32", "MQQP-3.2.4.5-32", "MQQP-3.2.4.6-31")


@fault("client-sequential-id-of-read-is-that-of-last-response", breaks=SEQUENTIAL_ID_RULES)
class ClientSequentialIdOfReadIsThatOfLastResponse(ClientReadCounter):
    """The client sets SequentialId to the SequentialId that the server returned last."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last = 0

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        return super().build_start_receive2_description(read) | {"SequentialId": self.last}

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        self.last = (results.get("lpRemoteReadDesc2") or {}).get("SequentialId", 0)
        return super().reconstruct_message(results, server)


@fault(
    "client-read-body-one-byte-short",
    breaks=("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34"),
)
class ClientReadBodyOneByteShort(ClientMessageReading):
    """The client delivers a message without the last byte of its body."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, Body=found.message.Body[:-1]))


EMPTY_VALUE_BY_PROPERTY: dict[str, Any] = {"CorrelationIdentifier": bytes(20)}
"""The replacement value of a removed property, for each property that needs a value other than the default of its type.
"""


def _remove_property_of_read_message(name: str) -> Install:
    """Build a fault in which the client delivers a message without one property."""

    class MessagePropertyRemover(ClientMessageReading):
        def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
            found = super().reconstruct_message(results, server)
            lost = EMPTY_VALUE_BY_PROPERTY.get(name) or type(getattr(found.message, name))()
            return found._replace(message=replace(found.message, **{name: lost}))

    return replace_part(MessagePropertyRemover)


for _property in ("Extension", "CorrelationIdentifier", "AppSpecific", "BodyType", "SentTime", "ArrivalTime"):
    add(
        f"client-read-without-{_property}",
        ("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34"),
        f"The client delivers a message without its {_property}.",
        _remove_property_of_read_message(_property),
    )


@fault(
    "client-resolves-private-response-queue-at-sender",
    breaks=("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34"),
)
class ClientResolvesPrivateResponseQueueAtSender(ClientMessageReading):
    """The client ignores RQ: it resolves every private response queue on the computer of the sender."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        name = found.message.ResponseQueueFormatName or ""
        if not name.startswith("PRIVATE="):
            return found
        name = str(PrivateName(found.message.Identifier.QueueManagerGuid, int(name.rpartition("\\")[2], 16)))
        return found._replace(message=replace(found.message, ResponseQueueFormatName=name))


RULES_OF_DELIVERY_TO_APPLICATION = ("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34")


@fault("client-read-message-body-limited-to-64-kb", breaks=RULES_OF_DELIVERY_TO_APPLICATION)
class ClientReadMessageBodyLimitedTo64Kb(ClientMessageReading):
    """The client delivers only the first 65,535 bytes of the body of a message to its application."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, Body=found.message.Body[:0xFFFF]))


@fault("client-read-message-label-missing", breaks=RULES_OF_DELIVERY_TO_APPLICATION)
class ClientReadMessageLabelMissing(ClientMessageReading):
    """The client delivers a message without its label to its application."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, Label=""))


@fault("client-read-first-message-delivered-again", breaks=RULES_OF_DELIVERY_TO_APPLICATION)
class ClientReadFirstMessageDeliveredAgain(ClientMessageReading):
    """When the client reads a queue again, it delivers the message of its first read of this queue."""

    first_message: RemoteMessage | None = None

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        self.first_message = self.first_message or found
        return self.first_message


@fault("client-read-message-application-tag-missing", breaks=RULES_OF_DELIVERY_TO_APPLICATION)
class ClientReadMessageApplicationTagMissing(ClientMessageReading):
    """The client delivers a message without its application tag."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, AppSpecific=0))


DELIVERED_MESSAGE_RULES = ("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34")


@fault("client-delivers-message-of-first-read-again-in-later-reads", breaks=DELIVERED_MESSAGE_RULES)
class ClientDeliversMessageOfFirstReadAgainInLaterReads(ClientMessageReading):
    """The client delivers the message of the first read again after later reads."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: RemoteMessage | None = None

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        self.first = self.first or found
        return self.first


@fault("client-message-body-cut-at-4096-bytes", breaks=DELIVERED_MESSAGE_RULES)
class ClientMessageBodyCutAt4096Bytes(ClientMessageReading):
    """The client delivers only the first 4,096 bytes of a message body."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, Body=found.message.Body[:4096]))


@fault("client-message-with-empty-body-refused", breaks=DELIVERED_MESSAGE_RULES)
class ClientMessageWithEmptyBodyRefused(ClientMessageReading):
    """The client delivers no message whose body is empty."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        if not found.message.Body:
            raise RemoteError("the message has no body")
        return found


@fault("client-transactional-message-refused", breaks=DELIVERED_MESSAGE_RULES)
class ClientTransactionalMessageRefused(ClientMessageReading):
    """The client delivers no message with a TransactionHeader."""

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        packet = None if desc is None or desc["lpBuffer"] is None else parse_packet(bytes(desc["lpBuffer"]))
        if isinstance(packet, UserMessagePacket) and packet.TransactionHeader is not None:
            raise RemoteError("the message is transactional")
        return super().reconstruct_message(results, server)


class _DeliveredMessageChanger(ClientMessageReading):
    def change(self, message: Message) -> Mapping[str, Any]:
        """Return the changed properties of a message."""
        return {}

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        return found._replace(message=replace(found.message, **self.change(found.message)))


@fault("client-read-label-of-more-than-64-characters-cut-off", breaks=RULES_OF_DELIVERY_TO_APPLICATION, blind=True)
class ClientReadLabelOfMoreThan64CharactersCutOff(_DeliveredMessageChanger):
    """The client delivers only the first 64 characters of a label."""

    def change(self, message: Message) -> Mapping[str, Any]:
        return {"Label": message.Label[:64]}


@fault("client-read-label-limited-to-248-characters", breaks=RULES_OF_DELIVERY_TO_APPLICATION, blind=True)
class ClientReadLabelLimitedTo248Characters(_DeliveredMessageChanger):
    """The client delivers only the first 248 characters of a label of 249 characters."""

    def change(self, message: Message) -> Mapping[str, Any]:
        return {"Label": message.Label[:248]}


@fault("client-delivers-body-without-zero-bytes-at-its-end", breaks=RULES_OF_DELIVERY_TO_APPLICATION, blind=True)
class ClientDeliversBodyWithoutZeroBytesAtItsEnd(_DeliveredMessageChanger):
    """The client delivers a body without the zero bytes at its end."""

    def change(self, message: Message) -> Mapping[str, Any]:
        return {"Body": message.Body.rstrip(b"\0")}


@fault("client-delivers-priority-7-as-priority-3", breaks=RULES_OF_DELIVERY_TO_APPLICATION, blind=True)
class ClientDeliversPriority7AsPriority3(_DeliveredMessageChanger):
    """The client delivers a message of priority 7 with priority 3."""

    def change(self, message: Message) -> Mapping[str, Any]:
        return {"Priority": 3 if message.Priority == 7 else message.Priority}


add(
    "client-completed-read-stays-pending",
    ("MQQP-3.2.4.2-36", "MQQP-3.2.4.3-39", "MQQP-3.2.4.5-36", "MQQP-3.2.4.6-38"),
    "The client keeps the PendingRemoteReadEntry of a completed read.",
    omit_step(ClientMessageReading.remove_pending_read),
)


PENDING_READ_ENTRY_REMOVAL_RULES = ("MQQP-3.2.4.2-36", "MQQP-3.2.4.3-39", "MQQP-3.2.4.5-36", "MQQP-3.2.4.6-38")


@fault("client-pending-read-entry-of-failed-read-kept", breaks=PENDING_READ_ENTRY_REMOVAL_RULES)
class ClientPendingReadEntryOfFailedReadKept(ClientMessageReading):
    """The client keeps the PendingRemoteReadEntry of a read that failed."""

    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError as error:
            if read.entry is not None and error.status != Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT:
                self.qm.remote_client.PendingRemoteReadEntryCollection.append(read.entry)
            raise


REMOVED_PENDING_READ_ENTRY_RULES = ("MQQP-3.2.4.2-36", "MQQP-3.2.4.3-39", "MQQP-3.2.4.5-36", "MQQP-3.2.4.6-38")


@fault("client-keeps-pending-read-entry-of-read-without-message", breaks=REMOVED_PENDING_READ_ENTRY_RULES)
class ClientKeepsPendingReadEntryOfReadWithoutMessage(ClientMessageReading):
    """The client keeps the PendingRemoteReadEntry of a read that returned no message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.ended: set[int] = set()

    def store_remote_read_handle(self, entry: PendingRemoteReadEntry, handle: UUID | None) -> None:
        super().store_remote_read_handle(entry, handle)
        self.ended.add(entry.RequestId)

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        if entry.RequestId in self.ended:
            super().remove_pending_read(entry)


@fault("client-keeps-pending-read-entry-of-every-second-read", breaks=REMOVED_PENDING_READ_ENTRY_RULES)
class ClientKeepsPendingReadEntryOfEverySecondRead(ClientMessageReading):
    """The client keeps the PendingRemoteReadEntry of every second read."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        self.count += 1
        if self.count % 2:
            super().remove_pending_read(entry)


@fault("client-end-of-read-removes-oldest-pending-read-entry", breaks=REMOVED_PENDING_READ_ENTRY_RULES)
class ClientEndOfReadRemovesOldestPendingReadEntry(ClientMessageReading):
    """The client removes the oldest PendingRemoteReadEntry when a read ends."""

    def remove_pending_read(self, entry: PendingRemoteReadEntry) -> None:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if entry in pending:
            del pending[0]


@fault("client-pending-read-entry-of-lost-connection-kept", breaks=PENDING_READ_ENTRY_REMOVAL_RULES, blind=True)
class ClientPendingReadEntryOfLostConnectionKept(ClientMessageReading):
    """When the connection of a read is lost, the client keeps the PendingRemoteReadEntry of the read."""

    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError as error:
            if read.entry is not None and error.status is None:
                self.qm.remote_client.PendingRemoteReadEntryCollection.append(read.entry)
            raise

"""Faults of MS-MQSO 5.5.1 Queue Manager Restart: losses that concern only some queues, messages or restarts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.core.store.entries import build_message_relocation
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.model.adm import MessagePosition, OutgoingQueue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqso.s5_5_1_queue_manager_restart.fault_steps import (
    RestartThatLosesStoredMessages,
    SecondRestartThatLosesStoredMessages,
    is_application_queue_in_store,
    is_outgoing_queue_in_store,
)

LARGE_BODY = 0x10000


@fault("restart-loses-newest-of-several-created-queues", breaks="MQSO-5.5.1-01", blind=True)
class RestartLosesNewestOfSeveralCreatedQueues(RestartThatLosesStoredMessages):
    """A restart restores all private queues except the queue that was created last."""

    def restore(self, entries: Mapping[str, object]) -> None:
        numbers = [int(name.partition(":")[2]) for name in entries if name.startswith("queue:") and name[6:].isdigit()]
        newest = f"queue:{max(numbers, default=0)}"
        here = [value for name, value in entries.items() if name.startswith("message:")]
        used = any(isinstance(value, dict) and value["in"].startswith(newest) for value in here)
        super().restore({name: value for name, value in entries.items() if used or name != newest})


@fault("restart-loses-properties-that-were-changed-later", breaks="MQSO-5.5.1-01", blind=True)
class RestartLosesPropertiesThatWereChangedLater(QueueCommands):
    """The queue manager saves the properties of a queue when it creates the queue, but does not save later changes of
    the properties.
    """

    def set_queue(self, request: Any, token: int, now: Now) -> Result | None:
        used, self.qm.disk.used = self.qm.disk.used, False
        try:
            return super().set_queue(request, token, now)
        finally:
            self.qm.disk.used = used


@fault("restart-loses-messages-of-subqueues", breaks="MQSO-5.5.1-01", blind=True)
class RestartLosesMessagesOfSubqueues(RestartThatLosesStoredMessages):
    """A restart restores the messages of queues, but not the messages of their subqueues."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        return place.startswith("queue:") and ";" in place and not place.endswith(";journal")


@fault("restart-loses-messages-of-queue-journals", breaks="MQSO-5.5.1-01", blind=True)
class RestartLosesMessagesOfQueueJournals(RestartThatLosesStoredMessages):
    """A restart restores the messages of queues, but not the messages of their journals."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        return place.startswith("queue:") and place.endswith(";journal")


@fault("restart-loses-sequence-of-second-sender", breaks="MQSO-5.5.1-01", blind=True)
class RestartLosesSequenceOfSecondSender(RestartThatLosesStoredMessages):
    """A restart restores only one incoming sequence of each queue: the other senders of the queue start anew."""

    def restore(self, entries: Mapping[str, object]) -> None:
        seen: set[str] = set()
        kept: dict[str, object] = {}
        for name, value in entries.items():
            queue = ":".join(name.split(":")[:2])
            if name.startswith("transfer:") and queue in seen:
                continue
            if name.startswith("transfer:"):
                seen.add(queue)
            kept[name] = value
        super().restore(kept)


@fault("restart-keeps-transactional-messages-of-first-outgoing-queue-only", breaks="MQSO-5.5.1-02", blind=True)
class RestartKeepsTransactionalMessagesOfFirstOutgoingQueueOnly(RestartThatLosesStoredMessages):
    """A restart restores the transactional messages of the outgoing queue with the oldest message, but not those of
    the other outgoing queues.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        places = [
            str(value["in"])
            for name, value in entries.items()
            if name.startswith("message:") and isinstance(value, dict) and is_outgoing_queue_in_store(str(value["in"]))
        ]
        self.first = places[0] if places else ""
        super().restore(entries)

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        return is_outgoing_queue_in_store(place) and place != self.first and packet.TransactionHeader is not None


@fault("restart-loses-large-transactional-message-to-send", breaks="MQSO-5.5.1-02", blind=True)
class RestartLosesLargeTransactionalMessageToSend(RestartThatLosesStoredMessages):
    """A restart loses a transactional message in an outgoing queue whose body has more than 64 KB."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        large = len(packet.build()) > LARGE_BODY
        return is_outgoing_queue_in_store(place) and large and packet.TransactionHeader is not None


@fault("restart-keeps-only-first-message-of-transaction-to-send", breaks="MQSO-5.5.1-02", blind=True)
class RestartKeepsOnlyFirstMessageOfTransactionToSend(RestartThatLosesStoredMessages):
    """A restart keeps only the first message of a transaction with several messages in an outgoing queue."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        return (
            is_outgoing_queue_in_store(place)
            and packet.TransactionHeader is not None
            and not packet.TransactionHeader.FM
        )


@fault("second-restart-loses-unsent-transactional-messages", breaks="MQSO-5.5.1-02", blind=True)
class SecondRestartLosesUnsentTransactionalMessages(SecondRestartThatLosesStoredMessages):
    """A transactional message in an outgoing queue survives one restart, but not the next restart."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        return (
            is_outgoing_queue_in_store(place) and packet.TransactionHeader is not None and bool(value.get("survived"))
        )


@fault("restart-loses-transactional-messages-of-own-applications", breaks="MQSO-5.5.1-03", blind=True)
class RestartLosesTransactionalMessagesOfOwnApplications(RestartThatLosesStoredMessages):
    """A restart keeps the transactional messages of a local queue that arrived over the network, but not those that
    an application of the same computer sent.
    """

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        own = packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier
        return is_application_queue_in_store(place) and own and packet.TransactionHeader is not None


@fault("restart-loses-transactional-messages-from-network", breaks="MQSO-5.5.1-03", blind=True)
class RestartLosesTransactionalMessagesFromNetwork(RestartThatLosesStoredMessages):
    """A restart keeps the transactional messages of a local queue that an application of the same computer sent, but
    not those that arrived over the network.
    """

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        own = packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier
        return is_application_queue_in_store(place) and not own and packet.TransactionHeader is not None


@fault("second-restart-loses-transactional-messages-of-local-queue", breaks="MQSO-5.5.1-03", blind=True)
class SecondRestartLosesTransactionalMessagesOfLocalQueue(SecondRestartThatLosesStoredMessages):
    """A transactional message in a local queue survives one restart, but not the next restart."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        later = bool(value.get("survived"))
        return is_application_queue_in_store(place) and packet.TransactionHeader is not None and later


@fault("second-restart-loses-unsent-recoverable-messages", breaks=("MQSO-5.5.1-04", "MQSO-5.5.1-D01"), blind=True)
class SecondRestartLosesUnsentRecoverableMessages(SecondRestartThatLosesStoredMessages):
    """A recoverable message that was never sent survives one restart, but not the next restart."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        return is_outgoing_queue_in_store(place) and packet.TransactionHeader is None and bool(value.get("survived"))


@fault("restart-loses-recoverable-messages-of-low-priority-to-send", breaks="MQSO-5.5.1-04", blind=True)
class RestartLosesRecoverableMessagesOfLowPriorityToSend(RestartThatLosesStoredMessages):
    """A restart loses the recoverable messages with the priority 0 that were never sent."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        low = packet.BaseHeader.Flags & 7 == 0
        return is_outgoing_queue_in_store(place) and low and packet.TransactionHeader is None


@fault("restart-keeps-recoverable-messages-of-one-outgoing-queue-only", breaks="MQSO-5.5.1-04", blind=True)
class RestartKeepsRecoverableMessagesOfOneOutgoingQueueOnly(RestartKeepsTransactionalMessagesOfFirstOutgoingQueueOnly):
    """A restart restores the recoverable messages of the outgoing queue with the oldest message, but not those of
    the other outgoing queues.
    """

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        return is_outgoing_queue_in_store(place) and place != self.first and packet.TransactionHeader is None


@fault("second-restart-loses-recoverable-messages-of-local-queue", breaks="MQSO-5.5.1-05", blind=True)
class SecondRestartLosesRecoverableMessagesOfLocalQueue(SecondRestartThatLosesStoredMessages):
    """A recoverable message in a local queue survives one restart, but not the next restart."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        return is_application_queue_in_store(place) and packet.TransactionHeader is None and bool(value.get("survived"))


@fault("restart-loses-recoverable-messages-of-own-applications", breaks="MQSO-5.5.1-05", blind=True)
class RestartLosesRecoverableMessagesOfOwnApplications(RestartThatLosesStoredMessages):
    """A restart keeps the recoverable messages of a local queue that arrived over the network, but not those that an
    application of the same computer sent.
    """

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        own = packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier
        return is_application_queue_in_store(place) and own and packet.TransactionHeader is None


@fault("restart-loses-recoverable-messages-without-body", breaks="MQSO-5.5.1-05", blind=True)
class RestartLosesRecoverableMessagesWithoutBody(RestartThatLosesStoredMessages):
    """A restart loses the recoverable messages of a local queue whose body is empty."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        empty = packet.MessagePropertiesHeader.MessageSize == 0
        return is_application_queue_in_store(place) and empty and packet.TransactionHeader is None


@fault("restart-loses-large-recoverable-messages-of-local-queue", breaks="MQSO-5.5.1-05", blind=True)
class RestartLosesLargeRecoverableMessagesOfLocalQueue(RestartThatLosesStoredMessages):
    """A restart loses the recoverable messages of a local queue whose body has more than 64 KB."""

    def is_message_lost(self, place: str, packet: UserMessagePacket, value: dict[str, Any]) -> bool:
        large = len(packet.build()) > LARGE_BODY
        return is_application_queue_in_store(place) and large and packet.TransactionHeader is None


@fault("restart-keeps-express-messages-of-own-applications", breaks="MQSO-5.5.1-06", blind=True)
class RestartKeepsExpressMessagesOfOwnApplications(DurableRecords):
    """An express message that an application sent to a local queue survives a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        return self._save_express_message_too(position, not isinstance(position.QueueReference, OutgoingQueue))

    def _save_express_message_too(self, position: MessagePosition, meant: bool) -> Change:
        change = super().build_send_record(position)
        express = position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        if express and meant and self.qm.disk.used:
            position.key = self.qm.assign_persist_token()
            change |= build_message_relocation(position)
        return change


@fault("restart-keeps-express-messages-in-outgoing-queues", breaks="MQSO-5.5.1-06", blind=True)
class RestartKeepsExpressMessagesInOutgoingQueues(RestartKeepsExpressMessagesOfOwnApplications):
    """An express message in an outgoing queue survives a restart."""

    def build_send_record(self, position: MessagePosition) -> Change:
        return self._save_express_message_too(position, isinstance(position.QueueReference, OutgoingQueue))


@fault("restart-keeps-express-messages-from-network", breaks="MQSO-5.5.1-06", blind=True)
class RestartKeepsExpressMessagesFromNetwork(MessageArrival):
    """An express message that arrived over the network survives a restart."""

    def message_arrived(self, position: MessagePosition, now: Now) -> None:
        if not position.key and self.qm.disk.used:
            position.key = self.qm.assign_persist_token()
            self.qm.disk.save(build_message_relocation(position))
        super().message_arrived(position, now)


@fault("queue-manager-second-lost-connection-drops-recoverable-message", breaks="MQSO-5.5.1-D01", blind=True)
class QueueManagerSecondLostConnectionDropsRecoverableMessage(SessionClosing):
    """When a second connection is lost before the acknowledgment, the outgoing queue drops its recoverable
    messages.
    """

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        lost: dict[int, int] = self.__dict__.setdefault("lost", {})
        lost[session.number] = lost.get(session.number, 0) + 1
        for one in list(session.OutgoingMessageTable) if lost[session.number] > 1 else ():
            if one.recoverable and not one.TxSequenceNumber:
                session.OutgoingMessageTable.remove(one)
        super().on_transport_lost(session, reason, now)


@fault("queue-manager-lost-connection-keeps-first-sent-message-only", breaks="MQSO-5.5.1-D01", blind=True)
class QueueManagerLostConnectionKeepsFirstSentMessageOnly(SessionClosing):
    """When an acceptor closes the connection with sent messages that it did not acknowledge, the outgoing queue keeps
    only the first of its recoverable messages.
    """

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        sent = [one for one in session.OutgoingMessageTable if one.recoverable and one.Transmitted]
        for one in sent[1:]:
            if not one.TxSequenceNumber:
                session.OutgoingMessageTable.remove(one)
        super().on_transport_lost(session, reason, now)

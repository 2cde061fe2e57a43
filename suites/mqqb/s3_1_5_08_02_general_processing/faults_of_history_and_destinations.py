"""Faults of MS-MQQB 3.1.5.8.2 and 3.1.5.8.5: entries of the history, and destinations of messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import MessageClass, PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.model.adm import MessageIDHistoryEntry, Queue, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


class _HistoryTimeStampFault(MessageHistory):
    """A base class of faults that store a wrong TimeStamp in those history entries that a subclass selects."""

    def store_history_entry_with_time(self, packet: UserMessagePacket, time_s: int, now: Now) -> MessageIDHistoryEntry:
        """Store a message with the given TimeStamp."""
        entry = super().remember_message(packet, now)
        changed = replace(entry, TimeStamp=time_s)
        self.qm.adm.MessageIDHistoryTable.remove(entry)
        self.qm.adm.MessageIDHistoryTable.insert(changed)
        return changed


@fault("receiver-history-time-of-routed-message-is-sent-time", breaks="MQQB-3.1.5.8.2-07", blind=True)
class ReceiverHistoryTimeOfRoutedMessageIsSentTime(_HistoryTimeStampFault):
    """TimeStamp of the entry of a message for another queue manager is the SentTime of the message."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        if self.qm.message_receiving.is_for_this_queue_manager(packet):
            return super().remember_message(packet, now)
        return self.store_history_entry_with_time(packet, packet.UserHeader.SentTime, now)


@fault("receiver-history-time-repeats-that-of-first-message-of-source", breaks="MQQB-3.1.5.8.2-07", blind=True)
class ReceiverHistoryTimeRepeatsThatOfFirstMessageOfSource(_HistoryTimeStampFault):
    """TimeStamp of each entry is the time at which the first message of the same source arrived."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first_times: dict[object, int] = {}

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        first_s = self.first_times.setdefault(packet.UserHeader.SourceQueueManager, now.utc_s)
        return self.store_history_entry_with_time(packet, first_s, now)


@fault("receiver-history-time-of-transactional-message-in-ms", breaks="MQQB-3.1.5.8.2-08", blind=True)
class ReceiverHistoryTimeOfTransactionalMessageInMs(_HistoryTimeStampFault):
    """TimeStamp of the history entry of a transactional message is the low 32 bits of the time in milliseconds instead
    of seconds.
    """

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        if packet.TransactionHeader is None:
            return super().remember_message(packet, now)
        return self.store_history_entry_with_time(packet, 1000 * now.utc_s & 0xFFFFFFFF, now)


@fault("receiver-history-time-of-recoverable-message-since-start", breaks="MQQB-3.1.5.8.2-08", blind=True)
class ReceiverHistoryTimeOfRecoverableMessageSinceStart(_HistoryTimeStampFault):
    """TimeStamp of the entry of a recoverable message is the number of seconds since the start of the system."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        if not packet.UserHeader.DM:
            return super().remember_message(packet, now)
        return self.store_history_entry_with_time(packet, now.monotonic_ms // 1000, now)


@fault("receiver-history-timer-not-restarted-after-table-was-empty", breaks="MQQB-3.1.5.8.2-11", blind=True)
class ReceiverHistoryTimerNotRestartedAfterTableWasEmpty(MessageHistory):
    """The receiver starts the MessageIDHistory Cleanup Timer with the first entry after its start, but not with the
    first entry after the table has become empty.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.emptied = False

    def on_history_timer(self, now: Now) -> None:
        super().on_history_timer(now)
        self.emptied = not len(self.qm.adm.MessageIDHistoryTable)

    def start_history_timer(self, now: Now) -> None:
        if not self.emptied:
            super().start_history_timer(now)


@fault("receiver-history-timer-of-transactional-message-not-started", breaks="MQQB-3.1.5.8.2-11", blind=True)
class ReceiverHistoryTimerOfTransactionalMessageNotStarted(MessageHistory):
    """The receiver does not start the MessageIDHistory Cleanup Timer when the first entry is that of a transactional
    message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.transactional = False

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        self.transactional = packet.TransactionHeader is not None
        entry = super().remember_message(packet, now)
        self.transactional = False
        return entry

    def start_history_timer(self, now: Now) -> None:
        if not self.transactional:
            super().start_history_timer(now)


@fault("receiver-second-message-to-missing-queue-not-rejected", breaks="MQQB-3.1.5.8.2-16", blind=True)
class ReceiverSecondMessageToMissingQueueNotRejected(MessageAdmission):
    """The receiver rejects the first message to a queue that does not exist, and discards later messages to such queues
    without a rejection.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.rejected = False

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        missing = message_class is MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
        if missing and self.rejected:
            return
        self.rejected = self.rejected or missing
        super().refuse_message(session, packet, message_class, now)


@fault("receiver-message-to-unknown-private-number-stored-in-other-queue", breaks="MQQB-3.1.5.8.2-16", blind=True)
class ReceiverMessageToUnknownPrivateNumberStoredInOtherQueue(MessageArrival):
    """The receiver puts a message to a private queue with an unknown number into the first private queue."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        found = super().find_destination(packet)
        if found is None and isinstance(packet.UserHeader.DestinationQueue, PrivateQueueFormatNameId):
            return self.qm.adm.QueueCollection.find_private_queue(1)
        return found


def _replace_open_by_queue_of_same_host(original: Any, *_: Any) -> Any:
    """Return a function that opens the first outgoing queue to a queue manager instead of the requested outgoing queue
    to the same queue manager.
    """

    def open_known_queue(qm: QM, text: str, now: Now) -> Any:
        host = text.lower().partition("\\")[0]
        known = [queue for name, queue in qm.adm.OutgoingQueues.items() if name.partition("\\")[0] == host]
        return known[0] if known else original(qm, text, now)

    return open_known_queue


add(
    "router-second-queue-of-host-in-first-outgoing-queue",
    "MQQB-3.1.5.8.5-D02",
    "The queue manager puts a message for a second private queue of another queue manager into the outgoing queue for "
    "the first private queue.",
    replace_method_during(
        MessageRouting.route_message, DestinationResolving.open_outgoing_queue, _replace_open_by_queue_of_same_host
    ),
    blind=True,
)


@fault("router-express-message-discarded", breaks="MQQB-3.1.5.8.5-D02", blind=True)
class RouterExpressMessageDiscarded(MessageReceiving):
    """The queue manager puts only recoverable messages for another queue manager into an outgoing queue."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if self.is_for_this_queue_manager(packet) or packet.UserHeader.DM:
            super().put_received_message_into_queue(session, packet, receipt, now)

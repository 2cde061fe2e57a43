"""Faults of MS-MQQP 3.1.4.6 and 3.1.4.7 that break one kind of waiting read, one kind of message or one look."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import CANCELED_STATUS, RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.store.durability import Durability
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-cancel-receive-pqueue-0-accepted", breaks="MQQP-3.1.4.6-07", blind=True)
class ZeroAccepted(RemoteEnding):
    """RemoteQMCancelReceive accepts pQueue 0."""

    def check_cancel_queue(self, h_queue: int, p_queue: int) -> Status:
        return Status.MQ_OK if p_queue == 0 else super().check_cancel_queue(h_queue, p_queue)


@fault("server-cancel-receive-closed-queue-mq-error", breaks="MQQP-3.1.4.6-09", blind=True)
class ClosedQueueOtherStatus(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_ERROR_INVALID_PARAMETER for an hQueue that is not an open queue."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        if self.qm.remote_starting.find_remote_descriptor(h_queue) is None:
            return Status.MQ_ERROR_INVALID_PARAMETER, None
        return super().find_read_to_cancel(h_queue, request_id)


@fault("server-cancel-receive-after-last-read-of-queue-mq-error", breaks="MQQP-3.1.4.6-09", blind=True)
class EarlierReadsRemembered(RemoteEnding):
    """RemoteQMCancelReceive returns MQ_ERROR for a queue whose last waiting read was cancelled."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        seen = self.__dict__.setdefault("seen", set())
        if entry is not None:
            seen.add(h_queue)
        if status is Status.MQ_ERROR_INVALID_HANDLE and h_queue in seen:
            return Status.MQ_ERROR, None
        return status, entry


@fault("server-cancelled-receive-by-cursor-request-id-in-use", breaks="MQQP-3.1.4.6-19", blind=True)
class CancelledPeekKept(RemoteReads):
    """The server keeps the entry of a cancelled peek, so the dwRequestID stays in use."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        if entry not in self.__dict__.get("kept", ()):
            super().remove_remote_read_entry(entry)

    def complete_remote_read(self, entry, status, position):  # type: ignore[no-untyped-def]
        if status is CANCELED_STATUS and entry.Action is not ReadAction.MQ_ACTION_RECEIVE:
            self.__dict__.setdefault("kept", []).append(entry)
        super().complete_remote_read(entry, status, position)


@fault("server-cancel-receive-only-of-own-connection", breaks=("MQQP-3.1.4.6-10", "MQQP-3.1.1.3-01"), blind=True)
class OwnConnectionOnly(RemoteEnding):
    """RemoteQMCancelReceive finds only the reads that were called on the connection of the cancellation."""

    def remote_qm_cancel_receive(self, call: Call, now: Now) -> None:
        self.__dict__["by"] = call.association
        super().remote_qm_cancel_receive(call, now)

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        if entry is not None and entry.call.association is not self.__dict__["by"]:
            return Status.MQ_ERROR, None
        return status, entry


@fault("server-purge-forgets-waiting-reads", breaks="MQQP-3.1.1.3-01", blind=True)
class PurgeForgetsReads(RemoteOpening):
    """After a purge, the server no longer finds the reads that wait on the handle for a cancellation."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        for entry in self.qm.remote.RemoteReadEntryCollection.of(call.arguments["hQueue"]):
            self.qm.remote.RemoteReadEntryCollection.remove(entry)


@fault(
    "server-purged-recoverable-messages-back-after-restart", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"), blind=True
)
class PurgedInMemoryOnly(Durability):
    """The server purges a queue only in memory: recoverable messages are in the queue again after a restart."""

    def build_removal(self, positions, reason):  # type: ignore[no-untyped-def]
        return {} if reason.name == "MQMSG_CLASS_NACK_Q_PURGED" else super().build_removal(positions, reason)


@fault("server-purge-keeps-transactional-messages", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"), blind=True)
class TransactionalKept(RemoteOpening):
    """The server does not purge a transactional queue, and returns MQ_OK."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if queue.Transactional:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
        else:
            super().purge_remote_queue(call, queue)


@fault("server-purge-also-purges-journal", breaks="MQQP-3.1.4.7-09", blind=True)
class JournalPurged(RemoteOpening):
    """The server also purges the journal of the purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        journal = queue.JournalQueueReference
        super().purge_remote_queue(call, queue)
        if journal is not None:
            from reference_qm.surface.commands import Result

            self.qm.queues.purge(journal, None, lambda number: Result())


@fault("server-purge-without-negative-acknowledgments", breaks="MQQP-3.1.4.7-10", blind=True)
class PurgedSilently(Queues):
    """The server sends no acknowledgment Q_PURGED for the messages that a remote purge removes."""

    def purge(self, queue, token, done, failed=None):  # type: ignore[no-untyped-def]
        if token is None:
            for position in queue.MessagePositionList:
                position.MessageReference.AcknowledgementsRequested = 0
        return super().purge(queue, token, done, failed)


@fault("server-purge-of-closed-queue-accepted", breaks="MQQP-3.1.4.7-06", blind=True)
class ClosedHandlePurges(RemoteOpening):
    """RemoteQMPurgeQueue purges a queue through a handle that was closed, while the queue has another handle."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        known = self.__dict__.setdefault("known", {})
        if descriptor is not None:
            known[call.arguments["hQueue"]] = descriptor.QueueReference
        queue = known.get(call.arguments["hQueue"])
        if descriptor is None and queue is not None and queue.OpenQueueDescriptorCollection:
            self.purge_remote_queue(call, queue)
        else:
            super().remote_qm_purge_queue(call, now)

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        super().remote_qm_open_queue(call, now)
        descriptor = self.qm.remote_starting.find_remote_descriptor(call.arguments["dwpContext"])
        if descriptor is not None:
            self.__dict__.setdefault("known", {})[call.arguments["dwpContext"]] = descriptor.QueueReference


@fault("server-purge-of-queue-with-cursor-rewinds-handles", breaks="MQQP-3.1.4.7-12", blind=True)
class PurgeWithReaderFails(RemoteOpening):
    """The server purges the queue but returns MQ_ERROR if a read waits on the handle."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if self.qm.remote.RemoteReadEntryCollection.of(call.arguments["hQueue"]):
            from harness.faults.rpc_calls import change_answer_values

            call = change_answer_values(call, Return=Status.MQ_ERROR)
        super().purge_remote_queue(call, queue)

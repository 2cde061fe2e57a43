"""Faults of MS-MQQP 3.1.4.7 that affect only one cause, one state of a handle or one kind of read."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.store.durability import Durability
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault(
    "server-purged-recoverable-messages-back-after-restart", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"), blind=True
)
class ServerPurgedRecoverableMessagesBackAfterRestart(Durability):
    """The server purges a queue only in memory: recoverable messages are in the queue again after a restart."""

    def build_removal(self, positions, reason):
        return {} if reason.name == "MQMSG_CLASS_NACK_Q_PURGED" else super().build_removal(positions, reason)


@fault("server-purge-keeps-transactional-messages", breaks=("MQQP-3.1.4.7-D01", "MQQP-3.1.4.7-10"), blind=True)
class ServerPurgeKeepsTransactionalMessages(RemoteOpening):
    """RemoteQMPurgeQueue returns MQ_OK for a transactional queue, but leaves the messages in the queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if queue.Transactional:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
        else:
            super().purge_remote_queue(call, queue)


@fault("server-purge-also-purges-journal", breaks="MQQP-3.1.4.7-09", blind=True)
class ServerPurgeAlsoPurgesJournal(RemoteOpening):
    """The server also purges the journal of the purged queue."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        journal = queue.JournalQueueReference
        super().purge_remote_queue(call, queue)
        if journal is not None:
            from reference_qm.surface.commands import Result

            self.qm.queues.purge(journal, None, lambda number: Result())


@fault("server-purge-without-negative-acknowledgments", breaks="MQQP-3.1.4.7-10", blind=True)
class ServerPurgeWithoutNegativeAcknowledgments(Queues):
    """The server sends no acknowledgment of class Q_PURGED for the messages that a remote purge removes."""

    def purge(self, queue, token, done, failed=None):
        if token is None:
            for position in queue.MessagePositionList:
                position.MessageReference.AcknowledgementsRequested = 0
        return super().purge(queue, token, done, failed)


@fault("server-purge-of-closed-queue-accepted", breaks="MQQP-3.1.4.7-06", blind=True)
class ServerPurgeOfClosedQueueAccepted(RemoteOpening):
    """While a queue has an open handle, RemoteQMPurgeQueue also purges the queue through a closed handle."""

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
class ServerPurgeOfQueueWithCursorRewindsHandles(RemoteOpening):
    """If a read waits on the handle, RemoteQMPurgeQueue purges the queue but returns MQ_ERROR."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if self.qm.remote.RemoteReadEntryCollection.of(call.arguments["hQueue"]):
            from harness.faults.rpc_calls import change_answer_values

            call = change_answer_values(call, Return=Status.MQ_ERROR)
        super().purge_remote_queue(call, queue)

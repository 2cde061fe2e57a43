"""Faults of MS-MQQP 3.1.6 Rundown with several handles, clients and kinds of reads."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.rpc import Call


@fault("server-rundown-closes-only-first-queue-of-client", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesOnlyFirstQueueOfClient(RemoteOpening):
    """The server closes only the first of the queues that a lost client had open."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.clients: dict[object, int] = {}

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        if self.clients.setdefault(entry.ClientId, entry.OpenQueueDescriptorHandle) == entry.OpenQueueDescriptorHandle:
            super().run_down_session(entry)


@fault("server-rundown-with-cursor-leaves-queue-open", breaks="MQQP-3.1.6.1-01")
class ServerRundownWithCursorLeavesQueueOpen(RemoteOpening):
    """The server leaves the queue of a lost client open, if a cursor is open on its handle."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or not descriptor.CursorCollection:
            super().run_down_session(entry)


@fault("server-rundown-with-unfinished-receive-leaves-queue-open", breaks="MQQP-3.1.6.1-01")
class ServerRundownWithUnfinishedReceiveLeavesQueueOpen(RemoteOpening):
    """The server leaves the queue of a lost client open, if the client had not ended a receive of the queue."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        if queue is None or all(one.State is not MessagePositionState.LOCKED for one in queue.MessagePositionList):
            super().run_down_session(entry)


@fault("server-rundown-closes-queues-of-other-connection-of-client", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesQueuesOfOtherConnectionOfClient(RemoteOpening):
    """The server also closes the queues that the lost client has open over its other connections."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        super().run_down_session(entry)
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            if one.ClientId == entry.ClientId:
                self.close_open_queue_entry(one)


@fault("server-rundown-closes-queue-for-every-client", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesQueueForEveryClient(RemoteOpening):
    """The server closes the queue of a lost client for all clients that have this queue open."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        super().run_down_session(entry)
        if descriptor is not None and descriptor.QueueReference is not None:
            for one in list(descriptor.QueueReference.OpenQueueDescriptorCollection.values()):
                self.qm.queue_opening.close_queue(one)


@fault("server-rundown-leaves-queue-opened-to-peek", breaks="MQQP-3.1.6.1-01")
class ServerRundownLeavesQueueOpenedToPeek(RemoteOpening):
    """The server leaves the queue of a lost client open, if it was opened to peek."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or descriptor.AccessType is QueueAccessType.RECEIVE:
            super().run_down_session(entry)


@fault("server-rundown-leaves-shared-queue-open", breaks="MQQP-3.1.6.1-01")
class ServerRundownLeavesSharedQueueOpen(RemoteOpening):
    """The server leaves the queue of a lost client open, if it was opened with MQ_DENY_NONE."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or descriptor.ShareMode is not QueueShareMode.DENY_NONE:
            super().run_down_session(entry)


class _ByMethod(RemoteEnding):
    """Treat the unfinished receives of one method differently."""

    method = ""

    def is_special(self, call: Call) -> bool:
        return call.method.name == self.method

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if not self.is_special(entry.call):
            super().run_down_remote_read(entry)


@fault("server-rundown-leaves-start-receive-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesStartReceiveLocked(_ByMethod):
    """The server does not end the unfinished RemoteQMStartReceive of a lost client."""

    method = "RemoteQMStartReceive"


@fault("server-rundown-leaves-start-receive2-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesStartReceive2Locked(_ByMethod):
    """The server does not end the unfinished RemoteQMStartReceive2 of a lost client."""

    method = "RemoteQMStartReceive2"


@fault("server-rundown-leaves-receive-by-cursor-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesReceiveByCursorLocked(_ByMethod):
    """The server does not end the unfinished receive by a cursor of a lost client."""

    def is_special(self, call: Call) -> bool:
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        return bool(desc["hCursor"])


@fault("server-rundown-leaves-receive-that-waited-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesReceiveThatWaitedLocked(_ByMethod):
    """The server does not end the unfinished receive with an ulTimeout of a lost client."""

    def is_special(self, call: Call) -> bool:
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        return bool(desc["ulTimeout"])


class _Counting(RemoteEnding):
    """Count the unfinished receives of each handle that a rundown ends."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts: dict[int, int] = {}

    def count(self, entry: RemoteReadEntry) -> int:
        handle = entry.OpenQueueDescriptorHandle
        self.counts[handle] = self.counts.get(handle, 0) + 1
        return self.counts[handle]


@fault("server-rundown-leaves-second-receive-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownLeavesSecondReceiveLocked(_Counting):
    """The server ends only the first unfinished receive of each handle of a lost client."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if self.count(entry) == 1:
            super().run_down_remote_read(entry)


@fault("server-rundown-removes-message-of-second-receive", breaks="MQQP-3.1.6.2-02")
class ServerRundownRemovesMessageOfSecondReceive(_Counting):
    """The server removes the message of the second unfinished receive of a handle when the connection is lost."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if self.count(entry) == 1:
            super().run_down_remote_read(entry)
        else:
            _remove_message(entry)


def _remove_message(entry: RemoteReadEntry) -> None:
    position = entry.UserMessagePacket
    if position is not None and not entry.ended:
        position.QueueReference.MessagePositionList.remove(position)


class _Removing(RemoteEnding):
    """Remove the messages of some unfinished receives."""

    def is_special(self, entry: RemoteReadEntry) -> bool:
        raise NotImplementedError

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if self.is_special(entry):
            _remove_message(entry)
        else:
            super().run_down_remote_read(entry)


@fault("server-rundown-removes-express-message", breaks="MQQP-3.1.6.2-02")
class ServerRundownRemovesExpressMessage(_Removing):
    """The server removes an express message of an unfinished receive when the connection is lost."""

    def is_special(self, entry: RemoteReadEntry) -> bool:
        position = entry.UserMessagePacket
        return position is not None and position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


@fault("server-rundown-removes-message-of-start-receive", breaks="MQQP-3.1.6.2-02")
class ServerRundownRemovesMessageOfStartReceive(_Removing):
    """The server removes the message of an unfinished RemoteQMStartReceive when the connection is lost."""

    def is_special(self, entry: RemoteReadEntry) -> bool:
        return entry.call.method.name == "RemoteQMStartReceive"


@fault("server-rundown-removes-transactional-message", breaks="MQQP-3.1.6.2-02")
class ServerRundownRemovesTransactionalMessage(_Removing):
    """The server removes the message of an unfinished receive of a transactional queue when the connection is lost."""

    def is_special(self, entry: RemoteReadEntry) -> bool:
        position = entry.UserMessagePacket
        return position is not None and position.QueueReference.Transactional

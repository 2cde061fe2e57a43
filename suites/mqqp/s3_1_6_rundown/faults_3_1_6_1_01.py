"""Faults that break the rule MQQP-3.1.6.1-01."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import MessagePositionState

add(
    "server-lost-client-queue-stays-open",
    "MQQP-3.1.6.1-01",
    "The server leaves a queue open when the connection of its client is lost.",
    omit_step(RemoteQueueOpening.run_down_session),
)


@fault("server-rundown-closes-only-first-queue", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesOnlyFirstQueue(RemoteQueueOpening):
    """The server closes only the first of the queues that were opened on a lost connection."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        handles = [one.OpenQueueDescriptorHandle for one in self.qm.remote.OpenQueueEntryCollection]
        if entry.OpenQueueDescriptorHandle == min(handles):
            super().run_down_session(entry)
            self.qm.remote.OpenQueueEntryCollection.add(entry)


@fault("server-rundown-queue-with-cursor-not-closed", breaks="MQQP-3.1.6.1-01")
class ServerRundownQueueWithCursorNotClosed(RemoteQueueOpening):
    """If a cursor of a queue is open, the server does not close the queue when the client's connection is lost."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or not descriptor.CursorCollection:
            super().run_down_session(entry)


@fault("server-rundown-closes-handles-of-other-clients", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesHandlesOfOtherClients(RemoteQueueOpening):
    """When the connection of one reader is lost, the server closes the handles of all readers of the queue."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        others = [
            one
            for one in self.qm.remote.OpenQueueEntryCollection
            if mine is not None
            and (other := self.qm.remote_read_starting.find_remote_descriptor(one.OpenQueueDescriptorHandle))
            is not None
            and other.QueueReference is mine.QueueReference
        ]
        for one in others:
            super().run_down_session(one)


@fault("server-rundown-closes-only-first-queue-of-client", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesOnlyFirstQueueOfClient(RemoteQueueOpening):
    """When the connection of a client is lost, the server closes only the first of the queues of the client."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.clients: dict[object, int] = {}

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        if self.clients.setdefault(entry.ClientId, entry.OpenQueueDescriptorHandle) == entry.OpenQueueDescriptorHandle:
            super().run_down_session(entry)


@fault("server-rundown-with-unfinished-receive-leaves-queue-open", breaks="MQQP-3.1.6.1-01")
class ServerRundownWithUnfinishedReceiveLeavesQueueOpen(RemoteQueueOpening):
    """When the connection of a client is lost, the server leaves a queue open if the client had not ended a receive of
    this queue.
    """

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        queue = None if descriptor is None else descriptor.QueueReference
        if queue is None or all(one.State is not MessagePositionState.LOCKED for one in queue.MessagePositionList):
            super().run_down_session(entry)


@fault("server-rundown-closes-queues-of-other-connection-of-client", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesQueuesOfOtherConnectionOfClient(RemoteQueueOpening):
    """When a connection of a client is lost, the server also closes the queues that the client has open over its other
    connections.
    """

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        super().run_down_session(entry)
        for one in list(self.qm.remote.OpenQueueEntryCollection):
            if one.ClientId == entry.ClientId:
                self.close_open_queue_entry(one)


@fault("server-rundown-closes-queue-for-every-client", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesQueueForEveryClient(RemoteQueueOpening):
    """When the connection of a client is lost, the server closes the client's queue for all clients that have this
    queue open.
    """

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        super().run_down_session(entry)
        if descriptor is not None and descriptor.QueueReference is not None:
            for one in list(descriptor.QueueReference.OpenQueueDescriptorCollection.values()):
                self.qm.queue_opening.close_queue(one)


@fault("server-rundown-leaves-queue-opened-to-peek", breaks="MQQP-3.1.6.1-01")
class ServerRundownLeavesQueueOpenedToPeek(RemoteQueueOpening):
    """When the connection of a client is lost, the server leaves a queue open if the client opened it to peek."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or descriptor.AccessType is QueueAccessType.RECEIVE:
            super().run_down_session(entry)


@fault("server-rundown-leaves-shared-queue-open", breaks="MQQP-3.1.6.1-01")
class ServerRundownLeavesSharedQueueOpen(RemoteQueueOpening):
    """When the connection of a client is lost, the server leaves a queue open if the client opened it with
    MQ_DENY_NONE.
    """

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or descriptor.ShareMode is not QueueShareMode.DENY_NONE:
            super().run_down_session(entry)


@fault("server-rundown-does-not-close-queue-opened-to-peek", breaks="MQQP-3.1.6.1-01", blind=True)
class ServerRundownDoesNotCloseQueueOpenedToPeek(RemoteQueueOpening):
    """When the connection of a client is lost, the server does not close a queue that the client opened to peek."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or descriptor.AccessType.name == "RECEIVE":
            super().run_down_session(entry)


@fault("server-rundown-closes-only-first-two-queues", breaks="MQQP-3.1.6.1-01", blind=True)
class ServerRundownClosesOnlyFirstTwoQueues(RemoteQueueOpening):
    """When connections are lost, the server closes only the first two queues of their clients, and leaves all later
    queues open.
    """

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        number = self.__dict__["number"] = self.__dict__.get("number", 0) + 1
        if number <= 2:
            super().run_down_session(entry)

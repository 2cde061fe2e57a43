"""Faults of MS-MQQP 3.1.6 that affect only one kind of receive, or reads that still wait."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.rpc import Call


@fault("server-rundown-waiting-read-still-takes-message", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerRundownWaitingReadStillTakesMessage(RemoteEnding):
    """When the connection of a client is lost, the server lets its waiting read wait, and removes the next message for
    this read.
    """

    def orphan_call(self, call: Call) -> None:
        self.__dict__.setdefault("dead", set()).add(call)

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if entry.call in self.__dict__.get("dead", ()):
            self.end_remote_read(entry, True, lambda status: None)
        else:
            super().run_down_remote_read(entry)


@fault("server-rundown-queue-with-waiting-read-open", breaks="MQQP-3.1.6.1-01", blind=True)
class ServerRundownQueueWithWaitingReadOpen(RemoteOpening):
    """When the connection of a client is lost, the server does not close a queue that the client opened to peek."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or descriptor.AccessType.name == "RECEIVE":
            super().run_down_session(entry)


@fault("server-rundown-recoverable-message-lost-at-restart", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerRundownRecoverableMessageLostAtRestart(RemoteEnding):
    """A recoverable message that the server returned to the queue after the loss of a connection is missing after the
    next restart.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        super().run_down_remote_read(entry)
        from reference_qm.core.store.entries import build_removal_change

        if entry.UserMessagePacket is not None and entry.UserMessagePacket.key:
            self.qm.disk.save(build_removal_change([entry.UserMessagePacket]))


@fault("server-rundown-express-message-deleted", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerRundownExpressMessageDeleted(RemoteEnding):
    """When the connection of a client is lost, the server deletes an express message whose receive is unfinished."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        assert position is not None
        if position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS and not entry.ended:
            self.qm.two_phase_reading.end_with_deletion(position, lambda status: None)
        else:
            super().run_down_remote_read(entry)


@fault("server-rundown-only-of-first-two-handles", breaks="MQQP-3.1.6.1-01", blind=True)
class ServerRundownOnlyOfFirstTwoHandles(RemoteOpening):
    """The server closes only the first two queues of clients whose connections are lost, and leaves later ones open."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        number = self.__dict__["number"] = self.__dict__.get("number", 0) + 1
        if number <= 2:
            super().run_down_session(entry)

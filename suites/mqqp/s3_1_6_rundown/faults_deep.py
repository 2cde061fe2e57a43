"""Faults of MS-MQQP 3.1.6 Rundown that only special cases reveal: several queues, receives and clients."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import OpenQueueEntry, RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.states import MessagePositionState


@fault("server-rundown-closes-only-first-queue", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesOnlyFirstQueue(RemoteOpening):
    """The server closes only the first of the queues that were opened on a lost connection."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        handles = [one.OpenQueueDescriptorHandle for one in self.qm.remote.OpenQueueEntryCollection]
        if entry.OpenQueueDescriptorHandle == min(handles):
            super().run_down_session(entry)
            self.qm.remote.OpenQueueEntryCollection.add(entry)


@fault("server-rundown-queue-with-cursor-not-closed", breaks="MQQP-3.1.6.1-01")
class ServerRundownQueueWithCursorNotClosed(RemoteOpening):
    """If a cursor of a queue is open, the server does not close the queue when the client's connection is lost."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is None or not descriptor.CursorCollection:
            super().run_down_session(entry)


@fault("server-rundown-closes-handles-of-other-clients", breaks="MQQP-3.1.6.1-01")
class ServerRundownClosesHandlesOfOtherClients(RemoteOpening):
    """When the connection of one reader is lost, the server closes the handles of all readers of the queue."""

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        mine = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        others = [
            one
            for one in self.qm.remote.OpenQueueEntryCollection
            if mine is not None
            and (other := self.qm.remote_starting.find_remote_descriptor(one.OpenQueueDescriptorHandle)) is not None
            and other.QueueReference is mine.QueueReference
        ]
        for one in others:
            super().run_down_session(one)


@fault("server-rundown-of-second-open-receive-deletes-message", breaks=("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02"))
class ServerRundownOfSecondOpenReceiveDeletesMessage(RemoteEnding):
    """When the connection of a client with two unfinished receives is lost, the server returns only the first of their
    messages to the queue, and deletes the other message.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        if position is not None and not entry.ended:
            locked = [one for one in position.QueueReference.MessagePositionList if one.State.name == "LOCKED"]
            if len(locked) == 1 and position.QueueReference.MessagePositionList.Head is not position:
                position.QueueReference.MessagePositionList.remove(position)
                return
        super().run_down_remote_read(entry)


@fault("server-rundown-of-receive-by-cursor-keeps-message-locked", breaks="MQQP-3.1.6.2-01")
class ServerRundownOfReceiveByCursorKeepsMessageLocked(RemoteEnding):
    """When the connection of a client is lost, the server keeps the message of an unfinished receive by a cursor
    locked.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        desc = entry.call.arguments.get("lpRemoteReadDesc")
        desc = desc or entry.call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if not desc["hCursor"]:
            super().run_down_remote_read(entry)


@fault("server-rundown-of-start-receive2-deletes-message", breaks="MQQP-3.1.6.2-02")
class ServerRundownOfStartReceive2DeletesMessage(RemoteEnding):
    """The server deletes the message of an unfinished RemoteQMStartReceive2 when the connection is lost."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        second = entry.call.method.name == "RemoteQMStartReceive2"
        if second and position is not None and entry.Action is ReadAction.MQ_ACTION_RECEIVE:
            position.QueueReference.MessagePositionList.remove(position)
        else:
            super().run_down_remote_read(entry)


@fault("server-rundown-puts-message-at-end-of-queue", breaks="MQQP-3.1.6.2-02")
class ServerRundownPutsMessageAtEndOfQueue(RemoteEnding):
    """The server puts the message of an unfinished receive at the end of the queue when the connection is lost."""

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        super().run_down_remote_read(entry)
        if position is not None and position.State is MessagePositionState.AVAILABLE:
            self.qm.positions.move_message(position, position.QueueReference)


@fault("server-rundown-does-not-give-message-to-waiting-read", breaks="MQQP-3.1.6.2-02")
class ServerRundownDoesNotGiveMessageToWaitingRead(RemoteEnding):
    """At a rundown, the server returns the message of an unfinished receive to its queue, but does not deliver it to
    the waiting read of another client.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        if position is not None and position.State is MessagePositionState.LOCKED and not entry.ended:
            entry.ended = True
            position.State = MessagePositionState.AVAILABLE
            position.QueueReference.MessagePositionList.reset_search_start(position)
        else:
            super().run_down_remote_read(entry)


@fault("server-rundown-ends-open-receives-of-other-clients", breaks="MQQP-3.1.6.2-01")
class ServerRundownEndsOpenReceivesOfOtherClients(RemoteEnding):
    """When the connection of a client is lost, the server also ends the unfinished receives of other clients from the
    queue.
    """

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        position = entry.UserMessagePacket
        if position is not None:
            for one in list(position.QueueReference.MessagePositionList):
                self.qm.positions.unlock_message(one)
        super().run_down_remote_read(entry)

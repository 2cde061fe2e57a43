"""Faults of MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId that concern single values, several queues, or reads while
other reads are pending.
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

ReadDescription = dict[str, Any]
LOW_32_BITS_MASK = 0xFFFFFFFF


@fault("server-lookup-timeout-infinite-accepted", breaks="MQQP-3.1.4.11-23", blind=True)
class ServerLookupTimeoutInfiniteAccepted(RemoteReadStarting):
    """RemoteQMStartReceiveByLookupId accepts the ulTimeout INFINITE."""

    def check_lookup_timeout(self, desc: ReadDescription) -> Status:
        return Status.MQ_OK if desc["ulTimeout"] == LOW_32_BITS_MASK else super().check_lookup_timeout(desc)


@fault("server-lookup-peek-with-timeout-accepted", breaks="MQQP-3.1.4.11-23", blind=True)
class ServerLookupPeekWithTimeoutAccepted(RemoteReadStarting):
    """RemoteQMStartReceiveByLookupId checks ulTimeout only for the RECEIVE actions."""

    def check_lookup_timeout(self, desc: ReadDescription) -> Status:
        return super().check_lookup_timeout(desc) if desc["ulAction"] in RECEIVE_ACTIONS else Status.MQ_OK


@fault("server-lookup-with-open-cursor-accepted", breaks="MQQP-3.1.4.11-24", blind=True)
class ServerLookupWithOpenCursorAccepted(RemoteReadStarting):
    """RemoteQMStartReceiveByLookupId accepts an hCursor that is an open cursor of the queue."""

    def check_lookup_cursor(self, desc: ReadDescription) -> Status:
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        if descriptor is not None and desc["hCursor"] in descriptor.CursorCollection:
            return Status.MQ_OK
        return super().check_lookup_cursor(desc)


@fault("server-lookup-compares-low-32-bits", breaks=("MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"), blind=True)
class ServerLookupComparesLow32Bits(MessageSearch):
    """RemoteQMStartReceiveByLookupId compares only the 32 low bits of LookupId with the LookupIdentifiers."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is None:
            same = [
                one
                for one in queue.MessagePositionList
                if one.LookupIdentifier & LOW_32_BITS_MASK == lookup_id & LOW_32_BITS_MASK
            ]
            lookup_id = same[0].LookupIdentifier if same else lookup_id
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-prev-goes-to-first-message", breaks="MQQP-3.1.4.11-44", blind=True)
class ServerLookupPrevGoesToFirstMessage(MessageSearch):
    """A PREV action returns the first message before the given LookupId instead of the nearest one."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found is not None and lookup_action is MessageSeekAction.PREVIOUS:
            first = self.seek_available(queue.MessagePositionList.Start, peek_operation)
            return status, first or found
        return status, found


@fault(
    "server-lookup-receive-next-of-id-0-removes-last-message",
    breaks=("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D05"),
    blind=True,
)
class ServerLookupReceiveNextOfId0RemovesLastMessage(RemoteReads):
    """LOOKUP_RECEIVE_NEXT with LookupId 0 removes the last message of the queue."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT and lookup_id == 0:
            return MessageSeekAction.LAST
        return super().get_lookup_operation(action, lookup_id)


@fault(
    "server-lookup-receive-prev-at-end-removes-first-message",
    breaks=("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D06"),
    blind=True,
)
class ServerLookupReceivePrevAtEndRemovesFirstMessage(RemoteReads):
    """LOOKUP_RECEIVE_PREV with all bits of LookupId set removes the first message of the queue."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_PREV and lookup_id == 0xFFFFFFFFFFFFFFFF:
            return MessageSeekAction.FIRST
        return super().get_lookup_operation(action, lookup_id)


@fault("server-lookup-falls-back-to-other-open-queue", breaks="MQQP-3.1.4.11-29", blind=True)
class ServerLookupFallsBackToOtherOpenQueue(RemoteReads):
    """RemoteQMStartReceiveByLookupId reads a message with the given LookupId from another open queue if the queue of
    the call does not contain it.
    """

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        queue = descriptor.QueueReference
        if queue is not None and queue.MessagePositionList.find(lookup_id) is None:
            for other in self.qm.descriptors.values():
                found = other.QueueReference and other.QueueReference.MessagePositionList.find(lookup_id)
                if found:
                    descriptor = other
                    break
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


@fault("server-lookup-sequential-id-of-receive-is-0", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"), blind=True)
class ServerLookupSequentialIdOfReceiveIs0(RemoteReads):
    """RemoteQMStartReceiveByLookupId returns SequentialId 0 for a RECEIVE action."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        self.__dict__["receiving"] = entry.Action in RECEIVE_ACTIONS
        super().remote_read_by_lookup(entry, descriptor, lookup_id)
        self.__dict__["receiving"] = False

    def get_sequential_id(self, position: MessagePosition) -> int:
        return 0 if self.__dict__.get("receiving") else super().get_sequential_id(position)


@fault("server-lookup-receive-of-second-message-unlocks-first", breaks="MQQP-3.1.4.11-36", blind=True)
class ServerLookupReceiveOfSecondMessageUnlocksFirst(RemoteReads):
    """A receive by LookupIdentifier makes the message of an earlier receive by LookupIdentifier available again."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        super().remote_read_by_lookup(entry, descriptor, lookup_id)
        earlier: MessagePosition | None = self.__dict__.get("earlier")
        if entry.Action in RECEIVE_ACTIONS and entry.UserMessagePacket is not None:
            self.__dict__["earlier"] = entry.UserMessagePacket
            if earlier is not None and earlier.State is MessagePositionState.LOCKED:
                self.qm.message_positions.unlock_message(earlier)

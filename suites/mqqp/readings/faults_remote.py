"""Faults that follow another possible meaning of an unclear passage about remote reads than the one that the project
chose (an erratum).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import reference_qm.core.remote.remote_reads as remote_reading
from harness.faults.parts import faulty_only_if, follows_reading_of_erratum, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import register_variant_of_reading
from reference_qm.core.queueing.message_positions import LOOKUP_ID_WITHOUT_PRIORITY_MASK, MessagePositions
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.core.queueing.queue_opening import QueueOpening
from reference_qm.core.remote.client_message_reading import ClientMessageReading, ServerVersion
from reference_qm.core.remote.client_model import RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS, RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import CursorState, MessageSeekAction, QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.rpc.calls import Call
from reference_qm.rpc.events import RpcOutput
from reference_qm.surface.clock import Now

LOOKUP_RECEIVE_ACTIONS = frozenset(RECEIVE_ACTIONS) - {ReadAction.MQ_ACTION_RECEIVE}


@follows_reading_of_erratum("E51.2")
class ServerReturnsFailureForCancelledRead(RemoteReadEnding):
    """A cancelled read returns a failure HRESULT, not an informational status."""

    def cancel_remote_read(self, entry: RemoteReadEntry, status: Status) -> Status:
        failed = Status.MQ_ERROR_OPERATION_CANCELLED if status is CANCELED_STATUS else status
        return super().cancel_remote_read(entry, failed)


@follows_reading_of_erratum("E52.2")
class ServerDoesNotCancelPeeks(RemoteReads):
    """RemoteQMCancelReceive does not find a waiting peek, so the peek waits until its timeout expires."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        answered = partial(self.complete_remote_read, entry)
        timeout_ms = None if entry.Timeout == INFINITE_MS else entry.Timeout
        self.qm.message_reading.peek_message(descriptor, answered, now, timeout_ms, cursor)

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        if entry in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
            super().remove_remote_read_entry(entry)


@follows_reading_of_erratum("E55.2")
class ServerOpensQueueByDescriptorHandleOnly(RemoteQueueOpening):
    """RemoteQMOpenQueue refuses a dwpContext that is not the handle of an OpenQueueDescriptor."""

    @faulty_only_if(
        lambda part, _, dwp_context: part.qm.remote_read_starting.find_remote_descriptor(dwp_context) is None
    )
    def check_open_handle_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        return super().check_open_handle_values_equal(p_queue, dwp_context) or Status.MQ_ERROR_INVALID_HANDLE


class _CallRaisingFailureStatus(Call):
    __slots__ = ()

    def respond(self, **results: Any) -> list[RpcOutput]:
        status = results["Return"]
        return self.fault(status) if status else super().respond(**results)


@follows_reading_of_erratum("E56.2")
class ServerRaisesExceptionFromPurgeQueue(RemoteQueueOpening):
    """RemoteQMPurgeQueue throws an error: it answers with a fault whose status is the error code."""

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        call.__class__ = _CallRaisingFailureStatus
        super().remote_qm_purge_queue(call, now)


class _LookupReceiveRemover(RemoteReads):
    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        operation = self.get_lookup_operation(entry.Action, lookup_id)
        answered = partial(self.complete_remote_read, entry)
        self.qm.message_reading.read_by_lookup_identifier(
            descriptor, lookup_id, operation, answered, entry.Action not in RECEIVE_ACTIONS
        )


class _LookupReceiveEndIgnorer(RemoteReadEnding):
    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        if entry.Action in LOOKUP_RECEIVE_ACTIONS:
            entry.ended = True
            ended(Status.MQ_OK)
        else:
            super().end_remote_read(entry, delete_message, ended)


register_variant_of_reading(
    "E57.2",
    "A receive by LookupIdentifier removes the message at once: RR_NACK does not return it to the queue.",
    combine_installers(replace_part(_LookupReceiveRemover), replace_part(_LookupReceiveEndIgnorer)),
)


@follows_reading_of_erratum("E58.2")
class SeekFirstOrLastFailsForReservedLookupIds(MessageSearch):
    """A lookup with SeekFirst or SeekLast fails, because no message has the LookupIdentifier 0 or the maximum
    LookupIdentifier.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        if queue.MessagePositionList.find(lookup_id) is None:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@follows_reading_of_erratum("E59.2")
class ServerReversesPriorityInTransactionalLookupId(MessagePositions):
    """The highest byte of LookupIdentifier is 7 minus the priority for transactional messages, and 0 for all other
    messages.
    """

    def assign_lookup_identifier(self, message: Message) -> int:
        sequential = super().assign_lookup_identifier(message) & LOOKUP_ID_WITHOUT_PRIORITY_MASK
        return (0 if message.TransactionIdentifier is None else 7 - message.Priority) << 56 | sequential


@follows_reading_of_erratum("E60.2")
class ServerReturnsSharingViolationForExclusivelyOpenQueue(QmcommMethods):
    """When a client opens a queue that another reader has open exclusively, the server returns
    MQ_ERROR_SHARING_VIOLATION.
    """

    def convert_status_of_failed_open(self, status: Status) -> Status:
        return status


@follows_reading_of_erratum("E62.2")
class ServerReceivesThroughPeekHandle(RemoteReadStarting):
    """The server performs a receive through a handle that was opened for peeking."""

    @faulty_only_if(lambda part, descriptor, desc: descriptor.AccessType is not QueueAccessType.RECEIVE)
    def check_read_access(self, descriptor: OpenQueueDescriptor, desc: ReadDescription) -> Status:
        return Status.MQ_OK


@follows_reading_of_erratum("E102.2")
class ServerPutsPriorityIntoEveryLookupId(MessagePositions):
    """The highest byte of LookupIdentifier is 7 minus the priority in every queue."""

    @faulty_only_if(lambda part, message: message.TransactionIdentifier is not None)
    def assign_lookup_identifier(self, message: Message) -> int:
        return (7 - message.Priority) << 56 | super().assign_lookup_identifier(
            message
        ) & LOOKUP_ID_WITHOUT_PRIORITY_MASK


@follows_reading_of_erratum("E103.2")
class SeekFirstOrLastRequiresKnownOrReservedLookupId(MessageSearch):
    """A lookup with SeekFirst or SeekLast succeeds only with the LookupIdentifier of a message in the queue, with 0, or
    with the maximum.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        none = (remote_reading.FIRST_LOOKUP_ID, remote_reading.LAST_LOOKUP_ID)
        if lookup_id not in none and queue.MessagePositionList.find(lookup_id) is None:
            return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@follows_reading_of_erratum("E106.2")
class ServerCursorFindsNothingAfterTimedOutReceive(QueueCursors):
    """When the wait of a receive by a cursor has expired, the cursor finds no message any more."""

    def on_read_wait_expired(self, cursor: Cursor) -> None:
        waited = cursor.CursorState is CursorState.WAIT_RECEIVE
        super().on_read_wait_expired(cursor)
        if waited:
            self.ended = {*getattr(self, "ended", ()), cursor.Handle}


@follows_reading_of_erratum("E107.2")
class ReadWithoutTagWaitsAfterCloseOfQueue(QueueOpening):
    """When an OpenQueueDescriptor is closed, a waiting read without a tag continues to wait."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        readers = self.qm.readers
        kept = {reader.number: reader for reader in readers.values() if reader.Tag is None}
        for number in kept:
            del readers[number]
        super().close_queue(queue_desc)
        readers.update(kept)


@follows_reading_of_erratum("E136.2")
class ClientTreatsLowBuildOfVersion51AsOld(ClientMessageReading):
    """The client treats a server of version 5.1 with a build below 951 like a server of an earlier version."""

    def is_old_version(self, version: ServerVersion | None) -> bool:
        return super().is_old_version(version) or (version is not None and version[:2] == (5, 1) and version[2] < 951)


@follows_reading_of_erratum("E137.2")
class ClientKeepsEntriesOfClosedQueues(ClientQueueOpening):
    """The client keeps the RemoteOpenQueueEntry of a closed queue."""

    def remove_remote_open_queue_entry(self, entry: RemoteOpenQueueEntry) -> None:
        """Keep the RemoteOpenQueueEntry of the closed queue."""


@follows_reading_of_erratum("E138.2")
class ClientFindsEntryByQueueHandleOnly(ClientQueueOpening):
    """The client finds the RemoteOpenQueueEntry of a queue only by its QueueHandle."""

    def find_remote_open_queue_entry(self, queue: RemoteQueue) -> RemoteOpenQueueEntry:
        for entry in self.qm.remote_client.RemoteOpenQueueEntryCollection:
            if entry.OpenQueueDescriptorHandle == queue.QueueHandle:
                return entry
        return super().find_remote_open_queue_entry(queue)


@follows_reading_of_erratum("E139.2")
class ServerComparesSevenBytesOfLookupId(MessageSearch):
    """The server compares only the low seven bytes of a LookupIdentifier."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        low = lookup_id & LOOKUP_ID_WITHOUT_PRIORITY_MASK
        whole = (
            one.LookupIdentifier
            for one in queue.MessagePositionList
            if one.LookupIdentifier & LOOKUP_ID_WITHOUT_PRIORITY_MASK == low
        )
        return super().seek_with_identifier(queue, next(whole, lookup_id), peek_operation, lookup_action)


@follows_reading_of_erratum("E170.2")
class ServerTreatsHandleOfDeletedQueueAsUnknown(RemoteReadStarting):
    """The server treats a handle of a deleted queue as unknown."""

    @faulty_only_if(
        lambda part, handle: handle in part.qm.descriptors and part.qm.descriptors[handle].QueueReference is None
    )
    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        return None

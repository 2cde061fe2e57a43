"""Faults that break the rules MQQP-3.1.4.11-15 to MQQP-3.1.4.11-36."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from suites.mqqp.s3_1_4_11_start_receive_by_lookup_id.fault_steps import (
    LookupRequestChanger,
    ReadAnswerChanger,
    SeekResult,
)


@fault("client-lookup-peek-prev-sends-infinite-ul-timeout", breaks="MQQP-3.1.4.11-15", blind=True)
class ClientLookupPeekPrevSendsInfiniteUlTimeout(LookupRequestChanger):
    """The client sets ulTimeout of a LOOKUP_PEEK_PREV to 0xFFFFFFFF."""

    action = ReadAction.MQ_LOOKUP_PEEK_PREV

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": 0xFFFFFFFF}


@fault("client-lookup-receive-next-sends-ul-timeout-1", breaks="MQQP-3.1.4.11-17", blind=True)
class ClientLookupReceiveNextSendsUlTimeout1(LookupRequestChanger):
    """The client sets ulTimeout of a LOOKUP_RECEIVE_NEXT to 1."""

    action = ReadAction.MQ_LOOKUP_RECEIVE_NEXT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": 1}


@fault(
    "server-failed-read-returns-success",
    breaks=(
        "MQQP-3.1.4.1-10",
        "MQQP-3.1.4.10-10",
        "MQQP-3.1.4.11-18",
        "MQQP-3.1.4.11-58",
        "MQQP-3.1.4.1-D20",
        "MQQP-3.1.4.10-55",
    ),
)
class ServerFailedReadReturnsSuccess(RemoteReads):
    """The server returns MQ_OK for a failed read."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(call, Status.MQ_OK, entry)


@fault("server-lookup-missing-message-returns-mq-ok", breaks=("MQQP-3.1.4.11-58", "MQQP-3.1.4.11-18"))
class ServerLookupMissingMessageReturnsMqOk(ReadAnswerChanger):
    """The server returns MQ_OK without a message when PEEK_NEXT finds no further message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and status and entry.Action is ReadAction.MQ_LOOKUP_PEEK_NEXT
        return change_answer_values(call, Return=Status.MQ_OK) if wrong else call


@fault(
    "server-lookup-receive-current-of-missing-message-returns-mq-ok",
    breaks=("MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"),
    blind=True,
)
class ServerLookupReceiveCurrentOfMissingMessageReturnsMqOk(ReadAnswerChanger):
    """The server returns MQ_OK for a RECEIVE_CURRENT whose LookupId belongs to no message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        missing = entry is not None and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_CURRENT
        wrong = missing and status is Status.MQ_ERROR_MESSAGE_NOT_FOUND
        return change_answer_values(call, Return=Status.MQ_OK) if wrong else call


@fault(
    "server-lookup-receive-of-locked-message-returns-mq-ok",
    breaks=("MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"),
    blind=True,
)
class ServerLookupReceiveOfLockedMessageReturnsMqOk(ReadAnswerChanger):
    """The server returns MQ_OK without a message when RECEIVE_CURRENT names a locked message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = status is Status.MQ_ERROR_TRANSACTION_USAGE
        return change_answer_values(call, Return=Status.MQ_OK) if wrong else call


@fault("client-lookup-retried-after-io-timeout", breaks="MQQP-3.1.4.11-18", blind=True)
class ClientLookupRetriedAfterIoTimeout(ClientMessageReading):
    """The client calls RemoteQMStartReceiveByLookupId again when the call returned MQ_ERROR_IO_TIMEOUT."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().start_receive2(read))
        except RemoteError as error:
            if read.LookupId is None or error.status != Status.MQ_ERROR_IO_TIMEOUT:
                raise
        return (yield from super().start_receive2(read))


add(
    "server-lookup-with-cursor-accepted",
    ("MQQP-3.1.4.11-24", "MQQP-3.1.4.11-21"),
    "The server accepts a lookup with a nonzero hCursor, and ignores the cursor.",
    omit_step(RemoteReadStarting.check_lookup_cursor),
)


add(
    "server-lookup-with-timeout-accepted",
    ("MQQP-3.1.4.11-23", "MQQP-3.1.4.11-21"),
    "The server accepts a lookup with a nonzero ulTimeout, and ignores the timeout.",
    omit_step(RemoteReadStarting.check_lookup_timeout),
)


@fault(
    "server-lookup-with-hremotequeue-0-reads-first-open-queue",
    breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-22"),
)
class ServerLookupWithHremotequeue0ReadsFirstOpenQueue(RemoteReadStarting):
    """The server reads the first open queue when hRemoteQueue is 0."""

    def check_dw_queue(self, desc: ReadDescription) -> Status:
        return self._replace_queue_by_first_opened(desc) if super().check_dw_queue(desc) else Status.MQ_OK

    def check_lookup_queue(self, desc: ReadDescription) -> Status:
        return self._replace_queue_by_first_opened(desc) if super().check_lookup_queue(desc) else Status.MQ_OK

    def _replace_queue_by_first_opened(self, desc: ReadDescription) -> Status:
        desc["hRemoteQueue"] = desc["dwQueue"] = next(iter(self.qm.descriptors))
        return Status.MQ_OK


@fault("server-accepts-lookup-with-ul-timeout-only-in-high-16-bits", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"))
class ServerAcceptsLookupWithUlTimeoutOnlyInHigh16Bits(RemoteReadStarting):
    """The server accepts a read by LookupIdentifier with a nonzero ulTimeout if the low 16 bits of
    ulTimeout are zero.
    """

    def check_lookup_timeout(self, desc: ReadDescription) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["ulTimeout"] & 0xFFFF else Status.MQ_OK


@fault("server-lookup-infinite-timeout-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"))
class ServerLookupInfiniteTimeoutAccepted(RemoteReadStarting):
    """The server accepts a read by LookupIdentifier with ulTimeout 0xFFFFFFFF."""

    def check_lookup_timeout(self, desc: ReadDescription) -> Status:
        return Status.MQ_OK if desc["ulTimeout"] == 0xFFFFFFFF else super().check_lookup_timeout(desc)


@fault("server-accepts-lookup-receive-with-ul-timeout", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"))
class ServerAcceptsLookupReceiveWithUlTimeout(RemoteReadStarting):
    """The server checks ulTimeout only for the peek actions of a read by LookupIdentifier."""

    def check_lookup_timeout(self, desc: ReadDescription) -> Status:
        return Status.MQ_OK if desc["ulAction"] in RECEIVE_ACTIONS else super().check_lookup_timeout(desc)


@fault("server-lookup-open-cursor-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-24"))
class ServerLookupOpenCursorAccepted(RemoteReadStarting):
    """The server accepts an open cursor of the queue in a read by LookupIdentifier."""

    def check_lookup_cursor(self, desc: ReadDescription) -> Status:
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        known = descriptor is not None and self.find_remote_cursor(descriptor, desc["hCursor"]) is not None
        return Status.MQ_OK if known else super().check_lookup_cursor(desc)


@fault(
    "server-returns-invalid-handle-for-lookup-receive-of-h-remote-queue-0",
    breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-22"),
    blind=True,
)
class ServerReturnsInvalidHandleForLookupReceiveOfHRemoteQueue0(ReadAnswerChanger):
    """The server returns MQ_ERROR_INVALID_HANDLE for a receive by LookupIdentifier with hRemoteQueue 0."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        desc = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        wrong = desc and desc["hRemoteQueue"] == 0 and desc["ulAction"] in RECEIVE_ACTIONS
        return change_answer_values(call, Return=Status.MQ_ERROR_INVALID_HANDLE) if wrong else call


@fault("server-lookup-timeout-below-one-second-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"), blind=True)
class ServerLookupTimeoutBelowOneSecondAccepted(RemoteReadStarting):
    """The server accepts a read by LookupIdentifier with an ulTimeout below 1000."""

    def check_lookup_timeout(self, desc: ReadDescription) -> Status:
        return Status.MQ_OK if desc["ulTimeout"] < 1000 else super().check_lookup_timeout(desc)


@fault(
    "server-accepts-lookup-prev-actions-with-ul-timeout", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"), blind=True
)
class ServerAcceptsLookupPrevActionsWithUlTimeout(RemoteReadStarting):
    """The server accepts a read by LookupIdentifier with a PREV action and a nonzero ulTimeout."""

    def check_lookup_timeout(self, desc: ReadDescription) -> Status:
        previous = (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)
        return Status.MQ_OK if desc["ulAction"] in previous else super().check_lookup_timeout(desc)


@fault("server-accepts-lookup-receive-with-unknown-cursor", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-24"), blind=True)
class ServerAcceptsLookupReceiveWithUnknownCursor(RemoteReadStarting):
    """In a receive by LookupIdentifier, the server ignores a nonzero hCursor that is not the handle of a cursor."""

    def remote_qm_start_receive_by_lookup_id(self, call: Call, now: Now) -> None:
        second = call.arguments["lpRemoteReadDesc2"]
        desc = second["pRemoteReadDesc"]
        descriptor = None if desc is None else self.find_remote_descriptor(desc["hRemoteQueue"])
        unknown = descriptor is not None and desc["hCursor"] not in descriptor.CursorCollection
        if unknown and desc["ulAction"] in RECEIVE_ACTIONS:
            desc["hCursor"] = 0
        super().remote_qm_start_receive_by_lookup_id(call, now)


@fault(
    "server-lookup-with-cursor-returns-status-invalid-parameter",
    breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-24"),
    blind=True,
)
class ServerLookupWithCursorReturnsStatusInvalidParameter(RemoteReadStarting):
    """The server returns STATUS_INVALID_PARAMETER for a read by LookupIdentifier with an open cursor."""

    def check_lookup_cursor(self, desc: ReadDescription) -> Status:
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        known = descriptor is not None and self.find_remote_cursor(descriptor, desc["hCursor"]) is not None
        return Status.STATUS_INVALID_PARAMETER if known else super().check_lookup_cursor(desc)


@fault("server-lookup-without-remote-qm-open-queue-accepted", breaks=("MQQP-3.1.4.11-25", "MQQP-3.1.4.11-26"))
class ServerLookupWithoutRemoteQmOpenQueueAccepted(RemoteReadStarting):
    """The server reads by LookupIdentifier from a queue that only R_QMOpenRemoteQueue has opened."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        known = self.find_remote_descriptor(desc["hRemoteQueue"]) is not None
        lookup = desc["ulAction"] & 0x40000000
        return Status.MQ_OK if known and lookup else super().check_open_queue(desc)


@fault("server-returns-invalid-handle-for-lookup-of-closed-queue", breaks="MQQP-3.1.4.11-26", blind=True)
class ServerReturnsInvalidHandleForLookupOfClosedQueue(RemoteReadStarting):
    """The server returns MQ_ERROR_INVALID_HANDLE for a read by LookupIdentifier through a closed handle."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        status = super().check_open_queue(desc)
        seen = self.__dict__.setdefault("seen", set())
        if not status:
            seen.add(desc["hRemoteQueue"])
        lookup = desc["ulAction"] & 0x40000000
        return Status.MQ_ERROR_INVALID_HANDLE if status and lookup and desc["hRemoteQueue"] in seen else status


@fault("server-lookup-finds-message-of-other-queue", breaks=("MQQP-3.1.4.11-29", "MQQP-3.1.4.11-39"))
class ServerLookupFindsMessageOfOtherQueue(MessageSearch):
    """The server finds a message by its LookupIdentifier in any queue, not only in the queue of the request."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is None:
            for other in self.qm.adm.QueueCollection.values():
                if other.MessagePositionList.find(lookup_id) is not None:
                    return super().seek_with_identifier(other, lookup_id, peek_operation, lookup_action)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-uses-last-opened-queue", breaks="MQQP-3.1.4.11-29", blind=True)
class ServerLookupUsesLastOpenedQueue(RemoteReads):
    """The server reads by LookupIdentifier from the queue that a client opened last."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        last = list(self.qm.remote.OpenQueueEntryCollection)[-1]
        used = self.qm.remote_read_starting.find_remote_descriptor(last.OpenQueueDescriptorHandle)
        super().remote_read_by_lookup(entry, used or descriptor, lookup_id)


@fault(
    "server-lookup-receive-does-not-remove-message-from-queue",
    breaks=(
        *("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D04", "MQQP-3.1.4.11-D05", "MQQP-3.1.4.11-D06"),
        *("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"),
    ),
)
class ServerLookupReceiveDoesNotRemoveMessageFromQueue(RemoteReads):
    """A RECEIVE lookup leaves the message in the queue."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        if entry.Action in RECEIVE_ACTIONS:
            entry.Action = ReadAction(entry.Action - 0x10)
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


class _EndRefuserForReceiveByLookupId(RemoteReadEnding):
    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        if entry.Action in (RECEIVE_ACTIONS - {ReadAction.MQ_ACTION_RECEIVE}):
            ended(Status.MQ_ERROR_INVALID_PARAMETER)
        else:
            super().end_remote_read(entry, delete_message, ended)


add(
    "server-lookup-receive-cannot-be-ended",
    ("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"),
    "RemoteQMEndReceive fails for a receive by LookupIdentifier.",
    replace_part(_EndRefuserForReceiveByLookupId),
)


@fault("server-second-lookup-receive-unlocks-first", breaks=("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"), blind=True)
class ServerSecondLookupReceiveUnlocksFirst(RemoteReads):
    """When a second receive by LookupIdentifier from a queue begins, the server makes the message of the first one
    available.
    """

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        super().remote_read_by_lookup(entry, descriptor, lookup_id)
        position = entry.UserMessagePacket
        if position is None or entry.Action not in RECEIVE_ACTIONS:
            return
        kept = self.__dict__.setdefault("kept", [])
        for one in kept:
            same = one.QueueReference is position.QueueReference
            if same and one is not position and one.State is MessagePositionState.LOCKED:
                self.qm.message_positions.unlock_message(one)
        kept[:] = [position]


@fault("server-lookup-receive-current-takes-locked-message", breaks="MQQP-3.1.4.11-36")
class ServerLookupReceiveCurrentTakesLockedMessage(MessageSearch):
    """A receive by LookupIdentifier receives a message that another receive has locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        found = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.CURRENT and found is not None and not peek_operation:
            found.State = MessagePositionState.AVAILABLE
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-prev-receives-locked-message", breaks="MQQP-3.1.4.11-36", blind=True)
class ServerLookupPrevReceivesLockedMessage(MessageSearch):
    """A RECEIVE_PREV receives a message that another receive has locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.PREVIOUS and start is not None and not peek_operation:
            before = start.Previous
            if isinstance(before, MessagePosition) and before.State is MessagePositionState.LOCKED:
                return Status.MQ_OK, before
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)

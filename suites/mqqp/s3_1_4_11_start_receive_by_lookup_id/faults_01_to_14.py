"""Faults that break the rules MQQP-3.1.4.11-01 to MQQP-3.1.4.11-14."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import call_on_unbound_context, change_answer_values
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS, ReadAction, RemoteReadAck
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import LAST_LOOKUP_ID, LOOKUP_ID_WITHOUT_PRIORITY_BITS, RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from suites.mqqp.s3_1_4_11_start_receive_by_lookup_id.fault_steps import LookupRequestChanger, ReadAnswerChanger

add(
    "client-lookup-on-unknown-context",
    "MQQP-3.1.4.11-01",
    "The client calls RemoteQMStartReceiveByLookupId on a presentation context that the server did not accept.",
    call_on_unbound_context("RemoteQMStartReceiveByLookupId"),
)


@fault("server-returns-null-context-handle-for-lookup-receive-prev", breaks=("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-57"))
class ServerReturnsNullContextHandleForLookupReceivePrev(ReadAnswerChanger):
    """The server returns the context handle NULL for RECEIVE_PREV."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_PREV
        return change_answer_values(call, pphContext=None) if wrong else call


@fault(
    "server-returns-null-context-handle-for-second-lookup-receive",
    breaks=("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-57"),
    blind=True,
)
class ServerReturnsNullContextHandleForSecondLookupReceive(ReadAnswerChanger):
    """If another receive has locked a message of the queue, the server returns the context handle NULL for a receive by
    LookupIdentifier.
    """

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        position = None if entry is None else entry.UserMessagePacket
        if position is None:
            return call
        others = [one for one in position.QueueReference.MessagePositionList if one is not position]
        locked = any(one.State is MessagePositionState.LOCKED for one in others)
        return change_answer_values(call, pphContext=None) if locked else call


class _ContextHandleReturnerInFailures(RemoteReads):
    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is None or not status >> 31:
            super().answer_read(call, status, entry)
            return
        entry.ended = True
        super().answer_read(change_answer_values(call, pphContext=call.make_context_handle(entry)), status, entry)


add(
    "server-failed-read-returns-handle",
    (
        *("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
        *("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"),
    ),
    "The server returns a context handle for a failed read.",
    replace_part(_ContextHandleReturnerInFailures),
)


@fault("server-returns-context-handle-for-lookup-peek-prev", breaks=("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"))
class ServerReturnsContextHandleForLookupPeekPrev(ReadAnswerChanger):
    """The server returns a context handle for PEEK_PREV."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and not status and entry.Action is ReadAction.MQ_LOOKUP_PEEK_PREV
        return change_answer_values(call, pphContext=call.make_context_handle(entry)) if wrong else call


@fault("server-returns-context-handle-for-failed-lookup-receive", breaks=("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"))
class ServerReturnsContextHandleForFailedLookupReceive(ReadAnswerChanger):
    """The server returns a context handle for a receive by LookupIdentifier that finds no message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and status and entry.Action in RECEIVE_ACTIONS
        return change_answer_values(call, pphContext=call.make_context_handle(entry)) if wrong else call


@fault(
    "server-returns-context-handle-for-lookup-receive-of-locked-message",
    breaks=("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"),
    blind=True,
)
class ServerReturnsContextHandleForLookupReceiveOfLockedMessage(ReadAnswerChanger):
    """If RECEIVE_CURRENT fails because the message is locked, the server returns a context handle."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = status is Status.MQ_ERROR_TRANSACTION_USAGE
        return change_answer_values(call, pphContext=call.make_context_handle(entry or object())) if wrong else call


@fault("server-returns-context-handle-for-refused-lookup-receive", breaks="MQQP-3.1.4.11-03", blind=True)
class ServerReturnsContextHandleForRefusedLookupReceive(ReadAnswerChanger):
    """The server returns a context handle when it refuses a receive by LookupIdentifier with a nonzero ulTimeout."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        desc = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        wrong = entry is None and desc and desc["ulTimeout"] and desc["ulAction"] in RECEIVE_ACTIONS
        return change_answer_values(call, pphContext=call.make_context_handle(object())) if wrong else call


@fault("client-calls-end-receive-after-failed-lookup-receive-prev", breaks="MQQP-3.1.4.11-04", blind=True)
class ClientCallsEndReceiveAfterFailedLookupReceivePrev(ClientMessageReading):
    """The client calls RemoteQMEndReceive after a RECEIVE_PREV that failed."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().start_receive2(read))
        except RemoteError:
            if read.Action is ReadAction.MQ_LOOKUP_RECEIVE_PREV and isinstance(read.entry, PendingRemoteReadEntry):
                yield from self.call_end_receive(read.entry, RemoteReadAck.RR_NACK)
            raise


class _LookupDescriptionChanger(ClientMessageReading):
    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive_description(read)
        return given if read.LookupId is None else {**given, **self.change(read)}

    def change(self, read: RemoteRead) -> dict[str, Any]:
        """Return the wrong fields of a read by LookupIdentifier."""
        return {}


@fault("client-sends-lookup-with-h-remote-queue-of-last-opened-queue", breaks="MQQP-3.1.4.11-05")
class ClientSendsLookupWithHRemoteQueueOfLastOpenedQueue(_LookupDescriptionChanger):
    """The client sets hRemoteQueue of a read by LookupIdentifier to the handle of the queue that it opened last."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hRemoteQueue": list(self.qm.remote_client.queues.values())[-1].QueueHandle}


@fault("client-sends-lookup-with-dw-request-id-of-other-read", breaks="MQQP-3.1.4.11-05")
class ClientSendsLookupWithDwRequestIdOfOtherRead(_LookupDescriptionChanger):
    """The client sets dwRequestID of a read by LookupIdentifier to the dwRequestID of another pending read."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwRequestID": self.qm.remote_client.PendingRemoteReadEntryCollection[0].RequestId}


@fault("client-lookup-receive-next-sends-empty-lp-buffer", breaks="MQQP-3.1.4.11-05", blind=True)
class ClientLookupReceiveNextSendsEmptyLpBuffer(LookupRequestChanger):
    """The client sends an empty lpBuffer instead of NULL in a LOOKUP_RECEIVE_NEXT."""

    action = ReadAction.MQ_LOOKUP_RECEIVE_NEXT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"lpBuffer": b""}


@fault("client-lookup-peek-current-sends-dw-queue-0", breaks="MQQP-3.1.4.11-05", blind=True)
class ClientLookupPeekCurrentSendsDwQueue0(LookupRequestChanger):
    """The client sets dwQueue of a LOOKUP_PEEK_CURRENT to 0."""

    action = ReadAction.MQ_LOOKUP_PEEK_CURRENT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwQueue": 0}


@fault("server-lookup-peek-sequential-id-zero", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"), blind=True)
class ServerLookupPeekSequentialIdZero(RemoteReads):
    """The server returns SequentialId 0 for a PEEK lookup."""

    is_answering_peek = False

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        self.is_answering_peek = entry.Action in (
            ReadAction.MQ_LOOKUP_PEEK_CURRENT,
            ReadAction.MQ_LOOKUP_PEEK_NEXT,
            ReadAction.MQ_LOOKUP_PEEK_PREV,
        )
        super().complete_remote_read(entry, status, position)

    def get_sequential_id(self, position: MessagePosition) -> int:
        return 0 if self.is_answering_peek else super().get_sequential_id(position)


@fault("server-lookup-sequentialid-copied-from-lookup-id", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"))
class ServerLookupSequentialidCopiedFromLookupId(ReadAnswerChanger):
    """The server returns the lower 7 bytes of the request's LookupId in SequentialId."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        copied = call.arguments["LookupId"] & (1 << 56) - 1
        return change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": copied})


@fault("server-lookup-receive-returns-sequential-id-0", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"))
class ServerLookupReceiveReturnsSequentialId0(ReadAnswerChanger):
    """The server returns SequentialId 0 for the receive actions."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        if entry is None or entry.Action not in RECEIVE_ACTIONS:
            return call
        return change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": 0})


@fault(
    "server-lookup-receive-returns-sequential-id-of-8-bytes",
    breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"),
    blind=True,
)
class ServerLookupReceiveReturnsSequentialIdOf8Bytes(ReadAnswerChanger):
    """The server returns all 8 bytes of the LookupIdentifier in SequentialId of a receive."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        position = None if entry is None else entry.UserMessagePacket
        if position is None or entry is None or entry.Action not in RECEIVE_ACTIONS:
            return call
        whole = position.LookupIdentifier
        return change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": whole})


@fault(
    "server-lookup-peek-prev-returns-sequential-id-of-next-message",
    breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"),
    blind=True,
)
class ServerLookupPeekPrevReturnsSequentialIdOfNextMessage(ReadAnswerChanger):
    """The server returns the SequentialId of the following message in the answer to a PEEK_PREV."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        position = None if entry is None else entry.UserMessagePacket
        if position is None or entry is None or entry.Action is not ReadAction.MQ_LOOKUP_PEEK_PREV:
            return call
        following = position.Next
        if not isinstance(following, MessagePosition):
            return call
        stale = self.get_sequential_id(following)
        return change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": stale})


def _change_lookup_description(change: Callable[[RemoteRead], dict[str, Any]]) -> Install:
    """Build a fault that changes fields of the REMOTEREADDESC that the client sends in a lookup."""

    class LookupDescriptionReplacer(ClientMessageReading):
        def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
            described = super().build_start_receive_description(read)
            return described if read.LookupId is None else described | change(read)

    return replace_part(LookupDescriptionReplacer)


add(
    "client-lookup-sends-wrong-action",
    "MQQP-3.1.4.11-07",
    "The client sends a peeking lookup for a receive of its application, and a receiving lookup for a peek.",
    _change_lookup_description(lambda read: {"ulAction": int(read.Action) ^ 0x30}),
)


@fault("client-sends-lookup-receive-prev-as-receive-next", breaks="MQQP-3.1.4.11-07")
class ClientSendsLookupReceivePrevAsReceiveNext(_LookupDescriptionChanger):
    """The client sets ulAction of a receive of the previous message to RECEIVE_NEXT."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        wrong = read.Action is ReadAction.MQ_LOOKUP_RECEIVE_PREV
        return {"ulAction": int(ReadAction.MQ_LOOKUP_RECEIVE_NEXT)} if wrong else {}


@fault("client-sends-lookup-receive-current-as-peek-current", breaks="MQQP-3.1.4.11-07", blind=True)
class ClientSendsLookupReceiveCurrentAsPeekCurrent(LookupRequestChanger):
    """The client sets ulAction of a receive by LookupIdentifier to LOOKUP_PEEK_CURRENT."""

    action = ReadAction.MQ_LOOKUP_RECEIVE_CURRENT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulAction": int(ReadAction.MQ_LOOKUP_PEEK_CURRENT)}


@fault("client-sends-lookup-peek-prev-as-peek-next", breaks="MQQP-3.1.4.11-07", blind=True)
class ClientSendsLookupPeekPrevAsPeekNext(LookupRequestChanger):
    """The client sets ulAction of a peek at the previous message to LOOKUP_PEEK_NEXT."""

    action = ReadAction.MQ_LOOKUP_PEEK_PREV

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulAction": int(ReadAction.MQ_LOOKUP_PEEK_NEXT)}


add(
    "client-lookup-with-cursor",
    ("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-11", "MQQP-3.1.4.11-13", "MQQP-3.1.4.11-16"),
    "The client sends a lookup with a nonzero hCursor.",
    _change_lookup_description(lambda read: {"hCursor": 0x4044}),
)


@fault(
    "client-sends-lookup-with-h-cursor-of-open-cursor",
    breaks=("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-11", "MQQP-3.1.4.11-13", "MQQP-3.1.4.11-16"),
)
class ClientSendsLookupWithHCursorOfOpenCursor(_LookupDescriptionChanger):
    """The client sets hCursor of a read by LookupIdentifier to an open cursor of the queue."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        found = [
            handle for queue, handle in self.qm.remote_client.queue_and_handle_by_cursor.values() if queue is read.queue
        ]
        return {"hCursor": [*found, 0][0]}


@fault("client-lookup-of-last-message-sends-lookup-id-0", breaks=("MQQP-3.1.4.11-09", "MQQP-3.1.4.11-14"))
class ClientLookupOfLastMessageSendsLookupId0(ClientMessageReading):
    """The client sends LookupId 0 in a lookup of the last message."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        if read.LookupId == LAST_LOOKUP_ID:
            read.LookupId = 0
        return (yield from super().start_receive2(read))


add(
    "client-lookup-with-timeout",
    ("MQQP-3.1.4.11-10", "MQQP-3.1.4.11-12", "MQQP-3.1.4.11-15", "MQQP-3.1.4.11-17"),
    "The client sends a lookup with ulTimeout 0xFFFFFFFF.",
    _change_lookup_description(lambda read: {"ulTimeout": INFINITE_MS}),
)


@fault("client-lookup-peek-next-sends-h-cursor-1", breaks="MQQP-3.1.4.11-11", blind=True)
class ClientLookupPeekNextSendsHCursor1(LookupRequestChanger):
    """The client sets hCursor of a LOOKUP_PEEK_NEXT to 1."""

    action = ReadAction.MQ_LOOKUP_PEEK_NEXT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hCursor": 1}


@fault("client-lookup-peek-next-sends-ul-timeout-1000", breaks="MQQP-3.1.4.11-12", blind=True)
class ClientLookupPeekNextSendsUlTimeout1000(LookupRequestChanger):
    """The client sets ulTimeout of a LOOKUP_PEEK_NEXT to 1000."""

    action = ReadAction.MQ_LOOKUP_PEEK_NEXT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": 1000}


@fault("client-lookup-receive-prev-sends-h-cursor-1", breaks="MQQP-3.1.4.11-13", blind=True)
class ClientLookupReceivePrevSendsHCursor1(LookupRequestChanger):
    """The client sets hCursor of a LOOKUP_RECEIVE_PREV to 1."""

    action = ReadAction.MQ_LOOKUP_RECEIVE_PREV

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hCursor": 1}


@fault("client-lookup-receive-current-sends-lookup-id-0", breaks="MQQP-3.1.4.11-14", blind=True)
class ClientLookupReceiveCurrentSendsLookupId0(ClientMessageReading):
    """The client sets LookupId of a LOOKUP_RECEIVE_CURRENT to 0."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        if read.Action is ReadAction.MQ_LOOKUP_RECEIVE_CURRENT:
            read.LookupId = 0
        return (yield from super().start_receive2(read))


LOOKUP_PREVIOUS_ACTIONS = (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)


@fault("client-h-cursor-of-lookup-peek-next-is-open-cursor", breaks="MQQP-3.1.4.11-11", blind=True)
class ClientHCursorOfLookupPeekNextIsOpenCursor(ClientMessageReading):
    """The client sets hCursor of a LOOKUP_PEEK_NEXT to the cursor that it has opened for the queue."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        if read.Action is ReadAction.MQ_LOOKUP_PEEK_NEXT:
            for queue, cursor in self.qm.remote_client.queue_and_handle_by_cursor.values():
                if queue is read.queue:
                    described["hCursor"] = cursor
        return described


@fault("server-lookup-prev-follows-order-of-arrival-not-priority", breaks="MQQP-3.1.4.11-44", blind=True)
class ServerLookupPrevFollowsOrderOfArrivalNotPriority(RemoteReads):
    """For a PREV action, the server reads the message that arrived before the message with the given LookupId, even
    if messages with different priorities are between them in the queue.
    """

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        queue = descriptor.QueueReference
        named = None if queue is None else queue.MessagePositionList.find(lookup_id)
        if entry.Action not in LOOKUP_PREVIOUS_ACTIONS or lookup_id == LAST_LOOKUP_ID or queue is None or named is None:
            super().remote_read_by_lookup(entry, descriptor, lookup_id)
            return
        peek = entry.Action not in RECEIVE_ACTIONS
        earlier = [
            one
            for one in queue.MessagePositionList
            if one.LookupIdentifier & LOOKUP_ID_WITHOUT_PRIORITY_BITS < lookup_id & LOOKUP_ID_WITHOUT_PRIORITY_BITS
            and self.qm.message_search.is_message_readable(one, peek)
        ]
        if not earlier:
            self.complete_remote_read(entry, Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            return
        found = max(earlier, key=lambda one: one.LookupIdentifier & LOOKUP_ID_WITHOUT_PRIORITY_BITS)
        self.qm.message_reading.read_by_lookup_identifier(
            descriptor,
            found.LookupIdentifier,
            MessageSeekAction.CURRENT,
            self._build_completion(entry),
            peek,
            two_phase_read=True,
        )


@fault("server-lookup-receive-next-after-locked-message-refused", breaks="MQQP-3.1.4.11-D05", blind=True)
class ServerLookupReceiveNextAfterLockedMessageRefused(RemoteReads):
    """The server returns MQ_ERROR_MESSAGE_NOT_FOUND from a LOOKUP_RECEIVE_NEXT whose LookupId belongs to a message
    that is locked by a receive.
    """

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        queue = descriptor.QueueReference
        named = None if queue is None else queue.MessagePositionList.find(lookup_id)
        is_locked = named is not None and named.State is MessagePositionState.LOCKED
        if is_locked and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            self.complete_remote_read(entry, Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
        else:
            super().remote_read_by_lookup(entry, descriptor, lookup_id)

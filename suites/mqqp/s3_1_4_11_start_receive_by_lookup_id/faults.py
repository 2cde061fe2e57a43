"""Faults of MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import call_unbound, change_answer_values, throw_refusals
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_reads import LAST_LOOKUP_ID, RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call

add(
    "client-lookup-on-unknown-context",
    "MQQP-3.1.4.11-01",
    "The client calls RemoteQMStartReceiveByLookupId on a presentation context that the server did not accept.",
    call_unbound("RemoteQMStartReceiveByLookupId"),
)

# -- refused calls -----------------------------------------------------------------------------------------------------

add(
    "server-lookup-with-cursor-accepted",
    ("MQQP-3.1.4.11-24", "MQQP-3.1.4.11-21"),
    "The server accepts a lookup with a nonzero hCursor, and ignores the cursor.",
    skip(RemoteStarting.check_lookup_cursor),
)
add(
    "server-lookup-with-timeout-accepted",
    ("MQQP-3.1.4.11-23", "MQQP-3.1.4.11-21"),
    "The server accepts a lookup with a nonzero ulTimeout, and ignores the timeout.",
    skip(RemoteStarting.check_lookup_timeout),
)


class _UnknownAction(RemoteStarting):
    def check_lookup_action(self, desc: Desc) -> Status:
        if super().check_lookup_action(desc):
            desc["ulAction"] = ReadAction.MQ_LOOKUP_PEEK_NEXT
        return Status.MQ_OK


add(
    "server-lookup-unknown-action-tolerated",
    (),
    "Tolerated: the server performs a lookup with an undefined ulAction as a LOOKUP_PEEK_NEXT.",
    replace_part(_UnknownAction),
)

# -- the search for a message ------------------------------------------------------------------------------------------


def _change_lookup(found: MessageSeekAction, other: MessageSeekAction) -> Install:
    """Build a fault in which the server replaces one seek operation of a lookup with a different one."""

    class Sought(RemoteReads):
        def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
            operation = super().get_lookup_operation(action, lookup_id)
            return other if operation is found else operation

    return replace_part(Sought)


for _name, _breaks, _says, _found, _other in (
    (
        "server-lookup-current-reads-next-message",
        (
            *("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", "MQQP-3.1.4.11-41", "MQQP-3.1.4.11-45"),
            *("MQQP-3.1.4.11-D01", "MQQP-3.1.4.11-D04"),
        ),
        "A CURRENT lookup reads the message after the message with the given LookupId.",
        MessageSeekAction.CURRENT,
        MessageSeekAction.NEXT,
    ),
    (
        "server-lookup-next-of-zero-finds-no-message",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D05"),
        "A NEXT lookup with LookupId 0 finds no message, because no message has the LookupIdentifier 0.",
        MessageSeekAction.FIRST,
        MessageSeekAction.NEXT,
    ),
    (
        "server-lookup-prev-of-all-ones-finds-no-message",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.11-D06"),
        "A PREV lookup with the maximum LookupId finds no message, because no message has that identifier.",
        MessageSeekAction.LAST,
        MessageSeekAction.PREVIOUS,
    ),
    (
        "server-lookup-prev-reads-current-message",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.11-D06"),
        "A PREV lookup reads the message with the given LookupId instead of the message before it.",
        MessageSeekAction.PREVIOUS,
        MessageSeekAction.CURRENT,
    ),
    (
        "server-lookup-next-reads-current-message",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D05"),
        "A NEXT lookup reads the message with the given LookupId instead of the message after it.",
        MessageSeekAction.NEXT,
        MessageSeekAction.CURRENT,
    ),
):
    add(_name, _breaks, _says, _change_lookup(_found, _other))


# -- the manner of reading ---------------------------------------------------------------------------------------------


class _UnlistedStatus(RemoteReads):
    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, Status.MQ_ERROR if status >> 31 else status, position)


add(
    "server-lookup-failure-unlisted-status",
    "MQQP-3.1.4.11-D07",
    "The server returns MQ_ERROR for a lookup that finds no message.",
    replace_part(_UnlistedStatus),
)
add(
    "server-lookup-throws-errors",
    "MQQP-3.1.4.11-D08",
    "RemoteQMStartReceiveByLookupId throws its errors instead of returning them.",
    throw_refusals(RemoteStarting.remote_qm_start_receive_by_lookup_id),
)


@fault(
    "server-lookup-receive-leaves-message",
    breaks=(
        *("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D04", "MQQP-3.1.4.11-D05", "MQQP-3.1.4.11-D06"),
        *("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"),
    ),
)
class ServerLookupReceiveLeavesMessage(RemoteReads):
    """A RECEIVE lookup leaves the message in the queue."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        if entry.Action in RECEIVE_ACTIONS:
            entry.Action = ReadAction(entry.Action - 0x10)
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


@fault(
    "server-lookup-peek-takes-message",
    breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D03"),
)
class ServerLookupPeekTakesMessage(RemoteReads):
    """A PEEK lookup removes the message from the queue."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        if entry.Action not in RECEIVE_ACTIONS:
            entry.Action = ReadAction(entry.Action + 0x10)
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


@fault("server-lookup-peek-current-takes-message", breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D01"))
class ServerLookupPeekCurrentTakesMessage(RemoteReads):
    """A LOOKUP_PEEK_CURRENT removes the message from the queue."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        if entry.Action is ReadAction.MQ_LOOKUP_PEEK_CURRENT:
            entry.Action = ReadAction.MQ_LOOKUP_RECEIVE_CURRENT
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


class _NotKept(RemoteEnding):
    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        if entry.Action in (RECEIVE_ACTIONS - {ReadAction.MQ_ACTION_RECEIVE}):
            ended(Status.MQ_ERROR_INVALID_PARAMETER)
        else:
            super().end_remote_read(entry, delete_message, ended)


add(
    "server-lookup-receive-cannot-be-ended",
    ("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"),
    "RemoteQMEndReceive fails for a receive by LookupIdentifier.",
    replace_part(_NotKept),
)

# -- the client -------------------------------------------------------------------------------------------------------


def _change_lookup_description(change: Callable[[RemoteRead], dict[str, Any]]) -> Install:
    """Build a fault that changes fields of the REMOTEREADDESC that the client sends in a lookup."""

    class Described(ClientReading):
        def describe_read(self, read: RemoteRead) -> dict[str, Any]:
            described = super().describe_read(read)
            return described if read.LookupId is None else described | change(read)

    return replace_part(Described)


add(
    "client-lookup-with-cursor",
    ("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-11", "MQQP-3.1.4.11-13", "MQQP-3.1.4.11-16"),
    "The client sends a lookup with a nonzero hCursor.",
    _change_lookup_description(lambda read: {"hCursor": 0x4044}),
)
add(
    "client-lookup-with-timeout",
    ("MQQP-3.1.4.11-10", "MQQP-3.1.4.11-12", "MQQP-3.1.4.11-15", "MQQP-3.1.4.11-17"),
    "The client sends a lookup with ulTimeout 0xFFFFFFFF.",
    _change_lookup_description(lambda read: {"ulTimeout": INFINITE_MS}),
)
add(
    "client-lookup-sends-wrong-action",
    "MQQP-3.1.4.11-07",
    "The client sends a peeking lookup for a receive of its application, and a receiving lookup for a peek.",
    _change_lookup_description(lambda read: {"ulAction": int(read.Action) ^ 0x30}),
)


@fault("client-lookup-of-last-message-sends-lookup-id-0", breaks=("MQQP-3.1.4.11-09", "MQQP-3.1.4.11-14"))
class ClientLookupOfLastMessageSendsLookupId0(ClientReading):
    """The client sends LookupId 0 in a lookup of the last message."""

    def start_receive2(self, read: RemoteRead) -> Sequence:
        if read.LookupId == LAST_LOOKUP_ID:
            read.LookupId = 0
        return (yield from super().start_receive2(read))


@fault("server-lookup-receive-prev-of-all-ones-fails", breaks=("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D06"), blind=True)
class ServerLookupReceivePrevOfAllOnesFails(RemoteReads):
    """A LOOKUP_RECEIVE_PREV with the maximum LookupId finds no message, although LOOKUP_PEEK_PREV finds the last
    message.
    """

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_PREV:
            return MessageSeekAction.PREVIOUS
        return super().get_lookup_operation(action, lookup_id)


@fault("server-lookup-receive-next-of-zero-fails", breaks=("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D05"), blind=True)
class ServerLookupReceiveNextOfZeroFails(RemoteReads):
    """A LOOKUP_RECEIVE_NEXT with LookupId 0 finds no message, although LOOKUP_PEEK_NEXT finds the first message."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            return MessageSeekAction.NEXT
        return super().get_lookup_operation(action, lookup_id)


@fault("server-lookup-peek-sequential-id-zero", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"), blind=True)
class ServerLookupPeekSequentialIdZero(RemoteReads):
    """The server returns SequentialId 0 for a PEEK lookup."""

    peeking = False

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        self.peeking = entry.Action in (
            ReadAction.MQ_LOOKUP_PEEK_CURRENT,
            ReadAction.MQ_LOOKUP_PEEK_NEXT,
            ReadAction.MQ_LOOKUP_PEEK_PREV,
        )
        super().complete_remote_read(entry, status, position)

    def get_sequential_id(self, position: MessagePosition) -> int:
        return 0 if self.peeking else super().get_sequential_id(position)


@fault(
    "server-lookup-h-remote-queue-zero-accepted",
    breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-22"),
)
class ServerLookupHRemoteQueueZeroAccepted(RemoteStarting):
    """The server reads the first open queue when hRemoteQueue is 0."""

    def check_dw_queue(self, desc: Desc) -> Status:
        return self._use_first_queue(desc) if super().check_dw_queue(desc) else Status.MQ_OK

    def check_lookup_queue(self, desc: Desc) -> Status:
        return self._use_first_queue(desc) if super().check_lookup_queue(desc) else Status.MQ_OK

    def _use_first_queue(self, desc: Desc) -> Status:
        desc["hRemoteQueue"] = desc["dwQueue"] = next(iter(self.qm.descriptors))
        return Status.MQ_OK


class _FailureWithHandle(RemoteReads):
    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is None or not status >> 31:
            super().answer_read(call, status, entry)
            return
        entry.ended = True
        super().answer_read(change_answer_values(call, pphContext=call.new_handle(entry)), status, entry)


add(
    "server-failed-read-returns-handle",
    (
        *("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
        *("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"),
    ),
    "The server returns a context handle for a failed read.",
    replace_part(_FailureWithHandle),
)


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

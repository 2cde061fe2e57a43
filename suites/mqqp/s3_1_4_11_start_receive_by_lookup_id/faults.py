"""Faults of MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replaced
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import answering, called_unbound, throwing
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
    "rpc-unbound-RemoteQMStartReceiveByLookupId",
    "MQQP-3.1.4.11-01",
    "RemoteQMStartReceiveByLookupId is called on a context that was never agreed on.",
    called_unbound("RemoteQMStartReceiveByLookupId"),
)

# -- what is refused --------------------------------------------------------------------------------------------------

add(
    "remote-lookup-with-cursor",
    ("MQQP-3.1.4.11-24", "MQQP-3.1.4.11-21"),
    "A cursor is taken and ignored.",
    skip(RemoteStarting.check_lookup_cursor),
)
add(
    "remote-lookup-with-time-out",
    ("MQQP-3.1.4.11-23", "MQQP-3.1.4.11-21"),
    "A time-out is taken and ignored.",
    skip(RemoteStarting.check_lookup_timeout),
)


class _UnknownAction(RemoteStarting):
    def check_lookup_action(self, desc: Desc) -> Status:
        if super().check_lookup_action(desc):
            desc["ulAction"] = ReadAction.MQ_LOOKUP_PEEK_NEXT
        return Status.MQ_OK


add(
    "remote-lookup-unknown-action",
    (),
    "Tolerated: an ulAction that no client may ask for is LOOKUP_PEEK_NEXT.",
    replaced(_UnknownAction),
)

# -- what is looked for -----------------------------------------------------------------------------------------------


def _sought(found: MessageSeekAction, other: MessageSeekAction) -> Install:
    """Look for a message in another way."""

    class Sought(RemoteReads):
        def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
            operation = super().get_lookup_operation(action, lookup_id)
            return other if operation is found else operation

    return replaced(Sought)


for _name, _breaks, _says, _found, _other in (
    (
        "remote-lookup-current-is-next",
        (
            *("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", "MQQP-3.1.4.11-41", "MQQP-3.1.4.11-45"),
            *("MQQP-3.1.4.11-D01", "MQQP-3.1.4.11-D04"),
        ),
        "CURRENT is the message behind.",
        MessageSeekAction.CURRENT,
        MessageSeekAction.NEXT,
    ),
    (
        "remote-lookup-first-is-next",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D05"),
        "NEXT of 0 is the message behind 0.",
        MessageSeekAction.FIRST,
        MessageSeekAction.NEXT,
    ),
    (
        "remote-lookup-last-is-previous",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.11-D06"),
        "PREV of all ones is the message before it.",
        MessageSeekAction.LAST,
        MessageSeekAction.PREVIOUS,
    ),
    (
        "remote-lookup-previous-is-current",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.11-D06"),
        "PREV is the message itself.",
        MessageSeekAction.PREVIOUS,
        MessageSeekAction.CURRENT,
    ),
    (
        "remote-lookup-next-is-current",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D05"),
        "NEXT is the message itself.",
        MessageSeekAction.NEXT,
        MessageSeekAction.CURRENT,
    ),
):
    add(_name, _breaks, _says, _sought(_found, _other))


# -- how it is read ---------------------------------------------------------------------------------------------------


class _UnlistedStatus(RemoteReads):
    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, Status.MQ_ERROR if status >> 31 else status, position)


add(
    "remote-lookup-unlisted-status",
    "MQQP-3.1.4.11-D07",
    "A lookup that finds nothing returns MQ_ERROR.",
    replaced(_UnlistedStatus),
)
add(
    "remote-lookup-throws",
    "MQQP-3.1.4.11-D08",
    "RemoteQMStartReceiveByLookupId throws what it refuses.",
    throwing(RemoteStarting.remote_qm_start_receive_by_lookup_id),
)


@fault(
    "remote-lookup-receive-leaves",
    breaks=(
        *("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D04", "MQQP-3.1.4.11-D05", "MQQP-3.1.4.11-D06"),
        *("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"),
    ),
)
class ReceiveLeaves(RemoteReads):
    """A receive leaves the message."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        if entry.Action in RECEIVE_ACTIONS:
            entry.Action = ReadAction(entry.Action - 0x10)
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


@fault(
    "remote-lookup-peek-takes",
    breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D03"),
)
class PeekTakes(RemoteReads):
    """A peek takes the message."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        if entry.Action not in RECEIVE_ACTIONS:
            entry.Action = ReadAction(entry.Action + 0x10)
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


@fault("remote-lookup-peek-current-takes", breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D01"))
class PeekCurrentTakes(RemoteReads):
    """PEEK_CURRENT takes the message."""

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
    "remote-lookup-not-kept",
    ("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"),
    "A receive by LookupIdentifier is not known when it is to be ended.",
    replaced(_NotKept),
)

# -- the client -------------------------------------------------------------------------------------------------------


def _described(change: Callable[[RemoteRead], dict[str, Any]]) -> Install:
    """Describe a lookup with other values."""

    class Described(ClientReading):
        def describe_read(self, read: RemoteRead) -> dict[str, Any]:
            described = super().describe_read(read)
            return described if read.LookupId is None else described | change(read)

    return replaced(Described)


add(
    "remote-lookup-by-cursor",
    ("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-11", "MQQP-3.1.4.11-13", "MQQP-3.1.4.11-16"),
    "A lookup gives a cursor.",
    _described(lambda read: {"hCursor": 0x4044}),
)
add(
    "remote-lookup-waits",
    ("MQQP-3.1.4.11-10", "MQQP-3.1.4.11-12", "MQQP-3.1.4.11-15", "MQQP-3.1.4.11-17"),
    "A lookup has a time-out.",
    _described(lambda read: {"ulTimeout": INFINITE_MS}),
)
add(
    "remote-lookup-other-action",
    "MQQP-3.1.4.11-07",
    "A lookup asks for the action of the other kind of read.",
    _described(lambda read: {"ulAction": int(read.Action) ^ 0x30}),
)


@fault("remote-lookup-of-nothing", breaks=("MQQP-3.1.4.11-09", "MQQP-3.1.4.11-14"))
class LookupOfNothing(ClientReading):
    """A lookup at the end gives 0 for the LookupId."""

    def start_receive2(self, read: RemoteRead) -> Sequence:
        if read.LookupId == LAST_LOOKUP_ID:
            read.LookupId = 0
        return (yield from super().start_receive2(read))


@fault("receive-of-the-last-by-all-ones-finds-nothing", breaks=("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D06"), blind=True)
class ReceiveOfTheLastByAllOnesFindsNothing(RemoteReads):
    """PREV of all ones is the last message for a peek only."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_PREV:
            return MessageSeekAction.PREVIOUS
        return super().get_lookup_operation(action, lookup_id)


@fault("receive-of-the-first-by-zero-finds-nothing", breaks=("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D05"), blind=True)
class ReceiveOfTheFirstByZeroFindsNothing(RemoteReads):
    """NEXT of 0 is the first message for a peek only."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            return MessageSeekAction.NEXT
        return super().get_lookup_operation(action, lookup_id)


@fault("sequential-id-of-a-peek-by-lookup-zero", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"), blind=True)
class SequentialIdOfAPeekByLookupZero(RemoteReads):
    """SequentialId is set for what is received by lookup, and 0 for what is peeked at."""

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
    "remote-any-queue-for-none",
    breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-22"),
)
class AnyQueueForNone(RemoteStarting):
    """A hRemoteQueue of 0 is the first that is open."""

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
        super().answer_read(answering(call, pphContext=call.new_handle(entry)), status, entry)


add(
    "remote-failure-with-handle",
    (
        *("MQQP-3.1.4.1-06", "MQQP-3.1.4.1-D19", "MQQP-3.1.4.10-03", "MQQP-3.1.4.10-54"),
        *("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"),
    ),
    "A read that fails brings a context handle.",
    replaced(_FailureWithHandle),
)


@fault(
    "remote-failures-succeed",
    breaks=(
        "MQQP-3.1.4.1-10",
        "MQQP-3.1.4.10-10",
        "MQQP-3.1.4.11-18",
        "MQQP-3.1.4.11-58",
        "MQQP-3.1.4.1-D20",
        "MQQP-3.1.4.10-55",
    ),
)
class FailuresSucceed(RemoteReads):
    """A read that fails returns MQ_OK."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(call, Status.MQ_OK, entry)

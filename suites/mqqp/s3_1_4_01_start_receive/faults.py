"""Faults of MS-MQQP 3.1.4.1 RemoteQMStartReceive and 3.1.4.10 RemoteQMStartReceive2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replaced
from harness.faults.primitives import both, during, skip
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import answering, called_unbound, throwing
from reference_qm.core.remote.enums import Ack, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.opening import RemoteOpening
from reference_qm.core.remote.reading import LAST, RemoteReads
from reference_qm.core.remote.starting import Desc, RemoteStarting
from reference_qm.core.remote_client.binding import ServerBindings
from reference_qm.core.remote_client.model import RemoteRead
from reference_qm.core.remote_client.reading import ClientReading
from reference_qm.core.remote_client.steps import RemoteError, Sequence
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

PEEK_PREVIOUS = 0x80000002
"""An ulAction that MS-MQQP does not have."""
INFORMATION = 0x400E0000
"""A status that is neither MQ_OK nor a failure."""

# -- the call ---------------------------------------------------------------------------------------------------------

add(
    "rpc-unbound-RemoteQMStartReceive",
    "MQQP-3.1.4.1-04",
    "RemoteQMStartReceive is called on a context that was never agreed on.",
    called_unbound("RemoteQMStartReceive"),
)
add(
    "rpc-unbound-RemoteQMStartReceive2",
    "MQQP-3.1.4.10-01",
    "RemoteQMStartReceive2 is called on a context that was never agreed on.",
    called_unbound("RemoteQMStartReceive2"),
)

# -- what is refused --------------------------------------------------------------------------------------------------


@fault("remote-null-description-other-status", breaks="MQQP-3.1.4.10-13")
class NullDescriptionOtherStatus(RemoteStarting):
    """NULL for the description is an invalid parameter."""

    def check_description(self, desc: Desc | None) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc is None else super().check_description(desc)


@fault(
    "remote-cursor-demanded",
    breaks=(
        "MQQP-3.1.4.10-23",
        "MQQP-3.1.4.1-D13",
    ),
)
class CursorDemanded(RemoteStarting):
    """Every read needs a cursor."""

    def check_description(self, desc: Desc | None) -> Status:
        if desc is not None and not desc["hCursor"]:
            return Status.MQ_ERROR_INVALID_PARAMETER
        return super().check_description(desc)


add(
    "remote-queue-pointer-ignored",
    ("MQQP-3.1.4.10-14", "MQQP-3.1.4.1-D07"),
    "dwQueue is not looked at.",
    skip(RemoteStarting.check_dw_queue),
)


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


add(
    "remote-request-used-twice",
    ("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15", "MQQP-2.2.2.1-05"),
    "A dwRequestID that is in use is taken.",
    skip(RemoteStarting.check_request_id),
)


@fault(
    "remote-request-used-anywhere",
    breaks=(
        "MQQP-3.1.4.10-16",
        "MQQP-3.1.4.1-D08",
    ),
)
class RequestUsedAnywhere(RemoteStarting):
    """A dwRequestID in use through another handle is refused."""

    def check_request_id(self, desc: Desc) -> Status:
        used = {read.RequestId for read in self.qm.remote.reads.values()}
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["dwRequestID"] in used else Status.MQ_OK


@fault("remote-peek-next-without-cursor", breaks=("MQQP-3.1.4.1-D09", "MQQP-3.1.4.10-17"))
class PeekNextWithoutCursor(RemoteStarting):
    """PEEK_NEXT without a cursor is PEEK_CURRENT."""

    def check_peek_next_cursor(self, desc: Desc) -> Status:
        if super().check_peek_next_cursor(desc):
            desc["ulAction"] = ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK


add(
    "remote-session-not-needed",
    (
        "MQQP-3.1.4.1-D10",
        "MQQP-3.1.4.10-18",
        "MQQP-3.1.4.10-19",
        "MQQP-3.1.4.11-25",
        "MQQP-3.1.4.11-26",
        "MQQP-3.1.4.4-07",
    ),
    "A queue is read that RemoteQMOpenQueue has not opened.",
    both(skip(RemoteStarting.check_open_queue), skip(RemoteOpening.close_open_queue_entry)),
)


class _UnknownActionPeeks(RemoteStarting):
    def check_start_action(self, desc: Desc) -> Status:
        if super().check_start_action(desc):
            desc["ulAction"] = ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK


add(
    "remote-unknown-action-peeks",
    (),
    "Tolerated: an ulAction that no client may ask for is PEEK_CURRENT.",
    replaced(_UnknownActionPeeks),
)

# -- what is read from ------------------------------------------------------------------------------------------------


@fault(
    "remote-other-queue-read",
    breaks=(
        "MQQP-3.1.4.10-20",
        "MQQP-3.1.4.11-29",
        "MQQP-3.1.4.1-D11",
    ),
)
class OtherQueueRead(RemoteStarting):
    """The first queue that is open is read."""

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        found = super().find_remote_descriptor(handle)
        return None if found is None else next(iter(self.qm.descriptors.values()))


@fault("remote-other-cursor-used", breaks="MQQP-3.1.4.10-21")
class OtherCursorUsed(RemoteStarting):
    """The last cursor is used."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        return None if found is None else next(reversed(descriptor.CursorCollection.values()))


def _any_cursor(original: Callable[..., Cursor | None], *outer: Any) -> Callable[..., Cursor | None]:
    def find_remote_cursor(qm: Any, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        return original(qm, descriptor, handle) or next(iter(descriptor.CursorCollection.values()), None)

    return find_remote_cursor


add(
    "remote-unknown-cursor-taken",
    ("MQQP-3.1.4.10-22", "MQQP-3.1.4.1-D12", "MQQP-2.2.2.1-01", "MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"),
    "An unknown cursor is the first one.",
    both(
        during(RemoteStarting.remote_qm_start_receive, RemoteStarting.find_remote_cursor, _any_cursor),
        during(RemoteStarting.remote_qm_start_receive2, RemoteStarting.find_remote_cursor, _any_cursor),
    ),
)

# -- how it is read ---------------------------------------------------------------------------------------------------


class _LastRead(RemoteReads):
    def read_last(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None) -> bool:
        """Read the last message that there is, where none is named by a cursor."""
        queue = descriptor.QueueReference
        if cursor is not None or queue is None or not queue.MessagePositionList:
            return False
        self.remote_read_by_lookup(entry, descriptor, LAST)
        return True

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action in (ReadAction.MQ_ACTION_RECEIVE, ReadAction.MQ_ACTION_PEEK_CURRENT):
            return MessageSeekAction.LAST
        return super().get_lookup_operation(action, lookup_id)


@fault(
    "remote-receive-last",
    breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-D02", "MQQP-3.1.4.10-23", "MQQP-3.1.4.10-31"),
)
class ReceiveLast(_LastRead):
    """A receive takes the last message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if not self.read_last(entry, descriptor, cursor):
            super().remote_receive(entry, descriptor, cursor, now)


@fault(
    "remote-peek-last",
    breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D13", "MQQP-3.1.4.10-D03", "MQQP-3.1.4.10-23", "MQQP-3.1.4.10-36"),
)
class PeekLast(_LastRead):
    """A peek reads the last message."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if not self.read_last(entry, descriptor, cursor):
            super().remote_peek(entry, descriptor, cursor, now)


@fault(
    "remote-peek-moves",
    breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.1-D16", "MQQP-3.1.4.10-D03", "MQQP-3.1.4.10-36"),
)
class PeekMoves(RemoteReads):
    """PEEK_CURRENT moves the cursor."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek(entry, descriptor, cursor, now)
        if cursor is not None:
            self.qm.reading.peek_next_message(descriptor, lambda status, position: None, now, cursor, 0)


@fault(
    "remote-receive-ignores-cursor",
    breaks=("MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-D02", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-21"),
)
class ReceiveIgnoresCursor(RemoteReads):
    """A receive takes the first message, wherever the cursor is."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, None, now)


@fault("remote-time-out-ignored", breaks=("MQQP-3.1.4.1-D02", "MQQP-3.1.4.10-D01", "MQQP-2.2.2.1-D01"))
class TimeOutIgnored(RemoteStarting):
    """No read waits."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        return super().create_remote_read_entry(call, desc | {"ulTimeout": 0})


@fault("remote-no-time-out-waits", breaks="MQQP-3.1.4.1-D02")
class NoTimeOutWaits(RemoteStarting):
    """A read without a time-out waits for a minute."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        return super().create_remote_read_entry(call, desc | {"ulTimeout": desc["ulTimeout"] or 60_000})


add(
    "remote-start-throws",
    "MQQP-3.1.4.1-D21",
    "RemoteQMStartReceive throws what it refuses.",
    throwing(RemoteStarting.remote_qm_start_receive),
)
add(
    "remote-start2-throws",
    "MQQP-3.1.4.10-D05",
    "RemoteQMStartReceive2 throws what it refuses.",
    throwing(RemoteStarting.remote_qm_start_receive2),
)


@fault(
    "remote-receive-peeks",
    breaks=("MQQP-3.1.4.1-01", "MQQP-3.1.4.10-31", "MQQP-3.1.4.1-D03", "MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-D02"),
)
class ReceivePeeks(RemoteReads):
    """A receive leaves the message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_peek(entry, descriptor, cursor, now)


@fault(
    "remote-peek-takes",
    breaks=(
        "MQQP-3.1.4.10-36",
        "MQQP-3.1.4.1-D04",
        "MQQP-3.1.4.1-D16",
        "MQQP-3.1.4.10-D03",
    ),
)
class PeekTakes(RemoteReads):
    """A peek takes the message."""

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_receive(entry, descriptor, cursor, now)


@fault(
    "remote-peek-next-stays",
    breaks=(
        "MQQP-3.1.4.10-40",
        "MQQP-3.1.4.1-D05",
        "MQQP-3.1.4.1-D17",
        "MQQP-3.1.4.10-D04",
    ),
)
class PeekNextStays(RemoteReads):
    """PEEK_NEXT stays."""

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        self.remote_peek(entry, descriptor, cursor, now)


@fault(
    "remote-read-not-kept",
    breaks=(
        "MQQP-3.1.4.10-24",
        "MQQP-3.1.4.10-30",
        "MQQP-3.1.1.3-01",
        "MQQP-3.1.4.1-D14",
    ),
)
class ReadNotKept(RemoteStarting):
    """A read that waits is not in the collection."""

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        self.qm.remote.RemoteReadEntryCollection.remove(entry)
        return entry


add(
    "remote-read-not-removed",
    (
        "MQQP-3.1.4.10-53",
        "MQQP-3.1.4.11-56",
        "MQQP-3.1.4.1-D18",
    ),
    "A read that is over stays in the collection.",
    skip(RemoteReads.remove_remote_read_entry),
)

# -- what is answered -------------------------------------------------------------------------------------------------


@fault(
    "remote-receive-without-handle",
    breaks=(
        "MQQP-3.1.4.1-05",
        "MQQP-3.1.4.10-02",
        "MQQP-3.1.4.11-02",
        "MQQP-3.1.4.11-57",
        "MQQP-2.2.1.2-01",
        "MQQP-3.1.4.1-D19",
        "MQQP-3.1.4.10-54",
    ),
)
class ReceiveWithoutHandle(RemoteReads):
    """A receive brings no context handle."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None:
            entry.Action = ReadAction.MQ_ACTION_PEEK_CURRENT
        super().answer_read(call, status, entry)


@fault(
    "remote-peek-with-handle",
    breaks=(
        "MQQP-3.1.4.1-06",
        "MQQP-3.1.4.10-03",
        "MQQP-3.1.4.10-54",
        "MQQP-3.1.4.11-03",
        "MQQP-3.1.4.1-D01",
        "MQQP-3.1.4.1-D19",
    ),
)
class PeekWithHandle(RemoteReads):
    """A peek brings a context handle."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None:
            entry.Action = ReadAction.MQ_ACTION_RECEIVE
        super().answer_read(call, status, entry)


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


@fault(
    "remote-reads-inform",
    breaks=(
        "MQQP-3.1.4.10-09",
        "MQQP-3.1.4.10-55",
        "MQQP-3.1.4.1-10",
        "MQQP-3.1.4.11-58",
        "MQQP-3.1.4.1-D20",
        "MQQP-3.1.4.11-18",
    ),
)
class ReadsInform(RemoteReads):
    """A read that succeeds returns another status than MQ_OK."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        informed = answering(call, Return=INFORMATION) if status is Status.MQ_OK else call
        super().answer_read(informed, status, entry)


@fault(
    "remote-packet-left-out",
    breaks=(
        "MQQP-3.1.4.1-19",
        "MQQP-3.1.4.10-50",
        "MQQP-3.1.4.11-53",
        "MQQP-2.2.2.1-10",
        "MQQP-2.2.2.1-D02",
        "MQQP-2.2.2.1-D04",
        "MQQP-2.2.2.1-03",
    ),
)
class PacketLeftOut(RemoteReads):
    """lpBuffer is NULL."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"lpBuffer": None, "dwSize": 0}


@fault(
    "remote-packet-of-another",
    breaks=(
        "MQQP-3.1.4.1-13",
        "MQQP-3.1.4.1-14",
        "MQQP-3.1.4.10-44",
        "MQQP-3.1.4.10-45",
        "MQQP-3.1.4.11-47",
        "MQQP-3.1.4.11-48",
    ),
)
class PacketOfAnother(RemoteReads):
    """The packet is not that of the message."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet = super().serialize_remote_message(position)
        return packet.replace("first".encode("utf-16-le"), "other".encode("utf-16-le"))


LOST: dict[str, Any] = {"CorrelationIdentifier": bytes(20)}
"""What a property is that is not there, where that is not its type's usual."""


def _without(name: str) -> Install:
    """Lose a property of a message on its way to a reader."""

    class Without(RemoteReads):
        def serialize_remote_message(self, position: MessagePosition) -> bytes:
            message = position.MessageReference
            lost = replace(message, **{name: LOST.get(name) or type(getattr(message, name))()})
            return super().serialize_remote_message(replace(position, MessageReference=lost))

    return replaced(Without)


for _name in ("Extension", "CorrelationIdentifier", "AppSpecific", "BodyType", "SentTime"):
    add(
        f"remote-message-without-{_name}",
        (
            *("MQQP-3.1.4.1-13", "MQQP-3.1.4.1-14", "MQQP-3.1.4.1-16", "MQQP-3.1.4.1-19"),
            *("MQQP-3.1.4.10-44", "MQQP-3.1.4.10-45", "MQQP-3.1.4.10-47", "MQQP-3.1.4.10-50"),
            *("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"),
        ),
        f"What a reader gets has lost its {_name}.",
        _without(_name),
    )


@fault(
    "remote-packet-padded",
    breaks=(
        "MQQP-3.1.4.1-16",
        "MQQP-3.1.4.1-20",
        "MQQP-3.1.4.10-47",
        "MQQP-3.1.4.10-51",
        "MQQP-3.1.4.11-50",
        "MQQP-3.1.4.11-54",
        "MQQP-2.2.2.1-03",
        "MQQP-2.2.2.1-D04",
        "MQQP-2.2.2.1-10",
    ),
)
class PacketPadded(RemoteReads):
    """Four bytes follow the packet, and dwSize counts them."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return super().serialize_remote_message(position) + bytes(4)


@fault(
    "remote-sequential-id-wrong",
    breaks=(
        "MQQP-3.1.4.10-05",
        "MQQP-3.1.4.10-52",
        "MQQP-3.1.4.11-06",
        "MQQP-3.1.4.11-55",
        "MQQP-3.1.4.10-D01",
    ),
)
class SequentialIdWrong(RemoteReads):
    """SequentialId is one too high."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        return super().get_sequential_id(position) + 1


# -- the client -------------------------------------------------------------------------------------------------------


class _EndsWhatFailed(ClientReading):
    def read_remote_message(self, read: RemoteRead) -> Sequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError:
            assert read.entry is not None
            yield from self.end_receive(read.entry, Ack.RR_NACK)
            raise


add(
    "remote-read-failure-ended",
    ("MQQP-3.1.4.1-07", "MQQP-3.1.4.10-04", "MQQP-3.1.4.11-04", "MQQP-3.1.4.2-04"),
    "A receive that failed is ended.",
    replaced(_EndsWhatFailed),
)


def _described(change: Callable[[RemoteRead], dict[str, Any]]) -> Install:
    """Describe a read with other values."""

    class Described(ClientReading):
        def describe_read(self, read: RemoteRead) -> dict[str, Any]:
            return super().describe_read(read) | change(read)

    return replaced(Described)


def _peeks_otherwise(read: RemoteRead) -> dict[str, Any]:
    return {"ulAction": PEEK_PREVIOUS} if read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT else {}


def _next_without_cursor(read: RemoteRead) -> dict[str, Any]:
    return {"hCursor": 0} if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT else {}


add(
    "remote-read-unknown-action",
    ("MQQP-3.1.4.1-08", "MQQP-3.1.4.10-07"),
    "A peek asks for an action that is none.",
    _described(_peeks_otherwise),
)
add(
    "remote-read-next-without-cursor",
    ("MQQP-3.1.4.1-09", "MQQP-3.1.4.10-08"),
    "The next message is asked for without a cursor.",
    _described(_next_without_cursor),
)
add(
    "remote-read-without-request",
    ("MQQP-3.1.4.10-06", "MQQP-3.1.4.11-05"),
    "dwRequestID is not set.",
    _described(lambda read: {"dwRequestID": 0}),
)


@fault(
    "remote-failures-told-apart",
    breaks=(
        "MQQP-3.1.4.1-10",
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.3-12",
        "MQQP-3.1.4.4-03",
        "MQQP-3.1.4.5-03",
        "MQQP-3.1.4.6-05",
        "MQQP-3.1.4.7-03",
        "MQQP-3.1.4.10-10",
        "MQQP-3.1.4.11-18",
    ),
)
class FailuresDistinguished(ServerBindings):
    """Only failures of message queuing count as such."""

    def is_failure(self, status: int) -> bool:
        return status >> 16 == 0xC00E


add(
    "remote-failures-unseen",
    (
        *("MQQP-3.1.4.1-10", "MQQP-3.1.4.10-10", "MQQP-3.1.4.11-18"),
        *("MQQP-3.1.4.3-12", "MQQP-3.1.4.7-03"),
    ),
    "A client takes whatever a method returns for success.",
    skip(ServerBindings.check),
)

BROKEN_ELSEWHERE = {
    "MQQP-3.1.4.1-02": ("remote-cancel-first-cancelled",),
    "MQQP-3.1.4.1-03": ("remote-open-not-called",),
}
"""Faults of other sections that break rules of this one."""

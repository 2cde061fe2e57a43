"""Faults of MS-MQQP 3.1.4.1 RemoteQMStartReceive and 3.1.4.10 RemoteQMStartReceive2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, skip
from harness.faults.registry import add
from harness.faults.rpc_calls import called_unbound
from reference_qm.codec import UserHeader, UserMessagePacket, parse_packet
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.client_steps import Binding
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.rpc.outgoing import Failed, Outgoing
from reference_qm.surface.clock import Now

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
    replace_part(_UnknownActionPeeks),
)


@fault("request-id-in-use-for-any-queue", breaks=("MQQP-3.1.4.10-16", "MQQP-3.1.4.1-D08"), blind=True)
class RequestIdInUseForAnyQueue(RemoteStarting):
    """A dwRequestID is in use when a read of any queue has it."""

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        for entry in self.qm.remote.RemoteReadEntryCollection:
            if entry.RequestId == desc["dwRequestID"]:
                return Status.MQ_ERROR_INVALID_PARAMETER
        return Status.MQ_OK


@fault("request-id-of-a-waiting-peek-not-in-use", breaks=("MQQP-3.1.4.10-15", "MQQP-3.1.4.1-12"), blind=True)
class RequestIdOfAWaitingPeekNotInUse(RemoteStarting):
    """Only the dwRequestID of a receive that waits is in use, not that of a peek."""

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        for entry in self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"]):
            if entry.RequestId == desc["dwRequestID"] and entry.Action is ReadAction.MQ_ACTION_RECEIVE:
                return Status.MQ_ERROR_INVALID_PARAMETER
        return Status.MQ_OK


@fault("cursor-of-another-handle-taken", breaks=("MQQP-3.1.4.10-22", "MQQP-3.1.4.1-D12"), blind=True)
class CursorOfAnotherHandleTaken(RemoteStarting):
    """A cursor is looked for among those of all handles."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = (one.CursorCollection.get(handle) for one in self.qm.descriptors.values())
        return next((cursor for cursor in found if cursor is not None), None)


@fault("sequential-id-with-the-priority", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"), blind=True)
class SequentialIdWithThePriority(RemoteReads):
    """SequentialId is the whole LookupIdentifier, the byte of the priority included."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        return position.LookupIdentifier


@fault("second-peek-moves-on", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"), blind=True)
class SecondPeekMovesOn(RemoteReads):
    """A second PEEK_CURRENT through a cursor that read a message reads the one behind it."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._peeked: set[int] = set()

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None and cursor.Handle in self._peeked:
            super().remote_peek_next(entry, descriptor, cursor, now)
            return
        if cursor is not None:
            self._peeked.add(cursor.Handle)
        super().remote_peek(entry, descriptor, cursor, now)


def _serialized(change: Callable[[UserMessagePacket], UserMessagePacket]) -> type[RemoteReads]:
    class Serialized(RemoteReads):
        def serialize_remote_message(self, position: MessagePosition) -> bytes:
            packet = parse_packet(super().serialize_remote_message(position))
            assert isinstance(packet, UserMessagePacket)
            return change(replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0))).build()

    return Serialized


def _without_journaling(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(JN=1, JP=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags))


def _without_transaction(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(TH=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), TransactionHeader=None)


add(
    "message-read-remotely-without-journaling",
    ("MQQP-3.1.4.1-14", "MQQP-3.1.4.10-45", "MQQP-3.1.4.11-48"),
    "JN and JP are clear in a message that is read remotely.",
    replace_part(_serialized(_without_journaling)),
    blind=True,
)


add(
    "message-read-remotely-without-transaction",
    ("MQQP-3.1.4.1-14", "MQQP-3.1.4.10-45", "MQQP-3.1.4.11-48"),
    "A transactional message that is read remotely has no TransactionHeader.",
    replace_part(_serialized(_without_transaction)),
    blind=True,
)


@fault("waiting-reader-gets-no-transactional-message", breaks="MQQP-3.1.4.1-D02", blind=True)
class WaitingReaderGetsNoTransactionalMessage(Waiting):
    """A read that waits does not notice a transactional message that comes."""

    def release_readers(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().release_readers(position)


@fault(
    "remote-client-waits-for-the-lost",
    breaks=(
        *("MQQP-3.1.4.1-10", "MQQP-3.1.4.10-10", "MQQP-3.1.4.11-18", "MQQP-3.1.4.2-08", "MQQP-3.1.4.3-12"),
        *("MQQP-3.1.4.4-03", "MQQP-3.1.4.5-03", "MQQP-3.1.4.6-05", "MQQP-3.1.4.7-03"),
    ),
)
class WaitsForTheLost(ClientTasks):
    """A client does not learn that a call has failed without a status of its method."""

    def _take_events(self, binding: Binding, happened: list[Outgoing], now: Now) -> None:
        super()._take_events(binding, [one for one in happened if not isinstance(one, Failed)], now)
